"""What is a point at the edge worth? Less than one inside, of which the model is as unsure.

A model knows least about the faces of the cube, which have neighbours on one side only, so that an
acquisition function is drawn to them; of d dimensions' 2 d faces, time and again. But ranges are set around
a minimum rather than through it, and a point at an edge tells about half of a neighbourhood. So the
acquisition function is multiplied, for each of the c continuous coordinates u in [0, 1], by

    (Phi(u / w) Phi((1 - u) / w))^p,   w a tenth of the length-scale,   p = 2 min(1, (c - 2) / 3):

by a power of the share of a small neighbourhood that lies inside, from five coordinates on 1/4 on a face.
Where the model is sure that the minimum is at the edge, a factor of 4 is next to nothing; where it knows
nothing, points stay inside. The neighbourhood is the model's own: what changes quickly is explored close to
the edge too. The four sides of a square are soon known, so there, and on a line, nothing is discounted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.normal import log_below, log_below_slope
from covey.model.theta import Thetas
from covey.space.features import Features

_REACH = 0.1
"""The width of a neighbourhood, in length-scales."""

_POWER = 2.0
"""Of the share inside, in many dimensions."""

_FEW, _MANY = 2, 5
"""Continuous coordinates without a discount, and with all of it."""


@dataclass(frozen=True)
class Inside:
    """The discount of edges, for each theta.

    Attributes:
        columns: the features that are continuous (c,).
        width: w for each theta and column (S, 1, c).
        power: p.
    """

    columns: NDArray[np.intp]
    width: Array
    power: float

    def log_factor(self, points: Array) -> Array:
        """Logarithm of the discount (S, m) at features (m, D)."""
        u = points[:, self.columns]
        share = log_below(u / self.width) + log_below((1 - u) / self.width)
        return np.asarray(self.power * share.sum(axis=2))

    def log_factor_gradient(self, points: Array) -> tuple[Array, Array]:
        """The same and its gradient (S, m, D), 0 in features that are not continuous."""
        u = points[:, self.columns]
        low, rise = log_below_slope(u / self.width)
        high, fall = log_below_slope((1 - u) / self.width)
        gradient = np.zeros((len(self.width), *points.shape))
        gradient[:, :, self.columns] = self.power * (rise - fall) / self.width
        return np.asarray(self.power * (low + high).sum(axis=2)), gradient


def inside(thetas: Thetas, features: Features) -> Inside | None:
    """The discount of the edges of a cube; None if it has no more than two continuous coordinates."""
    columns = features.sources
    if len(columns) <= _FEW:
        return None
    power = _POWER * min(1.0, (len(columns) - _FEW) / (_MANY - _FEW))
    return Inside(columns, _REACH * thetas.length_scale[:, None, columns], power)
