"""The space of configurations: named dimensions, and the way to a row of the unit cube and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.dimensions import Dimension

_MEMBERS = ("levels", "ordered", "spread", "position", "level", "encode", "decode")
"""What a dimension must have."""


class Space:
    """Named dimensions, in the order given.

    Args:
        dimensions: name -> ``Float``, ``Int`` or ``Categorical`` (or any other ``Dimension``).
    """

    def __init__(self, dimensions: Mapping[str, Dimension]) -> None:
        if not isinstance(dimensions, Mapping) or not dimensions:
            raise ValueError(f"Space: give a non-empty dict of name -> dimension, got {shown(dimensions)}")
        for name, dimension in dimensions.items():
            if not isinstance(name, str) or not name:
                raise ValueError(f"Space: names must be non-empty strings, got {shown(name)}")
            complete = all(hasattr(dimension, part) for part in _MEMBERS)
            if isinstance(dimension, type) or not complete:
                raise ValueError(
                    f"Space: dimension {shown(name)} must be Float, Int or Categorical (or have the members "
                    f"of covey.Dimension), got {shown(dimension)}"
                )
        self.dimensions: dict[str, Dimension] = dict(dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    def __eq__(self, other: object) -> bool:
        # Order counts: the same numbers in another order are other configurations.
        return isinstance(other, Space) and list(other.dimensions.items()) == list(self.dimensions.items())

    def __hash__(self) -> int:
        return hash(tuple(self.dimensions.items()))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name!r}: {dim!r}" for name, dim in self.dimensions.items())
        return f"Space({{{inner}}})"

    @property
    def size(self) -> int | None:
        """The number of configurations; None when a dimension is a continuum."""
        total = 1
        for dimension in self.dimensions.values():
            if dimension.levels is None:
                return None
            total *= dimension.levels
        return total

    def encode(self, params: Mapping[str, Any]) -> Array:
        """The row (d,) of a configuration; raises ValueError if it is not one of this space."""
        if not isinstance(params, Mapping):
            raise ValueError(
                f"parameters must be a dict of {shown(list(self.dimensions))}, got {shown(params)}"
            )
        if set(params) != set(self.dimensions):
            raise ValueError(f"parameters must be {shown(list(self.dimensions))}, got {shown(list(params))}")
        row = np.empty(len(self))
        for column, (name, dimension) in enumerate(self.dimensions.items()):
            try:
                row[column] = dimension.encode(params[name])
            except ValueError as error:
                raise ValueError(f"parameter {shown(name)}: {error}") from None
        return row

    def decode(self, row: Array) -> dict[str, Any]:
        """The configuration at a row (d,)."""
        return {
            name: dimension.decode(float(position))
            for position, (name, dimension) in zip(row, self.dimensions.items(), strict=True)
        }

    def spread(self, uniform: Array) -> Array:
        """Rows (m, d) of configurations for uniform numbers (m, d)."""
        columns = [dim.spread(uniform[:, k]) for k, dim in enumerate(self.dimensions.values())]
        return np.stack(columns, axis=1)
