"""Many workers on one study, with nobody in charge: CoveySampler beside Optuna's own, on PostgreSQL.

    python benchmarks/decentralised.py            # 1 to 16 workers, 200 trials, 5 seeds; goes on if run again
    python benchmarks/decentralised.py figure     # from the results

Each worker is a process with a sampler of its own: CoveySampler (the same seed for all), TPESampler with
constant_liar and GPSampler (seeds of their own). GPSampler needs torch: in an environment apart,
``pip install -e '.[dev]' torch==2.13.0``; without it, it is left out. On Hartmann6:

- throughput: evaluations take no time, so all workers ask all the time. Trials per second, all in all.
- quality: 16 workers, evaluations of about a second. Regret by the number of finished trials.

A near-duplicate is a suggestion that is within 0.01 in every one of the six coordinates, each in [0, 1], of
another trial that was not finished when it was asked for. Times depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import postgres
from decentralised_figure import draw
from decentralised_worker import BOUNDS, PROBLEM, SAMPLERS
from optuna.trial import FrozenTrial, TrialState

from covey.bench.statistics import mean_and_error

HERE = Path(__file__).parent
OUT = HERE / "results" / "decentralised.json"
PICTURE = HERE.parent / "docs" / "decentralised" / "workers.png"
NEAR = 0.01
QUALITY_SECONDS = 1.0
PARTS = ("throughput", "quality")


def missing(sampler: str) -> str | None:
    """What a sampler needs and is not here."""
    return "torch" if sampler == "gp" and find_spec("torch") is None else None


def start(url: str, name: str, worker: int, options: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(HERE / "decentralised_worker.py"), url, name, *options, str(worker)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def work_together(processes: list[subprocess.Popen[str]]) -> list[dict[str, float]]:
    """Let workers begin when all are ready; what their asks took."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "a worker ended before it began"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [ask for process in processes for ask in json.loads(process.communicate()[0])]


def run(url: str, sampler: str, workers: int, trials: int, seconds: float, seed: int) -> dict[str, Any]:
    """One study by so many workers."""
    name = f"{sampler}-{workers}-{seconds}-{seed}"
    study = optuna.create_study(study_name=name, storage=url)
    numbers = ["--seed", str(seed), "--trials", str(trials), "--seconds", str(seconds)]
    processes = [start(url, name, k, [*numbers, sampler]) for k in range(workers)]
    try:
        asks = work_together(processes)
    finally:
        for process in processes:
            process.kill()  # those that are left, if one of them died
    done = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    assert len(done) == trials, f"{len(done)} of {trials} trials were finished"
    return {
        "sampler": sampler,
        "workers": workers,
        "seconds": seconds,
        "seed": seed,
        "trials": trials,
        "ask_wall": float(np.median([ask["wall"] for ask in asks])),
        "ask_processor": float(np.median([ask["processor"] for ask in asks])),
        **describe(done),
    }


def describe(done: list[FrozenTrial]) -> dict[str, Any]:
    """What can be told from the trials themselves."""
    began = np.array([trial.datetime_start.timestamp() for trial in done if trial.datetime_start])
    ended = np.array([trial.datetime_complete.timestamp() for trial in done if trial.datetime_complete])
    low, high = np.array(list(BOUNDS.values())).T
    points = (np.array([[trial.params[name] for name in BOUNDS] for trial in done]) - low) / (high - low)
    values = np.array([trial.value for trial in done])
    return {
        "asks_per_second": len(done) / float(ended.max() - began.min()),
        "near_duplicates": float(np.mean(_near_one_that_runs(points, began, ended))),
        "exact_duplicates": len(points) - len(np.unique(points, axis=0)),
        "best": np.minimum.accumulate(values[np.argsort(ended, kind="stable")]).tolist(),
    }


def _near_one_that_runs(points: Any, began: Any, ended: Any) -> list[bool]:
    """Of each trial, whether one that began before it and was not finished then is near."""
    near = []
    for k, point in enumerate(points):
        running = (began < began[k]) & (ended > began[k])
        near.append(bool((np.abs(points[running] - point).max(axis=1, initial=0.0) < NEAR).any()))
    return near


