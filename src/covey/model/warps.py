"""On which scales may the model see the objective? Linear, or logarithms of the distance from an extreme.

A Gaussian process believes in values that scatter evenly. Where some are larger than the rest by orders of
magnitude, it need not know by how much to find the smallest. Where a plain has a few deep holes, one that was
found looks like all that can be hoped for, unless depths are seen on a logarithm too. ``scale`` finds out
which scale the data prefer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array

_MOST_NOISE = 1e6
"""Noise of a thousand standard deviations drowns everything; more of it changes nothing."""

_FARTHEST = 1e12
"""In units of the better half's range: beyond, values are the worst, and no float has room for both."""

_SAME = 1e-9
"""Relative to their size: where the better half differs by less, it is no measure for the rest."""

_LEAST = 1e-100
_FEWEST = 5
"""Values that have a better and a worse half."""

_SHIFTS = (2.0, 0.5, 0.1, 0.02)
"""From nearly linear to three orders of magnitude, in units of the better half's spread."""


@dataclass(frozen=True)
class Outputs:
    """Standardised outputs.

    Attributes:
        z: mean 0, standard deviation 1 (n,).
        exponent, fraction: a step of 1 in z is, at the best value, one of fraction * 2^exponent in the
            objective, which itself may be too large or too small for a float.
        log_slope: log of dz/dy at each value, y in units of 2^exponent (n,).
        shift: of the logarithm; infinite where there is none, negative where the distance is from the worst.
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


def standardise(values: Sequence[float]) -> Outputs:
    """Standardise raw values (n,), n >= 1."""
    scaled, exponent = _scaled(values)
    scaled -= scaled.mean()
    fraction = float(scaled.std()) or 1.0
    return Outputs(scaled / fraction, exponent, fraction, np.full(len(scaled), -math.log(fraction)))


def _scaled(values: Sequence[float]) -> tuple[Array, int]:
    """Values times 2^-exponent, around 1 in the better half; the worse ones within a float's reach of it.

    Dividing first keeps 1e300 from overflowing and 1e-300 from vanishing. By the better half, because some
    people return the largest float there is for what is not allowed: next to it, all else would be zero.
    """
    raw = np.array(values, dtype=float)
    better = np.sort(raw)[: (len(raw) + 1) // 2]
    half = float(np.abs(better).max())
    told_apart = better[-1] / 2 - better[0] / 2 > _SAME * half
    size = (half if told_apart else float(np.abs(raw).max())) or 1.0
    # ldexp by the exponent is exact, also where 1 / size would overflow.
    exponent = math.frexp(size)[1]
    with np.errstate(over="ignore"):  # infinite for a moment
        scaled = np.ldexp(raw, -exponent)
        best, middle = np.ldexp(better[[0, -1]], -exponent)
    farthest = middle + _FARTHEST * (middle - best) if told_apart else math.inf
    return np.minimum(scaled, farthest), exponent


def scales(values: Sequence[float]) -> list[Outputs]:
    """From one that resolves the worst values best, by the linear one, to one that resolves the best values.

    Those are log(y - best + s) with smaller and smaller shifts s; the former are the same upside down,
    -log(worst - y + s).
    """
    scaled, exponent = _scaled(values)
    upside_down = [_turned(outputs) for outputs in _logarithms(-scaled, exponent)]
    return [*reversed(upside_down), standardise(values), *_logarithms(scaled, exponent)]


def _logarithms(scaled: Array, exponent: int) -> list[Outputs]:
    """Standardised log(y - best + s) with ever smaller shifts s; none of too few values.

    With m the median, s is in units of the root mean square distance of the better half to it: whatever the
    worse half is like, and however few values are close to the best, the scale resolves the better ones.
    """
    # The lower median: between two values, one of orders of magnitude more would move it.
    middle = float(np.sort(scaled)[(len(scaled) - 1) // 2])
    spread = math.sqrt(float(np.mean((scaled[scaled <= middle] - middle) ** 2)))
    if len(scaled) < _FEWEST or spread < _LEAST:  # too few values, or half of them are the best
        return []
    above = (scaled - scaled.min()) / spread
    return [_logarithm(above, exponent, spread, shift) for shift in _SHIFTS]


def _logarithm(above: Array, exponent: int, spread: float, shift: float) -> Outputs:
    """Standardised log(above + shift), of values (n,) above the best in units of the spread."""
    z = np.log(above + shift)
    width = float(z.std())
    log_slope = -z - math.log(width) - math.log(spread)
    return Outputs((z - z.mean()) / width, exponent, shift * spread * width, log_slope, shift)


def _turned(outputs: Outputs) -> Outputs:
    """The scale -g(-y) for a scale g of -y: what was the best value is the worst."""
    at_best = float(outputs.log_slope[np.argmax(outputs.z)])
    return Outputs(-outputs.z, outputs.exponent, math.exp(-at_best), outputs.log_slope, -outputs.shift)


OUTPUTS: dict[str, Callable[[Sequence[float]], list[Outputs]]] = {
    "standard": lambda values: [standardise(values)],
    "learned": scales,
}
"""What the values of a strategy's axis do: the scales to choose from, in order."""
