"""Cost of a suggestion: median seconds of ask(M), and as multiples of one dpotrf of the same size.

    make bench                      # everything, a few minutes
    python benchmarks/cost.py --observations 100 --batches 10

On one core: the program starts itself again with BLAS and covey held to a single thread. Multiples of
``dpotrf`` (LAPACK's Cholesky factorisation of an n x n matrix, timed in the same run) make figures from
different machines comparable. The objective is Hartmann6 (d = 6), strategy j-ATS, s = 10, log-EI, noise
learned: the fully Bayesian default. "cold" is the first ask of an optimizer that was told n values at
once; "warm" is an ask after a further batch of 10.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.linalg.lapack import dpotrf

import covey
from covey.batch import choose
from covey.bench.problems.functions import PROBLEMS
from covey.model import gaussian_process
from covey.model.log_posterior import Data, log_posterior
from covey.model.priors import resolve_prior

PROBLEM = PROBLEMS["hartmann6"]
HERE = Path(__file__).parent
console = Console()


def median(work: Callable[[], object], repetitions: int) -> float:
    seconds = []
    for _ in range(repetitions):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def cholesky_seconds(n: int) -> float:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(n, n))
    matrix = np.asfortranarray(root @ root.T + n * np.eye(n))
    copies = iter([matrix.copy(order="F") for _ in range(101)])
    return median(lambda: dpotrf(next(copies), lower=1, overwrite_a=1, clean=0), 101)


def log_posterior_seconds(n: int) -> float:
    """Of one evaluation, in half-ensembles of 32 as the sampler asks for them."""
    rng = np.random.default_rng(0)
    x = rng.random((n, 6))
    y = PROBLEM.formula(x)
    data = Data(x, (y - y.mean()) / y.std(), np.arange(6), None, resolve_prior("default", 6))
    position = np.concatenate([rng.normal(-0.5, 0.3, (32, 6)), np.tile([0.3, 0.0, -8.0], (32, 1))], axis=1)
    log_posterior(data, position)
    return median(lambda: log_posterior(data, position), 15) / 32


def told(n: int, seed: int, strategy: str) -> covey.Optimizer:
    opt = covey.Optimizer(
        PROBLEM.space, covey.strategy(strategy, s=10), n_initial=n, initial="random", seed=seed
    )
    trials = opt.ask(n)
    opt.tell(trials, [PROBLEM(trial.params) for trial in trials])
    return opt


class Stopwatch:
    """Seconds spent in the parts of a batch, by wrapping the functions the batch loop calls."""

    PARTS = (
        (gaussian_process, "sample", "theta posterior"),
        (gaussian_process, "fit", "factorise"),
        (choose, "maximise", "maximise"),
    )

    def __init__(self) -> None:
        self.seconds = {label: 0.0 for _, _, label in self.PARTS}

    def __enter__(self) -> Stopwatch:
        self.original = [(module, name, getattr(module, name)) for module, name, _ in self.PARTS]
        for module, name, label in self.PARTS:
            setattr(module, name, self.timed(getattr(module, name), label))
        return self

    def timed(self, function: Callable[..., object], label: str) -> Callable[..., object]:
        def wrapper(*args: object) -> object:
            started = time.perf_counter()
            try:
                return function(*args)
            finally:
                self.seconds[label] += time.perf_counter() - started

        return wrapper

    def __exit__(self, *_: object) -> None:
        for module, name, function in self.original:
            setattr(module, name, function)


def ask_seconds(n: int, size: int, repetitions: int, strategy: str) -> dict[str, float]:
    cold, warm, parts = [], [], []
    for seed in range(repetitions):
        opt = told(n, seed, strategy)
        started = time.perf_counter()
        opt.ask(size)
        cold.append(time.perf_counter() - started)
        opt = told(n - 10, seed, strategy)
        trials = opt.ask(10)
        opt.tell(trials, [PROBLEM(trial.params) for trial in trials])
        with Stopwatch() as watch:
            started = time.perf_counter()
            opt.ask(size)
            warm.append(time.perf_counter() - started)
        parts.append({**watch.seconds, "rest": warm[-1] - sum(watch.seconds.values())})
    shares = {label: float(np.median([p[label] for p in parts])) for label in parts[0]}
    return {"cold": float(np.median(cold)), "warm": float(np.median(warm)), **shares}


def import_seconds() -> float:
    """Seconds that ``import covey`` adds to a new interpreter."""

    def run(code: str) -> float:
        return median(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)

    return run("import covey") - run("pass")


def show(rows: list[dict[str, float]]) -> None:
    table = Table(title="j-ATS, s = 10, d = 6, one core")
    for column in (
        "n",
        "M",
        "cold s",
        "warm s",
        "x dpotrf cold",
        "warm",
        "theta %",
        "factor %",
        "maximise %",
    ):
        table.add_column(column, justify="right")
    for row in rows:
        unit, warm = row["dpotrf"], row["warm"]
        shares = [row["theta posterior"], row["factorise"], row["maximise"]]
        table.add_row(
            f"{row['n']:.0f}",
            f"{row['M']:.0f}",
            f"{row['cold']:.3f}",
            f"{warm:.3f}",
            f"{row['cold'] / unit:,.0f}",
            f"{warm / unit:,.0f}",
            *[f"{100 * share / warm:.0f}" for share in shares],
        )
    console.print(table)
    single = Table(title="One log-posterior evaluation")
    for column in ("n", "dpotrf us", "log-posterior us", "x dpotrf"):
        single.add_column(column, justify="right")
    for n in sorted({row["n"] for row in rows}):
        row = next(r for r in rows if r["n"] == n)
        single.add_row(
            f"{n:.0f}",
            f"{1e6 * row['dpotrf']:.1f}",
            f"{1e6 * row['log_posterior']:.1f}",
            f"{row['log_posterior'] / row['dpotrf']:.2f}",
        )
    console.print(single)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--observations", type=int, nargs="+", default=[50, 100, 200, 500])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 10, 20])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--strategy", default="j-ats", choices=covey.strategies())
    parser.add_argument("--out", type=Path, default=HERE / "results" / "cost.json")
    options = parser.parse_args()
    told(20, 0, options.strategy).ask(2)  # compiles
    rows = []
    for n in options.observations:
        for size in options.batches:
            unit = {"dpotrf": cholesky_seconds(n), "log_posterior": log_posterior_seconds(n)}
            asks = ask_seconds(n, size, options.repetitions, options.strategy)
            rows.append({"n": n, "M": size, **unit, **asks})
            console.print(f"n = {n}, M = {size}: {asks['warm']:.3f} s")
    show(rows)
    seconds = import_seconds()
    console.print(f"import covey: {seconds:.2f} s")
    header = {
        "strategy": options.strategy,
        "repetitions": options.repetitions,
        "import_seconds": seconds,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: version(name) for name in ("covey", "numpy", "scipy", "numba", "emcee")},
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"header": header, "rows": rows}, indent=1) + "\n")
    console.print(f"written: {options.out}")


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") == "1":
        main()
    else:  # libraries read it once, when they are imported
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=os.environ | single).returncode)
