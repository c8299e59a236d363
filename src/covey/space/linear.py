"""Linear constraints: which parts of a statement are linear in the parameters, and with what coefficients."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from covey.space.expressions import (
    All,
    Comparison,
    Name,
    Negative,
    Number,
    Numeric,
    Operation,
    Sum,
    Truth,
    constant,
    names_in,
)

Affine: TypeAlias = tuple[dict[str, float], float]
"""Coefficients by name, and a constant."""


@dataclass(frozen=True)
class Linear:
    """The statement: the sum of coefficients times parameters is at most, or is equal to, a bound.

    Attributes:
        coefficients: by name, none of them 0.
        sense: "<=" or "==".
        bound: the right-hand side.
        strict: whether the bound itself was excluded, which the closed set that this describes does not do.
    """

    coefficients: Mapping[str, float]
    sense: str
    bound: float
    strict: bool = False


def conjuncts(truth: Truth) -> tuple[Truth, ...]:
    """Statements that must all hold for a statement to hold: the parts of ``and`` and of chains."""
    if not isinstance(truth, All):
        return (truth,)
    return tuple(one for part in truth.parts for one in conjuncts(part))


def linear(conjunct: Truth) -> Linear | None:
    """A statement as a linear one; None if it is not linear, or says nothing about any parameter."""
    if not isinstance(conjunct, Comparison) or conjunct.operator == "!=":
        return None
    found = _affine(Sum((conjunct.left, Negative(conjunct.right))))
    if found is None:
        return None
    sign = -1.0 if conjunct.operator in (">", ">=") else 1.0
    weights = {name: sign * weight for name, weight in found[0].items() if weight != 0}
    bound = 0.0 - sign * found[1]
    if not weights or not all(map(math.isfinite, [*weights.values(), bound])):
        return None
    return Linear(weights, "==" if conjunct.operator == "==" else "<=", bound, conjunct.operator in "<>")


def _affine(number: Numeric) -> Affine | None:
    if not names_in(number):
        return {}, constant(number)
    match number:
        case Name(name):
            return {name: 1.0}, 0.0
        case Negative(of):
            return _times(_affine(of), -1.0)
        case Sum(terms):
            return _added([_affine(term) for term in terms])
        case Operation("*", left, right) if not names_in(left):
            return _times(_affine(right), constant(left))
        case Operation("*", left, right) if not names_in(right):
            return _times(_affine(left), constant(right))
        case Operation("/", left, right) if not names_in(right):
            divisor = constant(right)
            return None if divisor == 0 else _divided(_affine(left), divisor)
        case Operation("**", left, Number(1.0)):
            return _affine(left)
    return None


def _added(parts: list[Affine | None]) -> Affine | None:
    weights: dict[str, float] = {}
    total = 0.0
    for part in parts:
        if part is None:
            return None
        for name, weight in part[0].items():
            weights[name] = weights.get(name, 0.0) + weight
        total += part[1]
    return weights, total


def _times(part: Affine | None, factor: float) -> Affine | None:
    return part and ({name: factor * weight for name, weight in part[0].items()}, factor * part[1])


def _divided(part: Affine | None, divisor: float) -> Affine | None:
    return part and ({name: weight / divisor for name, weight in part[0].items()}, part[1] / divisor)
