"""Does covey reach what the paper reports? Five of its results, run with its settings.

``python -m covey.bench.paper --repetitions 20 --jobs 2 --out results.json`` runs them.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from covey.bench.functions import PROBLEMS
from covey.optimizer import Optimizer
from covey.strategy import strategy


@dataclass(frozen=True)
class Row:
    """One cell of the paper's table.

    Attributes:
        problem, method, acquisition: what is run.
        iterations, batch: T and M.
        mean, error: the best value that the paper reports, and its standard error.
    """

    problem: str
    method: str
    acquisition: str
    iterations: int
    batch: int
    mean: float
    error: float


ROWS = (
    Row("branin", "ats", "lcb", 7, 10, 0.3981, 0.0002),
    Row("branin", "b-lcb", "lcb", 7, 10, 0.3979, 2e-6),
    Row("cosines", "ats", "ei", 9, 5, -1.77321, 6e-8),
    Row("hartmann6", "ats", "ei", 9, 10, -3.2810, 0.0172),
    Row("rosenbrock4", "ats", "ei", 19, 5, 143.4917, 30.7108),
)


def best_found(row: Row, seed: int) -> float:
    """The best value of one run: 5 random points, then T batches of M (section 4 of the paper)."""
    problem = PROBLEMS[row.problem]
    optimizer = Optimizer(
        problem.space,
        strategy(row.method, s=10),
        row.acquisition,
        noise=0.0,
        prior="paper",
        n_initial=5,
        initial="random",
        seed=seed,
    )
    values: list[float] = []
    for size in [5] + [row.batch] * row.iterations:
        trials = optimizer.ask(size)
        measured = [problem(trial.params) for trial in trials]
        optimizer.tell(trials, measured)
        values += measured
    return min(values)


def summary(values: list[float]) -> tuple[float, float]:
    """Mean and standard error."""
    return statistics.mean(values), statistics.stdev(values) / math.sqrt(len(values))


def main() -> None:
    """Run all rows, print them beside the paper's, and keep every value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.repetitions)
    results = []
    print("| | covey | paper |\n|---|---|---|")
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in ROWS:
            values = list(pool.map(best_found, [row] * len(seeds), seeds))
            mean, error = summary(values)
            name = f"{row.problem}, {row.iterations} x {row.batch}, `{row.method}`, {row.acquisition}"
            print(f"| {name} | {mean:.5f} ± {error:.5f} | {row.mean:g} ± {row.error:g} |", flush=True)
            results.append({**asdict(row), "seeds": list(seeds), "values": values})
    if options.out:
        versions = {name: version(name) for name in ("covey", "numpy", "scipy", "numba", "emcee")}
        options.out.write_text(json.dumps({"header": versions, "rows": results}) + "\n")


if __name__ == "__main__":
    main()
