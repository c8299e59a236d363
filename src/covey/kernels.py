"""What is computed in compiled code? Covariances, factors, likelihoods and predictions of a stack.

Notation, used throughout the Gaussian process modules:

| symbol | meaning                                                      | shape     |
|--------|--------------------------------------------------------------|-----------|
| S      | number of theta vectors in the stack                         |           |
| n, m   | number of observed points, of query points                   |           |
| D      | number of features a point has                               |           |
| x      | observed points, feature-major                               | (D, n)    |
| q      | query points                                                 | (m, D)    |
| w      | inverse length-scales                                        | (S, D)    |
| v      | signal variances                                             | (S,)      |
| c      | constant means                                               | (S,)      |
| e      | noise variances                                              | (S,)      |
| chol   | factors; ``chol[s]`` read column-major is lower triangular   | (S, n, n) |
| alpha  | (K + e I)^-1 (y - c)                                         | (S, n)    |

Every function works on one slice of the stack without the GIL, so that ``parallel`` can give each core
a slice. Row i of a result depends on row i of the stack alone, whatever the slicing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from covey.lapack import dpotrf, dpotri, dtrsm, dtrsv

JITTER = 1e-10
"""The relative diagonal that every factorisation starts from; it grows tenfold until one succeeds."""

_MAX_JITTER = 0.1
_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SHIFT = 6755399441055744.0
"""1.5 * 2^52: adding it to a small double leaves the nearest integer in the low bits of the sum."""


def _compiled(function: Callable[..., Any], *relaxed: str) -> Any:
    """Compile lazily and keep the machine code on disk where a directory can be written.

    Array expressions and ``np.dot`` are left out of compiled code: they take seconds to compile.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": {"contract", *relaxed}, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no place for its cache: compile in each process instead
        return njit(**options)(function)


