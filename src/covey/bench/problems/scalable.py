"""Functions of any number of variables with known answers: formula and minimisers of each."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.bench.problems.interface import Points


def ackley(x: Array) -> Array:
    """20 (1 - exp(-0.2 sqrt(mean x^2))) + e - exp(mean cos 2 pi x): (m, d) -> (m,)."""
    bowl = -20 * np.expm1(-0.2 * np.sqrt((x**2).mean(axis=1)))
    # Written so that rounding never takes it below 0.
    return np.asarray(bowl - np.e * np.expm1((np.cos(2 * np.pi * x) - 1).mean(axis=1)))


def levy(x: Array) -> Array:
    """Waves over a bowl around w = 1, with w = 1 + (x - 1) / 4: (m, d) -> (m,).

    sin^2 pi w_1 + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_d - 1)^2 (1 + sin^2 2 pi w_d).
    """
    w = 1 + (x - 1) / 4
    first, last = np.sin(np.pi * w[:, 0]) ** 2, (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
    middle = (w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)
    return np.asarray(first + middle.sum(axis=1) + last)


def michalewicz(x: Array) -> Array:
    """-sum_i sin x_i sin(i x_i^2 / pi)^20: (m, d) -> (m,)."""
    return np.asarray(_michalewicz_terms(x, np.arange(1, x.shape[1] + 1)).sum(axis=1))


def _michalewicz_terms(x: Array, i: NDArray[np.int64] | int) -> Array:
    return np.asarray(-np.sin(x) * np.sin(i * x**2 / np.pi) ** 20)


def rastrigin(x: Array) -> Array:
    """The sum of x^2 + 10 (1 - cos 2 pi x): (m, d) -> (m,)."""
    return np.asarray((x**2 + 10 * (1 - np.cos(2 * np.pi * x))).sum(axis=1))


def griewank(x: Array) -> Array:
    """1 + sum x^2 / 4000 - prod_i cos(x_i / sqrt i): (m, d) -> (m,)."""
    waves = np.cos(x / np.sqrt(np.arange(1, x.shape[1] + 1))).prod(axis=1)
    return np.asarray((x**2).sum(axis=1) / 4000 + (1 - waves))


def styblinski_tang(x: Array) -> Array:
    """The sum of (x^4 - 16 x^2 + 5 x) / 2: (m, d) -> (m,)."""
    return np.asarray((x**4 - 16 * x**2 + 5 * x).sum(axis=1) / 2)


def rosenbrock(x: Array) -> Array:
    """sum_{i<d} 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2: (m, d) -> (m,)."""
    valley = 100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2
    return np.asarray(valley.sum(axis=1))


def dixon_price(x: Array) -> Array:
    """(x_1 - 1)^2 + sum_{i>1} i (2 x_i^2 - x_{i-1})^2: (m, d) -> (m,)."""
    chain = (2 * x[:, 1:] ** 2 - x[:, :-1]) ** 2
    return np.asarray((x[:, 0] - 1) ** 2 + chain @ np.arange(2.0, x.shape[1] + 1))


def sphere(x: Array) -> Array:
    """The sum of x^2: (m, d) -> (m,)."""
    return np.asarray((x**2).sum(axis=1))


def zakharov(x: Array) -> Array:
    """|x|^2 + s^2 + s^4, with s = sum_i i x_i / 2: (m, d) -> (m,)."""
    s = x @ np.arange(1, x.shape[1] + 1) / 2
    return np.asarray((x**2).sum(axis=1) + s**2 + s**4)


def powell(x: Array) -> Array:
    """Over fours (a, b, c, d) of variables, and so with 4 n of them: (m, 4 n) -> (m,).

    The sum of (a + 10 b)^2 + 5 (c - d)^2 + (b - 2 c)^4 + 10 (a - d)^4. The Hessian is singular
    at the minimiser.
    """
    a, b, c, d = (x[:, k::4] for k in range(4))
    terms = (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4
    return np.asarray(terms.sum(axis=1))


def zeros(dim: int) -> Points:
    """The origin: d -> (1, d)."""
    return ((0.0,) * dim,)


def ones(dim: int) -> Points:
    """(1, ..., 1): d -> (1, d)."""
    return ((1.0,) * dim,)


def styblinski_tang_minimisers(dim: int) -> Points:
    """The lowest root of 4 x^3 - 32 x + 5 in every variable: d -> (1, d)."""
    return ((-2.903534027771177,) * dim,)


def dixon_price_minimisers(dim: int) -> Points:
    """x_i = sqrt(x_{i-1} / 2) from x_1 = 1; nothing follows the last, which has either sign: d -> (2, d)."""
    x = tuple(2.0 ** (2.0 ** (1 - i) - 1) for i in range(1, dim + 1))
    return (x, (*x[:-1], -x[-1]))


def michalewicz_minimisers(dim: int) -> Points:
    """Each variable has its own term and minimises that: d -> (1, d)."""
    return (tuple(_lowest_of_michalewicz(i) for i in range(1, dim + 1)),)


@cache
def _lowest_of_michalewicz(i: int) -> float:
    """Where -sin x sin(u)^20, with u = i x^2 / pi, is lowest between 0 and pi.

    It vanishes at x = pi sqrt(k / i). Between two of these the logarithm of its size is concave: its slope
    cot x + 40 i x / pi cot u decreases, since that of x cot u has the sign of sin 2u - 4u. So there is one
    minimum between two zeros, and bisecting the slope finds it.
    """
    edges = np.pi * np.sqrt(np.arange(i + 1) / i)
    low, high = edges[:-1], edges[1:]
    for _ in range(60):
        x = (low + high) / 2
        falling = 1 / np.tan(x) + 40 * i * x / np.pi / np.tan(i * x**2 / np.pi) > 0
        low, high = np.where(falling, x, low), np.where(falling, high, x)
    return float(low[np.argmin(_michalewicz_terms(low, i))])
