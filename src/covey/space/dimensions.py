"""Dimensions of a space: floats, integers and choices, each a codec to and from a column of the unit cube.

A configuration is a row of the cube, one column per dimension. A discrete column holds one of its levels'
positions and nothing in between; a row is therefore always a configuration, never in need of rounding.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.when import as_when

_MOST_LEVELS = 2**53
"""Past this, neighbouring integers share a float64."""


class Dimension(Protocol):
    """One column of the cube.

    Attributes:
        levels: how many values there are; None for a continuum.
        ordered: whether neighbouring positions are alike.
    """

    @property
    def levels(self) -> int | None: ...

    @property
    def ordered(self) -> bool: ...

    def spread(self, uniform: Array) -> Array:
        """Positions for uniform numbers in [0, 1): every value gets its fair share."""

    def position(self, level: Array) -> Array:
        """Positions in [0, 1] of levels 0, 1, ...; a continuum has none: TypeError."""

    def level(self, position: float) -> int:
        """The level at a position."""

    def encode(self, value: Any) -> float:
        """Position of a value; raises ValueError if the dimension does not hold it."""

    def decode(self, position: float) -> Any:
        """The value at a position."""


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a number, not a bool, that float64 has: no NaN, no infinity, nothing past 1e308."""
    try:
        return _is_number(value) and math.isfinite(value)
    except OverflowError:  # a whole number past float64
        return False


def _log_ratio(low: float, high: float) -> float:
    """log(high / low), also where the quotient rounds to 1 or overflows."""
    return math.log1p((high - low) / low) if high < 2 * low else math.log(high) - math.log(low)


def _check_bounds(owner: str, low: Any, high: Any, log: Any) -> None:
    for name, value in (("low", low), ("high", high)):
        if not is_finite(value):
            raise ValueError(f"{owner}: {name} must be a finite number, got {shown(value)}")
    if not isinstance(log, bool):
        raise ValueError(f"{owner}: log must be True or False, got {shown(log)}")
    if log and low <= 0:
        raise ValueError(f"{owner}: log=True needs low above 0, got low={shown(low)}")


