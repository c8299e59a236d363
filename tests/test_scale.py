"""The scale that the data prefer is the one they were made on."""

import math

import numpy as np
import pytest

from covey import Float, Optimizer, Space
from covey.model.choose_warp import Scale, likeliest
from covey.model.log_posterior import Data
from covey.model.priors import resolve_prior
from covey.model.warps import scales, standardise

PRIOR = resolve_prior("default", 2)


def smooth(x):
    return np.sin(4 * x[:, 0]) + np.cos(5 * x[:, 1]) * x[:, 0]


def chosen(x, values, seed=0, begin=math.inf):
    """The shift of the preferred scale, looked for from the one with another shift."""
    options = scales(list(values))
    data = [Data(x, outputs.z, np.arange(x.shape[1]), None, PRIOR) for outputs in options]
    slopes = [outputs.log_slope for outputs in options]
    first = [outputs.shift for outputs in options].index(begin)
    return options[likeliest(data, slopes, first, np.random.default_rng(seed))].shift


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
    outputs = standardise([1.0, 2.0])
    data = Data(np.zeros((2, 2)), outputs.z, np.arange(2), None, PRIOR)
    assert likeliest([data], [outputs.log_slope], 0, rng) == 0
    assert rng.random() == np.random.default_rng(0).random()


def test_many_observations_are_judged_by_a_part_of_them():
    x = np.random.default_rng(2).random((300, 2))
    assert chosen(x, np.exp(4 * smooth(x))) < math.inf


def test_beyond_many_observations_a_scale_holds_until_they_have_grown_by_a_tenth():
    assert not Scale(0.5, 49).holds(50)
    assert Scale(0.5, 200).holds(209)
    assert not Scale(0.5, 200).holds(221)
    assert not Scale().holds(200)


@pytest.mark.parametrize("base", [1.0, 1e6])
def test_auto_minimises_what_spans_orders_of_magnitude(base):
    optimizer = Optimizer(Space({"x": Float(0, 1), "y": Float(0, 1)}), seed=3)
    for _ in range(8):
        trials = optimizer.ask(4)
        at = np.array([[trial.params["x"], trial.params["y"]] for trial in trials])
        optimizer.tell(trials, list(base * 10 ** (6 * np.linalg.norm(at - 0.3, axis=1))))
    assert min(trial.value for trial in optimizer.trials) < 1.5 * base
