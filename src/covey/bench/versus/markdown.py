"""Tables of a comparison in Markdown: ranks, ranks by kind, values by problem, and seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from covey.bench.paper.table import plus_minus
from covey.bench.statistics import mean_and_error
from covey.bench.versus.ranks import SIZES, Ends, Record, ends, proposal_seconds, standings
from covey.bench.versus.suite import GROUPS


def markdown(records: Sequence[Record]) -> str:
    """All tables, for each batch size in turn."""
    sizes = sorted({record["M"] for record in records})
    return "\n".join(_section(records, M) for M in sizes) + _failures(records)


def _section(records: Sequence[Record], M: int) -> str:
    found = ends(records, M)
    order = [standing.method for standing in standings(found)]
    if not order:
        return f"## M = {M}\n\nThere is no problem and seed that every method has been run on.\n"
    parts = (
        f"## M = {M}",
        _counts(found),
        _ranks(found),
        _kinds(found, order),
        _values(found, order),
        _seconds(records, M, order),
    )
    return "\n\n".join(parts) + "\n"


def _counts(found: Ends) -> str:
    text = f"{len(found.runs)} runs of each method on {len(found.problems)} problems"
    return f"{text}; {found.left_out} left out, that not all have done." if found.left_out else f"{text}."


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _ranks(found: Ends) -> str:
    """Mean rank over problems, the distance from the best, and how often a method is first or last."""
    heads = ("", "mean rank", "behind the best", "first on", "last on")
    rows = [
        (
            s.method,
            _short(s.rank, s.error),
            _short(s.behind, s.behind_error) if s.behind else "",
            str(s.first),
            str(s.last),
        )
        for s in standings(found)
    ]
    return _table(heads, rows)


def _short(mean: float, error: float) -> str:
    return f"{mean:.2f}" if math.isnan(error) else f"{mean:.2f} ± {error:.2f}"


def _kinds(found: Ends, order: Sequence[str]) -> str:
    """Mean rank on the problems of each kind."""
    rows = []
    for kind, problems in GROUPS.items():
        there = [found.ranks(name) for name in found.problems if name in problems]
        if there:
            means = np.mean(there, axis=0)
            cells = [f"{means[found.methods.index(method)]:.2f}" for method in order]
            rows.append((kind, *_bold(cells, [float(cell) for cell in cells])))
    return _table(("mean rank", *order), rows)


def _values(found: Ends, order: Sequence[str]) -> str:
    """Mean best value and its standard error, a row for each problem."""
    rows = []
    for problem in found.problems:
        values = found.values(problem)
        cells = [mean_and_error(values[:, found.methods.index(method)]) for method in order]
        texts = [plus_minus(*cell) for cell in cells]
        rows.append((problem, *_bold(texts, [mean for mean, _ in cells])))
    return _table(("best value", *order), rows)


def _bold(texts: Sequence[str], means: Sequence[float]) -> list[str]:
    """With the lowest in bold."""
    low = min(means)
    return [f"**{text}**" if mean == low else text for text, mean in zip(texts, means, strict=True)]


def _seconds(records: Sequence[Record], M: int, order: Sequence[str]) -> str:
    """Median seconds of a proposal, by how many observations there were."""
    medians = proposal_seconds(records, M)
    heads = [*(f"n <= {size}" for size in SIZES), f"n > {SIZES[-1]}"]
    used = [k for k in range(len(heads)) if not all(math.isnan(medians[name][k]) for name in order)]
    rows = [
        (name, *("" if math.isnan(s := medians[name][k]) else f"{s:.3f}" for k in used)) for name in order
    ]
    return _table(("seconds of a proposal", *(heads[k] for k in used)), rows)


def _failures(records: Sequence[Record]) -> str:
    """Which methods have failed to propose, if any have."""
    failed = [record["method"] for record in records if "error" in record]
    counts = ", ".join(f"{name} {failed.count(name)} times" for name in dict.fromkeys(failed))
    return f"\nProposals that failed, and were made at random instead: {counts}.\n" if failed else ""
