"""Functions of two to six variables with known answers: formula, domain and minimum of each.

Constants are those of Dixon and Szegö, Towards Global Optimisation 2 (1978), where they have the function.
Minima are computed to the digits of a float64; ``tests/test_functions.py`` cites what was published.
"""

from __future__ import annotations

import numpy as np

from covey.arrays import Array
from covey.bench.problems.interface import Problem


def branin(x: Array) -> Array:
    """(b - 5.1 a^2 / 4 pi^2 + 5 a / pi - 6)^2 + 10 (1 - 1 / 8 pi) cos a + 10, x = (a, b): (m, 2) -> (m,)."""
    a, b = x[:, 0], x[:, 1]
    valley = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return np.asarray(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def cosines(x: Array) -> Array:
    """1 - sum u^2 - 0.3 cos 3 pi u, with u = 1.6 x - 0.5: (m, 2) -> (m,)."""
    u = 1.6 * x - 0.5
    return np.asarray(1 - (u**2 - 0.3 * np.cos(3 * np.pi * u)).sum(axis=1))


def eggholder(x: Array) -> Array:
    """-b sin sqrt|a / 2 + b| - a sin sqrt|a - b|, with b = x2 + 47: (m, 2) -> (m,)."""
    a, b = x[:, 0], x[:, 1] + 47
    return np.asarray(-b * np.sin(np.sqrt(np.abs(a / 2 + b))) - a * np.sin(np.sqrt(np.abs(a - b))))


def six_hump_camel(x: Array) -> Array:
    """(4 - 2.1 a^2 + a^4 / 3) a^2 + a b + (4 b^2 - 4) b^2, x = (a, b): (m, 2) -> (m,)."""
    a, b = x[:, 0], x[:, 1]
    return np.asarray((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2)


def goldstein_price(x: Array) -> Array:
    """A polynomial of degree eight in two variables: (m, 2) -> (m,).

    With s = a + b and t = 2 a - 3 b it is (1 + (s + 1)^2 (3 s^2 - 14 s + 19)) (30 + t^2 (3 t^2 - 16 t + 18)).
    The first factor is at least 1, at s = -1 only, and the second at least 3, at t = 3 only.
    """
    s, t = x[:, 0] + x[:, 1], 2 * x[:, 0] - 3 * x[:, 1]
    first = 1 + (s + 1) ** 2 * (3 * s**2 - 14 * s + 19)
    return np.asarray(first * (30 + t**2 * (3 * t**2 - 16 * t + 18)))


def drop_wave(x: Array) -> Array:
    """-(1 + cos 12 r) / (r^2 / 2 + 2), with r = |x|: (m, 2) -> (m,)."""
    r = np.linalg.norm(x, axis=1)
    return np.asarray(-(1 + np.cos(12 * r)) / (r**2 / 2 + 2))


_HARTMANN3_A = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
# The last row begins with 0.03815. Later tables cut it to 0.0381 and no longer have the published minimiser.
_HARTMANN3_P = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381.5, 5743, 8828]]
)
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


def _hartmann(x: Array, A: Array, P: Array) -> Array:
    """-sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2): (m, d), (4, d), (4, d) -> (m,)."""
    inner = (A * (x[:, None, :] - P) ** 2).sum(axis=2)
    return np.asarray(-np.exp(-inner) @ np.array([1.0, 1.2, 3.0, 3.2]))


def hartmann3(x: Array) -> Array:
    """Four dips in a cube: (m, 3) -> (m,)."""
    return _hartmann(x, _HARTMANN3_A, _HARTMANN3_P)


def hartmann6(x: Array) -> Array:
    """Four dips in a cube: (m, 6) -> (m,)."""
    return _hartmann(x, _HARTMANN6_A, _HARTMANN6_P)


_SHEKEL_C = np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5]) / 10
# The seventh column is (5, 5, 3, 3). With (5, 3, 5, 3), as in later tables, the minimum is 3e-5 lower.
_SHEKEL_A = np.array(
    [
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 5, 1, 2, 3.6],
        [4, 1, 8, 6, 3, 2, 3, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
    ]
).T


def shekel(x: Array) -> Array:
    """-sum_i 1 / (|x - a_i|^2 + c_i), ten foxholes: (m, 4) -> (m,)."""
    inner = ((x[:, None, :] - _SHEKEL_A) ** 2).sum(axis=2)
    return np.asarray(-(1 / (inner + _SHEKEL_C)).sum(axis=1))


_CAMEL = (0.08984201310031806, -0.7126564030207396)
_HARTMANN3 = (0.1146143418950719, 0.5556488502790051, 0.8525469532210148)
_HARTMANN6 = (0.20168952, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730054)
_SHEKEL = (4.000746531592047, 4.000592934138532, 3.9996633980403223, 3.9995098005868076)
_BRANIN = ((-np.pi, 12.275), (np.pi, 2.275), (3 * np.pi, 2.475))
_CUBE = (0.0, 1.0)

CLASSICAL: tuple[Problem, ...] = (
    Problem("branin", branin, ((-5.0, 10.0), (0.0, 15.0)), 0.39788735772973816, _BRANIN),
    Problem("cosines", cosines, (_CUBE,) * 2, -1.7732143249, ((0.9961722, 0.9961722),)),
    Problem("hartmann6", hartmann6, (_CUBE,) * 6, -3.3223680114155147, (_HARTMANN6,), True),
    Problem("eggholder", eggholder, ((-512.0, 512.0),) * 2, -959.6406627208509, ((512.0, 404.2318058),)),
    Problem(
        "six-hump-camel",
        six_hump_camel,
        ((-3.0, 3.0), (-2.0, 2.0)),
        -1.0316284534898774,
        (_CAMEL, (-_CAMEL[0], -_CAMEL[1])),
        True,
    ),
    Problem("goldstein-price", goldstein_price, ((-2.0, 2.0),) * 2, 3.0, ((0.0, -1.0),), True),
    Problem("drop-wave", drop_wave, ((-5.12, 5.12),) * 2, -1.0, ((0.0, 0.0),), True),
    Problem("hartmann3", hartmann3, (_CUBE,) * 3, -3.862782147820756, (_HARTMANN3,), True),
    Problem("shekel", shekel, ((0.0, 10.0),) * 4, -10.536409816692043, (_SHEKEL,), True),
)
