"""The averaged acquisition surface: its average, its chain rule, its manners."""

import numpy as np
import pytest

from covey.acquisition.acquisition import ACQUISITIONS, Acquisition
from covey.acquisition.local_penalty import local_penalty
from covey.acquisition.surface import Surface
from covey.model.gp import fit
from covey.model.theta import Thetas
from covey.space import Categorical, Float, Int, Space
from covey.space.features import Features

MIXED = Space(
    {
        "a": Float(0.0, 1.0),
        "n": Int(0, 4),
        "kind": Categorical(["x", "y", "z"]),
        "b": Float(1e-3, 1.0, log=True),
        "flag": Categorical([False, True]),
    }
)
SQUARE = Space({"a": Float(0.0, 1.0), "b": Float(0.0, 1.0)})


def soft_improvement(mean, std, best, jitter):
    return np.log1p(np.exp(best - jitter - mean)) * np.sqrt(std + 0.1)


EVERY = [
    *ACQUISITIONS.values(),
    Acquisition("user", soft_improvement),
    Acquisition("user-positive", soft_improvement, scale="positive"),
]
every_acquisition = pytest.mark.parametrize("acquisition", EVERY, ids=lambda a: a.name)


def some_stack(space, count=4, n=10, noise=0.01, seed=0):
    """A stack of posteriors on random configurations of the space."""
    rng = np.random.default_rng(seed)
    features = Features.of(space)
    x = features.embed(space.spread(rng.random((n, len(space)))))
    width = x.shape[1]
    thetas = Thetas(
        rng.uniform(0.3, 1.0, (count, width)),
        rng.uniform(0.5, 2, count),
        rng.normal(size=count),
        np.full(count, noise),
    )
    return fit(x, rng.normal(size=n), thetas), features


def some_surface(acquisition, space=MIXED, penalised=False, count=4, jitter=0.3):
    stack, features = some_stack(space, count)
    rng = np.random.default_rng(1)
    push = ()
    if penalised:
        rows = space.spread(rng.random((40, len(space))))
        push = (local_penalty(stack, features.embed(rows[:2]), features.embed(rows)),)
    view = stack.paths(rng) if acquisition.draws_paths else stack
    return Surface(view, acquisition, jitter, features, push)


def some_rows(space, count=15, seed=2):
    return space.spread(np.random.default_rng(seed).uniform(0.05, 0.95, (count, len(space))))


@every_acquisition
@pytest.mark.parametrize("penalised", [False, True], ids=["free", "penalised"])
def test_gradient_agrees_with_differences_in_ordered_columns_and_is_zero_in_others(acquisition, penalised):
    surface, rows = some_surface(acquisition, MIXED, penalised), some_rows(MIXED)
    _, gradient = surface.value_and_gradient(rows)
    step = 1e-5
    for column, dimension in enumerate(MIXED.dimensions.values()):
        if dimension.ordered:
            move = step * np.eye(5)[column]
            slope = (surface.value(rows + move) - surface.value(rows - move)) / (2 * step)
            np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-4, atol=1e-6)
        else:
            np.testing.assert_array_equal(gradient[:, column], 0.0)


@every_acquisition
@pytest.mark.parametrize("penalised", [False, True], ids=["free", "penalised"])
def test_value_with_its_gradient_is_the_same_value(acquisition, penalised):
    surface, rows = some_surface(acquisition, MIXED, penalised), some_rows(MIXED)
    np.testing.assert_allclose(
        surface.value_and_gradient(rows)[0], surface.value(rows), rtol=1e-9, atol=1e-12
    )


def values_by_theta(surface, rows):
    mean, std = surface.posterior.predict(surface.features.embed(rows))
    return surface.acquisition.value(mean, std, surface.posterior.best, surface.jitter)


