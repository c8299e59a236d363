"""Designs without a model: they fill the space, extend each other, and never leave it."""

import numpy as np
import pytest

from covey import Categorical, Float, Int, Space
from covey.space.designs import (
    ENUMERABLE,
    INITIAL,
    configurations,
    initial_rows,
    quasi_random,
    random,
    untried,
)

FLOATS = Space({"x": Float(0, 1), "y": Float(1e-3, 1e3, log=True)})
MIXED = Space({"x": Float(0, 1), "n": Int(1, 100, log=True), "k": Categorical(["a", "b", "c"])})
SMALL = Space({"n": Int(0, 4), "m": Int(1, 7, log=True), "k": Categorical(["a", "b", "c"])})
LARGE = Space({"n": Int(0, 9999), "m": Int(1, 5000, log=True), "k": Categorical(["a", "b", "c"])})


def rng(seed=0):
    return np.random.default_rng(seed)


def keys(rows):
    return {row.tobytes() for row in rows}


def is_configuration(space, row):
    return np.allclose(space.encode(space.decode(row)), row, atol=1e-12)


@pytest.mark.parametrize("how", INITIAL)
@pytest.mark.parametrize("space", [FLOATS, MIXED, SMALL, LARGE])
def test_rows_are_configurations(how, space):
    rows = INITIAL[how](space, 33, rng())
    assert rows.shape == (33, len(space))
    assert all(is_configuration(space, row) for row in rows)


@pytest.mark.parametrize("how", INITIAL)
def test_a_design_asked_for_in_parts_is_the_same_design(how):
    whole = initial_rows(MIXED, how, seed=5, skip=0, size=20)
    parts = [initial_rows(MIXED, how, 5, skip, size) for skip, size in ((0, 1), (1, 6), (7, 13))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("how", INITIAL)
def test_seeds_give_different_designs_and_one_seed_the_same(how):
    first = initial_rows(FLOATS, how, 1, 0, 8)
    np.testing.assert_array_equal(initial_rows(FLOATS, how, 1, 0, 8), first)
    assert not np.isclose(initial_rows(FLOATS, how, 2, 0, 8), first).any()


@pytest.mark.parametrize("seed", range(5))
def test_quasi_random_points_fill_every_cell_of_a_grid(seed):
    rows = quasi_random(FLOATS, 256, rng(seed))
    counts = np.histogram2d(rows[:, 0], rows[:, 1], bins=4, range=[[0, 1], [0, 1]])[0]
    np.testing.assert_allclose(counts, 16, atol=4)  # independent points would vary by 4 as standard deviation


def test_quasi_random_points_give_each_choice_its_share():
    counts = np.unique(quasi_random(MIXED, 300, rng())[:, 2], return_counts=True)[1]
    np.testing.assert_allclose(counts, 100, atol=5)


@pytest.mark.parametrize("size", [1, 2, 3, 64, 65])
def test_quasi_random_gives_as_many_as_wanted(size):
    assert len(keys(quasi_random(FLOATS, size, rng()))) == size


def test_random_rows_are_uniform():
    rows = random(FLOATS, 4000, rng())
    np.testing.assert_allclose(
        np.quantile(rows, [0.25, 0.5, 0.75], axis=0).T, [[0.25, 0.5, 0.75]] * 2, atol=0.04
    )


def test_configurations_are_all_there_once():
    rows = configurations(SMALL, list(range(SMALL.size)))
    assert len(keys(rows)) == SMALL.size == 105
    assert all(is_configuration(SMALL, row) for row in rows)


def test_configurations_of_a_space_past_64_bits_have_numbers():
    space = Space({f"x{k}": Int(0, 2**53 - 1) for k in range(3)})
    rows = configurations(space, [0, 1, space.size - 1])
    np.testing.assert_array_equal(rows[[0, 2]], [[0, 0, 0], [1, 1, 1]])
    assert space.decode(rows[1]) == {"x0": 0, "x1": 0, "x2": 1}


@pytest.mark.parametrize("space", [SMALL, LARGE])
def test_untried_rows_are_different_and_not_tried(space):
    tried = keys(random(space, 60, rng()))
    found = untried(space, tried, 40, rng(1))
    assert len(keys(found)) == 40
    assert not keys(found) & tried


def test_untried_rows_of_a_crowded_space_are_not_tried():
    space = Space({"n": Int(0, 99), "m": Int(1, 80, log=True)})
    tried = keys(random(space, 2000, rng()))
    assert 4 * (len(tried) + 300) < space.size  # too large to be looked at whole
    found = untried(space, tried, 300, rng(1))
    assert len(keys(found)) == 300
    assert not keys(found) & tried


def test_untried_gives_all_that_is_left_and_no_more():
    every = configurations(SMALL, list(range(SMALL.size)))
    tried = keys(every[:-3])
    assert keys(untried(SMALL, tried, 10, rng())) == keys(every[-3:])


@pytest.mark.parametrize("levels", [40, 100])
def test_the_last_row_is_found_however_large_the_space(levels):
    space = Space({"n": Int(1, levels, log=True), "m": Int(0, 29)})
    assert levels < 100 or space.size > ENUMERABLE
    every = configurations(space, list(range(space.size)))
    last = int(0.7 * len(every))
    tried = keys(np.delete(every, last, axis=0))
    np.testing.assert_array_equal(untried(space, tried, 5, rng()), every[last][None])


def test_untried_rows_are_picked_at_random():
    picks = {untried(SMALL, set(), 1, rng(seed))[0].tobytes() for seed in range(20)}
    assert len(picks) > 10
