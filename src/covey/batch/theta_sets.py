"""Where does a point get its thetas from? The data alone, or the data and hallucinated pending points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from covey.arrays import Array
from covey.model.gp import GPStack, fit
from covey.model.log_posterior import Data
from covey.model.sampler import Diagnostics, Ensemble, Sample, sample
from covey.model.theta import Thetas

_POOL = 512
"""Thetas drawn at once, at most; larger batches shuffle them anew, so that no two sets are the same."""


@dataclass(frozen=True)
class Request:
    """What is wanted of a source.

    Attributes:
        data: the observations.
        pending: features of the points in flight when the batch begins (k, D).
        s: thetas in a set.
        sets: how many sets the batch may need.
    """

    data: Data
    pending: Array
    s: int
    sets: int


class Source(Protocol):
    """Hands out a set of thetas for each point of a batch."""

    @property
    def base(self) -> Sample:
        """The draws given the data alone: where the next batch's walkers start."""

    def draw(self) -> Thetas:
        """A fresh set."""

    def record(self, point: Array, stack: GPStack) -> None:
        """Hear of a chosen point's features (D,) and of the posterior that chose it."""


class FromData:
    """Sets drawn from p(theta | data): one run serves the whole batch (ATS, algorithm 1)."""

    def __init__(self, request: Request, start: Ensemble | None, rng: np.random.Generator) -> None:
        count = min(request.s * request.sets, max(_POOL, request.s))
        self.base = sample(request.data, start, count, rng)
        self._s, self._rng = request.s, rng
        self._order = np.arange(len(self.base.thetas))

    def draw(self) -> Thetas:
        if len(self._order) < self._s:
            self._order = self._rng.permutation(len(self.base.thetas))
        taken, self._order = self._order[: self._s], self._order[self._s :]
        return self.base.thetas[taken]

    def record(self, point: Array, stack: GPStack) -> None:
        """Pending points do not change what the data say."""


class Hallucinated:
    """Sets drawn from p(theta | data, hallucinations), a run for each point (h-ATS, algorithm 3).

    The hallucination of a point is the average over its own thetas of the posterior mean given the data
    alone. Points that were in flight before have no thetas any more: the data's own serve for them.
    """

    def __init__(self, request: Request, start: Ensemble | None, rng: np.random.Generator) -> None:
        self.base = sample(request.data, start, request.s, rng)
        self._request, self._rng = request, rng
        self._walkers, self._extended = self.base.ensemble, request.data
        self._next: Thetas | None = self.base.thetas[: request.s]
        if len(request.pending):
            stack = fit(request.data.x, request.data.y, self._next)
            for point in request.pending:
                self.record(point, stack)

    def draw(self) -> Thetas:
        if self._next is None:
            run = sample(self._extended, self._walkers, self._request.s, self._rng)
            self._walkers, self._next = run.ensemble, run.thetas[: self._request.s]
            self.base = _counting(self.base, run.diagnostics)
        drawn, self._next = self._next, None
        return drawn

    def record(self, point: Array, stack: GPStack) -> None:
        mean = stack.predict(point[None])[0].mean()
        grown = self._extended
        self._extended = replace(grown, x=np.concatenate([grown.x, point[None]]), y=np.append(grown.y, mean))
        self._next = None


def _counting(base: Sample, more: Diagnostics) -> Sample:
    total = replace(
        base.diagnostics,
        evaluations=base.diagnostics.evaluations + more.evaluations,
        steps=base.diagnostics.steps + more.steps,
    )
    return replace(base, diagnostics=total)


SOURCES: dict[str, Callable[[Request, Ensemble | None, np.random.Generator], Source]] = {
    "data": FromData,
    "hallucinated": Hallucinated,
}
"""By the name of the strategy's axis ``thetas``."""
