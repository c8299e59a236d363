"""The roll of a run's programs: a hidden file that each of them holds locked for as long as it lives.

The lock is the operating system's and goes with the last process that has the file open. A run that cannot
have it for itself alone has found programs of an earlier run that are still at work.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from covey.cli.warden import processes

if sys.platform != "win32":  # where there are no wardens either
    import fcntl


@dataclass(frozen=True)
class Patience:
    """How long programs of an earlier run have to go.

    Attributes:
        seconds: in all; a large process that was killed takes a moment to be gone.
        pause: seconds between two looks.
    """

    seconds: float = 3.0
    pause: float = 0.05


PATIENCE = Patience()


def roll_path(folder: Path, storage: str, name: str) -> Path:
    """Where the roll of a study is: one for each study, whatever characters its name has."""
    digest = hashlib.sha256(f"{storage}\n{name}".encode(errors="backslashreplace")).hexdigest()
    return folder / f".programs.{digest[:12]}.lock"


def open_roll(path: Path) -> int | None:
    """A descriptor of the roll, to be handed to programs; None where no such file can be made or locked.

    Programs of an earlier run that are still there are told on stderr.
    """
    roll = None
    try:
        roll = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        if _alone(roll):
            os.ftruncate(roll, 0)
        else:
            print(_warning(path), file=sys.stderr, flush=True)
        fcntl.flock(roll, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # a folder that cannot be written, or a file system without locks
        if roll is not None:
            os.close(roll)
        return None
    return roll


def close_roll(roll: int, path: Path) -> None:
    """Let go of the roll, and remove it if no program has it."""
    with suppress(OSError):
        fcntl.flock(roll, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    os.close(roll)


def _alone(roll: int) -> bool:
    """Whether nobody else has the roll, or lets go of it in time."""
    deadline = time.monotonic() + PATIENCE.seconds
    while True:
        try:
            fcntl.flock(roll, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(PATIENCE.pause)
        else:
            return True


def _warning(path: Path) -> str:
    pids = ", ".join(map(str, _survivors(path)))
    who = f"programs of an earlier run are still running{f' (process {pids})' if pids else ''}"
    return f"covey: {who}; they may write the same files as those of this run: end them, or wait for them"


def _survivors(path: Path) -> list[int]:
    """Processes in the group of a program on the roll: each program begins with one of its own."""
    with path.open(encoding="ascii", errors="replace") as file:
        groups = {int(line) for line in file.read().split() if re.fullmatch("[0-9]{1,9}", line)}
    found = []
    for pid in processes():
        with suppress(OSError):
            if os.getpgid(pid) in groups:
                found.append(pid)
    return sorted(found)
