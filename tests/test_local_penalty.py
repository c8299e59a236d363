"""Local penalization: its formula, its gradient, and that it does push away."""

import numpy as np
import pytest
from scipy.special import erfc

from covey.acquisition.acquisition import ACQUISITIONS
from covey.acquisition.local_penalty import LocalPenalty, local_penalty
from covey.acquisition.surface import Surface
from covey.model.gp import fit
from covey.model.theta import Thetas
from covey.space import Float, Space
from covey.space.features import Features

LINE = Features.of(Space({"x": Float(0.0, 1.0)}))
GRID = np.linspace(0, 1, 401)[:, None]
posterior_acquisitions = pytest.mark.parametrize("name", ["ei", "lcb", "pi", "log-ei"])


def some_stack(seed=0, count=5, features=2, n=8):
    rng = np.random.default_rng(seed)
    thetas = Thetas(
        rng.uniform(0.2, 0.8, (count, features)),
        rng.uniform(0.5, 2, count),
        0.3 * rng.normal(size=count),
        np.full(count, 1e-3),
    )
    return fit(rng.random((n, features)), rng.normal(size=n), thetas)


def no_push(stack, features=1):
    """A penalty around a point too far away to matter: it leaves only the positive scale."""
    count = len(stack.thetas)
    return LocalPenalty(
        np.full((1, features), 1e9), np.ones((count, 1, 1)), np.zeros((count, 1, 1)), np.ones((count, 1, 1))
    )


def brute_force_factor(stack, pending, scan, points):
    """The module's formula, theta by theta and point by point."""
    steep = stack.predict_gradient(scan).mean_gradient
    mean, std = stack.predict(pending)
    out = np.ones((len(mean), len(points)))
    for s in range(len(mean)):
        lipschitz = max(np.sqrt(g @ g) for g in steep[s])
        for i, x in enumerate(points):
            for j, centre in enumerate(pending):
                gap = max(mean[s, j] - stack.best[s, 0], 0.0)
                z = (lipschitz * np.sqrt(((x - centre) ** 2).sum()) - gap) / (np.sqrt(2) * std[s, j])
                out[s, i] *= erfc(-z) / 2
    return out


def test_log_factor_is_the_formula():
    stack = some_stack()
    rng = np.random.default_rng(1)
    pending, scan, points = rng.random((3, 2)), rng.random((50, 2)), rng.random((20, 2))
    ours = np.exp(local_penalty(stack, pending, scan).log_factor(points))
    expected = brute_force_factor(stack, pending, scan, points)
    assert expected.min() < 0.1
    assert expected.max() > 0.5
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-250)


def test_gradient_agrees_with_differences():
    stack = some_stack(2, features=3)
    rng = np.random.default_rng(3)
    penalty = local_penalty(stack, rng.random((3, 3)), rng.random((50, 3)))
    points, step = rng.random((20, 3)), 1e-6
    value, gradient = penalty.log_factor_gradient(points)
    columns = [
        (penalty.log_factor(points + e) - penalty.log_factor(points - e)) / (2 * step)
        for e in step * np.eye(3)
    ]
    np.testing.assert_array_equal(value, penalty.log_factor(points))
    np.testing.assert_allclose(gradient, np.stack(columns, axis=-1), rtol=1e-5, atol=1e-7)


def test_factor_is_a_probability_that_grows_with_the_distance():
    stack = some_stack(4, features=1)
    log = local_penalty(stack, np.zeros((1, 1)), GRID).log_factor(GRID)
    assert (log <= 0).all()
    assert (np.diff(log, axis=1) >= 0).all()
    assert (np.diff(log[:, :50], axis=1) > 0).all()


def test_more_pending_points_never_lift_the_factor():
    stack, points = some_stack(5), np.random.default_rng(6).random((30, 2))
    pending = np.random.default_rng(7).random((4, 2))
    before = np.zeros((5, 30))
    for k in range(1, 5):
        after = local_penalty(stack, pending[:k], points).log_factor(points)
        assert (after <= before * (1 - 1e-12)).all()
        before = after


