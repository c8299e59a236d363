"""Tuning task: a small model on scikit-learn's own data, cross-validated."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from covey.bench.extras import needed
from covey.bench.tuning.models import Params
from covey.space import Space

LOSSES = {"log-loss": "neg_log_loss", "error": "accuracy", "rmse": "neg_root_mean_squared_error"}
"""What a task minimises -> what scikit-learn maximises."""


@dataclass(frozen=True)
class Task:
    """A model on a data set as a function of its hyper-parameters; a ``Benchmark``.

    Attributes:
        name: how it is called in tables.
        data: of scikit-learn's bundled data sets, ``load_<data>``, or a key of ``MADE``.
        loss: a key of ``LOSSES``; its mean over the folds is the value.
        model: hyper-parameters -> an estimator, without randomness of its own.
        space: what is tuned.
        folds: of cross-validation; shuffled, stratified for a classifier, and always the same.
        rows: the first so many of the data; None takes all.
    """

    name: str
    data: str
    loss: str
    model: Callable[[Params], Any]
    space: Space
    folds: int = 3
    rows: int | None = None

    @property
    def minimum(self) -> float:
        """Not known: minus infinity."""
        return -math.inf

    def __call__(self, params: Params) -> float:
        """The cross-validated loss, on one thread; raises what a fit that fails raises."""
        from threadpoolctl import threadpool_limits

        selection, exceptions = needed("sklearn.model_selection"), needed("sklearn.exceptions")
        kind = selection.KFold if self.loss == "rmse" else selection.StratifiedKFold
        folds = kind(self.folds, shuffle=True, random_state=0)
        x, y = _data(self.data)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow, where a model diverges
            scores = selection.cross_val_score(
                self.model(params),
                x[: self.rows],
                y[: self.rows],
                cv=folds,
                scoring=LOSSES[self.loss],
                error_score="raise",
            )
        return float(1 - scores.mean() if self.loss == "error" else -scores.mean())

    def true(self, params: Params) -> float:
        """The same: everything random has its seed."""
        return self(params)


MADE: dict[str, tuple[str, Params]] = {
    "friedman": ("make_friedman1", {"n_samples": 300, "n_features": 10, "noise": 1.0, "random_state": 3}),
    "synth": (
        "make_classification",
        {
            "n_samples": 400,
            "n_features": 20,
            "n_informative": 6,
            "n_classes": 3,
            "flip_y": 0.08,
            "random_state": 5,
        },
    ),
}
"""Data that scikit-learn makes: by which function, with which settings."""


@cache
def _data(name: str) -> tuple[Any, Any]:
    """Features (n, d) and targets (n,), loaded or made once in a process."""
    function, settings = MADE.get(name, (f"load_{name}", {"return_X_y": True}))
    x, y = getattr(needed("sklearn.datasets"), function)(**settings)
    return x, y
