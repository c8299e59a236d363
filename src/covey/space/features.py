"""Features: a row of the cube as a model sees it, ordered columns as they are, choices one-hot.

One-hot columns are scaled so that two different choices are at distance 1 whatever their number, and all
columns of a dimension share its length-scale. A parameter u in [0, 1] that exists only under a condition is
the point (cos u, sin u) of an arc where it exists, and (0, 0) where it does not: at distance 1 from all its
values, which are |u - v| apart but for the bend. Choices under a condition are one-hot, and 0 where they do
not exist. So branches share what they have in common, and each has its own of the rest. Choices that have
descriptors are these numbers too, each with a length-scale of its own, and their middle where they do not
exist.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space.conditions import Conditions
from covey.space.descriptors import Table, table_of
from covey.space.space import Space


@dataclass(frozen=True)
class Features:
    """The embedding of rows (m, d) as features (m, D).

    Attributes:
        conditions: which columns exist where.
        owner: the dimension that each feature belongs to (D,).
        groups: the length-scale that each feature has (D,).
        widths: the number of features of each dimension.
        tables: of the dimensions that are choices, what the model sees of them; else None.
        arcs: the ordered columns that have conditions.
        continuous: the columns of the cube that are continua.
        sources: the feature of each continuous column that always exists.
        ordered: the columns whose neighbouring positions are alike, continua and levels.
    """

    conditions: Conditions
    owner: NDArray[np.intp]
    groups: NDArray[np.intp]
    widths: tuple[int, ...]
    tables: tuple[Table | None, ...]
    arcs: NDArray[np.intp]
    continuous: NDArray[np.intp]
    sources: NDArray[np.intp]
    ordered: NDArray[np.intp]

    @staticmethod
    def of(space: Space) -> Features:
        dims = list(space.dimensions.values())
        tables = tuple(table_of(dim) for dim in dims)
        arcs = [k for k in space.conditions.columns.tolist() if tables[k] is None]
        widths = tuple(
            (2 if k in arcs else 1) if table is None else len(table.groups) for k, table in enumerate(tables)
        )
        owner = np.repeat(np.arange(len(dims)), widths)
        continuous = np.array([k for k, d in enumerate(dims) if d.levels is None], dtype=np.intp)
        always = np.setdiff1d(continuous, space.conditions.columns)
        ordered = np.array([k for k, d in enumerate(dims) if d.ordered], dtype=np.intp)
        return Features(
            space.conditions,
            owner,
            _groups(tables, widths),
            widths,
            tables,
            np.array(arcs, dtype=np.intp),
            continuous,
            np.searchsorted(owner, always),
            ordered,
        )

    def embed(self, rows: Array) -> Array:
        """Features (m, D) of rows (m, d)."""
        if all(table is None for table in self.tables) and len(self.arcs) == 0:
            return np.ascontiguousarray(rows, dtype=float)
        parts = []
        exists = self.conditions.active(rows)
        for k, (column, table) in enumerate(zip(rows.T, self.tables, strict=True)):
            if table is not None:
                numbers = table.rows[np.abs(column[:, None] - table.positions).argmin(axis=1)]
                parts.append(np.where(exists[:, k, None], numbers, table.absent))
            elif k in self.arcs:
                arc = np.stack([np.cos(column), np.sin(column)], axis=1)
                parts.append(np.where(exists[:, k, None], arc, 0.0))
            else:
                parts.append(column[:, None])
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def pull_back(self, points: Array, gradient: Array) -> Array:
        """Gradient in the rows (m, d) of one in the features (m, D) at points (m, D); 0 for choices."""
        rows = np.zeros((len(gradient), len(self.widths)))
        first = np.searchsorted(self.owner, self.ordered)
        rows[:, self.ordered] = gradient[:, first]
        bent = np.intersect1d(self.arcs, self.ordered)
        cos = np.searchsorted(self.owner, bent)
        # d/du (cos u, sin u) = (-sin u, cos u), which is (0, 0) where it does not exist.
        rows[:, bent] = points[:, cos] * gradient[:, cos + 1] - points[:, cos + 1] * gradient[:, cos]
        return rows


def _groups(tables: tuple[Table | None, ...], widths: tuple[int, ...]) -> NDArray[np.intp]:
    """The length-scale of each feature (D,): one for each dimension, or as many as a table has."""
    found, used = list[int](), 0
    for table, width in zip(tables, widths, strict=True):
        own = (0,) * width if table is None else table.groups
        found += [used + group for group in own]
        used += max(own) + 1
    return np.array(found, dtype=np.intp)
