"""Boosting by XGBoost as a benchmark: the paper's space and its validation loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from covey.bench.extras import needed
from covey.bench.tuning.higgs import Source
from covey.bench.tuning.rows import Rows
from covey.errors import BadData
from covey.space import Float, Int, Space

SPACE = Space(
    {
        "rounds": Int(16, 256),
        "eta": Float(0.1, 1.0),
        "max_depth": Int(2, 8),
        "lambda": Float(1e-2, 1e7, log=True),
        "colsample_bytree": Float(0.1, 1.0),
    }
)
"""The paper's (its table of hyper-parameter domains); it does not say that lambda is on a log scale."""

ITERATIONS, BATCH = 20, 20
"""T and M of the paper's figure 5."""

METHODS = ("sequential", "ats", "j-ats", "h-ats", "lp", "b-lcb", "ats-b-lcb", "p-ts")
"""By default."""

ACQUISITION = "lcb"
"""For methods without one of their own: P-TS has."""

_LEAST = 1e-7
"""Probability of a label: a float32 that is certain and wrong must not make the loss infinite."""

FIXED = {
    "objective": "binary:logistic",
    "tree_method": "hist",
    "max_bin": 64,
    "nthread": 1,
    "seed": 0,
    "verbosity": 0,
}
"""What is not tuned; one thread, because runs are the parallelism."""


@dataclass(frozen=True)
class Boosting:
    """XGBoost's validation log-loss as a function of five hyper-parameters; a ``Benchmark``.

    Attributes:
        source: of the data.
    """

    source: Source

    @property
    def name(self) -> str:
        """Says whether the data are real."""
        return f"xgboost-{self.source.name}"

    @property
    def space(self) -> Space:
        """The paper's."""
        return SPACE

    @property
    def minimum(self) -> float:
        """Not known: minus infinity."""
        return -math.inf

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The mean log-loss on the validation set; deterministic."""
        train, valid, labels = _matrices(self.source)
        tuned = {name: value for name, value in params.items() if name != "rounds"}
        booster = needed("xgboost").train(FIXED | tuned, train, num_boost_round=params["rounds"])
        return log_loss(labels, booster.predict(valid))

    def true(self, params: Mapping[str, Any]) -> float:
        """The same: there is no noise."""
        return self(params)


@lru_cache(maxsize=1)
def _matrices(source: Source) -> tuple[Any, Any, Rows]:
    """The training and the validation matrix, and its labels (m,); made once in a process."""
    xgboost, data = needed("xgboost"), source.split()
    if len(set(data.y_train.tolist())) < 2:
        raise BadData(f"all {len(data.y_train)} training labels are the same: raise --train")
    train = xgboost.QuantileDMatrix(data.x_train, data.y_train, max_bin=FIXED["max_bin"], nthread=1)
    return train, xgboost.DMatrix(data.x_valid, nthread=1), data.y_valid


def log_loss(labels: Rows, probability: Rows) -> float:
    """The mean of -log p(label), with p kept away from 0; labels and probabilities (m,)."""
    right = np.where(labels == 1, probability, 1 - probability.astype(float))
    return float(-np.log(np.clip(right, _LEAST, 1)).mean())
