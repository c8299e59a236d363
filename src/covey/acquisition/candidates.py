"""Candidates for the next point, and whether one is new: what a maximiser knows besides the surface."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.errors import SpaceExhausted
from covey.space import Space
from covey.space.designs import ENUMERABLE, quasi_random, random, untried
from covey.space.features import Features
from covey.space.region import Region

SEPARATION = 1e-6
"""Two rows are the same point if no continuous column is further apart than this."""


TRIES = 1000
"""Rows drawn before a space counts as used up: so many are old only where next to nothing is free."""


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
        fixed: the position of each column that is held; NaN where it is free (d,).
        region: what constraints leave of the space, columns held; None where there are none.
        effort: how hard to look.
    """

    space: Space
    features: Features
    tried: Array
    keys: frozenset[bytes]
    anchors: Array
    fixed: Array
    region: Region | None = None
    effort: Effort = THOROUGH

    @staticmethod
    def of(space: Space, features: Features, tried: Array, fixed: Array | None = None) -> Search:
        """A search in a space where some rows (k, d) have been tried, and some columns perhaps are held."""
        discrete = len(features.continuous) == 0
        keys = frozenset(row.tobytes() for row in tried) if discrete else frozenset()
        held = np.full(len(space), np.nan) if fixed is None else fixed
        region = None if space.region is None else space.region.held(held)
        return Search(space, features, tried, keys, tried[:0], held, region)

    def without(self, row: Array) -> Search:
        """The same where one more row (d,) has been tried."""
        keys = self.keys | {row.tobytes()} if self.space.size is not None else self.keys
        return replace(self, tried=np.concatenate([self.tried, row[None]]), keys=keys)

    @property
    def discrete(self) -> NDArray[np.intp]:
        """The columns that have levels."""
        return np.setdiff1d(np.arange(len(self.space)), self.features.continuous)

    def free(self, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of some columns that are not held."""
        return columns[np.isnan(self.fixed[columns])]

    @property
    def _is_held(self) -> bool:
        return not bool(np.isnan(self.fixed).all())

    def pinned(self, rows: Array, rng: np.random.Generator) -> Array:
        """Rows (m, d) with the columns that are held where they are held."""
        if not self._is_held:
            return rows
        held = self.filled(np.where(np.isnan(self.fixed), rows, self.fixed), rows, rng)
        # What a held column brings with it may be held too.
        return self.space.conditions.settled(np.where(np.isnan(self.fixed), held, self.fixed))

    def admits(self, rows: Array) -> NDArray[np.bool_]:
        """Which rows (m, d) satisfy all constraints (m,)."""
        return np.ones(len(rows), dtype=bool) if self.region is None else self.region.holds(rows)

    def _drawn(self, rows: Array, rng: np.random.Generator) -> Array:
        """Those of random rows, columns held, that satisfy all constraints."""
        rows = self.pinned(rows, rng)
        return rows if self.region is None else rows[self.region.holds(rows)]

    def _random(self, size: int, rng: np.random.Generator) -> Array:
        """Rows at random, columns held: so many, or as many as are found where there are constraints."""
        rows = random(self.space, size, rng) if self.region is None else self.region.sample(size, rng)
        return self._drawn(rows, rng)

    @property
    def whole(self) -> bool:
        """Whether the candidates are every row that has not been tried."""
        return self.space.size is not None and self.space.size <= ENUMERABLE

    @property
    def exhausted(self) -> bool:
        """Whether a finite space has no row left."""
        if self.space.size is None:
            return False
        if not self._is_held:
            return len(self.keys) >= self.space.size
        rows = self._listed()
        return rows is not None and len(rows) == 0

    def _listed(self) -> Array | None:
        """All rows of a finite space, columns held, that have not been tried; None if they are too many."""
        if self.space.every is None:
            return None
        every = self.space.every
        fits = np.isnan(self.fixed) | (every == self.fixed) | ~self.space.conditions.active(every)
        rows: Array = every[fits.all(axis=1)]
        return np.asarray(rows[[row.tobytes() not in self.keys for row in rows]])

    def _untried(self, size: int, rng: np.random.Generator) -> Array:
        """Up to so many rows of a finite space that have not been tried, at random."""
        if not self._is_held:
            return untried(self.space, self.keys, size, rng)
        if (rows := self._listed()) is not None:
            return rows[rng.permutation(len(rows))[:size]]
        rows = self._random(size, rng)
        return rows[[row.tobytes() not in self.keys for row in rows]]

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
        """A random row that is neither observed nor pending.

        Raises:
            SpaceExhausted: if none can be found.
        """
        for _ in range(TRIES):
            finite = self.space.size is not None
            rows = self._untried(1, rng) if finite else self._random(1, rng)
            if len(rows) and (finite or self.is_new(rows[0])):
                return np.asarray(rows[0])
        raise SpaceExhausted("no configuration is left that has not been asked for")

    def candidates(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Rows all over the space, and rows around the best."""
        if self.whole:
            return self._untried(ENUMERABLE, rng), self.tried[:0]
        if self.space.size is not None:
            everywhere = self._untried(self.effort.scan, rng)
        elif self.region is not None:
            everywhere = self._random(self.effort.scan, rng)
        else:
            everywhere = self.pinned(quasi_random(self.space, self.effort.scan, rng), rng)
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
        changed = self.filled(np.where(change, np.where(jump, anywhere, moved), rows), rows, rng)
        return self._drawn(changed if self.region is None else self.region.near(changed, rows, rng), rng)

    def filled(self, rows: Array, before: Array, rng: np.random.Generator) -> Array:
        """Rows (m, d) that were others before, what exists only since then at random positions."""
        conditions = self.space.conditions
        if not conditions:
            return rows
        anywhere = self.space.box_rows(rng.random(rows.shape))
        existed = conditions.active(before)
        for column in conditions.columns:  # a parent before its children may be filled in too
            new = conditions.active(rows)[:, column] & ~existed[:, column]
            rows = rows.copy()
            rows[new, column] = anywhere[new, column]
        return conditions.settled(rows)

    def nearest(self, rows: Array) -> Array:
        """Rows (m, d), each ordered column that has levels moved to the nearest of them."""
        rows, dimensions = rows.copy(), list(self.space.dimensions.values())
        for column in np.intersect1d(self.discrete, self.features.ordered):
            levels = [dimensions[column].level(position) for position in rows[:, column].tolist()]
            rows[:, column] = dimensions[column].position(np.array(levels, dtype=float))
        return rows
