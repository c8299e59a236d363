"""Which functions have known answers? The paper's five, with domain and minimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.space import Float, Space


@dataclass(frozen=True)
class Problem:
    """A function to minimise.

    Attributes:
        name: how it is called in tables.
        formula: rows (m, d) in the function's own units -> values (m,).
        bounds: (low, high) of each variable.
        minimum: the lowest value in the domain.
        minimisers: where it is attained (k, d).
    """

    name: str
    formula: Callable[[Array], Array]
    bounds: tuple[tuple[float, float], ...]
    minimum: float
    minimisers: tuple[tuple[float, ...], ...]

    @property
    def space(self) -> Space:
        """Variables x1, x2, ..."""
        return Space({f"x{k + 1}": Float(*bound) for k, bound in enumerate(self.bounds)})

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The value at one configuration."""
        row = [params[f"x{k + 1}"] for k in range(len(self.bounds))]
        return float(self.formula(np.array([row], dtype=float))[0])


def _branin(x: Array) -> Array:
    a, b = x[:, 0], x[:, 1]
    valley = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return np.asarray(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def _cosines(x: Array) -> Array:
    u = 1.6 * x - 0.5
    return np.asarray(1 - (u**2 - 0.3 * np.cos(3 * np.pi * u)).sum(axis=1))


_HARTMANN6_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN6_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def _hartmann6(x: Array) -> Array:
    inner = (_HARTMANN6_A * (x[:, None, :] - _HARTMANN6_P) ** 2).sum(axis=2)
    return np.asarray(-np.exp(-inner) @ np.array([1.0, 1.2, 3.0, 3.2]))


def _eggholder(x: Array) -> Array:
    a, b = x[:, 0], x[:, 1] + 47
    return np.asarray(-b * np.sin(np.sqrt(np.abs(a / 2 + b))) - a * np.sin(np.sqrt(np.abs(a - b))))


def _rosenbrock(x: Array) -> Array:
    valley = 100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2
    return np.asarray(valley.sum(axis=1))


PROBLEMS: dict[str, Problem] = {
    p.name: p
    for p in (
        Problem(
            "branin",
            _branin,
            ((-5.0, 10.0), (0.0, 15.0)),
            0.39788735772973816,
            ((-np.pi, 12.275), (np.pi, 2.275), (3 * np.pi, 2.475)),
        ),
        Problem(
            "cosines",
            _cosines,
            ((0.0, 1.0),) * 2,
            -1.7732143249,
            ((0.9961722, 0.9961722),),
        ),
        Problem(
            "hartmann6",
            _hartmann6,
            ((0.0, 1.0),) * 6,
            -3.3223680114155147,
            ((0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054),),
        ),
        Problem(
            "eggholder",
            _eggholder,
            ((-512.0, 512.0),) * 2,
            -959.6406627208509,
            ((512.0, 404.2318058),),
        ),
        Problem("rosenbrock4", _rosenbrock, ((-5.0, 10.0),) * 4, 0.0, ((1.0,) * 4,)),
    )
}
"""By name."""
