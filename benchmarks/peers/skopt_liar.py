"""Scikit-optimize as a peer: a Gaussian process with GP-Hedge, batches by the constant liar cl_min.

python skopt_liar.py
"""

from __future__ import annotations

import warnings

import skopt
from protocol import Dimension, Params, Setup, serve
from skopt.space import Categorical, Integer, Real


def parameter(dimension: Dimension) -> Categorical | Integer | Real:
    name = dimension["name"]
    if dimension["type"] == "categorical":
        return Categorical(dimension["choices"], name=name)
    prior = "log-uniform" if dimension["log"] else "uniform"
    kind = Real if dimension["type"] == "float" else Integer
    return kind(dimension["low"], dimension["high"], prior=prior, name=name)


class Liar:
    """skopt.Optimizer with its defaults, but that the initial design stands for its random start."""

    def __init__(self, setup: Setup) -> None:
        self.names = [d["name"] for d in setup.space]
        dimensions = [parameter(d) for d in setup.space]
        self.optimizer = skopt.Optimizer(dimensions, n_initial_points=setup.initial, random_state=setup.seed)

    def ask(self, n: int) -> list[Params]:
        rows = [self.optimizer.ask()] if n == 1 else self.optimizer.ask(n_points=n, strategy="cl_min")
        return [dict(zip(self.names, row, strict=True)) for row in rows]

    def tell(self, params: list[Params], values: list[float]) -> None:
        self.optimizer.tell([[one[name] for name in self.names] for one in params], values)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve("scikit-optimize", Liar)
