"""Strategy: how each point of a batch is chosen. Every method is a row of one table."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from covey.acquisition.acquisition import Acquisition, resolve_acquisition
from covey.batch.axes import (
    ACQUISITION,
    AXES,
    BOUNDARY,
    JITTER,
    OUTPUTS,
    REPEL,
    SHARE,
    STARTS,
    SURROGATE,
    THETAS,
    Axis,
    P,
    S,
    attributes,
)
from covey.errors import shown

DEFAULT_ACQUISITION = "log-ei"
"""Log EI has a slope wherever EI is 0 in float64, and the same maximum."""


@dataclass(frozen=True, repr=False)
class Strategy:
    """How each point of a batch is chosen, given the points already pending.

    ``repr`` shows what differs from the defaults, ``print`` every axis and the constants behind it.

    Attributes:
        name: how it is called in tables.
    """

    name: str
    s: int | str = S.default
    p: float = P.default
    thetas: str = THETAS.default
    surrogate: str = SURROGATE.default
    repel: str = REPEL.default
    jitter: str = JITTER.default
    acquisition: str | None = ACQUISITION.default
    starts: int | None = STARTS.default
    outputs: str = OUTPUTS.default
    boundary: str = BOUNDARY.default

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"a strategy's name must be a non-empty string, got {shown(self.name)}")
        for name, axis in AXES.items():
            if not axis.admits(getattr(self, name)):
                raise ValueError(f"{name} must be {axis.accepts}, got {shown(getattr(self, name))}")

    def __repr__(self) -> str:
        own = {field.name: getattr(self, field.name) for field in fields(self)[1:]}
        changed = [f"{name}={value!r}" for name, value in own.items() if value != AXES[name].default]
        return f"Strategy({', '.join([repr(self.name), *changed])})"

    def __str__(self) -> str:
        lines = [self.name]
        for name, axis in AXES.items():
            value = getattr(self, name)
            lines.append(f"  {name} = {value!r}: {axis.about}")
            if isinstance(axis, Axis):
                lines.append(f"      {axis.values[value].about}")
                lines += [f"      {settings}" for settings in [axis.values[value].settings] if settings]
        return "\n".join(lines)

    def thetas_per_point(self, batch: int, observations: int = 0) -> int:
        """S for a batch of this size; "auto" shares 32 among its points, at least 4 for each."""
        return SHARE.of(batch, observations) if self.s == "auto" else int(self.s)

    def paired(self, acquisition: Any) -> Acquisition:
        """The acquisition function to use: the one given, or the strategy's own, or else the default.

        Raises:
            ValueError: if the strategy is defined for another one.
        """
        if acquisition is None:
            return resolve_acquisition(self.acquisition or DEFAULT_ACQUISITION)
        resolved = resolve_acquisition(acquisition)
        if self.acquisition is not None and resolved.name != self.acquisition:
            raise ValueError(
                f"strategy {shown(self.name)} is defined for acquisition {shown(self.acquisition)}, got "
                f"{shown(resolved.name)}; covey.strategy({shown(self.name)}, acquisition=None) takes any"
            )
        return resolved


if Strategy.__doc__ is not None:  # not there with python -OO
    Strategy.__doc__ = Strategy.__doc__.rstrip() + "\n" + attributes()

STRATEGIES: dict[str, Strategy] = {
    row.name: row
    for row in (
        Strategy("auto", surrogate="fantasised", outputs="learned", boundary="discounted"),
        Strategy("sequential", p=0.0),
        Strategy("ats"),
        Strategy("j-ats", jitter="drawn"),
        Strategy("h-ats", thetas="hallucinated"),
        Strategy("b-lcb", p=0.0, surrogate="hallucinated", acquisition="lcb"),
        Strategy("ats-b-lcb", p=0.5, surrogate="hallucinated", acquisition="lcb"),
        Strategy("p-ts", p=0.0, acquisition="ts"),
        Strategy("ats-p-ts", p=0.5, acquisition="ts"),
        Strategy("lp", p=0.0, repel="penalise"),
        Strategy("ats-lp", p=0.5, repel="penalise"),
    )
}
"""Every method that has a name: the paper's, and the library's own default ``auto``."""


def strategies() -> list[str]:
    """The names of the strategies."""
    return list(STRATEGIES)


def strategy(name: str, **settings: Any) -> Strategy:
    """A named strategy with settings changed, as in ``strategy("ats-b-lcb", s=10, p=0.5)``."""
    if not isinstance(name, str) or name not in STRATEGIES:
        raise ValueError(f"strategy must be one of {strategies()} or a Strategy, got {shown(name)}")
    if unknown := [setting for setting in settings if setting not in AXES]:
        raise ValueError(f"a strategy has the settings {list(AXES)}, got {shown(unknown)}")
    return replace(STRATEGIES[name], **settings)


def resolve_strategy(choice: str | Strategy) -> Strategy:
    """The strategy behind a name, or the object itself."""
    return choice if isinstance(choice, Strategy) else strategy(choice)
