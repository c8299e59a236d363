"""The development suite: known minima, the same values each time, and answers that move with the seed."""

import math

import numpy as np
import pytest

from covey.bench.problems.functions import problem
from covey.bench.problems.interface import Problem
from covey.bench.problems.mixed import Mixed
from covey.bench.problems.plateaus import cornered, stepped, terraced
from covey.bench.problems.variants import Noisy, shifted
from covey.bench.tuning.development import TASKS
from covey.bench.tuning.tasks import Task
from covey.bench.versus.suite import KINDS, SUITE, instance
from covey.space import Categorical, Float, Int
from covey.space.designs import random

every = pytest.mark.parametrize("name", SUITE)
FIXED = {"branin", "cosines", "eggholder", "michalewicz5", *TASKS}
"""Whose minimiser may not be moved."""


def points(space, count, seed=0):
    return [space.decode(row) for row in random(space, count, np.random.default_rng(seed))]


def minimiser(target):
    match target:
        case Problem():
            return dict(zip(target.space.dimensions, target.minimisers[0], strict=True))
        case Mixed():
            return target.minimiser
        case Noisy():
            return minimiser(target.problem)


def test_there_is_every_kind_of_problem():
    assert 20 <= len(SUITE) <= 26
    assert len(SUITE) == sum(map(len, KINDS.values()))
    sizes = [len(instance(name, 0).space) for name in SUITE]
    assert min(sizes) == 2
    assert max(sizes) == 20
    kinds = {type(d) for name in SUITE for d in instance(name, 0).space.dimensions.values()}
    assert kinds == {Float, Int, Categorical}
    assert sum(isinstance(instance(name, 0), Task) for name in SUITE) == 3


def test_a_name_that_is_not_there_says_what_is():
    with pytest.raises(ValueError, match=r"problem must be one of \['branin'.*bbob20, dim30.*, got 'nope'"):
        instance("nope", 0)


@every
def test_a_problem_is_the_same_for_the_same_seed(name):
    one, again = instance(name, 3), instance(name, 3)
    assert one.space == again.space
    (chosen,) = points(one.space, 1)
    assert one(chosen) == again(chosen)


@pytest.mark.parametrize("name", [name for name in SUITE if name not in TASKS])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_value_is_below_the_minimum_and_the_minimiser_attains_it(name, seed):
    target = instance(name, seed)
    slack = 1e-7 * max(1.0, abs(target.minimum))
    assert target.true(minimiser(target)) == pytest.approx(target.minimum, abs=slack)
    assert min(target.true(params) for params in points(target.space, 300, seed)) >= target.minimum - slack


def test_the_minimum_of_a_task_is_not_known():
    assert all(instance(name, 0).minimum == -math.inf for name in SUITE if name in TASKS)


@pytest.mark.parametrize("name", [name for name in SUITE if name not in TASKS])
def test_the_answer_moves_with_the_seed_where_it_may(name):
    places = {str(minimiser(instance(name, seed))) for seed in range(3)}
    stays = name in FIXED or name.startswith("branin")
    assert len(places) == (1 if stays else 3)


@pytest.mark.parametrize(
    ("name", "share"),
    [("hartmann3-noise-low", 0.02), ("styblinski-tang4-noise-medium", 0.1), ("branin-noise-high", 0.5)],
)
def test_noise_is_a_share_of_the_spread_of_values(name, share):
    target = instance(name, 0)
    original = problem(name.partition("-noise")[0])
    values = [original(params) for params in points(original.space, 2000)]
    assert target.sigma == pytest.approx(share * np.std(values), rel=0.1)
    seeds = [instance("branin-noise-high", seed) for seed in (0, 1)]
    assert seeds[0]({"x1": 1.0, "x2": 2.0}) != seeds[1]({"x1": 1.0, "x2": 2.0})


@pytest.mark.parametrize("name", KINDS["ill-scaled"])
def test_ill_scaled_values_are_a_thousand_times_those_next_to_the_minimum(name):
    target = instance(name, 0)
    widths = np.subtract(*np.array(target.bounds).T[::-1])
    near = target.formula(np.array(target.minimisers[:1]) + 0.01 * widths)[0] - target.minimum
    regrets = [target(params) - target.minimum for params in points(target.space, 1000)]
    assert np.median(regrets) > 1e3 * near > 0


def test_a_stepped_function_is_level_within_a_cell_and_jumps_between():
    moved = shifted(problem("levy2"), 0)
    steps = stepped(moved, 10)
    (x, y), size = moved.minimisers[0], 2.0
    inside = np.array([[x + 0.49 * size, y - 0.49 * size], [x, y]])
    assert (steps.formula(inside) == moved.formula(inside[1:])).all()
    outside = np.array([[x + 0.51 * size, y]])
    assert steps.formula(outside) == moved.formula(np.array([[x + size, y]]))


def test_terraces_are_level_and_not_above_the_function():
    low = problem("ackley2")
    flat = terraced(low, 0.5)
    rows = np.random.default_rng(0).uniform(-30, 30, (500, 2))
    values = flat.formula(rows)
    assert (values <= low.formula(rows)).all()
    assert (values > low.formula(rows) - 0.5).all()
    np.testing.assert_allclose(values / 0.5, np.round(values / 0.5))


@pytest.mark.parametrize("seed", range(5))
def test_a_cornered_minimiser_is_on_half_of_the_edges(seed):
    moved = cornered(problem("levy5"), seed)
    on_edge = [x in bound for x, bound in zip(moved.minimisers[0], moved.bounds, strict=True)]
    assert sum(on_edge) == 2
    rows = np.random.default_rng(seed).uniform(-10, 10, (2000, 5))
    assert (moved.formula(rows) > moved.minimum).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: stepped(problem("branin"), 5), "only translatable problems may be stepped, got 'branin'"),
        (lambda: stepped(problem("levy2"), 1), "cells must be a whole number from 2, got 1"),
        (lambda: terraced(problem("levy2"), 0.0), "height must be a finite number above 0, got 0.0"),
        (lambda: cornered(problem("branin"), 0), "may be shifted, got 'branin'"),
    ],
)
def test_a_wrong_setting_says_what_is_accepted(make, words):
    with pytest.raises(ValueError, match=words):
        make()
