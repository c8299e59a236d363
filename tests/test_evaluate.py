"""One evaluation: a value or a failure, never an exception."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

import covey
from covey.run.evaluate import evaluate, takes_trial
from covey.trial import Evaluation


class Liar:
    """Something whose conversion to a float raises an error of its own."""

    def __float__(self):
        raise ZeroDivisionError("no number here")


@pytest.mark.parametrize("value", [1, 2.5, np.float32(0.5), np.int64(3), np.array(4.0)])
def test_numbers_of_every_kind_become_floats(value):
    evaluation = evaluate(lambda params: value, {})
    assert type(evaluation.result) is float
    assert evaluation.result == value


def test_the_objective_gets_a_dict_of_its_own():
    params = {"x": 1.0}
    evaluate(lambda own: own.clear() or 1.0, params)
    assert params == {"x": 1.0}


class Fitting:
    """An objective with a second argument that is its own."""

    def __call__(self, params, scale=2.0):
        return scale


@pytest.mark.parametrize(
    "objective", [lambda p: 1.0, lambda p, scale=2.0: scale, lambda *p: 1.0, Fitting(), [].append]
)
def test_an_objective_that_can_do_without_does_not_get_its_trial(objective):
    assert not takes_trial(objective)


@pytest.mark.parametrize(
    "objective", [lambda p, t: 1.0, partial(lambda a, p, t: 1.0, 3), lambda p, t, *rest: 1.0]
)
def test_an_objective_with_a_second_argument_gets_its_trial(objective):
    assert takes_trial(objective)
    assert evaluate(objective, {}, covey.Trial(3, {})).result == 1.0


@pytest.mark.parametrize("objective", [lambda: 1.0, lambda p, t, more: 1.0, lambda p, *, scale: scale, 3.0])
def test_what_can_be_called_neither_way_is_refused(objective):
    with pytest.raises(TypeError, match="objective must"):
        takes_trial(objective)


def test_an_exception_is_a_failure_with_its_traceback():
    def objective(params):
        return 1 / params["zero"]

    result = evaluate(objective, {"zero": 0}).result
    assert isinstance(result, covey.Failure)
    assert result.reason.startswith("Traceback")
    assert "in objective" in result.reason
    assert result.reason.endswith("ZeroDivisionError: division by zero")


def test_system_exit_is_a_failure_and_ctrl_c_is_not():
    def stop(error):
        raise error

    assert "SystemExit: 4" in evaluate(lambda p: stop(SystemExit(4)), {}).result.reason
    with pytest.raises(KeyboardInterrupt):
        evaluate(lambda p: stop(KeyboardInterrupt()), {})


@pytest.mark.parametrize("value", [math.nan, -math.inf, 10**400])
def test_what_is_not_finite_is_a_failure(value):
    assert isinstance(evaluate(lambda p: value, {}).result, covey.Failure)


@pytest.mark.parametrize("value", [None, "1.0", b"1", True, 1j, [1.0], (), {}, object()])
def test_what_is_no_number_is_a_failure_that_shows_it(value):
    result = evaluate(lambda p: value, {}).result
    assert "not a number" in result.reason
    assert repr(value) in result.reason


def test_a_long_nonsense_is_shown_in_part():
    assert len(evaluate(lambda p: "a" * 100_000, {}).result.reason) < 1000


def test_a_failure_can_be_returned():
    assert evaluate(lambda p: covey.Failure("diverged"), {}).result == covey.Failure("diverged")


def test_a_value_that_breaks_when_it_is_looked_at_is_a_failure():
    assert "no number here" in evaluate(lambda p: Liar(), {}).result.reason


def test_the_time_is_taken_and_the_evaluation_travels():
    import time

    evaluation = evaluate(lambda p: time.sleep(0.05) or 1.0, {})
    assert 0.05 <= evaluation.seconds < 5
    assert pickle.loads(pickle.dumps(evaluation)) == evaluation
    assert evaluate(lambda p: 1.0, {}) != Evaluation(2.0, 0.0)
