"""The region of the cube that constraints leave: points all over it, near others, and up a function.

Linear constraints on numbers that always exist are a polytope, which is sampled and climbed in exactly. All
others are tests that every row has to pass. Columns with levels are put on them, and where the equalities
have columns with levels alone, rows are drawn on the lattice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space.climbing import ValueAndGradient
from covey.space.conditions import Conditions
from covey.space.constraints import Constraints
from covey.space.dimensions import Dimension
from covey.space.lattice import lattice_points
from covey.space.polytope import EmptyPolytope, Polytope, conflict, polytope


@dataclass(frozen=True)
class Effort:
    """How hard rows are looked for.

    Attributes:
        rounds: of drawing rows and testing them, each larger than the last.
        pool: rows that an initial design is picked from.
        proof: rows that are asked for to know that there is one: with the rounds, a region that is a
            ten-thousandth of the cube is found.
        halvings: of the way back to where a climb began, if it has left a curved region.
    """

    rounds: int = 12
    pool: int = 512
    proof: int = 256
    halvings: int = 30


EFFORT = Effort()

_MARGIN = 1e-11
"""How far inside an inequality points stay, of the range of a parameter: it then holds to the last bit, after
values are rounded, and is far below what anybody sets."""


class Cube(Protocol):
    """What is needed of a ``covey.Space``."""

    dimensions: dict[str, Dimension]
    conditions: Conditions
    constraints: Constraints

    def __len__(self) -> int: ...

    def box_rows(self, uniform: Array) -> Array:
        """Rows (m, d) for uniform numbers (m, d), as if every parameter always existed."""


@dataclass(frozen=True, eq=False)
class Region:
    """What constraints leave of a space.

    Attributes:
        space: whose rows these are.
        linear: the columns of the cube that linear constraints are about.
        system: A, b, E, e over all columns.
        polytope: where A u <= b, E u == e.
        levels: positions of each linear column; None for a continuum, and for all other columns.
    """

    space: Cube
    linear: NDArray[np.intp]
    system: tuple[Array, Array, Array, Array]
    polytope: Polytope
    levels: tuple[Array | None, ...]

    def holds(self, rows: Array) -> NDArray[np.bool_]:
        """Which rows (m, d) satisfy every constraint, by the very values that they stand for (m,)."""
        constraints = self.space.constraints
        exists = self.space.conditions.active(rows)
        functions = any(callable(rule.test) for rule in constraints.rules)
        named = {name for rule in constraints.rules for name in rule.names}
        values, absent = dict[str, NDArray[Any]](), dict[str, NDArray[np.bool_]]()
        for k, (name, dimension) in enumerate(self.space.dimensions.items()):
            if functions or name in named:
                values[name] = _decoded(dimension, rows[:, k])
                absent[name] = ~exists[:, k]
        return constraints.holds(values, absent) if len(rows) else np.ones(0, dtype=bool)

    def sample(self, size: int, rng: np.random.Generator) -> Array:
        """Rows (n, d) at random, n at most so many and as many as can be found."""
        kept, found = [np.empty((0, len(self.space)))], 0
        for more in range(EFFORT.rounds if size else 0):
            rows = self._drawn(size * 2 ** min(more, 6), rng)
            kept.append(rows[self.holds(rows)])
            found += len(kept[-1])
            if found >= size:
                break
        return np.concatenate(kept)[:size]

    def _drawn(self, size: int, rng: np.random.Generator) -> Array:
        """Rows in the polytope and on their levels; whether other constraints hold is not looked at."""
        rows = self.space.box_rows(rng.random((size, len(self.space))))
        if self._is_lattice:
            points = lattice_points(self.levels, *self.system, rng, size)
            rows = rows[: len(points)]
        else:
            points = self._on_levels(self.polytope.sample(size, rng))
        rows[:, self.linear] = points[:, self.linear]
        return self.space.conditions.settled(rows)

    @property
    def _is_lattice(self) -> bool:
        """Whether an equality has columns with levels alone, which rounding would break."""
        counts = np.array([0 if positions is None else len(positions) for positions in self.levels])
        rows = [counts[row != 0] for row in self.system[2]]
        return any((own > 0).all() and (own > 1).any() for own in rows)

    def _on_levels(self, points: Array) -> Array:
        """Points (m, d) with linear columns on their levels, continua making up for it in equalities."""
        points, E, e = points.copy(), self.system[2], self.system[3]
        for k, positions in enumerate(self.levels):
            if positions is not None:
                points[:, k] = positions[np.abs(points[:, k, None] - positions).argmin(axis=1)]
        free = [k for k in self.linear if self.levels[k] is None]
        if 0 < len(free) < len(self.linear) and len(E):
            points[:, free] -= (points @ E.T - e) @ np.linalg.pinv(E[:, free]).T
        return np.clip(points, 0.0, 1.0)

    def design(self, size: int, rng: np.random.Generator) -> Array:
        """Rows (size, d) that keep away from each other; those of a shorter design come first."""
        pool = self.sample(EFFORT.pool, rng)
        chosen = [0]
        away = np.linalg.norm(pool - pool[0], axis=1)
        for _ in range(min(size, len(pool)) - 1):
            chosen.append(int(np.argmax(away)))
            away = np.minimum(away, np.linalg.norm(pool - pool[chosen[-1]], axis=1))
        return np.concatenate([pool[chosen], self.sample(max(size - len(chosen), 0), rng)])[:size]

    def near(self, rows: Array, anchors: Array, rng: np.random.Generator) -> Array:
        """Rows (n, d), n <= m, for rows (m, d) that were changed from anchors (m, d) inside."""
        rows, linear = rows.copy(), self.linear
        if self._is_lattice:
            rows[:, linear] = self._transferred(anchors, rng)[:, linear]
        else:
            rows[:, linear] = self._on_levels(self.polytope.project(rows))[:, linear]
        rows = self.space.conditions.settled(rows)
        return rows[self.holds(rows)]

    def _transferred(self, points: Array, rng: np.random.Generator) -> Array:
        """Points (m, d) where some steps of one column of an equality have gone to another."""
        points, E = points.copy(), self.system[2]
        for k, row in enumerate(E[rng.integers(len(E), size=len(points))]):
            there = np.flatnonzero(row)
            give, take = rng.choice(there, 2, replace=len(there) < 2)
            positions = self.levels[give]
            if positions is not None and give != take:
                before = points[k, give]
                reach = 2.0 ** rng.integers(0, 4) / max(len(positions) - 1, 1)
                wanted = before + rng.choice([-1.0, 1.0]) * reach
                points[k, give] = positions[np.abs(positions - wanted).argmin()]
                points[k, take] -= (points[k, give] - before) * row[give] / row[take]
        return self._on_levels(points)

    def climb(self, function: ValueAndGradient, rows: Array, steps: int, columns: NDArray[np.intp]) -> Array:
        """Rows (k, d) inside, moved up a function of rows in some columns, inside all the way."""
        return self._inside(rows, self.polytope.climb(function, rows, steps, columns))

    def _inside(self, before: Array, after: Array) -> Array:
        """Rows after a climb, taken back towards where they began if they have left a curved region."""
        part = np.ones((len(after), 1))
        for _ in range(EFFORT.halvings):
            rows = before + part * (after - before)
            outside = ~self.holds(rows)
            if not outside.any():
                return rows
            part[outside] /= 2
        return before

    def held(self, fixed: Array) -> Region:
        """The part of it where some columns are at given positions (d,), NaN for the others.

        Raises:
            ValueError: if the constraints leave nothing there.
        """
        on = [k for k in self.linear if not np.isnan(fixed[k])]
        if not on:
            return self
        try:
            part = self.polytope.fixed(on, fixed[on].tolist())
        except EmptyPolytope:
            names = ", ".join(list(self.space.dimensions)[k] for k in on)
            raise ValueError(f"fixed: the constraints leave nothing with such values of {names}") from None
        A, b, E, e = self.system
        E, e = np.concatenate([E, np.eye(len(fixed))[on]]), np.concatenate([e, fixed[on]])
        levels = tuple(np.array([fixed[k]]) if k in on else one for k, one in enumerate(self.levels))
        return replace(self, polytope=part, system=(A, b, E, e), levels=levels)


def _decoded(dimension: Dimension, positions: Array) -> NDArray[Any]:
    values = [dimension.decode(position) for position in positions.tolist()]
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    found = np.empty(len(values), dtype=float if numbers else object)
    found[:] = values
    return found


def region(space: Cube) -> Region:
    """The region of a space that has constraints.

    Raises:
        ValueError: if the constraints leave nothing; it names those that conflict.
    """
    constraints, dimensions = space.constraints, space.dimensions
    ends = [[dimensions[name].decode(u) for u in (0.0, 1.0)] for name in constraints.columns]
    low, high = np.array(ends, dtype=float).reshape(-1, 2).T
    place = np.array([[float(name == one) for one in dimensions] for name in constraints.columns])
    place = place.reshape(-1, len(space))
    A, b, E, e = constraints.in_cube(low, high)
    system = (A @ place, b, E @ place, e)
    inside = _polytope(system)
    if inside is None:
        raise ValueError(f"Space: no configuration satisfies {_conflicting(constraints, system)}")
    linear = np.flatnonzero((system[0] != 0).any(axis=0) | (system[2] != 0).any(axis=0))
    levels = tuple(
        dim.position(np.arange(float(dim.levels))) if k in linear and dim.levels else None
        for k, dim in enumerate(dimensions.values())
    )
    found = Region(space, linear, system, inside, levels)
    try:
        some = found.sample(EFFORT.proof, np.random.default_rng(0))
    except EmptyPolytope:
        some = np.empty((0, len(space)))
    if len(some) == 0:
        texts = " and ".join(repr(rule.text) for rule in constraints.rules)
        raise ValueError(f"Space: no configuration was found that satisfies {texts}")
    return found


def _polytope(system: tuple[Array, Array, Array, Array]) -> Polytope | None:
    """The polytope, a little inside of its inequalities where that leaves anything; None if it is empty."""
    A, b, E, e = system
    for margin in (_MARGIN, 0.0):
        try:
            return polytope(A, b - margin * np.abs(A).sum(axis=1), E, e)
        except EmptyPolytope:
            continue
    return None


def _conflicting(constraints: Constraints, system: tuple[Array, Array, Array, Array]) -> str:
    at_most, equal = conflict(*system)
    texts = [constraints.ub_texts[k] for k in at_most] + [constraints.eq_texts[k] for k in equal]
    return " and ".join(repr(text) for text in dict.fromkeys(texts))
