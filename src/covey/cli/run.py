"""The run of a program: ``minimize`` over threads that each wait for a process."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TextIO

from covey.cli.by_hand import open_study
from covey.cli.config import Config, check_runnable
from covey.cli.processes import Processes
from covey.cli.program import Program, not_runnable
from covey.cli.roll import roll_path
from covey.cli.show import short
from covey.cli.terminal import printable
from covey.run.interrupts import held_back
from covey.run.minimize import minimize
from covey.run.result import Result
from covey.study import Study
from covey.trial import Trial


def prepare(config: Config) -> Study:
    """The study of a run, after all that can be checked before.

    Raises:
        InputError: if there is no program, no budget, or the program is not there.
        StudyMismatch: if the storage has a study of that name about something else.
    """
    check_runnable(config)
    program = (config.objective or ("",))[0]
    problem = None if "{" in program else not_runnable(program, config.folder)
    if problem:
        raise config.document.wrong(("objective",), f"objective: {problem}")
    return open_study(config, create=True)


def tune(config: Config, study: Study, *, quiet: bool) -> Result:
    """Run the program of a study until the budget is spent or Ctrl-C."""
    processes = Processes(roll_path(config.folder, study.address, config.name))
    program = Program(
        config.objective or (), config.folder, config.value, config.timeout, study.key, processes
    )
    pool = ThreadPoolExecutor(config.batch_size, thread_name_prefix="covey-program")
    lines = () if quiet or sys.stderr.isatty() else (_Lines(sys.stdout),)
    try:
        with _own_words():
            return minimize(
                program,
                config.space,
                executor=pool,
                storage=study,
                callbacks=lines,
                progress=not quiet,
                **config.budget,
                **config.settings,
            )
    finally:
        with held_back(_ENDS):  # a program that is not stopped here would stay
            processes.stop()
            pool.shutdown(cancel_futures=True)
            processes.close()


class _Lines:
    """Progress for a log file: a line for each evaluation."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __call__(self, trial: Trial, best: Trial | None) -> None:
        result = "failed" if trial.value is None else short(trial.value)
        known = "-" if best is None else short(best.value)
        params = ", ".join(f"{name} = {short(value)}" for name, value in trial.params.items())
        print(printable(f"{result} (best {known}) at {params}"), file=self._out, flush=True)


@contextmanager
def _own_words() -> Iterator[None]:
    """Silence what minimize says about "the same call": the command has words of its own."""
    logger = logging.getLogger("covey.minimize")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


_ENDS = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
"""Signals that end a run: Ctrl-C, a scheduler's wish, a closed terminal."""


@contextmanager
def signals() -> Iterator[None]:
    """Let a scheduler's SIGTERM and a closed terminal end a run as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDS}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is signal.default_int_handler:
                signal.signal(number, handler)


def ignore_signals() -> None:
    """Hear no signal from here on: the command is over, and its exit code is decided."""
    if threading.current_thread() is threading.main_thread():
        for number in _ENDS:
            signal.signal(number, signal.SIG_IGN)
