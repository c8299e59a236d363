"""Domains of Ray Tune as dimensions: uniform, randint and choice, with steps or a logarithm; no other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from covey.errors import needs, shown
from covey.integrations.labelled import Labelled, listed
from covey.space import Dimension, Float, Int, Ordinal
from covey.space.levels import stepped

with needs("ray"):
    from ray.tune.search import sample


_ROUNDING = 1e-9
"""In steps: what a config may have lost on its way through text, far below half a step."""


def is_domain(part: Any) -> bool:
    """Whether a part of a config is to be searched, by a model or not."""
    grid = isinstance(part, dict) and set(part) == {"grid_search"}
    return grid or isinstance(part, sample.Domain)


def as_dimension(domain: Any) -> Dimension:
    """The dimension with the values of a domain; raises ValueError if there is none."""
    sampler: Any = None if isinstance(domain, dict) else domain.get_sampler()
    stepped = isinstance(sampler, sample.Quantized)
    drawn = sampler.get_sampler() if stepped else sampler
    if not isinstance(drawn, (sample.Uniform, sample.LogUniform)):
        raise ValueError(
            f"{_called(drawn)} cannot be searched by a model; accepted are uniform, randint, their log and "
            "quantized forms, and choice"
        )
    if isinstance(domain, sample.Categorical):
        return listed(domain.categories)
    log = isinstance(drawn, sample.LogUniform)
    if stepped:
        return _stepped(domain, sampler.q, log)
    if isinstance(domain, sample.Integer):
        return Int(domain.lower, domain.upper - 1, log)
    return Float(domain.lower, domain.upper, log)


def _called(sampler: Any) -> str:
    """What users call a sampler that is refused."""
    if sampler is None or isinstance(sampler, sample.Grid):
        return "grid_search"
    if isinstance(sampler, sample.Normal):
        return "a normal distribution, which has no bounds,"
    return "sample_from" if isinstance(sampler, sample.BaseSampler) else repr(sampler)


@dataclass(frozen=True)
class Multiples:
    """The labels k x step for consecutive k, int or float."""

    factors: range
    step: float
    whole: bool

    def __getitem__(self, level: int) -> int | float:
        value = stepped(0, self.step, self.factors[level])
        return int(value) if self.whole else float(value)

    def index(self, value: Any) -> int:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        factor = round(value / self.step) if number and math.isfinite(value) else None
        if factor is None or not math.isclose(factor * self.step, value, abs_tol=_ROUNDING * self.step):
            raise ValueError(f"{shown(value)} is not a multiple of {shown(self.step)}")
        return self.factors.index(factor)


def _stepped(domain: Any, step: float, log: bool) -> Dimension:
    whole = isinstance(domain, sample.Integer)
    # Steps make Tune include the upper bound, whole ones of 1 excepted.
    upper = domain.upper - 1 if whole and step == 1 else domain.upper
    first, last = _inwards(domain.lower / step, math.ceil), _inwards(upper / step, math.floor)
    multiples = Multiples(range(first, last + 1), step, whole)
    if log or (whole and step % 1):  # an Int has neither; Tune cuts off what is not whole
        return Labelled(Int(first, last, log), multiples)
    if first == last:
        return Ordinal([multiples[0]])
    low, high = stepped(0, step, first), stepped(0, step, last)
    return Int(int(low), int(high), step=int(step)) if whole else Float(low, high, step=step)


def _inwards(bound: float, rounded: Callable[[float], int]) -> int:
    """A bound in steps; where it lies between two of them, the one inside."""
    nearest = round(bound)
    return nearest if math.isclose(bound, nearest) else rounded(bound)
