"""Paths: whole functions drawn from a posterior, each a prior draw plus the data's correction.

With random Fourier features phi of the Matern 5/2 prior (a Student-t spectrum with 5 degrees of freedom),

    g(x) = phi(x)' b + k(x, X) (K + diag e)^-1 (r - phi(X)' b - noise),

with r the observations less the mean c, which is added in the end. It is differentiable, cheap at many
points, and exact at the data (Wilson et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covey.arrays import Array
from covey.model.native import covariance, prediction
from covey.model.surrogate import Prediction
from covey.model.theta import Thetas

FREQUENCIES = 256
"""Each gives a cosine and a sine."""


@dataclass(frozen=True)
class Waves:
    """A draw from the prior for each theta, as a sum of F cosines and sines.

    Attributes:
        frequencies: angular ones (S, D, F).
        cosines, sines: their weights (S, F).
    """

    frequencies: Array
    cosines: Array
    sines: Array

    def value(self, points: Array) -> Array:
        """The sums (S, m) at points (m, D)."""
        return self._sum(points @ self.frequencies)

    def value_and_gradient(self, points: Array) -> tuple[Array, Array]:
        """The sums (S, m) and their gradients (S, m, D)."""
        phase = points @ self.frequencies
        turn = np.cos(phase) * self.sines[:, None] - np.sin(phase) * self.cosines[:, None]
        return self._sum(phase), turn @ self.frequencies.transpose(0, 2, 1)

    def _sum(self, phase: Array) -> Array:
        drawn = np.cos(phase) @ self.cosines[..., None] + np.sin(phase) @ self.sines[..., None]
        return np.asarray(drawn[..., 0])


def draw_waves(thetas: Thetas, rng: np.random.Generator) -> Waves:
    """A draw from the prior of each theta."""
    count, features = thetas.length_scale.shape
    # Matern 5/2: a normal over the square root of a chi-square with 5 degrees of freedom, over it.
    tail = np.sqrt(5.0 / rng.chisquare(5, (count, 1, FREQUENCIES)))
    frequencies = rng.normal(size=(count, features, FREQUENCIES)) * tail / thetas.length_scale[..., None]
    amplitude = np.sqrt(thetas.variance / FREQUENCIES)[:, None]
    cosines, sines = rng.normal(size=(2, count, FREQUENCIES)) * amplitude
    return Waves(frequencies, cosines, sines)


@dataclass(frozen=True)
class PathStack:
    """One drawn function per theta. It predicts with a standard deviation of 0.

    Attributes:
        x: features of the points conditioned on, feature-major (D, n).
        thetas: the posterior's.
        waves: the prior draws.
        correction: what the data add to them, as weights of k(x, X) (S, n).
        best: as in the posterior drawn from (S, 1).
    """

    x: Array
    thetas: Thetas
    waves: Waves
    correction: Array
    best: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """The drawn functions' values (S, m) at points (m, D), and zeros."""
        k = np.empty((len(self.thetas), len(points), self.x.shape[1]))
        covariance.covariances(self.x, points, self.thetas.weights, self.thetas.variance, k)
        correction = (k @ self.correction[..., None])[..., 0]
        value = self.thetas.mean[:, None] + (self.waves.value(points) + correction)
        return value, np.zeros_like(value)

    def predict_gradient(self, points: Array) -> Prediction:
        """As ``predict``, with gradients in the points."""
        t = self.thetas
        prior, slope = self.waves.value_and_gradient(points)
        value, gradient = np.empty_like(prior), np.empty_like(slope)
        prediction.weigh(self.x, points, self.thetas.weights, t.variance, self.correction, value, gradient)
        total = t.mean[:, None] + (prior + value)
        return Prediction(total, np.zeros_like(total), slope + gradient, np.zeros_like(slope))
