"""Ray Tune and Ray's joblib backend for real: a local Ray that runs, is stopped, and goes on."""

import gc
import json
import os
import signal
import time
import warnings

import joblib
import pytest

tune = pytest.importorskip("ray.tune", reason="ray[tune] is not installed: pip install 'covey[ray]'")
ray = pytest.importorskip("ray")

from ray.tune.search import ConcurrencyLimiter  # noqa: E402

from covey.integrations.ray import CoveySearch  # noqa: E402

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]

SPACE = {
    "x": tune.uniform(0, 1),
    "net": {"depth": tune.randint(1, 5), "kind": tune.choice(["a", "b"])},
    "data": "mnist",
}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Or else Tune ends a run with a trial that does not report the metric.
        patch.setenv("TUNE_DISABLE_STRICT_METRIC_CHECKING", "1")
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        yield
        ray.shutdown()
        gc.collect()  # of Ray's processes that still end: the warnings of that are ignored only here


def quadratic(config):
    assert config["data"] == "mnist"
    if config["x"] > 0.9:
        raise ValueError("diverged")
    if config["x"] > 0.8:
        return {"other": 1.0}
    return {"loss": (config["x"] - 0.3) ** 2 + 0.1 * config["net"]["depth"]}


def tuner(search, tmp_path, samples, **settings):
    return tune.Tuner(
        quadratic,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            search_alg=search, metric="loss", mode="min", num_samples=samples, **settings
        ),
        run_config=tune.RunConfig(name="run", storage_path=str(tmp_path), verbose=0),
    )


def test_a_tuner_finds_a_good_configuration_and_survives_failures(tmp_path):
    search = CoveySearch(seed=0, points_to_evaluate=[{"x": 0.95, "net": {"depth": 4, "kind": "a"}}])
    results = tuner(search, tmp_path, 16, max_concurrent_trials=2).fit()
    assert len(results) == 16
    assert results.num_errors >= 1
    best = results.get_best_result()
    assert best.metrics["loss"] < 0.2
    assert best.config["data"] == "mnist"
    assert {trial.state for trial in search._optimizer.trials} == {"complete", "failed"}


def test_a_concurrency_limiter_in_batches(tmp_path):
    search = CoveySearch(seed=0)
    limited = ConcurrencyLimiter(search, max_concurrent=2, batch=True)
    assert len(tuner(limited, tmp_path, 6).fit()) == 6
    assert len(search._optimizer.trials) == 6
    assert not search._live


class Interrupt(tune.Callback):
    """Ctrl-C after some trials are through."""

    def __init__(self, after):
        self.left = after

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)


def states(folder):
    """What the searchers saved, oldest session first."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("searcher-state-*.json"))]


def test_a_run_that_was_stopped_goes_on_when_it_is_restored(tmp_path):
    def slow(config):
        time.sleep(config["seconds"])
        return {"loss": (config["x"] - 0.3) ** 2}

    tune.Tuner(
        slow,
        param_space={"x": tune.uniform(0, 1), "seconds": 0.5},
        tune_config=tune.TuneConfig(
            search_alg=CoveySearch(seed=0), metric="loss", mode="min", num_samples=12, max_concurrent_trials=2
        ),
        run_config=tune.RunConfig(
            name="run", storage_path=str(tmp_path), verbose=0, callbacks=[Interrupt(after=6)]
        ),
    ).fit()
    (stopped,) = states(tmp_path / "run")
    assert stopped["live"], "nothing was in flight"
    assert 6 <= len(stopped["trials"]) < 12

    results = tune.Tuner.restore(str(tmp_path / "run"), trainable=slow, resume_unfinished=True).fit()
    assert len(results) == 12
    assert results.num_errors == 0
    last = states(tmp_path / "run")[-1]
    assert last["seed"] == stopped["seed"]
    assert not last["live"]
    assert [trial["state"] for trial in last["trials"]] == ["complete"] * 12
    places = [trial["params"]["x"] for trial in last["trials"]]
    assert places[: len(stopped["trials"])] == [trial["params"]["x"] for trial in stopped["trials"]]
    assert sorted(places) == sorted(result.config["x"] for result in results)


def test_ray_runs_the_fits_of_scikit_learn():
    from ray.util.joblib import register_ray
    from scipy.stats import loguniform
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC

    from covey.integrations.sklearn import CoveySearchCV

    register_ray()
    data = load_iris(return_X_y=True)
    settings = {"param_distributions": {"C": loguniform(1e-3, 1e3)}, "n_iter": 6, "cv": 2, "random_state": 0}
    alone = CoveySearchCV(SVC(), **settings).fit(*data)
    with joblib.parallel_config(backend="ray"):
        spread = CoveySearchCV(SVC(), n_jobs=2, **settings).fit(*data)
    assert spread.cv_results_["params"] == alone.cv_results_["params"]
    assert spread.best_score_ == alone.best_score_
