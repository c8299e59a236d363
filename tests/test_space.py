"""Space and dimensions: validation, and the codec to and from the unit cube."""

import json
import math
import pickle
import sys
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from covey import Categorical, Float, Int, Space
from covey.space.features import Features

UNIT = st.floats(0, 1)
HUGE = sys.float_info.max
finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=sys.float_info.min, max_value=HUGE)


@st.composite
def floats(draw, log=False):
    low, high = sorted(draw(st.tuples(*[positive if log else finite] * 2)))
    assume(low < high)
    return Float(low, high, log=log)


@st.composite
def ints(draw):
    low = draw(st.integers(-(2**53), 2**53))
    width = draw(st.one_of(st.integers(0, 50), st.integers(0, 2**53 - 1)))
    return Int(low, min(low + width, 2**53))


@st.composite
def log_ints(draw, most=2**40):
    low = draw(st.integers(1, most))
    return Int(low, draw(st.integers(low, most)), log=True)


# --- validation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Float("0", 1), "low must be a finite number, got '0'"),
        (lambda: Float(0, math.inf), "high must be a finite number, got inf"),
        (lambda: Float(math.nan, 1), "low must be a finite number, got nan"),
        (lambda: Float(True, 2), "low must be a finite number, got True"),
        (lambda: Float(2, 1), r"low must be below high, got \(2, 1\)"),
        (lambda: Float(1, 1), r"low must be below high, got \(1, 1\)"),
        (lambda: Float(0, 1, log=True), "log=True needs low above 0, got low=0"),
        (lambda: Float(1, 2, log="yes"), "log must be True or False, got 'yes'"),
        (lambda: Int(0.5, 2), "low must be a whole number, got 0.5"),
        (lambda: Int(0, None), "high must be a finite number, got None"),
        (lambda: Int(3, 2), r"low must not exceed high, got \(3, 2\)"),
        (lambda: Int(0, 10, log=True), "log=True needs low above 0, got low=0"),
        (lambda: Int(0, 2**53), r"at most 2\*\*53 values"),
        (lambda: Int(10**18, 10**18 + 40), r"from -2\*\*53 to 2\*\*53.*got \(10{18}, 10{16}40\)"),
        (lambda: Int(-(2**53) - 1, 0), r"from -2\*\*53 to 2\*\*53"),
        (lambda: Int(0, 2**53 + 1), r"from -2\*\*53 to 2\*\*53"),
        (lambda: Categorical([]), "choices must not be empty"),
        (lambda: Categorical("abc"), "choices must be a list, got 'abc'"),
        (lambda: Categorical(3), "choices must be a list, got 3"),
        (lambda: Categorical(["a", "b", "a"]), "choices must differ"),
        (lambda: Categorical([1, True]), "choices must differ"),
        (lambda: Categorical([[1], [2]]), r"choices must be hashable, got \[1\]"),
        (lambda: Space({}), "non-empty dict of name -> dimension"),
        (lambda: Space([Float(0, 1)]), "non-empty dict of name -> dimension"),
        (lambda: Space({"": Float(0, 1)}), "names must be non-empty strings, got ''"),
        (lambda: Space({3: Float(0, 1)}), "names must be non-empty strings, got 3"),
        (lambda: Space({"x": (0, 1)}), r"'x' must be Float, Int, Ordinal or Categorical .*, got \(0, 1\)"),
        pytest.param(lambda: Float(0, 10**400), "high must be a finite number", id="float-overflow"),
        pytest.param(lambda: Int(0, 10**400), "high|2\\*\\*53", id="int-overflow"),
        pytest.param(lambda: Categorical([([1],), 2]), "choices must be hashable", id="nested-list"),
        pytest.param(lambda: Space({"x": Float}), "'x' must be Float, Int", id="class-as-dimension"),
    ],
)
def test_what_is_wrong_is_refused_with_what_was_given_and_what_is_accepted(build, says):
    with pytest.raises(ValueError, match=says):
        build()


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"x": 2.0, "k": "a"}, r"parameter 'x': 2.0 is not a number in \[0, 1\]"),
        ({"x": 0.5, "k": "z"}, r"parameter 'k': 'z' is not one of \['a', 'b'\]"),
        ({"x": 0.5}, r"parameters must be \['x', 'k'\], got \['x'\]"),
        ({"x": 0.5, "k": "a", "more": 1}, "parameters must be"),
        ({"x": "0.5", "k": "a"}, "parameter 'x': '0.5' is not a number"),
        ({"x": True, "k": "a"}, "parameter 'x': True is not a number"),
        ({"x": np.nan, "k": "a"}, "parameter 'x': nan is not a number"),
    ],
)
def test_a_configuration_of_another_space_is_refused(params, says):
    with pytest.raises(ValueError, match=says):
        Space({"x": Float(0, 1), "k": Categorical(["a", "b"])}).encode(params)


