"""The scale that the data prefer is the one they were made on."""

import math

import numpy as np
import pytest

from covey import Float, Optimizer, Space
from covey.model.choose_warp import Judgement, judge
from covey.model.log_posterior import Data, draw_prior, log_posterior
from covey.model.priors import resolve_prior
from covey.model.warps import linear, warps

PRIOR = resolve_prior("default", 2)


def smooth(x):
    return np.sin(4 * x[:, 0]) + np.cos(5 * x[:, 1]) * x[:, 0]


def chosen(x, values, seed=0, begin=math.inf):
    """The shift of the preferred scale, looked for from the one with another shift."""
    options = warps(list(values))
    last = Judgement(0, begin, observations=0)
    return judge(options, seen(x, options), last, np.random.default_rng(seed)).shift


def seen(x, options):
    return [Data(x, warp.z, np.arange(x.shape[1]), None, PRIOR) for warp in options]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_smooth_stays_as_it_is(seed):
    x = np.random.default_rng(seed).random((40, 2))
    assert chosen(x, smooth(x), seed) == math.inf


@pytest.mark.parametrize("seed", range(3))
def test_the_exponential_of_something_smooth_is_seen_on_a_logarithmic_scale(seed):
    x = np.random.default_rng(seed).random((40, 2))
    assert 0 < chosen(x, np.exp(4 * smooth(x)), seed) < math.inf


@pytest.mark.parametrize("seed", range(3))
def test_deep_holes_in_a_plain_are_seen_on_a_logarithm_of_their_depth(seed):
    x = np.random.default_rng(seed).random((40, 2))
    assert chosen(x, -np.exp(4 * smooth(x)), seed) < 0


def test_a_crowd_around_the_minimum_alone_is_no_reason_for_a_logarithm():
    """Judged by the distribution of values alone, it would be: most of them are next to the best."""
    rng = np.random.default_rng(5)
    spread = rng.random((25, 2))
    crowd = np.clip(spread[np.argmin(smooth(spread))] + rng.normal(0, 0.01, (25, 2)), 0, 1)
    x = np.concatenate([spread, crowd])
    assert chosen(x, smooth(x)) == math.inf


@pytest.mark.parametrize("begin", [-0.02, -2.0, 2.0, 0.02])
def test_the_scale_that_is_found_does_not_depend_on_where_the_search_begins(begin):
    x = np.random.default_rng(4).random((40, 2))
    for values in (smooth(x), np.exp(4 * smooth(x)), -np.exp(4 * smooth(x))):
        assert chosen(x, values, begin=begin) == chosen(x, values)


def test_the_units_of_the_objective_do_not_matter():
    x = np.random.default_rng(1).random((30, 2))
    y = np.exp(4 * smooth(x))
    assert chosen(x, y) == chosen(x, 1e-9 * y + 7e-9)


def test_no_choice_takes_no_randomness():
    rng = np.random.default_rng(0)
    options = linear([1.0, 2.0])
    found = judge(options, seen(np.zeros((2, 2)), options), None, rng)
    assert (found.shift, found.modes) == (math.inf, None)
    assert rng.random() == np.random.default_rng(0).random()


def test_many_observations_are_judged_by_a_part_of_them():
    x = np.random.default_rng(2).random((300, 2))
    assert chosen(x, np.exp(4 * smooth(x))) < math.inf


def test_beyond_many_observations_a_scale_holds_until_they_have_grown_by_a_tenth():
    assert not Judgement(0, 0.5, 49).holds(50)
    assert Judgement(0, 0.5, 200).holds(209)
    assert not Judgement(0, 0.5, 200).holds(221)


def test_a_judgement_that_holds_is_found_again_among_other_options():
    x = np.random.default_rng(2).random((209, 2))
    options, rng = warps(list(np.exp(4 * smooth(x)))), np.random.default_rng(0)
    shifts = [warp.shift for warp in options]
    kept = judge(options, seen(x, options), Judgement(0, 0.1, 200), rng)
    assert (kept.index, kept.observations) == (shifts.index(0.1), 200)
    assert rng.random() == np.random.default_rng(0).random()


def test_the_mode_on_the_chosen_warp_is_a_place_to_start_from():
    x = np.random.default_rng(0).random((30, 2))
    options = warps(list(smooth(x)))
    data = seen(x, options)
    found = judge(options, data, None, np.random.default_rng(0))
    anywhere = draw_prior(data[0], np.random.default_rng(1), 500)
    assert log_posterior(data[found.index], found.modes)[0] > log_posterior(data[found.index], anywhere).max()


@pytest.mark.parametrize("base", [1.0, 1e6])
def test_auto_minimises_what_spans_orders_of_magnitude(base):
    optimizer = Optimizer(Space({"x": Float(0, 1), "y": Float(0, 1)}), seed=3)
    for _ in range(8):
        trials = optimizer.ask(4)
        at = np.array([[trial.params["x"], trial.params["y"]] for trial in trials])
        optimizer.tell(trials, list(base * 10 ** (6 * np.linalg.norm(at - 0.3, axis=1))))
    assert min(trial.value for trial in optimizer.trials) < 1.5 * base
