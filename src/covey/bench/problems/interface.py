"""Benchmark: a function over a space whose lowest value is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from covey.arrays import Array
from covey.space import Float, Space

Formula: TypeAlias = Callable[[Array], Array]
"""Rows (m, d) in the function's own units -> values (m,)."""

Points: TypeAlias = tuple[tuple[float, ...], ...]
"""Rows (k, d)."""


class Benchmark(Protocol):
    """What a run on a benchmark needs, whatever the benchmark is made of.

    Attributes:
        name: how it is called in tables.
        space: what can be varied.
        minimum: the lowest value without noise.
    """

    @property
    def name(self) -> str: ...

    @property
    def space(self) -> Space: ...

    @property
    def minimum(self) -> float: ...

    def __call__(self, params: Mapping[str, Any]) -> float:
        """What is observed at one configuration."""

    def true(self, params: Mapping[str, Any]) -> float:
        """The value without noise, which a run is scored by; but for rounding, not below ``minimum``."""


@dataclass(frozen=True)
class Problem:
    """A function of real numbers to minimise.

    Attributes:
        name: how it is called in tables.
        formula: rows (m, d) in the function's own units -> values (m,).
        bounds: (low, high) of each variable.
        minimum: the lowest value in the domain.
        minimisers: where it is attained (k, d).
        translatable: whether it is attained there and nowhere else in all of R^d, so that the function may
            be moved under its domain.
    """

    name: str
    formula: Formula
    bounds: tuple[tuple[float, float], ...]
    minimum: float
    minimisers: Points
    translatable: bool = False

    @property
    def space(self) -> Space:
        """Variables x1, x2, ..."""
        return Space({f"x{k + 1}": Float(*bound) for k, bound in enumerate(self.bounds)})

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The value at one configuration."""
        row = [params[f"x{k + 1}"] for k in range(len(self.bounds))]
        return float(self.formula(np.array([row], dtype=float))[0])

    def true(self, params: Mapping[str, Any]) -> float:
        """The same: there is no noise."""
        return self(params)
