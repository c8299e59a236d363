"""Steps and levels: every value is what can be set, to the last digit, wherever it is shown."""

import decimal
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import optuna
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import covey
from covey import Categorical, Float, Int, Ordinal, Space
from covey.bench.versus.conversation import described
from covey.space.describe import describe, describe_dimension
from covey.study.codec import distributions
from covey.study.codec import encode as stored

SETTABLE = Space(
    {
        "temperature": Float(20, 90, step=0.5),
        "tenths": Float(-0.3, 1, step=0.1),
        "speed": Int(0, 100, step=5),
        "dose": Ordinal([1, 2.5, 5, 10, 50], log=True),
    }
)
UNIT = st.floats(0, 1)


def decimals(number):
    """Digits after the point that a number needs."""
    exponent = Decimal(repr(float(number))).normalize().as_tuple().exponent
    return max(0, -exponent)


def short(places):
    return st.integers(-(10**6), 10**6).map(lambda n: float(Decimal(n).scaleb(-places)))


@st.composite
def written_floats(draw):
    """Floats in steps as people write them: few digits."""
    places = draw(st.integers(0, 6))
    low, high, step = draw(short(places)), draw(short(places)), abs(draw(short(draw(st.integers(0, 6)))))
    assume(step > 0)
    assume(Decimal(repr(high)) - Decimal(repr(low)) >= Decimal(repr(step)))
    return Float(low, high, step=step)


@st.composite
def any_floats(draw):
    """Floats in steps with any digits at all."""
    finite = st.floats(-1e15, 1e15, allow_subnormal=False)
    low, high = sorted(draw(st.tuples(finite, finite)))
    assume(low < high)
    try:
        return Float(low, high, step=draw(st.floats(1e-12, 1)) * (high - low))
    except ValueError as error:
        assume("step" not in str(error))  # too fine for float64
        raise


@st.composite
def stepped_ints(draw):
    low = draw(st.integers(-(2**52), 2**52 - 2))
    width = draw(st.one_of(st.integers(1, 50), st.integers(1, 2**52)))
    return Int(low, low + width, step=draw(st.integers(1, width)))


@st.composite
def ordinals(draw):
    log = draw(st.booleans())
    numbers = st.one_of(st.integers(1 if log else -(10**9), 10**9), st.floats(1e-3 if log else -1e3, 1e3))
    levels = sorted(draw(st.lists(numbers, min_size=1, max_size=20, unique_by=lambda x: round(x, 2))))
    return Ordinal(levels, log=log)


