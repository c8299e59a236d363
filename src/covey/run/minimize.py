"""The minimisation of a function from beginning to end: ask, evaluate and tell, on a budget."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager
from inspect import signature
from typing import Any

import numpy as np

from covey.arguments import as_result, check_study
from covey.errors import RunError, TooManyFailures, shown
from covey.history import replay
from covey.optimizer import Optimizer
from covey.run.budget import make_budget
from covey.run.evaluate import Objective, takes_trial
from covey.run.flights import Flights
from covey.run.interrupts import Interrupts
from covey.run.journal import StudyJournal
from covey.run.progress import Display
from covey.run.result import Result
from covey.run.scheduler import Callback, Scheduler
from covey.run.workers import Borrowed, LocalProcesses, Workers, portable
from covey.space import Space
from covey.study import Study, entries, leftovers
from covey.trial import Evaluation

_log = logging.getLogger("covey.minimize")

DEFAULT_NAME = "covey"
"""Of a study that nobody named."""


def minimize(
    objective: Objective,
    space: Space,
    *,
    batch_size: int = 1,
    iterations: int | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    target: float | None = None,
    asynchronous: bool = False,
    fixed: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    storage: str | Study | None = None,
    name: str = DEFAULT_NAME,
    x0: Iterable[Mapping[str, Any]] = (),
    y0: Iterable[float] | None = None,
    callbacks: Sequence[Callback] = (),
    timeout: float | None = None,
    max_failures: int | None = None,
    progress: bool = True,
    **settings: Any,
) -> Result:
    """Minimise a function of a configuration, several evaluations at a time.

    A budget is needed: ``iterations`` (batches), ``evaluations``, ``seconds`` or ``target``; the first
    that is spent ends the run. Ctrl-C ends it too: what is finished is kept and returned.

    Args:
        objective: takes a dict of parameters and returns a number. An exception, NaN or anything else
            is a failed trial. One with a second argument that has no default, ``objective(params, trial)``,
            gets its ``covey.Trial`` too: ``trial.id`` is its place in ``Result.trials``.
        space: what can be varied.
        batch_size: how many evaluations run at once.
        iterations: batches; the same as ``evaluations = batch_size * iterations``.
        evaluations: how many to finish, failures included; in a resumed study, in all.
        seconds: no evaluation starts later than this; those running are awaited.
        target: a value that is good enough.
        asynchronous: give a free worker its next point at once, instead of waiting for the batch.
        fixed: parameters that are held at a value, as in ``Optimizer.ask``.
        executor: any ``concurrent.futures.Executor``; by default local processes, one for each
            evaluation of a batch.
        storage: "sqlite:///study.db" or "postgresql://...": every trial is saved there as it goes, and
            the same call again goes on where it was. Or an open ``covey.Study``, which stays open.
        name: of the study in the storage; an open study has its own.
        x0: configurations to begin with.
        y0: their values, if they are known already.
        callbacks: each hears ``(trial, best)`` after every evaluation; returning True ends the run.
        timeout: seconds after which an evaluation has failed. A local process is killed; on your own executor
            the clock starts when it is handed over, and what runs there is left to itself.
        max_failures: so many failed evaluations end the run with an error.
        progress: show a live display when there is a terminal.
        **settings: of the ``Optimizer``: strategy, acquisition, noise, prior, n_initial, initial, seed.

    Raises:
        TooManyFailures: when ``max_failures`` is reached; it carries the result so far.
        StudyMismatch: if the storage holds a study of that name about something else.
        StudyBusy: if another process is running that study.
    """
    with_trial = takes_trial(objective)
    budget = make_budget(batch_size, iterations, evaluations, seconds, target, max_failures, timeout)
    _check_others(executor, callbacks, storage, name)
    _check_flags(asynchronous=asynchronous, progress=progress)
    _check_settings(settings)
    began = time.monotonic()
    optimizer = Optimizer(space, **settings)
    x0, known = _known_points(space, x0, y0)
    space.positions(fixed or {})  # says what is wrong here, not in another thread
    with Interrupts() as interrupts, ExitStack() as stack:
        with interrupts.raised_after(1):  # nothing is under way yet
            study = stack.enter_context(_opened(storage, name, space))
        if study is not None:
            stack.enter_context(study.enduring(lambda: len(interrupts.heard)))
        pool = stack.enter_context(_workers(executor, batch_size))
        display = stack.enter_context(Display(budget.evaluations, progress))
        flights = Flights(
            portable(objective, executor), with_trial, pool, batch_size, budget.timeout, interrupts
        )
        run = Scheduler(
            optimizer,
            flights,
            budget,
            batch_size,
            asynchronous,
            interrupts,
            fixed,
            callbacks=(*callbacks, display.heard),
        )
        for params, evaluation in known:
            trial = optimizer.include(params)
            optimizer.tell(trial.id, evaluation)
            run.tally.know(trial, evaluation)
        recorded = [] if study is None else _resume(run, study)
        if y0 is None:
            run.store.extend(optimizer.include(params) for params in x0 if dict(params) not in recorded)
        display.watch(run)
        try:
            stopped = run.run()
        except RunError as error:
            display.close()
            if not interrupts.urgent:  # else a choice may still be on its way
                error.result = _result(run, str(error), time.monotonic() - began)
            raise
        display.close()
        if stopped == "interrupted" and study is not None:
            hint = "interrupted: run the same call again to go on with study %r in %s"
            _log.warning(hint, study.name, study.address)
        return _checked(run, _result(run, stopped, time.monotonic() - began))


def _result(run: Scheduler, stopped: str, seconds: float) -> Result:
    """What the run has."""
    # Suggestions that were never handed out are no part of it.
    waiting = {trial.id for trial in run.store}
    trials = [trial for trial in run.optimizer.trials if trial.id not in waiting]
    return Result(trials, stopped, seconds, run.seconds_choosing, run.tally.durations)


def _checked(run: Scheduler, result: Result) -> Result:
    """A result, unless too much has failed for it to be one.

    Raises:
        TooManyFailures: if that is why the run ended.
    """
    failed = run.tally.failed
    if not failed:
        return result
    last = next(trial for trial in result.trials if trial.id == failed[-1])
    if run.budget.failures is not None and len(failed) >= run.budget.failures:
        words = f"{len(failed)} evaluations failed; the last, with {last.params}:\n{last.reason}"
        raise TooManyFailures(words, result)
    if run.tally.best is None:
        reason = ((last.reason or "").strip().splitlines() or ["no reason given"])[-1]
        words = "all %d evaluations failed, so there is no best; the last reason: %.500s"
        _log.warning(words, len(failed), reason)
    return result


def _check_settings(settings: Mapping[str, Any]) -> None:
    accepted = [name for name in signature(Optimizer).parameters if name != "space"]
    for given in settings.keys() - set(accepted):
        raise TypeError(f"minimize: there is no setting {shown(given)}; the optimizer's are {accepted}")


def _check_others(executor: Any, callbacks: Any, storage: Any, name: Any) -> None:
    usable = callable(getattr(executor, "submit", None)) and not isinstance(executor, type)
    if executor is not None and not usable:
        raise TypeError(f"minimize: executor must be a concurrent.futures.Executor, got {shown(executor)}")
    if (
        isinstance(callbacks, str)
        or not isinstance(callbacks, Sequence)
        or not all(callable(one) for one in callbacks)
    ):
        raise TypeError(f"minimize: callbacks must be a list of functions, got {shown(callbacks)}")
    if storage is not None and not isinstance(storage, (str, Study)):
        what = "a URL such as 'sqlite:///study.db' or a covey.Study"
        raise TypeError(f"minimize: storage must be {what}, got {shown(storage)}")
    check_study("minimize: storage", storage if isinstance(storage, str) else "", name)
    if isinstance(storage, Study) and name not in (DEFAULT_NAME, storage.name):
        named = shown(storage.name)
        raise ValueError(f"minimize: storage is the study {named} already, got name = {shown(name)}")


def _check_flags(**flags: Any) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(f"minimize: {name} must be True or False, got {shown(flag)}")


@contextmanager
def _workers(executor: Executor | None, count: int) -> Iterator[Workers]:
    """The user's executor, left open; or local processes, ended at the end."""
    if executor is not None:
        borrowed = Borrowed(executor)
        with closing(borrowed):
            yield borrowed
        return
    local = LocalProcesses(count)
    try:
        yield local
    finally:
        local.shutdown(cancel_futures=True)


