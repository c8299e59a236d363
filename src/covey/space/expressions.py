"""Expressions of the constraint language as trees of our own, and what they say about columns of values.

``parsing`` makes a tree of a text; ``linear`` recognises what is linear. Nothing here runs anybody's code:
a tree holds numbers, names and the few operations below, and all arithmetic is that of float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

EQUAL = 1e-9
"""Relative tolerance of ==, <= and >=, of the size of the terms: far above what rounding does to a sum of a
hundred terms (1e-14), far below what an apparatus can tell apart."""

Truths: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True)
class Name:
    """A parameter that is a number."""

    name: str


@dataclass(frozen=True)
class Choice:
    """A parameter that is a choice."""

    name: str


@dataclass(frozen=True)
class Literal:
    """One of the values of a choice."""

    value: str | float | bool | None


@dataclass(frozen=True)
class Negative:
    """Minus a number."""

    of: Numeric


@dataclass(frozen=True)
class Sum:
    """Numbers added; flat, so that a sum of many terms is not deep."""

    terms: tuple[Numeric, ...]


@dataclass(frozen=True)
class Operation:
    """Two numbers and one of ``* / **`` between them."""

    operator: str
    left: Numeric
    right: Numeric


@dataclass(frozen=True)
class Call:
    """One of ``FUNCTIONS`` of numbers."""

    function: str
    arguments: tuple[Numeric, ...]


@dataclass(frozen=True)
class Comparison:
    """Two numbers and one of ``COMPARISONS`` between them."""

    operator: str
    left: Numeric
    right: Numeric


@dataclass(frozen=True)
class Same:
    """Whether a choice is a value, or two choices are the same."""

    left: Choice | Literal
    right: Choice | Literal


@dataclass(frozen=True)
class Not:
    """The contrary."""

    of: Truth


@dataclass(frozen=True)
class All:
    """Statements joined by ``and``; also a chained comparison."""

    parts: tuple[Truth, ...]


@dataclass(frozen=True)
class Some:
    """Statements joined by ``or``."""

    parts: tuple[Truth, ...]


Numeric: TypeAlias = Number | Name | Negative | Sum | Operation | Call
Truth: TypeAlias = Comparison | Same | Not | All | Some
Expression: TypeAlias = Numeric | Truth | Choice | Literal

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "max": lambda *values: np.maximum.reduce(np.broadcast_arrays(*values)),
    "min": lambda *values: np.minimum.reduce(np.broadcast_arrays(*values)),
    "sqrt": np.sqrt,
}
"""Functions by name; min and max take two arguments or more, the others one."""

_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {"*": np.multiply, "/": np.divide, "**": np.power}

COMPARISONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "<": lambda left, right, _: left < right,
    "<=": lambda left, right, near: left <= right + near,
    ">": lambda left, right, _: left > right,
    ">=": lambda left, right, near: left >= right - near,
    "==": lambda left, right, near: np.abs(left - right) <= near,
    "!=": lambda left, right, near: np.abs(left - right) > near,
}
"""Comparisons by how they are written, of two numbers and the difference that rounding may make."""


def names_in(expression: Expression) -> tuple[str, ...]:
    """Names of the parameters in an expression, each once, in the order in which they occur."""
    match expression:
        case Name(name) | Choice(name):
            return (name,)
        case Negative(of) | Not(of):
            parts: tuple[Any, ...] = (of,)
        case Operation(_, left, right) | Comparison(_, left, right) | Same(left, right):
            parts = (left, right)
        case Sum(inner) | Call(_, inner) | All(inner) | Some(inner):
            parts = inner
        case _:
            parts = ()
    return tuple(dict.fromkeys(name for part in parts for name in names_in(part)))


def holds(truth: Truth, columns: Mapping[str, NDArray[Any]]) -> Truths:
    """Where a statement is true (m,), given columns (m,) by name: numbers, or of choices the values.

    A comparison of something that is no finite number (the logarithm of 0, a quotient by 0) is neither true
    nor false, and a statement that hangs on it does not hold: ``a == 0 or b / a < 3`` holds at a = 0,
    ``not b / a < 3`` does not. ``== <= >=`` forgive rounding (``EQUAL``), ``< >`` are strict.
    """
    size = len(next(iter(columns.values())))
    with np.errstate(all="ignore"):
        true, _ = _verdict(truth, columns)
    return np.array(np.broadcast_to(true, size), dtype=bool)


def constant(number: Numeric) -> float:
    """The value of an expression without names; NaN or infinite where float64 has none."""
    with np.errstate(all="ignore"):
        return float(_number(number, {})[0])


def _verdict(truth: Truth, columns: Mapping[str, NDArray[Any]]) -> tuple[Any, Any]:
    """Where a statement is true, and where it is false; neither where it hangs on what is not finite."""
    match truth:
        case Comparison(operator, left, right):
            (value, size), (other, other_size) = _number(left, columns), _number(right, columns)
            known = np.isfinite(value) & np.isfinite(other)
            near = EQUAL * np.nan_to_num(np.maximum(size, other_size), nan=0.0, posinf=0.0)
            found = COMPARISONS[operator](value, other, near)
            return known & found, known & ~found
        case Same(left, right):
            same = np.asarray(_chosen(left, columns) == _chosen(right, columns), dtype=bool)
            return same, ~same
        case Not(of):
            true, false = _verdict(of, columns)
            return false, true
    verdicts = [_verdict(part, columns) for part in truth.parts]
    true, false = verdicts[0]
    for more_true, more_false in verdicts[1:]:
        if isinstance(truth, All):
            true, false = true & more_true, false | more_false
        else:
            true, false = true | more_true, false & more_false
    return true, false


def _chosen(side: Choice | Literal, columns: Mapping[str, NDArray[Any]]) -> Any:
    return side.value if isinstance(side, Literal) else np.asarray(columns[side.name], dtype=object)


def _number(number: Numeric, columns: Mapping[str, NDArray[Any]]) -> tuple[Any, Any]:
    """Values, and the size of the terms they are made of, which is what their rounding is relative to."""
    match number:
        case Number(value):
            return np.float64(value), np.abs(np.float64(value))
        case Name(name):
            column = np.asarray(columns[name], dtype=float)
            return column, np.abs(column)
        case Negative(of):
            value, size = _number(of, columns)
            return -value, size
        case Sum(terms):
            parts = [_number(term, columns) for term in terms]
            return sum(value for value, _ in parts), sum(size for _, size in parts)
        case Operation(operator, left, right):
            (value, size), (other, other_size) = _number(left, columns), _number(right, columns)
            result = _OPERATIONS[operator](value, other)
            sizes = {"*": size * other_size, "/": size / np.abs(other), "**": np.abs(result)}
            return result, sizes[operator]
        case Call(function, arguments):
            parts = [_number(argument, columns) for argument in arguments]
            result = FUNCTIONS[function](*(value for value, _ in parts))
            if function in ("abs", "min", "max"):
                return result, np.maximum.reduce(np.broadcast_arrays(*(size for _, size in parts)))
            return result, np.abs(result) + (function == "log")  # log(1) is 0, and its rounding is not
