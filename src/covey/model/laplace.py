"""Where do walkers start when nothing is known? Near the modes of p(theta | data), as wide as those are.

A few modes are found from the best of many candidates, on a part of the data when there is much of it, and
refined on the whole. The mixture of Student t distributions that fit them (Laplace's approximation, with
heavier tails) is a proposal: its draws come with its log-density, so that they can be weighed against the
posterior itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.log_posterior import BOUND, Data, log_posterior, log_posterior_gradient

_MODES = 3
_PART = 100
_LEAST_CURVATURE = 0.1
"""No direction is taken to be wider than this allows: a prior's flat tail has no curvature at all."""

_INFLATION = 1.1
_FREEDOM = 5.0
"""Degrees of freedom: a proposal needs heavier tails than its target."""

_CLOSE = 1e-4
"""A climb ends where a step gains less than this share of the height: what it is for bears as much."""

_WALL = 100.0
"""Outside the prior's support: high, but not so high that a line search gives up after one touch."""


@dataclass(frozen=True)
class Approximation:
    """Draws that resemble the posterior.

    Attributes:
        position: the draws (size, parameters).
        log_density: of the distribution they were drawn from, up to a constant (size,).
        evaluations: of the posterior's density, that it took to find.
    """

    position: Array
    log_density: Array
    evaluations: int


def approximate(data: Data, candidates: Array, size: int, rng: np.random.Generator) -> Approximation:
    """Draw from the mixture of Laplace approximations of p(theta | data).

    Args:
        data: at least one observation.
        candidates: positions to look for modes from (k, parameters).
        size: draws wanted.
        rng: source of all randomness.
    """
    part = data.part(rng.permutation(len(data.y))[:_PART]) if len(data.y) > _PART else data
    order = np.argsort(-log_posterior(part, candidates))
    climbs = [climb(part, candidates[k], 60) for k in order[:_MODES]]
    modes = _distinct(part, np.stack([mode for mode, _ in climbs]))
    if part is not data:  # much data leaves one mode, and each step on it is dear
        climbs.append(climb(data, modes[0], 15))
        modes = climbs[-1][0][None]
    roots = [_root(data, mode) for mode in modes]
    shares = _shares(data, modes, roots)
    chosen = rng.choice(len(modes), size=size, p=shares)
    tail = np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, size=(size, 1)))
    noise = rng.normal(size=(size, data.parameters)) * tail
    drawn = np.stack([modes[k] + roots[k] @ z for k, z in zip(chosen, noise, strict=True)])
    drawn = np.clip(drawn, -BOUND + 1, BOUND - 1)
    evaluations = len(candidates) + sum(count for _, count in climbs) + 2 * modes.size
    return Approximation(drawn, _log_mixture(drawn, modes, roots, shares), evaluations)


def climb(data: Data, position: Array, steps: int) -> tuple[Array, int]:
    """The mode that L-BFGS-B reaches from a position, and the evaluations it took."""
    from scipy.optimize import minimize

    height = float(log_posterior(data, position[None])[0])
    wall = _WALL + 2 * abs(height) if np.isfinite(height) else 1e25

    def downhill(at: Array) -> tuple[float, Array]:
        value, gradient = log_posterior_gradient(data, at)
        return (-value, -gradient) if np.isfinite(value) else (wall, gradient)

    bounds = [(-BOUND + 1, BOUND - 1)] * len(position)
    result = minimize(
        downhill,
        position,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": _CLOSE},
    )
    return np.asarray(result.x), int(result.nfev)


def highest_mode(data: Data, candidates: Array, climbs: int, steps: int) -> Array:
    """The highest of the modes (parameters,) reached from the best few of the candidates (k, parameters)."""
    best = np.argsort(-log_posterior(data, candidates))[:climbs]
    modes = np.stack([climb(data, candidates[k], steps)[0] for k in best])
    return np.asarray(modes[np.argmax(log_posterior(data, modes))])


def _distinct(data: Data, modes: Array) -> Array:
    """The modes that differ and matter, the highest first."""
    height = log_posterior(data, modes)
    kept: list[int] = []
    for k in np.argsort(-height):
        apart = all(np.abs(modes[k] - modes[other]).max() > 0.1 for other in kept)
        if apart and (not kept or height[k] > height[kept[0]] - 10):
            kept.append(int(k))
    return modes[kept]


def _root(data: Data, mode: Array) -> Array:
    """A square root of the covariance at a mode: the inverse of the curvature, by differences."""
    step = 1e-3
    columns = [
        (log_posterior_gradient(data, mode - e)[1] - log_posterior_gradient(data, mode + e)[1]) / (2 * step)
        for e in step * np.eye(len(mode))
    ]
    curvature = np.stack(columns)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return np.asarray(_INFLATION * vectors / np.sqrt(np.maximum(values, _LEAST_CURVATURE)))


def _shares(data: Data, modes: Array, roots: list[Array]) -> Array:
    """How much of the posterior each mode holds by its height and width; a fifth is shared equally."""
    evidence = log_posterior(data, modes) + np.array([np.linalg.slogdet(root)[1] for root in roots])
    weights = np.exp(evidence - evidence.max())
    return np.asarray(0.8 * weights / weights.sum() + 0.2 / len(modes))


def _log_mixture(drawn: Array, modes: Array, roots: list[Array], shares: Array) -> Array:
    """Log-density (size,) of the mixture of Student t distributions, up to a constant."""
    logs: list[NDArray[np.float64]] = []
    for mode, root, share in zip(modes, roots, shares, strict=True):
        z = np.linalg.solve(root, (drawn - mode).T)
        kernel = -0.5 * (_FREEDOM + len(z)) * np.log1p((z**2).sum(axis=0) / _FREEDOM)
        logs.append(np.log(share) + kernel - np.linalg.slogdet(root)[1])
    return np.asarray(np.logaddexp.reduce(np.stack(logs), axis=0))
