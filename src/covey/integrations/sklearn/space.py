"""Space of scikit-learn's searches: the quantiles of a distribution are the positions of a dimension."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.stats import rv_continuous, rv_discrete
from scipy.stats.distributions import rv_frozen

from covey.arrays import Array
from covey.errors import shown
from covey.integrations.labelled import listed
from covey.space import Dimension, Int, Space

_TAIL = 1e-3
"""The share of a distribution beyond an end that the search does not go to, where there is no bound."""


@dataclass(frozen=True)
class Quantiles:
    """The values of a continuous scipy distribution, likely ones at more of the positions.

    A uniform distribution gives a linear scale, a loguniform one a logarithmic scale.
    """

    distribution: Any

    @property
    def levels(self) -> None:
        return None

    @property
    def ordered(self) -> bool:
        return True

    def spread(self, uniform: Array) -> Array:
        return uniform

    def position(self, _level: Array) -> Array:
        raise TypeError("a continuous distribution has no levels")

    def level(self, _position: float) -> int:
        raise TypeError("a continuous distribution has no levels")

    def encode(self, value: Any) -> float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        least, most = self.decode(0.0), self.decode(1.0)
        if not number or not least <= value <= most:
            raise ValueError(f"{shown(value)} is not a number in [{shown(least)}, {shown(most)}]")
        low, high = _ends(self.distribution)
        return float((self.distribution.cdf(value) - low) / (high - low))

    def decode(self, position: float) -> float:
        low, high = _ends(self.distribution)
        return float(self.distribution.ppf(low + position * (high - low)))


def _ends(distribution: Any) -> tuple[float, float]:
    """The quantiles where the search begins and ends: 0 and 1 where there are bounds."""
    low, high = distribution.support()
    return 0.0 if math.isfinite(low) else _TAIL, 1.0 if math.isfinite(high) else 1 - _TAIL


def as_space(given: Mapping[str, Any] | Space) -> Space:
    """The space of parameter distributions.

    Args:
        given: name -> scipy distribution, list of values or covey dimension; a space is taken as it is.

    Raises:
        ValueError: if something is none of these.
    """
    if isinstance(given, Space):
        return given
    return Space({name: _named(name, values) for name, values in given.items()})


def _named(name: str, given: Any) -> Dimension:
    try:
        return _dimension(given)
    except ValueError as error:
        raise ValueError(f"parameter {shown(name)}: {error}") from None


def _dimension(given: Any) -> Dimension:
    if isinstance(given, (rv_continuous, rv_discrete)):
        given = given()  # with scipy's own loc and scale
    if isinstance(given, rv_frozen):
        return _whole(given) if isinstance(given.dist, rv_discrete) else Quantiles(given)
    if hasattr(given, "spread"):  # which every covey.Dimension has
        own: Dimension = given
        return own
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return listed(given)
    raise ValueError(
        f"give a list of values, a distribution of scipy.stats or a covey dimension, got {shown(given)}"
    )


def _whole(distribution: Any) -> Int:
    """The range of a discrete distribution, its tails left out where there is no bound."""
    low, high = (int(distribution.ppf(quantile)) for quantile in _ends(distribution))
    # Quantile 0 is the number before the first one.
    return Int(max(low, int(distribution.support()[0])), high)
