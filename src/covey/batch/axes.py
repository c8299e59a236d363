"""Axes of a strategy: every value of each, what it does and how it is called, in one place.

The loop that chooses a batch and the model look values up here and ask nothing else. What ``Strategy``
accepts, its documentation and its error messages are made of the same tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from covey.acquisition.acquisition import ACQUISITIONS, Acquisition
from covey.acquisition.boundary import DISCOUNT, inside
from covey.acquisition.candidates import THOROUGH, Search
from covey.acquisition.local_penalty import local_penalty
from covey.arrays import Array
from covey.batch.theta_sets import FromData, Hallucinated, ThetaSets
from covey.model.surrogate import Factor, Stack
from covey.model.warps import LIMITS, WarpChoices, linear, warps
from covey.space.features import Features

Rng: TypeAlias = np.random.Generator
Does = TypeVar("Does")


@dataclass(frozen=True)
class Value(Generic[Does]):
    """One value of an axis.

    Attributes:
        does: what it stands for.
        about: the same in words.
        settings: the constants that shape it, if there are any.
    """

    does: Does
    about: str
    settings: object = None


@dataclass(frozen=True)
class Axis(Generic[Does]):
    """A setting of a strategy that takes one of a few values.

    Attributes:
        name: the field of ``Strategy``.
        about: what is set.
        values: by name, the default first.
    """

    name: str
    about: str
    values: Mapping[str, Value[Does]]

    @property
    def default(self) -> str:
        return next(iter(self.values))

    @property
    def accepts(self) -> str:
        return f"one of {list(self.values)}"

    def admits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.values

    def __getitem__(self, name: str) -> Does:
        return self.values[name].does


@dataclass(frozen=True)
class Quantity:
    """A setting of a strategy that is a number, or a word that stands for one.

    Attributes:
        name: the field of ``Strategy``.
        about: what is set.
        default: its value if none is given.
        accepts: what it may be, in words.
        admits: whether it may be a value.
    """

    name: str
    about: str
    default: Any
    accepts: str
    admits: Callable[[Any], bool]


@dataclass(frozen=True)
class Share:
    """How many thetas "auto" averages a point's acquisition function over.

    Attributes:
        batch: thetas that the points of a batch share: each alone is more opinionated, the larger the batch.
        least: of a point; one theta alone is often wrong.
        many: observations that leave hyper-parameters little freedom; beyond, fewer are needed.
    """

    batch: int = 32
    least: int = 4
    many: int = 100

    def of(self, points: int, observations: int) -> int:
        """Thetas of each of so many points: beyond many observations n it decreases as sqrt(n).

        So does the width of what is averaged over.
        """
        return max(self.least, round(self.batch / (points * math.sqrt(max(1.0, observations / self.many)))))


SHARE = Share()


_MOST = 10_000
"""Thetas or climbs for a point: the paper has 10, and each takes its time."""


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= _MOST


def _is_probability(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _penalise(stack: Stack, pending: Array, search: Search, rng: Rng) -> Factor | None:
    if len(pending) == 0:
        return None
    everywhere = replace(search, effort=THOROUGH)  # the steepest slope is global, however points are chosen
    scan = search.features.embed(np.concatenate(everywhere.candidates(rng)))
    return local_penalty(stack, pending, scan)


def _fixed(acquisition: Acquisition, _rng: Rng) -> float:
    return acquisition.jitter.fixed


def _drawn(acquisition: Acquisition, rng: Rng) -> float:
    return acquisition.jitter.draw(rng)


S = Quantity(
    "s",
    "thetas that a point's acquisition function is averaged over; 'auto' decreases with the batch size and, "
    "of many, with the observations",
    "auto",
    "a whole number from 1 to 10000 or 'auto'",
    lambda value: _is_count(value) or (isinstance(value, str) and value == "auto"),
)
P = Quantity(
    "p",
    "probability that a point gets a fresh set of thetas; else it keeps the last point's",
    1.0,
    "a probability between 0 and 1",
    _is_probability,
)
THETAS: Axis[type[ThetaSets]] = Axis(
    "thetas",
    "what a point's thetas are drawn given",
    {
        "data": Value(FromData, "the observations (ATS)"),
        "hallucinated": Value(Hallucinated, "the observations, and pending points at their means (h-ATS)"),
    },
)
SURROGATE: Axis[Callable[[Stack, Array, Rng], Stack]] = Axis(
    "surrogate",
    "what a point's posterior is conditioned on",
    {
        "data": Value(lambda stack, _pending, _rng: stack, "the observations"),
        "hallucinated": Value(
            lambda stack, pending, _rng: stack.condition(pending),
            "pending points too, at their means (B-LCB)",
        ),
        "fantasised": Value(
            lambda stack, pending, rng: stack.fantasise(pending, rng),
            "pending points too, at values that are drawn for each theta",
        ),
        "noiseless": Value(
            lambda stack, pending, rng: stack.noiseless(rng).fantasise(pending, rng),
            "values without noise, drawn for each theta at all points, observed and pending (noisy EI)",
        ),
    },
)
REPEL: Axis[Callable[[Stack, Array, Search, Rng], Factor | None]] = Axis(
    "repel",
    "how pending points push others away",
    {
        "none": Value(lambda _stack, _pending, _search, _rng: None, "not at all"),
        "penalise": Value(_penalise, "by local penalization (LP)"),
    },
)
JITTER: Axis[Callable[[Acquisition, Rng], float]] = Axis(
    "jitter",
    "the acquisition function's trade-off",
    {
        "fixed": Value(_fixed, "its own"),
        "drawn": Value(_drawn, "drawn for each point, in half of the cases (j-ATS)"),
    },
)
ACQUISITION = Quantity(
    "acquisition",
    "the acquisition function that a method is defined for; None leaves the choice to the user",
    None,
    f"one of {list(ACQUISITIONS)} or None",
    lambda value: value is None or (isinstance(value, str) and value in ACQUISITIONS),
)
STARTS = Quantity(
    "starts",
    "None scans the space for the acquisition function's global maximum; a number climbs from so many random "
    "places and takes the highest, often another, local maximum",
    None,
    "a whole number from 1 to 10000 or None",
    lambda value: value is None or _is_count(value),
)
OUTPUTS: Axis[WarpChoices] = Axis(
    "outputs",
    "the scale that the model sees values on",
    {
        "standard": Value(linear, "linear, standardised"),
        "learned": Value(warps, "from linear to logarithmic, learned from the data", LIMITS),
    },
)
BOUNDARY: Axis[Callable[[Stack, Features], Factor | None]] = Axis(
    "boundary",
    "what a point on a face of the space counts",
    {
        "equal": Value(lambda _stack, _features: None, "as much as one inside"),
        "discounted": Value(
            lambda stack, features: inside(stack.thetas, features),
            "less than one inside, in more than two dimensions",
            DISCOUNT,
        ),
    },
)

AXES: dict[str, Axis[Any] | Quantity] = {
    axis.name: axis
    for axis in (S, P, THETAS, SURROGATE, REPEL, JITTER, ACQUISITION, STARTS, OUTPUTS, BOUNDARY)
}
"""All settings of a strategy, in the order of ``Strategy``."""


def table() -> str:
    """The axes and their values as Markdown, for the documentation."""
    lines = ["| axis | value | meaning |", "|---|---|---|"]
    for axis in AXES.values():
        if isinstance(axis, Quantity):
            lines.append(f"| `{axis.name}` | {axis.accepts} | {axis.about} |")
            continue
        lines.append(f"| `{axis.name}` | | {axis.about} |")
        lines += [f"| | `{name}` | {value.about} |" for name, value in axis.values.items()]
    return "\n".join(lines) + "\n"


def attributes() -> str:
    """The axes and their values as the lines of a docstring."""
    lines = []
    for axis in AXES.values():
        lines.append(f"        {axis.name}: {axis.about}; {axis.accepts}.")
        if isinstance(axis, Axis):
            lines += [f'            "{name}": {value.about}.' for name, value in axis.values.items()]
    return "\n".join(lines) + "\n"
