"""The output of a program: its streams are read to their end, and the end of them is kept."""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import dataclass
from typing import IO

from covey.cli import warden


@dataclass(frozen=True)
class Limits:
    """What is kept of a program's output.

    Attributes:
        output: bytes at the end of each stream; a value and a reason are far shorter.
        chunk: bytes that are read at once.
        grace: seconds that the streams may stay open after the program's end, which only a process that left
            its session can cause.
    """

    output: int = 65536
    chunk: int = 65536
    grace: float = 5.0


LIMITS = Limits()


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes:
        code: its exit code; negative for a signal.
        out: the end of what it printed.
        err: the end of its stderr.
    """

    code: int
    out: str
    err: str


def follow(process: subprocess.Popen[bytes], timeout: float | None) -> Ended:
    """Read what a program prints until its end.

    Raises:
        subprocess.TimeoutExpired: after killing what runs too long.
    """
    late = threading.Event()

    def expire() -> None:
        late.set()
        end(process)

    timer = threading.Timer(min(timeout or 0.0, threading.TIMEOUT_MAX), expire)
    streams = (_tail_of(process.stdout), _tail_of(process.stderr))
    if timeout is not None:
        timer.daemon = True
        timer.start()
    code = process.wait()
    timer.cancel()
    if code < 0:  # perhaps the warden itself was killed, and has left its program
        end(process)
    for reader, _ in streams:
        reader.join(LIMITS.grace)
    if late.is_set():
        raise subprocess.TimeoutExpired(process.args, timeout or 0.0)
    out, err = (_text(bytes(kept)) for _, kept in streams)
    return Ended(code, out, err)


def _text(data: bytes) -> str:
    """Output as text, from the beginning of a line where its own beginning was dropped."""
    _, newline, rest = data.partition(b"\n")
    return (rest if newline and len(data) == LIMITS.output else data).decode("utf-8", "replace")


def _tail_of(stream: IO[bytes] | None) -> tuple[threading.Thread, bytearray]:
    """A thread that reads a stream, and the end of what it has read so far."""
    kept = bytearray()

    def read() -> None:
        if stream is not None:
            with stream:
                while chunk := stream.read(LIMITS.chunk):
                    kept.extend(chunk)
                    del kept[: -LIMITS.output]

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return reader, kept


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all that is in its session."""
    if os.name == "posix":
        warden.end_session(process.pid)
    else:
        process.kill()
