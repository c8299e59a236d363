"""Table of the paper and ours side by side."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from covey.bench.paper.protocol import COLUMNS, REPORTED, Column, Reported
from covey.bench.statistics import mean_and_error

ENOUGH = 2.0
"""Standard errors of the difference within which two means are called the same."""


@dataclass(frozen=True)
class Cell:
    """A method on a problem, at the paper's number of iterations.

    Attributes:
        problem, method: what was run; iterations, batch, acquisition: how.
        repetitions: how many runs.
        mean, error: of the best value, and its standard error (NaN for a single run).
        paper_mean, paper_error: what the paper reports; None where it does not.
        difference: ours less the paper's in standard errors of the difference; negative is better.
        holds: whether ours is within two of them, or better.
    """

    problem: str
    method: str
    iterations: int
    batch: int
    acquisition: str
    repetitions: int
    mean: float
    error: float
    paper_mean: float | None = None
    paper_error: float | None = None
    difference: float | None = None
    holds: bool | None = None


def cells(records: Sequence[dict[str, Any]]) -> list[Cell]:
    """All cells that there are runs for, in the order of the paper's table."""
    groups: dict[tuple[str, str], list[float]] = {}
    for record in records:
        column = COLUMNS.get(record["problem"])
        if column is not None and _belongs(record, column):
            groups.setdefault((record["method"], record["problem"]), []).append(record["best"])
    return [_cell(method, COLUMNS[problem], best) for (method, problem), best in groups.items()]


def _belongs(record: dict[str, Any], column: Column) -> bool:
    batch = 1 if record["method"].startswith("sequential") else column.batch
    return bool(record["iteration"] == column.iterations and record["M"] == batch)


def _cell(method: str, column: Column, best: list[float]) -> Cell:
    base = Cell(
        column.problem,
        method,
        column.iterations,
        1 if method.startswith("sequential") else column.batch,
        column.acquisition,
        len(best),
        *mean_and_error(best),
    )
    reported = REPORTED.get((method.partition(":")[0], column.problem))
    return base if reported is None or len(best) == 1 else _compared(base, reported)


def _compared(cell: Cell, reported: Reported) -> Cell:
    """With the paper's; a difference that rounding of the printed mean explains is none."""
    gap = cell.mean - reported.mean
    slack = 0.5 * 10.0**-reported.digits
    gap = math.copysign(max(0.0, abs(gap) - slack), gap)
    both = math.hypot(cell.error, reported.error)
    difference = gap / both if gap else 0.0
    return replace(
        cell,
        paper_mean=reported.mean,
        paper_error=reported.error,
        difference=difference,
        holds=difference <= ENOUGH,
    )


def markdown(found: Sequence[Cell]) -> str:
    """Methods down, problems across; ours above the paper's, the best of ours in bold."""
    problems = [name for name in COLUMNS if any(cell.problem == name for cell in found)]
    methods = list(dict.fromkeys(cell.method for cell in found))
    order = list(dict.fromkeys([*(method for method, _ in REPORTED), *methods]))
    methods.sort(key=lambda name: order.index(name) if name in order else len(order))
    by = {(cell.method, cell.problem): cell for cell in found}
    best = {name: min(cell.mean for cell in found if cell.problem == name) for name in problems}
    heads = [_heading(COLUMNS[name]) for name in problems]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(problems) + 1) + "|"]
    for method in methods:
        ours = [_ours(by.get((method, name)), best[name]) for name in problems]
        lines.append(f"| {method} | " + " | ".join(ours) + " |")
        if any((method, name) in by and by[method, name].paper_mean is not None for name in problems):
            papers = [_papers(by.get((method, name))) for name in problems]
            lines.append("| *paper* | " + " | ".join(papers) + " |")
    return "\n".join([*lines, "", verdict(found)]) + "\n"


def verdict(found: Sequence[Cell]) -> str:
    """How many cells meet the paper's."""
    compared = [cell for cell in found if cell.holds is not None]
    held = sum(bool(cell.holds) for cell in compared)
    failing = ", ".join(f"{cell.method} on {cell.problem}" for cell in compared if not cell.holds)
    rest = f"; not: {failing}" if failing else ""
    return (
        f"Mean best value ± standard error (repetitions). In brackets: ours less the paper's, in standard "
        f"errors of the difference; negative is better. {held} of {len(compared)} cells are within two or "
        f"better{rest}."
    )


def _heading(column: Column) -> str:
    return f"{column.problem}, {column.iterations} x {column.batch}, {column.acquisition}"


def _ours(cell: Cell | None, best: float) -> str:
    if cell is None:
        return ""
    text = plus_minus(cell.mean, cell.error)
    text = f"**{text}**" if cell.mean == best else text
    return f"{text} ({cell.repetitions})"


def _papers(cell: Cell | None) -> str:
    if cell is None or cell.paper_mean is None or cell.paper_error is None or cell.difference is None:
        return ""
    return f"{cell.paper_mean:g} ± {cell.paper_error:g} [{cell.difference:+.1f}]"


def plus_minus(mean: float, error: float) -> str:
    """With as many digits as the standard error has to say."""
    if not math.isfinite(error):
        return f"{mean:.5g}"
    digits = 7 if error == 0 else min(7, max(0, 1 - math.floor(math.log10(error))))
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def csv_text(found: Sequence[Cell]) -> str:
    """A line for each cell, all digits."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(Cell.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in found)
    return out.getvalue()