# --- validation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Float(20, 90, step=100), "above 0 and at most 70, the width of the range, got 100"),
        (lambda: Float(0, 1, step=0), "step must be a number above 0 and at most 1,.* got 0"),
        (lambda: Float(0, 1, step=-0.5), "step must be .* got -0.5"),
        (lambda: Float(0, 1, step=math.nan), "step must be .* got nan"),
        (lambda: Float(0, 1, step=math.inf), "step must be .* got inf"),
        (lambda: Float(0, 1, step=True), "step must be .* got True"),
        (lambda: Float(0, 1, step="0.1"), "step must be .* got '0.1'"),
        (lambda: Float(1, 2, log=True, step=0.5), "step does not go with log=True"),
        (lambda: Float(0, 1, step=1e-16), r"at most 2\*\*53 values, got 1e-16"),
        (lambda: Float(0, 2**53, step=1), r"at most 2\*\*53 values"),
        (lambda: Float(1e15, 1e15 + 10, step=0.1), "step must be at least 1, .* got 0.1"),
        (lambda: Int(0, 100, step=0), "step must be a whole number from 1, got 0"),
        (lambda: Int(0, 100, step=2.5), "step must be a whole number from 1, got 2.5"),
        (lambda: Int(0, 100, step=None), "step must be a whole number from 1, got None"),
        (lambda: Int(0, 100, step=True), "step must be a whole number from 1, got True"),
        (lambda: Int(0, 100, step=101), "at most 100, the width of the range, got 101"),
        (lambda: Int(5, 5, step=2), "at most 0, the width of the range, got 2"),
        (lambda: Int(1, 100, log=True, step=5), "step does not go with log=True"),
        (lambda: Ordinal([]), "levels must not be empty"),
        (lambda: Ordinal(5), "levels must be a list, got 5"),
        (lambda: Ordinal("125"), "levels must be a list, got '125'"),
        (lambda: Ordinal([1, "2"]), "levels must be finite numbers, got '2'"),
        (lambda: Ordinal([1, math.inf]), "levels must be finite numbers, got inf"),
        (lambda: Ordinal([False, True]), "levels must be finite numbers, got False"),
        (lambda: Ordinal([1, 5, 2]), r"levels must rise, got \[1, 5, 2\]"),
        (lambda: Ordinal([1, 2, 2.0]), r"levels must rise, got \[1, 2, 2.0\]"),
        (lambda: Ordinal([0, 1], log=True), "log=True needs levels above 0, got 0"),
        (lambda: Ordinal([1, 2], log=1), "log must be True or False, got 1"),
        (lambda: Ordinal([0, 1e-300, 1e300]), "must be apart in float64, got 0 and 1e-300"),
        (lambda: Ordinal([2**60, 2**60 + 1]), "apart in float64"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line_with_what_is_accepted(build, says):
    with pytest.raises(ValueError, match=says) as caught:
        build()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("dimension", "value", "says"),
    [
        (Float(20, 90, step=0.5), 33.2, r"in \[20, 90\] in steps of 0.5; the nearest are 33.0 and 33.5"),
        (Float(20, 90, step=0.5), 91, "the nearest is 90.0"),
        (Float(20, 90, step=0.5), -1e300, "the nearest is 20.0"),
        (Float(0, 1, step=0.3), 1.0, "the nearest is 0.9"),
        (Float(0, 1, step=0.3), "0.3", "'0.3' is not a number in"),
        (Float(0, 1, step=0.3), 0.3 + 1e-9, "are 0.3 and 0.6"),
        (Int(0, 12, step=5), 7, r"7 is not a whole number in \[0, 12\] in steps of 5; .* 5 and 10"),
        (Int(0, 12, step=5), 12, "the nearest is 10"),
        (Int(0, 12, step=5), None, "None is not a whole number"),
        (Ordinal([1, 2, 5, 10]), 7, r"7 is not one of \[1, 2, 5, 10\]; the nearest are 5 and 10"),
        (Ordinal([1, 2, 5, 10]), 11, "the nearest is 10"),
        (Ordinal([1, 2, 5, 10]), "5", r"'5' is not one of \[1, 2, 5, 10\]$"),
    ],
)
def test_a_value_between_levels_is_refused_with_the_nearest(dimension, value, says):
    with pytest.raises(ValueError, match=says):
        dimension.encode(value)


def test_numpy_numbers_are_numbers():
    dimension = Float(np.float64(0), np.int64(1), step=np.float64(0.1))
    assert dimension == Float(0.0, 1, step=0.1)
    for third in (np.float64(0.3), np.float32(0.3), np.float16(0.3)):
        assert dimension.decode(dimension.encode(third)) == 0.3
    assert Int(0, 100, step=np.int8(5)) == Int(0, 100, step=5.0)
    assert Int(0, 100, step=5).encode(np.uint8(50)) == 0.5
    levels = Ordinal(np.array([1, 2, 5])).values
    assert levels == (1, 2, 5)
    assert [type(level) for level in levels] == [int] * 3
    assert Ordinal([0.1, 0.3]).encode(np.float32(0.3)) == 1.0