def test_numpy_numbers_are_numbers():
    assert Float(np.float32(0), np.float64(2)).encode(np.float32(1)) == 0.5
    assert Int(np.int64(0), np.int8(4)).encode(np.int16(2)) == 0.5
    assert type(Int(np.int64(0), 4.0).decode(1.0)) is int
    assert type(Float(np.float32(0), 1).decode(0.5)) is float
    for low, high in (np.array([0, 5]), np.array([0, 5], dtype=np.float32)):
        written = json.loads(json.dumps(asdict(Float(low, high))))
        assert written == {"low": 0, "high": 5, "log": False, "step": None, "when": []}


def test_a_float_has_no_levels():
    with pytest.raises(TypeError, match="no levels"):
        Float(0, 1).position(np.zeros(1))
    with pytest.raises(TypeError, match="no levels"):
        Float(0, 1).level(0.5)


# --- round trips ----------------------------------------------------------------------------------------


@given(floats(), UNIT)
@example(Float(0.0, 5e-324), 1.0)
@example(Float(-HUGE, HUGE), 0.75)
def test_a_float_decodes_within_its_bounds_and_encodes_back(dimension, position):
    value = dimension.decode(position)
    assert dimension.low <= value <= dimension.high
    # Rounding may move a value by one ulp of the larger bound.
    ulp = math.ulp(max(abs(dimension.low), abs(dimension.high)))
    tolerance = 1e-12 + 4 * ulp / width if (width := dimension.high - dimension.low) < math.inf else 1e-12
    assert dimension.encode(value) == pytest.approx(position, abs=tolerance)


@given(floats(log=True), UNIT)
def test_a_log_float_decodes_within_its_bounds_and_encodes_back(dimension, position):
    assume(dimension.high / 2 > dimension.low)
    value = dimension.decode(position)
    assert dimension.low <= value <= dimension.high
    width = math.log(dimension.high) - math.log(dimension.low)
    assert dimension.encode(value) == pytest.approx(position, abs=1e-11 / min(width, 1.0))


@given(floats(log=True))
@example(Float(1e10, math.nextafter(1e10, math.inf), log=True))
def test_a_log_float_takes_its_own_bounds(dimension):
    assert 0 <= dimension.encode(dimension.low) <= dimension.encode(dimension.high) <= 1


@given(ints(), st.data())
def test_every_whole_number_survives_the_round_trip(dimension, data):
    value = data.draw(st.integers(dimension.low, dimension.high))
    position = dimension.encode(value)
    assert 0 <= position <= 1
    assert dimension.decode(position) == value


@given(ints(), UNIT)
@example(Int(-3, 5), 0.0)
def test_spread_ints_are_configurations_bit_by_bit(dimension, uniform):
    position = float(dimension.spread(np.array([uniform]))[0])
    assert dimension.low <= dimension.decode(position) <= dimension.high
    assert dimension.encode(dimension.decode(position)).hex() == position.hex()


@given(log_ints(), st.data())
def test_every_whole_number_on_a_log_scale_survives_the_round_trip(dimension, data):
    value = data.draw(st.integers(dimension.low, dimension.high))
    assert dimension.decode(dimension.encode(value)) == value


@given(log_ints(), UNIT)
@example(Int(1, 50, log=True), 0.1)
@example(Int(134216271, 1207959831, log=True), 1.0)
def test_spread_log_ints_are_configurations_bit_by_bit(dimension, uniform):
    position = float(dimension.spread(np.array([uniform]))[0])
    assert dimension.encode(dimension.decode(position)).hex() == position.hex()
    assert 0 <= position <= 1


