"""Acquisition: a function of (mean, std, best, jitter) and what the optimizer needs to know about it.

``ACQUISITIONS`` is the table of those that have a name; ``functions`` has their formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from covey.acquisition.functions import (
    expected_improvement,
    expected_improvement_partials,
    log_expected_improvement,
    log_expected_improvement_partials,
    lower_confidence_bound,
    lower_confidence_bound_partials,
    probability_of_improvement,
    probability_of_improvement_partials,
    thompson,
    thompson_partials,
)
from covey.arrays import Array
from covey.errors import shown
from covey.model.distributions import Beta, Distribution, LogUniform
from covey.space.dimensions import is_finite

Value: TypeAlias = Callable[[Array, Array, Array, float], Array]
Partials: TypeAlias = Callable[[Array, Array, Array, float], tuple[Array, Array]]
Scale: TypeAlias = Literal["real", "positive", "log"]

_STEP = 1e-6
"""Of numeric derivatives: near the cube root of what a float64 resolves."""


@dataclass(frozen=True)
class Jitter:
    """The explore-exploit trade-off of an acquisition function.

    Attributes:
        fixed: the value without jitter.
        drawn: where j-ATS draws from, in half of the cases (appendix B); the other half takes ``fixed``.
    """

    fixed: float
    drawn: Distribution

    def __post_init__(self) -> None:
        if not is_finite(self.fixed):
            raise ValueError(f"Jitter: fixed must be a finite number, got {shown(self.fixed)}")
        if isinstance(self.drawn, type) or not hasattr(self.drawn, "draw"):
            accepted = "a distribution such as covey.LogUniform(-3, 0)"
            raise TypeError(f"Jitter: drawn must be {accepted}, got {shown(self.drawn)}")

    def draw(self, rng: np.random.Generator) -> float:
        """The paper's coin C, then ``fixed`` or a draw."""
        return float(self.drawn.draw(rng, 1)[0]) if rng.random() < 0.5 else self.fixed


@dataclass(frozen=True)
class Acquisition:
    """An acquisition function, and what the optimizer needs to know about it.

    Attributes:
        name: how it is called in tables.
        value: function of (mean, std, best, jitter).
        partials: its derivatives in mean and std; None takes them numerically.
        scale: "real", or "positive" (then maximised through its logarithm, which has the same argmax
            and a better slope), or "log" for a function that returns a logarithm: the average over
            theta is then the logarithm of the average.
        jitter: the trade-off and where it is drawn from.
        draws_paths: whether it looks at a drawn function (std 0) in place of the posterior.
    """

    name: str
    value: Value
    partials: Partials | None = None
    scale: Scale = "real"
    jitter: Jitter = Jitter(0.0, LogUniform(-3, 0))
    draws_paths: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TypeError(f"Acquisition: name must be a non-empty string, got {shown(self.name)}")
        if not callable(self.value):
            accepted = "a function of (mean, std, best, jitter)"
            raise TypeError(f"Acquisition: value must be {accepted}, got {shown(self.value)}")
        if self.partials is not None and not callable(self.partials):
            raise TypeError(f"Acquisition: partials must be a function or None, got {shown(self.partials)}")
        if not isinstance(self.scale, str) or self.scale not in ("real", "positive", "log"):
            accepted = "'real', 'positive' or 'log'"
            raise ValueError(f"Acquisition: scale must be {accepted}, got {shown(self.scale)}")
        if not isinstance(self.jitter, Jitter):
            raise TypeError(f"Acquisition: jitter must be a covey.Jitter, got {shown(self.jitter)}")
        if not isinstance(self.draws_paths, bool):
            raise TypeError(f"Acquisition: draws_paths must be True or False, got {shown(self.draws_paths)}")

    def slopes(self, mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
        """Derivatives in mean and in std."""
        if self.partials is not None:
            return self.partials(mean, std, best, jitter)
        up, down = std * (1 + _STEP) + _STEP**2, std * (1 - _STEP)
        in_mean = self.value(mean + _STEP, std, best, jitter) - self.value(mean - _STEP, std, best, jitter)
        in_std = self.value(mean, up, best, jitter) - self.value(mean, down, best, jitter)
        return in_mean / (2 * _STEP), in_std / (up - down)


ACQUISITIONS: dict[str, Acquisition] = {
    a.name: a
    for a in (
        Acquisition("ei", expected_improvement, expected_improvement_partials, "positive"),
        Acquisition(
            "lcb",
            lower_confidence_bound,
            lower_confidence_bound_partials,
            jitter=Jitter(1.0, Beta(1, 12)),
        ),
        Acquisition("pi", probability_of_improvement, probability_of_improvement_partials, "positive"),
        Acquisition("log-ei", log_expected_improvement, log_expected_improvement_partials, "log"),
        Acquisition("ts", thompson, thompson_partials, draws_paths=True),
    )
}
"""Every acquisition function that has a name."""


def acquisitions() -> list[str]:
    """The names of the acquisition functions."""
    return list(ACQUISITIONS)


def resolve_acquisition(acquisition: Any) -> Acquisition:
    """The acquisition behind a name, a function of (mean, std, best, jitter), or an object."""
    if isinstance(acquisition, Acquisition):
        return _checked(acquisition)
    if callable(acquisition):
        return _checked(Acquisition(getattr(acquisition, "__name__", "custom"), acquisition))
    if not isinstance(acquisition, str) or acquisition not in ACQUISITIONS:
        raise ValueError(
            f"acquisition must be one of {acquisitions()}, a covey.Acquisition or a function of "
            f"(mean, std, best, jitter), got {shown(acquisition)}"
        )
    return ACQUISITIONS[acquisition]


def _checked(acquisition: Acquisition) -> Acquisition:
    """Try a user's function once, so that a wrong one is refused before any experiment."""
    mean, best = np.array([[-0.5, 0.0, 0.5], [0.1, 0.2, 0.3]]), np.array([[-0.4], [0.0]])
    arguments = (mean, np.full((2, 3), 0.5), best, 0.1)
    try:
        parts = [acquisition.value(*arguments), *acquisition.slopes(*arguments)]
    except Exception as error:
        raise ValueError(
            f"acquisition {shown(acquisition.name)} must be a function of arrays (mean, std, best, jitter); "
            f"tried on arrays of shape {mean.shape} it raised {type(error).__name__}: {error!s:.150}"
        ) from error
    for part in parts:
        if not isinstance(part, np.ndarray) or part.shape != mean.shape or np.isnan(part).any():
            raise ValueError(
                f"acquisition {shown(acquisition.name)} and its partials must return arrays of shape "
                f"(thetas, points) without NaN: given {mean.shape} one returned {part!r:.100}"
            )
    return acquisition
