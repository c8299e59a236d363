"""On which scale does the model see the objective? Standardised, whatever its magnitude."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array

_MOST_NOISE = 1e6
"""Noise of a thousand standard deviations drowns everything; more of it changes nothing."""


@dataclass(frozen=True)
class Outputs:
    """Standardised outputs.

    Attributes:
        z: mean 0, standard deviation 1, failures at the worst value seen (n,).
        exponent, fraction: the objective's standard deviation is fraction * 2^exponent, which itself
            may be too large or too small for a float.
    """

    z: Array
    exponent: int
    fraction: float

    def noise_variance(self, std: float) -> float:
        """The variance, on the standardised scale, of noise with a standard deviation in raw units."""
        if std > 0 and math.frexp(std)[1] - self.exponent > 100:
            return _MOST_NOISE
        return float(min((math.ldexp(std, -self.exponent) / self.fraction) ** 2, _MOST_NOISE))


def standardise(values: Sequence[float | None]) -> Outputs:
    """Standardise raw values; None is a failure, entered at the worst value seen.

    Dividing by the largest magnitude first keeps 1e300 from overflowing and 1e-300 from vanishing.
    """
    seen = [value for value in values if value is not None]
    worst = max(seen, default=0.0)
    raw = np.array([worst if value is None else value for value in values], dtype=float)
    size = float(np.abs(raw).max(initial=0.0)) or 1.0
    # ldexp by the exponent is exact, also where 1 / size would overflow.
    exponent = math.frexp(size)[1]
    scaled = np.ldexp(raw, -exponent)
    scaled -= scaled.mean()
    fraction = float(scaled.std()) or 1.0
    return Outputs(scaled / fraction, exponent, fraction)
