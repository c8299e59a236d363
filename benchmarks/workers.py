"""Utilisation of workers: an asynchronous run against batches, on real workers and on a simulated clock.

    python benchmarks/workers.py real                 # 8 local processes, evaluations of about 1 s: 5 minutes
    python benchmarks/workers.py simulated            # 8, 64 and 512 virtual workers, no sleeping
    python benchmarks/workers.py figure               # regret by wall-clock time of both, from the results

Real: Hartmann6 that takes a random time (log-normal around 1 s). Utilisation is the share of the workers'
time, from the first start to the last end, that was spent evaluating; the share until the last point was
handed out, which leaves out the idle tail, is reported beside it. Simulated: the same optimizer on virtual
workers whose evaluations take virtual time, as choosing does (0.05 s).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from virtual import simulate

import covey
from covey.bench.problems.functions import PROBLEMS
from covey.bench.statistics import mean_and_error, means_and_errors
from covey.bench.style import shrink

PROBLEM = PROBLEMS["hartmann6"]
RESULTS = Path(__file__).parent / "results"
PICTURE = Path(__file__).parent.parent / "docs" / "workers" / "regret-by-time"
CHOOSING = 0.05
EVALUATIONS = {8: 96, 64: 320, 512: 1024}
"""Of a simulated run, by the number of workers."""


def duration(params: dict[str, float]) -> float:
    """Around 1 s, different for every point and the same for the same one."""
    digest = hashlib.sha256(repr(sorted(params.items())).encode()).digest()
    return float(np.random.default_rng(int.from_bytes(digest[:8], "big")).lognormal(-0.08, 0.4))


def slow(params: dict[str, float]) -> float:
    time.sleep(duration(params))
    return PROBLEM(params)


@dataclass
class Watch:
    """Notes when each evaluation ended, as a callback."""

    ends: list[float]
    best: list[float]

    def __call__(self, _trial: covey.Trial, best: covey.Trial | None) -> None:
        self.ends.append(time.monotonic())
        self.best.append(float("nan") if best is None or best.value is None else best.value)


def real(
    workers: int, evaluations: int, asynchronous: bool, seed: int, storage: str | None
) -> dict[str, Any]:
    watch = Watch([], [])
    result = covey.minimize(
        slow,
        PROBLEM.space,
        batch_size=workers,
        evaluations=evaluations,
        asynchronous=asynchronous,
        noise=0.0,
        seed=seed,
        storage=storage,
        name=f"workers-{asynchronous}-{seed}",
        callbacks=[watch],
        progress=False,
    )
    durations = np.array([result.durations[t.id] for t in result.trials])
    # The first evaluations begin together, when the processes are up.
    first = watch.ends[0] - min(durations[:workers])
    ends = np.array(watch.ends) - first
    handed_out = ends[evaluations - workers]
    busy = durations.sum() - (ends[ends > handed_out] - handed_out).sum()
    return {
        "ends": ends.round(4).tolist(),
        "best": watch.best,
        "wall": float(ends[-1]),
        "utilisation": float(durations.sum() / (workers * ends[-1])),
        "utilisation_until_the_last_point": float(busy / (workers * handed_out)),
        "seconds_choosing": result.seconds_choosing,
    }


def virtual(workers: int, evaluations: int, asynchronous: bool, seed: int) -> dict[str, Any]:
    optimizer = covey.Optimizer(PROBLEM.space, noise=0.0, seed=seed)
    return simulate(optimizer, PROBLEM, duration, workers, evaluations, asynchronous, CHOOSING)


def how(asynchronous: bool) -> str:
    return "asynchronous" if asynchronous else "batches"


def tell(runs: list[dict[str, Any]]) -> str:
    """Mean and standard error of what matters."""
    words = []
    for key, unit, scale in (("utilisation", " %", 100), ("utilisation_until_the_last_point", " %", 100)):
        values = [scale * run[key] for run in runs if key in run]
        if values:
            words.append(f"{key.replace('_', ' ')} {_plus_minus(values)}{unit}")
    words.append(f"{_plus_minus([run['wall'] for run in runs])} s")
    words.append(f"regret {_plus_minus([run['best'][-1] - PROBLEM.minimum for run in runs], 4)}")
    return ", ".join(words)


def _plus_minus(values: list[float], digits: int = 1) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for workers in options.workers or {"real": [8], "simulated": [8, 64, 512]}[options.mode]:
        for asynchronous in (True, False):
            runs = []
            for seed in range(options.seed, options.seed + options.repetitions):
                if options.mode == "real":
                    count = options.evaluations or 200
                    run = real(workers, count, asynchronous, seed, options.storage)
                else:
                    count = options.evaluations or EVALUATIONS.get(workers, 4 * workers)
                    run = virtual(workers, count, asynchronous, seed)
                runs.append({"workers": workers, "asynchronous": asynchronous, "seed": seed, **run})
            print(f"{workers} workers, {how(asynchronous)}, {count} evaluations: {tell(runs)}", flush=True)
            rows += runs
    return rows


def _identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["workers"], row["asynchronous"], row["seed"]


def figure() -> None:
    """Mean regret by time with its standard error: real workers, then virtual ones."""
    import matplotlib.pyplot as plt

    panels = []
    for mode in ("real", "simulated"):
        rows = json.loads((RESULTS / f"workers-{mode}.json").read_text())["rows"]
        for workers in sorted({row["workers"] for row in rows}):
            title = f"{workers} {'processes' if mode == 'real' else 'virtual workers'}"
            panels.append((title, [row for row in rows if row["workers"] == workers]))
    plt.rcParams.update({"font.size": 9})
    made, axes = plt.subplots(1, len(panels), figsize=(3.0 * len(panels), 2.9), layout="constrained")
    for axis, (title, rows) in zip(np.atleast_1d(axes), panels, strict=True):
        for asynchronous, style in ((True, {"color": "#0b5394"}), (False, {"color": "#e69138", "ls": "--"})):
            runs = [row for row in rows if row["asynchronous"] == asynchronous]
            _draw(axis, runs, how(asynchronous), style)
        axis.set(title=title, xlabel="wall-clock time (s)", yscale="log", ylim=(1e-3, None))
    np.atleast_1d(axes)[0].set_ylabel("regret on Hartmann6")
    np.atleast_1d(axes)[0].legend(frameon=False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    picture = PICTURE.with_suffix(".png")
    made.savefig(picture, dpi=150)
    shrink(picture)
    print(f"written: {PICTURE.with_suffix('.png')}")


def _draw(axis: Any, runs: list[dict[str, Any]], label: str, style: dict[str, str]) -> None:
    start = max(run["ends"][0] for run in runs)
    grid = np.linspace(start, max(run["wall"] for run in runs), 200)
    regret = np.array(
        [np.array(run["best"])[np.searchsorted(run["ends"], grid, side="right").clip(1) - 1] for run in runs]
    )
    regret = np.maximum(regret - PROBLEM.minimum, 1e-6)
    mean, error = means_and_errors(regret)
    axis.plot(grid, mean, label=f"{label} (n = {len(runs)})", **style)
    axis.fill_between(grid, np.maximum(mean - error, 1e-6), mean + error, alpha=0.2, color=style["color"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=["real", "simulated", "figure"])
    parser.add_argument("--workers", type=int, nargs="+")
    parser.add_argument("--evaluations", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--storage", help="a database to keep the real runs in, such as sqlite:///study.db")
    parser.add_argument("--out", type=Path, help="where to write the results")
    options = parser.parse_args()
    if options.mode == "figure":
        figure()
        return
    rows = measure(options)
    header = {name: version(name) for name in ("covey", "numpy", "scipy", "loky")}
    out = options.out or RESULTS / f"workers-{options.mode}.json"
    out.parent.mkdir(exist_ok=True)
    done = {_identity(row) for row in rows}
    before = json.loads(out.read_text())["rows"] if out.exists() else []
    rows = [row for row in before if _identity(row) not in done] + rows  # those of other runs stay
    out.write_text(json.dumps({"header": header, "rows": rows}) + "\n")
    print(f"written: {out}")


if __name__ == "__main__":
    main()
