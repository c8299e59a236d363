"""Lattice points of a polytope: parts in steps that sum to one, and the nearest one to a target."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.space.lattice import compositions, lattice_points, nearest_on_lattice, satisfied
from covey.space.polytope import EmptyPolytope

PARTS = np.arange(21) / 20


def mixture(d):
    return np.empty((0, d)), np.empty(0), np.ones((1, d)), np.ones(1)


def every(levels, system):
    rows = np.array(list(product(*levels)))
    return rows[satisfied(rows, *system)]


def test_compositions_are_uniform_over_all_there_are():
    most, total = (3, 2, 4), 5
    truth = [row for row in product(*(range(top + 1) for top in most)) if sum(row) == total]
    counts = Counter(map(tuple, compositions(total, most, 20_000, np.random.default_rng(0)).tolist()))
    assert set(counts) == set(truth)
    assert max(counts.values()) / min(counts.values()) < 1.25


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.floats(0, 1), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_compositions_sum_to_the_total_within_bounds(most, share, seed):
    total = round(share * sum(most))
    rows = compositions(total, most, 50, np.random.default_rng(seed))
    assert (rows.sum(axis=1) == total).all()
    assert (rows >= 0).all()
    assert (rows <= most).all()


def test_rare_compositions_are_found_among_very_many():
    rows = compositions(1199, [60] * 20, 50, np.random.default_rng(0))
    assert (rows.sum(axis=1) == 1199).all()
    assert len(np.unique(rows, axis=0)) > 10


def test_impossible_totals_are_refused():
    with pytest.raises(EmptyPolytope, match="cannot sum to 7 steps"):
        compositions(7, [3, 3], 5, np.random.default_rng(0))


def test_parts_of_five_percent_sum_to_one_and_cover_everything():
    rows = lattice_points([PARTS] * 3, *mixture(3), np.random.default_rng(0), 5000)
    assert np.isin(rows, PARTS).all()
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-12
    assert len(np.unique(rows, axis=0)) == 231  # 22 over 2


def test_inequalities_hold_besides():
    A, b, E, e = mixture(6)
    A, b = np.array([[1.0, 1, 0, 0, 0, 0], [0, 0, -1, 0, 0, 0]]), np.array([0.3, -0.1])
    rows = lattice_points([PARTS] * 6, A, b, E, e, np.random.default_rng(0), 200)
    assert len(rows) == 200
    assert satisfied(rows, A, b, E, e).all()


def test_columns_with_a_negative_weight_and_other_columns_take_part():
    levels = [np.linspace(0, 1, 5), np.linspace(0, 1, 5), np.array([0.0, 0.3, 1.0])]
    system = np.empty((0, 3)), np.empty(0), np.array([[1.0, -1.0, 0.0]]), np.array([0.25])
    rows = lattice_points(levels, *system, np.random.default_rng(0), 500)
    assert {*map(tuple, rows)} == {*map(tuple, every(levels, system))}


@pytest.mark.parametrize("weights", [[0.5, 1.0, 2.0], [1.0, 1.0, 3.0]])
def test_unequal_steps_are_searched_for(weights):
    levels = [np.linspace(0, 1, 9)] * 3
    system = np.empty((0, 3)), np.empty(0), np.array([weights]), np.array([1.5])
    rows = lattice_points(levels, *system, np.random.default_rng(0), 8)
    assert len(rows) >= 2
    assert satisfied(rows, *system).all()
    assert np.isin(rows, levels[0]).all()


def test_no_lattice_point_is_refused():
    system = np.empty((0, 2)), np.empty(0), np.array([[1.0, 1.0]]), np.array([0.33])
    with pytest.raises(EmptyPolytope):
        lattice_points([PARTS] * 2, *system, np.random.default_rng(0), 5)
    with pytest.raises(EmptyPolytope):
        nearest_on_lattice(np.array([0.2, 0.1]), [PARTS] * 2, *system)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_the_nearest_lattice_point_is_the_nearest(seed):
    rng = np.random.default_rng(seed)
    uneven = np.array([0.0, 0.1, 0.45, 1.0])
    levels = [np.linspace(0, 1, 5), uneven, np.linspace(0, 1, 3), uneven]
    A = rng.normal(size=(2, 4))
    b = A @ [0.25, 0.1, 0.5, 0.45] + 0.1
    system = A, b, np.array([[1.0, 0, 1, 0]]), np.array([0.75])
    target = rng.random(4)
    found = nearest_on_lattice(target, levels, *system)
    best = np.abs(every(levels, system) - target).sum(axis=1).min()
    assert satisfied(found[None], *system)[0]
    assert abs(np.abs(found - target).sum() - best) < 1e-6


def test_a_continuum_beside_steps_takes_up_the_rest():
    target = np.array([0.33, 0.41, 0.2])
    found = nearest_on_lattice(target, [PARTS, PARTS, None], *mixture(3))
    assert np.isin(found[:2], PARTS).all()
    assert abs(found.sum() - 1) < 1e-12
