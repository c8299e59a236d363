"""Predictions of a stack, with gradients in the points; the notation is that of ``covariance``."""

from __future__ import annotations

from typing import Any

import numpy as np

from covey.model.native.covariance import cross
from covey.model.native.jit import compiled, dot
from covey.model.native.lapack import solve_rows


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
        cross(x, q, w[s], v[s], k, slope)
        for i in range(q.shape[0]):
            value[s, i] = dot(k[i], coefficients[s])
            for j in range(x.shape[1]):
                slope[i, j] *= coefficients[s, j]
        _pull_back(x, q, w[s], slope, gradient[s])


@compiled
def predict(
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
    """mean, variance (S, m) <- the posterior at q: k alpha and v - |L^-1 k|^2.

    Also the gradients in q (S, m, D), where there is room for them: in arrays (S, 0, 0) there is not.
    """
    m, n = q.shape[0], x.shape[1]
    k = np.empty((m, n))
    slope = np.empty((m, n))
    for s in range(w.shape[0]):
        cross(x, q, w[s], v[s], k, slope)
        for i in range(m):
            mean[s, i] = dot(k[i], alpha[s])
        solve_rows(chol[s], k, False)
        for i in range(m):
            variance[s, i] = v[s] - dot(k[i], k[i])
        if mean_gradient.shape[1] == 0:
            continue
        # d variance = -2 k' (K + diag e)^-1 dk: one more solve, then both gradients are sums over n.
        solve_rows(chol[s], k, True)
        for i in range(m):
            for j in range(n):
                k[i, j] *= -2.0 * slope[i, j]
                slope[i, j] *= alpha[s, j]
        _pull_back(x, q, w[s], slope, mean_gradient[s])
        _pull_back(x, q, w[s], k, variance_gradient[s])
