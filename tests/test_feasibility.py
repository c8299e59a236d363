"""The probability of success: what fails at random is no reason to stay away, what fails somewhere is."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import norm

import covey
from covey import Failure, Float, Optimizer, Space
from covey.model.feasibility import learn_feasibility
from covey.model.gp import fit
from covey.model.log_posterior import Data
from covey.model.priors import resolve_prior


def feasibility(points, succeeded, seed=0):
    rng = np.random.default_rng(seed)
    d = points.shape[1]
    data = Data(
        points[succeeded], rng.normal(size=succeeded.sum()), np.arange(d), None, resolve_prior("default", d)
    )
    return learn_feasibility(data, points[~succeeded], rng)


def scattered(n, d, seed):
    return np.random.default_rng(seed).random((n, d))


def chances(found, points):
    return np.exp(found.log_factor(points))[0]


def test_where_nothing_failed_there_is_no_model_of_it_and_no_random_numbers_are_used():
    rng = np.random.default_rng(1)
    data = Data(scattered(5, 2, 0), np.arange(5.0), np.arange(2), None, resolve_prior("default", 2))
    assert learn_feasibility(data, np.empty((0, 2)), rng) is None
    assert rng.random() == np.random.default_rng(1).random()


@pytest.mark.parametrize("seed", range(5))
def test_a_region_that_fails_is_told_from_one_that_does_not(seed):
    points = scattered(40, 3, seed)
    found = feasibility(points, points[:, 0] < 0.7, seed)
    fresh = scattered(200, 3, seed + 100)
    assert chances(found, fresh[fresh[:, 0] < 0.6]).mean() > 0.85
    assert chances(found, fresh[fresh[:, 0] > 0.8]).mean() < 0.3
    assert found.foretold.mean() > 0.5


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_failures_at_random_are_surprises_and_leave_chances_even(share):
    foretold, low = [], []
    for seed in range(10):
        points = scattered(60, 3, seed)
        found = feasibility(points, np.random.default_rng(seed + 50).random(60) > share, seed)
        foretold.append(found.foretold.mean())
        low.append(chances(found, scattered(200, 3, seed + 100)).min())
    assert np.mean(foretold) < 0.1
    assert np.median(low) > 0.3


def test_the_gradient_is_that_of_the_logarithm():
    points = scattered(25, 3, 2)
    found = feasibility(points, points.sum(axis=1) < 1.7)
    for at in scattered(6, 3, 3):
        value, slope = found.log_factor_gradient(at[None])
        assert value == pytest.approx(found.log_factor(at[None]))
        numeric = approx_fprime(at, lambda x: float(found.log_factor(x[None])[0, 0]), 1e-6)
        np.testing.assert_allclose(slope[0, 0], numeric, rtol=1e-3, atol=1e-4)


def test_what_is_foretold_is_what_the_other_labels_predict():
    """By fitting again without each failure, theta as it was."""
    points = scattered(30, 2, 4)
    succeeded = (points[:, 0] < 0.6) ^ (np.random.default_rng(0).random(30) < 0.15)
    found = feasibility(points, succeeded)
    stack = found.labels
    label = stack.thetas.mean + (np.tril(stack.chol[0].T) @ stack.white[0])
    noise, expected = stack.noise[0, 0] + stack.nugget, []
    for k in range(30 - found.failed, 30):
        rest = np.delete(np.arange(30), k)
        mean, std = fit(stack.x.T[rest], label[rest], stack.thetas).predict(stack.x.T[[k]])
        expected.append(norm.cdf((mean - found.half) / np.sqrt(std**2 + noise))[0, 0] < 0.25)
    np.testing.assert_array_equal(found.foretold, expected)
    assert 0 < sum(expected) < len(expected)


# In a campaign

SQUARE = Space({"x": Float(0, 1), "y": Float(0, 1)})


def campaign(value, seed, batches=9, size=4):
    opt = Optimizer(SQUARE, seed=seed)
    for _ in range(batches):
        trials = opt.ask(size)
        opt.tell(trials, [value(**trial.params) for trial in trials])
    return opt


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.7) ** 2


def test_failures_that_have_nothing_to_do_with_the_point_do_not_keep_the_best_from_being_found():
    found = []
    for seed in range(4):
        lost = np.random.default_rng(seed)
        opt = campaign(lambda x, y, lost=lost: Failure("lost") if lost.random() < 0.3 else bowl(x, y), seed)
        found.append(opt.best.value)
    assert np.median(found) < 1e-4


def test_a_region_that_fails_is_left_alone():
    late = 0
    for seed in range(4):
        opt = campaign(lambda x, y: Failure("no") if x > 0.75 else bowl(x, y), seed)
        late += sum(trial.value is None for trial in opt.trials[12:])
        assert opt.best.value < 1e-4
    assert late < 4 * 6  # of 24 each; a quarter of the square fails


def length_scale(failed):
    """That is believed of x after a parabola for x above 0.3, and failures below."""
    opt = Optimizer(Space({"x": Float(0, 1)}), seed=0)
    for x in np.linspace(0.3, 1, 15):
        opt.add({"x": x}, x**2)
    for x in failed:
        opt.add({"x": x}, Failure("no"))
    return opt.ask()[0].origin.length_scales["x"]


def test_theta_knows_of_the_cliff_that_foretold_failures_are():
    assert length_scale(np.linspace(0, 0.28, 8)) < 0.5 * length_scale([])


@pytest.mark.parametrize("strategy", ["ats", "lp", "b-lcb", "p-ts"])
def test_every_strategy_goes_on_with_failures(strategy):
    opt = Optimizer(SQUARE, covey.strategy(strategy), seed=0)
    for _ in range(4):
        trials = opt.ask(3)
        opt.tell(trials, [Failure("no") if t.params["x"] > 0.5 else bowl(**t.params) for t in trials])
    assert {trial.origin.strategy for trial in opt.trials[6:]} == {strategy}
