"""Lattice points of a polytope: rows with A u <= b, E u == e whose columns stand on given positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space.polytope import EmptyPolytope, polytope
from covey.space.programs import FLAT, unit_rows


@dataclass(frozen=True)
class Trouble:
    """How much is done for lattice points.

    Attributes:
        rounds: of drawing as many rows as are asked for, before what few of them fit are all.
        searched: rows that are looked for one by one, at some milliseconds each, where drawing finds none.
        total: the largest total of a sum, in common steps, whose ways to be reached are counted, which
            takes that squared; a finer lattice is searched.
    """

    rounds: int = 20
    searched: int = 16
    total: int = 2000


TROUBLE = Trouble()


def nearest_on_lattice(
    target: Array, levels: Sequence[Array | None], A: Array, b: Array, E: Array, e: Array
) -> Array:
    """The row (d,) with A u <= b, E u == e nearest to a target (d,), by the sum of differences.

    ``levels`` has for each column its positions, ascending, or None for a continuum, which takes up what
    the steps of the others leave. Takes some milliseconds: a small integer program.

    Raises:
        EmptyPolytope: if no lattice point satisfies the constraints.
    """
    found = _integer_program(target, levels, A, b, E, e)
    row, on = target.copy(), [k for k, positions in enumerate(levels) if positions is not None]
    for k in on:
        positions = np.asarray(levels[k])
        row[k] = positions[np.argmin(np.abs(positions - found[k]))]
    if len(on) < len(levels):
        rest = polytope(A, b, E, e).fixed(on, row[on].tolist())
        free = np.setdiff1d(np.arange(len(levels)), on)
        row[free] = rest.project(np.where(np.isin(np.arange(len(row)), on), row, found)[None])[0, free]
    if not satisfied(row[None], A, b, E, e)[0]:
        raise EmptyPolytope("no values that can be set satisfy the constraints exactly")
    return row


def lattice_points(
    levels: Sequence[Array | None],
    A: Array,
    b: Array,
    E: Array,
    e: Array,
    rng: np.random.Generator,
    m: int,
) -> Array:
    """At most m rows (n, d) on the lattice, at least one.

    Where every equality is a sum of its own columns in common steps (parts of 5 % that sum to one), rows are
    uniform over the lattice points and cost nothing. Elsewhere the lattice points nearest to a few samples
    are searched for, and different ones are kept.

    Raises:
        EmptyPolytope: if no lattice point satisfies the constraints.
    """
    kept: list[Array] = []
    sums = _sums(levels, E, e)
    if sums is not None:
        for _ in range(TROUBLE.rounds):
            rows = _drawn(levels, sums, rng, m)
            kept.append(rows[satisfied(rows, A, b, E, e)])
            if sum(map(len, kept)) >= m:
                return np.concatenate(kept)[:m]
    if not any(map(len, kept)):
        targets = polytope(A, b, E, e).sample(min(m, TROUBLE.searched), rng)
        kept = [nearest_on_lattice(target, levels, A, b, E, e)[None] for target in targets]
        return np.unique(np.concatenate(kept), axis=0)
    return np.concatenate(kept)


def compositions(total: int, most: Sequence[int], m: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Whole numbers (m, n) from 0 to ``most`` (n,) that sum to a total, uniform over all such rows.

    A part is drawn with odds of the number of ways to complete the row after it.

    Raises:
        EmptyPolytope: if there is no such row.
    """
    if not 0 <= total <= sum(most):
        raise EmptyPolytope(f"parts of at most {list(most)} steps cannot sum to {total} steps")
    most = [min(highest, total) for highest in most]
    ways = [np.eye(1, total + 1)[0]]  # of the parts after a part to have each total, up to a factor
    for highest in reversed(most):
        count = np.convolve(ways[-1], np.ones(highest + 1))[: total + 1]
        ways.append(count / count.max())
    rows, left = np.zeros((m, len(most)), dtype=np.intp), np.full(m, total)
    for k, highest in enumerate(most):
        after = left[:, None] - np.arange(highest + 1)
        odds = np.cumsum(np.where(after >= 0, ways[len(most) - 1 - k][after], 0.0), axis=1)
        drawn = (1.0 - rng.random(m)) * odds[:, -1]
        rows[:, k] = (odds < drawn[:, None]).sum(axis=1)
        left = left - rows[:, k]
    return rows


def satisfied(rows: Array, A: Array, b: Array, E: Array, e: Array) -> NDArray[np.bool_]:
    """Which rows (m, d) satisfy the constraints, up to rounding (m,)."""
    (A, b), (E, e) = unit_rows(A, b), unit_rows(E, e)
    below = (rows @ A.T - b <= FLAT).all(axis=1)
    return np.asarray(below & (np.abs(rows @ E.T - e) <= FLAT).all(axis=1))


@dataclass(frozen=True)
class _Total:
    """One equality as whole steps of its columns; those with a negative weight count from their top."""

    columns: NDArray[np.intp]
    down: NDArray[np.bool_]
    most: tuple[int, ...]
    total: int


