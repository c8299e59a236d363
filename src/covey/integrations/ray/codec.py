"""Codec of a search space in JSON: plain values as they are, everything else under its kind's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from covey.integrations.labelled import Labelled
from covey.integrations.ray.domains import Multiples
from covey.space import Categorical, Float, Int, Ordinal
from covey.space.describe import plain


class Kind(NamedTuple):
    """A type, the parts that one of it is made of, and how to make it of them again."""

    type: type
    parts: Callable[[Any], Any]
    build: Callable[[list[Any]], Any]


def _ranged(kind: type[Float] | type[Int], parts: list[Any]) -> Float | Int:
    low, high, log, *step = parts  # a file may do without the step
    return kind(low, high, log, step=step[0]) if step else kind(low, high, log)


KINDS: dict[str, Kind] = {
    "dict": Kind(dict, dict.items, dict),
    "list": Kind(list, list, list),
    "tuple": Kind(tuple, list, tuple),
    "range": Kind(range, lambda r: [r.start, r.stop], lambda parts: range(*parts)),
    "Float": Kind(
        Float, lambda d: [float(d.low), float(d.high), d.log, d.step], lambda parts: _ranged(Float, parts)
    ),
    "Int": Kind(Int, lambda d: [d.low, d.high, d.log, d.step], lambda parts: _ranged(Int, parts)),
    "Ordinal": Kind(Ordinal, lambda d: [list(d.values), d.log], lambda parts: Ordinal(*parts)),
    "Categorical": Kind(Categorical, lambda d: d.choices, Categorical),
    "Labelled": Kind(Labelled, lambda d: [d.levelled, d.labels], lambda parts: Labelled(*parts)),
    "Multiples": Kind(Multiples, lambda m: [m.factors, m.step, m.whole], lambda parts: Multiples(*parts)),
}
"""By name."""


def dump(value: Any) -> Any:
    """A value in JSON's terms; raises TypeError if there is something in it of another kind."""
    if plain(value) is value:
        return value
    for name, kind in KINDS.items():
        if type(value) is kind.type:
            return {name: [dump(part) for part in kind.parts(value)]}
    raise TypeError(f"{value!r} has no form in JSON")


def load(written: Any) -> Any:
    """What was dumped; raises ValueError for what never was."""
    if not isinstance(written, dict):
        return written
    (name, parts), *more = written.items()
    if more or name not in KINDS:
        raise ValueError(f"not a part of a search space: {written!r}")
    return KINDS[name].build([load(part) for part in parts])
