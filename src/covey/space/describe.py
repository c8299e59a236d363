"""Description of a space as plain data, in the words of study.toml, and how two descriptions differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from covey.errors import shown
from covey.space.choices import Categorical
from covey.space.conditions import when_of
from covey.space.dimensions import Dimension
from covey.space.floats import Float
from covey.space.ints import Int
from covey.space.ordinal import Ordinal
from covey.space.space import Space

_FEW = 64
"""Levels of a foreign dimension that are all described; of more, the first, the middle and the last."""

_TOLD = 5
"""Differences that are told; more are counted."""


def describe(space: Space) -> dict[str, dict[str, Any]]:
    """A space as plain data, by parameter. Equal descriptions are equal spaces."""
    described = {name: describe_dimension(dimension) for name, dimension in space.dimensions.items()}
    rules = [rule.text for rule in space.constraints.rules]
    # No parameter has an empty name.
    return {**described, **({"": {"constraints": rules}} if rules else {})}


def describe_dimension(dimension: Dimension) -> dict[str, Any]:
    """A dimension as plain data: its type, its bounds or choices, and its condition if it has one."""
    words: Callable[[Any], dict[str, Any]] = _WORDS.get(type(dimension), _foreign)
    when = {name: [plain(value) for value in values] for name, values in when_of(dimension)}
    return {**words(dimension), **({"when": when} if when else {})}


def plain(value: Any) -> Any:
    """A choice as a database takes it: itself if it is a plain value, else its repr."""
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


def _number(dimension: Any) -> dict[str, Any]:
    bounds = {"low": dimension.low, "high": dimension.high, "log": dimension.log}
    # Studies of spaces without steps say nothing of them.
    step = {} if dimension.step == type(dimension).step else {"step": dimension.step}
    return {"type": type(dimension).__name__.lower(), **bounds, **step}


def _levels(dimension: Any) -> dict[str, Any]:
    return {"type": "ordinal", "levels": list(dimension.values), "log": dimension.log}


def _choices(dimension: Any) -> dict[str, Any]:
    return {"type": "categorical", "choices": [plain(choice) for choice in dimension.choices]}


def _foreign(dimension: Dimension) -> dict[str, Any]:
    """A dimension of somebody else's: some of its values, of things that are not plain their kind alone.

    Such things may have an address in their repr, which differs in the next process.
    """
    if (count := dimension.levels) is None:
        values = [dimension.decode(position) for position in (0.0, 0.5, 1.0)]
    else:
        levels = range(count) if count <= _FEW else (0, count // 2, count - 1)
        positions = dimension.position(np.array(levels, dtype=float))
        values = [dimension.decode(float(position)) for position in positions]
    shown = [one if plain(one) is one else type(one).__name__ for one in values]
    return {"type": type(dimension).__name__.lower(), "levels": count, "values": shown}


_WORDS: dict[Any, Callable[[Any], dict[str, Any]]] = {
    Float: _number,
    Int: _number,
    Ordinal: _levels,
    Categorical: _choices,
}


def differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    """What differs between the description in a study and that of a space given, in words."""
    found = [f"{shown(key)} is in the study, not in the space given" for key in theirs if key not in ours]
    found += [f"{shown(key)} is in the space given, not in the study" for key in ours if key not in theirs]
    found += [
        f"{shown(key)} is {shown(theirs[key])} in the study, {shown(ours[key])} in the space given"
        for key in ours
        if key in theirs and theirs[key] != ours[key]
    ]
    if not found and list(theirs) != list(ours):
        found.append(
            f"the order is {shown(list(theirs))} in the study, {shown(list(ours))} in the space given"
        )
    more = len(found) - _TOLD
    return found if more <= 0 else [*found[:_TOLD], f"and {more} more"]
