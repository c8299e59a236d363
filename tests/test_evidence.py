"""What counts for theta: without noise, one observation of a crowd."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey import Float, Optimizer, Space, strategy
from covey.density import EVIDENCE, Data
from covey.outputs import scales
from covey.posterior import sample
from covey.priors import resolve_prior
from covey.scale import likeliest

APART = EVIDENCE["spread"]


def waves(x):
    """Rugged everywhere, with a smooth valley wherever one looks closely."""
    return np.sin(25 * x[:, 0]) * np.cos(20 * x[:, 1]) + 0.5 * np.sin(13 * x.sum(axis=1))


def seen(x, noise=0.0, apart=APART, y=None):
    y = waves(x) if y is None else y
    return Data(
        x, (y - y.mean()) / y.std(), np.arange(x.shape[1]), noise, resolve_prior("default", 2), apart=apart
    )


def crowded(seed, spread=25, crowd=25):
    """Points all over the square, then a crowd around the lowest of them."""
    rng = np.random.default_rng(seed)
    x = rng.random((spread, 2))
    around = np.clip(x[np.argmin(waves(x))] + rng.uniform(-0.008, 0.008, (crowd, 2)), 0, 1)
    return np.concatenate([x, around])


def distances(a, b):
    return np.linalg.norm(a[:, None] - b[None], axis=2)


@given(st.integers(1, 60), st.integers(1, 4), st.floats(1e-3, 0.7), st.integers(0, 99))
@settings(deadline=None)
def test_what_counts_is_apart_and_all_else_is_close_to_something_that_was_told_before(n, d, apart, seed):
    x = np.random.default_rng(seed).random((n, d))
    data = Data(x, np.zeros(n), np.arange(d), 0.0, resolve_prior("default", d), apart=apart)
    kept = data.counting
    assert kept[0] == 0
    between = distances(x[kept], x[kept]) + 9 * np.eye(len(kept))
    assert between.min() >= apart
    for k in set(range(n)) - set(kept):
        before = kept[kept < k]
        assert distances(x[[k]], x[before]).min() < apart


@given(st.integers(2, 40), st.integers(0, 99))
@settings(deadline=None)
def test_what_counted_goes_on_counting_when_more_is_told(n, seed):
    data = seen(crowded(seed)[:n])
    earlier = data.part(np.arange(n - 1)).counting
    np.testing.assert_array_equal(data.counting[: len(earlier)], earlier)


@pytest.mark.parametrize("noise", [None, 1e-6, 0.1])
def test_everything_counts_where_there_is_noise_or_may_be(noise):
    data = seen(crowded(0), noise)
    np.testing.assert_array_equal(data.counting, np.arange(50))


def test_everything_counts_unless_it_must_be_apart():
    np.testing.assert_array_equal(seen(crowded(0), apart=EVIDENCE["all"]).counting, np.arange(50))


def test_theta_is_drawn_from_what_counts_and_from_nothing_else():
    data = seen(crowded(1))
    alone = replace(data.part(data.counting), apart=0.0)
    assert len(alone.y) < 30
    one, other = (sample(given, None, 8, np.random.default_rng(2)).thetas for given in (data, alone))
    np.testing.assert_array_equal(one.length_scale, other.length_scale)
    np.testing.assert_array_equal(one.variance, other.variance)


@pytest.mark.parametrize("seed", range(4))
def test_the_scale_is_judged_by_what_counts_and_by_nothing_else(seed):
    x = crowded(seed)
    options = scales(list(np.exp(3 * waves(x))))
    slopes = [outputs.log_slope for outputs in options]
    data = [seen(x, y=outputs.z) for outputs in options]
    kept = data[0].counting
    alone = [replace(each.part(kept), apart=0.0) for each in data]
    given = likeliest(data, slopes, 4, np.random.default_rng(seed))
    assert given == likeliest(alone, [slope[kept] for slope in slopes], 4, np.random.default_rng(seed))


def after(evidence, noise):
    """What is asked for after thirty observations, ten of them in a crowd."""
    space = Space({"x": Float(0, 1), "y": Float(0, 1)})
    optimizer = Optimizer(space, strategy("auto", evidence=evidence), noise=noise, seed=0)
    points = crowded(5, 20, 10)
    for (x, y), value in zip(points.tolist(), waves(points).tolist(), strict=True):
        optimizer.add({"x": x, "y": y}, value)
    return [trial.params for trial in optimizer.ask(2)]


def test_proposals_with_learned_noise_do_not_depend_on_it():
    assert after("spread", "learn") == after("all", "learn")
    assert after("spread", 0.0) != after("all", 0.0)