@pytest.mark.parametrize("name", ["lcb", "ts"])
def test_real_acquisitions_are_averaged_over_theta(name):
    surface, rows = some_surface(ACQUISITIONS[name]), some_rows(MIXED)
    np.testing.assert_allclose(surface.value(rows), values_by_theta(surface, rows).mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("name", ["ei", "pi"])
def test_positive_acquisitions_are_averaged_before_the_logarithm(name):
    surface, rows = some_surface(ACQUISITIONS[name]), some_rows(MIXED)
    expected = np.log(values_by_theta(surface, rows).mean(axis=0))
    np.testing.assert_allclose(surface.value(rows), expected, rtol=1e-10)


def test_log_expected_improvement_averages_to_the_logarithm_of_the_mean_expected_improvement():
    log, plain = (some_surface(ACQUISITIONS[name]) for name in ("log-ei", "ei"))
    rows = some_rows(MIXED)
    np.testing.assert_allclose(log.value(rows), plain.value(rows), rtol=1e-8)
    np.testing.assert_allclose(log.value_and_gradient(rows)[1], plain.value_and_gradient(rows)[1], rtol=1e-6)
    # Not the mean of the logarithms, which a single theta cannot tell apart.
    assert (log.value(rows) > values_by_theta(log, rows).mean(axis=0) + 1e-6).all()


@every_acquisition
def test_several_equal_thetas_are_one(acquisition):
    if acquisition.draws_paths:
        pytest.skip("every theta has a path of its own")
    stack, features = some_stack(SQUARE, count=1)
    t = stack.thetas
    several = Thetas(*(np.repeat(part, 5, axis=0) for part in (t.length_scale, t.variance, t.mean, t.noise)))
    x, y = stack.x.T.copy(), np.random.default_rng(3).normal(size=10)
    one, five = fit(x, y, t), fit(x, y, several)
    rows = some_rows(SQUARE)
    for a, b in zip(
        Surface(one, acquisition, 0.1, features).value_and_gradient(rows),
        Surface(five, acquisition, 0.1, features).value_and_gradient(rows),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_log_expected_improvement_has_a_slope_where_expected_improvement_is_zero():
    x = np.linspace(0, 1, 9)[:, None]
    thetas = Thetas(np.full((2, 1), 0.5), np.ones(2), np.zeros(2), np.full(2, 1e-8))
    stack = fit(x, np.linspace(0, 3, 9), thetas)
    features = Features.of(Space({"x": Float(0, 1)}))
    rows = np.array([[0.95], [0.8]])
    flat = np.exp(Surface(stack, ACQUISITIONS["ei"], 0.0, features).value(rows))
    value, gradient = Surface(stack, ACQUISITIONS["log-ei"], 0.0, features).value_and_gradient(rows)
    assert (flat < 1e-290).all()
    assert np.isfinite(value).all()
    assert (np.abs(gradient) > 1).all()


@pytest.mark.parametrize("scale", ["real", "positive", "log"])
def test_a_value_that_is_not_a_number_is_the_worst(scale):
    def broken(mean, std, best, jitter):
        return np.full(np.broadcast_shapes(mean.shape, best.shape), np.nan)

    surface, rows = some_surface(Acquisition("broken", broken, scale=scale), SQUARE), some_rows(SQUARE)
    np.testing.assert_array_equal(surface.value(rows), -np.inf)
    value, gradient = surface.value_and_gradient(rows)
    np.testing.assert_array_equal(value, -np.inf)
    assert np.isfinite(gradient).all()


@every_acquisition
def test_values_at_the_data_are_finite(acquisition):
    surface = some_surface(acquisition, SQUARE)
    rows = np.ascontiguousarray(surface.posterior.x.T)
    value, gradient = surface.value_and_gradient(rows)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


@every_acquisition
def test_rows_are_valued_one_by_one(acquisition):
    surface, rows = some_surface(acquisition, MIXED, penalised=True), some_rows(MIXED)
    single = [surface.value(rows[k : k + 1])[0] for k in range(len(rows))]
    np.testing.assert_allclose(surface.value(rows), single, rtol=1e-11, atol=1e-13)


def test_positive_and_real_scales_have_the_same_maximiser_for_one_theta():
    rows = some_rows(SQUARE, 200)
    best = [
        np.argmax(some_surface(Acquisition("a", soft_improvement, scale=s), SQUARE, count=1).value(rows))
        for s in ("real", "positive")
    ]
    assert best[0] == best[1]
