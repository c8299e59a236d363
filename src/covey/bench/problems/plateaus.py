"""Problems made out of problems whose values jump, stay level, or are lowest at the edge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from covey.arrays import Array
from covey.bench.problems.interface import Formula, Problem
from covey.bench.problems.variants import Translated, shifted


@dataclass(frozen=True)
class Stepped:
    """The formula at the centre of the cell that x is in: cells of a size (d,), one of them around (d,)."""

    formula: Formula
    centre: tuple[float, ...]
    size: tuple[float, ...]

    def __call__(self, x: Array) -> Array:
        """Rows (m, d) -> values (m,)."""
        centre, size = np.array(self.centre), np.array(self.size)
        return self.formula(centre + size * np.round((x - centre) / size))


@dataclass(frozen=True)
class Terraced:
    """The formula rounded down to whole heights above a floor."""

    formula: Formula
    floor: float
    height: float

    def __call__(self, x: Array) -> Array:
        """Rows (m, d) -> values (m,)."""
        above = np.floor((self.formula(x) - self.floor) / self.height)
        return np.asarray(self.floor + self.height * np.maximum(above, 0.0))  # rounding may go below


def stepped(problem: Problem, cells: int) -> Problem:
    """The same function, constant in each of so many cells along every variable.

    The first minimiser is the centre of a cell, and the minimum is what it was.

    Args:
        problem: one with ``translatable``: the centres of cells at the edge may be outside of the domain.
        cells: a whole number from 2.
    """
    if not problem.translatable:
        raise ValueError(f"only translatable problems may be stepped, got {problem.name!r}")
    if cells < 2:
        raise ValueError(f"cells must be a whole number from 2, got {cells!r}")
    size = tuple((high - low) / cells for low, high in problem.bounds)
    formula = Stepped(problem.formula, problem.minimisers[0], size)
    return replace(
        problem, name=f"{problem.name}-steps{cells}", formula=formula, minimisers=problem.minimisers[:1]
    )


def terraced(problem: Problem, height: float) -> Problem:
    """The same function with flat terraces of a height, the lowest of them at its minimum."""
    if not (math.isfinite(height) and height > 0):
        raise ValueError(f"height must be a finite number above 0, got {height!r}")
    formula = Terraced(problem.formula, problem.minimum, height)
    return replace(problem, name=f"{problem.name}-terraces{height:g}", formula=formula)


def cornered(problem: Problem, seed: int) -> Problem:
    """The same function, moved so that its minimiser is on the edge of the domain.

    Half of the variables, at least one, have it at their lower or upper bound; the others as ``shifted``.

    Args:
        problem: one with ``translatable``.
        seed: a whole number from 0; it chooses the variables and the bounds.
    """
    moved = shifted(problem, seed)
    rng = np.random.default_rng([seed, 1])
    bounds, first = np.array(problem.bounds), np.array(moved.minimisers[0])
    size = len(bounds)
    pressed = rng.permutation(size) < max(1, size // 2)
    target = np.where(pressed, bounds[np.arange(size), rng.integers(0, 2, size)], first)
    formula = Translated(moved.formula, tuple((target - first).tolist()))
    name = f"{problem.name}-edge{seed}"
    return replace(moved, name=name, formula=formula, minimisers=(tuple(target.tolist()),))
