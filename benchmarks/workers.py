"""How busy are the workers? An asynchronous run against batches, on real workers and on a simulated clock.

    python benchmarks/workers.py real                 # 8 local processes, evaluations of about 1 s: 2 minutes
    python benchmarks/workers.py simulated            # 8, 64 and 512 virtual workers, no sleeping

Real: Hartmann6 that takes a random time (log-normal around 1 s). Utilisation is the share of the workers'
time, from the first start to the last end, that was spent evaluating; the idle tail after the last point was
handed out is reported apart. Simulated: the same optimizer on virtual workers whose evaluations take virtual
time; choosing a point takes none. Regret is compared at equal wall-clock time.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

import covey
from covey.bench.functions import PROBLEMS

PROBLEM = PROBLEMS["hartmann6"]
RESULTS = Path(__file__).parent / "results"


def duration(params: dict[str, float]) -> float:
    """Around 1 s, different for every point and the same for the same one."""
    seed = abs(hash(tuple(params.values()))) % 2**32
    return float(np.random.default_rng(seed).lognormal(-0.08, 0.4))


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


def real(workers: int, evaluations: int, asynchronous: bool, seed: int) -> dict[str, object]:
    watch = Watch([], [])
    result = covey.minimize(
        slow,
        PROBLEM.space,
        batch_size=workers,
        evaluations=evaluations,
        asynchronous=asynchronous,
        noise=0.0,
        seed=seed,
        callbacks=[watch],
        progress=False,
    )
    durations = np.array([result.durations[t.id] for t in result.trials])
    # The first evaluations begin together, when the processes are up.
    first = watch.ends[0] - min(durations[:workers])
    handed_out = watch.ends[evaluations - workers]
    ends = np.array(watch.ends)
    busy = durations.sum() - (ends[ends > handed_out] - handed_out).sum()
    return {
        "asynchronous": asynchronous,
        "wall": ends[-1] - first,
        "utilisation": float(durations.sum() / (workers * (ends[-1] - first))),
        "utilisation_until_the_last_point": float(busy / (workers * (handed_out - first))),
        "seconds_choosing": result.seconds_choosing,
        "ends": (ends - first).tolist(),
        "best": watch.best,
    }


def simulated(workers: int, evaluations: int, asynchronous: bool, seed: int) -> dict[str, object]:
    """An event queue of (virtual time, order, trial): no sleeping, choosing is instant."""
    opt = covey.Optimizer(PROBLEM.space, noise=0.0, seed=seed)
    clock, running, times, best = 0.0, list[tuple[float, int, covey.Trial]](), list[float](), list[float]()
    while len(times) < evaluations:
        free = workers - len(running) if asynchronous or not running else 0
        for trial in (
            opt.ask(min(free, evaluations - len(times) - len(running)))
            if free > 0 and (len(times) + len(running) < evaluations)
            else ()
        ):
            heapq.heappush(running, (clock + duration(trial.params), trial.id, trial))
        clock, _, trial = heapq.heappop(running)
        opt.tell(trial, PROBLEM(trial.params))
        times.append(clock)
        best.append(opt.best.value)  # type: ignore[union-attr]
    return {"workers": workers, "asynchronous": asynchronous, "seed": seed, "times": times, "best": best}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=["real", "simulated"])
    parser.add_argument("--workers", type=int, nargs="+")
    parser.add_argument("--evaluations", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=3, help="of a simulated run")
    options = parser.parse_args()
    rows = []
    if options.mode == "real":
        for asynchronous in (True, False):
            row = real((options.workers or [8])[0], options.evaluations or 200, asynchronous, options.seed)
            rows.append(row)
            how = "asynchronous" if asynchronous else "batches"
            print(
                f"{how}: {100 * row['utilisation']:.1f} % of worker time evaluating, "
                f"{100 * row['utilisation_until_the_last_point']:.1f} % until the last point was handed out, "
                f"{row['wall']:.1f} s, best {row['best'][-1]:.4f}"
            )
    else:
        for workers in options.workers or [8, 64, 512]:
            for asynchronous in (True, False):
                count = options.evaluations or {8: 96, 64: 256, 512: 1024}.get(workers, 4 * workers)
                runs = [
                    simulated(workers, count, asynchronous, options.seed + k)
                    for k in range(options.repetitions)
                ]
                rows += runs
                wall = np.mean([run["times"][-1] for run in runs])
                regret = np.mean([run["best"][-1] for run in runs]) - PROBLEM.minimum
                how = "asynchronous" if asynchronous else "batches"
                done = f"{count} evaluations in {wall:.1f} virtual s, regret {regret:.4f}"
                print(f"{workers} workers, {how}: {done}", flush=True)
    header = {name: version(name) for name in ("covey", "numpy", "scipy", "loky")}
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / f"workers-{options.mode}.json"
    out.write_text(json.dumps({"header": header, "rows": rows}) + "\n")
    print(f"written: {out}")


if __name__ == "__main__":
    main()
