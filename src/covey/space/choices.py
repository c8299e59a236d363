"""Choices as a dimension: one of several things, none of them nearer to another than the rest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.descriptors import Descriptors, as_descriptors
from covey.space.dimensions import brief
from covey.space.levels import even_level, even_position, even_spread
from covey.space.when import When, as_when


def listed(what: str, values: Any) -> tuple[Any, ...]:
    """Values that were given as any iterable but a text.

    Raises:
        ValueError: if they are none, or are not there at all; it begins with what they are.
    """
    try:
        found = None if isinstance(values, (str, bytes)) else tuple(values)
    except TypeError:
        found = None
    if found is None:
        raise ValueError(f"{what} must be a list, got {shown(values)}")
    if not found:
        raise ValueError(f"{what} must not be empty")
    return found


@dataclass(frozen=True)
class Categorical:
    """One of a list of choices, none nearer to another than the rest; or as near as descriptors say.

    Args:
        choices: what there is to choose from.
        descriptors: numbers of every choice, such as the properties of solvents: the model sees these
            too, and learns which of them matter.
        when: with which values of other parameters it exists.
    """

    choices: tuple[Hashable, ...]
    descriptors: Mapping[Any, Sequence[float]] | Descriptors = field(default=(), kw_only=True)
    when: Mapping[str, Any] | When = field(default=(), kw_only=True)

    __repr__ = brief

    def __init__(
        self,
        choices: Iterable[Hashable],
        *,
        descriptors: Mapping[Any, Sequence[float]] | Descriptors | None = None,
        when: Mapping[str, Any] | When = (),
    ) -> None:
        object.__setattr__(self, "when", as_when(when))
        object.__setattr__(self, "choices", listed("Categorical: choices", choices))
        for choice in self.choices:
            try:
                hash(choice)
            except Exception:  # a tuple is Hashable whatever it holds
                raise ValueError(f"Categorical: choices must be hashable, got {shown(choice)}") from None
            if choice != choice:
                raise ValueError("Categorical: NaN is not equal to itself and cannot be a choice")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError(f"Categorical: choices must differ, got {shown(list(self.choices))}")
        object.__setattr__(self, "descriptors", as_descriptors(self.choices, descriptors))

    @property
    def levels(self) -> int:
        return len(self.choices)

    @property
    def ordered(self) -> bool:
        return False

    def spread(self, uniform: Array) -> Array:
        return even_spread(uniform, self.levels)

    def position(self, level: Array) -> Array:
        return even_position(level, self.levels)

    def encode(self, value: Any) -> float:
        if not isinstance(value, Hashable) or value not in self.choices:
            raise ValueError(f"{shown(value)} is not one of {shown(list(self.choices))}")
        return float(self.position(np.asarray(float(self.choices.index(value)))))

    def level(self, position: float) -> int:
        return even_level(position, self.levels)

    def decode(self, position: float) -> Hashable:
        return self.choices[self.level(position)]
