"""The density of theta, its gradient, and emcee's draws from it against a brute-force grid."""

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from covey.model import sampler
from covey.model.distributions import LogNormal, Normal, Uniform
from covey.model.log_posterior import (
    BOUND,
    Data,
    draw_prior,
    log_likelihood,
    log_posterior,
    log_posterior_gradient,
    log_prior,
)
from covey.model.native.threads import single_threaded_blas
from covey.model.priors import Prior, resolve_prior
from covey.model.sampler import BUDGET, _resample, sample, walkers_for
from covey.model.theta import Thetas

WALKERS = BUDGET.walkers


def some_data(n=10, dimensions=2, noise=0.01, prior="default", owner=None, seed=0):
    rng = np.random.default_rng(seed)
    owner = np.arange(dimensions) if owner is None else np.array(owner)
    x = rng.random((n, len(owner)))
    y = np.sin(5 * x[:, 0]) + 0.1 * rng.normal(size=n)
    y = (y - y.mean()) / (y.std() or 1.0)
    return Data(x, y, owner, noise, resolve_prior(prior, int(owner[-1]) + 1))


def matern_covariance(x, length_scale, variance):
    r = np.sqrt(5) * np.linalg.norm((x[:, None] - x[None]) / length_scale, axis=2)
    return variance * (1 + r + r**2 / 3) * np.exp(-r)


def random_positions(data, count, seed=1):
    return np.random.default_rng(seed).normal(scale=0.7, size=(count, data.parameters))


def test_log_likelihood_agrees_with_scikit_learn_and_with_the_formula():
    data = some_data(n=15, dimensions=3, noise=None)
    thetas = data.thetas(random_positions(data, 6))
    ours = log_likelihood(data, thetas)
    for s in range(6):
        kernel = ConstantKernel(thetas.variance[s]) * Matern(thetas.length_scale[s], nu=2.5)
        gp = GaussianProcessRegressor(kernel, alpha=thetas.noise[s], optimizer=None)
        residual = data.y - thetas.mean[s]
        np.testing.assert_allclose(ours[s], gp.fit(data.x, residual).log_marginal_likelihood(), rtol=1e-7)
        cov = matern_covariance(data.x, thetas.length_scale[s], thetas.variance[s])
        cov += thetas.noise[s] * np.eye(15)
        formula = -0.5 * (residual @ np.linalg.solve(cov, residual) + np.linalg.slogdet(2 * np.pi * cov)[1])
        np.testing.assert_allclose(ours[s], formula, rtol=1e-7)


@pytest.mark.parametrize("cores", [3, 5])
def test_log_posterior_does_not_depend_on_the_number_of_cores(monkeypatch, cores):
    data = some_data(n=80, noise=None)
    positions = random_positions(data, 11)

    def values(available):
        monkeypatch.setattr("covey.model.native.threads.cores", lambda: available)
        return log_posterior(data, positions)

    with single_threaded_blas():
        np.testing.assert_array_equal(values(1), values(cores))


def test_row_of_log_posterior_is_that_theta_alone():
    data = some_data(noise=None)
    positions = random_positions(data, 5)
    alone = [log_posterior(data, positions[s : s + 1])[0] for s in range(5)]
    np.testing.assert_allclose(log_posterior(data, positions), alone, rtol=1e-13)


@pytest.mark.parametrize("prior", ["default", "paper"])
@pytest.mark.parametrize("noise", [None, 0.0, 0.01])
@pytest.mark.parametrize("owner", [[0], [0, 1, 2], [0, 1, 1, 1, 2], [0, 0, 1, 1]])
def test_log_posterior_gradient_agrees_with_differences(prior, noise, owner):
    data = some_data(n=8, noise=noise, prior=prior, owner=owner)
    for position in random_positions(data, 3):
        value, gradient = log_posterior_gradient(data, position)
        step = 1e-5 * np.eye(data.parameters)
        up, down = log_posterior(data, position + step), log_posterior(data, position - step)
        np.testing.assert_allclose(value, log_posterior(data, position[None])[0], rtol=1e-10)
        np.testing.assert_allclose(gradient, (up - down) / 2e-5, rtol=1e-4, atol=1e-5)


def test_gradient_is_zero_where_the_density_is():
    data = some_data(prior="paper")
    position = np.zeros(data.parameters)
    position[-1] = 3.5  # the mean, outside Uniform(-3, 3)
    value, gradient = log_posterior_gradient(data, position)
    assert value == -np.inf
    np.testing.assert_array_equal(gradient, 0.0)


