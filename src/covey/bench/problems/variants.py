"""Problems made out of problems: moved, raised, or observed with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covey.arguments import is_whole
from covey.arrays import Array
from covey.bench.problems.functions import FAMILIES, PROBLEMS
from covey.bench.problems.interface import Benchmark, Formula, Problem
from covey.space import Space

_MARGIN = 0.1
"""Of the domain's width, on either side, where no minimiser is put."""


@dataclass(frozen=True)
class Translated:
    """The formula of x - shift, with shift (d,)."""

    formula: Formula
    shift: tuple[float, ...]

    def __call__(self, x: Array) -> Array:
        """Rows (m, d) -> values (m,)."""
        return self.formula(x - np.array(self.shift))


@dataclass(frozen=True)
class Raised:
    """The formula plus a constant."""

    formula: Formula
    by: float

    def __call__(self, x: Array) -> Array:
        """Rows (m, d) -> values (m,)."""
        return self.formula(x) + self.by


def shifted(problem: Problem, seed: int) -> Problem:
    """The same function, moved under its domain to where the seed says.

    Many functions have their minimiser in the middle of the domain or on its diagonal, where some optimisers
    look first. Here it is uniform over the middle 80% of every variable; several move together and all stay
    there. The function is evaluated outside its usual domain, as it is, so it must have no lower or further
    minimum there.

    Args:
        problem: one with ``translatable``.
        seed: a whole number from 0. Give the optimiser another: random points from the same seed may begin
            where the minimiser was put.

    Raises:
        ValueError: the problem is not translatable.
    """
    if not problem.translatable:
        accepted = [name for name, thing in (PROBLEMS | FAMILIES).items() if thing.translatable]
        raise ValueError(f"only {accepted} may be shifted, got {problem.name!r}")
    low, high = np.array(problem.bounds).T
    points, margin = np.array(problem.minimisers), _MARGIN * (high - low)
    least, most = low + margin - points.min(axis=0), high - margin - points.max(axis=0)
    shift = np.random.default_rng(_checked(seed)).uniform(least, most)
    return replace(
        problem,
        name=f"{problem.name}-shifted{seed}",
        formula=Translated(problem.formula, tuple(shift.tolist())),
        minimisers=tuple(tuple(row) for row in (points + shift).tolist()),
    )


def raised(problem: Problem, by: float) -> Problem:
    """The same function plus a constant, and its minimum with it."""
    if not math.isfinite(by):
        raise ValueError(f"by must be a finite number, got {by!r}")
    formula = Raised(problem.formula, float(by))
    return replace(problem, name=f"{problem.name}{by:+g}", formula=formula, minimum=problem.minimum + by)


@dataclass(frozen=True)
class Noisy:
    """A benchmark whose values are observed with noise. Made by ``noisy``."""

    problem: Benchmark
    sigma: float
    seed: int

    @property
    def name(self) -> str:
        """That of the problem, and how much noise."""
        return f"{self.problem.name}-noise{self.sigma:g}"

    @property
    def space(self) -> Space:
        """That of the problem."""
        return self.problem.space

    @property
    def minimum(self) -> float:
        """The lowest value without noise."""
        return self.problem.minimum

    def true(self, params: Mapping[str, Any]) -> float:
        """The value without noise."""
        return self.problem.true(params)

    def __call__(self, params: Mapping[str, Any], repeat: int = 0) -> float:
        """The value with noise; another ``repeat`` (a whole number from 0) draws it again."""
        row = self.space.encode(params) + 0.0  # no -0.0: it is the same configuration as 0.0
        words = row.astype("<f8").view("<u4").tolist()
        rng = np.random.default_rng([self.seed, repeat, *words])
        return self.true(params) + self.sigma * float(rng.standard_normal())


def noisy(problem: Benchmark, sigma: float, seed: int) -> Noisy:
    """Values plus N(0, sigma^2), independent between configurations.

    The noise is a function of the seed, the configuration and ``repeat``, and of nothing else: no count of
    calls, which workers could not share. So a run can be repeated exactly, in any order and in any number
    of processes. The price is that the same configuration has the same noise each time, unless the caller
    says ``repeat``.

    Args:
        problem: whatever has the members of ``Benchmark``.
        sigma: the standard deviation, from 0.
        seed: a whole number from 0.
    """
    if not (math.isfinite(sigma) and sigma >= 0):
        raise ValueError(f"sigma must be a finite number from 0, got {sigma!r}")
    return Noisy(problem, float(sigma), _checked(seed))


def _checked(seed: int) -> int:
    if not is_whole(seed, 0):
        raise ValueError(f"seed must be a whole number from 0, got {seed!r}")
    return int(seed)
