"""The polytope: what linear constraints leave of the unit cube; points all over it, and ways inside it.

A caller whose values are x = low + u (high - low) brings constraints on x into the cube first
(``Constraints.in_cube``). All points are rows u of the whole cube (m, d), also where equalities or fixed
columns leave fewer directions than columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space import climbing
from covey.space.climbing import ValueAndGradient
from covey.space.programs import FLAT, EmptyPolytope, conflict, deepest, independent, tight, unit_rows

__all__ = ["EmptyPolytope", "Polytope", "conflict", "polytope"]


@dataclass(frozen=True)
class Walk:
    """How random points are made.

    Attributes:
        steps, each: of hit-and-run from the centre, some and more for each free direction, since a step
            renews one direction.
        every: one step in so many goes along a direction of the ellipsoid that fits the polytope, which
            is long where an oblique polytope is long; the others change few columns, which is the way
            into corners: in a simplex of 20 columns any other direction soon meets a face.
        edges: directions that change few columns, for each column.
        pool: points from which a spread design is picked: of more, ever more of the picked lie in corners;
            of fewer, gaps stay larger.
    """

    steps: int = 10
    each: int = 6
    every: int = 3
    edges: int = 8
    pool: int = 256


WALK = Walk()

_ROUNDING = 1e-13
"""Differences that are left alone: repeated rounding of a row should not go on for ever."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """The points u of the unit cube with G u <= g and E u == e; made by ``polytope``.

    Attributes:
        G, g: inequalities (k, d), (k,), rows of length 1, the faces of the cube among them; none is an
            equality in disguise.
        E, e: equalities (r, d), (r,), orthonormal rows.
        basis: orthonormal free directions (d, f), f = d - r.
        centre: a point well inside (d,), the analytic centre.
        shape: axes (d, f) of an ellipsoid around the centre that fits inside.
        edges: free directions (n, d) that change as few columns as the equalities allow.
    """

    G: Array
    g: Array
    E: Array
    e: Array
    basis: Array
    centre: Array
    shape: Array
    edges: Array

    def holds(self, points: Array, tolerance: float = FLAT) -> NDArray[np.bool_]:
        """Which points (m, d) are inside (m,), up to a distance."""
        inside = (points @ self.G.T - self.g <= tolerance).all(axis=1)
        on = (np.abs(points @ self.E.T - self.e) <= tolerance).all(axis=1)
        return np.asarray(inside & on)

    def reach(self, points: Array, directions: Array) -> tuple[Array, Array]:
        """How far points (m, d) inside can go along directions (m, d): from lower <= 0 to upper >= 0 (m,).

        A direction must be a combination of ``basis``, or the equalities do not hold along it. A direction
        of length 0 leads nowhere: both are 0.
        """
        rate = directions @ self.G.T
        rate[np.abs(rate) <= _ROUNDING * np.linalg.norm(directions, axis=1, keepdims=True)] = 0.0
        return _reach(np.maximum(self.g - points @ self.G.T, 0.0), rate)

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """Points (m, d), independent and close to uniform: m chains of hit-and-run (Smith 1984) at once."""
        f = self.basis.shape[1]
        points = np.tile(self.centre, (m, 1))
        slack = np.tile(self.g - self.G @ self.centre, (m, 1))
        rates = self.edges @ self.G.T
        for step in range(WALK.steps + WALK.each * f if f else 0):
            if step % WALK.every:
                which = rng.integers(len(self.edges), size=m)
                direction, rate = self.edges[which], rates[which]
            else:
                direction = rng.standard_normal((m, f)) @ self.shape.T
                rate = direction @ self.G.T
            lower, upper = _reach(slack, rate)
            distance = (lower + (upper - lower) * rng.random(m))[:, None]
            points += distance * direction
            slack = np.maximum(slack - distance * rate, 0.0)
        return self.tidy(points)

    def spread(self, m: int, rng: np.random.Generator) -> Array:
        """Points (m, d) that keep away from each other, for initial designs.

        Each is the one of a pool of samples that is farthest from those before it, the first the nearest to
        the centre. The first rows of a longer design are the shorter design, for the same generator.
        """
        pool = self.sample(WALK.pool, rng)
        away = -np.linalg.norm(pool - self.centre, axis=1)
        away, chosen = away - away.min() + 1.0, []
        for _ in range(min(m, len(pool))):
            chosen.append(int(np.argmax(away)))
            apart = np.linalg.norm(pool - pool[chosen[-1]], axis=1)
            away = apart if len(chosen) == 1 else np.minimum(away, apart)
        return np.concatenate([pool[chosen], self.sample(m - len(chosen), rng)])

    def project(self, points: Array) -> Array:
        """The nearest points inside (m, d)."""
        C = self.G @ self.basis
        found = self._on(points)
        for k in np.flatnonzero((found @ self.G.T > self.g).any(axis=1)):
            found[k] += self.basis @ climbing.least_distance(C, self.g - self.G @ found[k])
        return self.tidy(found)

    def fixed(self, columns: Sequence[int], positions: Sequence[float]) -> Polytope:
        """The part of it with some columns at given positions; EmptyPolytope if there is none."""
        rows = np.eye(self.G.shape[1])[list(columns)]
        E = np.concatenate([self.E, rows])
        return polytope(self.G, self.g, E, np.concatenate([self.e, np.asarray(positions, dtype=float)]))

    def climb(
        self,
        function: ValueAndGradient,
        rows: Array,
        steps: int,
        columns: NDArray[np.intp] | None = None,
    ) -> Array:
        """Rows (k, d) inside, moved up a smooth function, at most so many steps each, inside all the way.

        Args:
            function: values (k,) and gradients (k, d) of any number of rows; a row where they are not
                finite stays where it is.
            rows: to begin with, inside.
            steps: at most; at most twice as many calls of the function.
            columns: that may move, all if not given. Rows may differ in the others: nothing about them is
                computed anew, as it is for ``fixed``.
        """
        basis = self.basis
        if columns is not None:
            still = np.setdiff1d(np.arange(rows.shape[1]), columns)
            E = np.concatenate([self.E, np.eye(rows.shape[1])[still]])
            basis = independent(E, np.zeros(len(E)))[2]
        found = climbing.climb(function, rows, steps, self.G, self.g, basis)
        tidied = self.tidy(found)
        if columns is not None:
            tidied[:, still] = rows[:, still]
        return tidied

    def tidy(self, points: Array) -> Array:
        """Points (m, d) that rounding has put outside, put inside: onto the equalities, then inwards."""
        points = self._on(points)
        room = self.g - self.G @ self.centre
        over = points @ self.G.T - self.g
        part = np.where(over > 0, room / (room + np.maximum(over, 0.0)), 1.0).min(axis=1, initial=1.0)
        outside = part < 1
        points[outside] = self.centre + part[outside, None] * (points[outside] - self.centre)
        return np.clip(points, 0.0, 1.0)

    def _on(self, points: Array) -> Array:
        """The nearest points (m, d) that satisfy the equalities."""
        gap = points @ self.E.T - self.e
        gap[np.abs(gap).max(axis=1, initial=0.0) <= _ROUNDING] = 0.0
        return points - gap @ self.E


def polytope(A: Array, b: Array, E: Array, e: Array) -> Polytope:
    """The polytope {u in [0, 1]^d: A u <= b, E u == e}, for A (k, d), b (k,), E (l, d), e (l,).

    Equalities that say the same are one, and inequalities that are always tight become equalities.

    Raises:
        EmptyPolytope: if there is no such u.
    """
    d = A.shape[1]
    cube = np.concatenate([np.eye(d), -np.eye(d)])
    G, g = unit_rows(np.concatenate([A, cube]), np.concatenate([b, np.ones(d), np.zeros(d)]))
    E, e, basis = independent(*unit_rows(E, e))
    while True:
        centre, depth = deepest(G, g, E, e, basis)
        if depth < -FLAT:
            raise EmptyPolytope("no point of the box satisfies the constraints")
        flat = np.linalg.norm(G @ basis, axis=1) <= FLAT  # says nothing within the equalities
        G, g = G[~flat], g[~flat]
        if depth > FLAT or len(G) == 0:
            break
        equal = tight(G, g, E, e)
        if not equal.any():
            slack = g - G @ centre
            equal = slack <= slack.min()
        E, e, basis = independent(np.concatenate([E, G[equal]]), np.concatenate([e, g[equal]]))
        G, g = G[~equal], g[~equal]
    if len(G) == 0:
        centre = e @ E
    centre, inner = _analytic_centre(G, g, centre, basis)
    return Polytope(G, g, E, e, basis, centre, basis @ inner, _edges(E))


def _edges(E: Array) -> Array:
    """Directions (n, d) of length 1 in which E u does not change, of r + 1 columns each, for r equalities."""
    r, d = E.shape
    if r == 0 or r == d:
        return np.eye(d)[r:]
    size = WALK.edges * d
    columns = np.argsort(np.random.default_rng(0).random((size, d)), axis=1)[:, : r + 1]
    found = np.zeros((size, d))
    part = np.linalg.svd(E[:, columns].transpose(1, 0, 2))[2][:, -1]
    np.put_along_axis(found, columns, part, axis=1)
    return found


def _analytic_centre(G: Array, g: Array, point: Array, basis: Array) -> tuple[Array, Array]:
    """The point (d,) with the largest product of slacks, by Newton's method, and its ellipsoid's axes (f, f).

    The ellipsoid of the second derivatives fits inside, and k times as large it contains all (Dikin).
    """
    C, f = G @ basis, basis.shape[1]
    if f == 0:
        return point, np.empty((0, 0))
    for _ in range(100):
        slack = g - G @ point
        slope, bend = C.T @ (1 / slack), (C.T / slack**2) @ C
        move = -np.linalg.solve(bend, slope)
        size = float(np.sqrt(np.maximum(-slope @ move, 0.0)))
        point = point + basis @ move / (1 + size)
        if size < 1e-6:
            break
    bend = (C.T / (g - G @ point) ** 2) @ C
    return point, np.linalg.inv(np.linalg.cholesky(bend)).T


def _reach(slack: Array, rate: Array) -> tuple[Array, Array]:
    """From where to where points can go, by their slacks (m, k) >= 0 and how fast these shrink (m, k)."""
    pace = rate / np.maximum(slack, 1e-200)
    fastest, slowest = pace.max(axis=1, initial=0.0), pace.min(axis=1, initial=0.0)
    upper = np.divide(1.0, fastest, out=np.zeros_like(fastest), where=fastest > 0)
    lower = np.divide(1.0, slowest, out=np.zeros_like(slowest), where=slowest < 0)
    return lower, upper
