"""The public suites, over every entry of the registries."""

import math

import numpy as np
import pytest

import covey
from covey.acquisition.acquisition import ACQUISITIONS
from covey.batch.strategy import STRATEGIES
from covey.testing import AcquisitionSuite, DimensionSuite, StrategySuite

PAIRS = [
    (name, acquisition)
    for name, row in STRATEGIES.items()
    for acquisition in ([None] if row.acquisition else ["ei", "lcb", "log-ei"])
]


@pytest.mark.parametrize("name", ACQUISITIONS)
class TestNamedAcquisitions(AcquisitionSuite):
    @pytest.fixture(autouse=True)
    def _choose(self, name):
        self.name = name

    def make(self):
        return ACQUISITIONS[self.name]


def soft_improvement(mean, std, best, jitter):
    """A user's own: smooth, positive, no partials."""
    return std * np.logaddexp(0.0, (best - jitter - mean) / std.clip(1e-9))


class TestUsersFunction(AcquisitionSuite):
    def make(self):
        return soft_improvement


class TestUsersAcquisitionWithoutPartials(AcquisitionSuite):
    def make(self):
        return covey.Acquisition("soft", soft_improvement, scale="positive")


@pytest.mark.parametrize(("name", "acquisition"), PAIRS, ids=[f"{n}+{a or 'own'}" for n, a in PAIRS])
class TestNamedStrategies(StrategySuite):
    @pytest.fixture(autouse=True)
    def _choose(self, name, acquisition):
        self.name, self.acquisition = name, acquisition

    def make(self):
        return covey.strategy(self.name, s=2)


class TestUsersAcquisitionInAStrategy(StrategySuite):
    acquisition = covey.Acquisition("soft", soft_improvement, scale="positive")

    def make(self):
        return covey.strategy("j-ats", s=2)


class TestUsersStrategy(StrategySuite):
    """Axes combined as no named method does."""

    acquisition = "pi"

    def make(self):
        return covey.Strategy(
            "own", s=2, p=0.3, thetas="hallucinated", surrogate="hallucinated", repel="penalise"
        )


class TestFloat(DimensionSuite):
    def make(self):
        return covey.Float(-2.0, 3.0)

    def outside(self):
        return [*super().outside(), -2.0001, 3.0001, math.inf, None, True]


class TestLogFloat(DimensionSuite):
    def make(self):
        return covey.Float(1e-5, 1e7, log=True)

    def outside(self):
        return [*super().outside(), 0.0, -1.0, 1.1e7]


class TestInt(DimensionSuite):
    def make(self):
        return covey.Int(-3, 17)

    def outside(self):
        return [*super().outside(), -4, 18, 0.5, math.inf, None, False]


class TestIntOfManyLevels(DimensionSuite):
    def make(self):
        return covey.Int(-(10**6), 10**9)


class TestIntOfOneLevel(DimensionSuite):
    def make(self):
        return covey.Int(5, 5)


class TestLogInt(DimensionSuite):
    def make(self):
        return covey.Int(1, 1000, log=True)

    def outside(self):
        return [*super().outside(), 0, 1001, 1.5]


class TestLogIntOfManyLevels(DimensionSuite):
    def make(self):
        return covey.Int(16, 10**9, log=True)


class TestFloatInSteps(DimensionSuite):
    def make(self):
        return covey.Float(20, 90, step=0.5)

    def outside(self):
        return [*super().outside(), 19.5, 90.5, 33.2, 33.4999999, math.inf, None, True]


class TestFloatInTenths(DimensionSuite):
    def make(self):
        return covey.Float(0, 1, step=0.1)

    def outside(self):
        return [*super().outside(), 0.05, 0.3001, 1.1, -0.1]


class TestFloatInStepsThatDoNotDivideTheRange(DimensionSuite):
    def make(self):
        return covey.Float(-0.35, 0.7, step=0.3)

    def outside(self):
        return [*super().outside(), 0.7, 0.0, -0.65, 0.85]


class TestFloatInManySteps(DimensionSuite):
    def make(self):
        return covey.Float(0.0, 1e6, step=1e-3)


class TestFloatInTheFinestSteps(DimensionSuite):
    def make(self):
        return covey.Float(-1.0, 1.0, step=2e-15)


