"""Real numbers as a dimension, on a linear or a logarithmic scale, or in steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.bounds import check_bounds, check_step
from covey.space.dimensions import brief, is_finite, is_number
from covey.space.levels import (
    MOST_LEVELS,
    ROUNDING,
    Grid,
    even_level,
    even_position,
    even_spread,
    nearest_words,
    steps_within,
)
from covey.space.when import When, as_when


def _log_ratio(low: float, high: float) -> float:
    """log(high / low), also where the quotient rounds to 1 or overflows."""
    return math.log1p((high - low) / low) if high < 2 * low else math.log(high) - math.log(low)


def _check_fine(low: float, high: float, step: float) -> None:
    """Refuse steps that are too fine for float64."""
    if steps_within(low, high, step) >= MOST_LEVELS:
        raise ValueError(f"Float: step must leave at most 2**53 values, got {shown(step)}")
    largest = max(abs(low), abs(high))
    if step < (finest := ROUNDING.finest * math.ulp(largest)):
        accepted = f"at least {finest:.2g}, as float64 has few numbers near {shown(largest)}"
        raise ValueError(f"Float: step must be {accepted}, got {shown(step)}")


@dataclass(frozen=True)
class Float:
    """A real number between low and high, on a linear or a logarithmic scale.

    With a step, one of low, low + step, ... up to high: 33.5 as it is written, not 33.49999999999999. With
    ``when``, it exists only where other parameters have certain values.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = field(default=None, kw_only=True)
    when: Mapping[str, Any] | When = field(default=(), kw_only=True)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", as_when(self.when))
        check_bounds("Float", self.low, self.high, self.log)
        for name in ("low", "high", "step"):
            value = getattr(self, name)
            if isinstance(value, np.generic):  # which a study could not write down
                object.__setattr__(self, name, value.item())
        if not self.low < self.high:
            raise ValueError(f"Float: low must be below high, got ({shown(self.low)}, {shown(self.high)})")
        if self.step is not None:
            check_step("Float", self.low, self.high, self.step, self.log)
            _check_fine(self.low, self.high, self.step)

    @cached_property
    def grid(self) -> Grid | None:
        """The values, where there is a step."""
        if self.step is None:
            return None
        return Grid(self.low, self.step, steps_within(self.low, self.high, self.step) + 1)

    @property
    def levels(self) -> int | None:
        return self.grid.count if self.grid else None

    @property
    def ordered(self) -> bool:
        return True

    def spread(self, uniform: Array) -> Array:
        return even_spread(uniform, self.grid.count) if self.grid else uniform

    def position(self, level: Array) -> Array:
        return even_position(level, self._levelled.count)

    def level(self, position: float) -> int:
        return even_level(position, self._levelled.count)

    @property
    def _levelled(self) -> Grid:
        if self.grid is None:
            raise TypeError("a Float without a step has no levels")
        return self.grid

    def encode(self, value: Any) -> float:
        if self.grid:
            return self._encode_step(self.grid, value)
        if not is_number(value) or not self.low <= value <= self.high:
            raise ValueError(f"{shown(value)} is not a number in [{shown(self.low)}, {shown(self.high)}]")
        if self.log:
            return _log_ratio(self.low, float(value)) / _log_ratio(self.low, self.high)
        width = float(self.high) - self.low
        if math.isfinite(width):
            return float((value - self.low) / width)
        return float((value / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def _encode_step(self, grid: Grid, value: Any) -> float:
        if (level := grid.level(value)) is not None:
            return float(self.position(np.asarray(float(level))))
        near = f"; {nearest_words(grid.beside(value))}" if is_finite(value) else ""
        what = f"a number in [{shown(self.low)}, {shown(self.high)}] in steps of {shown(self.step)}"
        raise ValueError(f"{shown(value)} is not {what}{near}")

    def decode(self, position: float) -> float:
        if self.grid:
            return self.grid.value(self.level(position))
        if self.log:
            width = position * _log_ratio(self.low, self.high)
            near = width < 0.5
            value = self.low + self.low * math.expm1(width) if near else math.exp(math.log(self.low) + width)
        else:
            value = self.low * (1 - position) + self.high * position
        return float(min(max(value, self.low), self.high))
