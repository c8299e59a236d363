"""Labelled dimension: things that are neither numbers nor hashable, by their place in a row of labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, Protocol

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space import Categorical, Int


class Labels(Protocol):
    """Level -> value and back; a tuple is one."""

    def __getitem__(self, level: int, /) -> Any: ...

    def index(self, value: Any, /) -> int:
        """The level of a value; raises ValueError if it is not there."""


@dataclass(frozen=True)
class Labelled:
    """A ``covey.Dimension`` whose levels stand for something else: lists, estimators, multiples of 0.1.

    Attributes:
        levelled: where the levels are, and whether neighbours are alike.
        labels: what they stand for.
    """

    levelled: Int | Categorical
    labels: Labels

    @property
    def levels(self) -> int:
        return self.levelled.levels

    @property
    def ordered(self) -> bool:
        return self.levelled.ordered

    def spread(self, uniform: Array) -> Array:
        return self.levelled.spread(uniform)

    def position(self, level: Array) -> Array:
        return self.levelled.position(level)

    def level(self, position: float) -> int:
        return self.levelled.level(position)

    def encode(self, value: Any) -> float:
        try:
            level = self.labels.index(value)
        except ValueError:
            raise ValueError(f"{shown(value)} is not one of {shown(self.labels)}") from None
        return float(self.position(np.asarray(float(level))))

    def decode(self, position: float) -> Any:
        return self.labels[self.level(position)]


def listed(values: Iterable[Any]) -> Labelled:
    """One of the values given; numbers that rise or fall are ordered, everything else is a choice."""
    labels = tuple(values)
    if not labels:
        raise ValueError("there must be at least one value to choose from")
    count = len(labels)
    return Labelled(Int(0, count - 1) if _monotone(labels) else Categorical(range(count)), labels)


def _monotone(values: tuple[Any, ...]) -> bool:
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return False
    return all(a < b for a, b in pairwise(values)) or all(a > b for a, b in pairwise(values))
