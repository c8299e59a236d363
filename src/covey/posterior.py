"""Which thetas explain the data? Samples of p(theta | data) by emcee's affine-invariant ensemble.

The ensemble is a value: a run takes one and returns the next, so that walkers start from the previous
posterior when data grow. They are first weighed and resampled by what the new data say of them, then move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.density import Data, draw_prior, log_posterior
from covey.gp import Thetas
from covey.laplace import approximate

WALKERS = 64
"""At least; an ensemble also needs twice as many walkers as there are parameters."""

SPACING = 3
"""Steps between two looks at the ensemble; each look yields one theta per walker."""

_BURN_IN = 40
"""Steps that would forget a start with nothing in common; growing data take their share of it."""

_BURN_IN_FROM_MODES = 5
_TOO_NEW = 0.2
"""The share of new data beyond which old walkers only tell where to look for the modes."""


@dataclass(frozen=True)
class Ensemble:
    """Walkers at rest, to start the next run from.

    Attributes:
        position: (walkers, parameters).
        log_density: unnormalised log posterior at each (walkers,).
        observations: how many observations the walkers have seen.
    """

    position: Array
    log_density: Array
    observations: int


@dataclass(frozen=True)
class Diagnostics:
    """How well the last run sampled.

    Attributes:
        acceptance: mean share of accepted moves.
        effective_sample_size: of the whole run, walkers times steps over the autocorrelation time.
        evaluations: log-density evaluations.
        steps: moves of the whole ensemble.
    """

    acceptance: float
    effective_sample_size: float
    evaluations: int
    steps: int


@dataclass(frozen=True)
class Sample:
    """Draws from p(theta | data).

    Attributes:
        thetas: the draws, in random order.
        ensemble: where the walkers ended.
        diagnostics: of the run.
    """

    thetas: Thetas
    ensemble: Ensemble
    diagnostics: Diagnostics


def sample(data: Data, start: Ensemble | None, count: int, rng: np.random.Generator) -> Sample:
    """Draw at least ``count`` thetas from p(theta | data).

    Args:
        data: at least one observation.
        start: the ensemble of an earlier run on a part of the same data, if there is one.
        count: draws wanted; each look at the ensemble, ``SPACING`` steps apart, gives one per walker.
        rng: source of all randomness.
    """
    new = 1.0 if start is None else 1 - start.observations / len(data.y)
    if start is None or new > _TOO_NEW:
        start, burn_in = _near_modes(data, start, rng), _BURN_IN_FROM_MODES
    else:
        burn_in = math.ceil(_BURN_IN * new)
    looks = -(-count // len(start.position))
    run = _advance(data, start, burn_in + looks * SPACING, rng)
    drawn = run.chain[::-1][: looks * SPACING : SPACING].reshape(-1, data.parameters)
    return Sample(data.thetas(rng.permutation(drawn)), run.ensemble, run.diagnostics)


def _near_modes(data: Data, old: Ensemble | None, rng: np.random.Generator) -> Ensemble:
    """Walkers around the posterior's modes, looked for from old walkers and from the prior."""
    walkers = 2 * max(WALKERS // 2, data.parameters + 1)
    candidates = draw_prior(data, rng, walkers)
    if old is not None:
        candidates = np.concatenate([old.position, candidates])
    return Ensemble(*approximate(data, candidates, walkers, rng), observations=0)


@dataclass(frozen=True)
class _Run:
    chain: Array
    ensemble: Ensemble
    diagnostics: Diagnostics


def _advance(data: Data, start: Ensemble, steps: int, rng: np.random.Generator) -> _Run:
    """Bring an ensemble to new data: weigh the walkers by what it says, then let them move."""
    import emcee  # slow to import, and not needed to describe a space or read a study

    log_density = log_posterior(data, start.position)
    if len(data.y) > start.observations:
        keep = _resample(log_density - start.log_density, rng)
        log_density = log_density[keep]
        # Moves along the line between two walkers need them apart, if only by a hair.
        hair = 1e-7 * rng.normal(size=start.position.shape)
        start = Ensemble(start.position[keep] + hair, log_density, len(data.y))
    walkers, parameters = start.position.shape
    sampler = emcee.EnsembleSampler(
        walkers,
        parameters,
        lambda position: log_posterior(data, position),
        vectorize=True,
        moves=[(emcee.moves.DEMove(), 0.8), (emcee.moves.DESnookerMove(), 0.2)],
    )
    sampler.random_state = np.random.RandomState(rng.integers(2**32)).get_state()
    state = emcee.State(start.position, log_prob=log_density, copy=True)
    end = sampler.run_mcmc(state, steps, skip_initial_state_check=True)
    chain = sampler.get_chain()
    return _Run(
        chain,
        Ensemble(end.coords, end.log_prob, len(data.y)),
        Diagnostics(
            float(np.mean(sampler.acceptance_fraction)),
            _effective_size(chain),
            walkers * (steps + 1),
            steps,
        ),
    )


def _resample(log_weights: Array, rng: np.random.Generator) -> NDArray[np.intp]:
    """Systematic resampling of walkers, the weights flattened until a third of them counts."""
    count = len(log_weights)
    finite = np.where(np.isfinite(log_weights), log_weights, -np.inf)
    if not np.isfinite(finite).any():
        return np.arange(count)
    power = 1.0
    while True:
        weights = np.exp(power * (finite - finite.max()))
        weights /= weights.sum()
        if 1 / np.sum(weights**2) > count / 3 or power < 1e-6:
            break
        power *= 0.8
    comb = (rng.random() + np.arange(count)) / count
    return np.minimum(np.searchsorted(np.cumsum(weights), comb), count - 1)


def _effective_size(chain: Array) -> float:
    """Walkers times steps over the mean integrated autocorrelation time."""
    from emcee.autocorr import integrated_time

    steps, walkers, _ = chain.shape
    with np.errstate(invalid="ignore"):  # a walker that never moved has no autocorrelation
        times = np.nan_to_num(integrated_time(chain, tol=0), nan=float(steps))
    return float(steps * walkers / max(1.0, np.mean(times)))
