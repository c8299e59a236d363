"""How is a function minimised from beginning to end? By asking, evaluating and telling, on a budget."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from inspect import signature
from typing import Any

from covey.arguments import as_result, is_whole
from covey.errors import TooManyFailures
from covey.history import replay
from covey.optimizer import Optimizer
from covey.run.evaluate import Objective
from covey.run.progress import Display
from covey.run.result import Result
from covey.run.scheduler import Budget, Callback, Campaign
from covey.run.workers import Borrowed, LocalProcesses, Workers, portable
from covey.space import Space
from covey.study import Study, entries
from covey.study.address import masked
from covey.trial import Evaluation, Failure, Trial


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
    executor: Executor | None = None,
    storage: str | None = None,
    name: str = "covey",
    x0: Sequence[Mapping[str, Any]] = (),
    y0: Sequence[float] | None = None,
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
            is a failed trial.
        space: what can be varied.
        batch_size: how many evaluations run at once.
        iterations: batches; the same as ``evaluations = batch_size * iterations``.
        evaluations: how many to finish, failures included; in a resumed study, in all.
        seconds: no evaluation starts later than this; those running are awaited.
        target: a value that is good enough.
        asynchronous: give a free worker its next point at once, instead of waiting for the batch.
        executor: any ``concurrent.futures.Executor``; by default local processes, one for each
            evaluation of a batch.
        storage: "sqlite:///study.db" or "postgresql://...": every trial is saved there as it goes, and
            the same call again goes on where it was.
        name: of the study in the storage.
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
    if not callable(objective):
        raise TypeError(f"objective must be a function of a dict of parameters, got {objective!r}")
    _check_positive(batch_size=batch_size, iterations=iterations, evaluations=evaluations)
    _check_positive(max_failures=max_failures)
    _check_seconds(seconds=seconds, timeout=timeout)
    _check_others(target, executor, callbacks, storage, name)
    _check_settings(settings)
    counts = [evaluations, None if iterations is None else batch_size * iterations]
    wanted = min((count for count in counts if count is not None), default=None)
    if wanted is None and seconds is None and target is None:
        raise ValueError("minimize: give a budget: iterations, evaluations, seconds or target")
    began = time.monotonic()
    optimizer = Optimizer(space, **settings)
    known = _known_points(space, x0, y0)
    with (
        _opened(storage, name, space) as study,
        _workers(executor, batch_size) as pool,
        Display(wanted, progress) as display,
    ):
        campaign = Campaign(
            portable(objective, executor),
            optimizer,
            pool,
            Budget(wanted, seconds, target, max_failures, timeout),
            batch_size,
            asynchronous,
            callbacks=(*callbacks, display.heard),
        )
        for params, value in known:
            campaign.know(optimizer.include(params), value)
        recorded = [] if study is None else _resume(campaign, study)
        if y0 is None:
            campaign.store.extend(optimizer.include(params) for params in x0 if dict(params) not in recorded)
        display.watch(campaign)
        try:
            stopped = campaign.run()
        finally:
            display.close()
    if stopped == "interrupted" and storage is not None:
        hint = "interrupted: run the same call again to go on with study %r in %s"
        logging.getLogger("covey.minimize").warning(hint, name, masked(storage))
    return _result(campaign, stopped, time.monotonic() - began)


def _result(campaign: Campaign, stopped: str, seconds: float) -> Result:
    """What the run has; raises TooManyFailures if that is why it ended."""
    durations = {index: evaluation.seconds for index, evaluation in campaign.finished.items()}
    result = Result(_started(campaign), stopped, seconds, campaign.seconds_choosing, durations)
    failed = [
        index for index, evaluation in campaign.finished.items() if isinstance(evaluation.result, Failure)
    ]
    if campaign.budget.failures is not None and len(failed) >= campaign.budget.failures:
        last = next(trial for trial in result.trials if trial.id == failed[-1])
        words = f"{len(failed)} evaluations failed; the last, with {last.params}:\n{last.reason}"
        raise TooManyFailures(words, result)
    return result


def _check_positive(**values: Any) -> None:
    for name, value in values.items():
        if value is not None and not is_whole(value, 1):
            raise ValueError(f"minimize: {name} must be a whole number from 1, got {value!r}")


def _check_settings(settings: Mapping[str, Any]) -> None:
    accepted = [name for name in signature(Optimizer).parameters if name != "space"]
    for given in settings.keys() - set(accepted):
        raise TypeError(f"minimize: there is no setting {given!r}; the optimizer's are {accepted}")


def _check_seconds(**values: Any) -> None:
    for name, value in values.items():
        if value is None:
            continue
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < math.inf:
            raise ValueError(f"minimize: {name} must be a positive number of seconds, got {value!r}")


def _check_others(target: Any, executor: Any, callbacks: Any, storage: Any, name: Any) -> None:
    number = isinstance(target, (int, float)) and not isinstance(target, bool) and math.isfinite(target)
    if target is not None and not number:
        raise ValueError(f"minimize: target must be a finite number, got {target!r}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"minimize: executor must be a concurrent.futures.Executor, got {executor!r}")
    if not isinstance(callbacks, Sequence) or not all(callable(one) for one in callbacks):
        raise TypeError(f"minimize: callbacks must be a list of functions, got {callbacks!r}")
    if storage is not None and not isinstance(storage, str):
        raise TypeError(f"minimize: storage must be a URL such as 'sqlite:///study.db', got {storage!r}")
    if not isinstance(name, str) or not name:
        raise TypeError(f"minimize: name must be a non-empty string, got {name!r}")


@contextmanager
def _workers(executor: Executor | None, count: int) -> Iterator[Workers]:
    """The user's executor, left open; or local processes, ended at the end."""
    if executor is not None:
        yield Borrowed(executor)
        return
    local = LocalProcesses(count)
    try:
        yield local
    finally:
        local.shutdown(cancel_futures=True)


