"""Normal distribution function: its logarithm, and how fast that grows."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from covey.arrays import Array

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


def log_below(z: Array) -> Array:
    """Logarithm of Phi(z), accurate far below 0."""
    return np.asarray(log_ndtr(z))


def log_below_slope(z: Array) -> tuple[Array, Array]:
    """Logarithm of Phi(z) and its derivative, the hazard phi(z) / Phi(z)."""
    log = log_below(z)
    return log, np.exp(-0.5 * z**2 - _LOG_ROOT_2PI - log)
