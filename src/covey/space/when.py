"""The ``when`` of a dimension: with which values of other parameters it exists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from covey.errors import shown

When: TypeAlias = tuple[tuple[str, tuple[Any, ...]], ...]
"""Parents and the values of each that a parameter exists with: all parents, any of the values."""


def as_when(when: Any) -> When:
    """A condition as it is kept, of ``{"parent": value}`` or ``{"parent": [value, ...]}``.

    A list or a set is several values; a tuple is one, since choices may be tuples.

    Raises:
        ValueError: if it is no such condition.
    """
    if isinstance(when, tuple):  # kept already
        return when
    try:
        given = tuple((name, _several(values)) for name, values in ({} if when is None else when).items())
        hash(given)
        fine = when is None or bool(given)
        fine = fine and all(isinstance(name, str) and values for name, values in given)
    except (AttributeError, TypeError):  # no dict, or values that nothing can be equal to
        fine = False
    if not fine:
        accepted = 'a dict of a parameter to its value, or to a list of values, like {"kernel": "rbf"}'
        raise ValueError(f"when must be {accepted}, got {shown(when)}")
    return given


def _several(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (list, set, frozenset)) else (values,)


def plain_when(when: When) -> Mapping[str, Any]:
    """A condition as plain data, in the words of study.toml."""
    return {name: values[0] if len(values) == 1 else list(values) for name, values in when}
