"""Problems over whole numbers and choices whose minimum is known exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from covey.arguments import is_whole
from covey.bench.problems.interface import Problem
from covey.space import Categorical, Dimension, Float, Int, Space

CHOICE = "function"
"""The variable that says which problem it is."""

Grid: TypeAlias = tuple[float, ...]
"""What the whole numbers 0, 1, ... stand for; empty for a continuum."""


@dataclass(frozen=True)
class Mixed:
    """Problems over the same domain, some of its variables on grids. Made by ``mixed``.

    Attributes:
        problems: what the variable "function" chooses between, if there are several.
        grids: one for each variable.
    """

    problems: tuple[Problem, ...]
    grids: tuple[Grid, ...]

    @property
    def name(self) -> str:
        """Those of the problems, and how many variables are whole numbers."""
        return f"{'|'.join(p.name for p in self.problems)}-int{sum(map(bool, self.grids))}"

    @property
    def space(self) -> Space:
        """Variables x1, x2, ... and, given several problems, "function"."""
        dimensions: dict[str, Dimension] = {
            f"x{k + 1}": Int(0, len(grid) - 1) if grid else Float(*bound)
            for k, (bound, grid) in enumerate(zip(self.problems[0].bounds, self.grids, strict=True))
        }
        if len(self.problems) > 1:
            dimensions[CHOICE] = Categorical(p.name for p in self.problems)
        return Space(dimensions)

    @property
    def minimum(self) -> float:
        """The lowest of the problems' minima: the grids hold its minimiser."""
        return self._best.minimum

    @property
    def minimiser(self) -> dict[str, Any]:
        """A configuration that attains the minimum."""
        point = zip(self._best.minimisers[0], self.grids, strict=True)
        params: dict[str, Any] = {
            f"x{k + 1}": grid.index(x) if grid else x for k, (x, grid) in enumerate(point)
        }
        return params | ({CHOICE: self._best.name} if len(self.problems) > 1 else {})

    @property
    def _best(self) -> Problem:
        return _lowest(self.problems)

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The value at one configuration; raises ValueError if it is not one of the space."""
        self.space.encode(params)
        names = [f"x{k + 1}" for k in range(len(self.grids))]
        x = {
            name: grid[int(params[name])] if grid else params[name]
            for name, grid in zip(names, self.grids, strict=True)
        }
        chosen = params.get(CHOICE, self.problems[0].name)
        return next(p for p in self.problems if p.name == chosen)(x)

    def true(self, params: Mapping[str, Any]) -> float:
        """The same: there is no noise."""
        return self(params)


def mixed(*problems: Problem, integers: Mapping[str, int] | None = None) -> Mixed:
    """Put variables on grids, and let a category choose between problems.

    The grid of n values divides the domain evenly and is placed so that the minimiser of the lowest problem
    is one of them. That problem's minimum is then attained, and no other value is lower.

    Args:
        problems: one, or several of the same bounds and different names.
        integers: variable -> how many values it has, from 2; they are called 0, 1, ...
    """
    counts = dict(integers or {})
    _check(problems, counts)
    lowest = _lowest(problems)
    grids = [
        _grid(low, high, x, counts.get(f"x{k + 1}", 0))
        for k, ((low, high), x) in enumerate(zip(lowest.bounds, lowest.minimisers[0], strict=True))
    ]
    return Mixed(problems, tuple(grids))


def _lowest(problems: tuple[Problem, ...]) -> Problem:
    return min(problems, key=lambda p: p.minimum)


def _grid(low: float, high: float, x: float, count: int) -> Grid:
    """``count`` values (high - low) / count apart, all between low and high, one of them x itself."""
    if not count:
        return ()
    step = (high - low) / count
    below = min(int((x - low) / step), count - 1)
    return tuple(np.clip(x + step * (np.arange(count) - below), low, high).tolist())


def _check(problems: tuple[Problem, ...], counts: Mapping[str, int]) -> None:
    if not problems:
        raise ValueError("mixed: give at least one problem")
    names = [p.name for p in problems]
    if len({p.bounds for p in problems}) > 1 or len(set(names)) < len(names):
        raise ValueError(f"mixed: problems must have the same bounds and different names, got {names}")
    known = list(problems[0].space.dimensions)
    for name, count in counts.items():
        if name not in known:
            raise ValueError(f"mixed: integers must be of {known}, got {name!r}")
        if not is_whole(count, 2):
            raise ValueError(f"mixed: {name!r} must have a whole number of values from 2, got {count!r}")
