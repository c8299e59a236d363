"""Priors: what is believed about theta before any data, a distribution for each part of it.

Inputs live in the unit cube and outputs are standardised, so a prior needs no units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from covey.errors import shown
from covey.model.distributions import Distribution, Gamma, LogNormal, Normal, Uniform

NOISE = LogNormal(math.log(1e-5), 4.0)
"""A hundred-thousandth of the variance of the outputs, give or take four powers of e."""


@dataclass(frozen=True)
class Prior:
    """Independent priors on the parts of theta.

    Attributes:
        length_scale: of each dimension, in units of the cube's edge.
        variance: of the signal, in units of the outputs' variance.
        mean: the constant mean, in standardised outputs.
        noise: the noise variance, in units of the outputs' variance; used only where it is learned.
    """

    length_scale: Distribution
    variance: Distribution
    mean: Distribution
    noise: Distribution

    def __post_init__(self) -> None:
        for part in ("length_scale", "variance", "mean", "noise"):
            given = getattr(self, part)
            if isinstance(given, type) or not (hasattr(given, "log_density") and hasattr(given, "draw")):
                raise TypeError(
                    f"Prior: {part} must be a distribution such as covey.Gamma, got {shown(given)}"
                )


def _default(dimensions: int) -> Prior:
    """Length-scales around half the cube's diagonal, which grows with the square root of d."""
    return Prior(
        LogNormal(math.log(0.5 * math.sqrt(dimensions)), 1.0),
        LogNormal(0.0, 1.0),
        Normal(0.0, 1.0),
        NOISE,
    )


def _paper(_dimensions: int) -> Prior:
    """The paper's prior (appendix B): Gamma(1, 6) on length-scales and variance, Uniform(-3, 3) on the mean.

    The text does not say whether 6 is a rate or a scale. A rate comes closest to its results, and is what
    that letter means in the library that the paper's prior is modified from (docs/paper.md).
    """
    return Prior(Gamma(1, 6), Gamma(1, 6), Uniform(-3, 3), NOISE)


PRESETS: dict[str, Callable[[int], Prior]] = {"default": _default, "paper": _paper}
"""Named priors, as functions of the number of dimensions."""


def resolve_prior(prior: str | Prior, dimensions: int) -> Prior:
    """The prior object behind a preset's name, or the object itself."""
    if isinstance(prior, Prior):
        return prior
    if not isinstance(prior, str) or prior not in PRESETS:
        raise ValueError(f"prior must be one of {sorted(PRESETS)} or a covey.Prior, got {shown(prior)}")
    return PRESETS[prior](dimensions)
