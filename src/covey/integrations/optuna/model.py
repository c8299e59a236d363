"""Model of a study: an optimizer that hears of each trial when there is news of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Literal

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from covey.acquisition.acquisition import Acquisition, Value
from covey.arrays import Array
from covey.batch.strategy import Strategy
from covey.errors import SpaceExhausted
from covey.integrations.optuna.space import Axes
from covey.integrations.optuna.trials import place, result, retried
from covey.model.priors import Prior
from covey.optimizer import Optimizer
from covey.space import Space
from covey.space.designs import initial_rows
from covey.trial import Failure

_log = logging.getLogger("covey.optuna")


@dataclass(frozen=True)
class Settings:
    """How to optimise, as in ``covey.Optimizer``, whatever the space."""

    strategy: str | Strategy
    acquisition: str | Value | Acquisition | None
    noise: float | Literal["learn"]
    prior: str | Prior
    n_initial: int | None
    initial: str

    def optimizer(self, space: Space, seed: int | None) -> Optimizer:
        """An optimizer of a space; raises ValueError if a setting is wrong."""
        return Optimizer(space, **vars(self), seed=seed)


@dataclass(frozen=True)
class Proposal:
    """A point for a trial, as long as it is not settled that nobody else has it.

    Attributes:
        where: Optuna's number of each parameter.
        optimizer: one that knows of it.
        optimizer_id: by which it does.
        repeats: whether all points were tried, and this one again on purpose.
    """

    where: dict[str, float]
    optimizer: Optimizer
    optimizer_id: int
    repeats: bool = False


class Model:
    """An optimizer that follows a study, in one of its search spaces.

    Args:
        axes: of the search space.
        sign: 1 to minimise, -1 to maximise.
        settings: of the optimizer.
        seed: of the initial design.
    """

    def __init__(self, axes: Axes, sign: float, settings: Settings, seed: int) -> None:
        self.axes, self._sign, self._seed = axes, sign, seed
        self._optimizer = settings.optimizer(self.axes.space, seed)
        self._ids: dict[int, int] = {}
        self._places: dict[int, dict[str, float]] = {}
        self._settled: set[int] = set()
        self._retried: set[int] = set()
        self._told = self._repeats = False

    def is_of(self, axes: Axes) -> bool:
        """Whether this is about such a search space."""
        return self.axes.search_space == axes.search_space and self.axes.when == axes.when

    def read(self, trials: Sequence[FrozenTrial]) -> bool:
        """Take in what is new in the study's trials.

        Returns:
            False if the past has changed, which an optimizer cannot: a trial is not where it was suggested,
            or its worker died and another repeats it. A new model must then read everything.
        """
        unsettled = [trial for trial in trials if trial.number not in self._settled]
        failed = {trial.number for trial in trials if trial.state == TrialState.FAIL}
        self._retried.update(number for trial in unsettled for number in retried(trial) if number in failed)
        if not self._retried.isdisjoint(self._ids):
            return False
        return all(self._hear(trial) for trial in unsettled if trial.number not in self._retried)

    def _hear(self, trial: FrozenTrial) -> bool:
        """Take in a trial: pending until it is finished; False if it is not where it was."""
        number, where = trial.number, place(trial, self.axes)
        if where != self._places.get(number, where):
            return False
        if where is not None and number not in self._ids:
            self._keep(number, where, self._optimizer.include(self.axes.inward(where)).id)
        if trial.state.is_finished():
            self._settle(trial)
        return True

    def _keep(self, number: int, where: dict[str, float], optimizer_id: int) -> None:
        self._ids[number], self._places[number] = optimizer_id, where

    def _settle(self, trial: FrozenTrial) -> None:
        """Tell the optimizer what came out, if the trial is in its space, and never look at it again."""
        self._settled.add(trial.number)
        if trial.number in self._ids:
            outcome = result(trial)
            signed = outcome if isinstance(outcome, Failure) else self._sign * outcome
            self._optimizer.tell(self._ids[trial.number], signed)
            self._told = True

    def propose(self, number: int, seed: int, attempt: int) -> Proposal:
        """Where to evaluate a trial. Nothing changes until it is accepted.

        Args:
            number: of the trial in the study. Workers that know the same and have the same seed still
                choose differently: no two of them have the same number.
            seed: of the worker.
            attempt: 0, 1, ...; each gives another point.
        """
        own = np.random.SeedSequence([seed, number, attempt])
        optimizer = copy(self._optimizer)
        try:
            return self._from_design(number, optimizer) or self._from_optimizer(optimizer, own)
        except SpaceExhausted:
            self._say_that_trials_repeat(number)
            where = self.axes.draw(np.random.default_rng(own))
            return self._included(optimizer, where, repeats=True)

    def _from_design(self, number: int, optimizer: Optimizer) -> Proposal | None:
        """The initial design's point of that number: workers of one seed share the design.

        None if the design is over, or a finite space has it already.
        """
        if self._told and number >= optimizer.n_initial:
            return None
        space = self.axes.space
        row = initial_rows(space, optimizer.initial, self._seed, number, 1)[0]
        where = self.axes.outward(space.decode(row))
        return None if where in self._places.values() else self._included(optimizer, where)

    def _from_optimizer(self, optimizer: Optimizer, own: np.random.SeedSequence) -> Proposal:
        """The optimizer's choice, from a seed of the trial's own."""
        optimizer.seed = int(own.generate_state(1, np.uint64)[0])
        (asked,) = optimizer.ask()
        return Proposal(self.axes.outward(asked.params), optimizer, asked.id)

    def _included(self, optimizer: Optimizer, where: dict[str, float], repeats: bool = False) -> Proposal:
        return Proposal(where, optimizer, optimizer.include(self.axes.inward(where)).id, repeats)

    def _say_that_trials_repeat(self, number: int) -> None:
        if not self._repeats:
            names = ", ".join(self.axes.search_space)
            _log.warning("from trial %d on values of %s repeat: all of them were tried", number, names)
        self._repeats = True

    def is_alone(self, proposal: Proposal, trials: Iterable[FrozenTrial], distance: float) -> bool:
        """Whether no trial that this model has not heard of is within a distance in every dimension."""
        known, row = self._ids.keys() | self._settled, self._row(proposal.where)
        news = [place(trial, self.axes) for trial in trials if trial.number not in known]
        rows = [self._row(where) for where in news if where is not None]
        return proposal.repeats or all(np.abs(row - other).max() > distance for other in rows)

    def _row(self, where: Mapping[str, float]) -> Array:
        return self.axes.space.encode(self.axes.inward(where))

    def accept(self, number: int, proposal: Proposal) -> None:
        """The trial of that number is evaluated there, and pending from now on."""
        self._optimizer = proposal.optimizer
        self._keep(number, proposal.where, proposal.optimizer_id)
