"""On which scales may the model see the objective? Linear, or logarithms of the distance from the best.

A Gaussian process believes in values that scatter evenly. Where some are larger than the rest by orders of
magnitude, it need not know by how much to find the smallest: ``scale`` finds out which scale the data prefer.
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

_SHIFTS = (2.0, 0.5, 0.1, 0.02)
"""From nearly linear to three orders of magnitude, in units of the better half's spread."""


@dataclass(frozen=True)
class Outputs:
    """Standardised outputs.

    Attributes:
        z: mean 0, standard deviation 1, failures at the worst value seen (n,).
        exponent, fraction: a step of 1 in z is, at the best value, one of fraction * 2^exponent in the
            objective, which itself may be too large or too small for a float.
        log_slope: log of dz/dy at each value, y in units of 2^exponent (n,).
        shift: of the logarithm; infinite where there is none.
    """

    z: Array
    exponent: int
    fraction: float
    log_slope: Array
    shift: float = math.inf

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
    return Outputs(scaled / fraction, exponent, fraction, np.full(len(scaled), -math.log(fraction)))


def _scaled(values: Sequence[float | None]) -> tuple[Array, int]:
    """Values times 2^-exponent, none larger than 1; failures at the worst."""
    seen = [value for value in values if value is not None]
    worst = max(seen, default=0.0)
    raw = np.array([worst if value is None else value for value in values], dtype=float)
    size = float(np.abs(raw).max(initial=0.0)) or 1.0
    # ldexp by the exponent is exact, also where 1 / size would overflow.
    exponent = math.frexp(size)[1]
    return np.ldexp(raw, -exponent), exponent


def logarithms(values: Sequence[float | None]) -> list[Outputs]:
    """The standardised values, then log(y - best + shift s) with smaller and smaller shifts.

    With m the median, s is the root mean square distance of the better half to it: whatever the worse half
    is like, and however few values are close to the best, the scale resolves the better ones.
    """
    plain = standardise(values)
    scaled, exponent = _scaled(values)
    # The lower median: between two values, one of orders of magnitude more would move it.
    middle = float(np.sort(scaled)[(len(scaled) - 1) // 2])
    spread = math.sqrt(float(np.mean((scaled[scaled <= middle] - middle) ** 2)))
    if len(scaled) < _FEWEST or spread < _LEAST:  # too few values, or half of them are the best
        return [plain]
    above = scaled - scaled.min()
    return [plain, *(_logarithm(above / spread, exponent, spread, shift) for shift in _SHIFTS)]


def _logarithm(above: Array, exponent: int, spread: float, shift: float) -> Outputs:
    """Standardised log(above + shift), of values (n,) above the best in units of the spread."""
    z = np.log(above + shift)
    width = float(z.std())
    log_slope = -z - math.log(width) - math.log(spread)
    return Outputs((z - z.mean()) / width, exponent, shift * spread * width, log_slope, shift)


OUTPUTS: dict[str, Callable[[Sequence[float | None]], list[Outputs]]] = {
    "standard": lambda values: [standardise(values)],
    "learned": logarithms,
}
"""What the values of a strategy's axis do: the scales to choose from."""
