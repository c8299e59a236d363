"""Space of an Optuna study: a dimension for each parameter, and the way between their values.

Optuna writes every parameter as one number: a real or a whole one as it is, a choice as its index. What
workers tell each other through the storage, and what trials are compared by, are these numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from covey.errors import shown
from covey.integrations.optuna.tree import When
from covey.space import Categorical, Dimension, Float, Int, Space
from covey.space.levels import stepped


@dataclass(frozen=True)
class Axis:
    """A parameter as a dimension: Optuna's number is ``origin + step * value``, within its bounds.

    Steps are counted rather than left to a ``Float`` or an ``Int`` of covey: Optuna takes numbers that are
    further from a step, and more of them than float64 tells apart.

    Attributes:
        dimension: what covey varies.
        low, high: the bounds of Optuna's number.
        origin, step: how to get there from a value of the dimension.
        discrete: whether values are whole, also where there are too many for the dimension to be.
    """

    dimension: Float | Int | Categorical
    low: float
    high: float
    origin: float = 0.0
    step: float = 1.0
    discrete: bool = True

    def inward(self, number: float) -> float:
        """The dimension's value for Optuna's number."""
        value = (number - self.origin) / self.step
        return round(value) if self.discrete else value

    def outward(self, value: Any) -> float:
        """Optuna's number for a value of the dimension."""
        number = stepped(self.origin, self.step, round(value)) if self.discrete else value
        return float(min(max(number, self.low), self.high))

    def draw(self, rng: np.random.Generator) -> float:
        """Optuna's number for a value at random, each with its fair share."""
        position = self.dimension.spread(rng.random(1))[0]
        return self.outward(self.dimension.decode(float(position)))


def axis(distribution: BaseDistribution) -> Axis:
    """The axis of a parameter.

    Raises:
        TypeError: if it is neither a float, nor an int, nor a choice.
    """
    if isinstance(distribution, CategoricalDistribution):
        count = len(distribution.choices)
        return Axis(Categorical(range(count)), 0, count - 1)
    if not isinstance(distribution, (FloatDistribution, IntDistribution)):
        raise TypeError(
            f"CoveySampler takes float, int and categorical parameters, got {shown(distribution)}"
        )
    low, high = distribution.low, distribution.high
    if distribution.single():
        return Axis(Int(0, 0), low, high, origin=low)
    if distribution.step is None:
        return Axis(Float(low, high, distribution.log), low, high, discrete=False)
    if distribution.log:
        return Axis(_whole(low, high, log=True), low, high)
    last = round((high - low) / distribution.step)
    return Axis(_whole(0, last), low, high, low, distribution.step)


def _whole(low: float, high: float, log: bool = False) -> Int | Float:
    """The whole numbers from low to high; as reals where they are too many to count in float64."""
    try:
        return Int(int(low), int(high), log)
    except ValueError:
        return Float(low, high, log)


class Axes:
    """The axes of a search space, by name.

    Args:
        search_space: Optuna's distributions.
        when: of parameters that are not always there, with which of Optuna's numbers of others they are.

    Attributes:
        search_space, when: as given.
        space: the same as covey has it.
    """

    def __init__(self, search_space: Mapping[str, BaseDistribution], when: Mapping[str, When]) -> None:
        self.search_space, self.when = dict(search_space), dict(when)
        self._axes = {name: axis(distribution) for name, distribution in search_space.items()}
        self.space = Space({name: self._dimension(name, when.get(name, {})) for name in self._axes})

    def _dimension(self, name: str, when: When) -> Dimension:
        values = {parent: [self._axes[parent].inward(one) for one in sorted(when[parent])] for parent in when}
        plain = self._axes[name].dimension
        return replace(plain, when=values) if values else plain

    def existing(self, numbers: Mapping[str, float]) -> dict[str, float] | None:
        """Those of Optuna's numbers whose parameters exist with the others; None if one is missing."""
        row = self.space.conditions.rest.copy()
        for column, (name, axis) in enumerate(self._axes.items()):
            if name in numbers:
                row[column] = axis.dimension.encode(axis.inward(numbers[name]))
        exists = self.space.conditions.active(row[None])[0]
        names = [name for name, there in zip(self._axes, exists, strict=True) if there]
        return {name: numbers[name] for name in names} if set(names) <= set(numbers) else None

    def inward(self, numbers: Mapping[str, float]) -> dict[str, Any]:
        """The configuration that Optuna's numbers stand for."""
        return {name: self._axes[name].inward(number) for name, number in numbers.items()}

    def outward(self, params: Mapping[str, Any]) -> dict[str, float]:
        """Optuna's numbers for a configuration."""
        return {name: self._axes[name].outward(value) for name, value in params.items()}

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Optuna's numbers for a configuration at random."""
        numbers = {name: axis.draw(rng) for name, axis in self._axes.items()}
        return self.existing(numbers) or numbers