class TestFloatInStepsWithManyDigits(DimensionSuite):
    def make(self):
        return covey.Float(-math.pi, 1e3, step=1 / 3)


class TestFloatOfTwoSteps(DimensionSuite):
    def make(self):
        return covey.Float(-1e300, 1e300, step=2e300)


class TestIntInSteps(DimensionSuite):
    def make(self):
        return covey.Int(-7, 100, step=5)

    def outside(self):
        return [*super().outside(), -6, 0, 99, 100, 3.5, math.inf, None, True]


class TestIntInManySteps(DimensionSuite):
    def make(self):
        return covey.Int(-(2**52), 2**52 - 1, step=7)


class TestOrdinal(DimensionSuite):
    def make(self):
        return covey.Ordinal([-3, 0, 0.1, 0.3, 2, 50])

    def outside(self):
        return [*super().outside(), 0.2, 1, -4, 51, math.inf, None, True]


class TestLogOrdinal(DimensionSuite):
    def make(self):
        return covey.Ordinal([1e-300, 1, 2, 5, 10, 1e300], log=True)

    def outside(self):
        return [*super().outside(), 0, 3, -1]


class TestOrdinalOfOneLevel(DimensionSuite):
    def make(self):
        return covey.Ordinal([7])


class TestOrdinalOfManyLevels(DimensionSuite):
    def make(self):
        return covey.Ordinal([k**3 for k in range(2000)])


class TestCategorical(DimensionSuite):
    def make(self):
        return covey.Categorical(["gbtree", None, True, (1, 2), 0.5])

    def outside(self):
        return [object(), "dart", [1, 2], 0.25]


class TestCategoricalOfOneChoice(DimensionSuite):
    def make(self):
        return covey.Categorical(["only"])


class Angle:
    """A user's own dimension: twelve directions."""

    levels = 12
    ordered = False

    def spread(self, uniform):
        return self.position(np.floor(uniform * 12))

    def position(self, level):
        return np.asarray(level / 11)

    def level(self, position):
        return round(position * 11)

    def encode(self, value):
        if not isinstance(value, int) or value % 30 or not 0 <= value < 360:
            raise ValueError(f"{value!r} is not a multiple of 30 in [0, 360)")
        return value / 30 / 11

    def decode(self, position):
        return 30 * self.level(position)


class TestUsersDimension(DimensionSuite):
    def make(self):
        return Angle()


class BrokenPartials(AcquisitionSuite):
    def make(self):
        return covey.Acquisition(
            "broken", lambda m, s, b, j: b - m + s, partials=lambda m, s, b, j: (np.ones_like(m), s)
        )


class BackwardsAcquisition(AcquisitionSuite):
    def make(self):
        return lambda mean, std, best, jitter: mean + std


def test_the_suite_notices_wrong_partials():
    with pytest.raises(AssertionError):
        BrokenPartials().test_slopes_agree_with_finite_differences()


def test_the_suite_notices_a_preference_for_high_means():
    with pytest.raises(AssertionError, match="falls"):
        BackwardsAcquisition().test_a_lower_mean_is_never_worth_less()


def test_the_suite_notices_what_cannot_be_pickled():
    with pytest.raises(AttributeError, match="pickle"):
        BackwardsAcquisition().test_survives_pickling()


class Unrounded(Angle):
    def position(self, level):
        return np.asarray(level / 11 + 1e-3)


class UnroundedSuite(DimensionSuite):
    def make(self):
        return Unrounded()


def test_the_suite_notices_positions_between_levels():
    with pytest.raises(AssertionError, match="came back"):
        UnroundedSuite().test_positions_survive_the_round_trip()


class NegativeZero(Angle):
    def position(self, level):
        return np.where(level == 0, -0.0, level / 11)


class NegativeZeroSuite(DimensionSuite):
    def make(self):
        return NegativeZero()


def test_the_suite_notices_a_level_with_two_positions():
    with pytest.raises(AssertionError, match=r"-0\.0 came back as 0\.0"):
        NegativeZeroSuite().test_positions_survive_the_round_trip()


class Careless(DimensionSuite):
    def make(self):
        return covey.Float(0.0, 1.0)

    def outside(self):
        return [0.5]


def test_the_suite_notices_values_that_should_be_refused():
    with pytest.raises(AssertionError, match=r"0\.5 was taken"):
        Careless().test_values_outside_are_refused_by_name()
