"""Conditions: a parameter that exists only where others have certain values.

A row of the cube has a column for every parameter. A column whose parameter does not exist in a row rests at
one fixed position, so that two rows that differ only in what does not exist are the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space.dimensions import Dimension
from covey.space.when import When

_SAME = 1e-12
"""Positions of levels are computed in the same way wherever they are; this is for the last bits."""


@dataclass(frozen=True)
class Branch:
    """One condition of one column.

    Attributes:
        column: of the parameter that has it.
        parent: the column of the other parameter.
        positions: the other's, where this one exists (k,).
    """

    column: int
    parent: int
    positions: Array


@dataclass(frozen=True)
class Conditions:
    """The conditions of a space.

    Attributes:
        branches: in an order in which every parent comes before its children.
        rest: where each column is when its parameter does not exist (d,).
    """

    branches: tuple[Branch, ...]
    rest: Array

    def __bool__(self) -> bool:
        return bool(self.branches)

    @property
    def columns(self) -> NDArray[np.intp]:
        """The columns that have conditions, parents before their children."""
        return np.array(list(dict.fromkeys(branch.column for branch in self.branches)), dtype=np.intp)

    @property
    def parents(self) -> frozenset[int]:
        """The columns that others depend on."""
        return frozenset(branch.parent for branch in self.branches)

    def active(self, rows: Array) -> NDArray[np.bool_]:
        """Whether each parameter exists (m, d) in rows (m, d)."""
        exists = np.ones(rows.shape, dtype=bool)
        for branch in self.branches:
            fits = np.abs(rows[:, branch.parent, None] - branch.positions).min(axis=1) <= _SAME
            exists[:, branch.column] &= fits & exists[:, branch.parent]
        return exists

    def settled(self, rows: Array) -> Array:
        """Rows (m, d) with every column at rest whose parameter does not exist."""
        return np.where(self.active(rows), rows, self.rest) if self.branches else rows


def conditions(dimensions: Mapping[str, Dimension]) -> Conditions:
    """The conditions of named dimensions.

    Raises:
        ValueError: if a parent is not there, has no such value or depends on its own child.
    """
    order = _ordered({name: [parent for parent, _ in when_of(dim)] for name, dim in dimensions.items()})
    column = {name: k for k, name in enumerate(dimensions)}
    branches = tuple(
        Branch(column[name], column[parent], _positions(name, parent, dimensions[parent], values))
        for name in order
        for parent, values in when_of(dimensions[name])
    )
    return Conditions(branches, np.array([_rest(dimension) for dimension in dimensions.values()]))


def when_of(dimension: Dimension) -> When:
    """The condition of a dimension; nothing for one that always exists."""
    return getattr(dimension, "when", None) or ()


def _ordered(parents: Mapping[str, list[str]]) -> list[str]:
    """Names so that parents come before children."""
    for name, above in parents.items():
        for parent in above:
            if parent not in parents:
                near = get_close_matches(parent, list(parents), n=1)
                hint = f", did you mean {near[0]!r}?" if near else f"; there are {list(parents)}"
                raise ValueError(f"Space: {name!r} depends on {parent!r}, which is not there{hint:.300}")
    order: list[str] = []
    while rest := [name for name in parents if name not in order]:
        ready = [name for name in rest if all(parent in order for parent in parents[name])]
        if not ready:
            raise ValueError(f"Space: {', '.join(map(repr, rest))} depend on one another in a circle")
        order += ready
    return order


def _positions(name: str, parent: str, dimension: Dimension, values: tuple[Any, ...]) -> Array:
    if dimension.levels is None:
        raise ValueError(
            f"Space: {name!r} depends on {parent!r}, which must have levels (Categorical, Ordinal, Int, or a "
            f"step), got {dimension!r}"
        )
    try:
        return np.array([dimension.encode(value) for value in values])
    except ValueError as error:
        raise ValueError(f"Space: {name!r} depends on {parent!r}: {error}") from None


def _rest(dimension: Dimension) -> float:
    """The middle of a dimension, or the level there."""
    if dimension.levels is None:
        return 0.5
    return float(dimension.position(np.array(float(dimension.levels // 2))))
