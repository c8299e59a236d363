"""Distributions that priors and jitters are made of, each with a log-density and a draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from covey.arrays import Array
from covey.errors import shown
from covey.space.dimensions import is_finite


class Distribution(Protocol):
    """What a prior needs to be."""

    def log_density(self, x: Array) -> Array:
        """Log of the density at each element of x; -inf outside the support."""

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        """Independent draws (size,)."""


_LARGEST_POWER = 300.0
"""Of ten, and its inverse: float64 ends a little past it."""


def _positive(owner: object, **values: float) -> None:
    for name, value in values.items():
        if not (is_finite(value) and value > 0):
            raise ValueError(f"{type(owner).__name__}: {name} must be a positive number, got {shown(value)}")


def _finite(owner: object, **values: float) -> None:
    for name, value in values.items():
        if not is_finite(value):
            raise ValueError(f"{type(owner).__name__}: {name} must be a finite number, got {shown(value)}")


def _ordered(owner: object, low: float, high: float) -> None:
    if not (is_finite(low) and is_finite(high) and low < high):
        what = "low must be below high, both finite numbers"
        raise ValueError(f"{type(owner).__name__}: {what}, got low={shown(low)}, high={shown(high)}")


@dataclass(frozen=True)
class Gamma:
    """Gamma with density proportional to x^(shape - 1) exp(-rate x); mean shape / rate."""

    shape: float
    rate: float

    def __post_init__(self) -> None:
        _positive(self, shape=self.shape, rate=self.rate)

    def log_density(self, x: Array) -> Array:
        from scipy.special import gammaln, xlogy  # slow to import

        inside = np.where(x > 0, x, 1.0)
        constant = self.shape * math.log(self.rate) - float(gammaln(self.shape))
        return np.where(x > 0, constant + xlogy(self.shape - 1, inside) - self.rate * inside, -np.inf)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        return rng.gamma(self.shape, 1 / self.rate, size)


@dataclass(frozen=True)
class LogNormal:
    """exp of a normal with mean mu and standard deviation sigma."""

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        _finite(self, mu=self.mu)
        _positive(self, sigma=self.sigma)

    def log_density(self, x: Array) -> Array:
        log = np.log(np.where(x > 0, x, 1.0))
        z = (log - self.mu) / self.sigma
        return np.where(
            x > 0, -0.5 * z**2 - log - math.log(self.sigma) - 0.5 * math.log(2 * math.pi), -np.inf
        )

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        return rng.lognormal(self.mu, self.sigma, size)


@dataclass(frozen=True)
class Normal:
    """Normal with mean mu and standard deviation sigma."""

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        _finite(self, mu=self.mu)
        _positive(self, sigma=self.sigma)

    def log_density(self, x: Array) -> Array:
        z = (x - self.mu) / self.sigma
        return -0.5 * z**2 - math.log(self.sigma) - 0.5 * math.log(2 * math.pi)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        return rng.normal(self.mu, self.sigma, size)


@dataclass(frozen=True)
class Uniform:
    """Constant density between low and high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _ordered(self, self.low, self.high)

    def log_density(self, x: Array) -> Array:
        inside = (x >= self.low) & (x <= self.high)
        return np.where(inside, -math.log(self.high - self.low), -np.inf)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        return rng.uniform(self.low, self.high, size)


@dataclass(frozen=True)
class LogUniform:
    """10 to a uniform power: ``LogUniform(-3, 0)`` lies between 10^-3 and 1 (the paper's notation)."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _ordered(self, self.low, self.high)
        if not -_LARGEST_POWER <= self.low < self.high <= _LARGEST_POWER:
            given = f"low={shown(self.low)}, high={shown(self.high)}"
            raise ValueError(f"LogUniform: powers of ten must be within -300 to 300, got {given}")

    def log_density(self, x: Array) -> Array:
        inside = (x >= 10.0**self.low) & (x <= 10.0**self.high)
        log = np.log(np.where(inside, x, 1.0))
        return np.where(inside, -log - math.log((self.high - self.low) * math.log(10)), -np.inf)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        return 10.0 ** rng.uniform(self.low, self.high, size)


@dataclass(frozen=True)
class Beta:
    """Beta with density proportional to x^(a - 1) (1 - x)^(b - 1) on (0, 1)."""

    a: float
    b: float

    def __post_init__(self) -> None:
        _positive(self, a=self.a, b=self.b)

    def log_density(self, x: Array) -> Array:
        from scipy.special import betaln, xlog1py, xlogy  # slow to import

        inside = (x > 0) & (x < 1)
        safe = np.where(inside, x, 0.5)
        log = xlogy(self.a - 1, safe) + xlog1py(self.b - 1, -safe) - float(betaln(self.a, self.b))
        return np.where(inside, log, -np.inf)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        return rng.beta(self.a, self.b, size)
