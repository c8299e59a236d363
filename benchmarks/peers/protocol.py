"""Protocol of a peer: JSON lines on stdin and stdout, one answer for each line.

    {"space": [...], "seed": 0, "initial": 7}    -> {"version": "optuna 5.0.0"}
    {"ask": 5}                                   -> {"params": [{...}, ...], "seconds": 0.21}
    {"tell": [{...}, ...], "values": [1.0, ...]} -> {"seconds": 0.0}

A dimension of the space has a name and a type: "float" and "int" have low, high and log, "categorical" has
choices. ``initial`` says how many points of the initial design will be told before the first ask. Seconds are
those spent inside the peer. An error is answered as {"error": ..., "seconds": ...}, and the peer goes on.

Only the standard library: this runs in the environment of whichever peer it is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol

Params = dict[str, Any]
Dimension = dict[str, Any]


@dataclass(frozen=True)
class Setup:
    """What the first line says."""

    space: list[Dimension]
    seed: int
    initial: int


class Peer(Protocol):
    """What an adapter makes of a library."""

    def ask(self, n: int) -> list[Params]: ...

    def tell(self, params: list[Params], values: list[float]) -> None: ...


def serve(package: str, make: Callable[[Setup], Peer]) -> None:
    """Answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not get between the answers

    def answer(found: dict[str, Any]) -> None:
        answers.write(json.dumps(found, default=lambda number: number.item()) + "\n")

    peer = make(Setup(**json.loads(sys.stdin.readline())))
    answer({"version": f"{package} {version(package)}"})
    for line in sys.stdin:
        answer(_timed(peer, json.loads(line)))


def _timed(peer: Peer, request: dict[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        found = _answer(peer, request)
    except Exception as error:  # libraries raise all sorts, and the run goes on
        found = {"error": f"{type(error).__name__}: {error}"}
    return {**found, "seconds": round(time.perf_counter() - began, 4)}


def _answer(peer: Peer, request: dict[str, Any]) -> dict[str, Any]:
    if "ask" in request:
        return {"params": peer.ask(request["ask"])}
    peer.tell(request["tell"], request["values"])
    return {}
