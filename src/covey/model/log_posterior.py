"""Log posterior density of theta given the data, for many thetas at once.

A theta is a position in an unconstrained space: log length-scales, log variance, mean and, where they are
learned, log noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.native import likelihood
from covey.model.native.threads import in_slices
from covey.model.priors import Prior
from covey.model.theta import Thetas

BOUND = 20.0
"""Positions stay within +-20: outside, covariances degenerate in float64."""


@dataclass(frozen=True)
class Data:
    """What theta is inferred from.

    Attributes:
        x: features (n, D).
        y: standardised outputs (n,).
        owner: the length-scale that each feature has (D,).
        noise: the noise variance in standardised units; None where it is learned.
        prior: on the parts of theta.
    """

    x: Array
    y: Array
    owner: NDArray[np.intp]
    noise: float | None
    prior: Prior

    @property
    def dimensions(self) -> int:
        return int(self.owner[-1]) + 1

    @property
    def parameters(self) -> int:
        """The length of theta."""
        return self.dimensions + 2 + (self.noise is None)

    def part(self, index: NDArray[np.intp]) -> Data:
        """The same, of some of the observations."""
        return replace(self, x=self.x[index], y=self.y[index])

    def grown(self, points: Array, values: Array) -> Data:
        """The same with further observations, features (k, D) and standardised outputs (k,)."""
        return replace(self, x=np.concatenate([self.x, points]), y=np.append(self.y, values))

    def thetas(self, position: Array) -> Thetas:
        """The thetas at walker positions (S, parameters)."""
        d = self.dimensions
        learned = self.noise is None
        noise = np.exp(position[:, d + 2]) if learned else np.full(len(position), self.noise)
        return Thetas(
            np.exp(position[:, :d])[:, self.owner],
            np.exp(position[:, d]),
            position[:, d + 1].copy(),
            noise,
        )


def log_prior(data: Data, position: Array) -> Array:
    """Log prior density (S,) of walker positions, with the Jacobian of the logarithms."""
    d, prior = data.dimensions, data.prior
    logs = position[:, :d]
    total: Array = (prior.length_scale.log_density(np.exp(logs)) + logs).sum(axis=1)
    total += prior.variance.log_density(np.exp(position[:, d])) + position[:, d]
    total += prior.mean.log_density(position[:, d + 1])
    if data.noise is None:
        total += prior.noise.log_density(np.exp(position[:, d + 2])) + position[:, d + 2]
    return total


def log_likelihood(data: Data, thetas: Thetas) -> Array:
    """Log marginal likelihood (S,) of the outputs, in one compiled pass on all cores."""
    out = np.empty(len(thetas))
    x, weights = np.ascontiguousarray(data.x.T), thetas.weights
    residual, noise = thetas.seen(data.y)

    def work(part: slice) -> None:
        likelihood.log_likelihood(
            x, residual[part], weights[part], thetas.variance[part], noise[part], out[part]
        )

    in_slices(work, len(thetas), 1 + 4000 // max(1, len(data.y) ** 2))
    return out


def log_posterior(data: Data, position: Array) -> Array:
    """Unnormalised log posterior density (S,) of walker positions; -inf outside the support."""
    inside = (np.abs(position) < BOUND).all(axis=1)
    total = np.full(len(position), -np.inf)
    total[inside] = log_prior(data, position[inside])
    alive = np.isfinite(total)
    if alive.any():
        total[alive] += log_likelihood(data, data.thetas(position[alive]))
    return np.asarray(np.nan_to_num(total, nan=-np.inf, posinf=-np.inf, neginf=-np.inf))


def draw_prior(data: Data, rng: np.random.Generator, size: int) -> Array:
    """Walker positions (size, parameters) drawn from the prior."""
    prior, d = data.prior, data.dimensions
    tiny = np.finfo(float).tiny
    columns = [np.log(prior.length_scale.draw(rng, size) + tiny) for _ in range(d)]
    columns.append(np.log(prior.variance.draw(rng, size) + tiny))
    columns.append(prior.mean.draw(rng, size))
    if data.noise is None:
        columns.append(np.log(prior.noise.draw(rng, size) + tiny))
    return np.asarray(np.clip(np.stack(columns, axis=1), 1 - BOUND, BOUND - 1))


def log_posterior_gradient(data: Data, position: Array) -> tuple[float, Array]:
    """The log posterior density at one position (parameters,), and its gradient."""
    value, gradient = _log_likelihood_gradient(data, data.thetas(position[None]))
    step = 1e-5 * np.eye(data.parameters)
    around = log_prior(data, np.concatenate([position + step, position - step, position[None]]))
    up, down, here = np.split(around, [data.parameters, 2 * data.parameters])
    with np.errstate(invalid="ignore"):
        slope = (up - down) / 2e-5
    total = value + float(here[0])
    if not np.isfinite(total):
        return -np.inf, np.zeros(data.parameters)
    return total, gradient + np.where(np.isfinite(slope), slope, 0.0)


def _log_likelihood_gradient(data: Data, theta: Thetas) -> tuple[float, Array]:
    """The log-likelihood of a stack of one, and its gradient in the position (parameters,)."""
    n, features = data.x.shape
    raw, alpha, precision = np.empty(features + 1), np.empty(n), np.empty(n)
    residual, noise = (part[0] for part in theta.seen(data.y))
    value = likelihood.log_likelihood_gradient(
        np.ascontiguousarray(data.x.T),
        residual,
        theta.weights[0],
        theta.variance[0],
        noise,
        alpha,
        precision,
        raw,
    )
    gradient = np.zeros(data.parameters)
    np.add.at(gradient, data.owner, raw[:features])
    gradient[data.dimensions] = raw[features]
    gradient[data.dimensions + 1] = np.sum(alpha)
    if data.noise is None:
        gradient[data.dimensions + 2] = np.sum(noise * (alpha**2 - precision)) / 2
    return value, gradient
