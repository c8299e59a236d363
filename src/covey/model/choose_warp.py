"""Choice of a warp: the scale of values with the highest posterior density.

A warp z = g(y) is part of the model (Snelson et al. 2004): p(y | theta, g) = N(z; c, K + e I) prod g'(y_i).
The product keeps a warp from winning by squeezing all values together. The covariance keeps it from winning
by how values are distributed: where points crowd around a minimum, similar values are what is expected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from covey.arrays import Array
from covey.model.laplace import highest_mode
from covey.model.log_posterior import Data, draw_prior, log_posterior
from covey.model.warps import Warp


@dataclass(frozen=True)
class Care:
    """How carefully warps are told apart.

    Attributes:
        part: observations that are enough to tell warps apart; of more, a random part is taken.
        many: beyond so many observations a judgement holds for a while, since each costs n^3.
        growth: the share of new observations after which it is made anew.
        draws: from the prior, to climb from the highest of.
        steps: of a climb; modes of theta need not be exact for their heights to be compared.
    """

    part: int
    many: int
    growth: float
    draws: int
    steps: int


CARE = Care(part=80, many=100, growth=0.1, draws=24, steps=25)


@dataclass(frozen=True)
class Judgement:
    """A warp that was chosen.

    Attributes:
        index: its place among the options.
        shift: of its logarithm, by which it is recognised among other options; infinite for a linear one.
        observations: how many it was chosen from.
        modes: of theta on that warp (k, parameters), none where there was no choice: places for a climb or a
            sampler to start from.
    """

    index: int
    shift: float
    observations: int
    modes: Array | None = None

    def holds(self, now: int) -> bool:
        """Whether it need not be made anew with so many observations."""
        return CARE.many < self.observations <= now < (1 + CARE.growth) * self.observations


def judge(
    options: Sequence[Warp], data: Sequence[Data], last: Judgement | None, rng: np.random.Generator
) -> Judgement:
    """The warp to see values on.

    Args:
        options: to choose from, the same observations on each; neighbours are alike.
        data: the same, for theta.
        last: what was chosen of fewer observations, if anything was.
        rng: source of all randomness; not touched where there is no choice or the last one holds.
    """
    shifts, n = [warp.shift for warp in options], len(data[0].y)
    known = last is not None and last.shift in shifts
    if last is not None and known and last.holds(n):
        return replace(last, index=shifts.index(last.shift))
    if len(options) == 1:
        return Judgement(0, shifts[0], n)
    first = shifts.index(last.shift if last is not None and known else math.inf)
    slopes = [warp.log_slope for warp in options]
    best, modes = likeliest(data, slopes, first, None if last is None else last.modes, rng)
    return Judgement(best, shifts[best], n, modes)


def likeliest(
    data: Sequence[Data],
    log_slopes: Sequence[Array],
    first: int,
    start: Array | None,
    rng: np.random.Generator,
) -> tuple[int, Array]:
    """The index of a warp with the highest max over theta of log p(theta) + log p(y | theta, warp).

    From the first one warp by warp, in the direction that rises and as long as it does: neighbours in the
    list are alike. Also theta's mode on it (1, parameters).

    Args:
        data: the same observations on each warp.
        log_slopes: of each warp at each observation, log g'(y) (n,).
        first: the warp to begin with.
        start: places to look for modes from, besides the prior (k, parameters).
        rng: source of all randomness.
    """
    part = rng.permutation(len(data[first].y))[: CARE.part]
    places = [draw_prior(data[first], rng, CARE.draws)] + ([] if start is None else [start])
    modes: dict[int, Array] = {}

    def height(index: int) -> float:
        if not 0 <= index < len(data):
            return -math.inf
        some = data[index].part(part)
        mode = highest_mode(some, np.concatenate(places), 1, CARE.steps)
        modes[index] = mode[None]
        places.append(mode[None])  # what suits one warp is a good place to begin on the next
        return float(log_posterior(some, mode[None])[0]) + float(log_slopes[index][part].sum())

    best, top = first, height(first)
    for step in (1, -1):
        while (higher := height(best + step)) > top:
            best, top = best + step, higher
        if best != first:
            break
    return best, modes[best]
