"""Conformance suites for extensions: your own tests inherit them.

Subclass one and say what is under test; pytest collects the rest::

    class TestMyAcquisition(covey.testing.AcquisitionSuite):
        def make(self):
            return my_acquisition

Plain classes and plain asserts: nothing here needs pytest.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np

from covey.acquisition.acquisition import Acquisition, Value, resolve_acquisition
from covey.arrays import Array
from covey.batch.strategy import Strategy
from covey.optimizer import Optimizer
from covey.space import Categorical, Dimension, Float, Int, Ordinal, Space

MEAN = np.concatenate([np.linspace(-1.5, 1.5, 7)[None], np.linspace(-1.3, 1.2, 7)[None]])
STD = np.array([0.4, 0.5, 0.7, 0.9, 1.1, 1.5, 2.0]) * np.array([[1.0], [0.8]])
BEST = np.array([[-0.8], [-0.5]])
"""Predictions of two thetas at seven points (2, 7), and the best value of each (2, 1)."""

SPACES = {
    "float": Space({"x": Float(0.0, 1.0), "y": Float(-5.0, 5.0)}),
    "mixed": Space(
        {
            "rate": Float(1e-4, 1e2, log=True),
            "depth": Int(-2, 3),
            "width": Int(1, 500, log=True),
            "temperature": Float(20.0, 90.0, step=0.5),
            "dose": Ordinal([1, 2, 5, 10, 50], log=True),
            "kind": Categorical(["a", "b", "c"]),
        }
    ),
    "categorical": Space({"kind": Categorical(["a", "b", "c"]), "flag": Categorical([None, 1, (2, 3), "x"])}),
}
"""What a strategy has to cope with."""


class AcquisitionSuite:
    """What the maximiser takes for granted of an acquisition function. Override ``make``."""

    def make(self) -> Acquisition | Value:
        """The acquisition function under test: a ``covey.Acquisition`` or a plain function."""
        raise NotImplementedError

    def _resolved(self) -> tuple[Acquisition, float]:
        acquisition = resolve_acquisition(self.make())
        return acquisition, acquisition.jitter.fixed

    def test_value_has_the_shape_of_the_predictions(self) -> None:
        acquisition, jitter = self._resolved()
        for points in (1, 7):
            value = np.asarray(acquisition.value(MEAN[:, :points], STD[:, :points], BEST, jitter))
            assert value.shape == (2, points), f"(2, {points}) expected, got {value.shape}"

    def test_each_theta_is_on_its_own(self) -> None:
        acquisition, jitter = self._resolved()
        stack = acquisition.value(MEAN, STD, BEST, jitter)
        for k in range(2):
            alone = acquisition.value(MEAN[k : k + 1], STD[k : k + 1], BEST[k : k + 1], jitter)
            np.testing.assert_allclose(alone[0], stack[k], rtol=1e-12)

    def test_value_is_finite_with_every_jitter(self) -> None:
        acquisition, jitter = self._resolved()
        drawn = acquisition.jitter.drawn.draw(np.random.default_rng(0), 5)
        for j in [jitter, *drawn.tolist()]:
            for scale in (1e-2, 1.0, 10.0):
                value = acquisition.value(scale * MEAN, scale * STD, BEST, j)
                assert np.isfinite(value).all(), f"not finite at scale {scale}, jitter {j}: {value}"

    def test_value_is_a_number_where_nothing_is_uncertain(self) -> None:
        acquisition, jitter = self._resolved()
        value = acquisition.value(MEAN, np.zeros_like(STD), BEST, jitter)
        assert not np.isnan(value).any(), f"NaN at std 0: {value}"

    def test_slopes_agree_with_finite_differences(self) -> None:
        acquisition, jitter = self._resolved()
        step = 1e-5

        def difference(in_mean: float, in_std: float) -> Array:
            up = acquisition.value(MEAN + in_mean, STD + in_std, BEST, jitter)
            down = acquisition.value(MEAN - in_mean, STD - in_std, BEST, jitter)
            return (up - down) / (2 * step)

        slopes = acquisition.slopes(MEAN, STD, BEST, jitter)
        expected = difference(step, 0.0), difference(0.0, step)
        for name, slope, numeric in zip(("mean", "std"), slopes, expected, strict=True):
            assert np.shape(slope) == MEAN.shape, f"slope in {name} has shape {np.shape(slope)}"
            np.testing.assert_allclose(slope, numeric, rtol=1e-4, atol=1e-6, err_msg=name)

    def test_a_lower_mean_is_never_worth_less(self) -> None:
        acquisition, jitter = self._resolved()
        means = np.linspace(3.0, -3.0, 61)[None]
        for std in (0.1, 1.0):
            value = acquisition.value(means, np.full_like(means, std), BEST[:1], jitter)
            assert (np.diff(value) >= -1e-12 * np.abs(value[:, 1:])).all(), f"falls at std {std}: {value}"

    def test_survives_pickling(self) -> None:
        acquisition, jitter = self._resolved()
        again = pickle.loads(pickle.dumps(acquisition))
        np.testing.assert_array_equal(
            again.value(MEAN, STD, BEST, jitter), acquisition.value(MEAN, STD, BEST, jitter)
        )


class StrategySuite:
    """What the optimizer promises whatever the strategy. Override ``make``.

    Attributes:
        acquisition: what to combine the strategy with; None takes its own.
    """

    acquisition: str | Acquisition | None = None

    def make(self) -> Strategy | str:
        """The strategy under test, or its name."""
        raise NotImplementedError

    def _start(self, space: Space) -> Optimizer:
        """An optimizer told three values, last first."""
        optimizer = Optimizer(space, self.make(), self.acquisition, n_initial=3, seed=7)
        for value, trial in enumerate(reversed(optimizer.ask(3))):
            optimizer.tell(trial, 0.5 * value**2 - value)
        return optimizer

    def _run(self, space: Space, pickled: bool) -> list[dict[str, Any]]:
        """All configurations of a run with a point in flight, perhaps pickled after each ask."""
        optimizer = self._start(space)
        for told in (1, 0):
            batch = optimizer.ask(2)
            if pickled:
                optimizer, batch = pickle.loads(pickle.dumps((optimizer, batch)))
            optimizer.tell(batch[told], float(told))
        return [trial.params for trial in optimizer.trials]

    def test_a_batch_is_new_configurations_of_the_space(self) -> None:
        for name, space in SPACES.items():
            optimizer = self._start(space)
            batch = optimizer.ask(3)
            assert len(batch) == 3, f"{name}: asked for 3, got {len(batch)}"
            _assert_distinct(name, space, [trial.params for trial in optimizer.trials])

    def test_points_in_flight_are_not_repeated(self) -> None:
        for name, space in SPACES.items():
            asked = self._run(space, pickled=False)
            assert len(asked) == 7, f"{name}: asked for 7, got {len(asked)}"
            _assert_distinct(name, space, asked)

    def test_same_seed_gives_same_points_also_after_pickling(self) -> None:
        for name, space in SPACES.items():
            first, second = self._run(space, pickled=False), self._run(space, pickled=True)
            assert first == second, f"{name}: {first} then {second}"


def _assert_distinct(name: str, space: Space, asked: list[dict[str, Any]]) -> None:
    rows = {space.encode(params).tobytes() for params in asked}
    assert len(rows) == len(asked), f"{name}: repeated within {asked}"


class DimensionSuite:
    """What a space takes for granted of a dimension. Override ``make``, and ``outside`` if need be."""

    def make(self) -> Dimension:
        """The dimension under test."""
        raise NotImplementedError

    def outside(self) -> list[Any]:
        """Values that it must refuse."""
        return [object(), "no such value", math.nan]

    def _positions(self) -> list[float]:
        return [float(p) for p in self.make().spread(np.linspace(0.0, 1.0, 257)[:-1])]

    def _levels(self) -> list[int]:
        """Some levels, the first and the last among them; none of a continuum."""
        count = self.make().levels or 0
        return sorted({k * (count - 1) // 64 for k in range(65)}) if count else []

    def test_spread_stays_in_the_unit_interval(self) -> None:
        assert all(0 <= p <= 1 for p in self._positions())

    def test_positions_survive_the_round_trip(self) -> None:
        dimension = self.make()
        for p in self._positions():
            again = dimension.encode(dimension.decode(p))
            # A level has one position to the last bit, -0.0 is not 0.0: rows are told apart by their bytes.
            discrete = dimension.levels is not None
            same = again.hex() == p.hex() if discrete else math.isclose(again, p, abs_tol=1e-9)
            assert same, f"position {p!r} came back as {again!r}"

    def test_values_survive_the_round_trip(self) -> None:
        dimension = self.make()
        for value in map(dimension.decode, self._positions()):
            again = dimension.decode(dimension.encode(value))
            same = math.isclose(again, value, rel_tol=1e-9) if dimension.levels is None else again == value
            assert same, f"{value!r} came back as {again!r}"

    def test_levels_and_positions_agree(self) -> None:
        dimension, levels = self.make(), self._levels()
        if levels:
            positions = dimension.position(np.array(levels, dtype=float))
            assert [dimension.level(float(p)) for p in positions] == levels
            assert ((positions >= 0) & (positions <= 1)).all(), f"outside [0, 1]: {positions}"
            assert len({dimension.decode(float(p)) for p in positions}) == len(levels)
            assert (np.diff(positions) > 0).all(), f"not in order: {positions}"

    def test_spread_reaches_every_level(self) -> None:
        dimension = self.make()
        if dimension.levels is not None and dimension.levels <= 32:
            reached = {dimension.level(p) for p in self._positions()}
            assert reached == set(range(dimension.levels))

    def test_values_outside_are_refused_by_name(self) -> None:
        for value in self.outside():
            refusal = _refusal(self.make(), value)
            assert refusal is not None, f"{value!r} was taken"
            assert repr(value) in refusal, f"says nothing of {value!r}: {refusal}"

    def test_survives_pickling(self) -> None:
        dimension = self.make()
        again = pickle.loads(pickle.dumps(dimension))
        assert [again.decode(p) for p in self._positions()] == [
            dimension.decode(p) for p in self._positions()
        ]

    def test_serves_in_an_optimizer(self) -> None:
        space = Space({"own": self.make(), "x": Float(0.0, 1.0)})
        optimizer = Optimizer(space, n_initial=3, seed=3)
        optimizer.tell(optimizer.ask(3), [1.0, 0.0, 2.0])
        for trial in optimizer.ask(2):
            space.encode(trial.params)


def _refusal(dimension: Dimension, value: Any) -> str | None:
    """What a dimension says when it refuses a value; None if it takes it."""
    try:
        dimension.encode(value)
    except ValueError as error:
        return str(error)
    return None
