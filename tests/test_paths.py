"""Drawn functions against the exact posterior they are drawn from."""

import numpy as np
import pytest

from covey.model.gp import fit
from covey.model.native import covariance
from covey.model.theta import Thetas

DRAWS = 2500


def same_theta(count, noise, features=2):
    """One theta, as often as draws are wanted."""
    return Thetas(
        np.tile(np.linspace(0.3, 0.6, features), (count, 1)),
        np.full(count, 1.7),
        np.full(count, 0.4),
        np.full(count, noise),
    )


def some_data(n=5):
    rng = np.random.default_rng(0)
    return rng.random((n, 2)), rng.normal(size=n)


def exact_moments(x, y, theta, points):
    """Posterior mean and covariance by the textbook's formulas."""

    def k(a, b):
        distance = np.linalg.norm((a[:, None] - b[None]) / theta.length_scale[0], axis=2)
        r = np.sqrt(5) * distance
        return theta.variance[0] * (1 + r + r**2 / 3) * np.exp(-r)

    inner = k(x, x) + (theta.noise[0] + covariance.NUGGET * theta.variance[0]) * np.eye(len(x))
    gain = np.linalg.solve(inner, k(x, points)).T
    return theta.mean[0] + gain @ (y - theta.mean[0]), k(points, points) - gain @ k(x, points)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_draws_have_the_posteriors_mean_and_covariance(noise):
    x, y = some_data()
    thetas = same_theta(DRAWS, noise)
    points = np.random.default_rng(1).random((6, 2))
    draws = fit(x, y, thetas).paths(np.random.default_rng(2)).predict(points)[0]
    mean, covariance = exact_moments(x, y, thetas, points)
    error = draws.mean(axis=0) - mean
    assert (np.abs(error) < 5 * np.sqrt(np.diag(covariance) / DRAWS) + 1e-9).all()
    centred = draws - mean
    products = centred[:, :, None] * centred[:, None, :]
    standard_error = products.std(axis=0) / np.sqrt(DRAWS)
    assert (np.abs(products.mean(axis=0) - covariance) < 5 * standard_error + 1e-9).all()


def test_frequencies_have_the_spectrum_of_matern_five_halves():
    x, y = some_data(1)
    thetas = same_theta(2000, 0.0)
    paths = fit(x, y, thetas).paths(np.random.default_rng(3))
    for gap in ([0.1, 0.0], [0.0, 0.5], [0.3, -0.4], [1.0, 1.0]):
        r = np.sqrt(5) * np.linalg.norm(np.array(gap) / thetas.length_scale[0])
        waves = np.cos(np.einsum("sdf,d->sf", paths.waves.frequencies, gap))
        tolerance = 5 * waves.std() / np.sqrt(waves.size)
        assert abs(waves.mean() - (1 + r + r**2 / 3) * np.exp(-r)) < tolerance


def test_paths_pass_through_the_data_when_there_is_no_noise():
    x, y = some_data(12)
    paths = fit(x, y, same_theta(8, 0.0)).paths(np.random.default_rng(4))
    np.testing.assert_allclose(paths.predict(x)[0], np.tile(y, (8, 1)), atol=1e-3)


def test_paths_of_one_posterior_differ_away_from_the_data():
    x, y = some_data()
    draws = fit(x, y, same_theta(8, 0.0)).paths(np.random.default_rng(5)).predict(np.ones((1, 2)))[0]
    assert len(np.unique(draws)) == 8


def test_paths_agree_with_the_mean_of_a_posterior_that_knows():
    # Every theta of a stack has its own path: the s-th must follow the s-th posterior.
    x, _ = some_data(30)
    rng = np.random.default_rng(6)
    thetas = Thetas(rng.uniform(1, 3, (5, 2)), rng.uniform(0.1, 1, 5), rng.normal(size=5), np.full(5, 1e-8))
    stack = fit(x, np.sin(3 * x[:, 0]) + x[:, 1], thetas)
    points = rng.uniform(0.3, 0.7, (10, 2))
    mean, std = stack.predict(points)
    path, _ = stack.paths(rng).predict(points)
    assert (np.abs(path - mean) < 6 * std + 1e-6).all()


def test_gradient_agrees_with_differences():
    rng = np.random.default_rng(7)
    x, y = rng.random((10, 3)), rng.normal(size=10)
    thetas = Thetas(rng.uniform(0.2, 1, (4, 3)), rng.uniform(0.5, 2, 4), rng.normal(size=4), np.full(4, 0.01))
    paths = fit(x, y, thetas).paths(rng)
    points, step = rng.random((6, 3)), 1e-5
    at = paths.predict_gradient(points)
    columns = [
        (paths.predict(points + e)[0] - paths.predict(points - e)[0]) / (2 * step) for e in step * np.eye(3)
    ]
    np.testing.assert_allclose(at.mean_gradient, np.stack(columns, axis=-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(at.mean, paths.predict(points)[0], rtol=1e-11)


def test_a_drawn_function_is_certain():
    x, y = some_data()
    stack = fit(x, y, same_theta(3, 0.01))
    paths = stack.paths(np.random.default_rng(8))
    at = paths.predict_gradient(x)
    for zeros in (paths.predict(x)[1], at.std, at.std_gradient):
        np.testing.assert_array_equal(zeros, 0.0)
    np.testing.assert_array_equal(paths.best, stack.best)


def test_same_seed_draws_the_same_functions():
    x, y = some_data()
    stack = fit(x, y, same_theta(3, 0.01))
    first, again, other = (stack.paths(np.random.default_rng(s)).predict(x)[0] for s in (9, 9, 10))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_paths_of_a_conditioned_posterior_keep_to_its_hallucination():
    x, y = some_data()
    stack = fit(x, y, same_theta(6, 0.0))
    pending = np.array([[0.9, 0.1]])
    paths = stack.condition(pending).paths(np.random.default_rng(11))
    np.testing.assert_allclose(paths.predict(pending)[0], stack.predict(pending)[0], atol=1e-3)
