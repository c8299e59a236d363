"""Normal distribution: its density, its distribution function, and what follows from them.

SciPy's special functions are imported where they are called: they take half of the time of ``import covey``.
"""

from __future__ import annotations

import math

import numpy as np

from covey.arrays import Array

LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


def density(z: Array) -> Array:
    """phi(z)."""
    return np.exp(-0.5 * z**2 - LOG_ROOT_2PI)


def below(z: Array) -> Array:
    """Phi(z), the probability to be below z."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def log_below(z: Array) -> Array:
    """Logarithm of Phi(z), accurate far below 0."""
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(z))


def log_below_slope(z: Array) -> tuple[Array, Array]:
    """Logarithm of Phi(z) and its derivative, the hazard phi(z) / Phi(z)."""
    log = log_below(z)
    return log, np.exp(-0.5 * z**2 - LOG_ROOT_2PI - log)


def mills(z: Array) -> Array:
    """Mills ratio (1 - Phi(z)) / phi(z) for z >= 0, accurate where both are 0 in float64."""
    from scipy.special import erfcx

    return np.asarray(math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2)))
