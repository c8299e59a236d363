"""What scikit-learn's searches take as distributions, as dimensions."""

import math

import numpy as np
import pytest
from scipy import stats

import covey
from covey.integrations.labelled import listed
from covey.integrations.sklearn.space import Quantiles, as_space
from covey.testing import DimensionSuite


class TestUniform(DimensionSuite):
    def make(self):
        return Quantiles(stats.uniform(-2, 5))

    def outside(self):
        return [*super().outside(), -2.1, 3.1, True]


class TestLogUniform(DimensionSuite):
    def make(self):
        return Quantiles(stats.loguniform(1e-5, 1e5))


class TestNormal(DimensionSuite):
    """No bounds: the tails are cut."""

    def make(self):
        return Quantiles(stats.norm(3, 2))


class TestRisingNumbers(DimensionSuite):
    def make(self):
        return listed([1, 2.5, 10, 100])


class TestThingsOfAllKinds(DimensionSuite):
    def make(self):
        return listed([None, "auto", 3, (1, 2)])


def dimension(given):
    return as_space({"x": given}).dimensions["x"]


def test_a_uniform_distribution_is_a_linear_scale_and_a_loguniform_one_logarithmic():
    for position in (0.0, 0.25, 0.5, 1.0):
        assert dimension(stats.uniform(2, 8)).decode(position) == covey.Float(2, 10).decode(position)
        decade = dimension(stats.loguniform(1e-3, 1e3)).decode(position)
        assert math.isclose(decade, covey.Float(1e-3, 1e3, log=True).decode(position), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [(stats.randint(2, 9), 2, 8), (stats.binom(5, 0.5), 0, 5), (stats.randint(-3, -2), -3, -3)],
)
def test_a_discrete_distribution_is_its_range(given, low, high):
    assert dimension(given) == covey.Int(low, high)


def test_a_discrete_distribution_without_an_end_loses_its_tail():
    range_of_it = dimension(stats.poisson(10))
    assert range_of_it.low == 0
    assert 20 <= range_of_it.high <= 30


def test_a_distribution_that_is_not_frozen_has_its_own_location_and_scale():
    assert dimension(stats.uniform).decode(0.5) == 0.5


@pytest.mark.parametrize("given", [[1, 2, 4], np.logspace(0, 2, 3), range(5), [8, 4, 2]], ids=str)
def test_numbers_that_rise_or_fall_are_ordered(given):
    assert dimension(given).ordered
    assert [dimension(given).decode(p) for p in (0.0, 1.0)] == [given[0], given[-1]]


@pytest.mark.parametrize("given", [[1, 3, 2], [True, False], ["a", "b"], [None, 1], [[1], [2]]], ids=str)
def test_everything_else_is_a_choice(given):
    assert not dimension(given).ordered
    assert [dimension(given).decode(p) for p in (0.0, 1.0)] == [given[0], given[-1]]


def test_covey_dimensions_and_spaces_are_taken_as_they_are():
    space = covey.Space({"x": covey.Float(0, 1), "y": covey.Int(1, 9, log=True)})
    assert as_space(space) is space
    assert as_space(dict(space.dimensions)) == space


@pytest.mark.parametrize(
    "given", ["rbf", 3.0, {"a": 1}, object(), covey.Float], ids=lambda given: type(given).__name__
)
def test_what_is_no_distribution_is_refused_by_name(given):
    with pytest.raises(ValueError, match="'x'"):
        as_space({"x": given})


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match=r"'x'.*at least one"):
        as_space({"x": []})
