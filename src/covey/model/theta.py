"""Theta: hyper-parameters of the objective, its length-scales, its level, and its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array


@dataclass(frozen=True)
class Thetas:
    """A stack of hyper-parameter vectors, in the units of standardised outputs.

    Attributes:
        length_scale: one for each feature (S, D).
        variance: of the signal (S,).
        mean: the constant mean (S,).
        noise: noise variance (S,).
    """

    length_scale: Array
    variance: Array
    mean: Array
    noise: Array

    @property
    def weights(self) -> Array:
        """Inverse length-scales (S, D), which kernels multiply by."""
        return 1.0 / self.length_scale

    def __len__(self) -> int:
        return len(self.variance)

    def __getitem__(self, index: slice | NDArray[np.intp]) -> Thetas:
        return Thetas(self.length_scale[index], self.variance[index], self.mean[index], self.noise[index])

    def seen(self, values: Array) -> tuple[Array, Array]:
        """Residuals (S, m) of observations (m,), and the variance of their noise (S, m)."""
        residual = values - self.mean[:, None]
        return residual, np.repeat(self.noise[:, None], len(values), axis=1)
