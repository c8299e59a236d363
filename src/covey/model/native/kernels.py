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
| e      | noise variances, one for each point                          | (S, n)    |
| r      | residuals: observations less the mean                        | (S, n)    |
| chol   | factors; ``chol[s]`` read column-major is lower triangular   | (S, n, n) |
| alpha  | (K + diag e)^-1 r                                            | (S, n)    |

Every function works on one slice of the stack without the GIL, so that ``parallel`` can give each core
a slice. Row i of a result depends on row i of the stack alone, whatever the slicing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from covey.model.native.jit import compiled, dot, exp_minus
from covey.model.native.lapack import dpotrf, inverse, multiply_vector, solve_rows, solve_vector

JITTER = 1e-10
"""The relative diagonal that every factorisation starts from; it grows tenfold until one succeeds."""

_MAX_JITTER = 0.1


@compiled
def _squared_distances(z: Any, i: int, out: Any) -> None:
    """Out <- |z_i - z_j|^2 for the j after i."""
    out[:] = 0.0
    for k in range(z.shape[0]):
        here = z[k, i]
        rest = z[k, i + 1 :]
        for j in range(out.shape[0]):
            gap = here - rest[j]
            out[j] += gap * gap


@compiled
def _covariance(z: Any, variance: float, noise: Any, jitter: float, out: Any) -> None:
    """Matern 5/2 of the scaled points z (D, n): v (1 + r + r^2/3) exp(-r), r = sqrt(5) |z_i - z_j|.

    Only ``out[i, j]`` with j >= i is written: the lower triangle when read column-major.
    """
    for i in range(z.shape[1]):
        out[i, i] = variance + noise[i] + jitter
        # Slices that start at 0 let the compiler see that no index wraps around, and vectorise.
        row = out[i, i + 1 :]
        _squared_distances(z, i, row)
        for j in range(row.shape[0]):
            r = np.sqrt(5.0 * row[j])
            row[j] = variance * (1.0 + r + r * r / 3.0) * exp_minus(r)


@compiled
def _scaled(x: Any, weights: Any, out: Any) -> None:
    features, n = x.shape
    for k in range(features):
        for i in range(n):
            out[k, i] = x[k, i] * weights[k]


@compiled
def _factor(z: Any, variance: float, noise: Any, out: Any) -> float:
    """Cholesky of the covariance plus noise (n,), the diagonal growing until it succeeds.

    Returns what was added to the diagonal besides the noise, or -1 when there is no factor.
    """
    n = z.shape[1]
    lower = np.array([76], dtype=np.uint8)
    size = np.array([n], dtype=np.int32)
    info = np.ones(1, dtype=np.int32)
    jitter = JITTER
    while jitter <= _MAX_JITTER:
        _covariance(z, variance, noise, jitter * variance, out)
        dpotrf(lower.ctypes, size.ctypes, out.ctypes, size.ctypes, info.ctypes)
        if info[0] == 0:
            return jitter * variance
        jitter *= 10.0
    return -1.0


@compiled
def log_likelihood(x: Any, r: Any, w: Any, v: Any, e: Any, out: Any) -> None:
    """out[s] <- log N(r_s; 0, K_s + diag e_s), or -inf where no factor exists."""
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
            residual[i] = r[s, i]
        solve_vector(chol, residual, False)
        total = 0.5 * n * math.log(2.0 * math.pi)
        for i in range(n):
            total += 0.5 * residual[i] * residual[i] + math.log(chol[i, i])
        out[s] = -total


