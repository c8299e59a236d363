"""Linear programs about G u <= g, E u == e: a deep point, rows that are always tight, what conflicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space.expressions import Truths

FLAT = 1e-9
"""A set that is nowhere wider than this across a constraint has no inside there: it is an equality. Ten times
the precision that the solver is asked for."""

_PRECISION = 1e-10
"""What HiGHS can be asked for at most."""


class EmptyPolytope(ValueError):
    """Constraints that no point of the box satisfies."""


def solve(cost: Array, G: Array, g: Array, E: Array, e: Array, bounds: Sequence[Any]) -> Array:
    """The x that minimises cost @ x with G x <= g, E x == e; EmptyPolytope if there is none."""
    from scipy.optimize import linprog  # slow to import

    for presolve in (True, False):  # which seldom, but sometimes, is in the way
        found = linprog(
            cost,
            G,
            g,
            E,
            e,
            bounds,
            method="highs",
            options={
                "presolve": presolve,
                "primal_feasibility_tolerance": _PRECISION,
                "dual_feasibility_tolerance": _PRECISION,
            },
        )
        if found.status == 0:
            return np.asarray(found.x)
        if found.status == 2:
            raise EmptyPolytope("no point of the box satisfies the constraints")
    raise EmptyPolytope(f"no point is found that satisfies the constraints ({found.message})")


def independent(E: Array, e: Array) -> tuple[Array, Array, Array]:
    """Equalities with orthonormal rows (r, d), their totals (r,), and a basis (d, d - r) of what is free."""
    d = E.shape[1]
    if len(E) == 0:
        return np.empty((0, d)), np.empty(0), np.eye(d)
    left, values, right = np.linalg.svd(E)
    rank = int((values > FLAT * max(values[0], FLAT)).sum())
    turned = left.T @ e
    if np.abs(turned[rank:]).max(initial=0.0) > FLAT:
        raise EmptyPolytope("no point satisfies the equalities")
    return right[:rank], turned[:rank] / values[:rank], right[rank:].T


def deepest(G: Array, g: Array, E: Array, e: Array, basis: Array) -> tuple[Array, float]:
    """The point (d,) farthest from all constraints within E u == e, and how far; below 0 if it is outside."""
    d = G.shape[1]
    away = np.linalg.norm(G @ basis, axis=1, keepdims=True)
    cost = np.append(np.zeros(d), -1.0)
    bounds = [(None, None)] * d + [(None, 1.0)]
    found = solve(cost, np.hstack([G, away]), g, np.hstack([E, np.zeros((len(E), 1))]), e, bounds)
    return found[:d], float(found[d])


def tight(G: Array, g: Array, E: Array, e: Array) -> Truths:
    """Which rows of G u <= g hold with equality wherever all of them hold (k,)."""
    k, d = G.shape
    never = np.ones(k, dtype=bool)
    while never.any():
        slack = np.diag(never.astype(float))[:, never]
        cost = np.append(np.zeros(d), -np.ones(slack.shape[1]))
        bounds = [(None, None)] * d + [(0.0, 1.0)] * slack.shape[1]
        zeros = np.zeros((len(E), slack.shape[1]))
        found = solve(cost, np.hstack([G, slack]), g, np.hstack([E, zeros]), e, bounds)[:d]
        loose = never & (g - G @ found > FLAT)
        if not loose.any():
            break
        never &= ~loose
    return never


def conflict(A: Array, b: Array, E: Array, e: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of A u <= b and of E u == e that no point of the unit cube satisfies together, as few as it takes.

    Without any one of them the others can be satisfied (a deletion filter finds them, Chinneck 1991). Both
    are empty if all rows can be satisfied together.
    """
    chosen = [np.arange(len(A)), np.arange(len(E))]
    if _feasible(A, b, E, e):
        return chosen[0][:0], chosen[1][:0]
    for kind in (0, 1):
        for row in chosen[kind]:
            fewer = list(chosen)
            fewer[kind] = chosen[kind][chosen[kind] != row]
            if not _feasible(A[fewer[0]], b[fewer[0]], E[fewer[1]], e[fewer[1]]):
                chosen = fewer
    return chosen[0], chosen[1]


def _feasible(A: Array, b: Array, E: Array, e: Array) -> bool:
    """Whether a point of the cube satisfies all rows, as far as ``FLAT`` tells."""
    A, b = unit_rows(A, b)
    E, e = unit_rows(E, e)
    d = A.shape[1]
    cost = np.append(np.zeros(d), 1.0)
    worse = -np.ones((len(A) + 2 * len(E), 1))
    G = np.hstack([np.vstack([A, E, -E]), worse])
    found = solve(
        cost, G, np.concatenate([b, e, -e]), np.empty((0, d + 1)), np.empty(0), [(0, 1)] * d + [(0, None)]
    )
    return bool(found[-1] <= FLAT)


def unit_rows(A: Array, b: Array) -> tuple[Array, Array]:
    """Rows of length 1, so that every slack is a distance; rows of zeros stay as they are."""
    length = np.linalg.norm(A, axis=1)
    length[length == 0] = 1.0
    return A / length[:, None], b / length
