"""Interrupts of a run: signals are noted when they come, and answered where nothing is half done.

The first one ends a run, which keeps what is finished. The second one ends it without waiting for anything.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from covey.errors import Interrupted

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Ctrl-C, a scheduler's wish, a closed terminal; Windows has not all of them."""


@contextmanager
def held_back(signals: Iterable[int]) -> Iterator[None]:
    """Hold signals back, here and in processes started here, which inherit that."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interrupts:
    """Signals noted while this is entered, in the main thread; elsewhere none is.

    Only signals that nobody else answers are taken: a handler of the user's own stays, and so does a signal
    that is ignored. A SIGTERM or SIGHUP that nobody answers ends the process as ever, but afterwards.

    Attributes:
        heard: the signals that came.
    """

    def __init__(self) -> None:
        self.heard: list[int] = []
        self._before: dict[int, Any] = {}
        self._enough: int | None = None

    @property
    def urgent(self) -> bool:
        """Whether a second one came: nothing is waited for."""
        return len(self.heard) > 1

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
            usual = (signal.SIG_DFL, signal.default_int_handler)
            for number in numbers:
                if signal.getsignal(number) in usual:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.heard.append(number)
        self._raise_if_enough()

    def _raise_if_enough(self) -> None:
        if self._enough is not None and len(self.heard) >= self._enough:
            raise KeyboardInterrupt

    @contextmanager
    def raised_after(self, count: int) -> Iterator[None]:
        """Let so many signals raise KeyboardInterrupt inside, where no value of the run can be lost."""
        self._enough = count
        try:
            self._raise_if_enough()
            yield
        finally:
            self._enough = None

    def __exit__(
        self, kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            return  # an error of its own tells more
        for number in self.heard:
            if self._before[number] is signal.SIG_DFL:
                os.kill(os.getpid(), number)
        if kind is not None or self.urgent:
            # An interactive session goes on after Ctrl-C; a script ends, as a shell expects it.
            raise KeyboardInterrupt if hasattr(sys, "ps1") else Interrupted
