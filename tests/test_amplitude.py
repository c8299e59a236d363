"""A signal that swells towards the faces of the space, or away from them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import covey
from covey import kernels
from covey.bench.functions import problem
from covey.density import Data, log_likelihood, log_posterior, log_posterior_gradient
from covey.features import AMPLITUDES, Features
from covey.gp import GPStack, fit
from covey.paths import draw_paths
from covey.posterior import sample
from covey.priors import resolve_prior
from covey.thetas import Thetas, bulge

SHARES = np.array([0.5, 0.5, 0.0])


def some_thetas(count, swell, seed=0, noise=None):
    rng = np.random.default_rng(seed)
    return Thetas(
        rng.uniform(0.2, 1.5, (count, 3)),
        rng.uniform(0.3, 3.0, count),
        rng.normal(size=count),
        rng.uniform(1e-4, 0.1, count) if noise is None else np.full(count, noise),
        None if swell is None else rng.normal(0, swell, (count, 1)) * SHARES,
    )


def some_points(n, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((n, 3)), rng.normal(size=n)


def amplitude(theta, points):
    """By the formula, in plain numpy: 1 is a corner, -1/2 the centre."""
    u = 2 * points - 1
    return np.exp(((3 * u**2 - 1) / 2) @ theta.swell[0])


def covariance(theta, a, b):
    distance = np.sqrt(5) * np.linalg.norm((a[:, None] - b[None]) / theta.length_scale[0], axis=2)
    matern = theta.variance[0] * (1 + distance + distance**2 / 3) * np.exp(-distance)
    return amplitude(theta, a)[:, None] * matern * amplitude(theta, b)


def observed(theta, x):
    """The covariance of observations; the factor's jitter is relative to the stationary part."""
    jitter = kernels.JITTER * theta.variance[0] * amplitude(theta, x) ** 2
    return covariance(theta, x, x) + np.diag(theta.noise[0] + jitter)


def test_the_bulge_is_one_on_faces_and_nothing_on_average():
    np.testing.assert_allclose(bulge(np.array([[0.0, 0.5, 1.0]])), [[1.0, -0.5, 1.0]])
    points = (np.arange(10_000) + 0.5)[:, None] / 10_000
    assert bulge(points).mean() == pytest.approx(0, abs=1e-7)


def test_prediction_is_that_of_the_swelling_covariance():
    (x, y), (points, _) = some_points(12), some_points(9, seed=2)
    thetas = some_thetas(4, 1.5)
    mean, std = fit(x, y, thetas).predict(points)
    for s in range(4):
        theta = thetas[s : s + 1]
        gain = np.linalg.solve(observed(theta, x), covariance(theta, x, points)).T
        np.testing.assert_allclose(mean[s], theta.mean[0] + gain @ (y - theta.mean[0]), rtol=1e-6, atol=1e-8)
        left = covariance(theta, points, points) - gain @ covariance(theta, x, points)
        np.testing.assert_allclose(std[s] ** 2, np.diag(left), rtol=1e-6, atol=1e-9)


def test_likelihood_is_that_of_the_swelling_covariance():
    x, y = some_points(12)
    thetas = some_thetas(4, 1.5)
    data = Data(x, y, np.arange(3), None, resolve_prior("default", 3), SHARES)
    found = log_likelihood(data, thetas)
    for s in range(4):
        theta = thetas[s : s + 1]
        expected = multivariate_normal(np.full(12, theta.mean[0]), observed(theta, x)).logpdf(y)
        np.testing.assert_allclose(found[s], expected, rtol=1e-7)


@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
def test_gradient_of_the_log_posterior_agrees_with_differences(noise):
    x, y = some_points(9)
    data = Data(x, y, np.arange(3), noise, resolve_prior("default", 3), SHARES)
    for position in np.random.default_rng(3).normal(scale=0.7, size=(4, data.parameters)):
        value, gradient = log_posterior_gradient(data, position)
        step = 1e-5 * np.eye(data.parameters)
        up, down = log_posterior(data, position + step), log_posterior(data, position - step)
        np.testing.assert_allclose(value, log_posterior(data, position[None])[0], rtol=1e-10)
        np.testing.assert_allclose(gradient, (up - down) / 2e-5, rtol=1e-4, atol=1e-5)


def differences(function, points, step=1e-6):
    eye = step * np.eye(points.shape[1])
    return np.stack([(function(points + e) - function(points - e)) / (2 * step) for e in eye], axis=-1)


