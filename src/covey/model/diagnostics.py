"""Diagnostics of a run of the sampler: acceptance, cost, and effective sample size."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from covey.arrays import Array


@dataclass(frozen=True)
class Diagnostics:
    """How well a run sampled.

    Attributes:
        acceptance: mean share of accepted moves.
        evaluations: log-density evaluations.
        steps: moves of the whole ensemble.
        chain: where the walkers went (steps, walkers, parameters).
    """

    acceptance: float
    evaluations: int
    steps: int
    chain: Array = field(repr=False, compare=False)

    @property
    def effective_sample_size(self) -> float:
        """Walkers times steps over the mean integrated autocorrelation time."""
        from emcee.autocorr import integrated_time  # slow to import

        steps, walkers, _ = self.chain.shape
        with np.errstate(invalid="ignore"):  # a walker that never moved has no autocorrelation
            times = np.nan_to_num(integrated_time(self.chain, tol=0), nan=float(steps))
        return float(steps * walkers / max(1.0, np.mean(times)))