def test_at_a_pending_point_everything_is_finite():
    stack, pending = some_stack(8), np.full((2, 2), 0.4)
    value, gradient = local_penalty(stack, pending, pending).log_factor_gradient(pending)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def test_at_an_observed_point_without_noise_everything_is_finite():
    x = np.array([[0.2], [0.8]])
    thetas = Thetas(np.ones((1, 1)), np.ones(1), np.zeros(1), np.zeros(1))
    value, gradient = local_penalty(fit(x, np.array([-1.0, 1.0]), thetas), x, GRID).log_factor_gradient(GRID)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def test_a_flat_mean_has_a_small_ball():
    thetas = Thetas(np.ones((1, 1)), np.ones(1), np.zeros(1), np.full(1, 0.1))
    flat = fit(np.array([[0.5]]), np.zeros(1), thetas)
    penalty = local_penalty(flat, np.array([[0.5]]), GRID)
    assert penalty.slope[0, 0, 0] == 10.0
    assert penalty.log_factor(np.array([[0.5]]))[0, 0] == pytest.approx(np.log(0.5))


@posterior_acquisitions
@pytest.mark.parametrize("count", [1, 5])
def test_pending_points_lower_the_surface_around_them(name, count):
    stack = some_stack(9, count, features=1)
    pending = np.array([[0.3], [0.75]])
    penalty = local_penalty(stack, pending, GRID)
    acquisition = ACQUISITIONS[name]
    jitter = acquisition.jitter.fixed
    free = Surface(stack, acquisition, jitter, LINE, (no_push(stack),)).value(GRID)
    pushed = Surface(stack, acquisition, jitter, LINE, (penalty,)).value(GRID)
    near = np.abs(GRID - pending.T).min(axis=1) < 0.01
    assert (pushed <= free + 1e-12).all()
    assert (pushed[near] < free[near] - 0.5).all()


@posterior_acquisitions
@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("seed", [10, 11, 12])
def test_the_next_maximiser_keeps_away_from_a_pending_one(name, count, seed):
    stack, acquisition = some_stack(seed, count, features=1), ACQUISITIONS[name]
    jitter = acquisition.jitter.fixed
    pending = GRID[[np.argmax(Surface(stack, acquisition, jitter, LINE).value(GRID))]]
    for _ in range(4):
        penalty = local_penalty(stack, pending, GRID)
        row = GRID[[np.argmax(Surface(stack, acquisition, jitter, LINE, (penalty,)).value(GRID))]]
        assert np.abs(row - pending).min() > 0.002  # the ball of a point better than all is small
        pending = np.concatenate([pending, row])


@posterior_acquisitions
def test_penalised_surface_is_the_mean_over_theta_of_the_products(name):
    stack, acquisition = some_stack(13, features=1), ACQUISITIONS[name]
    jitter = acquisition.jitter.fixed
    pending = np.array([[0.6]])
    mean, std = stack.predict(GRID)
    value = acquisition.value(mean, std, stack.best, jitter)
    positive = {"ei": value, "pi": value, "log-ei": np.exp(value), "lcb": np.log1p(np.exp(value))}[name]
    factor = brute_force_factor(stack, pending, GRID, GRID)
    surface = Surface(stack, acquisition, jitter, LINE, (local_penalty(stack, pending, GRID),))
    np.testing.assert_allclose(
        np.exp(surface.value(GRID)), (positive * factor).mean(axis=0), rtol=1e-8, atol=1e-250
    )


def test_pending_points_hardly_matter_far_away():
    stack, acquisition = some_stack(14, features=1), ACQUISITIONS["ei"]
    far = np.array([[50.0]])
    free = Surface(stack, acquisition, 0.0, LINE).value(GRID)
    pushed = Surface(stack, acquisition, 0.0, LINE, (local_penalty(stack, far, GRID),)).value(GRID)
    np.testing.assert_allclose(pushed, free, rtol=1e-12)
