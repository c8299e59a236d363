"""Log-likelihood of thetas, and its gradient; the notation is that of ``covariance``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from covey.model.native.covariance import factor, scaled, squared_distances
from covey.model.native.jit import compiled, dot, exp_minus
from covey.model.native.lapack import inverse, solve_vector


@compiled
def log_likelihood(x: Any, r: Any, w: Any, v: Any, e: Any, out: Any) -> None:
    """out[s] <- log N(r_s; 0, K_s + diag e_s), or -inf where no factor exists."""
    features, n = x.shape
    chol = np.empty((n, n))
    z = np.empty((features, n))
    residual = np.empty(n)
    for s in range(w.shape[0]):
        scaled(x, w[s], z)
        if factor(z, v[s], e[s], chol) < 0.0:
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
    scaled(x, w, z)
    out[:] = 0.0
    alpha[:] = 0.0
    precision[:] = 0.0
    if factor(z, v, e, chol) < 0.0:
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
        squared_distances(z, i, steep)
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
