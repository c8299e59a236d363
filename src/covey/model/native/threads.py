"""Threads that share the work on a stack, without two libraries fighting for the cores.

A stack is cut into one slice per core and each slice runs in a thread, without the GIL. Meanwhile BLAS
is held to one thread: the slices are the parallelism. Results do not depend on the number of cores.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from weakref import WeakSet

from threadpoolctl import ThreadpoolController

from covey.errors import CoveyError

_turn = threading.RLock()


class ForkLock:
    """A re-entrant lock that refuses, instead of waiting for ever, where a fork has left it taken.

    A fork copies the thread that forks alone: what another one holds is never given back in the child.
    """

    def __init__(self) -> None:
        self._lock, self._orphaned = threading.RLock(), False
        _LOCKS.add(self)

    def __enter__(self) -> None:
        if self._orphaned:
            raise CoveyError(
                "another thread was using this optimizer when the process forked, so this copy of it cannot "
                "be used; make a new optimizer in the child, or give it one by pickle"
            )
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def look_after_fork(self) -> None:
        """In the child: find out whether it can still be taken."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._orphaned = True


_LOCKS: WeakSet[ForkLock] = WeakSet()


def _forget() -> None:
    """In a forked child: no thread is left that could hold a turn or run a slice."""
    global _turn
    _turn = threading.RLock()
    for lock in _LOCKS:
        lock.look_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def cores() -> int:
    """The cores this process may use; ``OMP_NUM_THREADS`` lowers it, as it does for other libraries."""
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity
        available = os.cpu_count() or 1
    try:
        return max(1, min(available, int(os.environ["OMP_NUM_THREADS"])))
    except (KeyError, ValueError):  # unset, or one of OpenMP's finer forms
        return available


@cache
def _pool(_process: int, workers: int) -> ThreadPoolExecutor:
    """One pool per process: threads do not survive a fork, so the child makes its own."""
    return ThreadPoolExecutor(workers, thread_name_prefix="covey")


def in_slices(work: Callable[[slice], None], count: int, smallest: int = 1) -> None:
    """Call ``work`` on slices that cover ``range(count)``, one per core.

    Args:
        work: computes its slice in place and releases the GIL.
        count: the length of the axis that is cut.
        smallest: no slice is shorter than this; short work is not worth a second thread.
    """
    workers = min(cores(), max(1, count // smallest))
    if workers == 1:
        work(slice(0, count))
        return
    edges = [count * k // workers for k in range(workers + 1)]
    slices = [slice(a, b) for a, b in pairwise(edges)]
    futures = [_pool(os.getpid(), workers).submit(work, part) for part in slices[1:]]
    try:
        work(slices[0])
    finally:
        wait(futures)
    for future in futures:
        future.result()


@cache
def _controller() -> ThreadpoolController:
    # A controller knows the libraries that are loaded when it is made; NumPy and SciPy have one each.
    import scipy.linalg.cython_blas  # noqa: F401

    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread; nests. Other threads that want the same wait for their turn.

    The limit belongs to the process and only the thread that set it may lift it, so two holders at a
    time would leave it set for good.
    """
    with _turn, _controller().limit(limits=1, user_api="blas"):
        yield
