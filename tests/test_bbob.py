"""The functions of BBOB, which are held out of development."""

from __future__ import annotations

import numpy as np
import pytest

from covey.bench.versus.suite import GROUPS, HELD_OUT, KINDS, SUITE, instance, members
from covey.space.designs import random

FIVE = list(HELD_OUT["bbob5"])


def params(row):
    return {f"x{k + 1}": float(value) for k, value in enumerate(row)}


@pytest.mark.parametrize("name", FIVE)
@pytest.mark.parametrize("seed", [0, 6])
def test_no_value_is_below_the_minimum_and_the_minimiser_attains_it(name, seed):
    target = instance(name, seed)
    best = params(target.function.best_parameter())
    assert target.true(best) == pytest.approx(target.minimum, abs=1e-7)
    rows = random(target.space, 200, np.random.default_rng(seed))
    assert min(target(target.space.decode(row)) for row in rows) > target.minimum


def test_the_first_function_is_the_sphere():
    target = instance("bbob20-f1", 3)
    at = np.array(target.function.best_parameter())
    rows = np.random.default_rng(0).uniform(-5, 5, (10, 20))
    values = [target(params(row)) - target.minimum for row in rows]
    np.testing.assert_allclose(values, ((rows - at) ** 2).sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("name", ["bbob5-f1", "bbob5-f10", "bbob20-f24"])
def test_functions_are_the_same_for_the_same_seed_and_others_for_another(name):
    here = params(np.full(len(instance(name, 0).space), 0.5))
    values = [instance(name, seed)(here) for seed in (0, 0, 1, 2)]
    assert values[0] == values[1]
    assert len(set(values)) == 3


def test_held_out_problems_are_not_of_the_suite():
    held_out = {name for group in HELD_OUT.values() for name in group}
    assert len(held_out) == 48 + 6 + 4 + 3 + 10
    assert not held_out & set(SUITE)
    assert list(GROUPS) == [
        *KINDS,
        "bbob5",
        "bbob20",
        "dim30",
        "noise-others",
        "tuning-others",
        "tuning-more",
    ]


def test_a_group_stands_for_its_members():
    assert members(["branin", "mixed", "bbob5"]) == ["branin", *KINDS["mixed"], *FIVE]
    assert members(["nope"]) == ["nope"]
