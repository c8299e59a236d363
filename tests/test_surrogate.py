"""Another model in the place of the Gaussian process: nearest neighbours, with a width that is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import covey
from covey import Failure, Float, Optimizer, Space
from covey.model.surrogate import Prediction
from covey.model.theta import Thetas

SQUARE = Space({"x": Float(0, 1), "y": Float(0, 1)})


@dataclass(frozen=True)
class Averages:
    """The average of values, weighted by exp(-|x - x_i|^2 / 2 w^2), for each width w."""

    points: np.ndarray
    values: np.ndarray
    thetas: Thetas

    @property
    def best(self):
        return np.full((len(self.thetas), 1), self.values.min())

    def predict(self, points):
        distance = ((points[:, None] - self.points) ** 2).sum(axis=2)
        log = -distance / (2 * self.thetas.length_scale[:, :1, None] ** 2)
        weight = np.exp(log - log.max(axis=2, keepdims=True))
        mean = (weight * self.values).sum(axis=2) / weight.sum(axis=2)
        return mean, 0.3 * np.sqrt(np.tile(distance.min(axis=1), (len(mean), 1))) + 1e-9

    def predict_gradient(self, points):
        step = 1e-6
        around = [
            (self.predict(points + e), self.predict(points - e)) for e in step * np.eye(points.shape[1])
        ]
        slopes = [[(up - down) / (2 * step) for up, down in zip(*pair, strict=True)] for pair in around]
        in_mean, in_std = (np.stack(parts, axis=-1) for parts in zip(*slopes, strict=True))
        return Prediction(*self.predict(points), in_mean, in_std)

    def condition(self, points):
        mean = self.predict(points)[0].mean(axis=0) if len(points) else np.empty(0)
        return replace(
            self, points=np.concatenate([self.points, points]), values=np.append(self.values, mean)
        )


@dataclass(frozen=True)
class Neighbours:
    """The toy model; it counts how often it has learned."""

    width: np.ndarray | None = None
    seen: object = None
    lessons: int = 0
    feasibility = None
    diagnostics = None

    def __len__(self):
        return len(self.width)

    def learn(self, seen, count, rng):
        return Neighbours(rng.uniform(0.05, 0.2, (count, 1)), seen, self.lessons + 1)

    def suppose(self, _points, _values, count, rng):
        return replace(self, width=rng.uniform(0.05, 0.2, (count, 1)))

    def stack(self, draws):
        width = np.repeat(self.width[draws], self.seen.points.shape[1], axis=1)
        ones = np.ones(len(width))
        return Averages(self.seen.points, np.array(self.seen.values), Thetas(width, ones, 0 * ones, ones))


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.7) ** 2


@pytest.mark.parametrize("strategy", ["ats", "j-ats", "h-ats", "b-lcb", "lp"])
def test_a_model_of_the_users_own_minimises(strategy):
    opt = Optimizer(SQUARE, strategy, seed=1)
    opt.surrogate = Neighbours()
    for _ in range(6):
        trials = opt.ask(4)
        opt.tell(trials, [bowl(**trial.params) for trial in trials])
    assert opt.surrogate.lessons == 5  # of six batches, the first one and a point are the initial design
    assert opt.best.value < 0.02
    assert {trial.origin.strategy for trial in opt.trials[8:]} == {strategy}
    assert 0.05 <= opt.trials[-1].origin.length_scales["x"] <= 0.2
    assert opt.recommend().value < 0.05


def test_a_model_hears_of_values_as_they_were_told_and_of_failures():
    opt = Optimizer(SQUARE, "ats", n_initial=3, seed=0)
    opt.surrogate = Neighbours()
    trials = opt.ask(3)
    opt.tell(trials[2], 1e6)
    opt.tell(trials[0], -2.0)
    opt.tell(trials[1], Failure("no"))
    opt.ask()
    seen = opt.surrogate.seen
    assert list(seen.values) == [1e6, -2.0]
    np.testing.assert_array_equal(seen.points, [SQUARE.encode(trials[k].params) for k in (2, 0)])
    np.testing.assert_array_equal(seen.failed, [SQUARE.encode(trials[1].params)])


def test_an_interrupted_ask_leaves_no_trace(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    opt, other = Optimizer(SQUARE, seed=3), Optimizer(SQUARE, seed=3)
    for each in (opt, other):
        each.tell(each.ask(5), [1.0, 0.5, 2.0, 0.1, 3.0])
        each.ask(2)
    before = opt.surrogate
    with monkeypatch.context() as patch:
        patch.setattr("covey.batch.choose.maximise", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opt.ask(2)
    assert opt.surrogate is before
    assert [t.params for t in opt.ask(2)] == [t.params for t in other.ask(2)]


def test_the_gaussian_process_is_open():
    opt = Optimizer(SQUARE, seed=0)
    with pytest.raises(ValueError, match="has not learned anything yet"):
        opt.surrogate.stack(slice(3))
    assert len(opt.surrogate) == 0
    opt.tell(opt.ask(5), [1.0, 0.5, 2.0, 0.1, 3.0])
    opt.ask(2)
    assert len(opt.surrogate) >= 32
    assert opt.surrogate.thetas.length_scale.shape == (len(opt.surrogate), 2)
    mean, std = opt.surrogate.stack(slice(3)).predict(np.random.default_rng(0).random((7, 2)))
    assert mean.shape == std.shape == (3, 7)
    assert isinstance(opt.surrogate.diagnostics, covey.Diagnostics)
