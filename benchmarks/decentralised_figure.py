"""Picture of decentralised.py: throughput and near-duplicates by workers, regret by finished trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator

from covey.bench.statistics import mean_and_error
from covey.bench.style import pyplot, shrink

LABELS = {"covey": "CoveySampler", "gp": "GPSampler", "tpe": "TPESampler, constant liar"}
LOOKS = {
    "covey": {"color": "#cc0066", "ls": "-", "marker": "o"},
    "gp": {"color": "#0072b2", "ls": "--", "marker": "s"},
    "tpe": {"color": "#e69f00", "ls": ":", "marker": "^"},
}
LOWEST = 1e-4


def draw(rows: list[dict[str, Any]], minimum: float, picture: Path) -> None:
    """Mean and standard error by workers; median, and the range of all runs, by finished trials.

    A part that was not measured leaves its panels empty.
    """
    figure, (speed, near, regret) = pyplot().subplots(1, 3, figsize=(8.4, 2.9), layout="constrained")
    for sampler in [name for name in LABELS if any(row["sampler"] == name for row in rows)]:
        own = [row for row in rows if row["sampler"] == sampler]
        asking = [row for row in own if row["seconds"] == 0]
        _by_workers(speed, asking, "asks_per_second", 1, sampler)
        _by_workers(near, asking, "near_duplicates", 100, sampler)
        _by_trials(regret, [row for row in own if row["seconds"] > 0], minimum, sampler)
    workers = sorted({row["workers"] for row in rows})
    runs = len({row["seed"] for row in rows if row["seconds"] > 0})
    speed.set(ylabel="asks per second", ylim=(0, None), title="All workers ask all the time")
    near.set(ylabel="% near one that runs", ylim=(0, None), title="Near-duplicates of these")
    for axis in (speed, near):
        axis.set(xlabel="workers", xscale="log")
        axis.set_xticks(workers, [str(count) for count in workers])
        axis.xaxis.set_minor_locator(NullLocator())
    title = f"Hartmann6, 1 s each, {workers[-1]} workers"
    regret.set(xlabel="finished trials", ylabel=f"regret, median of {runs}", yscale="log", title=title)
    labelled = speed if speed.get_legend_handles_labels()[1] else regret
    figure.legend(*labelled.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    shrink(picture)


def _by_workers(axis: Any, rows: list[dict[str, Any]], field: str, scale: float, sampler: str) -> None:
    if not rows:
        return
    workers = sorted({row["workers"] for row in rows})
    values = [[scale * row[field] for row in rows if row["workers"] == count] for count in workers]
    means, errors = zip(*(mean_and_error(runs) for runs in values), strict=True)
    axis.errorbar(workers, means, errors, label=LABELS[sampler], **LOOKS[sampler])


def _by_trials(axis: Any, rows: list[dict[str, Any]], minimum: float, sampler: str) -> None:
    if not rows:
        return
    curves = np.maximum(np.array([row["best"] for row in rows]) - minimum, LOWEST)
    finished = np.arange(1, curves.shape[1] + 1)
    look = {**LOOKS[sampler], "marker": None}
    axis.plot(finished, np.median(curves, axis=0), label=LABELS[sampler], **look)
    axis.fill_between(
        finished, curves.min(axis=0), curves.max(axis=0), color=look["color"], alpha=0.12, linewidth=0
    )
