"""On which scale does the model see the objective? Standardised, perhaps the worse half compressed.

A Gaussian process believes in values that scatter evenly. Where some are larger than the rest by orders of
magnitude, it need not know by how much to find the smallest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array

_MOST_NOISE = 1e6
"""Noise of a thousand standard deviations drowns everything; more of it changes nothing."""

_LEAST = 1e-100
_FEWEST = 5
"""Values that have a better and a worse half."""


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


def compress(values: Sequence[float | None]) -> Outputs:
    """Keep the better half as it is and put the worse half on a logarithmic scale. At least one value.

    With m the median, s the better half's root mean square distance to it and t = (y - m) / s: t up to the
    median, log(1 + t) beyond, which goes on with the same slope. Values that are larger than the rest by
    orders of magnitude then cost the model little, and however closely the better half gathers around one
    minimum, the rest stays near enough to be worth another look.
    """
    scaled, exponent = _scaled(values)
    # The lower median: between two values, one of orders of magnitude more would move it.
    middle = float(np.sort(scaled)[(len(scaled) - 1) // 2])
    better = scaled <= middle
    spread = math.sqrt(float(np.mean((scaled[better] - middle) ** 2)))
    if len(scaled) < _FEWEST or spread < _LEAST:  # too few values, or half of them are the best
        return standardise(values)
    t = (scaled - middle) / spread
    z = np.where(better, t, np.log1p(np.maximum(t, 0.0)))
    z -= z.mean()
    width = float(z.std())
    # Noise is told in raw units, and matters most among the better half.
    return Outputs(z / width, exponent, spread * width)


OUTPUTS: dict[str, Callable[[Sequence[float | None]], Outputs]] = {
    "standard": standardise,
    "compressed": compress,
}
"""What the values of a strategy's axis do."""