@intrinsic
def _bits(_context: Any, _value: Any) -> Any:
    """Read a float64 as the int64 with the same bits."""

    def generate(_c: Any, builder: Any, _s: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(_context: Any, _value: Any) -> Any:
    """Read an int64 as the float64 with the same bits."""

    def generate(_c: Any, builder: Any, _s: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(inline="always")
def _exp_minus(x: float) -> float:
    """exp(-x) for x >= 0 to the last bit or two, in operations that a compiler can vectorise.

    exp(-x) = 2^k exp(r) with |r| <= ln(2)/2, and a Taylor polynomial for exp(r). The C library's own
    ``exp`` is a call per element, which made it the larger half of a covariance matrix.
    """
    y = -min(x, 700.0)
    shifted = y * _LOG2E + _SHIFT
    k = shifted - _SHIFT
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return _from_bits(_bits(p) + (_bits(shifted) << 52))


def _dot_product(a: Any, b: Any) -> float:
    """Sum of the products; in any order, so that it can be vectorised."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


_dot = _compiled(_dot_product, "reassoc")


@_compiled
def _squared_distances(z: Any, i: int, out: Any) -> None:
    """Out <- |z_i - z_j|^2 for the j after i."""
    out[:] = 0.0
    for k in range(z.shape[0]):
        here = z[k, i]
        rest = z[k, i + 1 :]
        for j in range(out.shape[0]):
            gap = here - rest[j]
            out[j] += gap * gap


@_compiled
def _covariance(z: Any, variance: float, diagonal: float, out: Any) -> None:
    """Matern 5/2 of the scaled points z (D, n): v (1 + r + r^2/3) exp(-r), r = sqrt(5) |z_i - z_j|.

    Only ``out[i, j]`` with j >= i is written: the lower triangle when read column-major.
    """
    for i in range(z.shape[1]):
        out[i, i] = variance + diagonal
        # Slices that start at 0 let the compiler see that no index wraps around, and vectorise.
        row = out[i, i + 1 :]
        _squared_distances(z, i, row)
        for j in range(row.shape[0]):
            r = np.sqrt(5.0 * row[j])
            row[j] = variance * (1.0 + r + r * r / 3.0) * _exp_minus(r)


@_compiled
def _scaled(x: Any, weights: Any, out: Any) -> None:
    features, n = x.shape
    for k in range(features):
        for i in range(n):
            out[k, i] = x[k, i] * weights[k]


@_compiled
def _factor(z: Any, variance: float, noise: float, out: Any) -> float:
    """Cholesky of the covariance plus noise, the diagonal growing until it succeeds.

    Returns what was added to the diagonal, or -1 when there is no factor.
    """
    n = z.shape[1]
    lower = np.array([76], dtype=np.uint8)
    size = np.array([n], dtype=np.int32)
    info = np.ones(1, dtype=np.int32)
    jitter = JITTER
    while jitter <= _MAX_JITTER:
        _covariance(z, variance, noise + jitter * variance, out)
        dpotrf(lower.ctypes, size.ctypes, out.ctypes, size.ctypes, info.ctypes)
        if info[0] == 0:
            return noise + jitter * variance
        jitter *= 10.0
    return -1.0


@_compiled
def _solve_vector(chol: Any, vector: Any, transpose: bool) -> None:
    """Vector <- L^-1 vector, or L^-T vector, in place."""
    lower = np.array([76], dtype=np.uint8)
    plain = np.array([78], dtype=np.uint8)
    trans = np.array([84 if transpose else 78], dtype=np.uint8)
    size = np.array([chol.shape[0]], dtype=np.int32)
    one = np.ones(1, dtype=np.int32)
    dtrsv(
        lower.ctypes,
        trans.ctypes,
        plain.ctypes,
        size.ctypes,
        chol.ctypes,
        size.ctypes,
        vector.ctypes,
        one.ctypes,
    )


@_compiled
def _solve_rows(chol: Any, rows: Any, transpose: bool) -> None:
    """Each row b of rows (m, n) <- L^-1 b, or L^-T b, in place."""
    left = np.array([76], dtype=np.uint8)
    plain = np.array([78], dtype=np.uint8)
    trans = np.array([84 if transpose else 78], dtype=np.uint8)
    size = np.array([rows.shape[1]], dtype=np.int32)
    count = np.array([rows.shape[0]], dtype=np.int32)
    one = np.ones(1)
    dtrsm(
        left.ctypes,
        left.ctypes,
        trans.ctypes,
        plain.ctypes,
        size.ctypes,
        count.ctypes,
        one.ctypes,
        chol.ctypes,
        size.ctypes,
        rows.ctypes,
        size.ctypes,
    )


@_compiled
def log_likelihood(x: Any, y: Any, w: Any, v: Any, c: Any, e: Any, out: Any) -> None:
    """out[s] <- log N(y; c_s, K_s + e_s I), or -inf where no factor exists."""
    features, n = x.shape
    chol = np.empty((n, n))
    z = np.empty((features, n))
    residual = np.empty(n)
    for s in range(w.shape[0]):
        _scaled(x, w[s], z)
        if _factor(z, v[s], e[s], chol) < 0.0:
            out[s] = -np.inf
            continue
        for i in range(n):
            residual[i] = y[i] - c[s]
        _solve_vector(chol, residual, False)
        total = 0.5 * n * math.log(2.0 * math.pi)
        for i in range(n):
            total += 0.5 * residual[i] * residual[i] + math.log(chol[i, i])
        out[s] = -total


@_compiled
def _inverse(chol: Any) -> None:
    """The factor's triangle <- the same triangle of the inverse of the matrix."""
    lower = np.array([76], dtype=np.uint8)
    size = np.array([chol.shape[0]], dtype=np.int32)
    info = np.zeros(1, dtype=np.int32)
    dpotri(lower.ctypes, size.ctypes, chol.ctypes, size.ctypes, info.ctypes)


@_compiled
def log_likelihood_gradient(x: Any, y: Any, w: Any, v: float, c: float, e: float, out: Any) -> float:
    """The log-likelihood of one theta, and in out (D + 3,) its derivatives.

    They are taken in the logarithms of the length-scales, of the variance, in the mean, and in the
    logarithm of the noise: with A = alpha alpha' - (K + e I)^-1, each is tr(A dK) / 2.
    """
    features, n = x.shape
    z = np.empty((features, n))
    chol = np.empty((n, n))
    _scaled(x, w, z)
    out[:] = 0.0
    if _factor(z, v, e, chol) < 0.0:
        return -np.inf
    alpha = np.empty(n)
    for i in range(n):
        alpha[i] = y[i] - c
    _solve_vector(chol, alpha, False)
    total = 0.5 * n * math.log(2.0 * math.pi) + 0.5 * _dot(alpha, alpha)
    for i in range(n):
        total += math.log(chol[i, i])
    _solve_vector(chol, alpha, True)
    _inverse(chol)
    lengths = np.zeros((features, n))
    buffer = np.empty(n)
    signal = 0.0
    for i in range(n):
        diagonal = alpha[i] * alpha[i] - chol[i, i]
        signal += 0.5 * v * diagonal
        out[features + 1] += alpha[i]
        out[features + 2] += 0.5 * e * diagonal
        row, rest, steep = chol[i, i + 1 :], alpha[i + 1 :], buffer[i + 1 :]
        _squared_distances(z, i, steep)
        for j in range(row.shape[0]):
            r = np.sqrt(5.0 * steep[j])
            decay = v * _exp_minus(r) * (alpha[i] * rest[j] - row[j])
            steep[j] = decay * (1.0 + r) * (5.0 / 3.0)
            row[j] = decay * (1.0 + r + r * r / 3.0)
        signal += np.sum(row)
        for k in range(features):
            here, others, total_k = z[k, i], z[k, i + 1 :], lengths[k, i + 1 :]
            for j in range(row.shape[0]):
                gap = here - others[j]
                total_k[j] += steep[j] * gap * gap
    for k in range(features):
        out[k] = np.sum(lengths[k])
    out[features] = signal
    return -total


@_compiled
def factorise(x: Any, w: Any, v: Any, e: Any, chol: Any, diagonal: Any) -> None:
    """chol[s] <- factor of K_s + diagonal_s I, where diagonal_s is e_s and what it took to succeed.

    A scaled identity stands in where no factor exists, so that nothing dies.
    """
    features, n = x.shape
    z = np.empty((features, n))
    for s in range(w.shape[0]):
        _scaled(x, w[s], z)
        diagonal[s] = _factor(z, v[s], e[s], chol[s])
        if diagonal[s] < 0.0:
            diagonal[s] = v[s] + e[s]
            for i in range(n):
                for j in range(n):
                    chol[s, i, j] = np.sqrt(v[s] + diagonal[s]) if i == j else 0.0


@_compiled
def solve(chol: Any, rows: Any, transpose: bool) -> None:
    """rows[s] (S, m, n) <- each row solved against the factor of its own theta, in place."""
    for s in range(chol.shape[0]):
        _solve_rows(chol[s], rows[s], transpose)


@_compiled
def _cross(x: Any, q: Any, weights: Any, variance: float, value: Any, slope: Any) -> None:
    """Value (m, n) <- k(q_i, x_j); slope <- (5/3) v (1 + r) exp(-r), the factor of its gradient.

    d k / d q_ik = -slope_ij w_k^2 (q_ik - x_jk).
    """
    features, n = x.shape
    for i in range(q.shape[0]):
        row = value[i]
        steep = slope[i]
        for j in range(n):
            row[j] = 0.0
        for k in range(features):
            xk = x[k]
            qik = q[i, k]
            wk = weights[k]
            for j in range(n):
                gap = (qik - xk[j]) * wk
                row[j] += gap * gap
        for j in range(n):
            r = np.sqrt(5.0 * row[j])
            decay = variance * _exp_minus(r)
            row[j] = decay * (1.0 + r + r * r / 3.0)
            steep[j] = decay * (1.0 + r) * (5.0 / 3.0)


@_compiled
def covariances(x: Any, q: Any, w: Any, v: Any, out: Any) -> None:
    """Out (S, m, n) <- k_s(q_i, x_j)."""
    slope = np.empty((q.shape[0], x.shape[1]))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], out[s], slope)


