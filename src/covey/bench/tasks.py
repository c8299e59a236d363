"""What do people tune every day? Small models on scikit-learn's own data, cross-validated."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from covey.bench import models
from covey.bench.extras import needed
from covey.bench.models import Params
from covey.space import Categorical, Float, Int, Space

LOSSES = {"log-loss": "neg_log_loss", "error": "accuracy", "rmse": "neg_root_mean_squared_error"}
"""What a task minimises -> what scikit-learn maximises."""


@dataclass(frozen=True)
class Task:
    """A model on a data set as a function of its hyper-parameters; a ``Benchmark``.

    Attributes:
        name: how it is called in tables.
        data: of scikit-learn's bundled data sets: ``load_<data>``.
        loss: a key of ``LOSSES``; its mean over the folds is the value.
        model: hyper-parameters -> an estimator, without randomness of its own.
        space: what is tuned.
        folds: of cross-validation; shuffled, stratified for a classifier, and always the same.
    """

    name: str
    data: str
    loss: str
    model: Callable[[Params], Any]
    space: Space
    folds: int = 3

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
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow, where a model diverges
            scores = selection.cross_val_score(
                self.model(params),
                *_data(self.data),
                cv=folds,
                scoring=LOSSES[self.loss],
                error_score="raise",
            )
        return float(1 - scores.mean() if self.loss == "error" else -scores.mean())

    def true(self, params: Params) -> float:
        """The same: everything random has its seed."""
        return self(params)


@cache
def _data(name: str) -> tuple[Any, Any]:
    """Features (n, d) and targets (n,), loaded once in a process."""
    loader = getattr(needed("sklearn.datasets"), f"load_{name}")
    x, y = loader(return_X_y=True)
    return x, y


_RATE = Float(1e-4, 1.0, log=True)

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            "boosting-breast-cancer",
            "breast_cancer",
            "log-loss",
            models.boosting,
            Space(
                {
                    "max_iter": Int(8, 128, log=True),
                    "learning_rate": Float(0.01, 1.0, log=True),
                    "max_leaf_nodes": Int(2, 32, log=True),
                    "min_samples_leaf": Int(2, 64, log=True),
                    "l2_regularization": Float(1e-4, 1e3, log=True),
                    "max_features": Float(0.1, 1.0),
                }
            ),
        ),
        Task(
            "svm-digits",
            "digits",
            "error",
            models.svm,
            Space(
                {
                    "C": Float(1e-3, 1e3, log=True),
                    "gamma": Float(1e-5, 1.0, log=True),
                    "kernel": Categorical(["linear", "poly", "rbf"]),
                }
            ),
        ),
        Task(
            "mlp-wine",
            "wine",
            "log-loss",
            models.network,
            Space(
                {
                    "learning_rate_init": _RATE,
                    "alpha": Float(1e-6, 10.0, log=True),
                    "hidden": Int(2, 64, log=True),
                    "layers": Int(1, 3),
                    "batch_size": Int(8, 64, log=True),
                    "activation": Categorical(["relu", "tanh", "logistic"]),
                }
            ),
        ),
        Task(
            "forest-diabetes",
            "diabetes",
            "rmse",
            models.forest,
            Space(
                {
                    "n_estimators": Int(8, 128, log=True),
                    "max_depth": Int(1, 16),
                    "max_features": Float(0.1, 1.0),
                    "min_samples_leaf": Int(1, 64, log=True),
                    "criterion": Categorical(["squared_error", "poisson"]),
                }
            ),
        ),
        Task(
            "elastic-diabetes",
            "diabetes",
            "rmse",
            models.elastic,
            Space(
                {
                    "alpha": Float(1e-3, 100.0, log=True),
                    "l1_ratio": Float(0.0, 1.0),
                    "degree": Int(1, 3),
                    "scaler": Categorical(["Standard", "MinMax", "Robust"]),
                    "selection": Categorical(["cyclic", "random"]),
                }
            ),
            folds=5,
        ),
        Task(
            "linear-breast-cancer",
            "breast_cancer",
            "log-loss",
            models.linear,
            Space(
                {
                    "alpha": Float(1e-6, 1.0, log=True),
                    "eta0": _RATE,
                    "max_iter": Int(5, 200, log=True),
                    "penalty": Categorical(["l1", "l2", "elasticnet"]),
                    "learning_rate": Categorical(["constant", "invscaling", "adaptive"]),
                }
            ),
            folds=5,
        ),
    )
}
"""By name."""


def task(name: str) -> Task:
    """The task of that name; raises ValueError if there is none."""
    if name not in TASKS:
        raise ValueError(f"task must be one of {list(TASKS)}, got {name!r}")
    return TASKS[name]
