"""Points that are chosen by a bound: which, how many, and that a user's own function is left alone."""

from collections import Counter

import numpy as np
import pytest

import covey
from covey.acquisition import ACQUISITIONS
from covey.mixture import BOUND, MIXTURES

SPACE = covey.Space({"x": covey.Float(0, 1), "y": covey.Float(0, 1)})
LOG_EI = ACQUISITIONS["log-ei"]


def names(batches, strategy="auto", acquisition=None, size=8, **settings):
    """The acquisition functions that points of later batches were chosen by."""
    found = []
    optimizer = covey.Optimizer(SPACE, covey.strategy(strategy, s=2, **settings), acquisition, seed=1)
    for _ in range(batches + 1):
        trials = optimizer.ask(size)
        optimizer.tell(trials, [(t.params["x"] - 0.3) ** 2 + t.params["y"] for t in trials])
        found.append([t.origin.acquisition for t in trials if t.origin.strategy != "initial"])
    return found[1:]


def assert_share(share, pending, dimensions):
    """Of the points so many are chosen by the bound, within four standard errors."""
    rng, draws = np.random.default_rng(pending), 4000
    chosen = Counter(MIXTURES["bound"](LOG_EI, pending, dimensions, rng).name for _ in range(draws))
    assert set(chosen) == {"lcb", "log-ei"}
    error = (share * (1 - share) / draws) ** 0.5
    assert chosen["lcb"] / draws == pytest.approx(share, abs=4 * error)


@pytest.mark.parametrize("pending", [5, 9, 100])
def test_beside_five_points_in_flight_or_more_seven_of_ten_are_the_bounds(pending):
    assert_share(0.7, pending, dimensions=2)


@pytest.mark.parametrize(("dimensions", "share"), [(1, 0.7), (6, 0.7), (12, 0.175), (30, 0.028)])
def test_the_share_of_the_bound_falls_beyond_six_dimensions(dimensions, share):
    assert_share(share, pending=20, dimensions=dimensions)


def test_beside_fewer_than_five_a_point_goes_by_the_acquisition_function_and_no_random_number_is_drawn():
    rng, untouched = np.random.default_rng(0), np.random.default_rng(0)
    assert all(MIXTURES["bound"](LOG_EI, k, 2, rng) is LOG_EI for k in range(5))
    assert rng.random() == untouched.random()


def test_without_a_mixture_no_number_of_pending_points_changes_anything():
    rng, untouched = np.random.default_rng(0), np.random.default_rng(0)
    assert all(MIXTURES["none"](LOG_EI, k, 2, rng) is LOG_EI for k in range(50))
    assert rng.random() == untouched.random()


def test_the_bound_is_three_standard_deviations_below_the_mean_whatever_the_best_value():
    mean, std = np.array([[0.5, -1.0]]), np.array([[0.1, 2.0]])
    for best in (-3.0, 4.0):
        value = BOUND.value(mean, std, np.full((1, 1), best), BOUND.jitter.fixed)
        np.testing.assert_allclose(value, 3 * std - mean)


def test_trials_tell_which_function_chose_them_and_the_first_five_of_a_batch_are_never_the_bounds():
    batches = names(6)
    assert {name for batch in batches for name in batch[:5]} == {"log-ei"}
    assert {name for batch in batches for name in batch[5:]} == {"log-ei", "lcb"}


def test_points_chosen_by_the_bound_have_its_trade_off():
    optimizer = covey.Optimizer(SPACE, covey.strategy("auto", s=2), n_initial=5, seed=3)
    optimizer.tell(optimizer.ask(5), [3.0, 1.0, 2.0, 0.5, 4.0])
    jitters = {(t.origin.acquisition, t.origin.jitter) for t in optimizer.ask(12)}
    assert jitters == {("log-ei", 0.0), ("lcb", 3.0)}


@pytest.mark.parametrize("acquisition", ["ei", "log-ei", lambda mean, std, best, jitter: std - mean])
def test_an_acquisition_function_that_the_user_names_chooses_all_points(acquisition):
    assert len({name for batch in names(3, acquisition=acquisition) for name in batch}) == 1


def test_a_strategys_own_acquisition_function_is_mixed_too():
    batches = names(5, strategy="ats", mixture="bound")
    assert {name for batch in batches for name in batch} == {"log-ei", "lcb"}
    own = covey.Optimizer(SPACE, covey.strategy("p-ts", s=2, mixture="bound"), n_initial=5, seed=0)
    own.tell(own.ask(5), [3.0, 1.0, 2.0, 0.5, 4.0])
    assert {t.origin.acquisition for t in own.ask(15)} == {"ts", "lcb"}


def test_free_workers_are_beside_pending_points_too():
    optimizer = covey.Optimizer(SPACE, covey.strategy("auto", s=2), n_initial=12, seed=0)
    running = optimizer.ask(12)
    found = []
    for _ in range(30):
        done = running.pop(0)
        optimizer.tell(done, float(np.sin(9 * done.params["x"]) + done.params["y"]))
        running += optimizer.ask(1)
        found.append(running[-1].origin.acquisition)
    assert set(found) == {"log-ei", "lcb"}
