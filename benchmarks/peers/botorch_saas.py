"""How long does BoTorch's fully Bayesian model take? SaasFullyBayesianSingleTaskGP at its defaults, fit only.

python botorch_saas.py
"""

from __future__ import annotations

import warnings

import torch
from botorch.fit import fit_fully_bayesian_model_nuts
from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP
from botorch.models.transforms import Standardize
from cube import encode
from protocol import Params, Setup, serve


class Saas:
    """Fits when it is asked, and proposes nothing: the fit is what is timed."""

    def __init__(self, setup: Setup) -> None:
        torch.manual_seed(setup.seed)
        self.space = setup.space
        self.x: list[list[float]] = []
        self.y: list[list[float]] = []

    def tell(self, params: list[Params], values: list[float]) -> None:
        self.x += [encode(self.space, one) for one in params]
        self.y += [[-value] for value in values]

    def ask(self, _n: int) -> list[Params]:
        x, y = torch.tensor(self.x, dtype=torch.double), torch.tensor(self.y, dtype=torch.double)
        model = SaasFullyBayesianSingleTaskGP(x, y, outcome_transform=Standardize(1))
        fit_fully_bayesian_model_nuts(model, disable_progbar=True)
        return []


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    serve("botorch", Saas)
