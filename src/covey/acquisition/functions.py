"""Acquisition functions: how much a point is worth trying, larger is better, with their derivatives.

All are functions of (mean, std, best, jitter) and know no model. Arguments are arrays that broadcast
together, on the scale of standardised outputs; ``best`` is the lowest value known, ``jitter`` the
explore-exploit trade-off.
"""

from __future__ import annotations

import numpy as np

from covey.arrays import Array
from covey.model.normal import LOG_ROOT_2PI, below, density, log_below, mills

_LEAST_STD = 1e-100
"""Keeps a division by a standard deviation of 0 finite, and what it gives far outside of any other."""


def _z(mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
    std = np.maximum(std, _LEAST_STD)
    return (best - jitter - mean) / std, std


def expected_improvement(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """EI_j = E[max(best - j - f, 0)] = std (z Phi(z) + phi(z)), z = (best - j - mean) / std."""
    z, std = _z(mean, std, best, jitter)
    return np.maximum(std * (z * below(z) + density(z)), 0.0)


def expected_improvement_partials(mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
    """Derivatives of ``expected_improvement`` in mean and in std."""
    z, _ = _z(mean, std, best, jitter)
    return -below(z), density(z)


def log_h(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), accurate from 1e150 down to -1e150.

    Below -1 the two terms cancel: phi(z) + z Phi(z) = phi(z) (1 - t) with t = |z| m(|z|), m the Mills
    ratio from erfcx. Far out, where 1 - t itself cancels, 1 - t = z^-2 - 3 z^-4 + 15 z^-6 - ...
    """
    near = np.clip(z, -1.0, 1e150)
    direct = np.log(near * below(near) + density(near))
    middle = -np.clip(z, -100.0, -1.0)
    remainder = np.log1p(-middle * mills(middle))
    far = 1.0 / np.maximum(-z, 100.0) ** 2
    series = np.log(far) + np.log1p(far * (-3.0 + far * (15.0 - far * 105.0)))
    tail = np.where(z > -100.0, remainder, series) - 0.5 * np.minimum(z, 0.0) ** 2 - LOG_ROOT_2PI
    return np.where(z > -1.0, direct, tail)


def log_expected_improvement(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """Log EI_j, which still has a slope where EI_j is 0 in float64 (Ament et al. 2023)."""
    z, std = _z(mean, std, best, jitter)
    return log_h(z) + np.log(std)


def log_expected_improvement_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    """Derivatives of ``log_expected_improvement`` in mean and in std."""
    z, std = _z(mean, std, best, jitter)
    log = log_h(z)
    return -np.exp(log_below(z) - log) / std, np.exp(-0.5 * z**2 - LOG_ROOT_2PI - log) / std


def lower_confidence_bound(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """LCB_j = j std - mean."""
    return jitter * std - mean + 0.0 * best


def lower_confidence_bound_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    """Derivatives of ``lower_confidence_bound`` in mean and in std."""
    return -np.ones_like(mean), np.full_like(std, jitter)


def probability_of_improvement(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """PI_j = P(f < best - j) = Phi(z)."""
    return np.asarray(below(_z(mean, std, best, jitter)[0]))


def probability_of_improvement_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    """Derivatives of ``probability_of_improvement`` in mean and in std."""
    z, std = _z(mean, std, best, jitter)
    at = density(z)
    return -at / std, -z * at / std


def thompson(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """TS: the drawn function itself, to be minimised."""
    return -mean + 0.0 * std


def thompson_partials(mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
    """Derivatives of ``thompson`` in mean and in std."""
    return -np.ones_like(mean), np.zeros_like(std)
