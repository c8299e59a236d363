"""How is a whole function drawn from a posterior? Pathwise: a prior draw plus the data's correction.

With random Fourier features phi of the Matern 5/2 prior (a Student-t spectrum with 5 degrees of freedom),

    g(x) = phi(x)' b + k(x, X) (K + diag e)^-1 (r - phi(X)' b - noise),

with r the observations less the mean c, which is added in the end. It is differentiable, cheap at many
points, and exact at the data (Wilson et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covey.arrays import Array
from covey.model.gp import GPStack, Prediction
from covey.model.native import kernels
from covey.model.theta import Thetas

FREQUENCIES = 256
"""Each gives a cosine and a sine."""


@dataclass(frozen=True)
class PathStack:
    """One drawn function per theta. It predicts with a standard deviation of 0.

    Attributes:
        x: features of the points conditioned on, feature-major (D, n).
        weights: inverse length-scales (S, D).
        thetas: the posterior's.
        correction: what the data adds to the prior draw, as weights of k(x, X) (S, n).
        frequencies: angular frequencies of the features (S, D, F).
        cosines, sines: weights of the features (S, F).
        best: as in the posterior drawn from (S, 1).
    """

    x: Array
    weights: Array
    thetas: Thetas
    correction: Array
    frequencies: Array
    cosines: Array
    sines: Array
    best: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """The drawn functions' values (S, m) at points (m, D), and zeros."""
        prior = _features(points @ self.frequencies, self.cosines, self.sines)
        k = np.empty((len(self.thetas), len(points), self.x.shape[1]))
        kernels.covariances(self.x, points, self.weights, self.thetas.variance, k)
        value = self.thetas.mean[:, None] + (prior + (k @ self.correction[..., None])[..., 0])
        return value, np.zeros_like(value)

    def predict_gradient(self, points: Array) -> Prediction:
        """As ``predict``, with gradients in the points."""
        phase = points @ self.frequencies
        prior = _features(phase, self.cosines, self.sines)
        turn = np.cos(phase) * self.sines[:, None] - np.sin(phase) * self.cosines[:, None]
        shape = (len(self.thetas), len(points))
        correction, slope = np.empty(shape), np.empty((*shape, points.shape[1]))
        variance = self.thetas.variance
        kernels.weigh(self.x, points, self.weights, variance, self.correction, correction, slope)
        value = self.thetas.mean[:, None] + (prior + correction)
        gradient = turn @ self.frequencies.transpose(0, 2, 1) + slope
        return Prediction(value, np.zeros_like(value), gradient, np.zeros_like(gradient))


def draw_paths(stack: GPStack, rng: np.random.Generator) -> PathStack:
    """Draw one function from each posterior of the stack."""
    t = stack.thetas
    count, (features, n) = len(t), stack.x.shape
    # Matern 5/2: a normal over the square root of a chi-square with 5 degrees of freedom, over it.
    tail = np.sqrt(5.0 / rng.chisquare(5, (count, 1, FREQUENCIES)))
    frequencies = rng.normal(size=(count, features, FREQUENCIES)) * tail / t.length_scale[..., None]
    weights = rng.normal(size=(2, count, FREQUENCIES)) * np.sqrt(t.variance / FREQUENCIES)[:, None]
    prior = _features(stack.x.T @ frequencies, weights[0], weights[1])
    noise = rng.normal(size=(count, n)) * np.sqrt(stack.noise + stack.jitter[:, None])
    drawn = np.ascontiguousarray(prior + noise)
    kernels.solve(stack.chol, drawn[:, None, :], False)
    kernels.solve(stack.chol, drawn[:, None, :], True)
    return PathStack(
        stack.x,
        1.0 / t.length_scale,
        t,
        stack.alpha - drawn,
        frequencies,
        weights[0],
        weights[1],
        stack.best,
    )


def _features(phase: Array, cosines: Array, sines: Array) -> Array:
    """The prior draw (S, m): weighted cosines and sines of the phases (S, m, F)."""
    drawn = np.cos(phase) @ cosines[..., None] + np.sin(phase) @ sines[..., None]
    return np.asarray(drawn[..., 0])