@compiled
def log_likelihood_gradient(
    x: Any, r: Any, w: Any, v: float, e: Any, alpha: Any, precision: Any, out: Any
) -> float:
    """The log-likelihood of one theta's residuals r (n,), and what its derivatives are made of.

    In out (D + 1,) those in the logarithms of the length-scales and of the variance: tr(A dK) / 2 each,
    A = alpha alpha' - (K + diag e)^-1. The others are made of alpha (n,) and precision (n,), the diagonal of
    that inverse: -alpha_i is the derivative in r_i, (alpha_i^2 - precision_i) / 2 the one in e_i.
    """
    features, n = x.shape
    z = np.empty((features, n))
    chol = np.empty((n, n))
    _scaled(x, w, z)
    out[:] = 0.0
    alpha[:] = 0.0
    precision[:] = 0.0
    if _factor(z, v, e, chol) < 0.0:
        return -np.inf
    for i in range(n):
        alpha[i] = r[i]
    solve_vector(chol, alpha, False)
    total = 0.5 * n * math.log(2.0 * math.pi) + 0.5 * dot(alpha, alpha)
    for i in range(n):
        total += math.log(chol[i, i])
    solve_vector(chol, alpha, True)
    inverse(chol)
    lengths = np.zeros((features, n))
    buffer = np.empty(n)
    signal = 0.0
    for i in range(n):
        precision[i] = chol[i, i]
        signal += 0.5 * v * (alpha[i] * alpha[i] - precision[i])
        row, rest, steep = chol[i, i + 1 :], alpha[i + 1 :], buffer[i + 1 :]
        _squared_distances(z, i, steep)
        for j in range(row.shape[0]):
            distance = np.sqrt(5.0 * steep[j])
            decay = v * exp_minus(distance) * (alpha[i] * rest[j] - row[j])
            steep[j] = decay * (1.0 + distance) * (5.0 / 3.0)
            row[j] = decay * (1.0 + distance + distance * distance / 3.0)
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


@compiled
def factorise(x: Any, w: Any, v: Any, e: Any, chol: Any, jitter: Any) -> None:
    """chol[s] <- factor of K_s + diag e_s + jitter_s I, where jitter_s is what it took to succeed.

    A scaled identity stands in where no factor exists, so that nothing dies.
    """
    features, n = x.shape
    z = np.empty((features, n))
    for s in range(w.shape[0]):
        _scaled(x, w[s], z)
        jitter[s] = _factor(z, v[s], e[s], chol[s])
        if jitter[s] < 0.0:
            jitter[s] = v[s]
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
            decay = variance * exp_minus(r)
            row[j] = decay * (1.0 + r + r * r / 3.0)
            steep[j] = decay * (1.0 + r) * (5.0 / 3.0)


@compiled
def covariances(x: Any, q: Any, w: Any, v: Any, out: Any) -> None:
    """Out (S, m, n) <- k_s(q_i, x_j)."""
    slope = np.empty((q.shape[0], x.shape[1]))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], out[s], slope)


@compiled
def predict(x: Any, q: Any, w: Any, v: Any, chol: Any, alpha: Any, mean: Any, variance: Any) -> None:
    """mean, variance (S, m) <- the posterior at q: k alpha and v - |L^-1 k|^2."""
    m, n = q.shape[0], x.shape[1]
    k = np.empty((m, n))
    slope = np.empty((m, n))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], k, slope)
        for i in range(m):
            mean[s, i] = dot(k[i], alpha[s])
        solve_rows(chol[s], k, False)
        for i in range(m):
            variance[s, i] = v[s] - dot(k[i], k[i])


@compiled
def _pull_back(x: Any, q: Any, weights: Any, coefficients: Any, out: Any) -> None:
    """Out (m, D) <- -sum_j coefficients_ij w_k^2 (q_ik - x_jk): any covariance gradient, contracted."""
    for i in range(q.shape[0]):
        total = np.sum(coefficients[i])
        for k in range(q.shape[1]):
            moved = dot(coefficients[i], x[k])
            out[i, k] = (moved - total * q[i, k]) * weights[k] * weights[k]


@compiled
def weigh(x: Any, q: Any, w: Any, v: Any, coefficients: Any, value: Any, gradient: Any) -> None:
    """Value (S, m) <- k_s(q_i, x) coefficients_s, and gradient (S, m, D) in q."""
    k = np.empty((q.shape[0], x.shape[1]))
    slope = np.empty((q.shape[0], x.shape[1]))
    for s in range(w.shape[0]):
        _cross(x, q, w[s], v[s], k, slope)
        for i in range(q.shape[0]):
            value[s, i] = dot(k[i], coefficients[s])
            for j in range(x.shape[1]):
                slope[i, j] *= coefficients[s, j]
        _pull_back(x, q, w[s], slope, gradient[s])


@compiled
def predict_gradient(
    x: Any,
    q: Any,
    w: Any,
    v: Any,
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
            mean[s, i] = dot(k[i], alpha[s])
        solve_rows(chol[s], k, False)
        for i in range(m):
            variance[s, i] = v[s] - dot(k[i], k[i])
        solve_rows(chol[s], k, True)
        for i in range(m):
            for j in range(n):
                k[i, j] *= -2.0 * slope[i, j]
                slope[i, j] *= alpha[s, j]
        _pull_back(x, q, w[s], slope, mean_gradient[s])
        _pull_back(x, q, w[s], k, variance_gradient[s])
