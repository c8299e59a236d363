"""Standardised warp, whatever the objective's magnitude."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata

from covey.model.warps import standardise, warps

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
    warp = standardise([-magnitude, magnitude])
    assert warp.noise_variance(magnitude) == pytest.approx(1)
    assert warp.noise_variance(magnitude / 10) == pytest.approx(0.01)
    assert warp.noise_variance(0.0) == 0.0


def test_noise_is_bounded_where_the_objective_hardly_moves():
    assert standardise([1e-300, 2e-300]).noise_variance(1.0) == 1e6


# Logarithms of the distance from the best, or from the worst

SKEWED = np.exp(np.random.default_rng(3).normal(0, 3, 60))
LINEAR = 4
"""Where the linear scale stands: four of either kind are around it."""


@given(st.lists(st.floats(-1.7e308, 1.7e308), min_size=1, max_size=30))
def test_every_warp_is_finite_and_keeps_the_order(values):
    order = np.argsort(values, kind="stable")
    for warp in warps(values):
        assert np.isfinite(warp.z).all()
        assert np.isfinite(warp.log_slope).all()
        assert (np.diff(warp.z[order]) >= -1e-12).all()


def test_warps_give_ever_more_room_to_the_better_half_with_the_linear_one_in_the_middle():
    shares, found = [], warps(SKEWED.tolist())
    for warp in found:
        z = np.sort(warp.z)
        shares.append((z[30] - z[0]) / (z[-1] - z[0]))  # how much of the scale the better half has
    assert shares == sorted(shares)
    assert shares[LINEAR] < 1e-3
    assert shares[-1] > 0.3
    assert [warp.shift for warp in found] == [-0.02, -0.1, -0.5, -2, np.inf, 2, 0.5, 0.1, 0.02]
    np.testing.assert_array_equal(found[LINEAR].z, standardise(SKEWED.tolist()).z)


def test_upside_down_the_scales_are_those_of_the_other_end():
    for warp, mirrored in zip(warps(SKEWED.tolist()), warps((-SKEWED).tolist())[::-1], strict=True):
        np.testing.assert_allclose(warp.z, -mirrored.z, atol=1e-6)
        assert warp.shift in (-mirrored.shift, np.inf)


def test_a_logarithm_is_of_the_distance_from_the_best():
    for warp in warps(SKEWED.tolist())[LINEAR + 1 :]:
        better = SKEWED[rankdata(SKEWED) <= 30]
        spread = np.sqrt(np.mean((better - better.max()) ** 2))
        expected = np.log(SKEWED - SKEWED.min() + warp.shift * spread)
        np.testing.assert_allclose(warp.z, (expected - expected.mean()) / expected.std(), atol=1e-9)


def test_slopes_are_those_of_the_scale():
    """A concave function lies below its tangents, and between those of two neighbours is the chord."""
    order = np.argsort(SKEWED)
    for warp in warps(SKEWED.tolist()):
        y, z = SKEWED[order] * 2.0**-warp.exponent, warp.z[order]
        slope = np.exp(warp.log_slope[order])
        chord, between = np.diff(z) / np.diff(y), np.sort([slope[:-1], slope[1:]], axis=0)
        assert (chord >= between[0] * (1 - 1e-6)).all()
        assert (chord <= between[1] * (1 + 1e-6)).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300 / 2**40])
@pytest.mark.parametrize("shift", [0.0, 7.0])
def test_scales_do_not_depend_on_units(scale, shift):
    moved = warps((scale * (SKEWED + shift)).tolist())
    for warp, original in zip(moved, warps(SKEWED.tolist()), strict=True):
        np.testing.assert_allclose(warp.z, original.z, atol=1e-6)


@pytest.mark.parametrize("values", [[1.0], [2.0, 1.0], [5.0] * 9])
def test_too_little_to_divide_in_halves_is_standardised(values):
    (only,) = warps(values)
    np.testing.assert_array_equal(only.z, standardise(values).z)


def test_where_half_of_the_values_are_the_best_no_scale_resolves_them():
    assert [warp.shift for warp in warps([0.0] * 6 + [1.0, 2.0])][-1] == np.inf


@pytest.mark.parametrize("penalty", [1e20, 1e200, 1.7e308])
def test_a_penalty_of_any_size_leaves_the_better_values_apart(penalty):
    values = np.append(SKEWED, [penalty] * 20)
    found = [warp.z[np.argsort(values)] for warp in warps(values.tolist())]
    assert found[-1][40] - found[-1][0] > 0.05 * (found[-1][-1] - found[-1][0])


def test_noise_in_raw_units_is_that_of_the_best_value():
    for warp in warps(SKEWED.tolist()):
        slope = np.exp(warp.log_slope[np.argmin(SKEWED)]) * 2.0**-warp.exponent
        assert warp.noise_variance(0.01) == pytest.approx((0.01 * slope) ** 2)
        assert warp.noise_variance(0.0) == 0.0
