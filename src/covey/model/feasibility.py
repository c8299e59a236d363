"""Feasibility: the probability that an evaluation succeeds, learned from what succeeded and what failed.

A failure says nothing about the objective's values. Entered as a bad one, a lost machine would be an outlier
beside the best point and make everything look like noise; left out, a region that always fails would be
tried again and again. So whether a point succeeds is regressed on its own, by a Gaussian process through
labels 1 and 0 with the most probable theta: failures at random are its noise, those of a region its signal.

- The acquisition function is multiplied by the probability of success (Gardner et al. 2014).
- Failures that the other labels foretell stand in the surrogate at the worst value seen; surprises do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.distributions import LogNormal
from covey.model.gp import GPStack, fit
from covey.model.laplace import highest_mode
from covey.model.log_posterior import Data, draw_prior
from covey.model.normal import log_below, log_below_slope


@dataclass(frozen=True)
class Labels:
    """How labels are regressed.

    Attributes:
        noise: prior of their noise variance: some failures have no reason in the parameters, and a label
            without noise explains any.
        doubt: a failure is foretold where the others give success less than this chance.
        draws: from the prior, to climb from the highest of.
        climbs: which is how many; labels 0 and 1 leave few modes.
        steps: of a climb.
    """

    noise: LogNormal
    doubt: float
    draws: int
    climbs: int
    steps: int


LABELS = Labels(noise=LogNormal(math.log(0.1), 1.5), doubt=0.25, draws=24, climbs=3, steps=25)


@dataclass(frozen=True)
class Feasibility:
    """The probability of success Phi(u), u = (mean - 1/2) / sqrt(std^2 + noise): that a label exceeds 1/2.

    Attributes:
        labels: the posterior of the standardised labels, those of failures last; a stack of one.
        half: the label 1/2, standardised.
        failed: how many labels are of failures.
    """

    labels: GPStack
    half: float
    failed: int

    def log_factor(self, points: Array) -> Array:
        """Logarithm of the probability (1, m) at features (m, D)."""
        mean, std = self.labels.predict(points)
        return log_below((mean - self.half) / self._width(std))

    def log_factor_gradient(self, points: Array) -> tuple[Array, Array]:
        """The same and its gradient (1, m, D): phi(u) / Phi(u) times that of u."""
        at = self.labels.predict_gradient(points)
        width = self._width(at.std)
        u = (at.mean - self.half) / width
        log, hazard = log_below_slope(u)
        along_std = (hazard * u * at.std / width**2)[..., None] * at.std_gradient
        return log, (hazard / width)[..., None] * at.mean_gradient - along_std

    @property
    def foretold(self) -> NDArray[np.bool_]:
        """Which of the failures (failed,) the other labels predict, each left out in turn.

        With R = (K + noise I)^-1, a label left out has the mean y - alpha / diag R, the variance 1 / diag R.
        """
        factor = np.tril(self.labels.chol[0].T)
        precision = (np.linalg.inv(factor) ** 2).sum(axis=0)
        label = self.labels.thetas.mean + factor @ self.labels.white[0]
        u = (label - self.labels.alpha[0] / precision - self.half) * np.sqrt(precision)
        return log_below(u[-self.failed :]) < math.log(LABELS.doubt)

    def _width(self, std: Array) -> Array:
        return np.sqrt(std**2 + self.labels.noise[:, :1] + self.labels.nugget[:, None])


def learn_feasibility(data: Data, failed: Array, rng: np.random.Generator) -> Feasibility | None:
    """The probability of success; None where nothing has failed.

    Args:
        data: what succeeded.
        failed: features of what did not (f, D).
        rng: source of all randomness; not touched where nothing has failed.
    """
    if len(failed) == 0:
        return None
    label = np.repeat([1.0, 0.0], [len(data.y), len(failed)])
    average, deviation = float(label.mean()), float(label.std())
    points, prior = np.concatenate([data.x, failed]), replace(data.prior, noise=LABELS.noise)
    labelled = Data(points, (label - average) / deviation, data.owner, None, prior)
    mode = highest_mode(labelled, draw_prior(labelled, rng, LABELS.draws), LABELS.climbs, LABELS.steps)
    labels = fit(points, labelled.y, labelled.thetas(mode[None]))
    return Feasibility(labels, (0.5 - average) / deviation, len(failed))
