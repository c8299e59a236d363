"""The stack of Gaussian processes against scikit-learn, refits and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from covey.acquisition.functions import expected_improvement
from covey.model.gp import GPStack, fit
from covey.model.native import covariance
from covey.model.native.threads import single_threaded_blas
from covey.model.theta import Thetas


def some_thetas(rng, count, features, noise=None):
    return Thetas(
        rng.uniform(0.2, 1.5, (count, features)),
        rng.uniform(0.3, 3.0, count),
        rng.normal(size=count),
        rng.uniform(1e-4, 0.1, count) if noise is None else np.full(count, noise),
    )


def some_stack(seed, count=4, features=3, n=15, noise=None):
    """Points, values and the stack fitted to them."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((n, features)), rng.normal(size=n)
    return x, y, fit(x, y, some_thetas(rng, count, features, noise))


def oracle(x, y, thetas, s):
    """scikit-learn's Gaussian process with the s-th theta, on outputs less the constant mean."""
    kernel = ConstantKernel(thetas.variance[s]) * Matern(thetas.length_scale[s], nu=2.5)
    alpha = thetas.noise[s] + covariance.NUGGET * thetas.variance[s]
    return GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(x, y - thetas.mean[s])


def differences(function, points, step=1e-5):
    """Central differences of a function of points (m, D) with values (S, m): (S, m, D)."""
    columns = [
        (function(points + e) - function(points - e)) / (2 * step) for e in step * np.eye(points.shape[1])
    ]
    return np.stack(columns, axis=-1)


