"""Acquisition functions against mpmath, quadrature and finite differences."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from covey.acquisition.acquisition import ACQUISITIONS, Acquisition, acquisitions, resolve_acquisition
from covey.acquisition.functions import (
    expected_improvement,
    log_expected_improvement,
    log_h,
    lower_confidence_bound,
    probability_of_improvement,
)

real = st.floats(-5, 5)
spread = st.floats(1e-3, 5)


def soft_improvement(mean, std, best, jitter):
    """A user's function, without derivatives."""
    return np.log1p(np.exp(best - jitter - mean)) * np.sqrt(std)


def exact_log_h(z):
    """log(phi(z) + z Phi(z)) with enough digits to lose most of them."""
    with mpmath.workdps(60):
        z = mpmath.mpf(z)
        # phi(z) + z Phi(z) cancels z^2 digits' worth; erfc is exact to the working precision anywhere.
        tail = mpmath.erfc(-z / mpmath.sqrt(2)) / 2
        return mpmath.log(mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi) + z * tail)


TAIL = np.concatenate([-np.geomspace(1e-3, 1e6, 120), [-1.0, -100.0], np.nextafter([-1.0, -100.0], 0)])
BULK = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 60)])


def test_log_h_is_accurate_in_the_tail():
    exact = np.array([float(exact_log_h(z)) for z in TAIL])
    np.testing.assert_allclose(log_h(TAIL), exact, rtol=1e-12)


def test_log_h_is_accurate_in_the_bulk():
    exact = np.array([float(exact_log_h(z)) for z in BULK])
    np.testing.assert_allclose(log_h(BULK), exact, rtol=1e-12, atol=1e-14)


def test_h_itself_is_accurate_to_ten_digits():
    # An error in log h is a relative error in h: absolute accuracy where log h is moderate.
    z = np.concatenate([TAIL[TAIL > -150], BULK])
    exact = np.array([float(exact_log_h(v)) for v in z])
    np.testing.assert_allclose(log_h(z), exact, atol=2e-11, rtol=0)


def test_log_h_rises_without_a_break_where_its_formulas_meet():
    for edge in (-1.0, -100.0):
        around = edge * (1 + np.linspace(-1e-6, 1e-6, 201))
        values = log_h(np.sort(around))
        assert (np.diff(values) > 0).all()


def test_log_h_is_finite_as_far_as_promised():
    assert np.isfinite(log_h(np.array([-1e150, -1e100, -1e20, 1e20, 1e150]))).all()


