"""Statistics of repeated runs: the mean and its standard error."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from covey.arrays import Array


def means_and_errors(values: Array) -> tuple[Array, Array]:
    """Over runs (runs, ...) -> two of (...); the standard error of a single run is not known, NaN."""
    count = len(values)
    if count == 1:
        return values[0], np.full(values.shape[1:], math.nan)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / math.sqrt(count)


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """The same of single numbers, one of each run."""
    mean, error = means_and_errors(np.array(list(values), dtype=float))
    return float(mean), float(error)
