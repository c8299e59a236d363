"""The space of configurations: named dimensions, and the way to a row of the unit cube and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.conditions import conditions, when_of
from covey.space.constraints import Constraints, Rule
from covey.space.dimensions import Dimension, is_number
from covey.space.region import region
from covey.space.when import plain_when

LISTABLE = 2**17
"""Rows of a finite space that are listed where counting them takes a look: a moment, and some megabytes."""

_LOOKS = 512
"""Rows that are looked at for how many parameters exist at once."""

_MEMBERS = ("levels", "ordered", "spread", "position", "level", "encode", "decode")
"""What a dimension must have."""


class Space:
    """Named dimensions, in the order given, and constraints on them.

    Args:
        dimensions: name -> ``Float``, ``Int``, ``Ordinal`` or ``Categorical`` (or any other ``Dimension``).
        constraints: texts such as "a + b + c == 1" or "temp * dose <= 400", in a small language of
            arithmetic, comparisons, and, or, not, abs, min, max, sqrt, log and exp; or functions of a dict
            of parameters that return a bool.
    """

    def __init__(
        self,
        dimensions: Mapping[str, Dimension],
        constraints: Sequence[str | Callable[[dict[str, Any]], bool]] = (),
    ) -> None:
        if not isinstance(dimensions, Mapping) or not dimensions:
            raise ValueError(f"Space: give a non-empty dict of name -> dimension, got {shown(dimensions)}")
        for name, dimension in dimensions.items():
            if not isinstance(name, str) or not name:
                raise ValueError(f"Space: names must be non-empty strings, got {shown(name)}")
            complete = all(hasattr(dimension, part) for part in _MEMBERS)
            if isinstance(dimension, type) or not complete:
                raise ValueError(
                    f"Space: dimension {shown(name)} must be Float, Int, Ordinal or Categorical (or have the "
                    f"members of covey.Dimension), got {shown(dimension)}"
                )
        self.dimensions: dict[str, Dimension] = dict(dimensions)
        self.conditions = conditions(self.dimensions)
        choices = {name: getattr(dim, "choices", None) for name, dim in self.dimensions.items()}
        try:
            self.constraints = Constraints.of(constraints, choices, self._affine())
        except ValueError as error:
            raise ValueError(f"Space: {error}") from None
        self.region = region(self) if self.constraints.rules else None

    def __len__(self) -> int:
        return len(self.dimensions)

    def __eq__(self, other: object) -> bool:
        # Order counts: the same numbers in another order are other configurations.
        if not isinstance(other, Space) or other.constraints != self.constraints:
            return False
        return list(other.dimensions.items()) == list(self.dimensions.items())

    def __hash__(self) -> int:
        return hash(tuple(self.dimensions.items()))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name!r}: {dim!r}" for name, dim in self.dimensions.items())
        rules = [rule.text for rule in self.constraints.rules]
        return f"Space({{{inner}}}{f', constraints={rules}' if rules else ''})"

    def _affine(self) -> list[str]:
        """The numbers that always exist and whose positions are proportional to their values."""
        return [
            name
            for name, dim in self.dimensions.items()
            if dim.ordered and not getattr(dim, "log", False) and not when_of(dim) and _is_number(dim)
        ]

    @property
    def size(self) -> int | None:
        """The number of configurations; None when a dimension is a continuum.

        With conditions, the rows of the cube that are the same configuration count once, and with constraints
        those that satisfy them; of a space that is too large to be looked at whole, all count.
        """
        listed = self.every if self.conditions or self.region else None
        return self._rows if listed is None else len(listed)

    @property
    def _rows(self) -> int | None:
        """The number of rows of the cube, as if every parameter always existed."""
        levels = [dimension.levels for dimension in self.dimensions.values()]
        return None if None in levels else math.prod(level or 1 for level in levels)

    @cached_property
    def every(self) -> Array | None:
        """All configurations (n, d) of a finite space that can be listed; None of any other."""
        if self._rows is None or self._rows > LISTABLE:
            return None
        axes = [dim.position(np.arange(float(dim.levels or 1))) for dim in self.dimensions.values()]
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        rows = np.unique(self.conditions.settled(grid), axis=0)
        return rows[self.region.holds(rows)] if self.region else rows

    def encode(self, params: Mapping[str, Any]) -> Array:
        """The row (d,) of a configuration; raises ValueError if it is not one of this space."""
        if not isinstance(params, Mapping):
            raise ValueError(
                f"parameters must be a dict of {shown(list(self.dimensions))}, got {shown(params)}"
            )
        unknown = [name for name in params if name not in self.dimensions]
        if unknown or not (self.conditions or len(params) == len(self)):
            raise ValueError(f"parameters must be {shown(list(self.dimensions))}, got {shown(list(params))}")
        row = self.conditions.rest.copy()
        for column, (name, dimension) in enumerate(self.dimensions.items()):
            try:
                if name in params:
                    row[column] = dimension.encode(params[name])
            except ValueError as error:
                raise ValueError(f"parameter {shown(name)}: {error}") from None
        self._check_present(params, row)
        if self.region is not None and not self.region.holds(row[None])[0]:
            broken = next(rule.text for rule in self.constraints.rules if not self._keeps(rule, params))
            raise ValueError(f"parameters must satisfy {broken!r}, got {shown(dict(params))}")
        return row

    def _keeps(self, rule: Rule, params: Mapping[str, Any]) -> bool:
        values = {name: np.array([params.get(name)], dtype=object) for name in self.dimensions}
        for name, value in params.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                values[name] = np.array([float(value)])
        absent = {name: np.array([name not in params]) for name in self.dimensions}
        return bool(rule.holds(values, absent)[0])

    def positions(self, params: Mapping[str, Any]) -> Array:
        """Positions (d,) of some parameters, NaN for the others; raises ValueError for wrong ones."""
        if not isinstance(params, Mapping):
            raise ValueError(f"fixed must be a dict of parameters and values, got {shown(params)}")
        found = np.full(len(self), np.nan)
        for name, value in params.items():
            if name not in self.dimensions:
                there = shown(list(self.dimensions))
                raise ValueError(f"fixed: there is no parameter {shown(name)}; there are {there}")
            try:
                found[list(self.dimensions).index(name)] = self.dimensions[name].encode(value)
            except ValueError as error:
                raise ValueError(f"fixed: parameter {shown(name)}: {error}") from None
        if self.region is not None:
            self.region.held(found)  # raises if the constraints leave nothing there
        return found

    @cached_property
    def most_active(self) -> int:
        """How many parameters exist at once, at most; a good guess where conditions are many."""
        if not self.conditions:
            return len(self)
        rows = self.spread(np.random.default_rng(0).random((_LOOKS, len(self))))
        return int(self.conditions.active(rows).sum(axis=1).max())

    def _check_present(self, params: Mapping[str, Any], row: Array) -> None:
        """Refuse a configuration that lacks a parameter, or has one that does not exist with the others."""
        exists = self.conditions.active(row[None])[0]
        for name, there in zip(self.dimensions, exists, strict=True):
            if there and name not in params:
                raise ValueError(f"parameter {shown(name)} is missing, got {shown(list(params))}")
            if not there and name in params:
                only = shown(plain_when(when_of(self.dimensions[name])))
                raise ValueError(
                    f"parameter {shown(name)} exists only with {only}, got {shown(dict(params))}"
                )

    def decode(self, row: Array) -> dict[str, Any]:
        """The configuration at a row (d,): the parameters that exist there."""
        exists = self.conditions.active(row[None])[0]
        return {
            name: dimension.decode(float(position))
            for position, there, (name, dimension) in zip(row, exists, self.dimensions.items(), strict=True)
            if there
        }

    def spread(self, uniform: Array) -> Array:
        """Rows (m, d) for uniform numbers (m, d): configurations, if there are no constraints."""
        return self.conditions.settled(self.box_rows(uniform))

    def box_rows(self, uniform: Array) -> Array:
        """Rows (m, d) for uniform numbers (m, d), as if every parameter always existed."""
        columns = [dim.spread(uniform[:, k]) for k, dim in enumerate(self.dimensions.values())]
        return np.stack(columns, axis=1)


def _is_number(dimension: Dimension) -> bool:
    return is_number(dimension.decode(0.0)) and is_number(dimension.decode(1.0))
