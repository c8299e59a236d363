"""CoveySearchCV does what RandomizedSearchCV does, and learns from it."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import covey
from covey.integrations.sklearn import CoveySearchCV

X, Y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-5, 10)}
TEN = {"n_iter": 10, "cv": 2, "random_state": 0}


class Peak(ClassifierMixin, BaseEstimator):
    """Scores best at a place, fails beyond another; fits at once."""

    def __init__(self, a=0.0, b=0.0, limit=np.inf):
        self.a, self.b, self.limit = a, b, limit

    def fit(self, X, y):
        if self.a > self.limit:
            raise ValueError("diverged")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return 1.0 - (self.a - 0.3) ** 2 - (self.b - 0.6) ** 2


PEAK = {"a": uniform(0, 1), "b": uniform(0, 1)}

PCA_AND = [("pca", PCA())]

# As scikit-learn itself has them for RandomizedSearchCV, and one where the model is consulted.
CHECKED = {
    "ridge": (Ridge(), {"alpha": [0.1, 1.0]}),
    "logistic": (LogisticRegression(), {"C": [0.1, 1.0]}),
    "pca-ridge": (Pipeline([*PCA_AND, ("ridge", Ridge())]), {"ridge__alpha": [0.1, 1.0]}),
    "pca-logistic": (Pipeline([*PCA_AND, ("logistic", LogisticRegression())]), {"logistic__C": [0.1, 1.0]}),
    "model": (Ridge(), {"alpha": loguniform(1e-3, 1e3)}),
}
QUICK = ["ridge"]


def checked(search, name):
    """Check -> how it ended; the errors of those that failed."""
    estimator, space = CHECKED[name]
    made = search(estimator, space, n_iter=6, cv=2, error_score="raise", random_state=0)
    done = check_estimator(made, on_skip=None, on_fail=None)
    return {one["check_name"]: one["status"] for one in done}, [one["exception"] for one in done]


@pytest.mark.filterwarnings("ignore")  # as many as the data of the checks deserve
@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.integration) for name in CHECKED if name not in QUICK)],
)
def test_passes_the_estimator_checks_that_randomized_search_passes(name):
    ours, errors = checked(CoveySearchCV, name)
    theirs, _ = checked(RandomizedSearchCV, name)
    assert list(theirs.values()).count("passed") > 30
    assert ours == theirs, [error for error in errors if error]


def test_has_every_parameter_and_every_result_of_randomized_search():
    settings = {**TEN, "return_train_score": True}
    ours = CoveySearchCV(SVC(), SPACE, **settings).fit(X, Y)
    theirs = RandomizedSearchCV(SVC(), SPACE, **settings).fit(X, Y)
    assert set(theirs.get_params()) <= set(ours.get_params())
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    assert {name for name in vars(theirs) if name.endswith("_")} == {n for n in vars(ours) if n.endswith("_")}
    assert len(ours.cv_results_["params"]) == 10
    assert ours.best_score_ == ours.cv_results_["mean_test_score"].max()
    assert ours.score(X, Y) > 0.9


def test_it_learns_where_the_score_is_best():
    search = CoveySearchCV(Peak(), PEAK, n_iter=20, cv=2, random_state=0).fit(X, Y)
    assert search.best_score_ > 0.999


@pytest.mark.parametrize("batch_size", [1, 3, 10, 50])
def test_rounds_add_up_to_n_iter(batch_size):
    search = CoveySearchCV(Peak(), PEAK, batch_size=batch_size, **TEN).fit(X, Y)
    assert len(search.cv_results_["params"]) == 10


def test_the_same_random_state_gives_the_same_candidates_whatever_runs_them():
    alone = CoveySearchCV(SVC(), SPACE, **TEN).fit(X, Y).cv_results_["params"]
    assert CoveySearchCV(SVC(), SPACE, n_jobs=2, **TEN).fit(X, Y).cv_results_["params"] == alone
    other = CoveySearchCV(SVC(), SPACE, **{**TEN, "random_state": 1}).fit(X, Y)
    assert other.cv_results_["params"] != alone


def test_a_splitter_that_shuffles_gives_every_round_the_same_folds():
    seen = []

    class Remembers(Peak):
        def fit(self, X, y):
            seen.append(X.tobytes())
            return super().fit(X, y)

    CoveySearchCV(
        Remembers(), PEAK, n_iter=6, batch_size=2, cv=KFold(3, shuffle=True), random_state=0, refit=False
    ).fit(X, Y)
    assert len(seen) == 18
    assert len(set(seen)) == 3


def test_a_pipeline_with_steps_to_choose_from():
    pipeline = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
    space = {
        "scale": [StandardScaler(), "passthrough"],
        "svc__C": [0.1, 1, 10],
        "svc__kernel": ["rbf", "linear"],
    }
    search = CoveySearchCV(pipeline, space, **TEN).fit(X, Y)
    assert search.best_score_ > 0.9
    assert len({str(params) for params in search.cv_results_["params"]}) == 10


def test_scipy_distributions_and_covey_dimensions_mix():
    space = {"C": covey.Float(1e-3, 1e3, log=True), "degree": randint(1, 4), "kernel": ["poly"]}
    search = CoveySearchCV(SVC(), space, **TEN).fit(X, Y)
    assert {type(params["degree"]) for params in search.cv_results_["params"]} == {int}
    assert CoveySearchCV(SVC(), covey.Space({"C": covey.Float(0.1, 9)}), **TEN).fit(X, Y).best_score_ > 0.9


def test_clones_and_pickles_before_and_after_fitting():
    search = CoveySearchCV(SVC(), SPACE, strategy="j-ats", acquisition="ei", **TEN)
    assert clone(search).get_params()["strategy"] == "j-ats"
    fitted = clone(search).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert pickle.loads(pickle.dumps(search)).fit(X, Y).best_params_ == fitted.best_params_
    assert not hasattr(clone(fitted), "best_params_")


METRICS = {"accuracy": "accuracy", "small": lambda estimator, X, y: -abs(np.log10(estimator.C) + 2)}


@pytest.mark.parametrize(
    ("refit", "searched"),
    [("small", "small"), ("accuracy", "accuracy"), (False, "accuracy"), (lambda r: 0, "accuracy")],
)
def test_with_several_metrics_refit_names_the_one_that_counts(refit, searched):
    search = CoveySearchCV(SVC(), {"C": loguniform(1e-3, 1e3)}, scoring=METRICS, refit=refit, **TEN).fit(X, Y)
    late = [params["C"] for params in search.cv_results_["params"][5:]]
    assert (np.median(late) < 0.1) == (searched == "small")


def test_several_metrics_from_one_function():
    def both(estimator, X, y):
        return {"one": estimator.score(X, y), "two": -estimator.a}

    search = CoveySearchCV(Peak(), PEAK, scoring=both, refit="two", n_iter=16, cv=2, random_state=0).fit(X, Y)
    assert search.best_params_["a"] < 0.05


@pytest.fixture
def optimizers(monkeypatch):
    """Those that searches make, to look into."""
    made = []

    def make(*given, **settings):
        made.append(covey.Optimizer(*given, **settings))
        return made[-1]

    monkeypatch.setattr("covey.integrations.sklearn.search.Optimizer", make)
    return made


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test")
@pytest.mark.parametrize("batch_size", [1, 4])
def test_fits_that_fail_are_failures_to_the_model(batch_size, optimizers):
    search = CoveySearchCV(Peak(limit=0.5), PEAK, batch_size=batch_size, **TEN).fit(X, Y)
    trials = optimizers[0].trials
    assert {trial.state for trial in trials} == {"complete", "failed"}
    assert all((trial.state == "failed") == (trial.params["a"] > 0.5) for trial in trials)
    assert optimizers[0].best.value == -search.best_score_


def test_a_round_that_fails_as_a_whole_is_told_and_the_search_goes_on():
    with pytest.warns(FitFailedWarning, match="candidates of a round failed"):
        search = CoveySearchCV(Peak(limit=0.5), PEAK, batch_size=1, **TEN).fit(X, Y)
    assert 0 < len(search.cv_results_["params"]) < 10
    assert max(params["a"] for params in search.cv_results_["params"]) <= 0.5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_when_nothing_ever_succeeds_it_says_so():
    with pytest.raises(ValueError, match="fits failed"):
        CoveySearchCV(Peak(limit=-1), PEAK, **TEN).fit(X, Y)


def test_errors_are_raised_when_asked_for_and_other_errors_always():
    with pytest.raises(ValueError, match="diverged"):
        CoveySearchCV(Peak(limit=-1), PEAK, error_score="raise", **TEN).fit(X, Y)
    with pytest.raises(ValueError, match="rubbish"):
        CoveySearchCV(Peak(), {"rubbish": uniform(0, 1)}, **TEN).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_an_error_score_that_is_a_number_is_a_score():
    search = CoveySearchCV(Peak(limit=0.5), PEAK, error_score=-7.0, **TEN).fit(X, Y)
    assert search.cv_results_["mean_test_score"].min() == -7.0


def test_a_space_with_too_few_configurations_is_tried_as_a_whole():
    with pytest.warns(UserWarning, match="fewer than n_iter=10"):
        search = CoveySearchCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["rbf", "linear"]}, **TEN).fit(X, Y)
    assert len({str(params) for params in search.cv_results_["params"]}) == 6


@pytest.mark.parametrize(
    "wrong",
    [{"n_iter": 0}, {"batch_size": 0}, {"strategy": 3}, {"strategy": "no such"}, {"acquisition": "no such"},
     {"param_distributions": [SPACE]}, {"param_distributions": {"C": 3}}],
)  # fmt: skip
def test_wrong_settings_are_told_by_fit_and_not_before(wrong):
    search = CoveySearchCV(SVC(), SPACE, **TEN).set_params(**wrong)
    with pytest.raises((ValueError, TypeError)):
        search.fit(X, Y)


def test_groups_and_sample_weights_reach_the_splitter_and_the_fits():
    from sklearn.model_selection import GroupKFold

    groups = np.arange(len(Y)) % 5
    search = CoveySearchCV(
        Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n_iter=4, cv=GroupKFold(5), random_state=0
    )
    search.fit(X, Y, groups=groups, sample_weight=np.ones(len(Y)))
    assert search.n_splits_ == 5


def test_regression_without_a_refit_keeps_the_best_parameters():
    data = make_regression(60, 5, noise=1.0, random_state=0)
    search = CoveySearchCV(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, refit=False, **TEN).fit(*data)
    assert "alpha" in search.best_params_
    assert not hasattr(search, "best_estimator_")


def test_callbacks_are_told_of_rounds(capsys):
    callbacks = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    search = CoveySearchCV(LogisticRegression(max_iter=1000), {"C": loguniform(1e-3, 1)}, **TEN)
    search.set_callbacks(callbacks.ProgressBar()).fit(X, Y)
    assert len(search.cv_results_["params"]) == 10
    told = capsys.readouterr().out
    assert "CoveySearchCV - round #2" in told
    assert "CoveySearchCV - refit" in told


@pytest.fixture
def dask_client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask_runs_the_fits(dask_client):
    data = make_classification(80, 5, random_state=0)
    alone = CoveySearchCV(SVC(), SPACE, n_iter=6, cv=2, random_state=0).fit(*data)
    with joblib.parallel_config(backend="dask"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own
        spread = CoveySearchCV(SVC(), SPACE, n_iter=6, cv=2, random_state=0, n_jobs=-1).fit(*data)
    assert spread.cv_results_["params"] == alone.cv_results_["params"]
    assert spread.best_score_ == alone.best_score_
