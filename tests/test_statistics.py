"""Mean and standard error over runs."""

import math

import numpy as np
import pytest

from covey.bench.statistics import mean_and_error, means_and_errors


def test_the_standard_error_is_of_the_mean():
    assert mean_and_error([1.0, 3.0]) == (2.0, 1.0)
    assert mean_and_error(iter([1, 2, 3, 6])) == pytest.approx((3.0, math.sqrt(14 / 3 / 4)))


def test_a_single_run_has_no_standard_error():
    mean, error = mean_and_error([0.25])
    assert mean == 0.25
    assert math.isnan(error)
    means, errors = means_and_errors(np.array([[1.0, 2.0]]))
    assert means.tolist() == [1.0, 2.0]
    assert np.isnan(errors).all()


def test_runs_are_the_first_axis():
    values = np.random.default_rng(0).normal(size=(5, 3))
    both = np.array([mean_and_error(column) for column in values.T])
    found = np.array(means_and_errors(values)).T
    assert found == pytest.approx(both, rel=1e-15)
