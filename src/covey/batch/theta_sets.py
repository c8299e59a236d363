"""Sets of thetas, one for each point of a batch: given the data, or hallucinated pending points too."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from covey.arrays import Array
from covey.model.surrogate import Stack, Surrogate

POOL = 512
"""Thetas drawn at once, at most; larger batches shuffle them anew, so that no two sets are the same."""


class ThetaSets(Protocol):
    """Hands out posteriors, each of a fresh set of thetas.

    Args:
        surrogate: what has learned from the observations, with as many draws as ``wanted`` says.
        s: thetas in a set.
        pending: features of the points in flight when the batch begins (k, D).
        rng: source of all randomness.
    """

    def __init__(self, surrogate: Surrogate, s: int, pending: Array, rng: np.random.Generator) -> None: ...

    @staticmethod
    def wanted(s: int, sets: int) -> int:
        """Draws that a batch of so many sets needs of the model."""

    def draw(self) -> Stack:
        """The posteriors of a fresh set, given the observations."""

    def record(self, point: Array, stack: Stack) -> None:
        """Hear of a chosen point's features (D,) and of the posteriors that chose it."""


class FromData:
    """Sets drawn from p(theta | data): one run serves the whole batch (ATS, algorithm 1)."""

    def __init__(self, surrogate: Surrogate, s: int, _pending: Array, rng: np.random.Generator) -> None:
        self._surrogate, self._s, self._rng = surrogate, s, rng
        self._order = np.arange(len(surrogate))

    @staticmethod
    def wanted(s: int, sets: int) -> int:
        return min(s * sets, max(POOL, s))

    def draw(self) -> Stack:
        if len(self._order) < self._s:
            self._order = self._rng.permutation(len(self._surrogate))
        taken, self._order = self._order[: self._s], self._order[self._s :]
        return self._surrogate.stack(taken)

    def record(self, point: Array, stack: Stack) -> None:
        """Pending points do not change what the data say."""


class Hallucinated:
    """Sets drawn from p(theta | data, hallucinations), a run for each point (h-ATS, algorithm 3).

    The hallucination of a point is the average over its own thetas of the posterior mean given the data
    alone. Points that were in flight before have no thetas any more: the data's own serve for them.
    """

    def __init__(self, surrogate: Surrogate, s: int, pending: Array, rng: np.random.Generator) -> None:
        self._surrogate, self._s, self._rng = surrogate, s, rng
        self._points, self._values = list[Array](), list[float]()
        if len(pending):
            stack = surrogate.stack(slice(s))
            for point in pending:
                self.record(point, stack)

    @staticmethod
    def wanted(s: int, _sets: int) -> int:
        return s

    def draw(self) -> Stack:
        if self._points:
            points, values = np.stack(self._points), np.array(self._values)
            self._surrogate = self._surrogate.suppose(points, values, self._s, self._rng)
            self._points, self._values = [], []
        return self._surrogate.stack(slice(self._s))

    def record(self, point: Array, stack: Stack) -> None:
        self._points.append(point)
        self._values.append(float(stack.predict(point[None])[0].mean()))
