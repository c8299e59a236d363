"""Compiled kernels against plain numpy and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from covey.model.native import covariance, likelihood


def matern(distance, variance=1.0):
    """Matern 5/2 of the scaled distance, in plain numpy."""
    r = np.sqrt(5.0 * distance**2)
    return variance * (1.0 + r + r * r / 3.0) * np.exp(-r)


def covariance_at(distances, variance=1.0):
    """The kernel's covariances of points at these distances from the origin of a line."""
    distances = np.asarray(distances, dtype=float)
    out = np.empty((1, 1, len(distances)))
    covariance.covariances(distances[None], np.zeros((1, 1)), np.ones((1, 1)), np.array([variance]), out)
    return out[0, 0]


def stack_of_problems(seed, count=4, features=3, n=12):
    rng = np.random.default_rng(seed)
    x = rng.random((features, n))
    w = 1.0 / rng.uniform(0.2, 2.0, (count, features))
    v, e = rng.uniform(0.3, 3.0, count), rng.uniform(1e-6, 0.1, (count, n))
    return x, rng.normal(size=(count, n)), w, v, e


def dense_covariance(x, w, v):
    z = x.T * w
    return matern(np.linalg.norm(z[:, None] - z[None], axis=2), v)


def lower(chol):
    """The factor as a lower triangle: the kernels write it column-major."""
    return np.tril(chol.T)


def test_covariance_is_matern_five_halves_to_the_last_bits():
    distances = np.concatenate([[0.0], np.geomspace(1e-12, 300.0, 5000), np.linspace(0, 300, 5000)])
    np.testing.assert_allclose(covariance_at(distances), matern(distances), rtol=4e-15)


@given(st.floats(0.0, 310.0), st.floats(1e-6, 1e6))
@settings(deadline=None)
def test_covariance_scales_with_the_variance(distance, variance):
    np.testing.assert_allclose(covariance_at([distance], variance)[0], matern(distance, variance), rtol=1e-14)


@pytest.mark.parametrize("distance", [313.2, 1e3, 1e6, 1e9, 1e12])
def test_covariance_of_points_that_are_worlds_apart_is_nothing(distance):
    assert 0.0 <= covariance_at([distance])[0] < 1e-270


def test_covariances_of_a_stack_use_every_rows_own_length_scales():
    x, _, w, v, _ = stack_of_problems(0)
    q = np.random.default_rng(1).random((5, 3))
    out = np.empty((4, 5, 12))
    covariance.covariances(x, q, w, v, out)
    for s in range(4):
        distance = np.linalg.norm((q[:, None] - x.T[None]) * w[s], axis=2)
        np.testing.assert_allclose(out[s], matern(distance, v[s]), rtol=1e-13)


def test_factor_times_its_transpose_is_the_covariance_plus_noise():
    x, _, w, v, e = stack_of_problems(2)
    chol = np.empty((4, 12, 12))
    covariance.factorise(x, w, v, e, chol, np.empty(len(v)))
    for s in range(4):
        expected = dense_covariance(x, w[s], v[s]) + np.diag(e[s] + covariance.NUGGET * v[s])
        np.testing.assert_allclose(lower(chol[s]) @ lower(chol[s]).T, expected, atol=1e-13)


def test_log_likelihood_is_that_of_the_multivariate_normal():
    x, r, w, v, e = stack_of_problems(3)
    out = np.empty(4)
    likelihood.log_likelihood(x, r, w, v, e, out)
    for s in range(4):
        cov = dense_covariance(x, w[s], v[s]) + np.diag(e[s] + covariance.NUGGET * v[s])
        np.testing.assert_allclose(out[s], multivariate_normal(np.zeros(12), cov).logpdf(r[s]), rtol=1e-8)


def test_log_likelihood_gradient_returns_the_same_value_and_what_its_derivatives_are_made_of():
    x, r, w, v, e = stack_of_problems(4)
    out = np.empty(4)
    likelihood.log_likelihood(x, r, w, v, e, out)
    for s in range(4):
        alpha, precision, slopes = np.empty(12), np.empty(12), np.empty(4)
        value = likelihood.log_likelihood_gradient(x, r[s], w[s], v[s], e[s], alpha, precision, slopes)
        np.testing.assert_allclose(value, out[s], rtol=1e-12)
        inverse = np.linalg.inv(dense_covariance(x, w[s], v[s]) + np.diag(e[s] + covariance.NUGGET * v[s]))
        np.testing.assert_allclose(alpha, inverse @ r[s], rtol=1e-6)
        np.testing.assert_allclose(precision, np.diag(inverse), rtol=1e-6)


def test_solve_inverts_the_factor_and_its_transpose():
    x, _, w, v, e = stack_of_problems(5)
    chol = np.empty((4, 12, 12))
    covariance.factorise(x, w, v, e, chol, np.empty(len(v)))
    b = np.random.default_rng(6).normal(size=(4, 7, 12))
    forward, backward = b.copy(), b.copy()
    covariance.solve(chol, forward, False)
    covariance.solve(chol, backward, True)
    for s in range(4):
        np.testing.assert_allclose(forward[s] @ lower(chol[s]).T, b[s], atol=1e-10)
        np.testing.assert_allclose(backward[s] @ lower(chol[s]), b[s], atol=1e-10)


def test_multiply_applies_the_factor_and_its_transpose():
    x, _, w, v, e = stack_of_problems(5)
    chol = np.empty((4, 12, 12))
    covariance.factorise(x, w, v, e, chol, np.empty(len(v)))
    b = np.random.default_rng(7).normal(size=(4, 12))
    forward, backward = b.copy(), b.copy()
    covariance.multiply(chol, forward, False)
    covariance.multiply(chol, backward, True)
    for s in range(4):
        np.testing.assert_allclose(forward[s], lower(chol[s]) @ b[s], atol=1e-12)
        np.testing.assert_allclose(backward[s], lower(chol[s]).T @ b[s], atol=1e-12)


@pytest.mark.parametrize(("shortfall", "nugget"), [(3e-9, 1e-8), (3e-5, 1e-4), (0.03, 0.1)])
def test_the_nugget_grows_tenfold_until_a_factor_exists(shortfall, nugget):
    # One point repeated has a singular covariance; a negative noise makes it indefinite by as much.
    x, ones = np.full((1, 5), 0.3), np.ones(1)
    chol = np.empty((1, 5, 5))
    covariance.factorise(
        x, ones[:, None], 2.0 * ones, np.full((1, 5), -2.0 * shortfall), chol, np.empty(len(ones))
    )
    diagonal = np.diag(lower(chol[0]) @ lower(chol[0]).T)
    np.testing.assert_allclose(diagonal, 2.0 * (1.0 - shortfall + nugget), rtol=1e-12)


def test_a_matrix_beyond_repair_has_no_likelihood_but_a_finite_factor():
    x, ones, noise = np.full((1, 3), 0.3), np.ones(1), np.full((1, 3), -1.5)
    out, chol = np.empty(1), np.empty((1, 3, 3))
    likelihood.log_likelihood(x, np.zeros((1, 3)), ones[:, None], ones, noise, out)
    covariance.factorise(x, ones[:, None], ones, noise, chol, np.empty(len(ones)))
    assert out[0] == -np.inf
    np.testing.assert_allclose(chol[0], np.sqrt(0.5) * np.eye(3))
    parts = np.full(3, np.nan), np.full(3, np.nan), np.full(2, np.nan)
    assert likelihood.log_likelihood_gradient(x, np.zeros(3), np.ones(1), 1.0, noise[0], *parts) == -np.inf
    for part in parts:
        np.testing.assert_array_equal(part, 0.0)