def test_numbers_that_arithmetic_has_rounded_are_on_their_step():
    tenths, thousandths = Float(0, 1, step=0.1), Float(1e6, 1e6 + 1, step=1e-3)
    assert [tenths.decode(tenths.encode(x)) for x in (0.1 + 0.2, 0.1 * 7, 1 - 0.1 * 9)] == [0.3, 0.7, 0.1]
    assert tenths.decode(tenths.encode(-1e-17)) == 0.0
    for k in range(1001):
        assert thousandths.level(thousandths.encode(1e6 + 1e-3 * k)) == k
    assert Ordinal([0, 0.3, 1]).encode(0.1 + 0.2) == 0.3


# --- values ---------------------------------------------------------------------------------------------


@given(written_floats(), UNIT)
@example(Float(20, 90, step=0.5), 27 / 140)
@example(Float(0, 1, step=0.1), 0.3)
@example(Float(0.0, 1.0, step=1e-3), 0.007)
@example(Float(-1e6, 1e6, step=1e-6), 0.123456789)
def test_every_value_is_written_with_the_decimals_of_low_and_step(dimension, uniform):
    value = dimension.decode(float(dimension.spread(np.array([uniform]))[0]))
    assert type(value) is float
    assert dimension.low <= value <= dimension.high
    assert decimals(value) <= max(decimals(dimension.low), decimals(dimension.step))
    steps = (Decimal(str(value)) - Decimal(repr(dimension.low))) / Decimal(repr(dimension.step))
    assert steps == int(steps)


@given(st.one_of(written_floats(), any_floats(), stepped_ints(), ordinals()), UNIT)
@example(Float(-1.0, 1.0, step=2e-15), 1.0)
def test_positions_come_back_bit_by_bit(dimension, uniform):
    position = float(dimension.spread(np.array([uniform]))[0])
    assert 0 <= position <= 1
    value = dimension.decode(position)
    assert dimension.encode(value).hex() == position.hex()
    assert dimension.decode(dimension.encode(value)) == value


@given(st.one_of(written_floats(), any_floats(), stepped_ints(), ordinals()), st.data())
def test_levels_are_apart_in_order_and_within_the_bounds(dimension, data):
    level = data.draw(st.integers(0, dimension.levels - 1))
    below, here = (
        dimension.position(np.array(float(max(level - 1, 0)))),
        dimension.position(np.array(float(level))),
    )
    assert dimension.level(float(here)) == level
    if level:
        assert below < here
        assert dimension.decode(float(below)) < dimension.decode(float(here))
    assert dimension.position(np.array([0.0, dimension.levels - 1.0])).tolist() == [
        0.0,
        float(dimension.levels > 1),
    ]


@given(st.one_of(written_floats(), ordinals().filter(lambda o: o.levels > 1 and not o.log)), UNIT)
def test_positions_are_as_far_apart_as_the_values(dimension, uniform):
    position = float(dimension.spread(np.array([uniform]))[0])
    first, last = dimension.decode(0.0), dimension.decode(1.0)
    assert dimension.decode(position) - first == pytest.approx(
        position * (last - first), abs=1e-9 * (last - first)
    )


def test_levels_on_a_logarithmic_scale_are_as_far_apart_as_their_logarithms():
    dimension = Ordinal([1, 10, 100, 10000], log=True)
    assert [dimension.encode(level) for level in dimension.values] == pytest.approx([0, 0.25, 0.5, 1])


def test_every_level_gets_its_fair_share():
    grid = np.linspace(0, 1, 6000, endpoint=False)
    for dimension in (
        Float(0, 0.5, step=0.1),
        Int(0, 27, step=5),
        Ordinal([1, 2, 5, 10, 50, 1000], log=True),
    ):
        counts = np.unique(dimension.spread(grid), return_counts=True)[1]
        np.testing.assert_allclose(counts, 1000, atol=1)


def test_levels_come_back_as_they_were_given():
    given_levels = [1, 2.0, 5, 10**15, 1e20]
    dimension = Ordinal(given_levels)
    again = [dimension.decode(dimension.encode(level)) for level in given_levels]
    assert again == given_levels
    assert [type(level) for level in again] == [int, float, int, int, float]


