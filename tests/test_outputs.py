"""Standardised outputs, whatever the objective's magnitude."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata

from covey.outputs import logarithms, standardise

unit = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=2, max_size=30)


@given(unit, st.integers(-300, 300))
def test_outputs_have_mean_zero_and_standard_deviation_one_at_any_magnitude(values, power):
    assume(np.ptp(values) > 1e-3)
    z = standardise([value * 10.0**power for value in values]).z
    assert z.mean() == pytest.approx(0, abs=1e-9)
    assert z.std() == pytest.approx(1, rel=1e-9)


@given(
    unit.map(lambda values: [round(value, 9) for value in values]), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3)
)
def test_outputs_do_not_depend_on_the_objectives_origin_and_unit(values, origin, scale):
    assume(np.ptp(values) > 1e-2)
    moved = standardise([origin + scale * value for value in values]).z
    np.testing.assert_allclose(moved, standardise(values).z, atol=1e-3)


@given(unit)
def test_order_is_kept(values):
    z = standardise(values).z
    order = np.argsort(values, kind="stable")
    assert (np.diff(z[order]) >= 0).all()


@pytest.mark.parametrize("magnitude", [5e-324, 1e-320, 1e-300, 1e-10, 1.0, 1e10, 1e300, 1.7e308])
def test_extreme_magnitudes_keep_their_differences(magnitude):
    np.testing.assert_allclose(standardise([magnitude, 0.0, magnitude, 0.0]).z, [1, -1, 1, -1])
    np.testing.assert_allclose(standardise([-magnitude, magnitude]).z, [-1, 1])


@pytest.mark.parametrize("value", [0.0, 0.1, -3.7, 1e-300, -1e300, 1 / 3])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_a_constant_objective_is_zero(value, count):
    np.testing.assert_allclose(standardise([value] * count).z, 0.0, atol=1e-12)


@given(st.lists(st.floats(-1.7e308, 1.7e308), min_size=1, max_size=20))
def test_outputs_are_always_finite(values):
    z = standardise(values).z
    assert z.shape == (len(values),)
    assert np.isfinite(z).all()


@pytest.mark.parametrize("magnitude", [1e-300, 1e-5, 1.0, 1e300])
def test_noise_as_large_as_the_objectives_spread_has_variance_one(magnitude):
    outputs = standardise([-magnitude, magnitude])
    assert outputs.noise_variance(magnitude) == pytest.approx(1)
    assert outputs.noise_variance(magnitude / 10) == pytest.approx(0.01)
    assert outputs.noise_variance(0.0) == 0.0


def test_noise_is_bounded_where_the_objective_hardly_moves():
    assert standardise([1e-300, 2e-300]).noise_variance(1.0) == 1e6


# Logarithms of the distance from the best

SKEWED = np.exp(np.random.default_rng(3).normal(0, 3, 60))


@given(st.lists(st.floats(-1.7e308, 1.7e308), min_size=1, max_size=30))
def test_every_scale_is_finite_and_keeps_the_order(values):
    order = np.argsort(values, kind="stable")
    for outputs in logarithms(values):
        assert np.isfinite(outputs.z).all()
        assert np.isfinite(outputs.log_slope).all()
        assert (np.diff(outputs.z[order]) >= -1e-12).all()


def test_the_first_scale_is_linear_and_the_others_ever_more_logarithmic():
    shares = []
    for outputs in logarithms(SKEWED.tolist()):
        z = np.sort(outputs.z)
        shares.append((z[30] - z[0]) / (z[-1] - z[0]))  # how much of the scale the better half has
    assert shares[0] < 1e-3
    assert shares == sorted(shares)
    assert shares[-1] > 0.3


def test_a_logarithm_is_of_the_distance_from_the_best():
    for outputs in logarithms(SKEWED.tolist())[1:]:
        better = SKEWED[rankdata(SKEWED) <= 30]
        spread = np.sqrt(np.mean((better - better.max()) ** 2))
        expected = np.log(SKEWED - SKEWED.min() + outputs.shift * spread)
        np.testing.assert_allclose(outputs.z, (expected - expected.mean()) / expected.std(), atol=1e-9)


def test_slopes_are_those_of_the_scale():
    """By differences: a value that moves by a little, on a scale that stays as it is."""
    for outputs in logarithms(SKEWED.tolist()):
        order = np.argsort(SKEWED)
        y, z = SKEWED[order] * 2.0**-outputs.exponent, outputs.z[order]
        slope = np.exp(outputs.log_slope[order])
        # A concave function lies below its tangents, and between those of two neighbours is the chord.
        chord = np.diff(z) / np.diff(y)
        assert (chord <= slope[:-1] * (1 + 1e-6)).all()
        assert (chord >= slope[1:] * (1 - 1e-6)).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300 / 2**40])
@pytest.mark.parametrize("shift", [0.0, 7.0])
def test_scales_do_not_depend_on_units(scale, shift):
    moved = logarithms((scale * (SKEWED + shift)).tolist())
    for outputs, original in zip(moved, logarithms(SKEWED.tolist()), strict=True):
        np.testing.assert_allclose(outputs.z, original.z, atol=1e-6)


@pytest.mark.parametrize("values", [[1.0], [2.0, 1.0], [5.0] * 9, [0.0] * 6 + [1.0, 2.0]])
def test_too_little_to_divide_in_halves_is_standardised(values):
    (only,) = logarithms(values)
    np.testing.assert_array_equal(only.z, standardise(values).z)


@pytest.mark.parametrize("penalty", [1e20, 1e200, 1.7e308])
def test_a_penalty_of_any_size_leaves_the_better_values_apart(penalty):
    values = np.append(SKEWED, [penalty] * 20)
    scales = [outputs.z[np.argsort(values)] for outputs in logarithms(values.tolist())]
    assert len(scales) == len(logarithms(SKEWED.tolist()))
    assert scales[-1][40] - scales[-1][0] > 0.05 * (scales[-1][-1] - scales[-1][0])


def test_noise_in_raw_units_is_that_of_the_best_value():
    for outputs in logarithms(SKEWED.tolist()):
        slope = np.exp(outputs.log_slope[np.argmin(SKEWED)]) * 2.0**-outputs.exponent
        assert outputs.noise_variance(0.01) == pytest.approx((0.01 * slope) ** 2)
        assert outputs.noise_variance(0.0) == 0.0
