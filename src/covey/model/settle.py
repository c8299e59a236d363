"""Which point to settle on where values are noisy? Not the luckiest one."""

from __future__ import annotations

import numpy as np

from covey.arrays import Array
from covey.model.gp import fit
from covey.model.log_posterior import Data
from covey.model.sampler import Ensemble, sample

_THETAS = 64


def expected(data: Data, start: Ensemble | None, rng: np.random.Generator) -> Array:
    """What is expected at each observed point (n,), without its noise: the mean posterior mean over theta.

    Args:
        data: at least one observation.
        start: walkers of an earlier run on a part of the data, if there are any.
        rng: source of all randomness.
    """
    thetas = sample(data, start, _THETAS, rng).thetas[:_THETAS]
    return np.asarray(fit(data.x, data.y, thetas).predict(data.x)[0].mean(axis=0))
