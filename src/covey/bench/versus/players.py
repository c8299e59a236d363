"""Players: covey in this process or a peer in its own, asked and timed alike."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from covey.batch.strategy import Strategy, strategy
from covey.bench.method_names import settings_in
from covey.bench.versus.conversation import Conversation, Params, Reply
from covey.bench.versus.peers import PEERS
from covey.optimizer import Optimizer
from covey.space import Space
from covey.trial import Trial


class Player(Protocol):
    """What a run needs of whoever proposes.

    Attributes:
        version: of the library.
    """

    @property
    def version(self) -> str: ...

    def ask(self, n: int) -> Reply:
        """The next n points."""

    def tell(self, params: Sequence[Params], values: Sequence[float]) -> Reply:
        """The values at points: those asked for, or others while none are."""

    def close(self) -> None:
        """It is not needed any more."""


def strategy_named(method: str) -> Strategy:
    """The strategy of a name with settings after colons, such as "auto:s=4:jitter=fixed".

    Raises:
        ValueError: if there is no such strategy or setting.
    """
    name, settings = settings_in(method)
    return strategy(name, **settings)


class Ours:
    """covey, with its defaults but for the strategy."""

    def __init__(self, space: Space, strategy: Strategy, seed: int, initial: int) -> None:
        self.version = f"covey {version('covey')}"
        self._optimizer = Optimizer(space, strategy, n_initial=initial, seed=seed)
        self._asked: list[Trial] = []

    def ask(self, n: int) -> Reply:
        """The next n points."""
        began = time.perf_counter()
        self._asked = self._optimizer.ask(n)
        return Reply(tuple(trial.params for trial in self._asked), time.perf_counter() - began)

    def tell(self, params: Sequence[Params], values: Sequence[float]) -> Reply:
        """The values at points: those asked for, or others while none are."""
        began = time.perf_counter()
        if self._asked:
            self._optimizer.tell(self._asked, list(values))
        else:
            for point, value in zip(params, values, strict=True):
                self._optimizer.add(point, value)
        self._asked = []
        return Reply(seconds=time.perf_counter() - began)

    def close(self) -> None:
        """Nothing is open."""


def check(method: str, clone: Path) -> None:
    """See that a player can be made.

    Raises:
        ValueError: if it is neither a peer nor a strategy.
        PeerError: if the peer's environment is not there.
    """
    if method in PEERS:
        PEERS[method].command(clone)
    else:
        strategy_named(method)


def player(method: str, clone: Path, space: Space, seed: int, initial: int) -> Player:
    """Whoever has that name.

    Args:
        method: a key of ``PEERS``, or a strategy of covey as in ``strategy_named``.
        clone: of covey, where peers are.
        space: what can be varied.
        seed: of the player's randomness.
        initial: how many points it will be told before it is asked.
    """
    if method in PEERS:
        return Conversation(PEERS[method].command(clone), space, seed, initial)
    return Ours(space, strategy_named(method), seed, initial)