@given(real, spread, real, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_expected_improvement_is_the_expected_improvement(mean, std, best, jitter):
    target = best - jitter
    integral, _ = quad(
        lambda u: (target - mean - std * u) * norm.pdf(u), -12, np.clip((target - mean) / std, -12, 12)
    )
    assert expected_improvement(mean, std, best, jitter) == pytest.approx(integral, rel=1e-6, abs=1e-9)


@given(real, spread, real, st.floats(0, 1))
@settings(deadline=None)
def test_log_expected_improvement_is_its_logarithm_where_that_is_representable(mean, std, best, jitter):
    ei = float(expected_improvement(np.array(mean), np.array(std), np.array(best), jitter))
    if ei > 1e-250:
        log = log_expected_improvement(np.array(mean), np.array(std), np.array(best), jitter)
        assert log == pytest.approx(np.log(ei), abs=1e-8)


def test_log_expected_improvement_agrees_with_mpmath_where_expected_improvement_vanishes():
    mean, std, best = np.array([50.0, 1e3, 3.0]), np.array([0.5, 1e-2, 1e-6]), np.zeros(3)
    z = (best - 0.1 - mean) / std
    exact = [float(exact_log_h(v) + mpmath.log(s)) for v, s in zip(z, std, strict=True)]
    assert (expected_improvement(mean, std, best, 0.1) == 0).all()
    np.testing.assert_allclose(log_expected_improvement(mean, std, best, 0.1), exact, rtol=1e-12)


@given(real, spread, real, st.floats(0, 1), st.floats(1e-3, 1))
@settings(deadline=None)
def test_expected_improvement_falls_as_jitter_grows(mean, std, best, jitter, more):
    without, with_more = (expected_improvement(mean, std, best, j) for j in (jitter, jitter + more))
    assert with_more <= without
    assert with_more < without or without < 1e-300


@given(real, spread, real)
@settings(deadline=None)
def test_expected_improvement_is_at_least_what_the_mean_improves(mean, std, best):
    assert expected_improvement(mean, std, best, 0.0) >= max(best - mean, 0.0) * (1 - 1e-12)


def test_without_uncertainty_expected_improvement_is_the_improvement():
    mean = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(expected_improvement(mean, np.zeros(3), np.ones(3), 0.5), [1.5, 0.5, 0.0])


@given(real, st.floats(0, 5), real, st.floats(0, 1))
@settings(deadline=None)
def test_probability_of_improvement_is_a_probability(mean, std, best, jitter):
    assert 0 <= probability_of_improvement(mean, std, best, jitter) <= 1


@given(real, spread, real, st.floats(0, 1))
@settings(deadline=None)
def test_probability_of_improvement_is_the_normal_distribution_function(mean, std, best, jitter):
    expected = norm(mean, std).cdf(best - jitter)
    assert probability_of_improvement(mean, std, best, jitter) == pytest.approx(
        expected, rel=1e-9, abs=1e-300
    )


@given(real, spread, real, st.floats(0, 3))
@settings(deadline=None)
def test_lower_confidence_bound_is_jitter_times_std_less_mean(mean, std, best, jitter):
    assert lower_confidence_bound(mean, std, best, jitter) == pytest.approx(jitter * std - mean, abs=1e-12)


def test_thompson_is_the_drawn_function_turned_over():
    mean, zeros = np.array([[1.0, -2.0]]), np.zeros((1, 2))
    np.testing.assert_array_equal(ACQUISITIONS["ts"].value(mean, zeros, np.zeros((1, 1)), 0.0), -mean)
    assert ACQUISITIONS["ts"].draws_paths


EVERY = [*ACQUISITIONS.values(), Acquisition("soft", soft_improvement)]
every_acquisition = pytest.mark.parametrize("acquisition", EVERY, ids=lambda a: a.name)


@every_acquisition
@pytest.mark.parametrize("jitter", [0.0, 0.3, 1.0])
def test_partials_agree_with_differences(acquisition, jitter):
    rng = np.random.default_rng(0)
    mean, std, best = rng.normal(size=(4, 9)), rng.uniform(0.1, 2, (4, 9)), rng.normal(size=(4, 1))
    in_mean, in_std = acquisition.slopes(mean, std, best, jitter)
    step = 1e-5

    def value(more_mean, more_std):
        return acquisition.value(mean + more_mean, std + more_std, best, jitter)

    by_mean = (value(step, 0) - value(-step, 0)) / (2 * step)
    by_std = (value(0, step) - value(0, -step)) / (2 * step)
    # log-EI is steep in its tail, so that differences of it carry a relative error.
    np.testing.assert_allclose(in_mean, by_mean, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(in_std, by_std, rtol=1e-5, atol=1e-8)
    assert in_mean.shape == in_std.shape == (4, 9)


def test_partials_of_log_expected_improvement_hold_out_in_the_tail():
    mean, std, best = np.array([[40.0]]), np.array([[0.5]]), np.zeros((1, 1))
    in_mean, in_std = ACQUISITIONS["log-ei"].slopes(mean, std, best, 0.0)
    # d log h / dz = Phi / h, which mpmath takes from the exact log h.
    with mpmath.workdps(60):
        slope = float(mpmath.diff(exact_log_h, -80, h=mpmath.mpf("1e-15")))
    np.testing.assert_allclose(in_mean, -slope / 0.5, rtol=1e-8)
    np.testing.assert_allclose(in_std, (1 + slope * 80) / 0.5, rtol=1e-6)


@every_acquisition
def test_lower_means_are_better(acquisition):
    mean = np.linspace(-2, 2, 50)[None]
    value = acquisition.value(mean, np.ones_like(mean), np.zeros((1, 1)), 0.1)
    assert (np.diff(value) < 0).all()


@every_acquisition
def test_values_broadcast_over_the_stack(acquisition):
    rng = np.random.default_rng(1)
    mean, std, best = rng.normal(size=(3, 5)), rng.uniform(0.1, 2, (3, 5)), rng.normal(size=(3, 1))
    value = acquisition.value(mean, std, best, 0.2)
    assert value.shape == (3, 5)
    for s in range(3):
        row = acquisition.value(mean[s : s + 1], std[s : s + 1], best[s : s + 1], 0.2)
        np.testing.assert_allclose(row[0], value[s])


def test_numerical_slopes_are_finite_without_uncertainty():
    acquisition = Acquisition("linear", lambda mean, std, best, jitter: jitter * std - mean)
    in_mean, in_std = acquisition.slopes(np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 1)), 0.5)
    np.testing.assert_allclose(in_mean, -1.0)
    np.testing.assert_allclose(in_std, 0.5)


@pytest.mark.parametrize("name", list(ACQUISITIONS))
def test_every_name_resolves_to_itself(name):
    assert resolve_acquisition(name).name == name
    assert name in acquisitions()
    assert resolve_acquisition(ACQUISITIONS[name]) == ACQUISITIONS[name]


def test_a_function_becomes_an_acquisition():
    resolved = resolve_acquisition(soft_improvement)
    assert (resolved.name, resolved.scale, resolved.partials) == ("soft_improvement", "real", None)


@pytest.mark.parametrize("wrong", ["eii", "", 3, None])
def test_an_unknown_acquisition_is_refused_with_the_known_ones(wrong):
    with pytest.raises(ValueError, match=r"acquisition must be one of \['ei', 'lcb'.*got " + repr(wrong)):
        resolve_acquisition(wrong)


@pytest.mark.parametrize(
    "wrong",
    [lambda m, s, b, j: m.mean(axis=0), lambda m, s, b, j: 1.0, lambda m, s, b, j: (m - b)[:, :1]],
)
def test_a_function_of_the_wrong_shape_is_refused(wrong):
    with pytest.raises(ValueError, match=r"arrays of shape \(thetas, points\)"):
        resolve_acquisition(wrong)


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="scale must be 'real', 'positive' or 'log', got 'linear'"):
        resolve_acquisition(Acquisition("mine", soft_improvement, scale="linear"))
