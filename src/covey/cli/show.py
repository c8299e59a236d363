"""The contents of a study as text: the best trial, a table, what is pending and what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from covey.cli.config import Config
from covey.cli.terminal import printable
from covey.history import best_of
from covey.run.result import Result
from covey.study.address import masked
from covey.trial import State, Trial


@dataclass(frozen=True)
class Shown:
    """How much is shown.

    Attributes:
        failures: reasons of the last so many; the first ones are mended by then.
        digits: of numbers; ``covey export`` has them all.
    """

    failures: int = 5
    digits: int = 6


SHOWN = Shown()


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Trials with a value, the best first."""
    return sorted((trial for trial in trials if trial.value is not None), key=lambda one: (one.value, one.id))


def best_lines(trials: Sequence[Trial]) -> list[str]:
    """The best value and its parameters."""
    best = best_of(trials)
    if best is None:
        return ["no value yet"]
    return [f"best {best.value!r} (trial {best.id})"] + [f"  {k} = {v}" for k, v in best.params.items()]


def count_line(trials: Sequence[Trial]) -> str:
    """How many trials are in which state."""
    counts = {state: sum(trial.state is state for trial in trials) for state in State}
    return ", ".join(f"{count} {state}" for state, count in counts.items())


def failure_lines(trials: Sequence[Trial]) -> list[str]:
    """The last failures, each with the last line of its reason."""
    failed = [trial for trial in trials if trial.state is State.FAILED]
    more = len(failed) - SHOWN.failures
    lines = [f"  trial {trial.id}: {last_line(trial)}" for trial in failed[-SHOWN.failures :]]
    return ["failed:", *([f"  ({more} before)"] if more > 0 else []), *lines] if failed else []


def last_line(trial: Trial) -> str:
    """What a reason comes down to."""
    return ((trial.reason or "").strip().splitlines() or ["no reason given"])[-1].strip()


def summary_lines(config: Config, trials: Sequence[Trial], result: Result) -> list[str]:
    """What to say at the end of a run."""
    evaluating = sum(result.durations.values())
    went = f"{result.seconds:.1f} s, {result.seconds_choosing:.1f} s of it choosing"
    return [
        *best_lines(trials),
        f"{count_line(trials)}; ended because: {result.stopped}",
        *failure_lines(trials),
        f"this session took {went}; programs ran for {evaluating:.1f} s in all",
        f"study {config.name!r} is kept in {masked(config.storage)}",
        f"to go on, give it more budget and say: covey run {config.path}",
    ]


def print_table(trials: Sequence[Trial]) -> None:
    """Trials as a table: as wide as the terminal, or as needed where there is none."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=1000)
    table = Table(box=SIMPLE)
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    for name in ("id", "state", "value", *names):
        table.add_column(Text(printable(name)), justify="left" if name == "state" else "right")
    for trial in trials:
        value = "" if trial.value is None else short(trial.value)
        cells = [
            str(trial.id),
            str(trial.state),
            value,
            *(short(trial.params.get(name, "")) for name in names),
        ]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    console.print(table)


def short(value: Any) -> str:
    """A value of a parameter or an objective, a float with some of its digits."""
    return f"{value:.{SHOWN.digits}g}" if isinstance(value, float) else str(value)