def test_whole_steps_of_a_float_are_floats_and_a_step_of_one_is_none_for_an_int():
    dimension = Float(20, 90, step=5)
    assert [str(dimension.decode(p)) for p in (0.0, 0.5, 1.0)] == ["20.0", "55.0", "90.0"]
    assert Int(0, 9, step=1) == Int(0, 9)


def test_the_arithmetic_of_a_program_does_not_change_the_values():
    with decimal.localcontext(prec=2, rounding=decimal.ROUND_UP, traps=[decimal.Inexact]):
        dimension = Float(20.125, 90, step=0.125)
        assert dimension.decode(dimension.encode(33.375)) == 33.375
        assert dimension.levels == 560


@pytest.mark.parametrize(
    ("dimension", "shows"),
    [
        (Float(0, 1), "Float(low=0, high=1, log=False)"),
        (Float(0, 1, step=0.1), "Float(low=0, high=1, log=False, step=0.1)"),
        (Int(0, 9, step=3), "Int(low=0, high=9, log=False, step=3)"),
        (Ordinal([1, 2.5]), "Ordinal([1, 2.5])"),
        (Ordinal([1, 2.5], log=True), "Ordinal([1, 2.5], log=True)"),
    ],
)
def test_dimensions_are_data(dimension, shows):
    dimension.spread(np.array([0.5]))
    again = pickle.loads(pickle.dumps(dimension))
    assert again == dimension == eval(shows)
    assert hash(again) == hash(dimension)
    assert repr(dimension) == shows
    with pytest.raises(AttributeError):
        dimension.log = True


def test_dimensions_that_differ_in_a_step_differ():
    assert len({Float(0, 1), Float(0, 1, step=0.1), Float(0, 1, step=0.2)}) == 3
    assert len({Ordinal([1, 2]), Ordinal([1, 3]), Ordinal([1, 2], log=True)}) == 3


# --- the optimizer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "j-ats", "lp"])
def test_the_model_suggests_nothing_that_cannot_be_set(strategy):
    accepted = {
        "temperature": {str(20 + k / 2) for k in range(141)},
        "tenths": {f"{k / 10:.1f}" for k in range(-3, 11)},
        "speed": {str(k) for k in range(0, 101, 5)},
        "dose": {"1", "2.5", "5", "10", "50"},
    }
    optimizer = covey.Optimizer(SETTABLE, strategy, n_initial=4, seed=2)
    for _ in range(4):
        for trial in optimizer.ask(4):
            assert {
                name: str(value) in accepted[name] for name, value in trial.params.items()
            } == dict.fromkeys(accepted, True)
            optimizer.tell(trial, (trial.params["temperature"] - 33.5) ** 2 + trial.params["dose"])
    assert optimizer.trials[-1].origin.strategy != "initial"


def test_a_stepped_space_is_used_up_to_its_last_configuration():
    space = Space({"a": Float(0, 1, step=0.3), "b": Ordinal([1, 5])})
    optimizer = covey.Optimizer(space, n_initial=3, seed=0)
    found = []
    for _ in range(space.size):
        (trial,) = optimizer.ask()
        found.append(tuple(trial.params.values()))
        optimizer.tell(trial, sum(found[-1]))
    assert sorted(found) == [(a, b) for a in (0.0, 0.3, 0.6, 0.9) for b in (1, 5)]
    with pytest.raises(covey.SpaceExhausted):
        optimizer.ask()


def test_a_given_configuration_is_taken_to_its_step():
    optimizer = covey.Optimizer(Space({"x": Float(0, 1, step=0.1), "n": Ordinal([1, 2])}), seed=0)
    assert optimizer.include({"x": 0.1 + 0.2, "n": 2.0}).params == {"x": 0.3, "n": 2}


# --- studies --------------------------------------------------------------------------------------------


