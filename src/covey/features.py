"""How does the Gaussian process see a row of the cube? Ordered columns as they are, choices one-hot.

One-hot columns are scaled so that two different choices are at distance 1 whatever their number, and all
columns of a dimension share its length-scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space import Space


@dataclass(frozen=True)
class Features:
    """The embedding of rows (m, d) as features (m, D).

    Attributes:
        owner: the dimension that each feature belongs to (D,).
        widths: the number of features of each dimension.
        continuous: the columns of the cube that are continua.
        sources: the feature of each continuous column.
    """

    owner: NDArray[np.intp]
    widths: tuple[int, ...]
    continuous: NDArray[np.intp]
    sources: NDArray[np.intp]

    @staticmethod
    def of(space: Space) -> Features:
        dims = list(space.dimensions.values())
        widths = tuple(1 if d.ordered or (d.levels or 1) <= 2 else int(d.levels or 1) for d in dims)
        owner = np.repeat(np.arange(len(dims)), widths)
        continuous = np.array([k for k, d in enumerate(dims) if d.levels is None], dtype=np.intp)
        return Features(owner, widths, continuous, np.searchsorted(owner, continuous))

    def embed(self, rows: Array) -> Array:
        """Features (m, D) of rows (m, d)."""
        if len(self.owner) == len(self.widths):
            return np.ascontiguousarray(rows, dtype=float)
        parts = []
        for column, width in zip(rows.T, self.widths, strict=True):
            if width == 1:
                parts.append(column[:, None])
            else:
                hot = np.zeros((len(rows), width))
                hot[np.arange(len(rows)), np.rint(column * (width - 1)).astype(np.intp)] = math.sqrt(0.5)
                parts.append(hot)
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def pull_back(self, gradient: Array) -> Array:
        """Gradient in the rows (m, d) of a gradient in the features (m, D); 0 in discrete columns."""
        rows = np.zeros((len(gradient), len(self.widths)))
        rows[:, self.continuous] = gradient[:, self.sources]
        return rows
