"""The trial: the parameters of one experiment, its state, its value, and what chose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from covey.errors import shown


class State(StrEnum):
    """Where a trial stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


@dataclass(frozen=True)
class Failure:
    """Told in place of a value when an experiment failed.

    Attributes:
        reason: a text; an exception, or whatever else is given as the reason, becomes one.
    """

    reason: str = ""

    def __post_init__(self) -> None:
        if type(self.reason) is not str:
            object.__setattr__(self, "reason", _as_text(self.reason))


def _as_text(reason: Any) -> str:
    """A reason as text, whatever somebody else's object does when it is looked at."""
    try:
        if isinstance(reason, BaseException):
            kind, said = type(reason).__name__, str(reason)
            return f"{kind}: {said}" if said else kind
        if isinstance(reason, (bytes, bytearray)):
            return reason.decode("utf-8", "replace")
        return "" if reason is None else str.__str__(str(reason))
    except Exception:
        return shown(reason)


@dataclass(frozen=True)
class Evaluation:
    """What came of calling an objective, checked where it was called.

    Attributes:
        result: a finite number, or why there is none.
        seconds: how long it took.
    """

    result: float | Failure
    seconds: float


@dataclass(frozen=True)
class Origin:
    """What chose a trial.

    Attributes:
        strategy: the strategy's name, "initial" for the initial design, "given" for the user's own.
        acquisition: the acquisition function's name, if one was maximised.
        jitter: its trade-off.
        length_scales: of each dimension by name, the median over the thetas used.
        thetas: the medians of their "variance", "mean" and "noise".
    """

    strategy: str
    acquisition: str | None = None
    jitter: float | None = None
    length_scales: Mapping[str, float] = field(default_factory=dict)
    thetas: Mapping[str, float] = field(default_factory=dict)

    def copy(self) -> Origin:
        """The same with mappings of its own."""
        return replace(self, length_scales=dict(self.length_scales), thetas=dict(self.thetas))


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
        return replace(self, params=dict(self.params), origin=self.origin.copy())

    def with_result(self, result: float | Failure) -> Trial:
        """The same trial, complete or failed."""
        if isinstance(result, Failure):
            return replace(self, state=State.FAILED, reason=result.reason)
        return replace(self, state=State.COMPLETE, value=result)

    def __hash__(self) -> int:
        return hash(self.id)
