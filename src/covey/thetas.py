"""What does a hyper-parameter vector say of the objective? Its length-scales, its level, and its amplitude.

The objective is c + a(x) g(x): g is stationary, and the amplitude a may swell towards the faces of the cube
or away from them,

    log a(x) = sum_k b_k P2(2 x_k - 1),   P2(u) = (3 u^2 - 1) / 2 the second Legendre polynomial.

Many objectives are tame in the middle of their ranges and wild at the ends, or the other way round. A model
that takes them to be alike everywhere looks for the minimum where there is none, or believes in every ripple.
"""

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
        swell: b, for each feature (S, D); None where the amplitude is 1 throughout.
    """

    length_scale: Array
    variance: Array
    mean: Array
    noise: Array
    swell: Array | None = None

    def __len__(self) -> int:
        return len(self.variance)

    def __getitem__(self, index: slice | NDArray[np.intp]) -> Thetas:
        swell = None if self.swell is None else self.swell[index]
        return Thetas(
            self.length_scale[index], self.variance[index], self.mean[index], self.noise[index], swell
        )

    def log_amplitude(self, points: Array) -> Array:
        """Log a (S, m) at points (m, D)."""
        if self.swell is None:
            return np.zeros((len(self), len(points)))
        return np.asarray(self.swell @ bulge(points).T)

    def log_amplitude_gradient(self, points: Array) -> Array:
        """The gradient of log a (S, m, D) at points (m, D)."""
        if self.swell is None:
            return np.zeros((1, 1, 1))
        return np.asarray(self.swell[:, None, :] * (12.0 * points - 6.0))

    def seen(self, points: Array, values: Array) -> tuple[Array, Array]:
        """What observations (m,) at points (m, D) say of g (S, m), and the variance of their noise (S, m)."""
        shrink = np.exp(-self.log_amplitude(points))
        return (values - self.mean[:, None]) * shrink, self.noise[:, None] * shrink**2


def bulge(points: Array) -> Array:
    """P2(2 x - 1) of each coordinate (m, D): 1 on the faces, -1/2 half-way between, 0 on average."""
    return np.asarray(1.5 * (2.0 * points - 1.0) ** 2 - 0.5)
