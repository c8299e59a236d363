"""On which scale does the model see the objective? Standardised, whatever its magnitude; perhaps bent before.

A Gaussian process believes in values that scatter evenly. Where a few are larger than the rest by orders of
magnitude, a power of the distance to the best, or its logarithm, is easier to believe; the order stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array

_MOST_NOISE = 1e6
"""Noise of a thousand standard deviations drowns everything; more of it changes nothing."""

_OFFSET = 0.3
"""In medians of the distance to the best: the smaller, the sharper the best values stand out."""

_LEAST = 1e-100
_POWERS = np.linspace(0.0, 1.0, 21)
_FEWEST = 5
"""Values that a power is learned from."""


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
    scaled, exponent = _scaled(values)
    scaled -= scaled.mean()
    fraction = float(scaled.std()) or 1.0
    return Outputs(scaled / fraction, exponent, fraction)


def _scaled(values: Sequence[float | None]) -> tuple[Array, int]:
    """Values times 2^-exponent, none larger than 1; failures at the worst."""
    seen = [value for value in values if value is not None]
    worst = max(seen, default=0.0)
    raw = np.array([worst if value is None else value for value in values], dtype=float)
    size = float(np.abs(raw).max(initial=0.0)) or 1.0
    # ldexp by the exponent is exact, also where 1 / size would overflow.
    exponent = math.frexp(size)[1]
    return np.ldexp(raw, -exponent), exponent


def bend(values: Sequence[float | None]) -> Outputs:
    """Standardise a power of the distance to the best value, the power learned from the values.

    With a = y - min y in units of its median and t = a + c: Box and Cox's (t^p - 1) / p, log t for p = 0. The
    p between 0 and 1 is the likeliest one if the result is normal; p = 1 is ``standardise``.
    """
    scaled, exponent = _scaled(values)
    away = scaled - scaled.min(initial=math.inf)
    middle = float(np.median(away)) if len(away) >= _FEWEST else 0.0
    if middle < _LEAST:  # too few values, or half of them are the best
        return standardise(values)
    t = away / middle + _OFFSET
    powers = _POWERS[:, None]
    bent = np.where(powers > 0, (t**powers - 1) / np.maximum(powers, 1e-9), np.log(t))
    seen = np.array([value is not None for value in values])
    spread = np.maximum(bent[:, seen].std(axis=1), 1e-300)
    likelihood = -seen.sum() * np.log(spread) + (_POWERS - 1) * np.log(t[seen]).sum()
    best = int(np.argmax(likelihood))
    z = bent[best] - bent[best].mean()
    width = float(z.std()) or 1.0
    # Noise is told in raw units: what it is here depends on where, so the slope at the median serves.
    slope = (1 + _OFFSET) ** (_POWERS[best] - 1) / (middle * width)
    return Outputs(z / width, exponent, float(1 / slope))


OUTPUTS: dict[str, Callable[[Sequence[float | None]], Outputs]] = {"standard": standardise, "bent": bend}
"""What the values of a strategy's axis do."""
