"""On which scale does the model see the objective? Standardised, whatever its magnitude."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array


@dataclass(frozen=True)
class Outputs:
    """Standardised outputs.

    Attributes:
        z: mean 0, standard deviation 1, failures at the worst value seen (n,).
        unit: the objective's standard deviation as (size, fraction): size * fraction may underflow.
    """

    z: Array
    unit: tuple[float, float]

    def noise_variance(self, std: float) -> float:
        """The variance, on the standardised scale, of noise with a standard deviation in raw units."""
        size, fraction = self.unit
        return float(min(std / size / fraction, 1e3) ** 2)


def standardise(values: Sequence[float | None]) -> Outputs:
    """Standardise raw values; None is a failure, entered at the worst value seen.

    Dividing by the largest magnitude first keeps 1e300 from overflowing and 1e-300 from vanishing.
    """
    seen = [value for value in values if value is not None]
    worst = max(seen, default=0.0)
    raw = np.array([worst if value is None else value for value in values], dtype=float)
    size = float(np.abs(raw).max(initial=0.0)) or 1.0
    # ldexp by the exponent is exact, also where 1 / size would overflow.
    exponent = math.frexp(size)[1]
    scaled = np.ldexp(raw, -exponent)
    scaled -= scaled.mean()
    fraction = float(scaled.std()) or 1.0
    return Outputs(scaled / fraction, (math.ldexp(1.0, min(exponent, 1023)), fraction))
