"""Levels as a dimension: numbers with an order, at whatever distances they have."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.choices import listed
from covey.space.dimensions import is_finite
from covey.space.floats import Float
from covey.space.levels import beside, fair_level, nearest_words, rounding, written
from covey.space.when import When, as_when, plain_when


@dataclass(frozen=True)
class Ordinal:
    """One of some rising numbers, as far apart as they are on a linear or a logarithmic scale.

    Args:
        levels: the numbers, which come back as they are given.
        log: whether their logarithms say how far apart they are.
        when: with which values of other parameters it exists.
    """

    values: tuple[float, ...]
    log: bool
    when: Mapping[str, Any] | When = ()

    def __init__(
        self, levels: Iterable[float], log: bool = False, *, when: Mapping[str, Any] | When = ()
    ) -> None:
        object.__setattr__(self, "when", as_when(when))
        values = tuple(
            one.item() if isinstance(one, np.generic) else one for one in listed("Ordinal: levels", levels)
        )
        _check(values, log)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "log", log)
        _check_apart(values, values)
        _check_apart(values, self._positions)

    def __repr__(self) -> str:
        when = f", when={dict(plain_when(as_when(self.when)))!r}" if self.when else ""
        return f"Ordinal({list(self.values)!r}{', log=True' if self.log else ''}{when})"

    @cached_property
    def _positions(self) -> Array:
        if len(self.values) == 1:
            return np.zeros(1)
        scale = Float(float(self.values[0]), float(self.values[-1]), self.log)
        return np.array([scale.encode(float(value)) for value in self.values])

    @cached_property
    def _gap(self) -> float:
        """About the smallest distance between two values; halves, as the whole may be past float64."""
        return min((float(b) / 2 - float(a) / 2 for a, b in pairwise(self.values)), default=0.0)

    @property
    def levels(self) -> int:
        return len(self.values)

    @property
    def ordered(self) -> bool:
        return True

    def spread(self, uniform: Array) -> Array:
        return self.position(fair_level(uniform, self.levels))

    def position(self, level: Array) -> Array:
        return np.asarray(self._positions[np.asarray(level, dtype=np.intp)])

    def level(self, position: float) -> int:
        return _nearest(self._positions, position)

    def encode(self, value: Any) -> float:
        if is_finite(value):
            number = float(written(value))
            level = _nearest(self.values, number)
            near = float(self.values[level])
            # Digits are lost relative to a number itself: 0 is none of 1e-9, 1, 2.
            if abs(near - number) <= rounding(min(self._gap, abs(near) or self._gap), number):
                return float(self._positions[level])
        raise ValueError(f"{shown(value)} is not one of {shown(list(self.values))}{self._near(value)}")

    def _near(self, value: Any) -> str:
        if not is_finite(value):
            return ""
        levels = beside(bisect_right(self.values, value) - 1, self.levels)
        return f"; {nearest_words([self.values[level] for level in levels])}"

    def decode(self, position: float) -> float:
        return self.values[self.level(position)]


def _nearest(rising: Sequence[float] | Array, value: float) -> int:
    """The place of the number nearest to a value."""
    return min(beside(bisect_right(rising, value) - 1, len(rising)), key=lambda k: abs(rising[k] - value))


def _check_apart(values: tuple[Any, ...], numbers: Iterable[float]) -> None:
    """Refuse values whose numbers are the same in float64."""
    for (one, other), (a, b) in zip(pairwise(values), pairwise(numbers), strict=True):
        if float(a) >= float(b):
            raise ValueError(f"Ordinal: levels must be apart in float64, got {shown(one)} and {shown(other)}")


def _check(values: tuple[Any, ...], log: Any) -> None:
    for value in values:
        if not is_finite(value):
            raise ValueError(f"Ordinal: levels must be finite numbers, got {shown(value)}")
    if any(a >= b for a, b in pairwise(values)):
        raise ValueError(f"Ordinal: levels must rise, got {shown(list(values))}")
    if not isinstance(log, bool):
        raise ValueError(f"Ordinal: log must be True or False, got {shown(log)}")
    if log and values[0] <= 0:
        raise ValueError(f"Ordinal: log=True needs levels above 0, got {shown(values[0])}")
