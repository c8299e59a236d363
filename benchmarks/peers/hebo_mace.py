"""HEBO as a peer: the Pareto front of three acquisition functions, on warped inputs and outputs.

python hebo_mace.py
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO
from protocol import Dimension, Params, Setup, serve

KINDS = {("float", False): "num", ("float", True): "pow", ("int", False): "int", ("int", True): "pow_int"}


def parameter(dimension: Dimension) -> Params:
    """As HEBO's design space describes it."""
    if dimension["type"] == "categorical":
        return {"name": dimension["name"], "type": "cat", "categories": dimension["choices"]}
    kind = KINDS[dimension["type"], dimension["log"]]
    return {"name": dimension["name"], "type": kind, "lb": dimension["low"], "ub": dimension["high"]}


class Mace:
    """HEBO with its defaults, but that the initial design stands for its random start."""

    def __init__(self, setup: Setup) -> None:
        np.random.seed(setup.seed)  # noqa: NPY002  (it draws from the global generators)
        torch.manual_seed(setup.seed)
        self.space = setup.space
        space = DesignSpace().parse([parameter(d) for d in setup.space])
        self.optimizer = HEBO(space, rand_sample=setup.initial, scramble_seed=setup.seed)

    def ask(self, n: int) -> list[Params]:
        frame = self.optimizer.suggest(n_suggestions=n)
        return [
            {d["name"]: _value(d, row[d["name"]]) for d in self.space} for row in frame.to_dict("records")
        ]

    def tell(self, params: list[Params], values: list[float]) -> None:
        frame = pd.DataFrame(params, columns=[d["name"] for d in self.space])
        self.optimizer.observe(frame, np.array(values).reshape(-1, 1))


def _value(dimension: Dimension, value: float) -> float:
    """Within bounds again: HEBO calculates in single precision."""
    if dimension["type"] == "categorical":
        return value
    exact = min(max(value, dimension["low"]), dimension["high"])
    return int(exact) if dimension["type"] == "int" else float(exact)


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    serve("HEBO", Mace)
