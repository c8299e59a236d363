"""Covariances and their factors, for a slice of a stack.

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
| e      | noise variances, one for each point                          | (S, n)    |
| r      | residuals: observations less the mean                        | (S, n)    |
| chol   | factors; ``chol[s]`` read column-major is lower triangular   | (S, n, n) |
| alpha  | (K + diag e)^-1 r                                            | (S, n)    |

Every function works on one slice of the stack without the GIL, so that ``threads`` can give each core
a slice. Row i of a result depends on row i of the stack alone, whatever the slicing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.model.native.jit import compiled, exp_minus
from covey.model.native.lapack import LOWER, dpotrf, multiply_vector, solve_rows

NUGGET = 1e-10
"""The relative diagonal that every factorisation starts from; it grows tenfold until one succeeds."""

_MOST = 0.1
"""The relative nugget beyond which a factor would describe another covariance."""


@compiled
def squared_distances(z: Any, i: int, out: Any) -> None:
    """Out <- |z_i - z_j|^2 for the j after i."""
    out[:] = 0.0
    for k in range(z.shape[0]):
        here = z[k, i]
        rest = z[k, i + 1 :]
        for j in range(out.shape[0]):
            gap = here - rest[j]
            out[j] += gap * gap


@compiled
def _covariance(z: Any, variance: float, noise: Any, nugget: float, out: Any) -> None:
    """Matern 5/2 of the scaled points z (D, n): v (1 + r + r^2/3) exp(-r), r = sqrt(5) |z_i - z_j|.

    Only ``out[i, j]`` with j >= i is written: the lower triangle when read column-major.
    """
    for i in range(z.shape[1]):
        out[i, i] = variance + noise[i] + nugget
        # Slices that start at 0 let the compiler see that no index wraps around, and vectorise.
        row = out[i, i + 1 :]
        squared_distances(z, i, row)
        for j in range(row.shape[0]):
            r = np.sqrt(5.0 * row[j])
            row[j] = variance * (1.0 + r + r * r / 3.0) * exp_minus(r)


@compiled
def scaled(x: Any, weights: Any, out: Any) -> None:
    """Out (D, n) <- x in units of length-scales."""
    features, n = x.shape
    for k in range(features):
        for i in range(n):
            out[k, i] = x[k, i] * weights[k]


@compiled
def factor(z: Any, variance: float, noise: Any, out: Any) -> float:
    """Cholesky of the covariance plus noise (n,), the diagonal growing until it succeeds.

    Returns what was added to the diagonal besides the noise, or -1 when there is no factor.
    """
    n = z.shape[1]
    lower = np.array([LOWER], dtype=np.uint8)
    size = np.array([n], dtype=np.int32)
    info = np.ones(1, dtype=np.int32)
    nugget = NUGGET
    while nugget <= _MOST:
        _covariance(z, variance, noise, nugget * variance, out)
        dpotrf(lower.ctypes, size.ctypes, out.ctypes, size.ctypes, info.ctypes)
        if info[0] == 0:
            return nugget * variance
        nugget *= 10.0
    return -1.0


@compiled
def factorise(x: Any, w: Any, v: Any, e: Any, chol: Any, nugget: Any) -> None:
    """chol[s] <- factor of K_s + diag e_s + nugget_s I, where nugget_s is what it took to succeed.

    A scaled identity stands in where no factor exists, so that nothing dies.
    """
    features, n = x.shape
    z = np.empty((features, n))
    for s in range(w.shape[0]):
        scaled(x, w[s], z)
        nugget[s] = factor(z, v[s], e[s], chol[s])
        if nugget[s] < 0.0:
            nugget[s] = v[s]
            for i in range(n):
                for j in range(n):
                    chol[s, i, j] = np.sqrt(2.0 * v[s] + e[s, i]) if i == j else 0.0


@compiled
def solve(chol: Any, rows: Any, transpose: bool) -> None:
    """rows[s] (S, m, n) <- each row solved against the factor of its own theta, in place."""
    for s in range(chol.shape[0]):
        solve_rows(chol[s], rows[s], transpose)


@compiled
def multiply(chol: Any, vectors: Any, transpose: bool) -> None:
    """vectors[s] (S, n) <- L_s vectors[s], or L_s^T vectors[s], in place."""
    for s in range(chol.shape[0]):
        multiply_vector(chol[s], vectors[s], transpose)


@compiled
def cross(x: Any, q: Any, weights: Any, variance: float, value: Any, slope: Any) -> None:
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
            decay = variance * exp_minus(r)
            row[j] = decay * (1.0 + r + r * r / 3.0)
            steep[j] = decay * (1.0 + r) * (5.0 / 3.0)


@compiled
def covariances(x: Any, q: Any, w: Any, v: Any, out: Any) -> None:
    """Out (S, m, n) <- k_s(q_i, x_j)."""
    slope = np.empty((q.shape[0], x.shape[1]))
    for s in range(w.shape[0]):
        cross(x, q, w[s], v[s], out[s], slope)
