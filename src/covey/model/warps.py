"""Warps: the scales that a model may see values on, linear or logarithms of the distance from an extreme.

A Gaussian process believes in values that scatter evenly. Where some are larger than the rest by orders of
magnitude, it need not know by how much to find the smallest. Where a plain has a few deep holes, one that was
found looks like all that can be hoped for, unless depths are seen on a logarithm too. ``choose_warp`` finds
out which one the data prefer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from covey.arrays import Array


@dataclass(frozen=True)
class Limits:
    """Where values stop to count as they are.

    Attributes:
        most_noise: variance, in units of the values'; noise of a thousand standard deviations drowns
            everything, and more of it changes nothing.
        farthest: in units of the better half's range; beyond, values are the worst, and no float has room for
            both.
        same: relative to their size; where the better half differs by less, it is no measure for the rest.
        narrowest: a width of the better half, in units of its size, that has lost its digits.
        fewest: values that have a better and a worse half.
        shifts: of logarithms, from nearly linear to three orders of magnitude, in widths of the better half.
    """

    most_noise: float
    farthest: float
    same: float
    narrowest: float
    fewest: int
    shifts: tuple[float, ...]


LIMITS = Limits(
    most_noise=1e6, farthest=1e12, same=1e-9, narrowest=1e-100, fewest=5, shifts=(2.0, 0.5, 0.1, 0.02)
)


@dataclass(frozen=True)
class Warp:
    """Values on a scale, standardised.

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
            return LIMITS.most_noise
        return float(min((math.ldexp(std, -self.exponent) / self.fraction) ** 2, LIMITS.most_noise))


WarpChoices: TypeAlias = Callable[[Sequence[float]], list[Warp]]
"""The warps that a model may choose from, given the values; neighbours are alike."""


def standardise(values: Sequence[float]) -> Warp:
    """The linear warp of raw values (n,), n >= 1."""
    return _straight(*_scaled(values))


def linear(values: Sequence[float]) -> list[Warp]:
    """The linear warp alone: no choice."""
    return [standardise(values)]


def warps(values: Sequence[float]) -> list[Warp]:
    """From one that resolves the worst values best, by the linear one, to one that resolves the best values.

    Those are log(y - best + s) with smaller and smaller shifts s; the former are the same upside down,
    -log(worst - y + s).
    """
    scaled, exponent = _scaled(values)
    upside_down = [_turned(warp) for warp in _logarithms(-scaled, exponent)]
    return [*reversed(upside_down), _straight(scaled, exponent), *_logarithms(scaled, exponent)]


def _scaled(values: Sequence[float]) -> tuple[Array, int]:
    """Values times 2^-exponent, around 1 in the better half; the worse ones within a float's reach of it.

    Dividing first keeps 1e300 from overflowing and 1e-300 from vanishing. By the better half, because some
    people return the largest float there is for what is not allowed: next to it, all else would be zero.
    """
    raw = np.array(values, dtype=float)
    better = np.sort(raw)[: (len(raw) + 1) // 2]
    half = float(np.abs(better).max())
    told_apart = better[-1] / 2 - better[0] / 2 > LIMITS.same * half
    size = (half if told_apart else float(np.abs(raw).max())) or 1.0
    # ldexp by the exponent is exact, also where 1 / size would overflow.
    exponent = math.frexp(size)[1]
    with np.errstate(over="ignore"):  # infinite for a moment
        scaled = np.ldexp(raw, -exponent)
        best, middle = np.ldexp(better[[0, -1]], -exponent)
    farthest = middle + LIMITS.farthest * (middle - best) if told_apart else math.inf
    return np.minimum(scaled, farthest), exponent


def _straight(scaled: Array, exponent: int) -> Warp:
    """Standardised values (n,) that were divided by 2^exponent."""
    centred = scaled - scaled.mean()
    fraction = float(centred.std()) or 1.0
    return Warp(centred / fraction, exponent, fraction, np.full(len(scaled), -math.log(fraction)))


def _logarithms(scaled: Array, exponent: int) -> list[Warp]:
    """Standardised log(y - best + s) with ever smaller shifts s; none of too few values.

    With m the median, s is in units of the root mean square distance of the better half to it: whatever the
    worse half is like, and however few values are close to the best, the warp resolves the better ones.
    """
    # The lower median: between two values, one of orders of magnitude more would move it.
    middle = float(np.sort(scaled)[(len(scaled) - 1) // 2])
    width = math.sqrt(float(np.mean((scaled[scaled <= middle] - middle) ** 2)))
    if len(scaled) < LIMITS.fewest or width < LIMITS.narrowest:  # the latter: half of them are the best
        return []
    above = (scaled - scaled.min()) / width
    return [_logarithm(above, exponent, width, shift) for shift in LIMITS.shifts]


def _logarithm(above: Array, exponent: int, unit: float, shift: float) -> Warp:
    """Standardised log(above + shift), of values (n,) above the best in units of the better half's width."""
    z = np.log(above + shift)
    width = float(z.std())
    log_slope = -z - math.log(width) - math.log(unit)
    return Warp((z - z.mean()) / width, exponent, shift * unit * width, log_slope, shift)


def _turned(warp: Warp) -> Warp:
    """The warp -g(-y) for a warp g of -y: what was the best value is the worst."""
    at_best = float(warp.log_slope[np.argmax(warp.z)])
    return Warp(-warp.z, warp.exponent, math.exp(-at_best), warp.log_slope, -warp.shift)
