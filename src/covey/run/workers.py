"""The workers that evaluate: any executor; by default local processes, which crash one at a time."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from covey.errors import ExecutorLost
from covey.run.interrupts import held_back
from covey.run.marks import Marks

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SINGLE_THREADED = dict.fromkeys(_THREADS, "1")
"""The environment of a local worker: as many workers as cores leave each of them one."""

_TERMINAL = {getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)}
"""What a terminal sends to everybody: Ctrl-C, and word that it is closed."""


@dataclass(frozen=True)
class Watch:
    """How a local worker looks after itself.

    Attributes:
        glance: seconds between two looks at whether the parent is there; rare enough to cost nothing.
    """

    glance: float = 0.5


WATCH = Watch()


class Workers(Protocol):
    """What a scheduler needs of those who evaluate.

    Attributes:
        isolated: whether a worker that dies fails only its own evaluation.
    """

    isolated: bool

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Run a function."""

    def began(self, future: Future[Any]) -> float | None:
        """When it began to run, on the monotonic clock; None if it has not."""

    def has_begun(self, future: Future[Any]) -> bool:
        """Whether it, done by now, ever began; True where nobody can tell."""

    def kill(self, future: Future[Any]) -> None:
        """Stop it if that can be done."""

    def recover(self, error: BaseException) -> None:
        """Be ready for work again after a crash; raises if that cannot be done."""


class LocalProcesses(Executor):
    """Local worker processes that can die one at a time.

    Each worker is a loky pool of one process: functions are pickled by value (lambdas and closures
    work), and a process that dies or is killed takes only its own evaluation along. It is replaced
    when the next one is submitted.

    Args:
        count: how many evaluations run at once; processes start when they are first needed.
    """

    isolated = True

    def __init__(self, count: int) -> None:
        self._workers = [_Worker() for _ in range(count)]
        self._marks = Marks()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function in the worker that has least to do."""
        worker = min(self._workers, key=lambda one: len(one.running))
        return self._marks.submit(worker.submit, fn, *args, **kwargs)

    def began(self, future: Future[Any]) -> float | None:
        """When it was seen running: starting a process takes a second and is not its fault."""
        return self._marks.began(future)

    def has_begun(self, future: Future[Any]) -> bool:
        """Whether its process got as far as calling it."""
        return self._marks.began(future) is not None

    def kill(self, future: Future[Any]) -> None:
        """Kill the process that runs a function; its future ends with an exception."""
        for worker in self._workers:
            if future in worker.running:
                worker.shutdown(kill=True)

    def recover(self, error: BaseException) -> None:
        """Nothing to do: dead processes are replaced one by one."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes; those that are busy are killed if ``cancel_futures`` or not ``wait``."""
        for worker in self._workers:
            worker.shutdown(kill=cancel_futures or not wait)
        self._marks.close()


class _Worker:
    """One process, replaced after its death."""

    def __init__(self) -> None:
        self.running: set[Future[Any]] = set()
        self._pool: Any = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._pool is None:
            self._start()
        try:
            with held_back(_TERMINAL):  # what is started here hears of a terminal when it can answer
                future: Future[Any] = self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:  # died while idle
            self.shutdown(kill=True)
            return self.submit(fn, *args, **kwargs)
        self.running.add(future)
        future.add_done_callback(self._finished)
        return future

    def _start(self) -> None:
        from loky import ProcessPoolExecutor as LokyPool  # starts helper processes of its own

        with held_back(_TERMINAL):  # trackers of both kinds are started here: one that dies is missed loudly
            if hasattr(signal, "pthread_sigmask"):
                from multiprocessing.resource_tracker import ensure_running

                ensure_running()  # with the first worker, it would end what holds Ctrl-C back from that
            self._pool = LokyPool(
                max_workers=1, env=SINGLE_THREADED, initializer=_settle_in, initargs=(os.getpid(),)
            )

    def _finished(self, future: Future[Any]) -> None:
        self.running.discard(future)
        if not future.cancelled() and isinstance(future.exception(), BrokenExecutor):
            self._pool = None

    def shutdown(self, kill: bool) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=kill)


def _settle_in(parent: int) -> None:
    """Prepare a worker: it ends with its parent, and leaves a terminal's signals to it.

    They go to everybody; the parent takes in what is finished, then ends its workers. A handler of Python's
    own, unlike a signal ignored, is not inherited by what an objective starts.
    """
    for number in _TERMINAL:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup has the last word
            signal.signal(number, lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _TERMINAL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH.glance)
        os._exit(1)  # killed perhaps: nobody would hear of a result

    threading.Thread(target=watch, daemon=True, name="covey-parent").start()


def portable(objective: Any, executor: Executor | None) -> Any:
    """An objective that another process can unpickle: lambdas and closures travel by value.

    LocalProcesses, Dask and Ray do that themselves; pools of the standard library and of MPI do not.
    """
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        return objective
    try:
        pickle.dumps(objective)
    except Exception:  # pickle raises all sorts
        from loky import wrap_non_picklable_objects

        return wrap_non_picklable_objects(objective)
    return objective


class Borrowed:
    """The user's own executor, which stays open; several evaluations may share its fate."""

    isolated = False

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._submitted: WeakKeyDictionary[Future[Any], float] = WeakKeyDictionary()
        self._replaced = False
        # Only a process pool is known to be on this machine, where marks can be seen.
        self._marks = Marks() if isinstance(executor, ProcessPoolExecutor) else None

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Run a function."""
        try:
            if self._marks is None:
                future = self._executor.submit(fn, *args)
            else:
                future = self._marks.submit(self._executor.submit, fn, *args)
        except OSError as error:
            # A pool that breaks while it starts a process finds its own pipes closed: no error of the system.
            if error.errno is not None or not isinstance(self._executor, ProcessPoolExecutor):
                raise
            raise BrokenExecutor(f"the pool broke: {error}") from error
        self._submitted[future] = time.monotonic()
        return future

    def began(self, future: Future[Any]) -> float | None:
        """When it was submitted: no executor tells more."""
        return self._submitted.get(future)

    def has_begun(self, future: Future[Any]) -> bool:
        """Whether a process pool's worker got as far as calling it; of other executors nobody knows."""
        return self._marks is None or self._marks.began(future) is not None

    def kill(self, future: Future[Any]) -> None:
        """Take it back if it has not begun; else it is left to itself and its result ignored."""
        future.cancel()

    def recover(self, error: BaseException) -> None:
        """Replace a broken process pool by one made alike."""
        if not isinstance(self._executor, ProcessPoolExecutor):
            raise ExecutorLost(f"it broke and cannot be rebuilt: {error}") from error
        made = vars(self._executor)
        self._executor.shutdown(wait=False)
        arguments = (made["_max_workers"], made["_mp_context"], made["_initializer"], made["_initargs"])
        self._executor = ProcessPoolExecutor(*arguments)
        self._replaced = True

    def close(self) -> None:
        """Let go of a pool that was made here; the user's own stays open."""
        if self._replaced:
            self._executor.shutdown(wait=False, cancel_futures=True)
        if self._marks is not None:
            self._marks.close()
