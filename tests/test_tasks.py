"""Everyday tasks: mixed spaces, the same value each time, and something to gain by tuning."""

import math
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import covey
from covey.bench.tuning.development import TASKS, task
from covey.bench.tuning.models import svm
from covey.bench.tuning.tasks import LOSSES
from covey.space import Categorical, Float, Int

every = pytest.mark.parametrize("name", TASKS)


def points(space, count, seed=0):
    return [
        trial.params
        for trial in covey.Optimizer(space, initial="random", n_initial=count, seed=seed).ask(count)
    ]


def test_a_task_is_found_by_its_name():
    assert all(task(name) is TASKS[name] and TASKS[name].name == name for name in TASKS)
    with pytest.raises(ValueError, match=r"task must be one of \['boosting-breast-cancer'.*\], got 'chess'"):
        task("chess")


def test_together_they_have_every_kind_of_dimension():
    kinds = [type(d) for one in TASKS.values() for d in one.space.dimensions.values()]
    assert {Float, Int, Categorical} == set(kinds)
    assert set(LOSSES) == {one.loss for one in TASKS.values()}
    assert sum(getattr(d, "log", False) for one in TASKS.values() for d in one.space.dimensions.values()) > 10


@every
def test_values_are_losses_that_depend_on_the_parameters_and_on_nothing_else(name):
    one = task(name)
    assert one.minimum == -math.inf
    chosen = points(one.space, 4)
    values = [one(params) for params in chosen]
    assert all(math.isfinite(value) and value > 0 for value in values)
    assert len(set(values)) > 1
    np.random.seed(1)  # noqa: NPY002  (nothing takes numbers from the global generator)
    assert one.true(chosen[2]) == values[2]


@every
def test_a_task_travels(name):
    assert pickle.loads(pickle.dumps(task(name))) == task(name)
    assert hash(task(name)) == hash(task(name))


def test_another_process_finds_the_same_value():
    name, params = "elastic-diabetes", points(task("elastic-diabetes").space, 1)[0]
    program = f"from covey.bench.tuning.development import task; print(repr(task({name!r})({params!r})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) == task(name)(params)


def test_models_that_do_not_converge_are_quiet_and_filters_are_left_alone():
    one = task("mlp-wine")
    params = {"learning_rate_init": 1.0, "alpha": 1e-6, "hidden": 2, "layers": 1, "batch_size": 64}
    before = list(warnings.filters)
    assert math.isfinite(one(params | {"activation": "tanh"}))
    assert warnings.filters == before


def test_a_fit_that_fails_is_an_exception():
    with pytest.raises(ValueError, match="gamma"):
        task("svm-digits")({"C": 1.0, "gamma": -1.0, "kernel": "rbf"})


def test_the_error_of_digits_is_a_share():
    one = task("svm-digits")
    assert one({"C": 10.0, "gamma": 0.01, "kernel": "rbf"}) < 0.03
    assert one({"C": 1e-3, "gamma": 1.0, "kernel": "rbf"}) > 0.8
    assert svm({"C": 1.0, "gamma": 1.0, "kernel": "rbf"}) is not None


def test_tuning_is_better_than_the_first_points():
    one = task("linear-breast-cancer")
    opt = covey.Optimizer(one.space, seed=0, n_initial=5)
    for _ in range(4):
        trials = opt.ask(4)
        opt.tell(trials, [one(trial.params) for trial in trials])
    values = [trial.value for trial in opt.trials]
    assert min(values[5:]) < min(values[:5])
