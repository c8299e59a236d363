"""Maximiser of a surface: a scan, then climbing, L-BFGS-B in what is ordered, exchanges in levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.acquisition.candidates import Search
from covey.acquisition.surface import Surface
from covey.arrays import Array
from covey.space import Dimension


@dataclass(frozen=True)
class Patience:
    """How long a climb goes on.

    Attributes:
        climbs: steps of L-BFGS-B: a suggestion needs no more digits than the model has.
        sweeps: over all columns that have levels; most rows stand still after two.
        levels: of a column that are all tried; of more, ever larger steps both ways.
        fillings: of the columns that another level brings with it: what is found there is climbed from.
    """

    climbs: int
    sweeps: int
    levels: int
    fillings: int


PATIENCE = Patience(climbs=20, sweeps=5, levels=32, fillings=4)

_LOWEST = -1e100
"""Stands in for -inf, which L-BFGS-B cannot add up."""


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
        if search.is_new(rows[k]) and search.admits(rows[k : k + 1])[0]:
            return np.asarray(rows[k])
    return search.any_new(rng)


def _ascend(surface: Surface, search: Search, rows: Array, rng: np.random.Generator) -> Array:
    """Local maxima near rows (k, d)."""
    continuous, discrete = search.free(search.features.continuous), search.free(search.discrete)
    if search.whole:
        return rows
    if len(discrete) == 0:
        return _climb(surface, search, rows, continuous)
    rows = _stride(surface, search, _exchange(surface, search, rows, rng))
    return _climb(surface, search, _exchange(surface, search, rows, rng), continuous)


def _stride(surface: Surface, search: Search, rows: Array) -> Array:
    """Climb in all ordered columns of rows (k, d) as if none had levels, then go to the nearest level.

    Exchanges move one column at a time, which is no way along a valley; rows that end lower stay.
    """
    moved = search.nearest(_climb(surface, search, rows, search.free(search.features.ordered)))
    higher = _open_values(surface, search, moved) > surface.value(rows)
    return np.where(higher[:, None], moved, rows)


def _climb(surface: Surface, search: Search, rows: Array, columns: NDArray[np.intp]) -> Array:
    """L-BFGS-B in some columns of all rows (k, d) at once, as one separable problem; or inside a region."""
    from scipy.optimize import minimize  # slow to import

    if len(columns) == 0:
        return rows
    if search.region is not None:
        return search.region.climb(surface.value_and_gradient, rows, PATIENCE.climbs, columns)
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
        options={"maxiter": PATIENCE.climbs, "maxfun": 2 * PATIENCE.climbs},
    )
    climbed = rows.copy()
    climbed[:, columns] = np.clip(result.x, 0.0, 1.0).reshape(shape)
    return climbed


def _exchange(surface: Surface, search: Search, rows: Array, rng: np.random.Generator) -> Array:
    """Move each row (k, d) to the best level of one discrete column after the other, until none is better."""
    rows, heights = rows.copy(), surface.value(rows)
    for _ in range(PATIENCE.sweeps):
        before = rows.copy()
        for column in rng.permutation(search.free(search.discrete)):
            neighbours = [_neighbours(search, row, column, rng) for row in rows]
            values = _open_values(surface, search, np.concatenate(neighbours))
            for k, part in enumerate(neighbours):
                value, values = values[: len(part)], values[len(part) :]
                best = int(np.argmax(value))
                if value[best] > heights[k]:
                    rows[k], heights[k] = part[best], value[best]
        if np.array_equal(rows, before):
            break
    return rows


def _open_values(surface: Surface, search: Search, rows: Array) -> Array:
    """Values (k,) of rows (k, d); -inf of those that have been tried or may not be."""
    values = surface.value(rows)
    if len(search.features.continuous) == 0:
        values[[row.tobytes() in search.keys for row in rows]] = -np.inf
    if search.region is not None:
        values[~search.region.holds(rows)] = -np.inf
    return values


def _neighbours(search: Search, row: Array, column: int, rng: np.random.Generator) -> Array:
    """A row (d,) and those that differ from it in the level of one discrete column.

    Where others depend on that column, what becomes active is filled in at random, a few times.
    """
    others = _other_positions(list(search.space.dimensions.values())[column], row[column], rng)
    if column in search.space.conditions.parents:
        others = np.repeat(others, PATIENCE.fillings)
    found = np.repeat(row[None], 1 + len(others), axis=0)
    found[1:, column] = others
    return search.filled(found, np.repeat(row[None], len(found), axis=0), rng)


def _other_positions(dimension: Dimension, here: float, rng: np.random.Generator) -> Array:
    """Levels to try: all when few; else by steps 1, 2, 4, ... both ways, or at random if unordered."""
    count = dimension.levels or 1
    every = np.arange(min(count, PATIENCE.levels), dtype=float)
    if count <= PATIENCE.levels:
        return np.setdiff1d(dimension.position(every), [here])
    if not dimension.ordered:
        return dimension.position(rng.integers(count, size=PATIENCE.levels).astype(float))
    level = dimension.level(here)
    steps = 2.0 ** np.arange(count.bit_length())
    reach = np.concatenate([level - steps, level + steps])
    return dimension.position(reach[(reach >= 0) & (reach < count)])
