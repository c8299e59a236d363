"""Minimise Hartmann6 in batches of 10 with several methods: a live display, a table and a picture.

Run it with ``make demo``. Every method starts from the same 5 points; random search is the yardstick.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import covey
from covey.bench.functions import PROBLEMS

PROBLEM = PROBLEMS["hartmann6"]
METHODS = ("random", "p-ts", "lp", "b-lcb", "ats-b-lcb", "ats", "h-ats", "auto")
INITIAL, BATCH, ITERATIONS = 5, 10, 9


@dataclass
class Run:
    method: str
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


def minimise(method: str, seed: int, progress: Progress) -> Run:
    opt, run = optimizer(method, seed), Run(method)
    bar = progress.add_task(method, total=ITERATIONS, best="")
    for batch in [INITIAL] + [BATCH] * ITERATIONS:
        started = time.perf_counter()
        trials = opt.ask(batch)
        run.seconds += time.perf_counter() - started
        opt.tell(trials, [PROBLEM(trial.params) for trial in trials])
        run.best.append(opt.best.value)
        progress.update(bar, completed=len(run.best) - 1, best=f"{run.best[-1]:.4f}")
    return run


def table(runs: list[Run]) -> Table:
    evaluations = INITIAL + BATCH * ITERATIONS
    out = Table(title=f"Hartmann6, {ITERATIONS} batches of {BATCH}, {evaluations} evaluations each")
    for column in ("method", "best value", "regret", "seconds choosing points"):
        out.add_column(column, justify="left" if column == "method" else "right")
    winner = min(run.best[-1] for run in runs)
    for run in sorted(runs, key=lambda r: r.best[-1]):
        regret = run.best[-1] - PROBLEM.minimum
        style = "bold" if run.best[-1] == winner else ""
        out.add_row(run.method, f"{run.best[-1]:.5f}", f"{regret:.2e}", f"{run.seconds:.2f}", style=style)
    return out


def picture(runs: list[Run], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    colours = plt.colormaps["tab10"]
    for k, run in enumerate(runs):
        regret = np.maximum(np.array(run.best) - PROBLEM.minimum, 1e-6)
        line = {"color": "0.55", "linestyle": "--"} if run.method == "random" else {"color": colours(k)}
        width = 2.6 if run.method == "auto" else 1.5
        axes.semilogy(regret, marker="o", markersize=3.5, linewidth=width, label=run.method, **line)
    axes.set_xlabel(f"batch of {BATCH}")
    axes.set_ylabel("regret: best value so far minus the minimum")
    axes.set_title("Hartmann6, one run of each method, same first 5 points")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left", frameon=False, ncols=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=["random", *covey.strategies()])
    parser.add_argument("--out", type=Path, default=Path("demo-output"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.print("The first run on a machine compiles covey's kernels: a few seconds, once.")
    columns = (
        TextColumn("{task.description:>10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("best {task.fields[best]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        runs = [minimise(method, options.seed, progress) for method in options.methods]
    console.print(table(runs))
    picture(runs, options.out / "convergence.png")
    data = {"problem": PROBLEM.name, "seed": options.seed, "covey": covey.__version__}
    data["runs"] = [asdict(run) for run in runs]
    (options.out / "convergence.json").write_text(json.dumps(data, indent=1))
    console.print(f"picture: {options.out / 'convergence.png'}, data: {options.out / 'convergence.json'}")


if __name__ == "__main__":
    main()