def test_gradients_of_predictions_and_of_drawn_functions_agree_with_differences():
    (x, y), (points, _) = some_points(10), some_points(6, seed=4)
    stack = fit(x, y, some_thetas(3, 1.5))
    for view in (stack, draw_paths(stack, np.random.default_rng(5))):
        at = view.predict_gradient(points)
        for part, gradient in enumerate((at.mean_gradient, at.std_gradient)):
            expected = differences(lambda q, view=view, part=part: view.predict(q)[part], points)
            np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


def test_drawn_functions_swell_as_the_posterior_does():
    x, y = some_points(4)
    one = some_thetas(1, 1.5, noise=0.05)
    stack = fit(x, y, one[np.zeros(4000, dtype=np.intp)])
    points = np.array([[0.02, 0.97, 0.5], [0.5, 0.5, 0.1]])
    mean, std = stack.predict(points)
    draws = draw_paths(stack, np.random.default_rng(6)).predict(points)[0]
    np.testing.assert_allclose(draws.mean(axis=0), mean[0], atol=5 * std[0].max() / np.sqrt(4000))
    np.testing.assert_allclose(draws.std(axis=0), std[0], rtol=0.1)


def test_conditioning_is_a_refit_and_the_best_is_the_lowest_mean():
    (x, y), (more, values) = some_points(10), some_points(3, seed=7)
    thetas = some_thetas(4, 1.5)
    refit = fit(np.concatenate([x, more]), np.append(y, values), thetas)
    grown = fit(x, y, thetas).condition(more, values)
    points = some_points(8, seed=8)[0]
    np.testing.assert_allclose(grown.predict(points), refit.predict(points), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(grown.best, refit.best, rtol=1e-7)
    lowest = refit.predict(refit.x.T)[0].min(axis=1, keepdims=True)
    np.testing.assert_allclose(refit.best, lowest, rtol=1e-6)


@pytest.mark.parametrize(
    "change", [lambda stack, rng: stack.fantasise(rng.random((2, 3)), rng), GPStack.noiseless]
)
def test_the_best_of_drawn_values_is_their_lowest_mean(change):
    x, y = some_points(10)
    drawn = change(fit(x, y, some_thetas(4, 1.5)), np.random.default_rng(9))
    lowest = drawn.predict(drawn.x.T)[0].min(axis=1, keepdims=True)
    np.testing.assert_allclose(drawn.best, lowest, rtol=1e-5, atol=1e-6)


def test_a_swell_of_nothing_is_an_even_amplitude():
    (x, y), (points, _) = some_points(10), some_points(6, seed=10)
    even = some_thetas(3, None)
    flat = replace(even, swell=np.zeros((3, 3)))
    np.testing.assert_array_equal(fit(x, y, even).predict(points), fit(x, y, flat).predict(points))


def test_only_what_is_ordered_swells():
    space = covey.Space(
        {"x": covey.Float(0, 1), "k": covey.Int(1, 9), "c": covey.Categorical(["red", "green", "blue"])}
    )
    np.testing.assert_allclose(AMPLITUDES["learned"](Features.of(space)), [0.5, 0.5, 0, 0, 0])
    choices = covey.Space({"c": covey.Categorical(["red", "green", "blue"])})
    assert AMPLITUDES["learned"](Features.of(choices)) is None
    assert AMPLITUDES["even"](Features.of(space)) is None


def waves(points, swell):
    return np.exp(swell * bulge(points).mean(axis=1)) * np.sin(12 * points[:, 0]) * np.cos(10 * points[:, 1])


@pytest.mark.parametrize(("swell", "low", "high"), [(2.0, 0.5, 3.0), (0.0, -0.7, 0.7), (-2.0, -3.0, -0.5)])
def test_the_swell_is_learned_from_the_data(swell, low, high):
    x = np.random.default_rng(11).random((60, 2))
    y = waves(x, swell)
    data = Data(x, (y - y.mean()) / y.std(), np.arange(2), None, resolve_prior("default", 2), np.full(2, 0.5))
    thetas = sample(data, None, 200, np.random.default_rng(12)).thetas
    assert low < np.median(2 * thetas.swell[:, 0]) < high


@pytest.mark.slow
def test_auto_finds_what_lies_where_the_signal_swells():
    """Eggholder at the paper's budget: minimum -959.6; an even amplitude ends around -862."""
    eggholder = problem("eggholder")
    found = []
    for seed in range(6):
        optimizer = covey.Optimizer(eggholder.space, noise=0.0, n_initial=5, initial="random", seed=seed)
        for _ in range(20):
            trials = optimizer.ask(5)
            optimizer.tell(trials, [eggholder(trial.params) for trial in trials])
        found.append(optimizer.best.value)
    assert np.mean(found) < -900
