"""Conversation with a peer in another process: JSON lines, which ``benchmarks/peers/protocol.py`` answers."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from covey.errors import PeerError
from covey.run.workers import SINGLE_THREADED
from covey.space import Categorical, Dimension, Float, Int, Space
from covey.space.describe import describe_dimension, plain

Params: TypeAlias = Mapping[str, Any]

_PATIENCE = 10.0
"""Seconds that a process has to end by itself."""


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        params: the points proposed, if that was asked for.
        seconds: spent inside the peer.
        error: what went wrong there, if something did.
    """

    params: tuple[Params, ...] = ()
    seconds: float = 0.0
    error: str | None = None


def described(space: Space) -> list[dict[str, Any]]:
    """A space in the words of the protocol; raises ValueError if it has none for a dimension."""
    return [{"name": name, **_words(dimension)} for name, dimension in space.dimensions.items()]


def _words(dimension: Dimension) -> dict[str, Any]:
    words = describe_dimension(dimension)
    if not isinstance(dimension, (Float, Int, Categorical)) or "step" in words:
        raise ValueError(f"peers know Float and Int without a step, and Categorical, got {dimension!r}")
    # A peer gives choices back as it gets them, so they must be what JSON can say.
    if isinstance(dimension, Categorical) and any(plain(one) is not one for one in dimension.choices):
        raise ValueError(f"peers know choices of texts, numbers and None, got {dimension!r}")
    return words


class Conversation:
    """A peer at work on one problem, in its own process on one core.

    Args:
        command: what starts it: an interpreter, a program and its arguments.
        space: what can be varied.
        seed: of the peer's randomness.
        initial: how many points it will be told before it is asked.

    Raises:
        PeerError: if it does not start.
    """

    def __init__(self, command: Sequence[str], space: Space, seed: int, initial: int) -> None:
        self._name = Path(command[1]).name
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  (close)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            encoding="utf-8",
            env=os.environ | SINGLE_THREADED,
        )
        try:
            self.version: str = self._exchange(space=described(space), seed=seed, initial=initial)["version"]
        except BaseException:
            self.close()
            raise

    def ask(self, n: int) -> Reply:
        """The next n points."""
        found = self._exchange(ask=n)
        return Reply(tuple(found.get("params", ())), found["seconds"], found.get("error"))

    def tell(self, params: Sequence[Params], values: Sequence[float]) -> Reply:
        """The values at points, proposed or not."""
        found = self._exchange(tell=list(params), values=list(values))
        return Reply((), found["seconds"], found.get("error"))

    def close(self) -> None:
        """Let it end, or kill it."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):  # it may be dead
                assert stream is not None
                stream.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()

    def _exchange(self, **message: Any) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps(message) + "\n")
            stdin.flush()
        except BrokenPipeError:
            raise self._dead() from None
        line = stdout.readline()
        if not line.endswith("\n"):
            raise self._dead()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _dead(self) -> PeerError:
        """The error to raise, with the last line that the process has written."""
        self._stderr.seek(0)
        last = (self._stderr.read().strip().splitlines() or ["it has said nothing"])[-1]
        return PeerError(f"{self._name} has died: {last}")
