"""The maximiser finds known maxima of simple surfaces, and never a row that was tried."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import Categorical, Float, Int, Space
from covey.acquisition.candidates import SEPARATION, Search, few_starts
from covey.acquisition.maximise import maximise
from covey.space.designs import ENUMERABLE, configurations, random
from covey.space.features import Features


class Bowl:
    """Highest at ``top``: minus the weighted squared distance to it."""

    def __init__(self, top, weight=1.0):
        self.top, self.weight = np.asarray(top, dtype=float), weight

    def value(self, rows):
        return -self.weight * ((rows - self.top) ** 2).sum(axis=1)

    def value_and_gradient(self, rows):
        return self.value(rows), -2 * self.weight * (rows - self.top)


class Peaks:
    """Gaussian bumps: a wide low one and narrow higher ones."""

    def __init__(self, tops, heights, widths):
        self.tops, self.heights, self.widths = map(np.asarray, (tops, heights, widths))

    def _parts(self, rows):
        away = rows[:, None] - self.tops
        return away, self.heights * np.exp(-0.5 * (away**2).sum(axis=2) / self.widths**2)

    def value(self, rows):
        return self._parts(rows)[1].sum(axis=1)

    def value_and_gradient(self, rows):
        away, parts = self._parts(rows)
        return parts.sum(axis=1), -(away * (parts / self.widths**2)[..., None]).sum(axis=1)


class Flat:
    """The same everywhere, or nowhere a number worth having."""

    def __init__(self, height):
        self.height = height

    def value(self, rows):
        return np.full(len(rows), self.height)

    def value_and_gradient(self, rows):
        return self.value(rows), np.zeros_like(rows)


def box(d):
    return Space({f"x{k}": Float(0, 1) for k in range(d)})


def search(space, tried=None, anchors=0):
    tried = np.empty((0, len(space))) if tried is None else np.asarray(tried)
    return replace(Search.of(space, Features.of(space), tried), anchors=tried[:anchors])


def rng(seed=0):
    return np.random.default_rng(seed)


# --- continuous -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 6, 20])
def test_the_top_of_a_bowl_is_found_exactly(d):
    top = np.linspace(0.15, 0.85, d)
    found = maximise(Bowl(top), search(box(d)), rng())
    np.testing.assert_allclose(found, top, atol=1e-5)


def test_a_maximum_outside_is_found_on_the_border():
    found = maximise(Bowl([1.3, -0.2]), search(box(2)), rng())
    np.testing.assert_array_equal(found, [1.0, 0.0])


THREE = Peaks([[0.2, 0.2], [0.8, 0.7], [0.3, 0.9]], [1.0, 1.5, 1.2], [0.15, 0.15, 0.15])


def peaks_found(starts, draws=60):
    """How often each of three peaks is where the maximiser ends."""
    one = replace(search(box(2), [[0.81, 0.71]], anchors=1), effort=few_starts(starts))
    found = np.array([maximise(THREE, one, rng(seed)) for seed in range(draws)])
    nearest = np.linalg.norm(found[:, None] - THREE.tops, axis=2)
    assert (nearest.min(axis=1) < 0.02).all(), "not at a peak"
    return np.bincount(nearest.argmin(axis=1), minlength=3)


def test_a_single_start_climbs_to_any_of_several_peaks():
    assert (peaks_found(1) > 5).all()


def test_more_starts_come_nearer_to_the_highest_peak():
    assert peaks_found(1)[1] < peaks_found(3)[1] < peaks_found(12)[1] == 60


@pytest.mark.parametrize("seed", range(5))
def test_the_higher_of_several_peaks_is_found(seed):
    surface = Peaks([[0.2, 0.2], [0.8, 0.7], [0.3, 0.9]], [1.0, 1.5, 1.2], [0.2, 0.06, 0.1])
    found = maximise(surface, search(box(2)), rng(seed))
    np.testing.assert_allclose(found, [0.8, 0.7], atol=1e-2)


def test_a_needle_beside_the_best_point_is_found_through_the_anchors():
    surface = Peaks([[0.6180, 0.2720]], [1.0], [0.002])
    tried = [[0.6195, 0.2705], [0.1, 0.1]]
    found = maximise(surface, search(box(2), tried, anchors=1), rng())
    np.testing.assert_allclose(found, surface.tops[0], atol=1e-4)


def test_the_maximum_itself_is_not_returned_when_it_was_tried():
    top = np.array([0.4, 0.6])
    found = maximise(Bowl(top), search(box(2), [top], anchors=1), rng())
    assert np.abs(found - top).max() > SEPARATION
    np.testing.assert_allclose(found, top, atol=0.1)


@pytest.mark.parametrize("height", [0.0, -np.inf, 1e300, -1e300])
def test_a_surface_without_a_slope_still_gives_a_new_row(height):
    tried = random(box(2), 30, rng())
    found = maximise(Flat(height), search(box(2), tried, anchors=5), rng())
    assert ((found >= 0) & (found <= 1)).all()
    assert np.abs(tried - found).max(axis=1).min() > SEPARATION


def test_the_same_generator_gives_the_same_row():
    surface, where = Bowl([0.3, 0.3]), search(box(2), [[0.3, 0.3]], anchors=1)
    np.testing.assert_array_equal(maximise(surface, where, rng(3)), maximise(surface, where, rng(3)))


# --- discrete -------------------------------------------------------------------------------------------


def test_a_small_finite_space_is_searched_whole():
    space = Space({"a": Int(0, 20), "b": Categorical(range(15))})
    assert space.size <= ENUMERABLE
    rows = configurations(space, list(range(space.size)))
    heights = rng(4).normal(size=len(rows))
    table = {row.tobytes(): height for row, height in zip(rows, heights, strict=True)}

    class Table(Flat):
        def value(self, rows):
            return np.array([table[row.tobytes()] for row in rows])

    order = np.argsort(-heights)
    np.testing.assert_array_equal(maximise(Table(0), search(space), rng()), rows[order[0]])
    third = maximise(Table(0), search(space, rows[order[:2]]), rng())
    np.testing.assert_array_equal(third, rows[order[2]])


BIG = Space({"a": Int(0, 99), "b": Int(0, 5000), "c": Int(1, 1000, log=True), "k": Categorical(range(6))})


@pytest.mark.parametrize("seed", range(5))
def test_the_best_levels_of_a_big_finite_space_are_found(seed):
    top = BIG.encode({"a": 41, "b": 1234, "c": 37, "k": 4})
    found = maximise(Bowl(top), search(BIG), rng(seed))
    assert BIG.decode(found) == {"a": 41, "b": 1234, "c": 37, "k": 4}


def test_the_next_best_of_a_big_finite_space_is_found_when_the_best_was_tried():
    top = BIG.encode({"a": 41, "b": 1234, "c": 37, "k": 4})
    found = maximise(Bowl(top), search(BIG, [top], anchors=1), rng())
    near = BIG.decode(found)
    assert (near["a"], near["c"], near["k"]) == (41, 37, 4)
    assert abs(near["b"] - 1234) == 1


def test_rows_of_a_big_finite_space_are_never_repeated():
    space = Space({"a": Int(0, 49), "b": Int(0, 49)})
    assert space.size > ENUMERABLE
    tried = [space.encode({"a": 20, "b": 20})]
    for _ in range(30):
        tried.append(maximise(Bowl(tried[0]), search(space, tried, anchors=3), rng()))
    assert len({row.tobytes() for row in tried}) == 31
    # Thirty steps outwards stay within a radius of a few levels.
    assert np.abs(np.array(tried) - tried[0]).max() * 49 < 6


@pytest.mark.parametrize("size", [(10, 12), (50, 60)])
@pytest.mark.parametrize("left", [0, 77])
def test_the_only_row_left_is_found(size, left):
    space = Space({"a": Int(1, size[0], log=True), "b": Categorical(range(size[1]))})
    rows = configurations(space, list(range(space.size)))
    tried = np.delete(rows, left, axis=0)
    found = maximise(Bowl([0.9, 0.9]), search(space, tried, anchors=5), rng())
    np.testing.assert_array_equal(found, rows[left])


def test_a_space_is_exhausted_when_every_row_was_tried_and_not_before():
    space = Space({"a": Int(0, 7)})
    rows = configurations(space, list(range(8)))
    assert search(space, rows).exhausted
    assert not search(space, rows[:7]).exhausted
    assert not search(space, np.concatenate([rows[:7], rows[:1]])).exhausted
    assert not search(box(1), rows).exhausted


def test_a_categorical_of_many_choices_is_climbed():
    space = Space({"k": Categorical(range(500)), "n": Int(0, 99)})
    top = space.encode({"k": 321, "n": 50})
    heights = [Bowl(top).value(maximise(Bowl(top), search(space), rng(seed))[None])[0] for seed in range(5)]
    # At least as good as the best of the 512 rows scanned, refined in the ordered column.
    assert np.median(heights) > -((10 / 499) ** 2)


class Valley(Bowl):
    """A bowl that is a hundred times as steep across its valleys as along them, which lie askew."""

    def __init__(self, top, seed):
        super().__init__(top)
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(top), len(top))))[0]
        self.bend = turn @ np.diag(np.geomspace(1, 1e2, len(top))) @ turn.T

    def value(self, rows):
        return -np.einsum("ki,ij,kj->k", rows - self.top, self.bend, rows - self.top)

    def value_and_gradient(self, rows):
        return self.value(rows), -2 * (rows - self.top) @ self.bend


@pytest.mark.parametrize("seed", range(5))
def test_whole_numbers_are_followed_along_a_valley_that_no_single_one_leads_along(seed):
    space = Space({f"n{k}": Int(0, 1000) for k in range(4)})
    top = np.random.default_rng([seed, 1]).uniform(0.2, 0.8, 4)
    surface = Valley(top, seed)
    found = maximise(surface, search(space), rng(seed))
    rounded = np.round(top * 1000) / 1000
    assert surface.value(found[None])[0] >= 2 * surface.value(rounded[None])[0]


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_the_nearest_row_has_levels_and_keeps_numbers_and_choices(seed):
    rows = random(MIXED, 6, rng(seed))
    moved = rows.copy()
    moved[:, 1] = np.clip(moved[:, 1] + rng(seed).uniform(-0.024, 0.024, 6), 0, 1)  # less than half a level
    np.testing.assert_array_equal(search(MIXED).nearest(moved), rows)


def test_around_the_best_whole_numbers_go_to_near_levels_too():
    space = Space({"n": Int(0, 10_000), "m": Int(0, 10_000), "x": Float(0, 1)})
    anchor = space.encode({"n": 5000, "m": 300, "x": 0.4})
    where = replace(search(space), anchors=anchor[None])
    rows = where.candidates(rng())[1]
    away = np.abs(rows[:, :2] - anchor[:2])
    assert ((away > 0) & (away < 0.01)).sum() > 20
    assert (away > 0.03).sum() > 20
    np.testing.assert_array_equal(where.nearest(rows), rows)


# --- mixed ----------------------------------------------------------------------------------------------


MIXED = Space(
    {"x": Float(0, 1), "n": Int(0, 20), "k": Categorical(["a", "b", "c"]), "y": Float(1e-3, 1e3, log=True)}
)


class PerChoice(Bowl):
    """A bowl whose top lies elsewhere for each choice, in column 2; the second choice is the highest."""

    def _tops(self, rows):
        tops = np.tile(self.top, (len(rows), 1))
        tops[:, 0] += 0.2 * (rows[:, 2] - 0.5)
        tops[:, 2] = rows[:, 2]
        return tops

    def value(self, rows):
        return -((rows - self._tops(rows)) ** 2).sum(axis=1) - 0.1 * np.abs(rows[:, 2] - 0.5)

    def value_and_gradient(self, rows):
        gradient = -2 * (rows - self._tops(rows))
        gradient[:, 2] = 0  # as a surface does for choices
        return self.value(rows), gradient


@pytest.mark.parametrize("seed", range(5))
def test_numbers_and_choices_are_maximised_together(seed):
    found = maximise(PerChoice([0.37, 0.35, 0.0, 0.81]), search(MIXED), rng(seed))
    np.testing.assert_allclose(found, [0.37, 0.35, 0.5, 0.81], atol=1e-4)
    assert MIXED.decode(found)["n"] == 7


def test_discrete_columns_of_a_mixed_row_are_levels():
    top = [0.5, 0.512, 0.3, 0.5]
    found = maximise(Bowl(top), search(MIXED), rng())
    np.testing.assert_array_equal(MIXED.encode(MIXED.decode(found))[1:3], found[1:3])


@pytest.mark.parametrize(
    ("column", "by", "new"),
    [(0, 0.0, False), (0, SEPARATION / 2, False), (0, 2 * SEPARATION, True), (1, 0.05, True), (2, 0.5, True)],
)
def test_a_point_is_new_if_a_number_moved_or_a_level_changed(column, by, new):
    row = np.full(4, 0.5)
    where = search(MIXED, [row])
    assert where.is_new(np.where(np.arange(4) == column, row + by, row)) == new


def test_mixed_rows_are_never_repeated():
    tried = [np.array([0.5, 0.5, 0.5, 0.5])]
    for _ in range(10):
        where = search(MIXED, tried, anchors=3)
        tried.append(maximise(Bowl(tried[0]), where, rng()))
        assert where.is_new(tried[-1])
