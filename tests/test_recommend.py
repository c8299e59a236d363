"""The point to settle on: the lowest value is a lucky one where there is noise."""

import numpy as np
import pytest

from covey import Failure, Float, Optimizer, Space
from covey.space.designs import random

SQUARE = Space({"x": Float(0, 1), "y": Float(0, 1)})


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.7) ** 2


def measured(seed, scatter, count=40, **settings):
    """An optimizer that knows noisy values at random points."""
    opt, rng = Optimizer(SQUARE, seed=seed, **settings), np.random.default_rng(seed)
    for row in random(SQUARE, count, rng):
        params = SQUARE.decode(row)
        opt.add(params, bowl(**params) + scatter * rng.normal())
    return opt


def test_before_the_first_value_there_is_none():
    opt = Optimizer(SQUARE, seed=0)
    opt.ask(2)
    assert opt.recommend() is None
    opt.tell(0, Failure("no"))
    assert opt.recommend() is None


@pytest.mark.parametrize("settings", [{"noise": 0.0}, {}], ids=["known", "learned"])
def test_without_noise_it_is_the_best(settings):
    opt = measured(0, 0.0, **settings)
    assert opt.recommend() == opt.best


def test_with_noise_it_is_better_than_the_lowest_value():
    best, settled = [], []
    for seed in range(16):
        opt = measured(seed, 0.2)
        best.append(bowl(**opt.best.params))
        settled.append(bowl(**opt.recommend().params))
    assert np.mean(settled) < 0.8 * np.mean(best)


def test_asking_for_it_is_repeatable_and_changes_nothing():
    opt, other = measured(3, 0.1), measured(3, 0.1)
    assert opt.recommend() == opt.recommend()
    assert [t.params for t in opt.ask(3)] == [t.params for t in other.ask(3)]
