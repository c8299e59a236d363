"""Functions with known answers, by name: the paper's five and the usual ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covey.arguments import is_whole
from covey.bench.problems import scalable as s
from covey.bench.problems.classical import CLASSICAL
from covey.bench.problems.interface import Formula, Points, Problem


@dataclass(frozen=True)
class Family:
    """A function for every number of variables, each between the same bounds.

    Attributes:
        name: without the number of variables.
        formula: rows (m, d) -> values (m,), for any d.
        bound: (low, high) of every variable.
        minimisers: d -> where the minimum is attained (k, d).
        share: of each variable in the minimum; None takes the value at the minimiser instead.
        least: the smallest d.
        multiple: of what d is.
        translatable: see ``Problem``.
    """

    name: str
    formula: Formula
    bound: tuple[float, float]
    minimisers: Callable[[int], Points]
    share: float | None = 0.0
    least: int = 1
    multiple: int = 1
    translatable: bool = True

    def problem(self, dim: int) -> Problem:
        """The one of ``dim`` variables; raises ValueError if there is none."""
        if not is_whole(dim, self.least) or dim % self.multiple:
            kind = "whole number" if self.multiple == 1 else f"multiple of {self.multiple}"
            raise ValueError(f"{self.name}: dim must be a {kind} from {self.least}, got {dim!r}")
        d = int(dim)
        points = self.minimisers(d)
        minimum = float(self.formula(np.array(points))[0]) if self.share is None else self.share * d
        bounds = (self.bound,) * d
        return Problem(f"{self.name}{d}", self.formula, bounds, minimum, points, self.translatable)


_STYBLINSKI_TANG = -39.166165703771416

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("ackley", s.ackley, (-32.768, 32.768), s.zeros),
        Family("levy", s.levy, (-10.0, 10.0), s.ones),
        Family(
            "michalewicz",
            s.michalewicz,
            (0.0, np.pi),
            s.michalewicz_minimisers,
            share=None,
            translatable=False,
        ),
        Family("rastrigin", s.rastrigin, (-5.12, 5.12), s.zeros),
        Family("griewank", s.griewank, (-600.0, 600.0), s.zeros),
        Family(
            "styblinski-tang",
            s.styblinski_tang,
            (-5.0, 5.0),
            s.styblinski_tang_minimisers,
            share=_STYBLINSKI_TANG,
        ),
        Family("rosenbrock", s.rosenbrock, (-5.0, 10.0), s.ones, least=2),
        Family("dixon-price", s.dixon_price, (-10.0, 10.0), s.dixon_price_minimisers, least=2),
        Family("sphere", s.sphere, (-5.12, 5.12), s.zeros),
        Family("zakharov", s.zakharov, (-5.0, 10.0), s.zeros),
        Family("powell", s.powell, (-4.0, 5.0), s.zeros, least=4, multiple=4),
    )
}
"""Of any number of variables, by name."""

PROBLEMS: dict[str, Problem] = {p.name: p for p in (*CLASSICAL, FAMILIES["rosenbrock"].problem(4))}
"""Of a given number of variables, by name."""


def problem(name: str, dim: int | None = None) -> Problem:
    """The problem of that name.

    Args:
        name: a key of ``PROBLEMS``, or one of ``FAMILIES``, which may end in the number of variables:
            ``problem("ackley5")`` is ``problem("ackley", dim=5)``.
        dim: the number of variables.

    Raises:
        ValueError: there is none of that name, or none with so many variables.
    """
    stem, written = _split(name)
    if name in PROBLEMS:
        written = len(PROBLEMS[name].bounds)
    if written is not None and dim is not None and dim != written:
        raise ValueError(f"{name} has {written} variables, got dim={dim!r}")
    if name in PROBLEMS:
        return PROBLEMS[name]
    if stem not in FAMILIES:
        raise ValueError(
            f"problem must be one of {list(PROBLEMS)}, or with a dimension (as in 'ackley5', or "
            f"'ackley' and dim=5) one of {list(FAMILIES)}; got {name!r}"
        )
    size = dim if written is None else written
    if size is None:
        raise ValueError(f"{name} has any number of variables: give dim, or a name such as '{name}5'")
    return FAMILIES[stem].problem(size)


def _split(name: str) -> tuple[str, int | None]:
    """The name without the number it ends in, and the number."""
    parts = re.fullmatch(r"(.*?)([1-9][0-9]{0,5})", name)
    return (parts[1], int(parts[2])) if parts else (name, None)
