"""Which points come next? One loop chooses a batch, a point after another, for every strategy.

For each point: thetas, then the surrogate they give, then a surface, then its maximum; and the point joins
the pending ones. Sequential optimization is a batch of one; asynchronous is a batch with points already
pending. (Algorithms 1, 2 and 3 of the paper.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from covey.acquisition.acquisition import Acquisition
from covey.acquisition.boundary import inside
from covey.acquisition.candidates import THOROUGH, Effort, Search, few_starts
from covey.acquisition.local_penalty import local_penalty
from covey.acquisition.maximise import maximise
from covey.acquisition.surface import Factor, Posterior, Surface
from covey.arrays import Array
from covey.batch.strategy import Strategy
from covey.batch.theta_sets import SOURCES, Request
from covey.model.feasibility import Odds, success
from covey.model.gp import GPStack, fit
from covey.model.log_posterior import Data
from covey.model.paths import draw_paths
from covey.model.sampler import Diagnostics, Ensemble
from covey.model.theta import Thetas
from covey.space import Space
from covey.space.features import Features

_ANCHORS = 5


@dataclass(frozen=True)
class Task:
    """What a batch is chosen from.

    Attributes:
        space, features: what can be varied, and how the model sees it.
        observed: rows observed (n, d), n >= 1.
        failed: rows that gave no value (f, d).
        pending: rows in flight (k, d).
        data: the observations, for the theta posterior.
        strategy, acquisition: how to choose.
    """

    space: Space
    features: Features
    observed: Array
    failed: Array
    pending: Array
    data: Data
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


@dataclass(frozen=True)
class Batch:
    """Chosen points, the walkers to start the next batch from, and how well thetas were sampled."""

    choices: list[Choice]
    ensemble: Ensemble
    diagnostics: Diagnostics


def choose_batch(task: Task, size: int, start: Ensemble | None, rng: np.random.Generator) -> Batch:
    """Choose ``size`` points; fewer if a finite space has fewer left."""
    strategy, embed = task.strategy, task.features.embed
    s = strategy.thetas_per_point(size + len(task.pending), len(task.observed))
    failed = embed(task.failed)
    odds = success(task.data, failed, rng)
    data = _seen(task.data, failed, odds)
    request = Request(data, embed(task.pending), s, size if strategy.p > 0 else 1)
    source = SOURCES[strategy.thetas](request, start, rng)
    pending, choices = task.pending, list[Choice]()
    stack: GPStack | None = None
    while len(choices) < size and not (search := _search(task, pending)).exhausted:
        if stack is None or rng.random() < strategy.p:
            stack = fit(data.x, data.y, source.draw())
        jitter = JITTERS[strategy.jitter](task.acquisition, rng)
        surrogate = SURROGATES[strategy.surrogate](stack, embed(pending), rng)
        view = VIEWS[task.acquisition.draws_paths](surrogate, rng)
        repulsion = REPULSIONS[strategy.repel](stack, embed(pending), search, rng)
        discount = EDGES[strategy.edges](stack.thetas, task.features)
        factors = tuple(factor for factor in (odds, repulsion, discount) if factor is not None)
        row = maximise(Surface(view, task.acquisition, jitter, task.features, factors), search, rng)
        source.record(embed(row[None])[0], stack)
        pending = np.concatenate([pending, row[None]])
        choices.append(Choice(row, task.acquisition.name, jitter, stack.thetas))
    return Batch(choices, source.base.ensemble, source.base.diagnostics)


def _seen(data: Data, failed: Array, odds: Odds | None) -> Data:
    """What the surrogate is fitted to, and theta with it: failures too where they were to be expected.

    Theta of the values alone, smooth as they may be, would ring at the cliff that failures are.
    """
    if odds is None:
        return data
    bad = failed[odds.foretold]
    worst = np.full(len(bad), data.y.max())
    return replace(data, x=np.concatenate([data.x, bad]), y=np.append(data.y, worst))


def _search(task: Task, pending: Array) -> Search:
    best = task.observed[np.argsort(task.data.y, kind="stable")[:_ANCHORS]]
    tried = np.concatenate([task.observed, task.failed, pending])
    return Search(task.space, task.features, tried, best, _effort(task.strategy))


def _effort(strategy: Strategy) -> Effort:
    return THOROUGH if strategy.starts is None else few_starts(strategy.starts)


def _unmoved(stack: GPStack, _pending: Array, _rng: np.random.Generator) -> GPStack:
    return stack


def _hallucinate(stack: GPStack, pending: Array, _rng: np.random.Generator) -> GPStack:
    return stack.condition(pending)


def _draw_all(stack: GPStack, pending: Array, rng: np.random.Generator) -> GPStack:
    return stack.noiseless(rng).fantasise(pending, rng)


def _no_repulsion(
    _stack: GPStack, _pending: Array, _search: Search, _rng: np.random.Generator
) -> Factor | None:
    return None


def _penalise(stack: GPStack, pending: Array, search: Search, rng: np.random.Generator) -> Factor | None:
    if len(pending) == 0:
        return None
    everywhere = replace(search, effort=THOROUGH)  # the steepest slope is global, however points are chosen
    scan = search.features.embed(np.concatenate(everywhere.candidates(rng)))
    return local_penalty(stack, pending, scan)


def _no_discount(_thetas: Thetas, _features: Features) -> Factor | None:
    return None


def _posterior(stack: GPStack, _rng: np.random.Generator) -> Posterior:
    return stack


JITTERS: dict[str, Callable[[Acquisition, np.random.Generator], float]] = {
    "fixed": lambda acquisition, _rng: acquisition.jitter.fixed,
    "drawn": lambda acquisition, rng: acquisition.jitter.draw(rng),
}
SURROGATES: dict[str, Callable[[GPStack, Array, np.random.Generator], GPStack]] = {
    "data": _unmoved,
    "hallucinated": _hallucinate,
    "fantasised": GPStack.fantasise,
    "noiseless": _draw_all,
}
REPULSIONS: dict[str, Callable[[GPStack, Array, Search, np.random.Generator], Factor | None]] = {
    "none": _no_repulsion,
    "penalise": _penalise,
}
EDGES: dict[str, Callable[[Thetas, Features], Factor | None]] = {
    "equal": _no_discount,
    "discounted": inside,
}
VIEWS: dict[bool, Callable[[GPStack, np.random.Generator], Posterior]] = {
    False: _posterior,
    True: draw_paths,
}
"""What the values of a strategy's axes do; the loop looks them up and asks nothing else."""
