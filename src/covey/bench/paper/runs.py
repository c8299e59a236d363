"""Run of a benchmark: random points, then batches; a record for every iteration."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from covey.batch.strategy import DEFAULT_ACQUISITION, Strategy, strategy
from covey.bench.method_names import settings_in
from covey.bench.paper.protocol import N_INITIAL, prior_of
from covey.bench.problems.functions import problem
from covey.bench.problems.interface import Benchmark
from covey.optimizer import Optimizer
from covey.trial import Trial


@dataclass(frozen=True)
class Settings:
    """What all runs of one collection have in common.

    Attributes:
        prior: a key of ``covey.bench.paper.protocol.PRIORS``.
        s: thetas that an acquisition function is averaged over.
        p: probability of a fresh set of thetas, for methods with that coin.
        starts: of the search for an acquisition function's maximum; 0 looks for the global one.
    """

    prior: str = "paper"
    s: int = 10
    p: float = 0.5
    starts: int = 0


@dataclass(frozen=True)
class Job:
    """A run to do.

    Attributes:
        problem: its name.
        method: a strategy's name, with settings after colons: "ats-b-lcb:p=1".
        acquisition: as ``acquisition_of`` says.
        M: the batch size.
        iterations: T.
        seed: of the run; initial points depend on nothing else.
    """

    problem: str
    method: str
    acquisition: str
    M: int
    iterations: int
    seed: int


def as_it_is(method: str) -> bool:
    """Whether a method runs with its own settings: ``auto`` is not of the paper, and has them all."""
    return method.partition(":")[0] == "auto"


def strategy_of(method: str, settings: Settings) -> Strategy:
    """The strategy that a method's name and settings say.

    Raises:
        ValueError: if there is no such strategy or setting.
    """
    name, own = settings_in(method)
    base = strategy(name)
    common: dict[str, Any] = {"s": settings.s, "starts": settings.starts}
    if as_it_is(method):
        common = {"s": base.s, "starts": base.starts}
    if 0 < base.p < 1:
        common["p"] = settings.p
    common |= own
    common["starts"] = common["starts"] or None  # 0 on the command line
    return strategy(name, **common)


def acquisition_of(method: str, settings: Settings, default: str) -> str:
    """The acquisition function of a method: the one it is defined for, or else a problem's default."""
    own = DEFAULT_ACQUISITION if as_it_is(method) else default
    return strategy_of(method, settings).acquisition or own


def run(job: Job, settings: Settings, target: Benchmark | None = None) -> list[dict[str, Any]]:
    """Do a run with the paper's settings; its records, the random points as iteration 0.

    Args:
        job: what to do.
        settings: how.
        target: the benchmark itself; by default the function of the job's name.
    """
    target = problem(job.problem) if target is None else target
    optimizer = Optimizer(
        target.space,
        strategy_of(job.method, settings),
        None if as_it_is(job.method) else job.acquisition,
        noise=0.0,
        prior="default" if as_it_is(job.method) else prior_of(settings.prior, target.space),
        n_initial=N_INITIAL,
        initial="random",
        seed=job.seed,
    )
    base = {key: value for key, value in asdict(job).items() if key != "iterations"}
    return [{**base, **found} for found in _iterate(optimizer, target, job)]


def _iterate(optimizer: Optimizer, target: Benchmark, job: Job) -> Iterator[dict[str, Any]]:
    best = np.inf
    for iteration in range(job.iterations + 1):
        began = time.perf_counter()
        trials = optimizer.ask(job.M if iteration else N_INITIAL)
        chosen = time.perf_counter()
        values = [target(trial.params) for trial in trials]
        evaluated = time.perf_counter()
        optimizer.tell(trials, values)
        best = min(best, *values)
        yield {
            "iteration": iteration,
            "best": best,
            "regret": best - target.minimum if np.isfinite(target.minimum) else None,
            "distance": mean_distance(optimizer, trials),
            "seconds": round(chosen - began, 4),
            "seconds_evaluating": round(evaluated - chosen, 4),
            "points": [_short(trial.params) for trial in trials],
            "values": values,
        }


def mean_distance(optimizer: Optimizer, trials: list[Trial]) -> float | None:
    """The mean pairwise l2 distance of a batch in the unit cube; None for a single point."""
    if len(trials) < 2:
        return None
    points = np.array([optimizer.space.encode(trial.params) for trial in trials])
    return float(pdist(points).mean())


def _short(params: Mapping[str, Any]) -> list[Any]:
    """Values in the order of the space, without digits that nobody looks at."""
    return [float(f"{value:.9g}") if isinstance(value, float) else value for value in params.values()]
