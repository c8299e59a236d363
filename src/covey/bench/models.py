"""Which models do the tasks tune? Those of scikit-learn, from hyper-parameters; every seed is fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from covey.bench.extras import needed

Params: TypeAlias = Mapping[str, Any]


def _scaled(model: Any) -> Any:
    return needed("sklearn.pipeline").make_pipeline(needed("sklearn.preprocessing").StandardScaler(), model)


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
