"""The scheduler: one loop that keeps workers busy, in batches or asynchronously, on any executor.

The loop's own thread hands out work and takes in results; a second thread tells the optimizer and asks it
for more, so that choosing goes on while the workers compute. The two ways of running differ in when they ask:
in batches when everything is in; asynchronously as soon as there are fewer suggestions in store than wanted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from covey.errors import SpaceExhausted
from covey.optimizer import Optimizer
from covey.run.budget import Budget, Tally
from covey.run.evaluate import evaluate
from covey.run.workers import Workers
from covey.trial import Evaluation, Failure, Trial

Callback: TypeAlias = Callable[[Trial, Trial | None], bool | None]
"""Hears of each finished trial and of the best so far; True ends the run."""


class Journal(Protocol):
    """Where a campaign is written down."""

    def started(self, trial: Trial) -> None:
        """A trial is about to be evaluated."""

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """An evaluation ended; called before anything else is done with it."""


class NoJournal:
    """Writes nothing."""

    def started(self, trial: Trial) -> None:
        """Nothing."""

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Reserve:
    """Suggestions that an asynchronous run holds in store, so that a free worker does not wait for a choice.

    Attributes:
        share: of the evaluations that run at once; those in store are chosen by older knowledge, so not all.
        least: how many in any case; without one, the next worker to be free waits.
    """

    share: float = 0.5
    least: int = 1

    def of(self, batch_size: int) -> int:
        """How many beside so many that run."""
        return max(self.least, int(self.share * batch_size))


RESERVE = Reserve()


@dataclass
class Flight:
    """An evaluation under way."""

    trial: Trial
    started: float


@dataclass
class Scheduler:
    """A run in progress.

    Attributes:
        objective, takes_trial: what is evaluated, and whether it gets its trial beside the parameters.
        optimizer, workers, budget, journal, callbacks: what it works with.
        batch_size: how many evaluations run at once.
        asynchronous: whether a worker gets a new point the moment it is free.
        store, flights, suspects: points to hand out, under way, and to be tried alone.
        tally: what is finished.
        seconds_choosing, batches: spent choosing, and how often.
        stopped: why nothing more is started.
    """

    objective: Callable[..., Any]
    takes_trial: bool
    optimizer: Optimizer
    workers: Workers
    budget: Budget
    batch_size: int
    asynchronous: bool
    journal: Journal = field(default_factory=NoJournal)
    callbacks: Sequence[Callback] = ()
    store: deque[Trial] = field(default_factory=deque)
    flights: dict[Future[Evaluation], Flight] = field(default_factory=dict)
    suspects: deque[Trial] = field(default_factory=deque)
    tally: Tally = field(default_factory=Tally)
    seconds_choosing: float = 0.0
    batches: int = 0
    stopped: str | None = None
    _untold: list[tuple[int, Evaluation]] = field(default_factory=list)
    _untold_lock: threading.Lock = field(default_factory=threading.Lock)
    _choice: Future[list[Trial]] | None = None
    _exhausted: bool = False
    _alone: bool = False

    def run(self) -> str:
        """Go on until a budget is spent and all is in; returns why it ended."""
        with ThreadPoolExecutor(1, thread_name_prefix="covey-chooser") as chooser:
            try:
                while not self._over():
                    self._choose(chooser)
                    self._dispatch()
                    self._wait()
                    self._collect()
            except KeyboardInterrupt:
                self.stopped = "interrupted"
                self._keep_values()
        if self._choice is not None and self._choice.exception() is None:
            self.store.extend(self._choice.result())  # chosen, but never handed out
        self._tell()
        return self.stopped or "done"

    def _over(self) -> bool:
        """Whether nothing runs and nothing may be started."""
        self.stopped = self.stopped or self._reason()
        idle = not self.flights and not self.suspects
        return idle and (self.stopped is not None or (self._exhausted and not self.store))

    def _reason(self) -> str | None:
        if reason := self.budget.spent(self.tally):
            return reason
        if self._exhausted and not self.store and not self.flights:
            return "every configuration of the space has been evaluated"
        return None

    def _room(self) -> int:
        """How many more evaluations may be started."""
        if self.stopped is not None:
            return 0
        under_way = len(self.flights) + len(self.suspects)
        return self.budget.room(self.tally, under_way, otherwise=self.batch_size)

    def _wanted(self) -> int:
        """How many points to ask for now."""
        if self.asynchronous:
            missing = self.batch_size - len(self.flights) + RESERVE.of(self.batch_size) - len(self.store)
            return min(missing, self._room() - len(self.store))
        busy = self.flights or self.store or self.suspects
        return 0 if busy else min(self.batch_size, self._room())

    def _choose(self, chooser: ThreadPoolExecutor) -> None:
        """Ask in the background for what is missing."""
        wanted = self._wanted()
        if self._choice is None and wanted > 0 and not self._exhausted:
            self.batches += 1
            self._choice = chooser.submit(self._ask, wanted)

    def _ask(self, count: int) -> list[Trial]:
        started = time.perf_counter()
        self._tell()
        try:
            return self.optimizer.ask(count)
        except SpaceExhausted:
            return []
        finally:
            self.seconds_choosing += time.perf_counter() - started

    def _tell(self) -> None:
        """Tell what came in: in batches by number, so that the order of arrival does not matter."""
        with self._untold_lock:
            arrived, self._untold = self._untold, []
        for index, evaluation in arrived if self.asynchronous else sorted(arrived, key=lambda pair: pair[0]):
            self.optimizer.tell(index, evaluation)

    def _dispatch(self) -> None:
        """Hand points to free workers; after a crash suspects go first, each alone."""
        if self.suspects:
            if not self.flights:
                self._alone = True
                self._submit(self.suspects.popleft())
            return
        while self.store and not self.suspects and len(self.flights) < self.batch_size and self._room() > 0:
            trial = self.store.popleft()
            self.journal.started(trial)
            self._submit(trial)

    def _submit(self, trial: Trial) -> None:
        extra = [trial.copy()] if self.takes_trial else []
        try:
            future = self.workers.submit(evaluate, self.objective, trial.params, *extra)
        except BrokenExecutor as error:  # it broke since the last look
            if not self.flights:
                self.workers.recover(error)
            self.suspects.append(trial)
        else:
            self.flights[future] = Flight(trial, time.monotonic())

    def _wait(self) -> None:
        """Sleep until something happens or is due."""
        futures: list[Future[Any]] = [*self.flights, *([self._choice] if self._choice else [])]
        if futures:
            wait(futures, timeout=self._patience(), return_when=FIRST_COMPLETED)

    def _patience(self) -> float | None:
        now, due = time.monotonic(), list[float]()
        if self.budget.timeout is not None:
            due += [(self.workers.began(future) or now) + self.budget.timeout for future in self.flights]
        if self.budget.seconds is not None and self.stopped is None:
            due.append(self.tally.began + self.budget.seconds)
        return max(0.0, min(due) - now) if due else None

    def _collect(self) -> None:
        if self._choice is not None and self._choice.done():
            chosen, self._choice = self._choice.result(), None
            self.store.extend(chosen)
            self._exhausted = not chosen
        broken: list[tuple[Flight, BaseException]] = []
        for future in [future for future in self.flights if future.done()]:
            flight = self.flights.pop(future)
            error = _error_of(future)
            if error is None:
                self._take(flight, future.result())
            elif isinstance(error, BrokenExecutor) and not self.workers.isolated:
                broken.append((flight, error))
            else:
                self._take(flight, _lost(error, flight))
        if broken:
            self._recover(broken)
        self._time_out()

    def _keep_values(self) -> None:
        """Take what came in before an interrupt; workers that it ended too are to run again, not failures."""
        done = [future for future in self.flights if future.done() and not future.cancelled()]
        for future in done:
            if future.exception() is None:
                self._take(self.flights.pop(future), future.result())

    def _recover(self, broken: list[tuple[Flight, BaseException]]) -> None:
        """A shared pool broke: all that it ran are suspects; who breaks it alone is the culprit."""
        while self.flights:
            future, flight = self.flights.popitem()
            # One that is not done breaks with its pool, or is left to itself: nobody waits for it.
            error = _error_of(future) if future.done() else broken[0][1]
            if error is None:
                self._take(flight, future.result())
            else:
                broken.append((flight, error))
        self.workers.recover(broken[0][1])
        if len(broken) == 1 and (self._alone or not self.suspects):
            self._take(broken[0][0], _lost(broken[0][1], broken[0][0]))
        else:
            self.suspects.extend(flight.trial for flight, _ in broken)
        self._alone = False

    def _time_out(self) -> None:
        limit = self.budget.timeout
        for future, flight in list(self.flights.items()) if limit is not None else ():
            began = self.workers.began(future)
            if limit is not None and began is not None and time.monotonic() - began >= limit:
                del self.flights[future]
                self.workers.kill(future)
                self._take(flight, Evaluation(Failure(f"timed out after {limit:g} seconds"), limit))

    def _take(self, flight: Flight, evaluation: Evaluation) -> None:
        """Write an evaluation down, then let everybody know."""
        self.journal.finished(flight.trial, evaluation)
        trial = self.tally.count(flight.trial, evaluation)
        with self._untold_lock:
            self._untold.append((trial.id, evaluation))
        for callback in self.callbacks:
            if callback(trial, self.tally.best):
                self.stopped = self.stopped or "a callback asked to stop"


def _error_of(future: Future[Any]) -> BaseException | None:
    """Why a future that is done has no result; None if it has one."""
    return CancelledError("it was cancelled") if future.cancelled() else future.exception()


def _lost(error: BaseException, flight: Flight) -> Evaluation:
    """The evaluation itself never raises: this is a worker that died, or work that cannot travel."""
    what = "the worker died" if isinstance(error, BrokenExecutor) else "the evaluation could not be run"
    words = str(error).strip().splitlines() or [""]
    return Evaluation(
        Failure(f"{what}: {words[0]} ({type(error).__name__})"), time.monotonic() - flight.started
    )
