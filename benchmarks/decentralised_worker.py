"""Worker on a study, one of many: it asks, evaluates and tells until the study has all its trials.

Started by decentralised.py. Says "ready" when everything it needs is loaded and compiled, begins when it gets
a line, and says at the end what its asks took: a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler

from covey.bench.problems.functions import PROBLEMS
from covey.integrations.optuna import CoveySampler

PROBLEM = PROBLEMS["hartmann6"]
BOUNDS = dict(zip(PROBLEM.space.dimensions, PROBLEM.bounds, strict=True))
SPACE: dict[str, BaseDistribution] = {name: FloatDistribution(*bound) for name, bound in BOUNDS.items()}

# Optuna's samplers must not share a seed; covey's may, and do here.
SAMPLERS: dict[str, Callable[[int, int], BaseSampler]] = {
    "covey": lambda seed, _worker: CoveySampler(seed=seed),
    "tpe": lambda seed, worker: optuna.samplers.TPESampler(constant_liar=True, seed=1000 * seed + worker),
    "gp": lambda seed, worker: optuna.samplers.GPSampler(seed=1000 * seed + worker),
}


def warm_up(sampler: BaseSampler) -> None:
    """Import and compile what the first asks would."""
    study = optuna.create_study(sampler=sampler)
    for _ in range(12):
        trial = study.ask(SPACE)
        study.tell(trial, PROBLEM(trial.params))
    study.ask(SPACE)
    study.ask(SPACE)  # with one that is running


def evaluate(params: dict[str, float], seconds: float, rng: np.random.Generator) -> float:
    """The value of a point, after a random time of that mean."""
    time.sleep(seconds * float(rng.lognormal(-0.08, 0.4)))
    return PROBLEM(params)


def work(
    study: optuna.Study, trials: int, seconds: float, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Seconds and processor seconds of each ask."""
    asks = []
    while True:
        wall, processor = time.perf_counter(), time.process_time()
        trial = study.ask()
        if trial.number >= trials:  # one too many, which nobody evaluates
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            return asks
        params = {name: trial.suggest_float(name, *bound) for name, bound in BOUNDS.items()}
        asks.append({"wall": time.perf_counter() - wall, "processor": time.process_time() - processor})
        study.tell(trial, evaluate(params, seconds, rng))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("storage")
    parser.add_argument("study")
    parser.add_argument("sampler", choices=SAMPLERS)
    parser.add_argument("worker", type=int)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # constant_liar is one
    make = SAMPLERS[options.sampler]
    warm_up(make(12345, options.worker))
    study = optuna.load_study(
        study_name=options.study, storage=options.storage, sampler=make(options.seed, options.worker)
    )
    print("ready", flush=True)
    input()
    rng = np.random.default_rng([options.seed, options.worker])
    print(json.dumps(work(study, options.trials, options.seconds, rng)), flush=True)


if __name__ == "__main__":
    main()
