"""Features: a row of the cube as a model sees it, ordered columns as they are, choices one-hot.

One-hot columns are scaled so that two different choices are at distance 1 whatever their number, and all
columns of a dimension share its length-scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space.space import Space


@dataclass(frozen=True)
class Features:
    """The embedding of rows (m, d) as features (m, D).

    Attributes:
        owner: the dimension that each feature belongs to (D,).
        widths: the number of features of each dimension.
        positions: of each dimension's levels, for those that are one-hot; else None.
        continuous: the columns of the cube that are continua.
        sources: the feature of each continuous column.
        ordered: the columns whose neighbouring positions are alike, continua and levels.
    """

    owner: NDArray[np.intp]
    widths: tuple[int, ...]
    positions: tuple[Array | None, ...]
    continuous: NDArray[np.intp]
    sources: NDArray[np.intp]
    ordered: NDArray[np.intp]

    @staticmethod
    def of(space: Space) -> Features:
        dims = list(space.dimensions.values())
        widths = tuple(1 if d.ordered or (d.levels or 1) <= 2 else int(d.levels or 1) for d in dims)
        owner = np.repeat(np.arange(len(dims)), widths)
        positions = tuple(
            dim.position(np.arange(width, dtype=float)) if width > 1 else None
            for dim, width in zip(dims, widths, strict=True)
        )
        continuous = np.array([k for k, d in enumerate(dims) if d.levels is None], dtype=np.intp)
        ordered = np.array([k for k, d in enumerate(dims) if d.ordered], dtype=np.intp)
        return Features(owner, widths, positions, continuous, np.searchsorted(owner, continuous), ordered)

    def embed(self, rows: Array) -> Array:
        """Features (m, D) of rows (m, d)."""
        if len(self.owner) == len(self.widths):
            return np.ascontiguousarray(rows, dtype=float)
        parts = []
        for column, levels in zip(rows.T, self.positions, strict=True):
            if levels is None:
                parts.append(column[:, None])
            else:
                hot = np.isclose(column[:, None], levels, rtol=0, atol=1e-12)
                parts.append(math.sqrt(0.5) * hot)
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def pull_back(self, gradient: Array) -> Array:
        """Gradient in the rows (m, d) of a gradient in the features (m, D); 0 in columns of choices."""
        rows = np.zeros((len(gradient), len(self.widths)))
        rows[:, self.ordered] = gradient[:, np.searchsorted(self.owner, self.ordered)]
        return rows
