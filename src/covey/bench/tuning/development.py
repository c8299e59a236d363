"""Tasks that people tune every day: those of the development suite, and some that are held out."""

from __future__ import annotations

from covey.bench.tuning import models
from covey.bench.tuning.held_out import OTHERS
from covey.bench.tuning.tasks import Task
from covey.space import Categorical, Float, Int, Space

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
        *OTHERS,
    )
}
"""By name."""


def task(name: str) -> Task:
    """The task of that name; raises ValueError if there is none."""
    if name not in TASKS:
        raise ValueError(f"task must be one of {list(TASKS)}, got {name!r}")
    return TASKS[name]
