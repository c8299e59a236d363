"""Which method chooses a batch? Every method is a row of one table, a setting of the same few axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

from covey.acquisition.acquisition import ACQUISITIONS

DEFAULT_ACQUISITION = "log-ei"


@dataclass(frozen=True)
class Strategy:
    """How each point of a batch is chosen, given the points already pending.

    Attributes:
        name: how it is called in tables.
        s: thetas that an acquisition function is averaged over; "auto" decreases with the batch size and, of
            many, with the observations.
        p: probability that a point gets a fresh set of thetas; else it keeps the last point's.
        thetas: drawn given the "data", or given the data and "hallucinated" pending points (h-ATS).
        surrogate: conditioned on the "data", or on pending points too: on their means, which are
            "hallucinated" (B-LCB), on "fantasised" values, drawn for each theta, or on "noiseless" values,
            drawn for each theta at all points, observed and pending (noisy EI).
        repel: "none", or "penalise" around pending points (LP).
        jitter: the acquisition function's trade-off, "fixed" or "drawn" for each point (j-ATS).
        acquisition: the one the method is defined for; None leaves the choice to the user.
        starts: None scans the space for the acquisition function's global maximum. A number climbs from so
            many random places and takes the highest: often another, local maximum.
        outputs: how the model sees values: "standard", or on a scale "learned" from the data, from linear to
            logarithmic (``covey.outputs``).
        edges: whether a point on a face of the space counts as much as one inside, "equal", or is
            "discounted" in more than two dimensions (``covey.edges``).
    """

    name: str
    s: int | Literal["auto"] = "auto"
    p: float = 1.0
    thetas: Literal["data", "hallucinated"] = "data"
    surrogate: Literal["data", "hallucinated", "fantasised", "noiseless"] = "data"
    repel: Literal["none", "penalise"] = "none"
    jitter: Literal["fixed", "drawn"] = "fixed"
    acquisition: str | None = None
    starts: int | None = None
    outputs: Literal["standard", "learned"] = "standard"
    edges: Literal["equal", "discounted"] = "equal"

    def __post_init__(self) -> None:
        if not (_is_count(self.s) or self.s == "auto"):
            raise ValueError(f"s must be a whole number from 1 or 'auto', got {self.s!r}")
        if not (_is_count(self.starts) or self.starts is None):
            raise ValueError(f"starts must be a whole number from 1 or None, got {self.starts!r}")
        if isinstance(self.p, bool) or not isinstance(self.p, (int, float)) or not 0 <= self.p <= 1:
            raise ValueError(f"p must be a probability between 0 and 1, got {self.p!r}")
        for axis, accepted in _ACCEPTED.items():
            if getattr(self, axis) not in accepted:
                raise ValueError(f"{axis} must be one of {list(accepted)}, got {getattr(self, axis)!r}")
        if self.acquisition is not None and self.acquisition not in ACQUISITIONS:
            raise ValueError(
                f"acquisition must be one of {list(ACQUISITIONS)} or None, got {self.acquisition!r}"
            )

    def thetas_per_point(self, batch: int, observations: int = 0) -> int:
        """S for a batch of this size; "auto" shares 32 among its points, at least 4 for each.

        Beyond 100 observations n it decreases as sqrt(n): so does the width of what is averaged over.
        """
        if self.s == "auto":
            return max(4, round(32 / (batch * math.sqrt(max(1.0, observations / _MANY)))))
        return int(self.s)


_MANY = 100
"""Observations that leave hyper-parameters little freedom."""


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


_ACCEPTED = {
    "thetas": ("data", "hallucinated"),
    "surrogate": ("data", "hallucinated", "fantasised", "noiseless"),
    "repel": ("none", "penalise"),
    "jitter": ("fixed", "drawn"),
    "outputs": ("standard", "learned"),
    "edges": ("equal", "discounted"),
}

STRATEGIES: dict[str, Strategy] = {
    row.name: row
    for row in (
        Strategy("auto", surrogate="fantasised", outputs="learned", edges="discounted"),
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
        raise ValueError(f"strategy must be one of {strategies()} or a Strategy, got {name!r}")
    try:
        return replace(STRATEGIES[name], **settings)
    except TypeError:
        axes = [axis for axis in Strategy.__dataclass_fields__ if axis != "name"]
        raise ValueError(f"a strategy has the settings {axes}, got {list(settings)}") from None


def resolve_strategy(choice: str | Strategy) -> Strategy:
    """The strategy behind a name, or the object itself."""
    return choice if isinstance(choice, Strategy) else strategy(choice)
