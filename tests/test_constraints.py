"""Constraints of a space: rules, matrices of the linear ones, absent parameters, functions."""

import pickle

import numpy as np
import pytest

from covey.space.constraints import Constraints

NAMES = {"a": None, "b": None, "kind": ("x", "y"), "c": None}


def near(params):
    return abs(params["a"] - params["b"]) < 0.5


def test_linear_parts_become_matrices_in_the_units_of_the_values():
    found = Constraints.of(["0.1 <= a / 2 < b and a * b < 4", "a + b + c == 1", "kind != 'x'"], NAMES)
    assert found.columns == ("a", "b", "c")
    assert found.A_ub.tolist() == [[-0.5, 0, 0], [0.5, -1, 0]]
    assert found.b_ub.tolist() == [-0.1, 0]
    assert found.A_eq.tolist() == [[1, 1, 1]]
    assert found.b_eq.tolist() == [1]
    assert found.eq_texts == ("a + b + c == 1",)
    assert found.ub_texts == ("0.1 <= a / 2 < b and a * b < 4",) * 2
    assert [rule.text for rule in found.beyond] == ["0.1 <= a / 2 < b and a * b < 4", "kind != 'x'"]


def test_only_the_columns_asked_for_are_in_the_matrices():
    found = Constraints.of(["a <= b", "a <= c", "c <= 1"], NAMES, ["b", "a"])
    assert found.A_ub.tolist() == [[-1, 1]]
    assert [rule.text for rule in found.beyond] == ["a <= c", "c <= 1"]


def test_no_constraints_are_empty_matrices_and_hold_everywhere():
    found = Constraints.of([], NAMES)
    assert found.A_ub.shape == found.A_eq.shape == (0, 3)
    assert found.holds({"a": np.array([1.0, np.nan])}).tolist() == [True, True]


def test_the_cube_sees_the_same_set():
    rng = np.random.default_rng(0)
    found = Constraints.of(["2 * a - b <= 3", "a + c == 7"], NAMES)
    low, high = np.array([1.0, -2.0, 4.0]), np.array([3.0, 9.0, 4.5])
    A, b, E, e = found.in_cube(low, high)
    u = rng.random((50, 3))
    x = low + u * (high - low)
    assert np.allclose(u @ A.T - b, x @ found.A_ub.T - found.b_ub)
    assert np.allclose(u @ E.T - e, x @ found.A_eq.T - found.b_eq)


def test_all_rules_must_hold():
    found = Constraints.of(["a <= b", near, "kind == 'y' or a < 0.2"], NAMES)
    columns = {
        "a": np.array([0.1, 0.3, 0.3, 0.9, 0.0]),
        "b": np.array([0.2, 0.4, 0.4, 0.1, 0.9]),
        "kind": np.array(["x", "y", "x", "y", "y"], dtype=object),
    }
    assert found.holds(columns).tolist() == [True, True, False, False, False]


def test_a_statement_about_what_is_absent_holds():
    found = Constraints.of(["a <= b", "b < 1"], NAMES)
    columns = {"a": np.array([np.nan, 3.0, 0.0]), "b": np.array([0.5, 0.5, 5.0])}
    absent = {"a": np.array([True, False, True])}
    assert found.holds(columns, absent).tolist() == [True, False, False]
    assert not found.holds(columns)[0]


def test_a_function_gets_what_is_there_as_plain_values():
    seen = []
    found = Constraints.of([lambda params: seen.append(params) or True], NAMES)
    columns = {"a": np.array([1, 2]), "b": np.array([0.5, 1.5]), "kind": np.array(["x", "y"], dtype=object)}
    assert found.holds(columns, {"b": np.array([True, False])}).all()
    assert seen == [{"a": 1, "kind": "x"}, {"a": 2, "b": 1.5, "kind": "y"}]
    assert type(seen[0]["a"]) is int


def test_a_function_that_fails_is_named():
    found = Constraints.of([near], NAMES)
    with pytest.raises(ValueError, match=r"constraint near: it raised KeyError: 'b' for \{'a': 1.0\}"):
        found.holds({"a": np.array([1.0])})


def test_a_function_must_say_yes_or_no():
    found = Constraints.of([lambda params: 1.0], NAMES)
    with pytest.raises(ValueError, match=r"it must return True or False, got 1\.0"):
        found.holds({"a": np.array([1.0])})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("a <= b", "must be a list of texts and functions, got 'a <= b'"),
        ([3], "must be a text such as 'a \\+ b <= 1' or a function of the parameters, got 3"),
        ([int], "or a function of the parameters"),
        (["a <= d"], "unknown name 'd'"),
    ],
)
def test_anything_else_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        Constraints.of(given, NAMES)


def test_equal_constraints_are_equal_and_survive_pickling():
    one = Constraints.of(["a <= b", near], NAMES)
    assert one == Constraints.of(["a <= b", near], NAMES)
    assert one != Constraints.of(["a <= c", near], NAMES)
    assert pickle.loads(pickle.dumps(one)) == one
    assert hash(one) == hash(Constraints.of(["a <= b", near], NAMES))
