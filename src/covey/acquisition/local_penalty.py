"""Local penalization: pending points push others away (Gonzalez, Dai, Hennig, Lawrence 2016).

If the objective is Lipschitz with constant L and has the minimum M, no minimiser lies within
r_j = (f(x_j) - M) / L of x_j. With f(x_j) normal (mean mu_j, standard deviation sigma_j), the probability
that x lies outside that ball is

    phi(x; x_j) = erfc(-z) / 2,   z = (L |x - x_j| - mu_j + M) / (sqrt(2) sigma_j),

and the acquisition function, made positive, is multiplied by the product over j. Here L, mu_j and sigma_j
are those of each theta, and the product is taken before the average over theta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covey.arrays import Array
from covey.model.normal import log_below, log_below_slope
from covey.model.surrogate import Posterior

_FLAT = 1e-7
_FLAT_SLOPE = 10.0
"""The constant assumed where the mean is flatter than that, as in the authors' own code: a small ball."""

_LEAST_STD = 1e-6
"""The softest edge of a ball that L-BFGS-B can still climb."""

_LEAST_DISTANCE = 1e-12
"""A centre has no direction away from it."""


@dataclass(frozen=True)
class LocalPenalty:
    """The product of the penalties of k pending points, for each theta.

    Attributes:
        centres: features of the pending points (k, D).
        slope: Lipschitz constants (S, 1, 1).
        gap: mu_j - M, at least 0 (S, 1, k).
        std: sigma_j (S, 1, k).
    """

    centres: Array
    slope: Array
    gap: Array
    std: Array

    def _z(self, points: Array) -> tuple[Array, Array, Array]:
        """sqrt(2) z (S, m, k), the differences (m, k, D) and the distances (m, k)."""
        difference = points[:, None, :] - self.centres
        distance = np.sqrt((difference**2).sum(axis=2))
        return (self.slope * distance - self.gap) / self.std, difference, distance

    def log_factor(self, points: Array) -> Array:
        """sum_j log phi(x; x_j) (S, m): erfc(-z) / 2 is the normal distribution function at sqrt(2) z."""
        return np.asarray(log_below(self._z(points)[0]).sum(axis=2))

    def log_factor_gradient(self, points: Array) -> tuple[Array, Array]:
        """The same, and its gradient (S, m, D)."""
        z, difference, distance = self._z(points)
        log, hazard = log_below_slope(z)
        direction = difference / np.maximum(distance, _LEAST_DISTANCE)[..., None]
        gradient = np.einsum("smk,mkd->smd", hazard * self.slope / self.std, direction)
        return log.sum(axis=2), gradient


def local_penalty(stack: Posterior, pending: Array, scan: Array) -> LocalPenalty:
    """The penalty around pending points.

    Args:
        stack: the posterior, which ignores the pending points.
        pending: their features (k, D), k >= 1.
        scan: features (m, D) where the slope of the mean is looked up; L is the steepest found.
    """
    steep = np.linalg.norm(stack.predict_gradient(scan).mean_gradient, axis=2).max(axis=1)
    slope = np.where(steep < _FLAT, _FLAT_SLOPE, steep)
    mean, std = stack.predict(pending)
    gap = np.maximum(mean - stack.best, 0.0)
    return LocalPenalty(
        pending,
        slope[:, None, None],
        gap[:, None, :],
        np.maximum(std, _LEAST_STD)[:, None, :],
    )