def _sums(levels: Sequence[Array | None], E: Array, e: Array) -> list[_Total] | None:
    """Every equality as a total of steps; None if one is not, two share a column, or one is a continuum."""
    if any(positions is None for positions in levels) or (E != 0).sum(axis=0).max(initial=0) > 1:
        return None
    found = [_total(levels, weights, target) for weights, target in zip(E, e, strict=True)]
    return None if None in found else [one for one in found if one is not None]


def _total(levels: Sequence[Array | None], weights: Array, target: float) -> _Total | None:
    columns = np.flatnonzero(weights)
    ladders = [np.asarray(levels[int(k)]) for k in columns]
    if len(columns) == 0 or not all(map(_even, ladders)):
        return None
    down = weights[columns] < 0
    starts = np.array([ladder[-1] if low else ladder[0] for ladder, low in zip(ladders, down, strict=True)])
    steps = np.abs(weights[columns]) * [
        ladder[1] - ladder[0] if len(ladder) > 1 else 0.0 for ladder in ladders
    ]
    several = steps > 0
    step = steps[several].min(initial=np.inf)
    total = (target - weights[columns] @ starts) / step
    same = np.allclose(steps[several], step, rtol=FLAT)
    if not np.isfinite(step) or not same or abs(total - round(total)) > 1e-6 or abs(total) > TROUBLE.total:
        return None
    return _Total(columns, down, tuple(len(ladder) - 1 for ladder in ladders), round(total))


def _even(ladder: Array) -> bool:
    return len(ladder) < 3 or np.allclose(np.diff(ladder), ladder[1] - ladder[0], rtol=0, atol=FLAT)


def _drawn(levels: Sequence[Array | None], sums: list[_Total], rng: np.random.Generator, m: int) -> Array:
    """Rows (m, d) of the lattice with all totals right."""
    ladders = [np.asarray(positions) for positions in levels]
    index = np.stack([rng.integers(len(ladder), size=m) for ladder in ladders], axis=1)
    for one in sums:
        parts = compositions(one.total, one.most, m, rng)
        index[:, one.columns] = np.where(one.down, np.array(one.most) - parts, parts)
    return np.stack([ladder[column] for ladder, column in zip(ladders, index.T, strict=True)], axis=1)


def _integer_program(
    target: Array, levels: Sequence[Array | None], A: Array, b: Array, E: Array, e: Array
) -> Array:
    """The row (d,) that HiGHS finds nearest; its variables are the row, its differences, and the levels.

    An evenly spaced column has one whole number for its level, another column one of 0 and 1 for each.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import

    d = len(target)
    link, starts, choose, tops = _linked(levels)
    n = len(tops)
    (A, b), (E, e) = unit_rows(A, b), unit_rows(E, e)
    one, none = np.eye(d), np.zeros((d, n))

    def wide(matrix: Array) -> Array:
        return np.hstack([matrix, np.zeros((len(matrix), d + n))])

    result = milp(
        np.concatenate([np.zeros(d), np.ones(d), np.zeros(n)]),
        integrality=np.concatenate([np.zeros(2 * d), np.ones(n)]),
        bounds=Bounds(np.zeros(2 * d + n), np.concatenate([np.ones(2 * d), tops])),
        constraints=[
            LinearConstraint(wide(A), -np.inf, b),
            LinearConstraint(wide(E), e, e),
            LinearConstraint(link, starts, starts),
            LinearConstraint(choose, 1.0, 1.0),
            LinearConstraint(np.hstack([one, -one, none]), -np.inf, target),
            LinearConstraint(np.hstack([one, one, none]), target, np.inf),
        ],
    )
    if result.x is None:
        raise EmptyPolytope("no values that can be set satisfy the constraints")
    return np.asarray(result.x[:d])


def _linked(levels: Sequence[Array | None]) -> tuple[Array, Array, Array, Array]:
    """Columns and their whole numbers: link @ x == starts, choose @ x == 1, and the largest of each (n,)."""
    d = len(levels)
    ladders = {k: np.asarray(positions) for k, positions in enumerate(levels) if positions is not None}
    width = {k: 1 if _even(ladder) else len(ladder) for k, ladder in ladders.items()}
    link = np.zeros((len(ladders), 2 * d + sum(width.values())))
    starts, choose, tops, at = np.zeros(len(link)), np.zeros_like(link), [], 2 * d
    for row, (k, ladder) in enumerate(ladders.items()):
        end = at + width[k]
        link[row, k] = 1.0
        if _even(ladder):
            starts[row] = ladder[0]
            link[row, at] = -(ladder[-1] - ladder[0]) / max(len(ladder) - 1, 1)
        else:
            link[row, at:end] = -ladder
            choose[row, at:end] = 1.0
        tops += [len(ladder) - 1.0] if _even(ladder) else [1.0] * len(ladder)
        at = end
    return link, starts, choose[choose.any(axis=1)], np.array(tops)
