"""Laplace approximation of p(theta | data): where walkers start when nothing is known.

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


@dataclass(frozen=True)
class Climbing:
    """How modes are found.

    Attributes:
        modes: climbs, from the best candidates; posteriors of theta rarely have more modes that matter.
        part: observations that a climb looks at; of more, a random part, and then ``refine`` steps on all.
        steps: of a climb on the part.
        refine: of a climb on all, which each cost n^3.
        close: a climb ends where a step gains less than this share of the height; modes only start walkers.
        wall: the height outside the prior's support: high, but not so high that a line search gives up after
            one touch.
    """

    modes: int
    part: int
    steps: int
    refine: int
    close: float
    wall: float


CLIMBING = Climbing(modes=3, part=100, steps=60, refine=15, close=1e-4, wall=100.0)


@dataclass(frozen=True)
class Proposal:
    """How the posterior is approximated around its modes.

    Attributes:
        apart: modes closer than this, in any coordinate, are one.
        matters: a mode that is lower than the highest by more, in logarithms, holds nothing.
        difference: the step of the differences that give the curvature.
        least_curvature: no direction is taken to be wider than this allows: a prior's flat tail has no
            curvature at all.
        inflation: of the widths; a proposal should rather be too wide.
        freedom: degrees of the Student t: a proposal needs heavier tails than its target.
        equal: the share of draws that modes share equally, since heights and widths are approximate.
    """

    apart: float
    matters: float
    difference: float
    least_curvature: float
    inflation: float
    freedom: float
    equal: float


PROPOSAL = Proposal(
    apart=0.1, matters=10.0, difference=1e-3, least_curvature=0.1, inflation=1.1, freedom=5.0, equal=0.2
)


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
    part = data.part(rng.permutation(len(data.y))[: CLIMBING.part]) if len(data.y) > CLIMBING.part else data
    order = np.argsort(-log_posterior(part, candidates))
    climbs = [climb(part, candidates[k], CLIMBING.steps) for k in order[: CLIMBING.modes]]
    modes = _distinct(part, np.stack([mode for mode, _ in climbs]))
    if part is not data:  # much data leaves one mode, and each step on it is dear
        climbs.append(climb(data, modes[0], CLIMBING.refine))
        modes = climbs[-1][0][None]
    roots = [_root(data, mode) for mode in modes]
    shares = _shares(data, modes, roots)
    chosen = rng.choice(len(modes), size=size, p=shares)
    tail = np.sqrt(PROPOSAL.freedom / rng.chisquare(PROPOSAL.freedom, size=(size, 1)))
    noise = rng.normal(size=(size, data.parameters)) * tail
    drawn = np.stack([modes[k] + roots[k] @ z for k, z in zip(chosen, noise, strict=True)])
    drawn = np.clip(drawn, -BOUND + 1, BOUND - 1)
    evaluations = len(candidates) + sum(count for _, count in climbs) + 2 * modes.size
    return Approximation(drawn, _log_mixture(drawn, modes, roots, shares), evaluations)


def climb(data: Data, position: Array, steps: int) -> tuple[Array, int]:
    """The mode that L-BFGS-B reaches from a position, and the evaluations it took."""
    from scipy.optimize import minimize

    height = float(log_posterior(data, position[None])[0])
    wall = CLIMBING.wall + 2 * abs(height) if np.isfinite(height) else 1e25

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
        options={"maxiter": steps, "ftol": CLIMBING.close},
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
        apart = all(np.abs(modes[k] - modes[other]).max() > PROPOSAL.apart for other in kept)
        if apart and (not kept or height[k] > height[kept[0]] - PROPOSAL.matters):
            kept.append(int(k))
    return modes[kept]


def _root(data: Data, mode: Array) -> Array:
    """A square root of the covariance at a mode: the inverse of the curvature, by differences."""
    step = PROPOSAL.difference
    columns = [
        (log_posterior_gradient(data, mode - e)[1] - log_posterior_gradient(data, mode + e)[1]) / (2 * step)
        for e in step * np.eye(len(mode))
    ]
    curvature = np.stack(columns)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return np.asarray(PROPOSAL.inflation * vectors / np.sqrt(np.maximum(values, PROPOSAL.least_curvature)))


def _shares(data: Data, modes: Array, roots: list[Array]) -> Array:
    """How much of the posterior each mode holds by its height and width; a fifth is shared equally."""
    evidence = log_posterior(data, modes) + np.array([np.linalg.slogdet(root)[1] for root in roots])
    weights = np.exp(evidence - evidence.max())
    return np.asarray((1 - PROPOSAL.equal) * weights / weights.sum() + PROPOSAL.equal / len(modes))


def _log_mixture(drawn: Array, modes: Array, roots: list[Array], shares: Array) -> Array:
    """Log-density (size,) of the mixture of Student t distributions, up to a constant."""
    logs: list[NDArray[np.float64]] = []
    for mode, root, share in zip(modes, roots, shares, strict=True):
        z = np.linalg.solve(root, (drawn - mode).T)
        kernel = -0.5 * (PROPOSAL.freedom + len(z)) * np.log1p((z**2).sum(axis=0) / PROPOSAL.freedom)
        logs.append(np.log(share) + kernel - np.linalg.slogdet(root)[1])
    return np.asarray(np.logaddexp.reduce(np.stack(logs), axis=0))
