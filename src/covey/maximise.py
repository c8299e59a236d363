"""Where is a surface highest? A scan, then climbing: L-BFGS-B in continua, exchanges in levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.search import Search
from covey.space import Dimension
from covey.surface import Surface

_CLIMBS = 20
_EXCHANGES = 20
_MOST_LEVELS = 32
_LOWEST = -1e100


def maximise(surface: Surface, search: Search, rng: np.random.Generator) -> Array:
    """The row (d,) with the highest value found that is neither observed nor pending."""
    groups = [rows for rows in search.candidates(rng) if len(rows)]
    values = [surface.value(rows) for rows in groups]
    starts = np.concatenate(
        [rows[np.argsort(-value)[: search.effort.starts]] for rows, value in zip(groups, values, strict=True)]
    )
    peaks = _ascend(surface, search, starts, rng)
    rows = np.concatenate([peaks, *groups])
    heights = np.concatenate([surface.value(peaks), *values])
    for k in np.argsort(-heights, kind="stable"):
        if search.is_new(rows[k]):
            return np.asarray(rows[k])
    return search.any_new(rng)


def _ascend(surface: Surface, search: Search, rows: Array, rng: np.random.Generator) -> Array:
    """Local maxima near rows (k, d)."""
    continuous, discrete = search.features.continuous, search.discrete
    if search.whole:
        return rows
    if len(discrete) == 0:
        return _climb(surface, rows, continuous)
    if len(continuous) == 0:
        return _exchange(surface, search, rows, rng)
    for _ in range(2):
        rows = _climb(surface, _exchange(surface, search, rows, rng), continuous)
    return rows


def _climb(surface: Surface, rows: Array, columns: NDArray[np.intp]) -> Array:
    """L-BFGS-B in the continuous columns of all rows (k, d) at once, as one separable problem."""
    from scipy.optimize import minimize  # slow to import

    shape = (len(rows), len(columns))

    def downhill(flat: Array) -> tuple[float, Array]:
        at = rows.copy()
        at[:, columns] = flat.reshape(shape)
        value, gradient = surface.value_and_gradient(at)
        return -float(np.maximum(value, _LOWEST).sum()), -gradient[:, columns].ravel()

    start = rows[:, columns].ravel()
    result = minimize(
        downhill,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start),
        options={"maxiter": _CLIMBS, "maxfun": 2 * _CLIMBS},
    )
    climbed = rows.copy()
    climbed[:, columns] = np.clip(result.x, 0.0, 1.0).reshape(shape)
    return climbed


def _exchange(surface: Surface, search: Search, rows: Array, rng: np.random.Generator) -> Array:
    """Move each row (k, d) to its best neighbour, one level exchanged, until none is better."""
    rows, heights = rows.copy(), surface.value(rows)
    finite = len(search.features.continuous) == 0
    for _ in range(_EXCHANGES):
        neighbours = [_neighbours(search, row, rng) for row in rows]
        values = surface.value(np.concatenate(neighbours))
        moved = False
        for k, part in enumerate(neighbours):
            value, values = values[: len(part)], values[len(part) :]
            if finite:
                tried = np.array([row.tobytes() in search.keys for row in part])
                value = np.where(tried, -np.inf, value)
            best = int(np.argmax(value))
            if value[best] > heights[k]:
                rows[k], heights[k], moved = part[best], value[best], True
        if not moved:
            break
    return rows


def _neighbours(search: Search, row: Array, rng: np.random.Generator) -> Array:
    """Rows that differ from one in the level of one discrete column; itself if there is none."""
    found = [row]
    dimensions = list(search.space.dimensions.values())
    for column in search.discrete:
        for position in _other_positions(dimensions[column], row[column], rng):
            other = row.copy()
            other[column] = position
            found.append(other)
    return np.stack(found)


def _other_positions(dimension: Dimension, here: float, rng: np.random.Generator) -> Array:
    """Levels to try: all when few; else by steps 1, 2, 4, ... both ways, or at random if unordered."""
    count = dimension.levels or 1
    every = np.arange(min(count, _MOST_LEVELS), dtype=float)
    if count <= _MOST_LEVELS:
        return np.setdiff1d(dimension.position(every), [here])
    if not dimension.ordered:
        return dimension.position(rng.integers(count, size=_MOST_LEVELS).astype(float))
    level = dimension.level(here)
    steps = 2.0 ** np.arange(count.bit_length())
    reach = np.concatenate([level - steps, level + steps])
    return dimension.position(reach[(reach >= 0) & (reach < count)])
