"""Discount of the boundary: a point on a face of the cube is worth less than one inside.

A model knows least about the faces of the cube, which have neighbours on one side only, so that an
acquisition function is drawn to them; of d dimensions' 2 d faces, time and again. But ranges are set around
a minimum rather than through it, and a point on a face tells about half of a neighbourhood. So the
acquisition function is multiplied, for each of the c continuous coordinates u in [0, 1], by

    (Phi(u / w) Phi((1 - u) / w))^p,   w a tenth of the length-scale,   p = 2 min(1, (c - 2) / 3):

by a power of the share of a small neighbourhood that lies inside, from five coordinates on 1/4 on a face.
Where the model is sure that the minimum is on a face, a factor of 4 is next to nothing; where it knows
nothing, points stay inside. The neighbourhood is the model's own: what changes quickly is explored close to
a face too. The four sides of a square are soon known, so there, and on a line, nothing is discounted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.normal import log_below, log_below_slope
from covey.model.theta import Thetas
from covey.space.features import Features


@dataclass(frozen=True)
class Discount:
    """How much less a point on a face is worth.

    Attributes:
        reach: the width of a neighbourhood, in length-scales.
        power: of the share inside, in many dimensions.
        few, many: continuous coordinates without a discount, and with all of it.
    """

    reach: float
    power: float
    few: int
    many: int


DISCOUNT = Discount(reach=0.1, power=2.0, few=2, many=5)


@dataclass(frozen=True)
class Inside:
    """The discount of the boundary, for each theta.

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
    """The discount of the faces of the cube; None if it has no more than two continuous coordinates."""
    columns = features.sources
    if len(columns) <= DISCOUNT.few:
        return None
    power = DISCOUNT.power * min(1.0, (len(columns) - DISCOUNT.few) / (DISCOUNT.many - DISCOUNT.few))
    return Inside(columns, DISCOUNT.reach * thetas.length_scale[:, None, columns], power)
