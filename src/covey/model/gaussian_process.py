"""Gaussian process: the default surrogate, with its hyper-parameters theta sampled.

Learning goes through four parts. The warp: on which scale values look most like a Gaussian process. The
success model: where evaluations fail. Theta: draws given the warped values, from where the last ones ended.
The stack: a posterior for each draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Array
from covey.model.choose_warp import Judgement, judge
from covey.model.diagnostics import Diagnostics
from covey.model.feasibility import Feasibility, learn_feasibility
from covey.model.gp import GPStack, fit
from covey.model.log_posterior import Data
from covey.model.priors import Prior
from covey.model.sampler import Ensemble, Sample, sample
from covey.model.surrogate import Observations
from covey.model.theta import Thetas
from covey.model.warps import Warp, WarpChoices


@dataclass(frozen=True)
class Learned:
    """What observations taught.

    Attributes:
        judgement: the warp, and what it was chosen by.
        data: what posteriors are conditioned on.
        evidence: what theta is drawn given: the data, and perhaps values that were supposed.
        sample: the draws.
        feasibility: the probability of success; None where nothing has failed.
    """

    judgement: Judgement
    data: Data
    evidence: Data
    sample: Sample
    feasibility: Feasibility | None


@dataclass(frozen=True)
class GaussianProcess:
    """A surrogate: Matern 5/2 with a length-scale for each dimension, all of theta sampled.

    Attributes:
        owner: the length-scale that each feature has (D,).
        noise: "learn", or its standard deviation in the objective's units.
        prior: on the parts of theta.
        warps: the scales of values to choose from.
        learned: what observations taught; None at first.
    """

    owner: NDArray[np.intp]
    noise: float | Literal["learn"]
    prior: Prior
    warps: WarpChoices
    learned: Learned | None = None

    def __len__(self) -> int:
        return 0 if self.learned is None else len(self.thetas)

    @property
    def thetas(self) -> Thetas:
        """All draws, in random order."""
        return self._known.sample.thetas

    @property
    def feasibility(self) -> Feasibility | None:
        return None if self.learned is None else self.learned.feasibility

    @property
    def diagnostics(self) -> Diagnostics | None:
        return None if self.learned is None else self.learned.sample.diagnostics

    def learn(self, seen: Observations, count: int, rng: np.random.Generator) -> GaussianProcess:
        options = self.warps(seen.values)
        data = [self._data(seen.points, warp) for warp in options]
        judgement = judge(options, data, None if self.learned is None else self.learned.judgement, rng)
        chosen = data[judgement.index]
        feasibility = learn_feasibility(chosen, seen.failed, rng)
        known = _with_foretold(chosen, seen.failed, feasibility)
        drawn = sample(known, self._walkers(judgement), count, rng, judgement.modes)
        return replace(self, learned=Learned(judgement, known, known, drawn, feasibility))

    def suppose(self, points: Array, values: Array, count: int, rng: np.random.Generator) -> GaussianProcess:
        known = self._known
        evidence = known.evidence.grown(points, values)
        drawn = sample(evidence, known.sample.ensemble, count, rng)
        return replace(self, learned=replace(known, evidence=evidence, sample=drawn))

    def stack(self, draws: NDArray[np.intp] | slice) -> GPStack:
        data = self._known.data
        return fit(data.x, data.y, self.thetas[draws])

    @property
    def _known(self) -> Learned:
        if self.learned is None:
            raise ValueError("the surrogate has not learned anything yet: ask for a batch first")
        return self.learned

    def _data(self, points: Array, warp: Warp) -> Data:
        noise = None if self.noise == "learn" else warp.noise_variance(self.noise)
        return Data(points, warp.z, self.owner, noise, self.prior)

    def _walkers(self, judgement: Judgement) -> Ensemble | None:
        """Where theta's walkers start; those of another warp only tell where to look."""
        if self.learned is None:
            return None
        ensemble = self.learned.sample.ensemble
        same = judgement.shift == self.learned.judgement.shift
        return ensemble if same else replace(ensemble, observations=0)


def _with_foretold(data: Data, failed: Array, feasibility: Feasibility | None) -> Data:
    """The data, and failures that were to be expected (of f, D) at the worst value seen.

    Theta of the values alone, smooth as they may be, would ring at the cliff that failures are.
    """
    if feasibility is None:
        return data
    bad = failed[feasibility.foretold]
    return data.grown(bad, np.full(len(bad), data.y.max()))
