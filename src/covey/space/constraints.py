"""Constraints of a space: statements in the small language or functions, and the linear ones as matrices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.errors import shown
from covey.space.expressions import Truth, Truths, holds, names_in
from covey.space.linear import Linear, conjuncts, linear
from covey.space.parsing import parse


@dataclass(frozen=True)
class Rule:
    """One constraint as it was given.

    Attributes:
        text: as messages quote it; of a function its name.
        names: of the parameters in it; of a function none, as it may look at all.
        test: the parsed statement, or the function of a dict of parameters.
    """

    text: str
    names: tuple[str, ...]
    test: Truth | Callable[[dict[str, Any]], bool]

    def holds(
        self, columns: Mapping[str, NDArray[Any]], absent: Mapping[str, Truths] | None = None
    ) -> Truths:
        """Where the constraint holds (m,); see ``Constraints.holds``."""
        absent = absent or {}
        if callable(self.test):
            return _asked(self.text, self.test, columns, absent)
        found = holds(self.test, {name: columns[name] for name in self.names})
        for name in self.names:
            if name in absent:
                found |= absent[name]
        return found


@dataclass(frozen=True)
class Constraints:
    """All constraints of a space. Equal ones have equal rules and columns.

    The linear parts are A_ub x <= b_ub and A_eq x == b_eq in the units of the values x, one column for each
    of ``columns``. A strict inequality is there as one that is not; its rule still is strict.

    Attributes:
        rules: every constraint, in the order given.
        columns: the parameters that the matrices are about.
        A_ub, b_ub, A_eq, b_eq: (k, d), (k,), (l, d), (l,).
        ub_texts, eq_texts: the constraint that each row comes from.
        beyond: rules that the matrices do not say all of: not linear, strict, or about other parameters.
    """

    rules: tuple[Rule, ...]
    columns: tuple[str, ...]
    A_ub: Array = field(compare=False, repr=False)
    b_ub: Array = field(compare=False, repr=False)
    A_eq: Array = field(compare=False, repr=False)
    b_eq: Array = field(compare=False, repr=False)
    ub_texts: tuple[str, ...] = field(compare=False, repr=False)
    eq_texts: tuple[str, ...] = field(compare=False, repr=False)
    beyond: tuple[Rule, ...] = field(compare=False, repr=False)

    @staticmethod
    def of(
        given: Sequence[str | Callable[[dict[str, Any]], bool]],
        names: Mapping[str, Sequence[Hashable] | None],
        columns: Sequence[str] | None = None,
    ) -> Constraints:
        """The constraints of a space.

        Args:
            given: texts of the language, and functions of a dict of parameters that return a bool.
            names: of all parameters, each with its choices, or None if it is a number.
            columns: the parameters for the matrices: numbers on a linear scale that always exist. All
                numbers if not given. A linear constraint that names another parameter is a rule only.

        Raises:
            ValueError: if one is neither, or not a constraint of these parameters.
        """
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ValueError(f"constraints must be a list of texts and functions, got {shown(given)}")
        over = tuple(name for name, choices in names.items() if choices is None)
        over = over if columns is None else tuple(columns)
        rules = tuple(_rule(one, names) for one in given)
        parts = [(rule, _linear_part(one, over)) for rule in rules for one in _conjuncts(rule)]
        ub = [(part, rule.text) for rule, part in parts if part and part.sense == "<="]
        eq = [(part, rule.text) for rule, part in parts if part and part.sense == "=="]
        partial = {id(rule) for rule, part in parts if part is None or part.strict}
        return Constraints(
            rules,
            over,
            *_matrices([part for part, _ in ub], over),
            *_matrices([part for part, _ in eq], over),
            tuple(text for _, text in ub),
            tuple(text for _, text in eq),
            tuple(rule for rule in rules if id(rule) in partial),
        )

    def holds(
        self, columns: Mapping[str, NDArray[Any]], absent: Mapping[str, Truths] | None = None
    ) -> Truths:
        """Where all constraints hold (m,).

        Args:
            columns: values (m,) of every parameter by name: numbers as numbers, choices as objects.
            absent: where a parameter does not exist (m,), for those that do not exist everywhere. A
                statement holds where any of the parameters it names is absent; what stands in the column
                there does not matter. A function gets a dict without the absent ones.

        Raises:
            ValueError: if a function raises, or returns something else than a bool; names the constraint.
        """
        found = np.ones(len(next(iter(columns.values()))), dtype=bool)
        for rule in self.rules:
            found &= rule.holds(columns, absent)
        return found

    def in_cube(self, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
        """A, b, E, e for A u <= b, E u == e with x = low + u (high - low), bounds (d,) of ``columns``."""
        width = high - low
        return (
            self.A_ub * width,
            self.b_ub - self.A_ub @ low,
            self.A_eq * width,
            self.b_eq - self.A_eq @ low,
        )


def _rule(given: Any, names: Mapping[str, Sequence[Hashable] | None]) -> Rule:
    if callable(given) and not isinstance(given, type):
        return Rule(getattr(given, "__name__", type(given).__name__), (), given)
    if not isinstance(given, str):
        raise ValueError(
            f"a constraint must be a text such as 'a + b <= 1' or a function of the parameters, "
            f"got {shown(given)}"
        )
    truth = parse(given, names)
    return Rule(given.strip(), names_in(truth), truth)


def _conjuncts(rule: Rule) -> tuple[Truth | None, ...]:
    return (None,) if callable(rule.test) else conjuncts(rule.test)


def _linear_part(conjunct: Truth | None, columns: Sequence[str]) -> Linear | None:
    found = None if conjunct is None else linear(conjunct)
    return found if found and set(found.coefficients) <= set(columns) else None


def _matrices(parts: Sequence[Linear], columns: Sequence[str]) -> tuple[Array, Array]:
    matrix = np.array([[part.coefficients.get(name, 0.0) for name in columns] for part in parts])
    return matrix.reshape(len(parts), len(columns)), np.array([part.bound for part in parts])


def _asked(
    text: str,
    function: Callable[[dict[str, Any]], bool],
    columns: Mapping[str, NDArray[Any]],
    absent: Mapping[str, Truths],
) -> Truths:
    """What a function says of each row (m,)."""
    listed = {name: column.tolist() for name, column in columns.items()}
    found = np.empty(len(next(iter(columns.values()))), dtype=bool)
    for k in range(len(found)):
        present = (name for name in listed if name not in absent or not absent[name][k])
        params = {name: listed[name][k] for name in present}
        try:
            answer = function(params)
        except Exception as error:
            raise ValueError(
                f"constraint {text}: it raised {type(error).__name__}: {error} for {shown(params)}"
            ) from error
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(
                f"constraint {text}: it must return True or False, got {shown(answer)} for {shown(params)}"
            )
        found[k] = answer
    return found
