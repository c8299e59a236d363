"""Ranks among optimisers that began alike, and how sure their means are.

A rank is among the methods with the same problem, seed and batch size; equal values share the mean of their
ranks. Ranks are averaged over the seeds of a problem, then over problems. The standard error is that of the
second mean: how much it would change with other problems of these kinds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import rankdata

from covey.arrays import Array
from covey.bench.statistics import mean_and_error

Record: TypeAlias = dict[str, Any]
Start: TypeAlias = tuple[str, int]
"""Problem and seed: what runs that are compared have in common."""


@dataclass(frozen=True)
class Ends:
    """The last records of runs that can be compared.

    Attributes:
        methods: in the order of their first appearance.
        runs: where all of them began -> method -> the last record.
        left_out: how many starts are not there because a method has no run yet.
    """

    methods: tuple[str, ...]
    runs: Mapping[Start, Mapping[str, Record]]
    left_out: int

    @property
    def problems(self) -> list[str]:
        """In the order of their first appearance."""
        return list(dict.fromkeys(problem for problem, _ in self.runs))

    def values(self, problem: str) -> Array:
        """The best values found (seeds, methods)."""
        return np.array(
            [[run[method]["best"] for method in self.methods] for run in self._of(problem)], dtype=float
        )

    def ranks(self, problem: str) -> Array:
        """Mean ranks (methods,) over seeds, from 1."""
        return np.asarray(rankdata(self.values(problem), axis=1).mean(axis=0))

    def _of(self, problem: str) -> list[Mapping[str, Record]]:
        return [run for (name, _), run in self.runs.items() if name == problem]


def ends(records: Sequence[Record], M: int) -> Ends:
    """Of all runs with a batch size, where every method has one."""
    last: dict[Start, dict[str, Record]] = {}
    for record in records:
        if record["M"] == M:
            runs = last.setdefault((record["problem"], record["seed"]), {})
            known = runs.get(record["method"])
            if known is None or known["iteration"] < record["iteration"]:
                runs[record["method"]] = record
    methods = tuple(dict.fromkeys(method for runs in last.values() for method in runs))
    whole = {start: runs for start, runs in last.items() if len(runs) == len(methods)}
    return Ends(methods, whole, len(last) - len(whole))


@dataclass(frozen=True)
class Standing:
    """A method among the others, at one batch size.

    Attributes:
        method: its name.
        rank, error: its mean rank over problems, and the standard error.
        behind, behind_error: how much that is more than the best method's, problem by problem.
        first, last: on how many problems its mean rank is the lowest, or the highest.
    """

    method: str
    rank: float
    error: float
    behind: float
    behind_error: float
    first: int
    last: int


def standings(found: Ends) -> list[Standing]:
    """Of all methods, the best first; none if nothing can be compared."""
    if not found.runs:
        return []
    table = np.array([found.ranks(problem) for problem in found.problems])
    order = np.argsort(table.mean(axis=0), kind="stable")
    return [_standing(found.methods[k], table, int(k), int(order[0])) for k in order]


def _standing(method: str, table: Array, k: int, best: int) -> Standing:
    """Of column k of mean ranks (problems, methods)."""
    column = table[:, k]
    return Standing(
        method,
        *mean_and_error(column),
        *mean_and_error(column - table[:, best]),
        first=int((column == table.min(axis=1)).sum()),
        last=int((column == table.max(axis=1)).sum()),
    )


def remaining(records: Sequence[Record], found: Ends) -> dict[str, list[float]]:
    """Method -> what is left, at the end of each run, of the gap between the initial points and the minimum.

    Where the minimum is not known, it is the lowest value that any method found from there.
    """
    starts = {(r["problem"], r["seed"]): r for r in records if r["iteration"] == 0}
    shares: dict[str, list[float]] = {method: [] for method in found.methods}
    for start, runs in found.runs.items():
        low = _lowest([starts[start], *runs.values()])
        gap = starts[start]["best"] - low
        for method, record in runs.items():
            share = (record["best"] - low) / gap if gap > 0 else 0.0
            shares[method].append(min(max(share, 0.0), 1.0))
    return shares


def _lowest(runs: Sequence[Record]) -> float:
    known = runs[0]["regret"]
    return float(min(run["best"] for run in runs) if known is None else runs[0]["best"] - known)


SIZES = (25, 50, 100)
"""Observations that proposals are grouped by: up to so many, or more."""


def proposal_seconds(records: Sequence[Record], M: int) -> dict[str, list[float]]:
    """Method -> the median seconds of a proposal in each group of ``SIZES``, NaN where there are none."""
    groups: dict[str, list[list[float]]] = {}
    for record in records:
        if record["M"] == M:
            mine = groups.setdefault(record["method"], [[] for _ in range(len(SIZES) + 1)])
            if record["iteration"]:
                mine[int(np.searchsorted(SIZES, record["n"]))].append(record["seconds"])
    return {
        method: [float(np.median(group)) if group else math.nan for group in mine]
        for method, mine in groups.items()
    }
