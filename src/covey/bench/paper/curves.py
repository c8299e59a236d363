"""Curves of runs: their values by iteration, and lines with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.arrays import Array
from covey.bench.statistics import means_and_errors
from covey.bench.style import label, look


def stacked(records: Sequence[dict[str, Any]], field: str, **chosen: Any) -> Array:
    """A field of all runs that are as chosen: (runs, iterations), as long as the shortest run."""
    runs: dict[tuple[Any, ...], dict[int, float]] = {}
    for record in records:
        if all(record[key] == value for key, value in chosen.items()):
            key = (record["method"], record["acquisition"], record["M"], record["seed"])
            runs.setdefault(key, {})[record["iteration"]] = record[field]
    if not runs:
        return np.empty((0, 0))
    length = min(len(run) for run in runs.values())
    return np.array([[run[k] for k in range(length)] for run in runs.values()], dtype=float)


def draw(
    axis: Any, values: Array, method: str, *, name: str | None = None, floor: float | None = None
) -> None:
    """A line of the mean by iteration, with a band of one standard error; a single run has none.

    Args:
        axis: of matplotlib.
        values: (runs, iterations), iteration 0 first, which is not shown: it is the random points.
        method: which says how the line looks.
        name: in the legend.
        floor: no value is drawn below this.
    """
    mean, error = means_and_errors(values if floor is None else np.maximum(values, floor))
    steps, how = np.arange(1, len(mean)), look(method)
    lower, upper = (mean - error)[1:], (mean + error)[1:]
    if floor is not None:
        lower = np.maximum(lower, floor)
    axis.plot(
        steps,
        mean[1:],
        color=how.color,
        linestyle=how.dashes,
        marker=how.marker,
        markevery=max(1, len(steps) // 8),
        label=name or label(method),
    )
    axis.fill_between(steps, lower, upper, color=how.color, alpha=0.15, linewidth=0)
    axis.xaxis.get_major_locator().set_params(integer=True)


def present(records: Sequence[dict[str, Any]], field: str) -> list[Any]:
    """The values that a field has, in the order of their first appearance."""
    return list(dict.fromkeys(record[field] for record in records))
