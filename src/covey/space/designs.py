"""Designs: rows that fill a space without any model, quasi-random, random, and those not tried yet."""

from __future__ import annotations

from collections.abc import Set
from functools import cache

import numpy as np

from covey.arrays import Array
from covey.space.region import Region
from covey.space.space import Space

_TRIES = 1000
"""Rounds of drawing rows that have not been tried, of a space of which it is not known how many it has."""

ENUMERABLE = 2048
"""Finite spaces up to this size are looked at whole."""


@cache
def _sobol(dimensions: int, log2_size: int) -> Array:
    from scipy.stats.qmc import Sobol  # slow to import

    return np.asarray(Sobol(dimensions, scramble=False).random_base2(log2_size))


def quasi_random(space: Space, size: int, rng: np.random.Generator) -> Array:
    """Rows (size, d) of a Sobol sequence, shifted at random around the torus; or else all over a region."""
    if space.region is not None:
        return space.region.sample(size, rng)
    points = _sobol(len(space), max(size - 1, 1).bit_length())[:size]
    return space.spread((points + rng.random(len(space))) % 1.0)


def random(space: Space, size: int, rng: np.random.Generator) -> Array:
    """Independent uniform rows (size, d)."""
    if space.region is not None:
        return space.region.sample(size, rng)
    return space.spread(rng.random((size, len(space))))


def configurations(space: Space, index: list[int]) -> Array:
    """Rows of a finite space by number, the last dimension counting fastest."""
    rest = np.array(index, dtype=object)
    columns = []
    for dimension in reversed(space.dimensions.values()):
        columns.append(dimension.position((rest % dimension.levels).astype(float)))
        rest = rest // dimension.levels
    return np.stack(columns[::-1], axis=1)


def untried(space: Space, tried: Set[bytes], size: int, rng: np.random.Generator) -> Array:
    """Up to ``size`` different rows of a finite space that are not in ``tried``, at random."""
    total = space.size
    assert total is not None
    if (space.conditions or space.region) and space.every is not None:
        rows = space.every[rng.permutation(len(space.every))]
        return rows[[row.tobytes() not in tried for row in rows]][:size]
    size = min(size, total - len(tried))
    if total <= max(ENUMERABLE, 4 * (len(tried) + size)):
        rows = configurations(space, [int(k) for k in rng.permutation(total)])
        return rows[[row.tobytes() not in tried for row in rows]][:size]
    found: dict[bytes, Array] = {}
    for _ in range(_TRIES):
        if len(found) >= size:
            break
        for row in random(space, size, rng):
            if row.tobytes() not in tried and len(found) < size:
                found[row.tobytes()] = row
    return np.array(list(found.values())).reshape(-1, len(space))


def initial_rows(
    space: Space, how: str, seed: int, skip: int, size: int, region: Region | None = None
) -> Array:
    """Rows number ``skip`` to ``skip + size`` of the initial design, all over a region if there is one."""
    rng = np.random.default_rng([seed, 0])
    if region is not None:
        return region.design(skip + size, rng)[skip:]
    return INITIAL[how](space, skip + size, rng)[skip:]


INITIAL = {"sobol": quasi_random, "random": random}
"""The initial designs that have a name."""
