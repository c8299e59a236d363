"""What should be tried next, given what was measured so far? Ask, evaluate, tell; in any order."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from covey.acquisition.acquisition import Acquisition, Value
from covey.acquisition.candidates import Search
from covey.arguments import (
    as_result,
    as_results,
    check_count,
    check_initial,
    check_noise,
    check_seed,
    is_whole,
    pair,
)
from covey.arrays import Array
from covey.batch.choose import Choice, Task, choose_batch
from covey.batch.strategy import Strategy, resolve_strategy
from covey.errors import AlreadyTold, SpaceExhausted, UnknownTrial
from covey.model.choose_warp import Scale, likeliest
from covey.model.log_posterior import Data
from covey.model.native.threads import single_threaded_blas
from covey.model.priors import Prior, resolve_prior
from covey.model.sampler import Diagnostics, Ensemble
from covey.model.settle import expected
from covey.model.warps import OUTPUTS, Outputs
from covey.space import Space
from covey.space.designs import initial_rows
from covey.space.features import Features
from covey.trial import Evaluation, Failure, Origin, State, Trial


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
            raise TypeError(f"space must be a covey.Space, got {space!r}")
        self.space = space
        self.strategy = resolve_strategy(strategy)
        self.acquisition = pair(self.strategy, acquisition)
        self.noise = check_noise(noise)
        self.prior = resolve_prior(prior, len(space))
        self.n_initial = check_count(n_initial, len(space))
        self.initial = check_initial(initial)
        self.seed = check_seed(seed)
        self._features = Features.of(space)
        self._trials: list[Trial] = []
        self._rows: list[Array] = []
        self._told: list[int] = []
        self._ensemble: Ensemble | None = None
        self._scale = Scale()
        self._diagnostics: Diagnostics | None = None
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:  # lists are copied: pickling goes on after the lock is given back
            parts = {name: part for name, part in self.__dict__.items() if name != "_lock"}
            return {name: list(part) if isinstance(part, list) else part for name, part in parts.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        told, asked = len(self._told), len(self._trials)
        return f"<Optimizer {self.strategy.name}, {self.acquisition.name}: {told} of {asked} told>"

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of asking."""
        with self._lock:
            return [trial.copy() for trial in self._trials]

    @property
    def pending(self) -> list[Trial]:
        """Trials asked for and not yet told."""
        return [trial for trial in self.trials if trial.state is State.RUNNING]

    @property
    def best(self) -> Trial | None:
        """The trial with the lowest value told; None before the first value."""
        done = [trial for trial in self.trials if trial.value is not None]
        return min(done, key=lambda trial: (trial.value, trial.id), default=None)

    def recommend(self) -> Trial | None:
        """The trial to settle on: the one with the lowest value to be expected, whatever luck it had.

        Of many noisy values the lowest is a lucky one; the model knows what is around it. Without noise, or
        before there is anything to learn from, it is ``best``. Takes about as long as ``ask(1)``.
        """
        with self._lock, single_threaded_blas():
            if self.noise == 0.0 or self._initial_share(1):
                return self.best
            rng = np.random.default_rng([self.seed, 2, len(self._told)])
            task, scale = self._task([], rng)
            values = expected(task.data, self._walkers(scale), rng)
            return self._trials[list(self._measured)[int(np.argmin(values))]].copy()

    @property
    def diagnostics(self) -> Diagnostics | None:
        """How well theta was sampled for the last batch; None before the model was consulted."""
        return self._diagnostics

    def ask(self, n: int = 1) -> list[Trial]:
        """The next n trials to evaluate.

        A finite space never repeats a configuration: it gives fewer than n when fewer are left.

        Raises:
            SpaceExhausted: if no configuration is left.
        """
        if not is_whole(n, 1):
            raise ValueError(f"ask: n must be a whole number from 1, got {n!r}")
        with self._lock, single_threaded_blas():
            size, tried = self.space.size, {row.tobytes() for row in self._rows}
            if size is not None and len(tried) >= size:
                raise SpaceExhausted(f"all {size} configurations of the space have been asked for")
            # Another generator for each ask, and the same one when trials come back from a study.
            rng = np.random.default_rng([self.seed, 1, len(self._trials)])
            rows = self._choose_initial(self._initial_share(int(n)), rng)
            chosen = [(row, Origin("initial")) for row in rows]
            batch = None
            if len(rows) < n and self._measured:
                task, scale = self._task(rows, rng)
                batch = choose_batch(task, int(n) - len(rows), self._walkers(scale), rng)
                chosen += [(choice.row, self._origin(choice)) for choice in batch.choices]
            first = len(self._trials)
            trials = [self._trial(first + k, row, origin) for k, (row, origin) in enumerate(chosen)]
            # Nothing changed until here: an interrupted ask leaves no trace.
            if batch is not None:
                self._ensemble, self._diagnostics = batch.ensemble, batch.diagnostics
                self._scale = scale
            self._rows += [row for row, _ in chosen]
            self._trials += trials
            return [trial.copy() for trial in trials]

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
            ids = [self._known(one) for one in trials]
            if len(set(ids)) < len(ids):
                raise AlreadyTold(f"tell: a trial is named twice in {ids}")
            for index, result in zip(ids, results, strict=True):
                self._record(index, result)

    def include(self, params: Mapping[str, Any]) -> Trial:
        """A configuration of the user's own as a trial: pending until it is told."""
        row = self.space.encode(params)
        with self._lock:
            trial = self._trial(len(self._trials), row, Origin("given"))
            # What was given, to the last bit; a row may come back as its neighbour.
            exact = {
                name: float(params[name]) if dimension.levels is None else trial.params[name]
                for name, dimension in self.space.dimensions.items()
            }
            self._rows.append(row)
            self._trials.append(replace(trial, params=exact))
            return self._trials[-1].copy()

    def add(self, params: Mapping[str, Any], value: float | Failure) -> Trial:
        """Record a configuration that was evaluated elsewhere."""
        result = as_result(value)
        with self._lock:
            trial = self.include(params)
            self._record(trial.id, result)
            return self._trials[trial.id].copy()

    @property
    def _measured(self) -> dict[int, float]:
        """Values by trial, in the order of telling."""
        told = {k: self._trials[k].value for k in self._told}
        return {k: value for k, value in told.items() if value is not None}

    def _initial_share(self, n: int) -> int:
        """How many of n points the initial design gives: all, as long as there is nothing to learn from.

        Without any value, or where all are the same, a model would only look for the corners of the space.
        """
        left = max(self.n_initial - len(self._trials), 0)
        values = list(self._measured.values())
        flat = len(values) > 1 and min(values) == max(values)
        return n if flat or not values else min(n, left)

    def _choose_initial(self, n: int, rng: np.random.Generator) -> list[Array]:
        """Points of the initial design; another at random in place of one that was tried."""
        first = len(self._rows)
        wanted = initial_rows(self.space, self.initial, self.seed, first, n)
        rows = np.concatenate([self._stacked(self._rows), wanted])
        for k in range(first, first + n):
            search = Search(self.space, self._features, rows[:k])
            if search.exhausted:
                rows = rows[:k]
                break
            if not search.is_new(rows[k]):
                rows[k] = search.any_new(rng)
        return list(rows[first:])

    def _task(self, chosen: list[Array], rng: np.random.Generator) -> tuple[Task, Scale]:
        """What to choose from, and the scale that the model sees values on."""
        measured = self._measured
        observed = self._stacked([self._rows[k] for k in measured])
        running = [self._rows[t.id] for t in self._trials if t.state is State.RUNNING]
        options = OUTPUTS[self.strategy.outputs](list(measured.values()))
        points = self._features.embed(observed)
        data = [self._data(points, outputs) for outputs in options]
        shifts, scale = [outputs.shift for outputs in options], self._scale
        if scale.shift not in shifts or not scale.holds(len(observed)):
            slopes = [outputs.log_slope for outputs in options]
            last = scale.shift if scale.shift in shifts else math.inf
            best = likeliest(data, slopes, shifts.index(last), rng)
            scale = Scale(shifts[best], len(observed))
        task = Task(
            self.space,
            self._features,
            observed,
            self._stacked([self._rows[k] for k in self._told if k not in measured]),
            self._stacked(running + chosen),
            data[shifts.index(scale.shift)],
            self.strategy,
            self.acquisition,
        )
        return task, scale

    def _walkers(self, scale: Scale) -> Ensemble | None:
        """Where theta's walkers start; those of another scale only tell where to look."""
        if self._ensemble is None or scale.shift == self._scale.shift:
            return self._ensemble
        return replace(self._ensemble, observations=0)

    def _data(self, points: Array, outputs: Outputs) -> Data:
        noise = None if self.noise == "learn" else outputs.noise_variance(self.noise)
        return Data(points, outputs.z, self._features.owner, noise, self.prior)

    def _stacked(self, rows: list[Array]) -> Array:
        """Rows (k, d) as one array, also when there are none."""
        return np.array(rows).reshape(-1, len(self.space))

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

    def _trial(self, index: int, row: Array, origin: Origin) -> Trial:
        return Trial(index, self.space.decode(row), origin=origin)

    def _known(self, trial: Trial | int) -> int:
        """The id of a trial that waits for its value."""
        index = trial.id if isinstance(trial, Trial) else trial
        if not 0 <= index < len(self._trials):
            raise UnknownTrial(f"tell: trial {index} was not asked for here")
        own = self._trials[index]
        if isinstance(trial, Trial) and trial.params != own.params:
            raise UnknownTrial(
                f"tell: trial {index} was asked for here as {own.params}, got {trial.params}; "
                f"tell({index}, ...) if these were changed on the way"
            )
        if own.state is not State.RUNNING:
            raise AlreadyTold(f"tell: trial {index} was told already, it is {own.state}")
        return int(index)

    def _record(self, index: int, result: float | Failure) -> None:
        self._trials[index] = self._trials[index].with_result(result)
        self._told.append(index)