@contextmanager
def _opened(storage: str | None, name: str, space: Space) -> Iterator[Study | None]:
    """The study, if there is to be one; its connections are closed at the end."""
    if storage is None:
        yield None
        return
    study = Study(storage, name, space)
    try:
        with study.exclusive():
            yield study
    finally:
        study.close()


def _known_points(
    space: Space, x0: Sequence[Mapping[str, Any]], y0: Sequence[float] | None
) -> list[tuple[Mapping[str, Any], float | Failure]]:
    """Checks the user's own points; those whose values are known, with them."""
    if isinstance(x0, Mapping):
        raise ValueError(f"minimize: x0 must be a list of configurations, got one: {dict(x0)!r}")
    for params in x0:
        space.encode(params)
    if y0 is None:
        return []
    if len(y0) != len(x0):
        raise ValueError(f"minimize: {len(x0)} points in x0 need as many values in y0, got {len(y0)}")
    return [(params, as_result(value)) for params, value in zip(x0, y0, strict=True)]


def _resume(campaign: Campaign, study: Study) -> list[dict[str, Any]]:
    """Go on where a study is: finished trials are told, those that were in flight run again first.

    Returns the configurations that the study has.
    """
    campaign.journal = study
    rows = study.recorded()
    trials = replay(campaign.optimizer, entries(rows, asynchronous=campaign.asynchronous))
    study.adopt({trial.id: row.trial.id for trial, row in zip(trials, rows, strict=True)})
    for trial, row in zip(trials, rows, strict=True):
        if row.result is None:
            campaign.store.append(trial)
        else:
            campaign.recall(trial, Evaluation(row.result, row.seconds))
    return [row.trial.params for row in rows]


def _started(campaign: Campaign) -> list[Trial]:
    """The optimizer's trials, without suggestions that were never handed out."""
    waiting = {trial.id for trial in campaign.store}
    return [trial for trial in campaign.optimizer.trials if trial.id not in waiting]
