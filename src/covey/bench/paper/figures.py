"""Figures of the paper: all five, from results on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench.paper.curves import draw, present, stacked
from covey.bench.paper.protocol import CLIP, COLUMNS, METHODS
from covey.bench.style import label, look, pyplot, save

Records = Sequence[dict[str, Any]]
TITLES = {
    "branin": "Branin",
    "cosines": "Cosines",
    "hartmann6": "Hartmann6",
    "eggholder": "Eggholder",
    "rosenbrock4": "Rosenbrock4",
}
_GROUPS = (("ats", "j-ats", "h-ats"), ("b-lcb", "ats-b-lcb"), ("p-ts", "ats-p-ts"))
"""Methods whose diversity figure 4 compares."""
_DIVERSITY = ("hartmann6", "eggholder", "rosenbrock4", "cosines", "branin")
"""Problems that it shows, the first that there are results for."""


def _known(records: Records, wanted: Sequence[str], field: str) -> list[str]:
    there = present(records, field)
    return [name for name in wanted if name in there]


def _title(name: str, M: int) -> str:
    return f"{TITLES[name]}, M = {M}, {COLUMNS[name].acquisition.upper()}"


def sequential_and_parallel(records: Records, folder: Path) -> Path | None:
    """Figure 1: best value by batch iteration, ATS with several M beside sequential BO."""
    problems = _known(records, ("hartmann6", "eggholder", "branin"), "problem")
    ats = [record for record in records if record["method"] == "ats"]
    problems = [name for name in problems if any(record["problem"] == name for record in ats)]
    if not problems:
        return None
    figure, axes = _panels(len(problems), legend=True)
    for axis, name in zip(axes, problems, strict=True):
        rounds = COLUMNS[name].iterations
        alone = stacked(records, "best", problem=name, method="sequential")
        if alone.size:
            draw(axis, alone[:, : rounds + 1], "sequential", name="sequential, M = 1")
        sizes = sorted({record["M"] for record in ats if record["problem"] == name})
        for shade, M in zip(
            ("j-ats", "ats", "h-ats", "p-ts"), _around(sizes, COLUMNS[name].batch), strict=False
        ):
            values = stacked(ats, "best", problem=name, M=M)
            draw(axis, values[:, : rounds + 1], shade, name=f"ATS, M = {M}")
        axis.set(title=f"{TITLES[name]}, {COLUMNS[name].acquisition.upper()}", xlabel="batch iteration")
    axes[0].set_ylabel("best value")
    _legend_below(figure, axes)
    return save(figure, folder, "figure1-sequential-and-parallel")


def _around(sizes: list[int], batch: int) -> list[int]:
    """At most four batch sizes, the paper's among them."""
    return sorted(sorted(sizes, key=lambda M: (batch != M, M))[:4])


def _regret(records: Records, folder: Path, problems: Sequence[str], name: str) -> Path | None:
    there = _known(records, problems, "problem")
    if not there:
        return None
    methods = _known(records, METHODS, "method")
    figure, axes = _panels(len(there), legend=True)
    for axis, problem in zip(axes, there, strict=True):
        column = COLUMNS[problem]
        for method in methods:
            M = 1 if method == "sequential" else column.batch
            values = stacked(records, "regret", problem=problem, method=method, M=M)
            if values.size:
                draw(axis, values[:, : column.iterations + 1], method, floor=CLIP)
        axis.set(title=_title(problem, column.batch), xlabel="batch iteration", yscale="log")
    axes[0].set_ylabel("regret")
    _legend_below(figure, axes)
    return save(figure, folder, name)


def valleys(records: Records, folder: Path) -> Path | None:
    """Figure 2: regret of every method on the valley-like functions."""
    problems = [name for name, column in COLUMNS.items() if column.valley]
    return _regret(records, folder, problems, "figure2-valleys")


def multimodal(records: Records, folder: Path) -> Path | None:
    """Figure 3: regret of every method on the multi-modal functions."""
    problems = [name for name, column in COLUMNS.items() if not column.valley]
    return _regret(records, folder, problems, "figure3-multimodal")


