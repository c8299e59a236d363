"""Dimensions of a space: what each of them has, as a codec to and from a column of the unit cube.

A configuration is a row of the cube, one column per dimension. A discrete column holds one of its levels'
positions and nothing in between; a row is therefore always a configuration, never in need of rounding.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Protocol

import numpy as np

from covey.arrays import Array


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


def is_number(value: object) -> bool:
    """Whether a value is a number, not a bool: Python's or numpy's."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a number, not a bool, that float64 has: no NaN, no infinity, nothing past 1e308."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:  # a whole number past float64
        return False


def brief(dimension: Any) -> str:
    """The repr of a dimension that is a dataclass, without the keywords that say nothing."""
    told = [
        one for one in fields(dimension) if not (one.kw_only and getattr(dimension, one.name) == one.default)
    ]
    inner = ", ".join(f"{one.name}={getattr(dimension, one.name)!r}" for one in told)
    return f"{type(dimension).__name__}({inner})"
