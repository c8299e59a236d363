"""Sampler of p(theta | data): emcee's affine-invariant ensemble, started where the posterior is.

The ensemble is a value: a run takes one and returns the next, so that walkers start from the previous
posterior when data grow. They are first weighed and resampled by what the new data say of them, then move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.diagnostics import Diagnostics
from covey.model.laplace import approximate
from covey.model.log_posterior import Data, draw_prior, log_posterior
from covey.model.theta import Thetas


@dataclass(frozen=True)
class Budget:
    """What a run may cost.

    Attributes:
        walkers: of an ensemble, up to ``many`` observations; beyond, a step is dear and the posterior narrow,
            and they fall with the square root of n.
        many: observations.
        burn_in: steps that would forget a start with nothing in common; growing data take their share of it.
        affordable: steps times observations that are never worth saving: a step costs little where data are
            few.
        fewest, most: steps after a start near the modes, which only has to lose the approximation's shape.
        closest, farthest: steps between two looks at the ensemble, which is what makes draws differ.
        too_new: the share of new data beyond which old walkers only tell where to look for the modes.
    """

    walkers: int
    many: int
    burn_in: int
    affordable: int
    fewest: int
    most: int
    closest: int
    farthest: int
    too_new: float


BUDGET = Budget(
    walkers=64, many=100, burn_in=40, affordable=2000, fewest=4, most=30, closest=3, farthest=10, too_new=0.2
)

_HAIR = 1e-7
"""A distance that tells two walkers apart and means nothing for theta."""


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


def sample(
    data: Data, start: Ensemble | None, count: int, rng: np.random.Generator, places: Array | None = None
) -> Sample:
    """Draw at least ``count`` thetas from p(theta | data).

    Args:
        data: at least one observation.
        start: the ensemble of an earlier run on a part of the same data, if there is one.
        count: draws wanted; each look at the ensemble, some steps apart, gives one per walker.
        rng: source of all randomness.
        places: where modes may be, besides what the prior and old walkers say (k, parameters).
    """
    new = 1.0 if start is None else 1 - start.observations / len(data.y)
    extra = 0
    if start is None or new > BUDGET.too_new:
        start, extra = _near_modes(data, start, places, rng)
        new = 0.0  # what was found near the modes has seen all data: there is nothing to forget
    start = _thinned(start, walkers_for(data), rng)
    affordable = BUDGET.affordable // len(data.y)
    settling = min(max(affordable, BUDGET.fewest), BUDGET.most) if extra else 0
    burn_in = max(math.ceil(BUDGET.burn_in * new), settling)
    spacing = min(max(affordable // 3, BUDGET.closest), BUDGET.farthest)
    walkers = len(start.position)
    looks = -(-count // walkers)
    steps = burn_in + looks * spacing
    chain, ensemble, acceptance = _move(data, _weigh(data, start, rng), steps, rng)
    # Looks from the last step backwards: the later, the less is left of where walkers began.
    drawn = chain[::-1][: looks * spacing : spacing].reshape(-1, data.parameters)
    return Sample(
        data.thetas(rng.permutation(drawn)),
        ensemble,
        Diagnostics(acceptance, walkers * (steps + 1) + extra, steps, chain),
    )


def walkers_for(data: Data) -> int:
    """How many, an even number; an ensemble needs at least twice as many as there are parameters."""
    most = max(BUDGET.walkers, 2 * (data.parameters + 1))
    enough = max(3 * data.parameters, BUDGET.walkers * math.sqrt(BUDGET.many / len(data.y)))
    return 2 * round(min(most, enough) / 2)


def _thinned(ensemble: Ensemble, most: int, rng: np.random.Generator) -> Ensemble:
    """At most so many of the walkers, any of them."""
    if len(ensemble.position) <= most:
        return ensemble
    kept = rng.permutation(len(ensemble.position))[:most]
    return Ensemble(ensemble.position[kept], ensemble.log_density[kept], ensemble.observations)


def _near_modes(
    data: Data, old: Ensemble | None, places: Array | None, rng: np.random.Generator
) -> tuple[Ensemble, int]:
    """Walkers around the posterior's modes, looked for from places, from old walkers and from the prior.

    Also the number of log-density evaluations that it took.
    """
    walkers = walkers_for(data)
    known = [] if places is None else [places]
    known += [] if old is None else [old.position]
    candidates = np.concatenate([*known, draw_prior(data, rng, walkers)])
    found = approximate(data, candidates, walkers, rng)
    return Ensemble(found.position, found.log_density, observations=0), found.evaluations


def _weigh(data: Data, start: Ensemble, rng: np.random.Generator) -> Ensemble:
    """Resample walkers by what new data say of them."""
    log_density = log_posterior(data, start.position)
    if len(data.y) <= start.observations:
        return Ensemble(start.position, log_density, len(data.y))
    with np.errstate(invalid="ignore"):  # -inf less -inf: outside the support before and after
        keep = _resample(log_density - start.log_density, rng)
    # Moves along the line between two walkers need them apart, if only by a hair.
    hair = _HAIR * rng.normal(size=start.position.shape)
    return Ensemble(start.position[keep] + hair, log_density[keep], len(data.y))


def _move(data: Data, start: Ensemble, steps: int, rng: np.random.Generator) -> tuple[Array, Ensemble, float]:
    """Let walkers move: the chain (steps, walkers, parameters), their end, and the acceptance."""
    import emcee  # slow to import, and not needed to describe a space or read a study

    sampler = emcee.EnsembleSampler(
        *start.position.shape,
        lambda position: log_posterior(data, position),
        vectorize=True,
        # The paper's stretch, differences of two walkers, and now and then a leap to another mode.
        # Not emcee's snooker move: on a normal in 9 dimensions it alone gives a variance of 0.6.
        moves=[
            (emcee.moves.StretchMove(), 0.3),
            (emcee.moves.DEMove(), 0.6),
            (emcee.moves.DEMove(gamma0=1.0), 0.1),
        ],
    )
    sampler.random_state = np.random.RandomState(rng.integers(2**32)).get_state()
    state = emcee.State(start.position, log_prob=start.log_density, copy=True)
    end = sampler.run_mcmc(state, steps, skip_initial_state_check=True)
    ensemble = Ensemble(end.coords, end.log_prob, len(data.y))
    return sampler.get_chain(), ensemble, float(np.mean(sampler.acceptance_fraction))


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
