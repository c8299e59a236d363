"""Trees of parameters in Optuna studies: found in finished trials, and modelled as one."""

import logging

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

from covey.integrations.optuna import CoveySampler
from covey.integrations.optuna.tree import learn_tree

UNIT = FloatDistribution(0.0, 1.0)
KINDS = {
    "kind": CategoricalDistribution(["svm", "net", "knn"]),
    "shared": UNIT,
    "gamma": UNIT,
    "layers": IntDistribution(1, 3),
    "width": UNIT,
    "fine": CategoricalDistribution([True, False]),
}


def trial(**params):
    return create_trial(value=0.0, params=params, distributions={name: KINDS[name] for name in params})


SVM = trial(kind="svm", shared=0.5, gamma=0.1)
NET = trial(kind="net", shared=0.5, layers=1)
DEEP = trial(kind="net", shared=0.5, layers=2, width=0.3)
KNN = trial(kind="knn", shared=0.1)


def test_a_parameter_depends_on_what_explains_it():
    tree = learn_tree([SVM, NET, DEEP, KNN])
    assert set(tree.distributions) == {"kind", "shared", "gamma", "layers", "width"}
    assert tree.when == {"gamma": {"kind": {0.0}}, "layers": {"kind": {1.0}}, "width": {"layers": {2.0}}}
    assert tree.unclear == ()


def test_two_parents_may_be_needed():
    trials = [
        trial(kind="svm", fine=True, gamma=0.1),
        trial(kind="svm", fine=False),
        trial(kind="net", fine=True, layers=1),
        trial(kind="net", fine=False, layers=1),
    ]
    assert learn_tree(trials).when["gamma"] == {"kind": {0.0}, "fine": {0.0}}


def test_what_nothing_explains_is_left_out_and_named():
    tree = learn_tree([trial(shared=0.1, gamma=0.2), trial(shared=0.1), trial(shared=0.3, gamma=0.2)])
    assert set(tree.distributions) == {"shared"}
    assert tree.unclear == ("gamma",)


def test_a_parameter_with_two_ranges_is_left_out():
    other = create_trial(value=0.0, params={"shared": 3.0}, distributions={"shared": FloatDistribution(0, 9)})
    assert learn_tree([KNN, other]).distributions == {}


def test_a_study_without_trials_has_no_tree():
    assert learn_tree([]).distributions == {}


def objective(trial):
    kind = trial.suggest_categorical("kind", ["a", "b", "c"])
    shared = (trial.suggest_float("s", 0, 1) - 0.37) ** 2
    if kind == "a":
        return shared + 0.1 + (trial.suggest_float("a1", 0, 1) - 0.2) ** 2
    if kind == "b":
        off = (trial.suggest_float("b1", 0, 1) - 0.15) ** 2 + (trial.suggest_float("b2", 0, 1) - 0.85) ** 2
        return shared + 3 * off
    return shared + 0.05 + 0.1 * abs(trial.suggest_float("c1", 1e-4, 1, log=True) - 0.005)


@pytest.mark.parametrize("storage", [None, "sqlite"])
def test_the_whole_tree_is_optimised_as_one(tmp_path, storage, caplog):
    url = None if storage is None else f"sqlite:///{tmp_path}/study.db"
    study = optuna.create_study(sampler=CoveySampler(seed=1), storage=url)
    with caplog.at_level(logging.WARNING, "covey.optuna"):
        study.optimize(objective, n_trials=35)
    assert study.best_value < 0.02
    assert study.best_params["kind"] == "b"
    assert not [record for record in caplog.records if record.name == "covey.optuna"]


def test_an_enqueued_branch_is_taken_and_what_it_lacks_is_drawn():
    study = optuna.create_study(sampler=CoveySampler(seed=1))
    study.optimize(objective, n_trials=8)
    study.enqueue_trial({"kind": "c", "s": 0.37, "c1": 0.005})
    study.enqueue_trial({"kind": "a"})
    study.optimize(objective, n_trials=2)
    assert study.trials[8].params == {"kind": "c", "s": 0.37, "c1": 0.005}
    assert study.trials[9].params["kind"] == "a"
    assert set(study.trials[9].params) == {"kind", "s", "a1"}


def test_what_comes_and_goes_is_said_once(caplog):
    def moody(trial):
        value = trial.suggest_float("x", 0, 1)
        return value + (trial.suggest_float("sometimes", 0, 1) if trial.number % 2 else 0.0)

    study = optuna.create_study(sampler=CoveySampler(seed=1))
    with caplog.at_level(logging.WARNING, "covey.optuna"):
        study.optimize(moody, n_trials=8)
    said = [record.getMessage() for record in caplog.records if record.name == "covey.optuna"]
    assert said == ["sometimes is drawn at random: nothing shows when the objective asks for it"]


def test_failures_are_learned_from_in_their_branch():
    def fragile(trial):
        if trial.suggest_categorical("kind", ["good", "bad"]) == "bad":
            trial.suggest_float("y", 0, 1)
            raise ValueError("no")
        return trial.suggest_float("x", 0, 1)

    study = optuna.create_study(sampler=CoveySampler(seed=1))
    study.optimize(fragile, n_trials=20, catch=ValueError)
    failed = sum(trial.state == TrialState.FAIL for trial in study.trials)
    assert failed < 8
    assert study.best_value < 0.05