def test_a_space_without_steps_is_described_without_them():
    space = Space(
        {"x": Float(0, 1), "n": Int(1, 9, log=True), "m": Int(0, 9, step=1), "k": Categorical(["a"])}
    )
    assert describe(space) == {
        "x": {"type": "float", "low": 0, "high": 1, "log": False},
        "n": {"type": "int", "low": 1, "high": 9, "log": True},
        "m": {"type": "int", "low": 0, "high": 9, "log": False},
        "k": {"type": "categorical", "choices": ["a"]},
    }


def test_steps_and_levels_are_described_in_the_words_of_a_study_file():
    assert json.loads(json.dumps(describe(SETTABLE))) == {
        "temperature": {"type": "float", "low": 20, "high": 90, "log": False, "step": 0.5},
        "tenths": {"type": "float", "low": -0.3, "high": 1, "log": False, "step": 0.1},
        "speed": {"type": "int", "low": 0, "high": 100, "log": False, "step": 5},
        "dose": {"type": "ordinal", "levels": [1, 2.5, 5, 10, 50], "log": True},
    }
    assert describe_dimension(Float(0, 9, step=1))["step"] == 1


def run(storage, space, **options):
    with ThreadPoolExecutor(1) as executor:
        objective = options.pop("objective", lambda params: float(next(iter(params.values()))))
        return covey.minimize(
            objective,
            space,
            storage=storage,
            executor=executor,
            seed=0,
            progress=False,
            n_initial=6,
            **options,
        )


def test_a_study_gives_every_value_back_bit_by_bit(sqlite):
    first = run(sqlite, SETTABLE, evaluations=10)
    again = run(sqlite, SETTABLE, evaluations=10)
    assert [repr(trial.params) for trial in again.trials] == [repr(trial.params) for trial in first.trials]
    stored = optuna.load_study(study_name="covey", storage=sqlite).trials
    assert [repr(trial.params) for trial in stored] == [repr(trial.params) for trial in first.trials]
    assert stored[0].distributions == {
        "temperature": optuna.distributions.FloatDistribution(20, 90, step=0.5),
        "tenths": optuna.distributions.FloatDistribution(-0.3, 1.0, step=0.1),
        "speed": optuna.distributions.IntDistribution(0, 100, step=5),
        "dose": optuna.distributions.CategoricalDistribution([1, 2.5, 5, 10, 50]),
    }


def test_a_study_with_another_step_is_another(sqlite):
    run(sqlite, Space({"x": Float(0, 1, step=0.1)}), evaluations=2)
    with pytest.raises(covey.StudyMismatch, match=r"'step': 0.1.* in the study.*'step': 0.05"):
        run(sqlite, Space({"x": Float(0, 1, step=0.05)}), evaluations=2)


@given(st.one_of(written_floats(), any_floats(), stepped_ints(), ordinals()), UNIT)
@example(Float(0, 14, step=1 / 3), 1.0)
@example(Float(0, 1e6, step=1e-3), 0.987654321)
@example(Float(1e6, 1e6 + 1, step=1e-3), 0.5)
@example(Float(0, 1, step=0.3), 1.0)
@example(Int(0, 12, step=5), 1.0)
def test_optuna_takes_every_value_of_every_step_without_a_word(dimension, uniform):
    space = Space({"x": dimension})
    (row,) = space.spread(np.array([[uniform]]))
    trial = covey.Trial(0, space.decode(row))
    frozen = stored(space, trial)  # which checks the value against its distribution
    assert frozen.params == trial.params
    assert space.encode(frozen.params) == row


def test_optuna_has_the_last_level_for_a_bound():
    found = distributions(Space({"x": Float(0, 1, step=0.3), "n": Int(0, 12, step=5)}))
    assert found["x"] == optuna.distributions.FloatDistribution(0, 0.9, step=0.3)
    assert found["n"] == optuna.distributions.IntDistribution(0, 10, step=5)


def test_peers_are_not_told_of_a_space_with_steps():
    for dimension in (Float(0, 1, step=0.5), Int(0, 9, step=3), Ordinal([1, 2])):
        with pytest.raises(ValueError, match="peers know Float and Int without a step"):
            described(Space({"x": dimension}))