@pytest.mark.parametrize("high", [10**9, 10**12, 10**14, 10**15, 2**53])
def test_a_log_int_with_more_values_than_positions_is_refused_or_tells_them_apart(high):
    try:
        dimension = Int(1, high, log=True)
    except ValueError:
        assert high > 10**12
        return
    for value in (high, high - 1, high - 2, high // 2 + 1, high // 3 + 7):
        assert dimension.decode(dimension.encode(value)) == value


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_log_int_far_from_zero_keeps_its_positions_in_the_unit_interval(width):
    dimension = Int(10**15, 10**15 + width, log=True)
    assert dimension.encode(dimension.high) == 1
    assert Int(9 * 10**15, 9 * 10**15 + width, log=True).encode(9 * 10**15 + width) == 1


def test_a_log_int_far_from_zero_spreads_over_all_of_its_values():
    dimension = Int(10**15, 10**15 + 3, log=True)
    reached = {dimension.level(p) for p in dimension.spread(np.linspace(0, 1, 64, endpoint=False))}
    assert reached == {0, 1, 2, 3}


@given(
    st.lists(
        st.one_of(st.none(), st.text(), st.integers(2), st.tuples(st.integers())), min_size=1, unique=True
    )
)
def test_every_choice_survives_the_round_trip(choices):
    dimension = Categorical(choices)
    for choice in choices:
        again = dimension.decode(dimension.encode(choice))
        assert again == choice
        assert type(again) is type(choice)


def test_choices_may_be_none_bools_and_tuples():
    choices = [None, True, False, (1, 2), "a", 2.5]
    dimension = Categorical(choices)
    assert [dimension.decode(dimension.encode(c)) for c in choices] == choices


def test_a_list_is_never_a_choice():
    with pytest.raises(ValueError, match=r"\[1, 2\] is not one of"):
        Categorical([(1, 2)]).encode([1, 2])


def test_every_value_gets_its_fair_share():
    grid = np.linspace(0, 1, 6000, endpoint=False)
    for dimension in (Int(1, 6), Categorical(list("abcdef"))):
        counts = np.unique(dimension.spread(grid), return_counts=True)[1]
        np.testing.assert_allclose(counts, 1000, atol=1)


def test_a_log_int_gives_each_decade_its_fair_share():
    drawn = Int(1, 10**6, log=True).spread(np.linspace(0, 1, 6000, endpoint=False))
    values = [Int(1, 10**6, log=True).decode(float(p)) for p in drawn]
    per_decade = np.histogram(np.log10(values), bins=[2, 3, 4, 5])[0]
    np.testing.assert_allclose(per_decade, per_decade.mean(), rtol=0.05)


def test_positions_are_the_same_bits_one_by_one_and_all_at_once():
    for dimension in (Int(1, 3000, log=True), Int(-7, 3000), Categorical(range(100))):
        together = dimension.position(np.arange(dimension.levels, dtype=float))
        values = [dimension.decode(float(p)) for p in together]
        assert [dimension.encode(v) for v in values] == together.tolist()


# --- spaces ---------------------------------------------------------------------------------------------


def space():
    return Space(
        {
            "eta": Float(0.1, 1.0),
            "lambda": Float(1e-2, 1e7, log=True),
            "depth": Int(2, 8),
            "booster": Categorical(["gbtree", "dart", None]),
        }
    )


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=4, max_size=4))
def test_spread_rows_are_configurations(uniform):
    rows = space().spread(np.array([uniform]))
    again = space().encode(space().decode(rows[0]))
    np.testing.assert_allclose(again[:2], rows[0, :2], atol=1e-12)
    np.testing.assert_array_equal(again[2:], rows[0, 2:])


def test_params_may_come_in_any_order():
    params = space().decode(np.array([0.5, 0.5, 0.5, 0.5]))
    shuffled = dict(reversed(params.items()))
    np.testing.assert_array_equal(space().encode(shuffled), space().encode(params))


def test_spaces_are_equal_by_their_dimensions_and_their_order():
    a, b = Float(0, 1), Int(0, 3)
    assert space() == space()
    assert hash(space()) == hash(space())
    assert Space({"a": a, "b": b}) != Space({"b": b, "a": a})
    assert Space({"a": a}) != Space({"a": b})
    assert Space({"a": a}) != {"a": a}


def test_a_space_survives_pickling_and_shows_itself():
    again = pickle.loads(pickle.dumps(space()))
    assert again == space()
    assert "'depth': Int(low=2, high=8, log=False)" in repr(again)


def test_a_space_does_not_change_with_the_dict_it_came_from():
    given_dict = {"x": Float(0, 1)}
    built = Space(given_dict)
    given_dict["y"] = Float(0, 1)
    assert len(built) == 1


def test_size_counts_the_configurations_of_finite_spaces_alone():
    assert space().size is None
    assert Space({"a": Int(1, 3), "b": Categorical(["x", "y"])}).size == 6
    assert Space({f"x{k}": Int(0, 2**53 - 1) for k in range(3)}).size == 2**159


# --- features -------------------------------------------------------------------------------------------


def test_choices_are_equally_far_apart_and_numbers_stay_as_they_are():
    s = Space({"x": Float(0, 1), "k": Categorical(list("abcd"))})
    rows = np.array([[0.25, s.encode({"x": 0, "k": c})[1]] for c in "abcd"])
    points = Features.of(s).embed(rows)
    assert points.shape == (4, 5)
    np.testing.assert_array_equal(points[:, 0], 0.25)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(distances, 1 - np.eye(4), atol=1e-15)


def test_two_choices_need_one_feature():
    assert Features.of(Space({"k": Categorical(["a", "b"])})).widths == (1,)


def test_a_gradient_comes_back_to_ordered_columns_alone():
    s = Space({"k": Categorical(list("abc")), "n": Int(0, 9), "x": Float(0, 1)})
    back = Features.of(s).pull_back(np.zeros((1, 5)), np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    np.testing.assert_array_equal(back, [[0.0, 4.0, 5.0]])