@contextmanager
def _opened(storage: str | Study | None, name: str, space: Space) -> Iterator[Study | None]:
    """The study, if there is to be one, held for this run; one that was opened here is closed at the end."""
    if storage is None:
        yield None
        return
    study = storage if isinstance(storage, Study) else Study(storage, name, space)
    try:
        study.check_space(space)
        with study.exclusive():
            yield study
    finally:
        if study is not storage:
            study.close()


def _known_points(
    space: Space, x0: Iterable[Mapping[str, Any]], y0: Iterable[float] | None
) -> tuple[list[Mapping[str, Any]], list[tuple[Mapping[str, Any], Evaluation]]]:
    """The user's own points, checked; and those whose values are known, with them."""
    points = _listed("x0", "configurations", x0)
    for params in points:
        try:
            space.encode(params)
        except ValueError as error:
            raise ValueError(f"minimize: x0: {error}") from None
    if y0 is None:
        return points, []
    values = _listed("y0", "values", y0)
    if len(values) != len(points):
        raise ValueError(f"minimize: {len(points)} points in x0 need as many values in y0, got {len(values)}")
    try:
        results = [Evaluation(as_result(value), 0.0) for value in values]
    except TypeError as error:
        raise TypeError(f"minimize: y0: {error}") from None
    return points, list(zip(points, results, strict=True))


def _listed(name: str, what: str, given: Any) -> list[Any]:
    """All of an iterable, which may be one that is used up by looking."""
    try:
        if not isinstance(given, (str, bytes, Mapping)):
            return list(given)
    except TypeError:
        pass
    raise ValueError(f"minimize: {name} must be a list of {what}, got {shown(given)}")


def _resume(run: Scheduler, study: Study) -> list[dict[str, Any]]:
    """Go on where a study is: finished trials are told, those that were in flight run again first.

    Returns the configurations that the study has.
    """
    run.journal = StudyJournal(study)
    leftovers.take(study)
    rows = study.recorded()
    trials = replay(run.optimizer, entries(rows, asynchronous=run.asynchronous))
    study.adopt({trial.id: row.trial.id for trial, row in zip(trials, rows, strict=True)})
    for trial, row in zip(trials, rows, strict=True):
        if row.result is None:
            run.store.append(trial)
        else:
            run.tally.count(trial, Evaluation(row.result, row.seconds))
    return [row.trial.params for row in rows]