def plan(options: argparse.Namespace) -> Iterator[tuple[str, int, float, int]]:
    """All runs: a seed after the other, so that an early end leaves all samplers alike."""
    parts = {
        "throughput": [(workers, 0.0) for workers in options.workers],
        "quality": [(max(options.workers), QUALITY_SECONDS)],
    }
    settings = [setting for part in options.parts for setting in parts[part]]
    for seed in range(options.seed, options.seed + options.repetitions):
        for workers, seconds in settings:
            for sampler in options.samplers:
                yield sampler, workers, seconds, seed


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["sampler"], row["workers"], row["seconds"], row["seed"], row["trials"]


def measure(options: argparse.Namespace) -> None:
    rows = json.loads(options.out.read_text())["rows"] if options.out.exists() else []
    known = {_identity(row) for row in rows}
    with postgres.server(durable=True) as server:
        url = server.create("decentralised")
        for sampler, workers, seconds, seed in plan(options):
            if (sampler, workers, seconds, seed, options.trials) in known:
                continue
            row = run(url, sampler, workers, options.trials, seconds, seed)
            rows.append(row)
            write(options.out, rows)
            print(tell(row), flush=True)
    print(*map(tell_summary, summarise(rows)), sep="\n")
    print(f"written: {options.out}")


def tell(row: dict[str, Any]) -> str:
    kind = f"{row['seconds']:g} s each" if row["seconds"] else "throughput"
    return (
        f"{row['sampler']}, {row['workers']} workers, {kind}, seed {row['seed']}: "
        f"{row['asks_per_second']:.2f} asks/s ({1000 * row['ask_processor']:.0f} ms of processor each), "
        f"{100 * row['near_duplicates']:.1f} % near-duplicates, {row['exact_duplicates']} exact, "
        f"best {row['best'][-1]:.4f}"
    )


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean, standard error and repetitions of each setting, and the median of the best values."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in ("sampler", "workers", "seconds", "trials")), []).append(
            row
        )
    return [_summary(key, group) for key, group in groups.items()]


def _summary(key: tuple[Any, ...], group: list[dict[str, Any]]) -> dict[str, Any]:
    final = [row["best"][-1] for row in group]
    columns = {name: [row[name] for row in group] for name in ("asks_per_second", "near_duplicates")}
    columns["regret"] = [best - PROBLEM.minimum for best in final]
    summary = dict(zip(("sampler", "workers", "seconds", "trials"), key, strict=True))
    summary |= {"repetitions": len(group), "median_best": float(np.median(final))}
    summary["exact_duplicates"] = sum(row["exact_duplicates"] for row in group)
    for name, values in columns.items():
        mean, error = mean_and_error(values)
        summary[name] = {"mean": mean, "standard_error": error if len(values) > 1 else None}
    return summary


def tell_summary(row: dict[str, Any]) -> str:
    parts = [
        f"{name.replace('_', ' ')} {row[name]['mean']:.4g} ± {row[name]['standard_error'] or 0:.2g}"
        for name in ("asks_per_second", "near_duplicates", "regret")
    ]
    return (
        f"{row['sampler']}, {row['workers']} workers, {row['seconds']:g} s, {row['repetitions']} runs: "
        f"{', '.join(parts)}, median best {row['median_best']:.4f}, "
        f"{row['exact_duplicates']} exact duplicates"
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    names = ("covey", "optuna", "torch", "numpy", "scipy", "sqlalchemy", "psycopg2-binary")
    header = {name: _version(name) for name in names} | {"cores": os.cpu_count(), "near": NEAR}
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps({"header": header, "summary": summarise(rows), "rows": rows}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=["measure", "figure"], nargs="?", default="measure")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if options.mode == "measure":
        for sampler in [name for name in options.samplers if missing(name)]:
            print(f"{sampler} is left out, it needs {missing(sampler)}: pip install torch==2.13.0")
            options.samplers.remove(sampler)
        measure(options)
    draw(json.loads(options.out.read_text())["rows"], PROBLEM.minimum, options.picture)
    print(f"written: {options.picture}")


if __name__ == "__main__":
    main()
