"""What is in a study? The best trial, a table, what is pending and what failed, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covey.cli.config import Config
from covey.run.result import Result
from covey.study import Recorded
from covey.trial import Failure, State

_FAILURES = 5
"""How many reasons are shown."""


def best_of(rows: Sequence[Recorded]) -> Recorded | None:
    """The trial with the lowest value."""
    return next(iter(ranked(rows)), None)


def _value(row: Recorded) -> float:
    return row.result if isinstance(row.result, float) else float("inf")


def ranked(rows: Sequence[Recorded]) -> list[Recorded]:
    """Trials with a value, the best first."""
    return sorted((row for row in rows if row.state is State.COMPLETE), key=_value)


def best_lines(rows: Sequence[Recorded]) -> list[str]:
    """The best value and its parameters."""
    best = best_of(rows)
    if best is None:
        return ["no value yet"]
    return [f"best {best.result!r} (trial {best.key})"] + [f"  {k} = {v}" for k, v in best.params.items()]


def count_line(rows: Sequence[Recorded]) -> str:
    """How many trials are in which state."""
    counts = {state: sum(row.state is state for row in rows) for state in State}
    return ", ".join(f"{count} {state}" for state, count in counts.items())


def failure_lines(rows: Sequence[Recorded]) -> list[str]:
    """The last failures, each with the last line of its reason."""
    failed = [row for row in rows if row.state is State.FAILED]
    more = len(failed) - _FAILURES
    lines = [f"  trial {row.key}: {last_line(row)}" for row in failed[-_FAILURES:]]
    return ["failed:", *([f"  ({more} before)"] if more > 0 else []), *lines] if failed else []


def last_line(row: Recorded) -> str:
    """What a reason comes down to."""
    reason = row.result.reason if isinstance(row.result, Failure) else ""
    return (reason.strip().splitlines() or ["no reason given"])[-1].strip()


def summary_lines(config: Config, rows: Sequence[Recorded], result: Result) -> list[str]:
    """What to say at the end of a run."""
    evaluating = sum(result.durations.values())
    went = f"{result.seconds:.1f} s, {result.seconds_choosing:.1f} s of it choosing"
    return [
        *best_lines(rows),
        f"{count_line(rows)}; ended because: {result.stopped}",
        *failure_lines(rows),
        f"this session took {went}; programs ran for {evaluating:.1f} s in all",
        f"study {config.name!r} is kept in {config.storage}",
        f"to go on, give it more budget and say: covey run {config.path}",
    ]


def print_table(rows: Sequence[Recorded]) -> None:
    """Trials as a table: as wide as the terminal, or as needed where there is none."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=1000)
    table = Table(box=SIMPLE)
    names = list(rows[0].params)
    for name in ("id", "state", "value", *names):
        table.add_column(Text(name), justify="left" if name == "state" else "right")
    for row in rows:
        value = _cell(row.result) if isinstance(row.result, float) else ""
        cells = [str(row.key), str(row.state), value, *(_cell(row.params[name]) for name in names)]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
