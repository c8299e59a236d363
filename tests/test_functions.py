"""Test functions: their minima are where they are said to be."""

import numpy as np
import pytest

from covey.bench.functions import PROBLEMS

problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))

# Notes on the paper, "Benchmark functions".
MINIMA = {
    "branin": 0.397887,
    "cosines": -1.7732143,
    "hartmann6": -3.32237,
    "eggholder": -959.6407,
    "rosenbrock4": 0.0,
}


def bounds(problem):
    return np.array(problem.bounds).T


def gradient(problem, x):
    low, high = bounds(problem)
    step = 1e-6 * (high - low)
    moves = np.diag(step)
    return (problem.formula(x + moves) - problem.formula(x - moves)) / 2e-6


@problems
def test_the_minimum_is_the_papers(problem):
    assert problem.minimum == pytest.approx(MINIMA[problem.name], rel=2e-6, abs=1e-12)


def test_the_papers_functions_are_there():
    assert set(PROBLEMS) >= set(MINIMA)


@problems
def test_the_value_at_each_minimiser_is_the_minimum(problem):
    values = problem.formula(np.array(problem.minimisers))
    np.testing.assert_allclose(values, problem.minimum, rtol=1e-8, atol=1e-8)


@problems
def test_minimisers_lie_in_the_domain(problem):
    low, high = bounds(problem)
    assert ((low <= problem.minimisers) & (problem.minimisers <= high)).all()


@problems
def test_the_slope_vanishes_at_minimisers_inside_the_domain(problem):
    low, high = bounds(problem)
    scale = np.ptp(problem.formula(np.random.default_rng(0).uniform(low, high, (1000, len(low)))))
    for minimiser in np.array(problem.minimisers):
        inside = (low < minimiser) & (minimiser < high)
        slope = gradient(problem, minimiser) / scale
        np.testing.assert_allclose(slope[inside], 0, atol=1e-5)
        # On the border the function falls towards it.
        assert (slope[minimiser == high] <= 0).all()
        assert (slope[minimiser == low] >= 0).all()


@problems
def test_no_random_point_is_below_the_minimum(problem):
    low, high = bounds(problem)
    values = problem.formula(np.random.default_rng(1).uniform(low, high, (1000, len(low))))
    assert values.shape == (1000,)
    assert values.min() > problem.minimum


@problems
def test_no_point_around_a_minimiser_is_below_the_minimum(problem):
    low, high = bounds(problem)
    rng = np.random.default_rng(2)
    for minimiser in np.array(problem.minimisers):
        near = minimiser + (high - low) * rng.normal(size=(1000, len(low))) * 1e-2
        assert problem.formula(np.clip(near, low, high)).min() >= problem.minimum - 1e-8


@problems
def test_a_problem_is_a_function_of_parameters(problem):
    params = dict(zip(problem.space.dimensions, problem.minimisers[0], strict=True))
    problem.space.encode(params)
    assert isinstance(problem(params), float)
    assert problem(params) == pytest.approx(problem.minimum, rel=1e-8, abs=1e-8)


def test_parameters_are_taken_by_name():
    branin = PROBLEMS["branin"]
    assert branin({"x2": 2.275, "x1": np.pi}) == branin({"x1": np.pi, "x2": 2.275})


def test_the_corner_of_cosines_is_not_its_minimum():
    assert PROBLEMS["cosines"]({"x1": 1.0, "x2": 1.0}) == pytest.approx(-1.77267, abs=1e-5)
