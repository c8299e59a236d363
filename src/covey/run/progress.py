"""The progress of a run: a live line that tells what is known and what is under way."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from covey.trial import Trial

if TYPE_CHECKING:
    from covey.run.scheduler import Scheduler


class Display:
    """A live line on a terminal; nothing elsewhere, or if it is not wanted.

    Args:
        total: evaluations in the budget, if that is known.
        wanted: whether to show anything.
    """

    def __init__(self, total: int | None, wanted: bool) -> None:
        self._total, self._wanted = total, wanted
        self._progress: Any = None
        self._run: Scheduler | None = None

    def __enter__(self) -> Display:
        if self._wanted:
            from rich.console import Console

            console = Console(stderr=True)
            if console.is_terminal:
                self._open(console)
        return self

    def _open(self, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console)
        self._bar = self._progress.add_task("", total=self._total)
        self._progress.start()

    def watch(self, run: Scheduler) -> None:
        """Look at a run from here on."""
        self._run = run
        self._show(None)

    def heard(self, _trial: Trial, best: Trial | None) -> None:
        """A trial is finished."""
        self._show(best)

    def _show(self, best: Trial | None) -> None:
        if self._progress is None or self._run is None:
            return
        tally = self._run.tally
        evaluating = sum(tally.durations.values())
        value = "-" if best is None else f"{best.value:.6g}"
        batch = "" if self._run.asynchronous else f"batch {self._run.batches}, "
        text = (
            f"{batch}best {value}, {len(self._run.flights.under_way)} running, {len(tally.failed)} failed, "
            f"choosing {self._run.seconds_choosing:.1f} s, evaluating {evaluating:.1f} s"
        )
        self._progress.update(self._bar, completed=len(tally.finished), description=text)

    def close(self) -> None:
        """Leave the last line as it is."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()
