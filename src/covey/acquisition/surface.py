"""Surface: an acquisition function over the rows of the cube, averaged over theta.

This is where acquisition and model meet: the only chain rule, and the only average over the stack
(equations 3 and 4 of the paper).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covey.acquisition.acquisition import Acquisition
from covey.arrays import Array
from covey.model.surrogate import Factor, Posterior
from covey.space.features import Features


@dataclass(frozen=True)
class Surface:
    """The averaged acquisition function over rows (m, d) of the cube.

    Attributes:
        posterior: the stack.
        acquisition: what is averaged.
        jitter: its trade-off.
        features: how the model sees a row.
        factors: multiply the acquisition function, made positive, if there are any.
    """

    posterior: Posterior
    acquisition: Acquisition
    jitter: float
    features: Features
    factors: tuple[Factor, ...] = ()

    @property
    def _in_logs(self) -> bool:
        return self.acquisition.scale != "real" or bool(self.factors)

    def value(self, rows: Array) -> Array:
        """Values (m,); never NaN."""
        points = self.features.embed(rows)
        mean, std = self.posterior.predict(points)
        value = self.acquisition.value(mean, std, self.posterior.best, self.jitter)
        if not self._in_logs:
            return _clean(np.mean(value, axis=0))
        logs = _LOGARITHM[self.acquisition.scale](value)[0]
        for factor in self.factors:
            logs = logs + factor.log_factor(points)
        return _clean(_log_mean_exp(logs)[0])

    def value_and_gradient(self, rows: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d), zero in columns of choices."""
        points = self.features.embed(rows)
        at = self.posterior.predict_gradient(points)
        arguments = (at.mean, at.std, self.posterior.best, self.jitter)
        value = self.acquisition.value(*arguments)
        in_mean, in_std = self.acquisition.slopes(*arguments)
        slope = in_mean[..., None] * at.mean_gradient + in_std[..., None] * at.std_gradient
        if not self._in_logs:
            total, gradient = np.mean(value, axis=0), np.mean(slope, axis=0)
        else:
            logs, inner = _LOGARITHM[self.acquisition.scale](value)
            slope = slope * inner[..., None]
            for factor in self.factors:
                push, push_slope = factor.log_factor_gradient(points)
                logs, slope = logs + push, slope + push_slope
            total, weights = _log_mean_exp(logs)
            gradient = np.sum(weights[..., None] * slope, axis=0)
        in_rows = self.features.pull_back(points, gradient)
        return _clean(total), np.nan_to_num(in_rows, posinf=0, neginf=0)


_LEAST = 1e-300
"""Stands in for 0, which has no logarithm."""


def _from_positive(value: Array) -> tuple[Array, Array]:
    safe = np.maximum(value, _LEAST)
    return np.log(safe), 1.0 / safe


def _from_real(value: Array) -> tuple[Array, Array]:
    """Log of softplus, g(a) = ln(1 + e^a): how local penalization makes any acquisition positive."""
    softplus = np.maximum(np.logaddexp(0.0, value), _LEAST)
    sigmoid = np.exp(-np.logaddexp(0.0, -value))
    return np.log(softplus), sigmoid / softplus


def _from_log(value: Array) -> tuple[Array, Array]:
    return value, np.ones_like(value)


_LOGARITHM: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "positive": _from_positive,
    "real": _from_real,
    "log": _from_log,
}
"""Logarithm of an acquisition function made positive, and its derivative, by scale."""


def _log_mean_exp(logs: Array) -> tuple[Array, Array]:
    """Log of the mean of exp over the stack (m,), and the weights of its gradient (S, m)."""
    top = np.max(logs, axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    parts = np.exp(logs - top)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(total / len(logs)) + top, np.nan_to_num(parts / total)


def _clean(values: Array) -> Array:
    """A value that is not a number is the worst there is."""
    return np.nan_to_num(values, nan=-np.inf, posinf=np.finfo(float).max, neginf=-np.inf)
