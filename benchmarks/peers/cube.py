"""Unit cube for peers that know no logarithms, integers or categories.

Integers have positions in [0, 1] as floats do, categories the positions 0, 1, 2, ...; any other position is
decoded as the one next to it.
"""

from __future__ import annotations

import math
from typing import Any

from protocol import Dimension, Params


def scaled(dimension: Dimension, value: float) -> float:
    """A number between low and high as a position in [0, 1]."""
    low, high = dimension["low"], dimension["high"]
    if dimension["log"]:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def levels(dimension: Dimension) -> list[float]:
    """The positions of integers or categories, in order."""
    if dimension["type"] == "categorical":
        return [float(k) for k in range(len(dimension["choices"]))]
    return [scaled(dimension, value) for value in range(dimension["low"], dimension["high"] + 1)]


def encode(space: list[Dimension], params: Params) -> list[float]:
    """The row of a configuration."""
    return [_position(dimension, params[dimension["name"]]) for dimension in space]


def _position(dimension: Dimension, value: Any) -> float:
    if dimension["type"] == "categorical":
        return levels(dimension)[dimension["choices"].index(value)]
    return scaled(dimension, value)


def decode(space: list[Dimension], row: list[float]) -> Params:
    """The configuration at a row, or next to it."""
    return {d["name"]: _value(d, position) for d, position in zip(space, row, strict=True)}


def _value(dimension: Dimension, position: float) -> Any:
    if dimension["type"] == "float":
        return _number(dimension, position)
    places = levels(dimension)
    nearest = min(range(len(places)), key=lambda k: abs(places[k] - position))
    return dimension["choices"][nearest] if dimension["type"] == "categorical" else dimension["low"] + nearest


def _number(dimension: Dimension, position: float) -> float:
    low, high = dimension["low"], dimension["high"]
    value = low * (high / low) ** position if dimension["log"] else low + position * (high - low)
    return min(max(value, low), high)


def spread(dimension: Dimension, uniform: float) -> Any:
    """The value for a uniform number in [0, 1): each category, and each integer, gets its fair share."""
    if dimension["type"] == "categorical":
        return dimension["choices"][int(uniform * len(dimension["choices"]))]
    if dimension["type"] == "float":
        return _number(dimension, uniform)
    wider = {**dimension, "low": dimension["low"] - 0.5, "high": dimension["high"] + 0.5}
    return min(max(round(_number(wider, uniform)), dimension["low"]), dimension["high"])
