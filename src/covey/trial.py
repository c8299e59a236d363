"""What is known of one experiment? Its parameters, its state, its value, and what chose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """Where a trial stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True)
class Failure:
    """Told in place of a value when an experiment failed."""

    reason: str = ""


@dataclass(frozen=True)
class Origin:
    """What chose a trial.

    Attributes:
        strategy: the strategy's name, "initial" for the initial design, "given" for the user's own.
        acquisition: the acquisition function's name, if one was maximised.
        jitter: its trade-off.
        thetas: medians over the thetas used: each length-scale by name, "variance", "mean", "noise".
    """

    strategy: str
    acquisition: str | None = None
    jitter: float | None = None
    thetas: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """One configuration, asked for and perhaps evaluated.

    Attributes:
        id: 0, 1, ... in the order of asking.
        params: the configuration.
        state: "running", "complete" or "failed".
        value: the objective, once complete.
        reason: why it failed, if it did.
        origin: what chose it.
    """

    id: int
    params: dict[str, Any]
    state: State = State.RUNNING
    value: float | None = None
    reason: str | None = None
    origin: Origin = Origin("given")

    def copy(self) -> Trial:
        """The same with parameters of its own, so that nobody can change the optimizer's record."""
        return replace(self, params=dict(self.params))
