"""BoTorch as a peer: qLogEI or qLogNEI, the points of a batch one after the other.

    python botorch_greedy.py qlogei | qlognei | saas

As in its tutorials: a SingleTaskGP of standardised outputs over the unit cube, its noise learned, and 10
restarts from 512 raw samples. Categories are one-hot for the model (MixedSingleTaskGP takes several times as
long to fit), and ``optimize_acqf_mixed_alternating`` searches spaces with integers or categories. Points of a
batch that are chosen are pending for the rest of it. ``saas`` is qLogEI of the fully Bayesian model at its
defaults, for spaces without categories; asked for no point, it fits and no more.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial

import torch
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.fit import fit_fully_bayesian_model_nuts, fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP
from botorch.models.model import Model
from botorch.models.transforms import Standardize
from botorch.models.transforms.input import NumericToCategoricalEncoding
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from cube import decode, encode, levels
from gpytorch.mlls import ExactMarginalLogLikelihood
from protocol import Params, Setup, serve
from torch import Tensor
from torch.nn.functional import one_hot

EFFORT = {"num_restarts": 10, "raw_samples": 512}


class Greedy:
    """A model of all that was told, and its acquisition function maximised point by point."""

    def __init__(self, setup: Setup, how: str) -> None:
        torch.manual_seed(setup.seed)
        self.space, self.how = setup.space, how
        self.x: list[list[float]] = []
        self.y: list[list[float]] = []

    def tell(self, params: list[Params], values: list[float]) -> None:
        self.x += [encode(self.space, one) for one in params]
        self.y += [[-value] for value in values]  # BoTorch maximises

    def ask(self, n: int) -> list[Params]:
        x, y = torch.tensor(self.x, dtype=torch.double), torch.tensor(self.y, dtype=torch.double)
        model = self.saas(x, y) if self.how == "saas" else self.model(x, y)
        rows = self.maximise(self.acquisition(model, x, y), n).tolist() if n else []
        return [decode(self.space, row) for row in rows]

    def saas(self, x: Tensor, y: Tensor) -> Model:
        model = SaasFullyBayesianSingleTaskGP(x, y, outcome_transform=Standardize(1))
        fit_fully_bayesian_model_nuts(model, disable_progbar=True)
        return model

    def model(self, x: Tensor, y: Tensor) -> Model:
        sizes = {k: len(values) for k, values in self.positions("categorical").items()}
        encoders = {k: partial(one_hot, num_classes=size) for k, size in sizes.items()}
        transform = NumericToCategoricalEncoding(len(self.space), sizes, encoders) if sizes else None
        model = SingleTaskGP(x, y, input_transform=transform)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def acquisition(self, model: Model, x: Tensor, y: Tensor) -> AcquisitionFunction:
        if self.how == "qlognei":
            return qLogNoisyExpectedImprovement(model, X_baseline=x, prune_baseline=True)
        return qLogExpectedImprovement(model, best_f=y.max())

    def maximise(self, acquisition: AcquisitionFunction, n: int) -> Tensor:
        integers, categories = self.positions("int"), self.positions("categorical")
        highest = [categories[k][-1] if k in categories else 1.0 for k in range(len(self.space))]
        bounds = torch.tensor([[0.0] * len(highest), highest], dtype=torch.double)
        if integers or categories:
            found, _ = optimize_acqf_mixed_alternating(
                acquisition, bounds, integers, categories, q=n, **EFFORT
            )
        else:
            found, _ = optimize_acqf(acquisition, bounds, q=n, sequential=True, **EFFORT)
        return found

    def positions(self, kind: str) -> dict[int, list[float]]:
        """Column -> what it may hold, of all dimensions of a kind."""
        return {k: levels(d) for k, d in enumerate(self.space) if d["type"] == kind}


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    serve("botorch", lambda setup: Greedy(setup, sys.argv[1]))