def diversity(records: Records, folder: Path) -> Path | None:
    """Figure 4: regret above violins of the mean distance within a batch, by iteration."""
    batches = [record for record in records if record["distance"] is not None]
    groups = [group for group in _GROUPS if len(_known(batches, group, "method")) > 1]
    problems = _known(batches, _DIVERSITY, "problem")
    if not groups or not problems:
        return None
    problem, plt = problems[0], pyplot()
    M, rounds = COLUMNS[problem].batch, COLUMNS[problem].iterations
    figure, axes = plt.subplots(
        2,
        len(groups),
        figsize=(3.4 * len(groups), 4.4),
        layout="constrained",
        sharex=True,
        sharey="row",
        squeeze=False,
    )
    for column, group in zip(axes.T, groups, strict=True):
        methods = _known(batches, group, "method")
        for k, method in enumerate(methods):
            regret = stacked(batches, "regret", problem=problem, method=method, M=M)
            distance = stacked(
                [record for record in batches if record["iteration"] > 0] + _initial(batches),
                "distance",
                problem=problem,
                method=method,
                M=M,
            )
            if regret.size:
                draw(column[0], regret[:, : rounds + 1], method, floor=CLIP)
                _violins(column[1], distance[:, 1 : rounds + 1], method, k, len(methods))
        column[0].set(title=f"{TITLES[problem]}, M = {M}", yscale="log")
        column[0].legend(fontsize=7)
        column[1].set_xlabel("batch iteration")
        column[1].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("regret")
    axes[1, 0].set_ylabel("mean distance within a batch\n(unit cube)")
    return save(figure, folder, "figure4-diversity")


def _initial(batches: Records) -> list[dict[str, Any]]:
    return [record for record in batches if record["iteration"] == 0]


def _violins(axis: Any, values: Any, method: str, k: int, count: int) -> None:
    """The distribution over runs at each iteration, with a white dot at the mean."""
    width = 0.8 / count
    places = np.arange(1, values.shape[1] + 1) + (k - (count - 1) / 2) * width
    how = look(method)
    for body in axis.violinplot(values, places, widths=width, showextrema=False)["bodies"]:
        body.set(facecolor=how.color, edgecolor=how.color, alpha=0.55)
    mean = values.mean(axis=0)
    axis.plot(places, mean, "o", color="white", markeredgecolor=how.color, markersize=3, label=label(method))


def tuning(records: Records, folder: Path) -> Path | None:
    """Figure 5: best validation log-loss of XGBoost by batch iteration."""
    if not records:
        return None
    figure, (axis,) = _panels(1, legend=True, width=5.0)
    longest = max((record["iteration"] for record in records if record["M"] > 1), default=20)
    methods = _known(records, (*METHODS, "random", "auto"), "method")
    for method in methods:
        values = stacked(records, "best", method=method)
        draw(axis, values[:, : longest + 1], method)
    M = max(record["M"] for record in records)
    data = {"xgboost-higgs": "HIGGS"}.get(records[0]["problem"], "generated data")
    axis.set(title=f"XGBoost on {data}, M = {M}")
    axis.set(xlabel="batch iteration", ylabel="best validation log-loss")
    _legend_below(figure, [axis])
    return save(figure, folder, "figure5-xgboost")


FIGURES: tuple[tuple[str, Callable[[Records, Path], Path | None]], ...] = (
    ("results", sequential_and_parallel),
    ("results", valleys),
    ("results", multimodal),
    ("results", diversity),
    ("xgboost", tuning),
)
"""Each with the file of results that it is drawn from."""


def _panels(count: int, *, legend: bool = False, width: float = 3.2) -> tuple[Any, Any]:
    figure, axes = pyplot().subplots(
        1, count, figsize=(width * count, 3.1 if legend else 2.7), layout="constrained", squeeze=False
    )
    return figure, axes[0]


def _legend_below(figure: Any, axes: Sequence[Any]) -> None:
    """One legend for all panels."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(name, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=min(5, len(entries)))
