"""The scheduler: one loop that keeps workers busy, in batches or asynchronously, on any executor.

The loop's own thread hands out work and takes in results; a second thread tells the optimizer and asks it
for more, so that choosing goes on while the workers compute. The two ways of running differ in when they ask:
in batches when everything is in; asynchronously as soon as there are fewer suggestions in store than wanted.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from covey.errors import SpaceExhausted, StorageLost
from covey.optimizer import Optimizer
from covey.run.budget import Budget, Tally
from covey.run.flights import PACE, Flights
from covey.run.interrupts import Interrupts
from covey.trial import Evaluation, Trial

Callback: TypeAlias = Callable[[Trial, Trial | None], bool | None]
"""Hears of each finished trial and of the best so far; True ends the run."""


class Journal(Protocol):
    """Where a run is written down."""

    def started(self, trial: Trial) -> None:
        """A trial is about to be evaluated; raises StorageLost if that cannot be written."""

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """An evaluation ended; called before anything else is done with it. Raises StorageLost likewise."""

    def offer(self, unwritten: Sequence[tuple[Trial, Evaluation]]) -> str:
        """Finished evaluations that could not be written: put them elsewhere, and say where."""


class NoJournal:
    """Writes nothing."""

    def started(self, trial: Trial) -> None:
        """Nothing."""

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """Nothing."""

    def offer(self, unwritten: Sequence[tuple[Trial, Evaluation]]) -> str:  # noqa: ARG002
        """Nothing is ever left over."""
        return ""


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
class Scheduler:
    """A run in progress.

    Attributes:
        optimizer, flights, budget, journal, callbacks, interrupts: what it works with.
        batch_size: how many evaluations run at once.
        asynchronous: whether a worker gets a new point the moment it is free.
        fixed: parameters that are held at a value.
        store: points to hand out.
        tally: what is finished.
        seconds_choosing, batches: spent choosing, and how often.
        stopped: why nothing more is started.
    """

    optimizer: Optimizer
    flights: Flights
    budget: Budget
    batch_size: int
    asynchronous: bool
    interrupts: Interrupts
    fixed: Mapping[str, Any] | None = None
    journal: Journal = field(default_factory=NoJournal)
    callbacks: Sequence[Callback] = ()
    store: deque[Trial] = field(default_factory=deque)
    tally: Tally = field(default_factory=Tally)
    seconds_choosing: float = 0.0
    batches: int = 0
    stopped: str | None = None
    _untold: list[tuple[int, Evaluation]] = field(default_factory=list)
    _untold_lock: threading.Lock = field(default_factory=threading.Lock)
    _choice: Future[list[Trial]] | None = None
    _exhausted: bool = False

    def run(self) -> str:
        """Go on until a budget is spent and all is in; returns why it ended.

        Raises:
            ExecutorLost, StorageLost: if it cannot go on; what is finished is written, or offered.
            KeyboardInterrupt: at an interrupt that does not wait for anything.
        """
        try:
            self._loop()
        except StorageLost as error:
            self.flights.settle_for_good()
            raise StorageLost(f"{error}; {self.journal.offer(self.flights.landed())}") from error
        finally:
            self._conclude()
        if self.interrupts.urgent:
            raise KeyboardInterrupt
        return self.stopped or "done"

    def _loop(self) -> None:
        try:
            while not self._over():
                self._choose()
                self._dispatch()
                self.flights.wait([self._choice] if self._choice else [], self._due())
                self._collect()
        except StorageLost:
            raise
        except BaseException:
            self._keep()
            raise
        self._keep()

    def _keep(self) -> None:
        """Write down what is finished, though the run has to end."""
        self.flights.settle_for_good()
        self._record()

    def _conclude(self) -> None:
        """Let the optimizer know all, and the run what was chosen but never handed out."""
        while self._choice is not None and not self._choice.done():
            if self.interrupts.urgent:
                return
            wait([self._choice], PACE.glance)
        if self._choice is not None and self._choice.exception() is None:
            self.store.extend(self._choice.result())
        self._tell()

    def _over(self) -> bool:
        """Whether nothing runs and nothing may be started, or an interrupt wants an end."""
        if self.interrupts.heard:
            self.stopped = "interrupted"
            return True
        self.stopped = self.stopped or self._reason()
        idle = self.flights.count == 0
        return idle and (self.stopped is not None or (self._exhausted and not self.store))

    def _reason(self) -> str | None:
        if reason := self.budget.spent(self.tally):
            return reason
        if self._exhausted and not self.store and not self.flights.under_way:
            return "every configuration of the space has been evaluated"
        return None

    def _room(self) -> int:
        """How many more evaluations may be started."""
        if self.stopped is not None:
            return 0
        return self.budget.room(self.tally, self.flights.count, otherwise=self.batch_size)

    def _wanted(self) -> int:
        """How many points to ask for now."""
        if self.asynchronous:
            missing = self.batch_size + RESERVE.of(self.batch_size) - self.flights.count - len(self.store)
            return min(missing, self._room() - len(self.store))
        busy = self.flights.count or self.store
        return 0 if busy else min(self.batch_size, self._room())

    def _choose(self) -> None:
        """Ask in the background for what is missing."""
        wanted = self._wanted()
        if self._choice is None and wanted > 0 and not self._exhausted:
            self.batches += 1
            self._choice = _in_background(self._ask, wanted)

    def _ask(self, count: int) -> list[Trial]:
        started = time.perf_counter()
        self._tell()
        try:
            return self.optimizer.ask(count, fixed=self.fixed)
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
        """Hand points to free workers, those that were handed out already first."""
        self.flights.relaunch()
        while self.store and self.flights.free > 0 and self._room() > 0:
            self.journal.started(self.store[0])
            self.flights.launch(self.store.popleft())

    def _due(self) -> float | None:
        """When the budget's time is up."""
        if self.budget.seconds is None or self.stopped is not None:
            return None
        return self.tally.began + self.budget.seconds

    def _collect(self) -> None:
        if self._choice is not None and self._choice.done():
            chosen, self._choice = self._choice.result(), None
            self.store.extend(chosen)
            self._exhausted = not chosen
        self.flights.settle()
        self._record()

    def _record(self) -> None:
        """Write evaluations down, then let everybody know; until it is written, a flight stays one."""
        news: list[tuple[Trial, Trial | None]] = []
        for trial, evaluation in self.flights.landed():
            self.journal.finished(trial, evaluation)
            self.flights.leave(trial)
            told = self.tally.count(trial, evaluation)
            with self._untold_lock:
                self._untold.append((trial.id, evaluation))
            news.append((told, self.tally.best))
        if not self.interrupts.urgent:
            self._call_back(news)

    def _call_back(self, news: Sequence[tuple[Trial, Trial | None]]) -> None:
        with self.interrupts.raised_after(2):  # of a user's code nobody knows how long it takes
            for trial, best in news:
                for callback in self.callbacks:
                    if callback(trial, best):
                        self.stopped = self.stopped or "a callback asked to stop"


def _in_background(work: Callable[..., list[Trial]], *arguments: Any) -> Future[list[Trial]]:
    """The result to come of work in a thread that does not keep a process from ending."""
    future: Future[list[Trial]] = Future()

    def run() -> None:
        try:
            future.set_result(work(*arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="covey-chooser").start()
    return future
