"""How is work spread over the cores without two libraries fighting for them?

A stack is cut into one slice per core and each slice runs in a thread, without the GIL. Meanwhile BLAS
is held to one thread: the slices are the parallelism. Results do not depend on the number of cores.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders = 0
_limiter: Any = None


def cores() -> int:
    """The cores this process may use; ``OMP_NUM_THREADS`` lowers it, as it does for other libraries."""
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity
        available = os.cpu_count() or 1
    wish = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(available, int(wish))) if wish.isdigit() else available


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
    work(slices[0])
    for future in futures:
        future.result()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread; nests, and may be entered by several threads at once.

    The limit belongs to the process, so the first to enter sets it and the last to leave lifts it.
    """
    global _holders, _limiter
    with _lock:
        if _holders == 0:
            _limiter = _controller().limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _limiter.restore_original_limits()


_PATIENCE = 3.0
"""Seconds; loading compiled kernels from the disk takes less."""

_compiled = False


@contextmanager
def announce_compilation() -> Iterator[None]:
    """Say so when the first use of the kernels takes long: they are compiled once per machine."""
    global _compiled
    message = "compiling covey's kernels; this happens once and takes a few seconds"
    timer = threading.Timer(_PATIENCE, logging.getLogger("covey").warning, [message])
    timer.daemon = True
    if not _compiled:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _compiled = True