def test_prediction_agrees_with_scikit_learn():
    x, y, stack = some_stack(0)
    points = np.random.default_rng(1).uniform(-0.5, 1.5, (30, 3))
    mean, std = stack.predict(points)
    for s in range(4):
        expected, expected_std = oracle(x, y, stack.thetas, s).predict(points, return_std=True)
        np.testing.assert_allclose(mean[s], expected + stack.thetas.mean[s], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(std[s], expected_std, rtol=1e-7, atol=1e-9)


def test_prediction_with_its_gradient_is_the_same_prediction():
    _, _, stack = some_stack(2)
    points = np.random.default_rng(3).random((20, 3))
    mean, std = stack.predict(points)
    at = stack.predict_gradient(points)
    np.testing.assert_allclose(at.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(at.std, std, rtol=1e-12)


@pytest.mark.parametrize("features", [1, 2, 5])
def test_gradients_of_mean_and_std_agree_with_differences(features):
    _, _, stack = some_stack(4, features=features)
    points = np.random.default_rng(5).uniform(-0.2, 1.2, (12, features))
    at = stack.predict_gradient(points)
    means = differences(lambda q: stack.predict(q)[0], points)
    stds = differences(lambda q: stack.predict(q)[1], points)
    np.testing.assert_allclose(at.mean_gradient, means, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(at.std_gradient, stds, rtol=1e-5, atol=1e-7)


def test_gradients_stay_right_after_conditioning():
    _, _, stack = some_stack(6)
    rng = np.random.default_rng(7)
    wider, points = stack.condition(rng.random((3, 3))), rng.random((8, 3))
    stds = differences(lambda q: wider.predict(q)[1], points)
    np.testing.assert_allclose(wider.predict_gradient(points).std_gradient, stds, rtol=1e-5, atol=1e-7)


def test_row_of_a_stack_is_that_theta_alone():
    x, y, stack = some_stack(8, count=6)
    points = np.random.default_rng(9).random((10, 3))
    mean, std = stack.predict(points)
    at = stack.predict_gradient(points)
    for s in range(6):
        alone = fit(x, y, stack.thetas[s : s + 1])
        single = alone.predict_gradient(points)
        np.testing.assert_allclose(alone.predict(points), (mean[s : s + 1], std[s : s + 1]), rtol=1e-13)
        np.testing.assert_allclose(single.mean_gradient[0], at.mean_gradient[s], rtol=1e-12)
        np.testing.assert_allclose(single.std_gradient[0], at.std_gradient[s], rtol=1e-12)
        np.testing.assert_array_equal(alone.best, stack.best[s : s + 1])


def test_thetas_are_taken_by_slice_and_by_index():
    thetas = some_thetas(np.random.default_rng(10), 5, 2)
    chosen = thetas[np.array([3, 1])]
    assert len(chosen) == 2
    np.testing.assert_array_equal(chosen.length_scale, thetas.length_scale[[3, 1]])
    np.testing.assert_array_equal(chosen.noise, thetas[3:4].noise.tolist() + thetas[1:2].noise.tolist())


@pytest.mark.parametrize("cores", [2, 3, 7])
def test_results_do_not_depend_on_the_number_of_cores(monkeypatch, cores):
    rng = np.random.default_rng(11)
    x, y, points = rng.random((150, 3)), rng.normal(size=150), rng.random((150, 3))
    thetas = some_thetas(rng, 5, 3)

    def everything(available):
        monkeypatch.setattr("covey.model.native.threads.cores", lambda: available)
        stack = fit(x, y, thetas)
        at = stack.predict_gradient(points)
        return [*stack.predict(points), at.mean, at.std, at.mean_gradient, at.std_gradient, stack.best]

    with single_threaded_blas():
        for one, several in zip(everything(1), everything(cores), strict=True):
            np.testing.assert_array_equal(one, several)


def test_posterior_interpolates_when_there_is_no_noise():
    x, y, stack = some_stack(12, noise=0.0)
    mean, std = stack.predict(x)
    np.testing.assert_allclose(mean, np.tile(y, (4, 1)), atol=1e-6)
    assert (std < 1e-4).all()


def test_far_from_the_data_the_posterior_is_the_prior():
    _, _, stack = some_stack(13)
    mean, std = stack.predict(np.full((1, 3), 1e3))
    np.testing.assert_allclose(mean[:, 0], stack.thetas.mean)
    np.testing.assert_allclose(std[:, 0], np.sqrt(stack.thetas.variance))


def test_best_is_the_lowest_posterior_mean_at_the_data():
    x, _, stack = some_stack(14)
    np.testing.assert_allclose(stack.best[:, 0], stack.predict(x)[0].min(axis=1), rtol=1e-6)


def test_best_is_the_lowest_value_when_there_is_no_noise():
    _, y, stack = some_stack(15, noise=0.0)
    np.testing.assert_allclose(stack.best, np.full((4, 1), y.min()), rtol=1e-5)


@pytest.mark.parametrize("k", [1, 4])
def test_conditioning_on_the_mean_is_a_refit_on_the_enlarged_data(k):
    x, y, stack = some_stack(16, count=1)
    rng = np.random.default_rng(17)
    more, points = rng.random((k, 3)), rng.random((20, 3))
    refit = fit(np.concatenate([x, more]), np.append(y, stack.predict(more)[0]), stack.thetas)
    extended = stack.condition(more)
    np.testing.assert_allclose(extended.predict(points), refit.predict(points), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(extended.alpha, refit.alpha, rtol=1e-7, atol=1e-9)
    triangle = np.triu_indices(15 + k)
    for mine, theirs in zip(extended.chol, refit.chol, strict=True):
        np.testing.assert_allclose(mine[triangle], theirs[triangle], rtol=1e-8, atol=1e-10)


def test_conditioning_twice_is_conditioning_on_both():
    _, _, stack = some_stack(18)
    rng = np.random.default_rng(19)
    more, points = rng.random((5, 3)), rng.random((20, 3))
    step = stack.condition(more[:2]).condition(more[2:])
    leap = stack.condition(more)
    np.testing.assert_allclose(step.predict(points), leap.predict(points), rtol=1e-9, atol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.0, 1e-6, 0.05]))
@settings(deadline=None, max_examples=40)
def test_conditioning_on_the_mean_does_not_move_the_mean(seed, k, noise):
    _, _, stack = some_stack(seed, count=3, features=2, n=8, noise=noise)
    rng = np.random.default_rng(seed)
    pending, points = rng.random((k, 2)), rng.random((20, 2))
    before, after = stack.predict(points), stack.condition(pending).predict(points)
    np.testing.assert_allclose(after[0], before[0], rtol=1e-9, atol=1e-9)
    assert (after[1] <= before[1] * (1 + 1e-6) + 1e-7).all()


def test_conditioning_takes_the_uncertainty_away_where_it_looked():
    _, _, stack = some_stack(20, noise=0.0)
    pending = np.array([[0.1, 0.9, 0.4], [0.7, 0.2, 0.8]])
    assert (stack.predict(pending)[1] > 0.05).all()
    assert (stack.condition(pending).predict(pending)[1] < 1e-4).all()


def test_conditioning_on_nothing_is_the_posterior_itself():
    _, _, stack = some_stack(21)
    assert stack.condition(np.empty((0, 3))) is stack


def test_conditioning_writes_nothing_into_the_posterior():
    _, _, stack = some_stack(22)
    names = ("x", "chol", "white", "alpha", "best")
    before = [getattr(stack, name).copy() for name in names]
    stack.condition(np.full((2, 3), 0.5)).fantasise(np.full((1, 3), 0.2), np.random.default_rng(0))
    for name, old in zip(names, before, strict=True):
        np.testing.assert_array_equal(getattr(stack, name), old)


def repeated(thetas, times):
    return thetas[np.zeros(times, dtype=int)]


def test_fantasies_are_draws_of_the_joint_posterior():
    x, y, single = some_stack(20, count=1, noise=0.0)
    points = np.random.default_rng(21).random((2, 3))
    many = fit(x, y, repeated(single.thetas, 20_000)).fantasise(points, np.random.default_rng(22))
    drawn = many.predict(points)[0]
    mean, covariance = oracle(x, y, single.thetas, 0).predict(points, return_cov=True)
    np.testing.assert_allclose(drawn.mean(axis=0), mean + single.thetas.mean[0], atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.03)


def test_expected_improvement_over_fantasies_is_that_of_the_batch():
    """E[max(best - min(f(pending), f(x)), 0)] = E[max(best - min f(pending), 0)] + EI over fantasies."""
    x, y, single = some_stack(23, count=1, noise=0.0)
    points = np.random.default_rng(24).random((3, 3))
    many = fit(x, y, repeated(single.thetas, 20_000)).fantasise(points[:2], np.random.default_rng(25))
    gain = expected_improvement(*many.predict(points[2:]), many.best, 0.0).mean()
    joint = oracle(x, y, single.thetas, 0).sample_y(points, 100_000, random_state=26) + single.thetas.mean[0]
    of_all = np.maximum(y.min() - joint.min(axis=0), 0).mean()
    of_pending = np.maximum(y.min() - joint[:2].min(axis=0), 0).mean()
    assert gain == pytest.approx(of_all - of_pending, abs=0.01)


def test_fantasies_take_away_as_much_uncertainty_as_values_would():
    _, _, stack = some_stack(27)
    points = np.random.default_rng(28).random((5, 3))
    after = stack.fantasise(points[:2], np.random.default_rng(29)).predict(points)[1]
    np.testing.assert_allclose(after, stack.condition(points[:2]).predict(points)[1], rtol=1e-9)


def test_fantasies_of_nothing_are_the_posterior_itself():
    _, _, stack = some_stack(30)
    assert stack.fantasise(np.empty((0, 3)), np.random.default_rng(0)) is stack


def test_values_without_noise_are_draws_of_the_joint_posterior_at_the_observed_points():
    x, y, single = some_stack(31, count=1, n=6, noise=0.3)
    many = fit(x, y, repeated(single.thetas, 20_000)).noiseless(np.random.default_rng(32))
    drawn, left = many.predict(x)
    mean, covariance = oracle(x, y, single.thetas, 0).predict(x, return_cov=True)
    np.testing.assert_allclose(drawn.mean(axis=0), mean + single.thetas.mean[0], atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.03)
    assert left.max() < 1e-3


def test_expected_improvement_over_values_without_noise_is_noisy_expected_improvement():
    """E[max(min f(observed) - f(x), 0)], by brute force; and nothing to gain where a point is already."""
    x, y, single = some_stack(33, count=1, n=6, noise=0.3)
    point = np.random.default_rng(34).random((1, 3))
    many = fit(x, y, repeated(single.thetas, 20_000)).noiseless(np.random.default_rng(35))
    gain = expected_improvement(*many.predict(np.concatenate([point, x])), many.best, 0.0).mean(axis=0)
    joint = oracle(x, y, single.thetas, 0).sample_y(np.concatenate([point, x]), 100_000, random_state=36)
    assert gain[0] == pytest.approx(np.maximum(joint[1:].min(axis=0) - joint[0], 0).mean(), abs=0.01)
    assert gain[1:].max() < 1e-3


def test_without_noise_the_posterior_stays_as_it_is():
    _, _, stack = some_stack(37, noise=0.0)
    assert stack.noiseless(np.random.default_rng(0)) is stack


def test_next_to_no_noise_leaves_next_to_no_change():
    _, _, stack = some_stack(38, noise=1e-12)
    points = np.random.default_rng(39).random((5, 3))
    before, after = stack.predict(points), stack.noiseless(np.random.default_rng(40)).predict(points)
    np.testing.assert_allclose(after, before, atol=1e-3)


def test_repeated_points_have_one_value_without_noise():
    rng = np.random.default_rng(41)
    x, y = np.repeat(rng.random((4, 3)), 5, axis=0), rng.normal(size=20)
    stack = fit(x, y, some_thetas(rng, 3, 3, 0.3)).noiseless(rng)
    drawn = stack.predict(x)[0].reshape(3, 4, 5)
    np.testing.assert_allclose(drawn, np.broadcast_to(drawn[..., :1], drawn.shape), atol=1e-6)
    assert is_finite(stack, x)


def is_finite(stack: GPStack, points):
    at = stack.predict_gradient(points)
    return all(np.isfinite(a).all() for a in (at.mean, at.std, at.mean_gradient, at.std_gradient))


@pytest.mark.parametrize("noise", [0.0, 1e-12, 0.01])
@pytest.mark.parametrize("gap", [0.0, 1e-16, 1e-9, 1e-5])
def test_repeated_and_nearly_repeated_points_give_finite_numbers(noise, gap):
    rng = np.random.default_rng(23)
    base = rng.random((6, 2))
    x = np.concatenate([base, base + gap, base - gap])
    stack = fit(x, np.tile(rng.normal(size=6), 3), some_thetas(rng, 4, 2, noise))
    again = stack.condition(base).fantasise(base + gap, rng)
    for posterior in (stack, again):
        assert is_finite(posterior, np.concatenate([x, rng.random((5, 2))]))
        assert (posterior.predict(x)[1] > 0).all()


@pytest.mark.parametrize("length_scale", [1e-8, 1e-3, 1e3, 1e8])
@pytest.mark.parametrize("variance", [1e-8, 1e8])
def test_degenerate_thetas_give_finite_numbers(length_scale, variance):
    rng = np.random.default_rng(24)
    x, y = rng.random((40, 2)), rng.normal(size=40)
    theta = Thetas(np.full((1, 2), length_scale), np.array([variance]), np.zeros(1), np.zeros(1))
    stack = fit(x, y, theta)
    assert is_finite(stack, x)
    assert is_finite(stack.condition(rng.random((5, 2))), rng.random((10, 2)))


def test_one_observation_is_enough():
    theta = Thetas(np.ones((1, 1)), np.array([2.0]), np.array([0.5]), np.array([0.3]))
    stack = fit(np.array([[0.4]]), np.array([1.5]), theta)
    mean, std = stack.predict(np.array([[0.4]]))
    np.testing.assert_allclose(mean[0, 0], 0.5 + 2.0 / 2.3 * 1.0, rtol=1e-8)
    np.testing.assert_allclose(std[0, 0] ** 2, 2.0 - 4.0 / 2.3, rtol=1e-8)
