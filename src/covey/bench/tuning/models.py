"""Models that the tasks tune: scikit-learn's, from hyper-parameters; every seed is fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from covey.bench.extras import needed

Params: TypeAlias = Mapping[str, Any]


def _scaled(*steps: Any) -> Any:
    return needed("sklearn.pipeline").make_pipeline(needed("sklearn.preprocessing").StandardScaler(), *steps)


def boosting(p: Params) -> Any:
    """Gradient boosted trees."""
    return needed("sklearn.ensemble").HistGradientBoostingClassifier(
        **p, early_stopping=False, random_state=0
    )


def svm(p: Params) -> Any:
    """A support vector machine."""
    return _scaled(needed("sklearn.svm").SVC(**p, degree=2))


def network(p: Params) -> Any:
    """Layers of the same size, trained briefly by Adam."""
    sizes = {"hidden_layer_sizes": (p["hidden"],) * p["layers"]}
    rest = {name: value for name, value in p.items() if name not in ("hidden", "layers")}
    return _scaled(
        needed("sklearn.neural_network").MLPClassifier(**rest, **sizes, max_iter=40, random_state=0)
    )


def forest(p: Params) -> Any:
    """A random forest."""
    return needed("sklearn.ensemble").RandomForestRegressor(**p, n_jobs=1, random_state=0)


def elastic(p: Params) -> Any:
    """A linear model of polynomials."""
    preprocessing, pipeline = needed("sklearn.preprocessing"), needed("sklearn.pipeline")
    features = preprocessing.PolynomialFeatures(p["degree"], include_bias=False)
    scaler = getattr(preprocessing, f"{p['scaler']}Scaler")()
    model = needed("sklearn.linear_model").ElasticNet(
        alpha=p["alpha"], l1_ratio=p["l1_ratio"], selection=p["selection"], random_state=0
    )
    return pipeline.make_pipeline(features, scaler, model)


def linear(p: Params) -> Any:
    """Logistic regression by stochastic gradient descent."""
    model = needed("sklearn.linear_model").SGDClassifier(**p, loss="log_loss", tol=None, random_state=0)
    return _scaled(model)


_LONGEST = 20_000
"""Iterations after which a support vector machine gives up: a few of its settings would take minutes."""


def _weight(name: str) -> str | None:
    return None if name == "none" else name


def svm_regression(p: Params) -> Any:
    """A support vector machine for regression."""
    return _scaled(needed("sklearn.svm").SVR(**p, max_iter=_LONGEST))


def weighted_svm(p: Params) -> Any:
    """A support vector machine that may weigh classes."""
    rest = {name: value for name, value in p.items() if name != "w"}
    return _scaled(needed("sklearn.svm").SVC(**rest, class_weight=_weight(p["w"]), max_iter=_LONGEST))


def components_svm(p: Params) -> Any:
    """A support vector machine of principal components."""
    components = needed("sklearn.decomposition").PCA(p["components"], whiten=p["whiten"], random_state=0)
    model = needed("sklearn.svm").SVC(C=p["C"], gamma=p["gamma"], class_weight=_weight(p["weight"]))
    return _scaled(components, model)


def logistic(p: Params) -> Any:
    """Logistic regression."""
    return _scaled(
        needed("sklearn.linear_model").LogisticRegression(
            C=p["C"],
            l1_ratio=p["l1_ratio"],
            fit_intercept=p["b"],
            class_weight=_weight(p["w"]),
            solver="saga",
            max_iter=200,
            random_state=0,
        )
    )


def forest_classifier(p: Params) -> Any:
    """A random forest of classification trees."""
    return needed("sklearn.ensemble").RandomForestClassifier(**p, random_state=0)


def extra_trees(p: Params) -> Any:
    """Extremely randomised trees."""
    return needed("sklearn.ensemble").ExtraTreesRegressor(**p, random_state=0)


def stages(p: Params) -> Any:
    """Gradient boosting, tree by tree."""
    return needed("sklearn.ensemble").GradientBoostingClassifier(**p, random_state=0)


def tree(p: Params) -> Any:
    """A single decision tree."""
    return needed("sklearn.tree").DecisionTreeClassifier(**p, random_state=0)


def kernel_ridge(p: Params) -> Any:
    """Ridge regression with a kernel."""
    return _scaled(needed("sklearn.kernel_ridge").KernelRidge(**p))


def network_regression(p: Params) -> Any:
    """A regression by layers of the same size, trained briefly."""
    return _scaled(
        needed("sklearn.neural_network").MLPRegressor(
            hidden_layer_sizes=(p["hidden"],) * p["layers"],
            alpha=p["alpha"],
            learning_rate_init=p["lr"],
            activation=p["activation"],
            max_iter=60,
            random_state=0,
        )
    )
