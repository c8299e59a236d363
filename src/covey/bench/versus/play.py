"""Run of one optimiser on one problem of the suite, from the same points as all others.

Everyone gets the same initial points, told before the first proposal, the same number of evaluations and one
core. Nobody is told whether there is noise. A run is scored by the value without noise at the point with the
lowest value observed.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from covey.arguments import check_count
from covey.bench.problems.interface import Benchmark
from covey.bench.versus.conversation import Params
from covey.bench.versus.players import Player, player
from covey.bench.versus.suite import instance
from covey.space import Space
from covey.space.designs import random

BATCHES = {1: 40, 5: 10, 20: 5}
"""How many after the initial points, by the batch size M."""

_OTHER_BATCHES = 10
"""For batch sizes that are not there: enough to learn from, at a cost like that of the others."""

KEY = ("problem", "method", "M", "seed")
"""What tells runs apart."""


@dataclass(frozen=True)
class Run:
    """A run to do.

    Attributes:
        problem: a key of ``SUITE``.
        method: a key of ``PEERS``, or a strategy of covey as in ``strategy_named``.
        M: the batch size.
        iterations: how many batches.
        seed: of the problem, of the initial points and of the optimiser.
    """

    problem: str
    method: str
    M: int
    iterations: int
    seed: int


def runs(
    problems: Sequence[str],
    methods: Sequence[str],
    sizes: Sequence[int],
    seeds: Sequence[int],
    evaluations: int | None = None,
) -> list[Run]:
    """All combinations in the order of their seeds, so that what there is after a while covers everything.

    Args:
        problems: keys of ``SUITE``.
        methods: whom to compare.
        sizes: of batches.
        seeds: one for each repetition.
        evaluations: after the initial points, in whole batches; None takes ``BATCHES``.
    """
    return [
        Run(problem, method, M, _batches(M, evaluations), seed)
        for seed in seeds
        for problem in problems
        for M in sizes
        for method in methods
    ]


def _batches(M: int, evaluations: int | None) -> int:
    return BATCHES.get(M, _OTHER_BATCHES) if evaluations is None else max(1, evaluations // M)


def initial_points(space: Space, name: str, seed: int) -> list[Params]:
    """The random points that everyone begins with, as many as covey takes by default."""
    count = check_count(None, len(space))
    return _random_points(space, count, np.random.default_rng([seed, zlib.crc32(name.encode())]))


def _random_points(space: Space, count: int, rng: np.random.Generator) -> list[Params]:
    return [space.decode(row) for row in random(space, count, rng)]


def play(run: Run, clone: Path) -> list[dict[str, Any]]:
    """Do a run; its records, the initial points as iteration 0."""
    target = instance(run.problem, run.seed)
    points = initial_points(target.space, run.problem, run.seed)
    base = {key: value for key, value in asdict(run).items() if key != "iterations"}
    with closing(player(run.method, clone, target.space, run.seed, len(points))) as who:
        base["version"] = who.version
        return [{**base, **found} for found in _iterate(who, Score(target), run, points)]


def _iterate(who: Player, score: Score, run: Run, points: list[Params]) -> Iterator[dict[str, Any]]:
    """Records of the initial points and of every batch."""
    space, rng = score.target.space, np.random.default_rng([run.seed, 3])
    values = score.evaluate(points)
    yield {"iteration": 0, **score.record(), "values": values}
    for iteration in range(1, run.iterations + 1):
        n = score.count
        # A proposal takes both: some fit their model as soon as they are told.
        told, asked = who.tell(points, values), who.ask(run.M)
        failed = told.error or asked.error
        # Nobody gets out of a run by failing: then the proposal is a random one.
        points = _random_points(space, run.M, rng) if asked.error else list(asked.params)
        values = score.evaluate(points)
        yield {
            "iteration": iteration,
            "n": n,
            **score.record(),
            "seconds": round(told.seconds + asked.seconds, 4),
            "values": values,
            **({"error": failed} if failed else {}),
        }


@dataclass
class Score:
    """How good a run is so far.

    Attributes:
        target: the problem.
        count: evaluations so far.
        lowest: the lowest value observed.
        true: the value without noise at its point, the first of equals.
    """

    target: Benchmark
    count: int = field(default=0, init=False)
    lowest: float = field(default=math.inf, init=False)
    true: float = field(default=math.inf, init=False)

    def evaluate(self, points: Sequence[Params]) -> list[float]:
        """What is observed at some points."""
        values = [self.target(point) for point in points]
        best = int(np.argmin(values))
        if values[best] < self.lowest:
            self.lowest, self.true = values[best], self.target.true(points[best])
        self.count += len(values)
        return values

    def record(self) -> dict[str, float | None]:
        """The value that a run is scored by, and its distance from the minimum if that is known."""
        known = math.isfinite(self.target.minimum)
        return {"best": self.true, "regret": self.true - self.target.minimum if known else None}
