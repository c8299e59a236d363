"""Minimise Hartmann6 in batches of 10 with several methods: a live display, a table and a picture.

Run it with ``make demo``. In a run every method starts from the same 5 points; random search is the
yardstick. ``--repetitions 10`` gives means and standard errors.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

import covey
from covey.bench.problems.functions import PROBLEMS
from covey.bench.style import shrink

PROBLEM = PROBLEMS["hartmann6"]
METHODS = ("random", "p-ts", "lp", "b-lcb", "ats-b-lcb", "ats", "h-ats", "auto")
INITIAL, BATCH, ITERATIONS = 5, 10, 9


@dataclass
class Run:
    method: str
    seed: int
    best: list[float] = field(default_factory=list)
    seconds: float = 0.0


def optimizer(method: str, seed: int) -> covey.Optimizer:
    """Random search is an initial design that never ends."""
    random = method == "random"
    return covey.Optimizer(
        PROBLEM.space,
        "auto" if random else method,
        noise=0.0,
        n_initial=INITIAL + BATCH * ITERATIONS if random else INITIAL,
        initial="random",
        seed=seed,
    )


def minimise(method: str, seed: int, report: Callable[[Run], None]) -> Run:
    opt, run = optimizer(method, seed), Run(method, seed)
    for batch in [INITIAL] + [BATCH] * ITERATIONS:
        started = time.perf_counter()
        trials = opt.ask(batch)
        run.seconds += time.perf_counter() - started
        opt.tell(trials, [PROBLEM(trial.params) for trial in trials])
        run.best.append(opt.best.value)
        report(run)
    return run


def show(progress: Progress, bar: TaskID, run: Run) -> None:
    progress.update(bar, advance=1, best=run.best[-1])


def run_all(methods: list[str], seeds: range, console: Console) -> list[Run]:
    columns = (
        TextColumn("{task.description:>10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("best {task.fields[best]:.4f}"),
        TimeElapsedColumn(),
    )
    runs: list[Run] = []
    with Progress(*columns, console=console) as progress:
        for method in methods:
            bar = progress.add_task(method, total=len(seeds) * (ITERATIONS + 1), best=float("nan"))
            for seed in seeds:
                runs.append(minimise(method, seed, partial(show, progress, bar)))
    return runs


def by_method(runs: list[Run]) -> dict[str, list[Run]]:
    return {
        method: [r for r in runs if r.method == method] for method in dict.fromkeys(r.method for r in runs)
    }


def mean_and_error(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error over the first axis; an error of 0 for a single run."""
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])
    return values.mean(axis=0), spread / np.sqrt(len(values))


def table(runs: list[Run]) -> Table:
    groups = by_method(runs)
    count, evaluations = len(next(iter(groups.values()))), INITIAL + BATCH * ITERATIONS
    out = Table(
        title=f"Hartmann6, {ITERATIONS} batches of {BATCH}, {evaluations} evaluations, {count} run(s)"
    )
    for column in ("method", "best value", "regret", "seconds choosing points"):
        out.add_column(column, justify="left" if column == "method" else "right")
    rows = []
    for method, group in groups.items():
        mean, error = mean_and_error(np.array([run.best[-1] for run in group]))
        rows.append((mean, error, method, np.mean([run.seconds for run in group])))
    for mean, error, method, seconds in sorted(rows):
        value = f"{mean:.5f}" + (f" ± {error:.5f}" if count > 1 else "")
        style = "bold" if mean == min(rows)[0] else ""
        out.add_row(method, value, f"{mean - PROBLEM.minimum:.2e}", f"{seconds:.2f}", style=style)
    return out


def picture(runs: list[Run], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    styles = {"random": {"color": "0.6", "linestyle": ":"}, "auto": {"color": "black", "linewidth": 2.6}}
    colours = iter(plt.colormaps["Dark2"].colors)
    markers = iter("os^Dv<>phX")
    for method, group in by_method(runs).items():
        regret = np.maximum(np.array([run.best for run in group]) - PROBLEM.minimum, 1e-6)
        mean, error = mean_and_error(regret)
        style = {"linewidth": 1.5, "marker": next(markers), "markersize": 4, **styles.get(method, {})}
        style.setdefault("color", next(colours))
        axes.semilogy(mean, label=method, **style)
        axes.fill_between(
            range(len(mean)), mean - error, mean + error, color=style["color"], alpha=0.15, lw=0
        )
    count = len(group)
    axes.set_xlabel(f"batches of {BATCH} evaluations")
    axes.set_ylabel("regret (best value so far - minimum)")
    axes.set_title(f"Hartmann6, {f'mean and standard error of {count} runs' if count > 1 else 'one run'}")
    axes.grid(alpha=0.3, which="both", linewidth=0.5)
    axes.legend(loc="lower left", frameon=False, ncols=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, dpi=150)
    shrink(path)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=["random", *covey.strategies()])
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.print("The first run on a machine compiles covey's kernels: some seconds, once.")
    runs = run_all(options.methods, range(options.seed, options.seed + options.repetitions), console)
    console.print(table(runs))
    picture(runs, options.out / "convergence.png")
    header = {"problem": PROBLEM.name, "minimum": PROBLEM.minimum, "batch": BATCH, "initial": INITIAL}
    header |= {name: version(name) for name in ("covey", "numpy", "scipy", "numba", "emcee")}
    data = {"header": header, "runs": [asdict(run) for run in runs]}
    (options.out / "convergence.json").write_text(json.dumps(data) + "\n")
    console.print(f"picture: {options.out / 'convergence.png'}, data: {options.out / 'convergence.json'}")


if __name__ == "__main__":
    main()
