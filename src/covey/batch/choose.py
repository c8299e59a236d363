"""Choice of a batch: one loop, a point after another, for every strategy.

For each point: thetas, then the posteriors they give, then a surface, then its maximum; and the point joins
the pending ones. Sequential optimization is a batch of one; asynchronous is a batch with points already
pending. (Algorithms 1, 2 and 3 of the paper.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from covey.acquisition.acquisition import Acquisition
from covey.acquisition.candidates import THOROUGH, Search, few_starts
from covey.acquisition.maximise import maximise
from covey.acquisition.surface import Surface
from covey.arrays import Array
from covey.batch.axes import BOUNDARY, JITTER, REPEL, SURROGATE, THETAS
from covey.batch.strategy import Strategy
from covey.errors import SpaceExhausted
from covey.model.surrogate import Observations, Surrogate
from covey.model.theta import Thetas


@dataclass(frozen=True)
class Task:
    """What a batch is chosen from.

    Attributes:
        search: what has been tried, pending points too.
        observed: rows that have a value (n, d), n >= 1.
        values: theirs (n,).
        failed: rows that gave no value (f, d).
        pending: rows in flight (k, d).
        strategy, acquisition: how to choose.
    """

    search: Search
    observed: Array
    values: Sequence[float]
    failed: Array
    pending: Array
    strategy: Strategy
    acquisition: Acquisition


@dataclass(frozen=True)
class Choice:
    """A chosen point.

    Attributes:
        row: where in the cube (d,).
        acquisition: the name of what it was chosen by.
        jitter: the trade-off it was chosen with.
        thetas: the set it was chosen with.
    """

    row: Array
    acquisition: str
    jitter: float
    thetas: Thetas


def choose_batch(
    task: Task, size: int, surrogate: Surrogate, rng: np.random.Generator
) -> tuple[list[Choice], Surrogate]:
    """Choose ``size`` points, fewer if a finite space has fewer left; also what the model has learned."""
    strategy, acquisition, features = task.strategy, task.acquisition, task.search.features
    sets, draws = THETAS[strategy.thetas], size if strategy.p > 0 else 1
    s = strategy.thetas_per_point(size + len(task.pending), len(task.values))
    seen = Observations(features.embed(task.observed), task.values, features.embed(task.failed))
    learned = surrogate.learn(seen, sets.wanted(s, draws), rng)
    pending, search, choices = features.embed(task.pending), _search(task), list[Choice]()
    source, stack = sets(learned, s, pending, rng), None
    while len(choices) < size and not search.exhausted:
        if stack is None or rng.random() < strategy.p:
            stack = source.draw()
        jitter = JITTER[strategy.jitter](acquisition, rng)
        given = SURROGATE[strategy.surrogate](stack, pending, rng)
        view = given.paths(rng) if acquisition.draws_paths else given
        repulsion = REPEL[strategy.repel](stack, pending, search, rng)
        factors = (learned.feasibility, repulsion, BOUNDARY[strategy.boundary](stack, features))
        present = tuple(factor for factor in factors if factor is not None)
        try:
            row = maximise(Surface(view, acquisition, jitter, features, present), search, rng)
        except SpaceExhausted:
            break
        point = features.embed(row[None])
        source.record(point[0], stack)
        pending, search = np.concatenate([pending, point]), search.without(row)
        choices.append(Choice(row, acquisition.name, jitter, stack.thetas))
    return choices, learned


def _search(task: Task) -> Search:
    """The search, around the best observed rows, with the effort that the strategy asks for."""
    starts = task.strategy.starts
    effort = THOROUGH if starts is None else few_starts(starts)
    best = np.argsort(task.values, kind="stable")[: effort.anchors]
    return replace(task.search, anchors=task.observed[best], effort=effort)