@_compiled
def predict(x: Any, q: Any, w: Any, v: Any, c: Any, chol: Any, alpha: Any, mean: Any, variance: Any) -> None:
    """mean, variance (S, m) <- the posterior at q: c + k alpha and v - |L^-1 k|^2."""
    m, n = q.shape[0], x.shape[1]
    k = np.empty((m, n))
    slope = np.empty((m, n))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], k, slope)
        for i in range(m):
            mean[s, i] = c[s] + _dot(k[i], alpha[s])
        _solve_rows(chol[s], k, False)
        for i in range(m):
            variance[s, i] = v[s] - _dot(k[i], k[i])


@_compiled
def _pull_back(x: Any, q: Any, weights: Any, coefficients: Any, out: Any) -> None:
    """Out (m, D) <- -sum_j coefficients_ij w_k^2 (q_ik - x_jk): any covariance gradient, contracted."""
    for i in range(q.shape[0]):
        total = np.sum(coefficients[i])
        for k in range(q.shape[1]):
            moved = _dot(coefficients[i], x[k])
            out[i, k] = (moved - total * q[i, k]) * weights[k] * weights[k]


@_compiled
def weigh(x: Any, q: Any, w: Any, v: Any, coefficients: Any, value: Any, gradient: Any) -> None:
    """Value (S, m) <- k_s(q_i, x) coefficients_s, and gradient (S, m, D) in q."""
    k = np.empty((q.shape[0], x.shape[1]))
    slope = np.empty((q.shape[0], x.shape[1]))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], k, slope)
        for i in range(q.shape[0]):
            value[s, i] = _dot(k[i], coefficients[s])
            for j in range(x.shape[1]):
                slope[i, j] *= coefficients[s, j]
        _pull_back(x, q, w[s], slope, gradient[s])


@_compiled
def predict_gradient(
    x: Any,
    q: Any,
    w: Any,
    v: Any,
    c: Any,
    chol: Any,
    alpha: Any,
    mean: Any,
    variance: Any,
    mean_gradient: Any,
    variance_gradient: Any,
) -> None:
    """As ``predict``, and the gradients (S, m, D) in q of both."""
    m, n = q.shape[0], x.shape[1]
    k = np.empty((m, n))
    slope = np.empty((m, n))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], k, slope)
        for i in range(m):
            mean[s, i] = c[s] + _dot(k[i], alpha[s])
        _solve_rows(chol[s], k, False)
        for i in range(m):
            variance[s, i] = v[s] - _dot(k[i], k[i])
        _solve_rows(chol[s], k, True)
        for i in range(m):
            for j in range(n):
                k[i, j] *= -2.0 * slope[i, j]
                slope[i, j] *= alpha[s, j]
        _pull_back(x, q, w[s], slope, mean_gradient[s])
        _pull_back(x, q, w[s], k, variance_gradient[s])
