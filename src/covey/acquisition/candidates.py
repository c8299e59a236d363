"""Candidates for the next point, and whether one is new: what a maximiser knows besides the surface."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.space import Space
from covey.space.designs import ENUMERABLE, quasi_random, random, untried
from covey.space.features import Features

SEPARATION = 1e-6
"""Two rows are the same point if no continuous column is further apart than this."""


@dataclass(frozen=True)
class Effort:
    """How hard a maximum is looked for.

    Attributes:
        scan: rows all over the space.
        around: rows around the best.
        starts: of each, the highest that are climbed from.
        anchors: the best observed rows, which the rows around are around.
        moved, share: columns in which such a row differs from its anchor, some three, or a share of many.
        nearest, farthest: powers of ten between which its steps are: from what a late campaign polishes to
            what reaches the next valley.
    """

    scan: int = 256
    around: int = 64
    starts: int = 2
    anchors: int = 5
    moved: float = 3.0
    share: float = 0.3
    nearest: float = -3.5
    farthest: float = -0.5


THOROUGH = Effort()
"""Finds the global maximum of most surfaces."""


def few_starts(starts: int) -> Effort:
    """Climb from so many places at random: finds one of the higher local maxima."""
    return Effort(scan=starts, around=0, starts=starts)


@dataclass(frozen=True)
class Search:
    """The cube, what has been tried in it, and where the best of it lies.

    Attributes:
        space: what can be varied.
        features: how the model sees it.
        tried: rows observed, failed or pending (k, d).
        keys: the same as bytes, where all columns have levels; empty where there is a continuum.
        anchors: the best observed rows, the best first (a, d).
        effort: how hard to look.
    """

    space: Space
    features: Features
    tried: Array
    keys: frozenset[bytes]
    anchors: Array
    effort: Effort = THOROUGH

    @staticmethod
    def of(space: Space, features: Features, tried: Array) -> Search:
        """A search in a space where some rows (k, d) have been tried."""
        discrete = len(features.continuous) == 0
        keys = frozenset(row.tobytes() for row in tried) if discrete else frozenset()
        return Search(space, features, tried, keys, tried[:0])

    def without(self, row: Array) -> Search:
        """The same where one more row (d,) has been tried."""
        keys = self.keys | {row.tobytes()} if self.space.size is not None else self.keys
        return replace(self, tried=np.concatenate([self.tried, row[None]]), keys=keys)

    @property
    def discrete(self) -> NDArray[np.intp]:
        """The columns that have levels."""
        return np.setdiff1d(np.arange(len(self.space)), self.features.continuous)

    @property
    def whole(self) -> bool:
        """Whether the candidates are every row that has not been tried."""
        return self.space.size is not None and self.space.size <= ENUMERABLE

    @property
    def exhausted(self) -> bool:
        """Whether a finite space has no row left."""
        return self.space.size is not None and len(self.keys) >= self.space.size

    def is_new(self, row: Array) -> bool:
        """Whether a row is neither observed nor pending."""
        if len(self.tried) == 0:
            return True
        if len(self.features.continuous) == 0:
            return row.tobytes() not in self.keys
        apart = np.abs(self.tried - row)
        far = (apart[:, self.features.continuous] > SEPARATION).any(axis=1)
        return bool((far | (apart[:, self.discrete] > 0).any(axis=1)).all())

    def any_new(self, rng: np.random.Generator) -> Array:
        """A random row that is neither observed nor pending."""
        if self.space.size is not None:
            return np.asarray(untried(self.space, self.keys, 1, rng)[0])
        while not self.is_new(row := random(self.space, 1, rng)[0]):
            pass
        return np.asarray(row)

    def candidates(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Rows all over the space, and rows around the best."""
        if self.whole:
            return untried(self.space, self.keys, ENUMERABLE, rng), self.tried[:0]
        if self.space.size is not None:
            everywhere = untried(self.space, self.keys, self.effort.scan, rng)
        else:
            everywhere = quasi_random(self.space, self.effort.scan, rng)
        return everywhere, self._around_anchors(rng)

    def _around_anchors(self, rng: np.random.Generator) -> Array:
        """Anchors with some columns changed: by steps of many sizes, or to any level where there is none."""
        effort, d = self.effort, len(self.space)
        count = effort.around if len(self.anchors) else 0
        rows = self.anchors[rng.integers(max(len(self.anchors), 1), size=count)]
        change = rng.random((count, d)) < max(effort.share, min(1.0, effort.moved / d))
        change[np.arange(count), rng.integers(d, size=count)] = True
        step = rng.normal(size=(count, d)) * 10.0 ** rng.uniform(effort.nearest, effort.farthest, (count, 1))
        moved = self.nearest(np.clip(rows + step, 0.0, 1.0))
        anywhere = self.space.spread(rng.random((count, d)))
        jump = moved == rows
        jump[:, self.features.continuous] = False
        jump[:, np.setdiff1d(self.discrete, self.features.ordered)] = True
        return np.where(change, np.where(jump, anywhere, moved), rows)

    def nearest(self, rows: Array) -> Array:
        """Rows (m, d), each ordered column that has levels moved to the nearest of them."""
        rows, dimensions = rows.copy(), list(self.space.dimensions.values())
        for column in np.intersect1d(self.discrete, self.features.ordered):
            levels = [dimensions[column].level(position) for position in rows[:, column].tolist()]
            rows[:, column] = dimensions[column].position(np.array(levels, dtype=float))
        return rows