def test_log_posterior_is_minus_infinity_outside_and_never_nan():
    data = some_data(prior="paper", noise=None)
    wild = np.array([[0, 0, 0, 4, 0], [BOUND, 0, 0, 0, 0], [0, -50, 0, 0, 0], [0, 0, 800, 0, 0]], dtype=float)
    np.testing.assert_array_equal(log_posterior(data, wild), -np.inf)
    edges = np.random.default_rng(2).uniform(-BOUND, BOUND, (50, 5))
    assert not np.isnan(log_posterior(data, edges)).any()
    assert not np.isposinf(log_posterior(data, edges)).any()


@pytest.mark.parametrize("prior", ["default", "paper"])
def test_log_prior_is_a_density_in_the_walkers_space(prior):
    # Without the Jacobian of the logarithms, this would not be 1.
    data = some_data(dimensions=1, prior=prior)
    axes = [np.linspace(-14, 8, 111), np.linspace(-14, 8, 111), np.linspace(-6, 6, 121)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    density = np.exp(log_prior(data, grid.reshape(-1, 3))).reshape(grid.shape[:3])
    for axis in reversed(axes):
        density = np.trapezoid(density, axis, axis=-1)
    assert density == pytest.approx(1, rel=0.02)


def test_prior_draws_follow_the_prior():
    prior = Prior(LogNormal(0.5, 0.4), LogNormal(-1, 0.7), Uniform(-2, 1), LogNormal(-6, 1.5))
    data = Data(np.zeros((1, 3)), np.zeros(1), np.array([0, 1, 1]), None, prior)
    drawn = draw_prior(data, np.random.default_rng(3), 4000)
    normals = [(0.5, 0.4), (0.5, 0.4), (-1, 0.7), None, (-6, 1.5)]
    for column, moments in zip(drawn.T, normals, strict=True):
        oracle = stats.uniform(-2, 3) if moments is None else stats.norm(*moments)
        assert stats.kstest(column, oracle.cdf).pvalue > 1e-3


def test_features_of_one_dimension_share_its_length_scale():
    data = some_data(owner=[0, 1, 1, 1, 2], noise=None)
    thetas = data.thetas(random_positions(data, 4))
    assert (data.dimensions, data.parameters) == (3, 6)
    assert thetas.length_scale.shape == (4, 5)
    np.testing.assert_array_equal(thetas.length_scale[:, 1], thetas.length_scale[:, 3])


def test_fixed_noise_is_no_parameter():
    data = some_data(noise=0.25)
    assert data.parameters == 4
    np.testing.assert_array_equal(data.thetas(np.zeros((3, 4))).noise, 0.25)


# Sampling, against a grid


PRIOR = Prior(LogNormal(-0.5, 0.7), LogNormal(0.0, 0.8), Normal(0.0, 0.7), LogNormal(-4, 1.0))


def line(n, noise):
    """A few observations on a line, whose theta is far from certain."""
    x = np.linspace(0.05, 0.95, n)[:, None]
    order = np.random.default_rng(4).permutation(n)
    y = np.sin(7 * x[:, 0]) + 0.5 * x[:, 0]
    return Data(x[order], ((y - y.mean()) / y.std())[order], np.array([0]), noise, PRIOR)


def grid_moments(data, points):
    """Posterior mean and standard deviation of every parameter, by brute force."""
    axes = [np.linspace(-4, 3, points), np.linspace(-4, 5, points), np.linspace(-4, 4, points)]
    if data.noise is None:
        axes.append(np.linspace(-9, 1, points))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    logs = np.concatenate([log_posterior(data, part) for part in np.array_split(grid, 16)])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    return mean, np.sqrt(weights @ (grid - mean) ** 2)


def as_positions(thetas, learned=False):
    parts = [np.log(thetas.length_scale[:, 0]), np.log(thetas.variance), thetas.mean]
    return np.stack(parts + [np.log(thetas.noise)] * learned, axis=1)


def cold(data, seed):
    return sample(data, None, 4 * WALKERS, np.random.default_rng(seed))


def warm(data, seed):
    """Walkers that have seen all observations but one, brought to the last."""
    rng = np.random.default_rng(seed)
    earlier = sample(data.part(np.arange(len(data.y) - 1)), None, WALKERS, rng)
    return sample(data, earlier.ensemble, 4 * WALKERS, rng)


@pytest.mark.parametrize("run", [cold, warm])
def test_draws_have_the_moments_of_the_grid_posterior(run):
    data = line(7, 0.01)
    mean, std = grid_moments(data, 36)
    drawn = np.concatenate([as_positions(run(data, seed).thetas) for seed in range(12)])
    # The pooled draws are worth some hundreds of independent ones.
    np.testing.assert_allclose((drawn.mean(axis=0) - mean) / std, 0.0, atol=0.2)
    np.testing.assert_allclose(drawn.std(axis=0) / std, 1.0, atol=0.2)


@pytest.mark.parametrize("run", [cold, warm])
def test_draws_have_the_moments_of_the_grid_posterior_when_noise_is_learned(run):
    data = line(8, None)
    mean, std = grid_moments(data, 24)
    drawn = np.concatenate([as_positions(run(data, seed).thetas, learned=True) for seed in range(20)])
    np.testing.assert_allclose((drawn.mean(axis=0) - mean) / std, 0.0, atol=0.2)
    np.testing.assert_allclose(drawn.std(axis=0) / std, 1.0, atol=0.2)


def test_without_information_draws_follow_the_prior():
    # One observation with overwhelming noise says nothing.
    data = Data(np.zeros((1, 1)), np.zeros(1), np.array([0]), 1e8, PRIOR)
    drawn = np.concatenate([as_positions(cold(data, seed).thetas) for seed in range(8)])
    moments = np.array([[-0.5, 0.7], [0.0, 0.8], [0.0, 0.7]])
    np.testing.assert_allclose((drawn.mean(axis=0) - moments[:, 0]) / moments[:, 1], 0.0, atol=0.25)
    np.testing.assert_allclose(drawn.std(axis=0) / moments[:, 1], 1.0, atol=0.25)


@pytest.mark.parametrize("count", [1, WALKERS, WALKERS + 1, 300])
def test_at_least_as_many_draws_as_wanted(count):
    thetas = sample(some_data(), None, count, np.random.default_rng(5)).thetas
    assert isinstance(thetas, Thetas)
    assert count <= len(thetas) < count + WALKERS
    assert thetas.length_scale.shape == (len(thetas), 2)


def many_on_a_line(seed, n, noise=0.05):
    """Noisy observations of a wave, many of them."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 1))
    y = np.sin(6 * x[:, 0]) + np.sqrt(noise) * rng.normal(size=n)
    return Data(x, (y - y.mean()) / y.std(), np.array([0]), noise, PRIOR)


def test_walkers_become_fewer_with_many_observations_but_never_too_few():
    counts = [walkers_for(many_on_a_line(0, n)) for n in (5, 100, 400, 10_000)]
    assert counts == [WALKERS, WALKERS, WALKERS // 2, 2 * (3 + 1)]


def test_draws_of_fewer_walkers_have_the_moments_of_the_grid_posterior():
    data, half = many_on_a_line(1, 125), np.arange(110)
    found = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        earlier = sample(data.part(half), None, WALKERS, rng)
        run = sample(data, earlier.ensemble, 4 * WALKERS, rng)
        assert len(run.ensemble.position) == walkers_for(data) < len(earlier.ensemble.position) <= WALKERS
        found.append(as_positions(run.thetas))
    mean, std = grid_moments(data, 22)
    drawn = np.concatenate(found)
    np.testing.assert_allclose((drawn.mean(axis=0) - mean) / std, 0.0, atol=0.2)
    np.testing.assert_allclose(drawn.std(axis=0) / std, 1.0, atol=0.2)


def test_draws_are_plausible_thetas():
    thetas = sample(some_data(noise=None), None, 100, np.random.default_rng(6)).thetas
    for part in (thetas.length_scale, thetas.variance, thetas.noise):
        assert (part > 0).all()
        assert np.isfinite(part).all()
    assert np.isfinite(thetas.mean).all()
    assert len(np.unique(thetas.variance)) > 50


def test_same_seed_gives_same_draws():
    data = some_data()
    first, again, other = (sample(data, None, 64, np.random.default_rng(s)).thetas for s in (7, 7, 8))
    for name in ("length_scale", "variance", "mean", "noise"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert (first.variance != other.variance).any()


def test_sampling_leaves_numpys_global_generator_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    sample(some_data(), None, 64, np.random.default_rng(9))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_diagnostics_are_plausible():
    result = sample(some_data(), None, 200, np.random.default_rng(10))
    d, walkers = result.diagnostics, len(result.ensemble.position)
    assert 0 < d.acceptance <= 1
    assert d.steps >= 200 / walkers
    assert d.evaluations >= d.steps * walkers
    assert 1 < d.effective_sample_size <= d.steps * walkers


@pytest.mark.parametrize("run", [cold, warm])
def test_the_ensemble_knows_its_own_density(run):
    data = line(7, 0.01)
    ensemble = run(data, 11).ensemble
    assert ensemble.observations == 7
    np.testing.assert_allclose(ensemble.log_density, log_posterior(data, ensemble.position), rtol=1e-9)


def test_a_run_on_the_same_data_goes_on_from_the_ensemble():
    data = some_data()
    first = sample(data, None, 64, np.random.default_rng(12))
    second = sample(data, first.ensemble, 64, np.random.default_rng(13))
    assert second.diagnostics.evaluations < first.diagnostics.evaluations
    assert second.ensemble.observations == len(data.y)


def test_warm_starting_does_not_write_into_the_old_ensemble():
    data = some_data()
    first = sample(data.part(np.arange(9)), None, 64, np.random.default_rng(14))
    position, log_density = first.ensemble.position.copy(), first.ensemble.log_density.copy()
    sample(data, first.ensemble, 64, np.random.default_rng(15))
    np.testing.assert_array_equal(first.ensemble.position, position)
    np.testing.assert_array_equal(first.ensemble.log_density, log_density)


@pytest.mark.parametrize("noise", [None, 0.0])
@pytest.mark.parametrize("prior", ["default", "paper"])
def test_one_observation_is_enough(noise, prior):
    data = some_data(n=1, noise=noise, prior=prior)
    result = sample(data, None, 64, np.random.default_rng(16))
    assert len(result.thetas) >= 64
    assert np.isfinite(result.ensemble.log_density).all()


@pytest.mark.parametrize("noise", [None, 0.0])
def test_repeated_points_and_constant_values_are_no_obstacle(noise):
    data = Data(np.full((6, 2), 0.5), np.zeros(6), np.array([0, 1]), noise, resolve_prior("default", 2))
    result = sample(data, None, 64, np.random.default_rng(17))
    assert np.isfinite(result.ensemble.log_density).all()


def test_more_dimensions_bring_more_walkers():
    data = some_data(n=5, dimensions=40)
    result = sample(data, None, 10, np.random.default_rng(18))
    assert len(result.ensemble.position) >= 2 * data.parameters


def test_walkers_of_equal_weight_are_all_kept():
    np.testing.assert_array_equal(_resample(np.full(64, -3.0), np.random.default_rng(19)), np.arange(64))


def test_walkers_are_kept_in_proportion_to_their_weights():
    kept = _resample(np.repeat(np.log([1.0, 3.0]), 32), np.random.default_rng(20))
    assert np.sum(kept >= 32) == 48


def test_walkers_that_new_data_rule_out_are_dropped_and_no_few_take_over():
    log_weights = np.where(np.arange(64) < 10, -np.inf, 0.0)
    assert _resample(log_weights, np.random.default_rng(21)).min() >= 10
    log_weights[63] = 1e4
    assert len(np.unique(_resample(log_weights, np.random.default_rng(22)))) > 64 / 6
    everyone_out = np.full(64, -np.inf)
    np.testing.assert_array_equal(_resample(everyone_out, np.random.default_rng(23)), np.arange(64))


@pytest.mark.parametrize("parameters", [9, 20])
def test_the_moves_leave_a_normal_distribution_as_it_is(parameters, monkeypatch):
    # An oracle for the sampler alone: walkers that begin in the target must stay in it.
    monkeypatch.setattr(sampler, "log_posterior", lambda _data, at: -0.5 * (at**2).sum(axis=1))
    rng = np.random.default_rng(0)
    data = Data(np.zeros((1, 1)), np.zeros(1), np.zeros(1, dtype=np.intp), None, resolve_prior("default", 1))
    start = rng.normal(size=(128, parameters))
    ensemble = sampler.Ensemble(start, -0.5 * (start**2).sum(axis=1), 1)
    chain, _, acceptance = sampler._move(data, ensemble, 1500, rng)
    assert chain[200:].std() == pytest.approx(1.0, abs=0.03)
    assert 0.1 < acceptance < 0.6
