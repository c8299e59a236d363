"""Tasks that are held out: other models on other data, on which nothing is developed."""

from __future__ import annotations

from covey.bench.tuning import models
from covey.bench.tuning.tasks import Task
from covey.space import Categorical, Float, Int, Space

_WEIGHTS = Categorical(["none", "balanced"])

_SVM_REGRESSION = Space(
    {
        "C": Float(1e-2, 1e3, log=True),
        "gamma": Float(1e-5, 10.0, log=True),
        "epsilon": Float(1e-2, 100.0, log=True),
        "kernel": Categorical(["rbf", "poly", "sigmoid"]),
    }
)
_LOGISTIC = Space(
    {
        "C": Float(1e-4, 1e4, log=True),
        "l1_ratio": Float(0.0, 1.0),
        "b": Categorical([True, False]),
        "w": _WEIGHTS,
    }
)
_WEIGHTED_SVM = Space(
    {
        "C": Float(1e-3, 1e3, log=True),
        "gamma": Float(1e-5, 10.0, log=True),
        "kernel": Categorical(["rbf", "sigmoid", "linear", "poly"]),
        "w": _WEIGHTS,
    }
)
_FOREST = Space(
    {
        "n_estimators": Int(5, 60, log=True),
        "max_depth": Int(1, 12),
        "max_features": Float(0.05, 1.0),
        "min_samples_split": Float(0.01, 0.5),
        "criterion": Categorical(["gini", "entropy"]),
    }
)
_EXTRA_TREES = Space(
    {
        "n_estimators": Int(5, 60, log=True),
        "max_depth": Int(1, 20),
        "max_features": Float(0.1, 1.0),
        "min_samples_leaf": Int(1, 30, log=True),
        "bootstrap": Categorical([True, False]),
    }
)
_KERNEL_RIDGE = Space(
    {
        "alpha": Float(1e-4, 1e2, log=True),
        "gamma": Float(1e-4, 10.0, log=True),
        "kernel": Categorical(["rbf", "laplacian", "poly", "linear"]),
        "degree": Int(1, 5),
        "coef0": Float(0.0, 5.0),
    }
)
_NETWORK = Space(
    {
        "hidden": Int(2, 64, log=True),
        "layers": Int(1, 3),
        "alpha": Float(1e-6, 10.0, log=True),
        "lr": Float(1e-4, 0.3, log=True),
        "activation": Categorical(["relu", "tanh", "logistic", "identity"]),
    }
)
_STAGES = Space(
    {
        "n_estimators": Int(5, 40, log=True),
        "learning_rate": Float(0.01, 1.0, log=True),
        "max_depth": Int(1, 6),
        "subsample": Float(0.3, 1.0),
        "max_features": Float(0.1, 1.0),
        "min_samples_leaf": Int(1, 40, log=True),
    }
)
_COMPONENTS = Space(
    {
        "components": Int(2, 60, log=True),
        "whiten": Categorical([True, False]),
        "C": Float(1e-2, 1e3, log=True),
        "gamma": Float(1e-5, 1.0, log=True),
        "weight": _WEIGHTS,
    }
)
_TREE = Space(
    {
        "max_depth": Int(1, 20),
        "min_samples_leaf": Int(1, 100, log=True),
        "ccp_alpha": Float(1e-5, 0.1, log=True),
        "max_features": Float(0.05, 1.0),
        "criterion": Categorical(["gini", "entropy", "log_loss"]),
    }
)

OTHERS = (
    Task("svr-diabetes", "diabetes", "rmse", models.svm_regression, _SVM_REGRESSION),
    Task("logistic-wine", "wine", "log-loss", models.logistic, _LOGISTIC),
    Task("svm-breast", "breast_cancer", "error", models.weighted_svm, _WEIGHTED_SVM),
    Task("forest-wine", "wine", "log-loss", models.forest_classifier, _FOREST),
    Task("trees-friedman", "friedman", "rmse", models.extra_trees, _EXTRA_TREES),
    Task("ridge-friedman", "friedman", "rmse", models.kernel_ridge, _KERNEL_RIDGE),
    Task("mlp-friedman", "friedman", "rmse", models.network_regression, _NETWORK),
    Task("gbm-synth", "synth", "log-loss", models.stages, _STAGES),
    Task("pcasvm-digits", "digits", "error", models.components_svm, _COMPONENTS, rows=700),
    Task("tree-breast", "breast_cancer", "log-loss", models.tree, _TREE),
)
"""The rows of the table."""