@dataclass(frozen=True)
class Float:
    """A real number between low and high, on a linear or a logarithmic scale."""

    low: float
    high: float
    log: bool = False
    when: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", as_when(self.when))
        _check_bounds("Float", self.low, self.high, self.log)
        for name in ("low", "high"):
            value = getattr(self, name)
            if isinstance(value, np.generic):  # which a study could not write down
                object.__setattr__(self, name, value.item())
        if not self.low < self.high:
            raise ValueError(f"Float: low must be below high, got ({shown(self.low)}, {shown(self.high)})")

    @property
    def levels(self) -> None:
        return None

    @property
    def ordered(self) -> bool:
        return True

    def spread(self, uniform: Array) -> Array:
        return uniform

    def position(self, _level: Array) -> Array:
        raise TypeError("a Float has no levels")

    def level(self, _position: float) -> int:
        raise TypeError("a Float has no levels")

    def encode(self, value: Any) -> float:
        if not _is_number(value) or not self.low <= value <= self.high:
            raise ValueError(f"{shown(value)} is not a number in [{shown(self.low)}, {shown(self.high)}]")
        if self.log:
            return _log_ratio(self.low, float(value)) / _log_ratio(self.low, self.high)
        width = float(self.high) - self.low
        if math.isfinite(width):
            return float((value - self.low) / width)
        return float((value / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def decode(self, position: float) -> float:
        if self.log:
            width = position * _log_ratio(self.low, self.high)
            near = width < 0.5
            value = self.low + self.low * math.expm1(width) if near else math.exp(math.log(self.low) + width)
        else:
            value = self.low * (1 - position) + self.high * position
        return float(min(max(value, self.low), self.high))


@dataclass(frozen=True)
class Int:
    """A whole number from low to high, both included, on a linear or a logarithmic scale."""

    low: int
    high: int
    log: bool = False
    when: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", as_when(self.when))
        _check_bounds("Int", self.low, self.high, self.log)
        for name in ("low", "high"):
            value = getattr(self, name)
            if value != int(value):
                raise ValueError(f"Int: {name} must be a whole number, got {shown(value)}")
            object.__setattr__(self, name, int(value))
        if max(abs(self.low), abs(self.high)) > _MOST_LEVELS:
            given = f"got ({self.low!r}, {self.high!r})"
            raise ValueError(
                f"Int: low and high must be from -2**53 to 2**53, as float64 is exact there, {given}"
            )
        if self.low > self.high:
            raise ValueError(f"Int: low must not exceed high, got ({shown(self.low)}, {shown(self.high)})")
        given = f"low to high, got ({shown(self.low)}, {shown(self.high)})"
        if self.high - self.low >= _MOST_LEVELS:
            raise ValueError(f"Int: at most 2**53 values from {given}")
        if self.log and self.high * self._log_width > 2.0**50:
            raise ValueError(f"Int: too many values for log=True from {given}")

    @property
    def _log_width(self) -> float:
        return float(np.log1p((self.high - self.low) / self.low))

    @property
    def levels(self) -> int:
        return self.high - self.low + 1

    @property
    def ordered(self) -> bool:
        return True

    def spread(self, uniform: Array) -> Array:
        if self.log:
            grow = uniform * math.log1p(self.levels / (self.low - 0.5))
            level = (
                np.rint((self.low - 0.5) * np.expm1(grow) - 0.5) + 0.0
            )  # no -0.0: rows differ by their bytes
        else:
            level = np.floor(uniform * self.levels)
        return self.position(np.clip(level, 0, self.levels - 1))

    def position(self, level: Array) -> Array:
        if self.levels == 1:
            return np.zeros_like(level, dtype=float)
        if self.log:
            return np.log1p(level / self.low) / self._log_width
        return np.asarray(level / (self.levels - 1), dtype=float)

    def encode(self, value: Any) -> float:
        if not _is_number(value) or not self.low <= value <= self.high or value != int(value):
            raise ValueError(
                f"{shown(value)} is not a whole number in [{shown(self.low)}, {shown(self.high)}]"
            )
        return float(self.position(np.asarray(float(int(value) - self.low))))

    def level(self, position: float) -> int:
        if self.log:
            level = self.low * math.expm1(position * self._log_width)
        else:
            level = position * (self.levels - 1)
        return min(max(round(level), 0), self.levels - 1)

    def decode(self, position: float) -> int:
        return self.low + self.level(position)


@dataclass(frozen=True)
class Categorical:
    """One of a list of choices, none nearer to another than the rest."""

    choices: tuple[Hashable, ...]
    when: Any = field(default=(), repr=False)

    def __init__(self, choices: Iterable[Hashable], *, when: Any = None) -> None:
        object.__setattr__(self, "when", as_when(when))
        try:
            listed = None if isinstance(choices, (str, bytes)) else tuple(choices)
        except TypeError:
            listed = None
        if listed is None:
            raise ValueError(f"Categorical: choices must be a list, got {shown(choices)}")
        object.__setattr__(self, "choices", listed)
        if not self.choices:
            raise ValueError("Categorical: choices must not be empty")
        for choice in self.choices:
            try:
                hash(choice)
            except Exception:  # a tuple is Hashable whatever it holds
                raise ValueError(f"Categorical: choices must be hashable, got {shown(choice)}") from None
            if choice != choice:
                raise ValueError("Categorical: NaN is not equal to itself and cannot be a choice")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError(f"Categorical: choices must differ, got {shown(list(self.choices))}")

    @property
    def levels(self) -> int:
        return len(self.choices)

    @property
    def ordered(self) -> bool:
        return False

    def spread(self, uniform: Array) -> Array:
        return self.position(np.minimum(np.floor(uniform * self.levels), self.levels - 1))

    def position(self, level: Array) -> Array:
        return np.asarray(level / max(self.levels - 1, 1), dtype=float)

    def encode(self, value: Any) -> float:
        if not isinstance(value, Hashable) or value not in self.choices:
            raise ValueError(f"{shown(value)} is not one of {shown(list(self.choices))}")
        return float(self.position(np.asarray(float(self.choices.index(value)))))

    def level(self, position: float) -> int:
        return min(max(round(position * (self.levels - 1)), 0), self.levels - 1)

    def decode(self, position: float) -> Hashable:
        return self.choices[self.level(position)]
