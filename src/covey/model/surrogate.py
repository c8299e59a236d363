"""Surrogate: what a batch is chosen by. Observations in; posteriors, feasibility and diagnostics out.

``covey.model.gaussian_process`` is the default. Anything with the members of ``Surrogate`` can be put in its
place: ``optimizer.surrogate = ...``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.diagnostics import Diagnostics
from covey.model.theta import Thetas


@dataclass(frozen=True)
class Observations:
    """What was measured, as a model sees it.

    Attributes:
        points: features of what has a value (n, D), n >= 1.
        values: as they were told (n,).
        failed: features of what gave no value (f, D).
    """

    points: Array
    values: Sequence[float]
    failed: Array


@dataclass(frozen=True)
class Prediction:
    """Mean and standard deviation of the objective at m points, and their gradients.

    Attributes:
        mean, std: (S, m).
        mean_gradient, std_gradient: (S, m, D).
    """

    mean: Array
    std: Array
    mean_gradient: Array
    std_gradient: Array


class Posterior(Protocol):
    """A stack of S posteriors: what an acquisition function is averaged over."""

    @property
    def best(self) -> Array:
        """The lowest value known (S, 1)."""

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation (S, m) at features (m, D)."""

    def predict_gradient(self, points: Array) -> Prediction:
        """The same with gradients."""


class Stack(Posterior, Protocol):
    """A stack that can be conditioned on pending points: on means, on draws, or drawn from as a whole.

    A strategy asks for one of these at most; a model that serves some strategies only may leave out the rest.
    """

    @property
    def thetas(self) -> Thetas:
        """The hyper-parameters of each posterior."""

    def condition(self, points: Array) -> Stack:
        """Given that each of the points (k, D) has its own mean for a value."""

    def fantasise(self, points: Array, rng: np.random.Generator) -> Stack:
        """Given values at the points (k, D) that are drawn from each posterior."""

    def noiseless(self, rng: np.random.Generator) -> Stack:
        """Given values without noise at the observed points, drawn from each posterior."""

    def paths(self, rng: np.random.Generator) -> Posterior:
        """One whole function drawn from each posterior, which predicts it with a deviation of 0."""


class Factor(Protocol):
    """What a positive acquisition function is multiplied by, to keep points away from somewhere."""

    def log_factor(self, points: Array) -> Array:
        """Logarithm of the factor (S, m), or (1, m) for all thetas, at features (m, D)."""

    def log_factor_gradient(self, points: Array) -> tuple[Array, Array]:
        """The same and its gradient (S, m, D), or (1, m, D)."""


class Surrogate(Protocol):
    """A model of the objective, as a value: learning gives another one."""

    def learn(self, seen: Observations, count: int, rng: np.random.Generator) -> Surrogate:
        """The model given observations, with at least ``count`` draws of its hyper-parameters.

        What it was given last is a part of what it is given next, so it may go on from there.
        """

    def __len__(self) -> int:
        """How many draws there are."""

    def stack(self, draws: NDArray[np.intp] | slice) -> Stack:
        """The posteriors, given the observations, of some of the draws."""

    def suppose(self, points: Array, values: Array, count: int, rng: np.random.Generator) -> Surrogate:
        """Draws as if further points (k, D) had values (k,); posteriors are given the observations alone."""

    @property
    def feasibility(self) -> Factor | None:
        """The probability that an evaluation succeeds; None where nothing has failed."""

    @property
    def diagnostics(self) -> Diagnostics | None:
        """How well hyper-parameters were sampled; None before the model has learned."""
