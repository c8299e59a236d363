"""Descriptors of choices: numbers that say how alike they are, such as the properties of solvents."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.dimensions import Dimension, is_finite

Descriptors: TypeAlias = tuple[tuple[float, ...], ...]
"""The numbers of each choice, in the order of choices; empty where there are none."""


def as_descriptors(choices: Sequence[Hashable], given: Any) -> Descriptors:
    """Descriptors as they are kept, of ``{choice: [number, ...]}`` for every choice.

    Raises:
        ValueError: if a choice has none, or another number of them, or the same as another choice.
    """
    if given is None or given == ():
        return ()
    if isinstance(given, tuple):  # kept already
        return given
    accepted = 'a dict of every choice to its numbers, like {"water": [78.4, 1.85], ...}'
    if not isinstance(given, Mapping) or set(given) != set(choices):
        raise ValueError(f"Categorical: descriptors must be {accepted}, got {shown(given)}")
    rows = tuple(_numbers(choice, given[choice]) for choice in choices)
    for choice, row in zip(choices, rows, strict=True):
        if len(row) != len(rows[0]):
            several = f"got {len(rows[0])} of {shown(choices[0])} and {len(row)} of {shown(choice)}"
            raise ValueError(f"Categorical: descriptors must be as many of every choice, {several}")
    if len(set(rows)) < len(rows):
        raise ValueError("Categorical: descriptors of two choices must differ in a number, got the same")
    return rows


def _numbers(choice: Hashable, given: Any) -> tuple[float, ...]:
    listed = isinstance(given, (list, tuple, np.ndarray)) and len(given) > 0
    if not listed or not all(is_finite(one) for one in given):
        what = "must be a list of finite numbers"
        raise ValueError(f"Categorical: descriptors of {shown(choice)} {what}, got {shown(given)}")
    return tuple(float(one) for one in given)


@dataclass(frozen=True, eq=False)
class Table:
    """What a model sees of the levels of a dimension.

    Attributes:
        positions: of the levels (n,).
        rows: the features of each level (n, w).
        groups: which features share a length-scale, from 0 (w,).
        absent: the features where the parameter does not exist (w,).
    """

    positions: Array
    rows: Array
    groups: tuple[int, ...]
    absent: Array


def table_of(dimension: Dimension) -> Table | None:
    """The table of a dimension of choices; None for one that is seen as it is: ordered, or of two levels."""
    count, given = dimension.levels or 1, getattr(dimension, "descriptors", ())
    if dimension.ordered or (count <= 2 and not given) or count == 1:
        return None
    positions = dimension.position(np.arange(float(count)))
    hot = math.sqrt(0.5) * np.eye(count)
    if not given:
        return Table(positions, hot, (0,) * count, np.zeros(count))
    numbers = _scaled(given)
    q = numbers.shape[1]
    # The choice itself stays: two that are alike by their numbers may still differ by what nobody measured.
    rows = np.concatenate([hot, numbers], axis=1)
    absent = np.concatenate([np.zeros(count), np.full(q, 0.5)])
    return Table(positions, rows, (*(0,) * count, *range(1, q + 1)), absent)


def _scaled(descriptors: Descriptors) -> Array:
    """Descriptors (levels, q) over the unit range, like every parameter, without those that never differ."""
    table = np.array(descriptors)
    low, high = table.min(axis=0), table.max(axis=0)
    differs = high > low
    return np.asarray((table - low)[:, differs] / (high - low)[differs])
