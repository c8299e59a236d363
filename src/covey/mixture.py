"""Which acquisition function chooses a point? The same for all, or a bound for some beside pending points.

Expected improvement asks for a gain at once. It polishes the valley that it is in before it goes down
another, whose first step hardly ever beats the best value. In a batch other points do the polishing, and
beyond a handful one more adds next to nothing. So a point beside five pending ones or more is chosen, in d
dimensions with the probability

    0.7 min(1, 6 / d)^2,

by the lower confidence bound, mean - 3 std. It takes no notice of the best value and goes where the objective
may be lowest, to valleys that are known rather than into the unknown. A discount of edges weighs more on it
than on an improvement, which changes by orders of magnitude where a bound changes by a half: points that are
chosen by the bound stay inside where there is one. In many dimensions few valleys are ever known, and all of
the inside is close to the centre: so the share falls beyond six.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from covey.acquisition import ACQUISITIONS, Acquisition

_CROWD = 5
_SHARE = 0.7
_DIMENSIONS = 6

_LCB = ACQUISITIONS["lcb"]
BOUND = replace(_LCB, jitter=replace(_LCB.jitter, fixed=3.0))
"""The lower confidence bound with three standard deviations."""


def _same(
    acquisition: Acquisition, _pending: int, _dimensions: int, _rng: np.random.Generator
) -> Acquisition:
    return acquisition


def _some_by_bound(
    acquisition: Acquisition, pending: int, dimensions: int, rng: np.random.Generator
) -> Acquisition:
    share = _SHARE * min(1.0, _DIMENSIONS / dimensions) ** 2
    return BOUND if pending >= _CROWD and rng.random() < share else acquisition


MIXTURES: dict[str, Callable[[Acquisition, int, int, np.random.Generator], Acquisition]] = {
    "none": _same,
    "bound": _some_by_bound,
}
"""What the values of a strategy's axis do: which acquisition function, by points pending and dimensions."""
