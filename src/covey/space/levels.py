"""Levels at even distances: their positions in the unit interval, and their values to the last digit.

Values are computed in decimal arithmetic from what low and step look like when they are written: the third
step of 0.1 from 0 is 0.3, as people set it, and not 0.30000000000000004.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.space.dimensions import is_finite

MOST_LEVELS = 2**53
"""Past this, neighbouring integers share a float64."""


@dataclass(frozen=True)
class Rounding:
    """What a number may have lost on its way.

    Attributes:
        step: in steps; far below half of one, far above what arithmetic in float64 loses.
        units: in the last place of the number, where steps are so fine that these are more.
        finest: the finest step, in the last place of the largest number: values and positions stay apart.
    """

    step: float = 1e-9
    units: int = 2
    finest: int = 8


ROUNDING = Rounding()
_EXACT = Context(prec=60)
"""Its own, as a program may set another for all threads; all digits of two float64 that are compared."""


def written(number: Any) -> Decimal:
    """A finite number as it is written, with the fewest digits that its type tells apart."""
    return Decimal(str(number) if isinstance(number, np.generic) else repr(float(number)))


def _exactly(low: float, step: float, level: int) -> Decimal:
    return _EXACT.fma(Decimal(level), written(step), written(low))


def stepped(low: float, step: float, level: int) -> float:
    """The number ``level`` steps from low, as the float64 next to the decimal sum."""
    return float(_exactly(low, step, level))


def width(low: float, high: float) -> Decimal:
    """The distance from low to high, as people subtract."""
    return _EXACT.subtract(written(high), written(low))


def steps_within(low: float, high: float, step: float) -> int:
    """The number of steps from low that do not lead past high."""
    return int(_EXACT.divide(width(low, high), written(step)))


def fair_level(uniform: Array, count: int) -> Array:
    """Levels for uniform numbers in [0, 1], each of ``count`` with its fair share."""
    return np.minimum(np.floor(uniform * count), count - 1)


def even_spread(uniform: Array, count: int) -> Array:
    """Their positions."""
    return even_position(fair_level(uniform, count), count)


def even_position(level: Array, count: int) -> Array:
    """Positions of levels: 0 of the first, 1 of the last."""
    return np.asarray(level / max(count - 1, 1), dtype=float)


def even_level(position: float, count: int) -> int:
    """The level nearest to a position."""
    return min(max(round(position * (count - 1)), 0), count - 1)


def rounding(step: float, value: Any) -> float:
    """How far from a level, of levels a step apart, a number may be for lack of digits."""
    return max(ROUNDING.step * step, ROUNDING.units * math.ulp(float(value)))


def beside(below: int, count: int) -> list[int]:
    """The level below something and the one above it, those that there are; else the nearest."""
    return sorted({min(max(level, 0), count - 1) for level in (below, below + 1)})


def nearest_words(values: list[Any]) -> str:
    """The values next to one that is refused, in words."""
    return f"the nearest {'is' if len(values) == 1 else 'are'} {' and '.join(map(repr, values))}"


@dataclass(frozen=True)
class Grid:
    """The numbers low, low + step, ..., ``count`` of them."""

    low: float
    step: float
    count: int

    def value(self, level: int) -> float:
        """The number at a level."""
        return stepped(self.low, self.step, level)

    @property
    def last(self) -> float:
        """The highest number."""
        return self.value(self.count - 1)

    def is_written(self, level: int) -> bool:
        """Whether float64 has the number at a level to its last digit."""
        return written(self.value(level)) == self._exact(level)

    def level(self, value: Any) -> int | None:
        """The level of a number; None if it is not on the grid, give or take some rounding."""
        if not is_finite(value):
            return None
        nearest = min(max(round(self._steps(value)), 0), self.count - 1)
        apart = abs(float(_EXACT.subtract(written(value), self._exact(nearest))))
        return nearest if apart <= rounding(self.step, value) else None

    def beside(self, value: float) -> list[float]:
        """The one or two numbers of the grid next to one that is not on it."""
        return [self.value(level) for level in beside(math.floor(self._steps(value)), self.count)]

    def _exact(self, level: int) -> Decimal:
        return _exactly(self.low, self.step, level)

    def _steps(self, value: Any) -> Decimal:
        """How many steps, and parts of one, a number is from low."""
        return _EXACT.divide(_EXACT.subtract(written(value), written(self.low)), written(self.step))
