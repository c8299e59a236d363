"""On which scale do the data look most like a Gaussian process? The one with the highest posterior density.

A scale z = g(y) is part of the model (Snelson et al. 2004): p(y | theta, g) = N(z; c, K + e I) prod g'(y_i).
The product keeps a scale from winning by squeezing all values together. The covariance keeps it from winning
by how values are distributed: where points crowd around a minimum, similar values are what is expected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array
from covey.model.laplace import highest_mode
from covey.model.log_posterior import Data, draw_prior, log_posterior

_PART = 80
"""Observations that are enough to tell scales apart; more of them take a random part."""

_MANY = 100
_GROWTH = 0.1
"""Beyond many observations, a scale is judged anew when they have grown by this share."""

_DRAWS = 24
_STEPS = 25


@dataclass(frozen=True)
class Scale:
    """A scale that was chosen.

    Attributes:
        shift: of its logarithm; infinite for a linear one.
        judged: the observations that it was chosen from.
    """

    shift: float = math.inf
    judged: int = 0

    def holds(self, now: int) -> bool:
        """Whether it need not be judged anew with so many observations."""
        return _MANY < self.judged <= now < (1 + _GROWTH) * self.judged


def likeliest(data: Sequence[Data], log_slopes: Sequence[Array], first: int, rng: np.random.Generator) -> int:
    """The index of a scale with the highest max over theta of log p(theta) + log p(y | theta, scale).

    From the first one scale by scale, in the direction that rises and as long as it does: neighbours in the
    list are alike.

    Args:
        data: the same observations on each scale.
        log_slopes: of each scale at each observation, log g'(y) (n,).
        first: the scale to begin with.
        rng: source of all randomness; not touched where there is no choice.
    """
    if len(data) == 1:
        return 0
    part = rng.permutation(len(data[first].y))[:_PART]
    start = [draw_prior(data[first], rng, _DRAWS)]

    def height(index: int) -> float:
        if not 0 <= index < len(data):
            return -math.inf
        some = data[index].part(part)
        mode = highest_mode(some, np.concatenate(start), 1, _STEPS)
        start.append(mode[None])  # what suits one scale is a good place to begin on the next
        return float(log_posterior(some, mode[None])[0]) + float(log_slopes[index][part].sum())

    best, top = first, height(first)
    for step in (1, -1):
        while (higher := height(best + step)) > top:
            best, top = best + step, higher
        if best != first:
            break
    return best
