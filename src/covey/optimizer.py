"""Optimizer: ask for points, evaluate them, tell their values, in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from covey.acquisition.acquisition import Acquisition, Value
from covey.acquisition.candidates import Search
from covey.arguments import (
    LIMITS,
    as_result,
    as_results,
    check_count,
    check_initial,
    check_noise,
    check_seed,
    is_whole,
)
from covey.arrays import Array
from covey.batch.axes import OUTPUTS
from covey.batch.strategy import Strategy, resolve_strategy
from covey.errors import AlreadyTold, SpaceExhausted, shown
from covey.history import History, best_of
from covey.model.diagnostics import Diagnostics
from covey.model.native.threads import ForkLock, single_threaded_blas
from covey.model.priors import Prior, resolve_prior
from covey.model.surrogate import Observations, Surrogate
from covey.space import Space
from covey.space.designs import initial_rows
from covey.space.features import Features
from covey.trial import Evaluation, Failure, Origin, State, Trial

if TYPE_CHECKING:
    from covey.batch.choose import Choice

_USUAL: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""NumPy's own answers to odd numbers, which the numerics count on; a program may have set others."""

_SETTLING = 64
"""Thetas that a recommendation is averaged over: no batch shares them."""


class Optimizer:
    """Minimises a black box by asking for batches of points and being told their values.

    Same seed and same order of asks and tells: same points, also after pickling and in another process.
    Points that were asked for and not yet told are pending, so asking again while others are in flight
    is asynchronous optimization. Calls from several threads are safe, one at a time.

    Args:
        space: what can be varied.
        strategy: a name from ``covey.strategies()`` or a ``covey.Strategy``.
        acquisition: a name from ``covey.acquisitions()``, a function of (mean, std, best, jitter), or a
            ``covey.Acquisition``; None takes the strategy's own, or else log-EI.
        noise: "learn", or the standard deviation of the noise in the objective's units; 0.0 says that
            the objective is deterministic.
        prior: "default", "paper", or a ``covey.Prior``.
        n_initial: points asked for before the model is consulted; None takes one per dimension and one
            more, within 5 to 20.
        initial: how these are placed, "sobol" or "random".
        seed: a whole number; None draws one, which ``seed`` then tells.
    """

    def __init__(
        self,
        space: Space,
        strategy: str | Strategy = "auto",
        acquisition: str | Value | Acquisition | None = None,
        *,
        noise: float | Literal["learn"] = "learn",
        prior: str | Prior = "default",
        n_initial: int | None = None,
        initial: str = "sobol",
        seed: int | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"space must be a covey.Space, got {shown(space)}")
        self.space = space
        self.strategy = resolve_strategy(strategy)
        self.acquisition = self.strategy.paired(acquisition)
        self.noise = check_noise(noise)
        self._features = Features.of(space)
        more = int(self._features.groups[-1]) + 1 - len(space)  # descriptors count one by one
        self.prior = resolve_prior(prior, space.most_active + more)
        self.n_initial = check_count(n_initial, len(space))
        self.initial = check_initial(initial)
        self.seed = check_seed(seed)
        self._history = History(space)
        self._surrogate: Surrogate | None = None
        self._lock = ForkLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:  # the ledger is copied: pickling goes on after the lock is given back
            parts = {name: part for name, part in self.__dict__.items() if name != "_lock"}
            return {**parts, "_history": self._history.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = ForkLock()

    def __repr__(self) -> str:
        told, asked = self._history.told, len(self._history)
        return f"<Optimizer {self.strategy.name}, {self.acquisition.name}: {told} of {asked} told>"

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of asking."""
        with self._lock:
            return self._history.trials

    @property
    def pending(self) -> list[Trial]:
        """Trials asked for and not yet told."""
        return [trial for trial in self.trials if trial.state is State.RUNNING]

    @property
    def best(self) -> Trial | None:
        """The trial with the lowest value told; None before the first value."""
        return best_of(self.trials)

    @property
    def surrogate(self) -> Surrogate:
        """The model that batches are chosen by; anything with its members can be put in its place."""
        with self._lock:
            if self._surrogate is None:
                # Compiled code takes a moment to load: not needed to describe a space or read values.
                from covey.model.gaussian_process import GaussianProcess

                warps = OUTPUTS[self.strategy.outputs]
                self._surrogate = GaussianProcess(self._features.groups, self.noise, self.prior, warps)
            return self._surrogate

    @surrogate.setter
    def surrogate(self, model: Surrogate) -> None:
        with self._lock:
            self._surrogate = model

    @property
    def diagnostics(self) -> Diagnostics | None:
        """How well theta was sampled for the last batch; None before the model was consulted."""
        return None if self._surrogate is None else self._surrogate.diagnostics

    def recommend(self) -> Trial | None:
        """The trial to settle on: the one with the lowest value to be expected, whatever luck it had.

        Of many noisy values the lowest is a lucky one; the model knows what is around it. Without noise, or
        before there is anything to learn from, it is ``best``. Takes about as long as ``ask(1)``.
        """
        with self._lock, np.errstate(**_USUAL):
            if self.noise == 0.0 or self._initial_share(1):
                return self.best
            history, embed = self._history, self._features.embed
            rng = np.random.default_rng([self.seed, 2, history.told])
            points, values = embed(history.measured), history.values
            seen = Observations(points, list(values.values()), embed(history.failed))
            with single_threaded_blas():
                stack = self.surrogate.learn(seen, _SETTLING, rng).stack(slice(_SETTLING))
                expected = stack.predict(points)[0].mean(axis=0)
            return history[list(values)[int(np.argmin(expected))]].copy()

    def ask(self, n: int = 1, *, fixed: Mapping[str, Any] | None = None) -> list[Trial]:
        """The next n trials to evaluate.

        A finite space never repeats a configuration: it gives fewer than n when fewer are left.

        Args:
            n: how many.
            fixed: parameters that are held at a value for these trials: what is in stock, today's machine.
                The others are optimised given them.

        Raises:
            SpaceExhausted: if no configuration is left.
        """
        if not is_whole(n, 1, LIMITS.batch):
            raise ValueError(f"ask: n must be a whole number from 1 to {LIMITS.batch}, got {shown(n)}")
        with self._lock, np.errstate(**_USUAL):
            held = None if fixed is None else self.space.positions(fixed)
            search = Search.of(self.space, self._features, self._history.rows, held)
            if search.exhausted:
                which = "of the space" if fixed is None else f"with {shown(dict(fixed))}"
                count = self.space.size if fixed is None else ""
                raise SpaceExhausted(f"all {count} configurations {which} have been asked for")
            # Another generator for each ask, and the same one when trials come back from a study.
            rng = np.random.default_rng([self.seed, 1, len(self._history)])
            rows, search = self._initial(self._initial_share(int(n)), search, rng)
            origins, learned = [Origin("initial")] * len(rows), self._surrogate
            if len(rows) < n and self._history.values:
                chosen, learned = self._choose(int(n) - len(rows), rows, search, rng)
                rows = rows + [choice.row for choice in chosen]
                origins += [self._origin(choice) for choice in chosen]
            if not rows:
                raise SpaceExhausted("no configuration is left that has not been asked for")
            # Nothing changed until here: an interrupted ask leaves no trace.
            self._surrogate = learned
            return self._history.extend(rows, origins)

    def tell(
        self,
        trial: Trial | int | Sequence[Trial | int],
        value: float | Failure | Evaluation | Sequence[float | Failure],
    ) -> None:
        """Record the value of a trial, or the values of several; a failed one as ``Failure``.

        NaN and infinities count as failures. Either everything is recorded or, on an error, nothing.

        Raises:
            UnknownTrial: if a trial was not asked for here.
            AlreadyTold: if a trial has a value or has failed already.
            TypeError: if a value is not a number.
        """
        trials, results = as_results(trial, value)
        with self._lock:
            ids = [self._history.known(one) for one in trials]
            if len(set(ids)) < len(ids):
                raise AlreadyTold(f"tell: a trial is named twice in {ids}")
            for index, result in zip(ids, results, strict=True):
                self._history.record(index, result)

    def include(self, params: Mapping[str, Any]) -> Trial:
        """A configuration of the user's own as a trial: pending until it is told."""
        with self._lock:
            return self._history.include(params)

    def add(self, params: Mapping[str, Any], value: float | Failure) -> Trial:
        """Record a configuration that was evaluated elsewhere."""
        result = as_result(value)
        with self._lock:
            trial = self._history.include(params)
            self._history.record(trial.id, result)
            return self._history[trial.id].copy()

    def _initial_share(self, n: int) -> int:
        """How many of n points the initial design gives: all, as long as there is nothing to learn from.

        Without any value, or where all are the same, a model would only look for the corners of the space.
        """
        left = max(self.n_initial - len(self._history), 0)
        values = self._history.values.values()
        flat = len(values) > 1 and min(values) == max(values)
        return n if flat or not values else min(n, left)

    def _initial(self, n: int, search: Search, rng: np.random.Generator) -> tuple[list[Array], Search]:
        """Points of the initial design, another at random where one was tried; and the search since."""
        rows = list[Array]()
        if n == 0:
            return rows, search
        design = initial_rows(self.space, self.initial, self.seed, len(self._history), n, search.region)
        for row in design:
            if search.exhausted:
                break
            row = search.pinned(row[None], rng)[0]
            try:
                rows.append(row if search.is_new(row) else search.any_new(rng))
            except SpaceExhausted:
                break
            search = search.without(rows[-1])
        return rows, search

    def _choose(
        self, n: int, initial: list[Array], search: Search, rng: np.random.Generator
    ) -> tuple[list[Choice], Surrogate]:
        """N points by the model, beside those of the initial design; and what the model has learned."""
        from covey.batch.choose import Task, choose_batch  # with it come optimisers, which load slowly

        history = self._history
        task = Task(
            search,
            history.measured,
            list(history.values.values()),
            history.failed,
            np.concatenate([history.pending, *(row[None] for row in initial)]),
            self.strategy,
            self.acquisition,
        )
        with single_threaded_blas():
            return choose_batch(task, n, self.surrogate, rng)

    def _origin(self, choice: Choice) -> Origin:
        t, owner = choice.thetas, self._features.owner
        scales = np.median(t.length_scale, axis=0)[np.searchsorted(owner, range(len(self.space)))]
        return Origin(
            self.strategy.name,
            choice.acquisition,
            choice.jitter,
            dict(zip(self.space.dimensions, scales.tolist(), strict=True)),
            {part: float(np.median(getattr(t, part))) for part in ("variance", "mean", "noise")},
        )
