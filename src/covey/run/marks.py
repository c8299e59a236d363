"""Marks that evaluations on this machine leave when they begin: who dies without one never began."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary


@dataclass
class _Mark:
    """The file that is there while an evaluation runs, and when it was first seen."""

    path: str
    seen: float | None = None


class Marks:
    """A folder of marks, one for each evaluation under way in another process of this machine.

    A process that dies tells nobody how far it was. A mark does: it appears when the function is called, and
    is removed when the function ends in whatever way but the death of its process.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="covey-", ignore_cleanup_errors=True)
        self._marks: WeakKeyDictionary[Future[Any], _Mark] = WeakKeyDictionary()
        self._count = 0

    def submit(
        self, submit: Callable[..., Future[Any]], fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Hand a function to an executor's ``submit``, with a mark."""
        self._count += 1
        mark = _Mark(os.path.join(self._folder.name, str(self._count)))
        future = submit(partial(_marked, mark.path, fn), *args, **kwargs)
        self._marks[future] = mark
        return future

    def began(self, future: Future[Any]) -> float | None:
        """When a function was first seen running, on the monotonic clock; None if it was not."""
        mark = self._marks.get(future)
        if mark is not None and mark.seen is None and os.path.exists(mark.path):
            mark.seen = time.monotonic()
        return None if mark is None else mark.seen

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


def _marked(path: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function between making and removing its mark; a full disk has no part in the result."""
    with suppress(OSError), open(path, "x"):
        pass
    try:
        return fn(*args, **kwargs)
    finally:
        with suppress(OSError):
            os.unlink(path)
