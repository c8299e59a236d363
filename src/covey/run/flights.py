"""Flights: evaluations under way, from the moment they are handed to workers until they are written down.

An evaluation never raises (``covey.run.evaluate``). So what ends without one is the doing of the workers, and
runs again; unless the process that ran it died, and it alone: then the objective has killed it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any

from covey.errors import ExecutorLost
from covey.run.evaluate import evaluate
from covey.run.interrupts import Interrupts
from covey.run.workers import Workers
from covey.trial import Evaluation, Failure, Trial


@dataclass(frozen=True)
class Pace:
    """How flights are looked after.

    Attributes:
        glance: seconds between two looks at whether somebody pressed Ctrl-C.
        grace: seconds for a result that is on its way when a run has to end.
        rounds: batches lost in a row, with nothing that came back, after which an executor is lost itself:
            one may be a worker that was restarted, three are no coincidence.
    """

    glance: float = 0.1
    grace: float = 1.0
    rounds: int = 3


PACE = Pace()


@dataclass
class Flight:
    """An evaluation under way; it is one until ``evaluation``, what came of it, is written down."""

    trial: Trial
    started: float
    evaluation: Evaluation | None = None


@dataclass
class Flights:
    """Evaluations under way.

    Attributes:
        objective, takes_trial: what is evaluated, and whether it gets its trial beside the parameters.
        workers: who evaluates.
        size: how many run at once.
        timeout: seconds that one may take.
        interrupts: why to stop waiting.
        under_way: by future.
        suspects: those that a pool ran when it broke; each is to be tried alone.
        again: those that were lost, to be handed out once more.
    """

    objective: Callable[..., Any]
    takes_trial: bool
    workers: Workers
    size: int
    timeout: float | None
    interrupts: Interrupts
    under_way: dict[Future[Evaluation], Flight] = field(default_factory=dict)
    suspects: deque[Trial] = field(default_factory=deque)
    again: deque[Trial] = field(default_factory=deque)
    _losses: int = 0
    _alone: bool = False

    @property
    def count(self) -> int:
        """How many are under way or to be tried again."""
        return len(self.under_way) + len(self.suspects) + len(self.again)

    @property
    def free(self) -> int:
        """How many more can run at once; none beside suspects, which are tried alone."""
        return 0 if self.suspects else self.size - self.count

    def launch(self, trial: Trial) -> None:
        """Hand a trial to the workers."""
        extra = [trial.copy()] if self.takes_trial else []
        try:
            future = self.workers.submit(evaluate, self.objective, trial.params, *extra)
        except BrokenExecutor as error:  # it broke since the last look
            if not self.under_way:
                self.workers.recover(error)
            self.suspects.append(trial)
        except Exception as error:
            self._lose(trial, error)
        else:
            self.under_way[future] = Flight(trial, time.monotonic())

    def relaunch(self) -> None:
        """Hand out again what was lost; after a crash suspects go first, each alone."""
        if self.suspects:
            if not self.under_way:
                self._alone = True
                self.launch(self.suspects.popleft())
            return
        for _ in range(min(len(self.again), self.size - len(self.under_way))):
            self.launch(self.again.popleft())

    def wait(self, others: Iterable[Future[Any]], due: float | None) -> None:
        """Sleep until something is done, something is due (on the monotonic clock), or an interrupt."""
        futures: list[Future[Any]] = [*self.under_way, *others]
        while futures and not self.interrupts.heard:
            left = min([PACE.glance, *(time_due - time.monotonic() for time_due in self._due(due))])
            if left <= 0 or wait(futures, left, FIRST_COMPLETED).done:
                return

    def _due(self, other: float | None) -> list[float]:
        began = [self.workers.began(future) for future in self.under_way] if self.timeout else []
        due = [moment + self.timeout for moment in began if moment is not None and self.timeout]
        return due if other is None else [*due, other]

    def settle(self) -> None:
        """Find out what came of flights that have ended.

        Raises:
            ExecutorLost: if the workers cannot be used any more.
        """
        broken: list[tuple[Future[Evaluation], BaseException]] = []
        for future, flight in self._ended():
            error = _error_of(future)
            if error is None:
                self._land(flight, future.result())
            elif isinstance(error, BrokenExecutor) and not self.workers.isolated:
                broken.append((future, error))
            elif isinstance(error, BrokenExecutor) and self._is_to_blame(future):
                self._land(flight, _death(error, flight))
            else:
                del self.under_way[future]
                self._lose(flight.trial, error)
        if broken:
            self._recover(*broken[0])
        self._time_out()

    def settle_for_good(self) -> None:
        """Take what is finished, or will be in a moment; all else may run again in another session."""
        wait([future for future, flight in self.under_way.items() if flight.evaluation is None], PACE.grace)
        for future, flight in self._ended():
            if _error_of(future) is None:
                self._land(flight, future.result())

    def landed(self) -> list[tuple[Trial, Evaluation]]:
        """Trials that have an evaluation, which waits to be written down."""
        flights = self.under_way.values()
        return [(flight.trial, flight.evaluation) for flight in flights if flight.evaluation is not None]

    def leave(self, trial: Trial) -> None:
        """A trial is written down: its flight is over."""
        self.under_way = {future: one for future, one in self.under_way.items() if one.trial.id != trial.id}

    def _ended(self) -> list[tuple[Future[Evaluation], Flight]]:
        return [
            (future, flight)
            for future, flight in self.under_way.items()
            if flight.evaluation is None and future.done()
        ]

    def _land(self, flight: Flight, evaluation: Evaluation) -> None:
        """An evaluation is there; a failure after an interrupt is none, and may run again.

        A terminal sends Ctrl-C to everybody, also to programs that an objective has started and waits for.
        """
        if not (isinstance(evaluation.result, Failure) and self.interrupts.heard):
            flight.evaluation, self._losses = evaluation, 0

    def _lose(self, trial: Trial, error: BaseException) -> None:
        """A trial that the workers lost runs again."""
        self.again.append(trial)
        self._count_loss(error)

    def _count_loss(self, error: BaseException) -> None:
        """Too many losses in a row, and the workers themselves are lost."""
        self._losses += 1
        if self._losses >= PACE.rounds * self.size:
            count = self._losses
            raise ExecutorLost(
                f"{count} evaluations were lost in a row, the last by {_words(error)}"
            ) from error

    def _is_to_blame(self, future: Future[Evaluation]) -> bool:
        """Whether an objective is the reason that its process died: it had begun, and nobody ended us all."""
        return self.workers.has_begun(future) and not self.interrupts.heard

    def _recover(self, culprit: Future[Evaluation], error: BaseException) -> None:
        """A shared pool broke: all that it ran are suspects; who breaks it alone is the culprit.

        One that is not done breaks with its pool, or is left to itself: nobody waits for it.
        """
        lost = [future for future, flight in self.under_way.items() if flight.evaluation is None]
        single = len(lost) == 1 and (self._alone or not self.suspects)
        self._alone = False
        self.workers.recover(error)
        if single and self._is_to_blame(culprit):
            self._land(self.under_way[culprit], _death(error, self.under_way[culprit]))
            return
        self.suspects.extend(self.under_way.pop(future).trial for future in lost)
        self._count_loss(error)

    def _time_out(self) -> None:
        limit = self.timeout
        for future, flight in list(self.under_way.items()) if limit is not None else ():
            began = self.workers.began(future)
            if flight.evaluation is None and limit and began and time.monotonic() - began >= limit:
                self.workers.kill(future)
                self._land(flight, Evaluation(Failure(f"timed out after {limit:g} seconds"), limit))


def _error_of(future: Future[Evaluation]) -> BaseException | None:
    """Why a future that is done has no evaluation; None if it has one."""
    if future.cancelled():
        return CancelledError("it was cancelled")
    if (error := future.exception()) is not None:
        return error
    if isinstance(given := future.result(), Evaluation):
        return None
    return TypeError(f"the executor gave {given!r:.200} for an evaluation")


def _words(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _death(error: BaseException, flight: Flight) -> Evaluation:
    """What comes of an objective that ends its process."""
    first = (str(error).strip().splitlines() or [""])[0]
    reason = f"the worker died: {first} ({type(error).__name__})"
    return Evaluation(Failure(reason), time.monotonic() - flight.started)
