"""How much is a point worth trying? Functions of (mean, std, best, jitter), larger is better.

An acquisition function knows no model. All arguments are arrays that broadcast together, on the scale of
standardised outputs; ``best`` is the lowest value known, ``jitter`` the explore-exploit trade-off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from covey.arrays import Array
from covey.model.distributions import Beta, Distribution, LogUniform

Value: TypeAlias = Callable[[Array, Array, Array, float], Array]
Partials: TypeAlias = Callable[[Array, Array, Array, float], tuple[Array, Array]]
Scale: TypeAlias = Literal["real", "positive", "log"]

_LOG_2PI = math.log(2 * math.pi)
_LEAST_STD = 1e-100
_STEP = 1e-6


@dataclass(frozen=True)
class Jitter:
    """The explore-exploit trade-off of an acquisition function.

    Attributes:
        fixed: the value without jitter.
        drawn: where j-ATS draws from, in half of the cases (appendix B); the other half takes ``fixed``.
    """

    fixed: float
    drawn: Distribution

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

    def slopes(self, mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
        """Derivatives in mean and in std."""
        if self.partials is not None:
            return self.partials(mean, std, best, jitter)
        up, down = std * (1 + _STEP) + _STEP**2, std * (1 - _STEP)
        in_mean = self.value(mean + _STEP, std, best, jitter) - self.value(mean - _STEP, std, best, jitter)
        in_std = self.value(mean, up, best, jitter) - self.value(mean, down, best, jitter)
        return in_mean / (2 * _STEP), in_std / (up - down)


def _z(mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
    std = np.maximum(std, _LEAST_STD)
    return (best - jitter - mean) / std, std


def _density(z: Array) -> Array:
    return np.exp(-0.5 * z**2 - 0.5 * _LOG_2PI)


def expected_improvement(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """EI_j = E[max(best - j - f, 0)] = std (z Phi(z) + phi(z)), z = (best - j - mean) / std."""
    z, std = _z(mean, std, best, jitter)
    return np.maximum(std * (z * ndtr(z) + _density(z)), 0.0)


def _expected_improvement_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    z, _ = _z(mean, std, best, jitter)
    return -ndtr(z), _density(z)


def log_h(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), accurate from 1e150 down to -1e150.

    Below -1 the two terms cancel: phi(z) + z Phi(z) = phi(z) (1 - t) with t = |z| m(|z|), m the Mills
    ratio from erfcx. Far out, where 1 - t itself cancels, 1 - t = z^-2 - 3 z^-4 + 15 z^-6 - ...
    """
    near = np.clip(z, -1.0, 1e150)
    direct = np.log(near * ndtr(near) + _density(near))
    middle = -np.clip(z, -100.0, -1.0)
    mills = math.sqrt(math.pi / 2) * erfcx(middle / math.sqrt(2))
    remainder = np.log1p(-middle * mills)
    far = 1.0 / np.maximum(-z, 100.0) ** 2
    series = np.log(far) + np.log1p(far * (-3.0 + far * (15.0 - far * 105.0)))
    tail = np.where(z > -100.0, remainder, series) - 0.5 * np.minimum(z, 0.0) ** 2 - 0.5 * _LOG_2PI
    return np.where(z > -1.0, direct, tail)


def log_expected_improvement(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """Log EI_j, which still has a slope where EI_j is 0 in float64 (Ament et al. 2023)."""
    z, std = _z(mean, std, best, jitter)
    return log_h(z) + np.log(std)


def _log_expected_improvement_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    z, std = _z(mean, std, best, jitter)
    log = log_h(z)
    return -np.exp(log_ndtr(z) - log) / std, np.exp(-0.5 * z**2 - 0.5 * _LOG_2PI - log) / std


def lower_confidence_bound(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """LCB_j = j std - mean."""
    return jitter * std - mean + 0.0 * best


def _lower_confidence_bound_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    return -np.ones_like(mean), np.full_like(std, jitter)


def probability_of_improvement(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """PI_j = P(f < best - j) = Phi(z)."""
    return np.asarray(ndtr(_z(mean, std, best, jitter)[0]))


def _probability_of_improvement_partials(
    mean: Array, std: Array, best: Array, jitter: float
) -> tuple[Array, Array]:
    z, std = _z(mean, std, best, jitter)
    density = _density(z)
    return -density / std, -z * density / std


def thompson(mean: Array, std: Array, best: Array, jitter: float) -> Array:
    """TS: the drawn function itself, to be minimised."""
    return -mean + 0.0 * std


def _thompson_partials(mean: Array, std: Array, best: Array, jitter: float) -> tuple[Array, Array]:
    return -np.ones_like(mean), np.zeros_like(std)


ACQUISITIONS: dict[str, Acquisition] = {
    a.name: a
    for a in (
        Acquisition("ei", expected_improvement, _expected_improvement_partials, "positive"),
        Acquisition(
            "lcb",
            lower_confidence_bound,
            _lower_confidence_bound_partials,
            jitter=Jitter(1.0, Beta(1, 12)),
        ),
        Acquisition("pi", probability_of_improvement, _probability_of_improvement_partials, "positive"),
        Acquisition("log-ei", log_expected_improvement, _log_expected_improvement_partials, "log"),
        Acquisition("ts", thompson, _thompson_partials, draws_paths=True),
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
            f"(mean, std, best, jitter), got {acquisition!r}"
        )
    return ACQUISITIONS[acquisition]


def _checked(acquisition: Acquisition) -> Acquisition:
    """Try a user's function once, so that a wrong one is refused before any experiment."""
    if acquisition.scale not in ("real", "positive", "log"):
        raise ValueError(f"scale must be 'real', 'positive' or 'log', got {acquisition.scale!r}")
    mean, best = np.array([[-0.5, 0.0, 0.5], [0.1, 0.2, 0.3]]), np.array([[-0.4], [0.0]])
    arguments = (mean, np.full((2, 3), 0.5), best, 0.1)
    try:
        parts = [acquisition.value(*arguments), *acquisition.slopes(*arguments)]
    except Exception as error:
        raise ValueError(
            f"acquisition {acquisition.name!r} must be a function of arrays (mean, std, best, jitter); "
            f"tried on arrays of shape {mean.shape} it raised {type(error).__name__}: {error}"
        ) from error
    for part in parts:
        if not isinstance(part, np.ndarray) or part.shape != mean.shape or np.isnan(part).any():
            raise ValueError(
                f"acquisition {acquisition.name!r} and its partials must return arrays of shape (thetas, "
                f"points) without NaN: given {mean.shape} one returned {part!r:.100}"
            )
    return acquisition
