"""Is there another valley to go down? Asked where the best one has little left to give.

Expected improvement counts what one evaluation adds to the best value. Where that is little, points polish
digits of a minimum that may be a local one: the first step down another valley hardly ever beats the best,
and what it would lead to is not counted. So when less than ``_LITTLE`` is expected, half of the points that
are chosen beside others improve on the best of another valley instead, as if the best one had not been found.

An observation is in another valley if the model's mean rises on the straight way from it to the best one. The
lowest of these is the valley's best, and its neighbourhood is a box half as large as the one that reaches the
nearest better observation, with sides in proportion to the length-scales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.acquisition import expected_improvement
from covey.arrays import Array
from covey.gp import GPStack, Prediction
from covey.maximise import maximise
from covey.search import SEPARATION, Effort, Search
from covey.surface import Posterior, Surface

_LITTLE = 0.03
"""An improvement that can wait, in standard deviations of the values."""

_SHARE = 0.5
_RIDGE = 0.01
"""How high a ridge between two valleys is at least, in standard deviations of the values."""

_STEPS = np.linspace(0.1, 0.9, 9)
_MOST = 100
"""Observations that are looked at: the lowest."""

_MARGIN = 0.25
"""How quickly a box ends, relative to its size."""

_NEARBY = Effort(scan=2, around=256, starts=3)


@dataclass(frozen=True)
class Box:
    """The neighbourhood of a point: 1 inside, and outside a bell's flank in each feature.

    Attributes:
        centre: features (D,).
        half: half of its sides (D,).
    """

    centre: Array
    half: Array

    def holds(self, points: Array) -> NDArray[np.bool_]:
        """Which of the points (m, D) are inside (m,)."""
        return np.asarray((np.abs(points - self.centre) <= self.half).all(axis=1))

    def log_factor(self, points: Array) -> Array:
        """Logarithm of the factor (1, m) at features (m, D): -sum_k o_k^2 / 2, o_k how far outside."""
        return np.asarray(-0.5 * (self._outside(points) ** 2).sum(axis=1)[None])

    def log_factor_gradient(self, points: Array) -> tuple[Array, Array]:
        """The same and its gradient (1, m, D)."""
        slope = np.sign(points - self.centre) / (_MARGIN * self.half)
        return self.log_factor(points), np.asarray(-(self._outside(points) * slope)[None])

    def _outside(self, points: Array) -> Array:
        return np.asarray(np.maximum(np.abs(points - self.centre) / self.half - 1.0, 0.0) / _MARGIN)


@dataclass(frozen=True)
class Beyond:
    """A posterior with another value (S, 1) to improve on."""

    posterior: Posterior
    best: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation (S, m) at features (m, D)."""
        return self.posterior.predict(points)

    def predict_gradient(self, points: Array) -> Prediction:
        """The same with gradients."""
        return self.posterior.predict_gradient(points)


@dataclass(frozen=True)
class Scene:
    """What a row was chosen from.

    Attributes:
        surface: whose highest row it is.
        search: what has been tried.
        stack: the posterior given observations only.
        observed: rows observed (n, d).
        pending: rows in flight (k, d).
    """

    surface: Surface
    search: Search
    stack: GPStack
    observed: Array
    pending: Array


def stay(here: Array, _scene: Scene, _rng: np.random.Generator) -> Array:
    """The row that was found (d,)."""
    return here


def elsewhere(here: Array, scene: Scene, rng: np.random.Generator) -> Array:
    """A row (d,) in another valley if more is to be gained there, else the one that was found.

    Where nothing is pending, the one point is for the best valley.
    """
    if len(scene.pending) == 0 or rng.random() >= _SHARE:
        return here
    surface, embed = scene.surface, scene.surface.features.embed
    left, observed = _improvement(surface, here), embed(scene.observed)
    if left > _LITTLE or (valley := other_valley(scene.stack, observed)) is None:
        return here
    lowest, box = valley
    known = np.concatenate([observed, embed(scene.pending)])
    level = surface.posterior.predict(known[box.holds(known)])[0].min(axis=1, keepdims=True)
    there = replace(surface, posterior=Beyond(surface.posterior, level), factors=(*surface.factors, box))
    row = maximise(there, replace(scene.search, anchors=scene.observed[[lowest]], effort=_NEARBY), rng)
    inside = float(np.exp(box.log_factor(embed(row[None]))[0, 0]))
    return row if inside * _improvement(there, row) > left else here


def _improvement(surface: Surface, row: Array) -> float:
    """The expected improvement at a row (d,), averaged over theta; whatever the surface's acquisition is."""
    mean, std = surface.posterior.predict(surface.features.embed(row[None]))
    return float(expected_improvement(mean, std, surface.posterior.best, 0.0).mean())


def other_valley(stack: GPStack, observed: Array) -> tuple[int, Box] | None:
    """The lowest observation in another valley than the best, and its neighbourhood; None if there is none.

    Args:
        stack: the posterior.
        observed: features of the observations (n, D).
    """
    height = stack.means(observed).mean(axis=0)
    order = np.argsort(height, kind="stable")[:_MOST]
    best, others = observed[order[0]], observed[order]
    ways = others[:, None] + _STEPS[:, None] * (best - others)[:, None]
    on_the_way = stack.means(ways.reshape(-1, observed.shape[1])).mean(axis=0).reshape(len(order), -1)
    apart = order[on_the_way.max(axis=1) > height[order] + _RIDGE]
    apart = apart[height[apart] > height[order[0]]]
    if len(apart) == 0:
        return None
    lowest, scale = int(apart[0]), np.median(stack.thetas.length_scale, axis=0)
    gaps = np.abs(observed[height < height[lowest]] - observed[lowest]) / scale
    reach = 0.5 * float(gaps.max(axis=1).min())
    return lowest, Box(observed[lowest], np.maximum(reach * scale, SEPARATION))
