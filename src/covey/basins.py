"""Is there another valley to go down? Asked where the best one has little left to give.

Expected improvement counts what one evaluation adds to the best value. Where that is little, points polish
digits of a minimum that may be a local one: the first step down another valley hardly ever beats the best,
and what it would lead to is not counted. So when less than ``_LITTLE`` is expected of a point that is chosen
beside others, it is, every other time, one that improves on the best of another valley, as if the best valley
had not been found; if more is expected of it.

An observation is in another valley if the model's mean rises on the straight way from it to the best one. The
lowest of these is the valley's best, and its neighbourhood is a box half as large as the one that reaches the
nearest better observation, with sides in proportion to the length-scales. What little can be gained from one
valley does not hide the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.acquisition import ACQUISITIONS
from covey.arrays import Array
from covey.gp import GPStack, Prediction
from covey.maximise import maximise
from covey.search import Effort, Search
from covey.surface import Posterior, Surface

_LITTLE = 0.1
"""An improvement that can wait, in standard deviations of the values on the scale that the model sees."""

_ENOUGH = 0.03
"""An improvement that another valley must promise at least, in the same units."""

_SHARE = 0.5
_RIDGE = 0.01
"""How high a ridge between two valleys is at least, in these units."""

_SAME = 1e-9
"""Heights that differ by less, in these units too, are told apart by rounding only."""

_STEPS = np.linspace(0.1, 0.9, 9)
_MOST = 200
"""Observations that are looked at: the lowest."""

_VALLEYS = 3
"""Valleys that are tried, the lowest first."""

_MARGIN = 0.25
"""How quickly a box ends, relative to its size."""

_NEARBY = Effort(scan=0, around=256, starts=3)


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
    left = _log_improvement(scene.surface, here)
    if left > math.log(_LITTLE):
        return here
    surface, embed = scene.surface, scene.surface.features.embed
    observed = embed(scene.observed)
    known = np.concatenate([observed, embed(scene.pending)])
    for lowest, box in other_valleys(scene.stack, observed):
        level = surface.posterior.predict(known[box.holds(known)])[0].min(axis=1, keepdims=True)
        there = replace(surface, posterior=Beyond(surface.posterior, level), factors=(*surface.factors, box))
        nearby = replace(scene.search, anchors=scene.observed[[lowest]], effort=_NEARBY)
        row = maximise(there, nearby, rng)
        if _log_improvement(there, row) > max(left, math.log(_ENOUGH)):
            return row
    return here


def _log_improvement(surface: Surface, row: Array) -> float:
    """Logarithm of the expected improvement at a row (d,) times the surface's factors."""
    by_improvement = replace(surface, acquisition=ACQUISITIONS["log-ei"], jitter=0.0)
    return float(by_improvement.value(row[None])[0])


def other_valleys(stack: GPStack, observed: Array) -> Iterator[tuple[int, Box]]:
    """The lowest observations of other valleys than the best, each with its neighbourhood, the lowest first.

    Args:
        stack: the posterior.
        observed: features of the observations (n, D).
    """
    height = stack.means(observed).mean(axis=0)
    order = np.argsort(height, kind="stable")[:_MOST]
    lowest, scale = order[0], np.median(stack.thetas.length_scale, axis=0)
    others = order[height[order] > height[lowest] + _SAME]
    for _ in range(_VALLEYS):
        others = others[_ridge(stack, observed[others], observed[lowest]) > height[others] + _RIDGE]
        if len(others) == 0:
            return
        lowest = others[0]
        gaps = np.abs(observed[height < height[lowest] - _SAME] - observed[lowest]) / scale
        yield int(lowest), Box(observed[lowest], 0.5 * float(gaps.max(axis=1).min()) * scale)


def _ridge(stack: GPStack, points: Array, goal: Array) -> Array:
    """The highest mean (m,) on the straight ways from points (m, D) to a goal (D,)."""
    ways = points[:, None] + _STEPS[:, None] * (goal - points)[:, None]
    means = stack.means(ways.reshape(-1, points.shape[1])).mean(axis=0)
    return np.asarray(means.reshape(len(points), len(_STEPS)).max(axis=1))
