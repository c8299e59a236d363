"""The budget of a run: what may be spent, what counts, and when it is spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from covey.arguments import LIMITS, is_duration, is_whole
from covey.errors import shown
from covey.history import best_of
from covey.space.dimensions import is_finite
from covey.trial import Evaluation, Failure, Trial


@dataclass
class Tally:
    """What counts against a budget.

    Attributes:
        finished: evaluations by trial id, failed ones and those of earlier sessions included.
        best: the best trial, also of those whose values were known.
        began: when the run began, on the monotonic clock.
    """

    finished: dict[int, Evaluation] = field(default_factory=dict)
    best: Trial | None = None
    began: float = field(default_factory=time.monotonic)

    def count(self, trial: Trial, evaluation: Evaluation) -> Trial:
        """An evaluation is finished; gives the trial with its result."""
        self.finished[trial.id] = evaluation
        return self.know(trial, evaluation)

    def know(self, trial: Trial, evaluation: Evaluation) -> Trial:
        """A value was known without an evaluation: it may be the best, and costs nothing."""
        told = trial.with_result(evaluation.result)
        self.best = best_of(one for one in (self.best, told) if one is not None)
        return told

    @property
    def failed(self) -> list[int]:
        """Trials that failed, by id, in the order of counting."""
        return [index for index, one in self.finished.items() if isinstance(one.result, Failure)]

    @property
    def durations(self) -> dict[int, float]:
        """Seconds of each evaluation, by trial id."""
        return {index: one.seconds for index, one in self.finished.items()}


@dataclass(frozen=True)
class Budget:
    """When to stop starting evaluations; those that run are always taken in.

    Attributes:
        evaluations: how many may be finished, failures included.
        seconds: of wall-clock time.
        target: a value that is good enough.
        failures: how many are too many; reaching it is an error.
        timeout: seconds that one evaluation may take.
    """

    evaluations: int | None = None
    seconds: float | None = None
    target: float | None = None
    failures: int | None = None
    timeout: float | None = None

    def spent(self, tally: Tally) -> str | None:
        """Why nothing more may be started, in words; None if something may."""
        best, failed = tally.best, len(tally.failed)
        if self.evaluations is not None and len(tally.finished) >= self.evaluations:
            return f"{self.evaluations} evaluations are finished"
        if self.seconds is not None and time.monotonic() - tally.began >= self.seconds:
            return f"{self.seconds:g} seconds have passed"
        if self.target is not None and best is not None and (best.value or 0.0) <= self.target:
            return f"the target {self.target:g} is reached"
        if self.failures is not None and failed >= self.failures:
            return f"{failed} evaluations failed"
        return None

    def room(self, tally: Tally, under_way: int, otherwise: int) -> int:
        """How many more evaluations may be started beside those under way; ``otherwise`` if none counts."""
        if self.evaluations is None:
            return otherwise
        return self.evaluations - len(tally.finished) - under_way


def make_budget(
    batch_size: Any,
    iterations: Any,
    evaluations: Any,
    seconds: Any,
    target: Any,
    max_failures: Any,
    timeout: Any,
) -> Budget:
    """The budget that arguments of ``minimize`` ask for; of two counts the smaller.

    Raises:
        ValueError: if one of them is wrong, or none says when to end.
    """
    counts = {"iterations": iterations, "evaluations": evaluations, "max_failures": max_failures}
    given = {name: value for name, value in counts.items() if value is not None}
    for name, value in {"batch_size": batch_size, **given}.items():
        most = LIMITS.batch if name == "batch_size" else LIMITS.count
        if not is_whole(value, 1, most):
            accepted = f"a whole number from 1 to {most}"
            raise ValueError(f"minimize: {name} must be {accepted}, got {shown(value)}")
    for name, value, longest in (("seconds", seconds, LIMITS.seconds), ("timeout", timeout, LIMITS.timeout)):
        if value is not None and not is_duration(value, longest):
            accepted = f"a positive number of seconds up to {longest:.0f}, or None for no limit"
            raise ValueError(f"minimize: {name} must be {accepted}, got {shown(value)}")
    if target is not None and not is_finite(target):
        raise ValueError(f"minimize: target must be a finite number, got {shown(target)}")
    if iterations is None and evaluations is None and seconds is None and target is None:
        raise ValueError("minimize: give a budget: iterations, evaluations, seconds or target")
    batches = None if iterations is None else batch_size * iterations
    wanted = min((count for count in (evaluations, batches) if count is not None), default=None)
    return Budget(wanted, _number(seconds), _number(target), max_failures, _number(timeout))


def _number(value: Any) -> float | None:
    """A number as Python has it, whatever library it is from."""
    return None if value is None else float(value)
