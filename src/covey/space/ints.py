"""Whole numbers as a dimension, on a linear or a logarithmic scale, or in steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.bounds import check_bounds, check_step
from covey.space.dimensions import brief, is_finite, is_number
from covey.space.levels import MOST_LEVELS, beside, even_level, even_position, even_spread, nearest_words
from covey.space.when import When, as_when


@dataclass(frozen=True)
class Int:
    """A whole number from low to high, both included, on a linear or a logarithmic scale.

    With a step, one of low, low + step, ... up to high. With ``when``, it exists only where other parameters
    have certain values.
    """

    low: int
    high: int
    log: bool = False
    step: int = field(default=1, kw_only=True)
    when: Mapping[str, Any] | When = field(default=(), kw_only=True)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", as_when(self.when))
        check_bounds("Int", self.low, self.high, self.log)
        for name in ("low", "high"):
            value = getattr(self, name)
            if value != int(value):
                raise ValueError(f"Int: {name} must be a whole number, got {shown(value)}")
            object.__setattr__(self, name, int(value))
        if max(abs(self.low), abs(self.high)) > MOST_LEVELS:
            given = f"got ({self.low!r}, {self.high!r})"
            raise ValueError(
                f"Int: low and high must be from -2**53 to 2**53, as float64 is exact there, {given}"
            )
        if self.low > self.high:
            raise ValueError(f"Int: low must not exceed high, got ({shown(self.low)}, {shown(self.high)})")
        given = f"low to high, got ({shown(self.low)}, {shown(self.high)})"
        if self.high - self.low >= MOST_LEVELS:
            raise ValueError(f"Int: at most 2**53 values from {given}")
        if self.log and self.high * self._log_width > 2.0**50:
            raise ValueError(f"Int: too many values for log=True from {given}")
        self._check_step()

    def _check_step(self) -> None:
        if not is_finite(self.step) or self.step < 1 or self.step != int(self.step):
            raise ValueError(f"Int: step must be a whole number from 1, got {shown(self.step)}")
        object.__setattr__(self, "step", int(self.step))
        if self.step > 1:
            check_step("Int", self.low, self.high, self.step, self.log)

    @property
    def _log_width(self) -> float:
        return float(np.log1p((self.high - self.low) / self.low))

    @property
    def levels(self) -> int:
        return (self.high - self.low) // self.step + 1

    @property
    def ordered(self) -> bool:
        return True

    def spread(self, uniform: Array) -> Array:
        if self.log:
            grow = uniform * math.log1p(self.levels / (self.low - 0.5))
            level = (
                np.rint((self.low - 0.5) * np.expm1(grow) - 0.5) + 0.0
            )  # no -0.0: rows differ by their bytes
            return self.position(np.clip(level, 0, self.levels - 1))
        return even_spread(uniform, self.levels)

    def position(self, level: Array) -> Array:
        if self.log and self.levels > 1:
            return np.log1p(level / self.low) / self._log_width
        return even_position(level, self.levels)

    def encode(self, value: Any) -> float:
        inside = is_number(value) and self.low <= value <= self.high and value == int(value)
        if not inside or (int(value) - self.low) % self.step:
            raise ValueError(f"{shown(value)} is not {self._accepted(value)}")
        return float(self.position(np.asarray(float((int(value) - self.low) // self.step))))

    def _accepted(self, value: Any) -> str:
        """What a value should be, in words."""
        what = f"a whole number in [{shown(self.low)}, {shown(self.high)}]"
        if self.step == 1:
            return what
        what = f"{what} in steps of {self.step}"
        if not is_finite(value):
            return what
        levels = beside((math.floor(value) - self.low) // self.step, self.levels)
        return f"{what}; {nearest_words([self.low + self.step * level for level in levels])}"

    def level(self, position: float) -> int:
        if self.log:
            level = self.low * math.expm1(position * self._log_width)
            return min(max(round(level), 0), self.levels - 1)
        return even_level(position, self.levels)

    def decode(self, position: float) -> int:
        return self.low + self.step * self.level(position)
