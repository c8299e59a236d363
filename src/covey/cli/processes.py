"""The processes of programs under way, each in a session of its own with a warden that ends it with covey."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from covey.cli import warden
from covey.cli.output import Ended, end, follow
from covey.cli.roll import close_roll, open_roll


class Processes:
    """Programs under way, which can all be stopped.

    Args:
        roll: the file that programs of this study hold locked while they live, if there is to be one.
    """

    def __init__(self, roll: Path | None = None) -> None:
        self._path = roll
        self._roll: int | None = None
        self._life: tuple[int, int] | None = None
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, arguments: list[str], folder: Path, timeout: float | None) -> Ended:
        """A program from its start to its end.

        Raises:
            subprocess.TimeoutExpired: after killing what runs too long.
            OSError: if it cannot be started, or no more are to be.
        """
        with self._lock:
            if self._stopped:
                raise InterruptedError("the run is stopping")
            process = self._start(arguments, folder)
            self._running.add(process)
        try:
            return follow(process, timeout)
        finally:
            if process.returncode is None:
                end(process)
            with self._lock:
                self._running.discard(process)

    def _start(self, arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
        command = arguments
        inherited: tuple[int, ...] = ()
        if _has_wardens():
            life, roll = self._ties()
            script = [sys.executable, "-I", "-S", str(Path(warden.__file__).resolve())]
            command = [*script, str(life), str(-1 if roll is None else roll), *arguments]
            inherited = (life,) if roll is None else (life, roll)
        return subprocess.Popen(
            command,
            bufsize=0,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=inherited,
        )

    def _ties(self) -> tuple[int, int | None]:
        """What a warden inherits: made for the first program, when the run has its study for itself."""
        if self._life is None:
            self._life = os.pipe()
            self._roll = None if self._path is None else open_roll(self._path)
        return self._life[0], self._roll

    def stop(self) -> None:
        """Kill all, and start no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                end(process)

    def close(self) -> None:
        """Stop, and let go of what wardens hold on to."""
        self.stop()
        with self._lock:
            for descriptor in self._life or ():
                os.close(descriptor)
            if self._roll is not None and self._path is not None:
                close_roll(self._roll, self._path)
            self._life = self._roll = None


def _has_wardens() -> bool:
    """Whether there are sessions, and an interpreter that can run a file."""
    script = Path(warden.__file__)
    return os.name == "posix" and bool(sys.executable) and not hasattr(sys, "frozen") and script.is_file()
