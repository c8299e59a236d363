"""The language of constraints: what is accepted, what it means, what is refused, and what is linear."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.space.expressions import Call, Name, Number, Operation, holds, names_in
from covey.space.linear import conjuncts, linear
from covey.space.parsing import LIMITS, parse

NUMBERS = ("a", "b", "c")
NAMES = dict.fromkeys(NUMBERS) | {
    "kind": ("x", "y"),
    "size": (1, 2),
    "on": (True, False),
    "base (eq)": None,
}


def verdict(text, **values):
    columns = {
        name: np.array([value], dtype=None if name in NUMBERS else object) for name, value in values.items()
    }
    return bool(holds(parse(text, NAMES), columns)[0])


# --- meaning --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("a + b + c == 1", {"a": 0.1, "b": 0.2, "c": 0.7}, True),
        ("a + b + c == 1", {"a": 0.1, "b": 0.2, "c": 0.7001}, False),
        ("a * b <= 400", {"a": 20, "b": 20}, True),
        ("a * b < 400", {"a": 20, "b": 20}, False),
        ("0.1 <= a/b < 3 and not kind == 'x'", {"a": 1, "b": 2, "kind": "y"}, True),
        ("0.1 <= a/b < 3 and not kind == 'x'", {"a": 1, "b": 2, "kind": "x"}, False),
        ("0.1 <= a/b < 3", {"a": 3, "b": 1}, False),
        ("kind != 'x' or a > 1", {"a": 2, "kind": "x"}, True),
        ("'x' == kind", {"kind": "x"}, True),
        ("size == 2", {"size": 2}, True),
        ("on == True", {"on": False}, False),
        ("-a ** 2 == -4", {"a": 2}, True),
        ("2 ** -a == 0.25", {"a": 2}, True),
        ("a - b - c == -4", {"a": 1, "b": 2, "c": 3}, True),
        ("max(a, b, 3) == 3 and min(a, b) == 1 and abs(-a) == 1", {"a": 1, "b": 2}, True),
        ("sqrt(a) == 3 and log(exp(b)) == b", {"a": 9, "b": 2}, True),
    ],
)
def test_a_statement_means_what_it_means_in_python(text, at, expected):
    assert verdict(text, **at) is expected


@pytest.mark.parametrize(
    "text", ["a <= b", "a >= b", "a == b", "1e6 * (a - b) == 0", "log(a / b) == 0", "sqrt(a) == sqrt(b)"]
)
def test_equality_forgives_rounding_of_the_terms_that_were_added(text):
    assert verdict(text, a=0.1 + 0.2, b=0.3)
    assert verdict(text, a=0.3, b=0.1 + 0.2)
    assert not verdict("a == b", a=1.0, b=1.0 + 1e-8)


@pytest.mark.parametrize("text", ["a < b", "b > a", "a != b"])
def test_strict_comparisons_are_strict(text):
    assert not verdict(text, a=1.0, b=1.0)
    assert verdict(text, a=1.0, b=1.001)


@pytest.mark.parametrize(
    "text",
    [
        "log(a) < 1",
        "not log(a) < 1",
        "1 / a > 0",
        "not 1 / a > 0",
        "sqrt(-1 - a) != 3",
        "9**9**9 + a > 0",
        "a / a == 1",
        "(-1 - a) ** 0.5 < 1",
    ],
)
def test_what_is_not_finite_violates_whatever_is_said_of_it(text):
    assert not verdict(text, a=0.0)
    assert not verdict(text, a=math.nan)


def test_a_statement_that_does_not_hang_on_what_is_not_finite_holds():
    assert verdict("a == 0 or b / a < 3", a=0.0, b=1.0)
    assert not verdict("a == 0 and b / a < 3", a=0.0, b=1.0)
    assert verdict("not (a > 0 and b / a < 3)", a=0.0, b=1.0)


def test_towers_of_powers_cost_nothing():
    assert not verdict("9**9**9**9 <= a", a=1.0)  # as whole numbers it would never end


def test_columns_are_looked_at_all_at_once():
    found = holds(
        parse("a + b <= 1 or kind == 'y'", NAMES),
        {
            "a": np.array([0.5, 0.6, 0.7]),
            "b": np.array([0.5, 0.6, 0.7]),
            "kind": np.array(["x", "x", "y"], dtype=object),
        },
    )
    assert found.tolist() == [True, False, True]


def test_names_in_backquotes_may_be_anything():
    truth = parse("`base (eq)` * 2 <= a + `µ é` and '`' != kind", {**NAMES, "µ é": None, "kind": ("`", "x")})
    assert names_in(truth) == ("base (eq)", "a", "µ é", "kind")
    assert names_in(parse("µ <= `lambda`", {"µ": None, "lambda": None})) == ("µ", "lambda")


def arithmetic():
    leaves = st.one_of(st.floats(-9, 9).map(lambda v: repr(round(v, 3))), st.sampled_from(NUMBERS))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            inner.map(lambda one: f"-{one}"),
            inner.map(lambda one: f"abs({one})"),
            st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
        ),
        max_leaves=12,
    )


@given(arithmetic(), arithmetic(), st.sampled_from(["<", ">"]), st.tuples(*[st.integers(-5, 5)] * 3))
def test_arithmetic_agrees_with_python(left, right, operator, values):
    at = dict(zip(NUMBERS, map(float, values), strict=True))
    text = f"{left} {operator} {right} or a < a"
    expected = eval(text, {"abs": abs, "max": max}, at)  # the oracle, on text made above
    assert verdict(text, **at) == expected


# --- refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("__import__('os') == 1", r"found \"__import__\('os'\)\" at character 1"),
        ("a.real < 1", "found 'a.real' at character 1"),
        ("a[0] < 1", r"found 'a\[0\]'"),
        ("(lambda: 1)() < a", "lambda"),
        ("f'{a}' == kind", "at character 1"),
        ("(a := 1) < 2", "a := 1"),
        ("a if b else c", "found 'a if b else c'"),
        ("[a] < 1", r"found '\[a\]'"),
        ("a < 1j", "found '1j'"),
        ("a < b''", "at character 5"),
        ("pow(a, 2) < 1", r"found 'pow\(a, 2\)'"),
        ("max(*a) < 1", "max of 1 arguments"),
        ("max(a, key=b) < 1", "found"),
        ("sqrt(a, b) < 1", "sqrt of 2 arguments"),
        ("a % 2 == 0", "found 'a % 2'"),
        ("a < 1 & b < 2", r"& \(write and\)"),
        ("a ^ 2 < 2", r"\^ \(write \*\* for a power\)"),
        ("a = 1", r"a single = \(write == to compare\) at character 3"),
        ("a <", "what cannot be read"),
        ("a < 1 # note", "'#' at character 7"),
        ("a) < (b", "what cannot be read"),
        ("`a`) < (b", "what cannot be read"),
        ("a`b` < 1", "what cannot be read"),
        ("`` < 1", "a name without characters"),
        ("a\0 < 1", "what cannot be read"),
        ("a + b", "'a \\+ b' where a comparison is needed"),
        ("a and b", "'a' where a comparison is needed at character 1"),
        ("1", "where a comparison is needed"),
        ("1 < 2", "no parameter in it"),
        ("a < 1 < 'x'", "< with a choice"),
        ("kind < 'y'", "< with a choice"),
        ("kind + 1 == 2", "the choice 'kind' where a number is needed"),
        ("'x' == 'x' and a < 1", "two values compared"),
        ("a == 'x'", "'a'"),
        ("kind == a", "'a' beside a choice"),
        ("kind == 'z'", r"'z', which is no choice of 'kind'.*its choices are \['x', 'y'\]"),
        ("size == 3", r"3.0, which is no choice of 'size'"),
        ("kind in ['x']", "'in'"),
        ("a is 1", "'is'"),
        ("alpha < 1", "unknown name 'alpha'.*the parameters are"),
        ("temperatur < 1", r"unknown name 'temperatur' \(did you mean 'temperature'\?\) at character 1"),
        ("a < 1e999", "'1e999', past 1e308"),
        ("a < " + "9" * 400, "past 1e308"),
        ("a < " + "(" * 150 + "1" + ")" * 150 + " + " + "-" * 90 + "b", "levels of brackets"),
        ("a < " + "(" * 900 + "1" + ")" * 900, "found"),
        ("a < " + "-" * 1900 + "1", "found"),
        ("a < " + "not " * 400 + "1", "found"),
        ("a < 1 and " + " and ".join(["a<b"] * 200), "more than 1000 parts"),
        ("a" + " + a" * 600 + " < 1", "2405 characters, at most 2000"),
        ("", "a constraint must be a text"),
        (None, "a constraint must be a text such as 'a \\+ b <= 1', got None"),
    ],
)
def test_everything_else_is_refused_in_one_line(text, says):
    with pytest.raises(ValueError, match=says) as caught:
        parse(text, {**NAMES, "temperature": None})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@given(st.text(alphabet="ab1.+-*/()<>= '`\"andor\\[]{}:,#éµ\n", max_size=30))
def test_any_text_is_a_constraint_or_a_value_error(text):
    try:
        truth = parse(text, NAMES)
    except ValueError:
        return
    assert holds(truth, {name: np.full(3, 0.5) for name in names_in(truth)}).shape == (3,)


def test_a_sum_of_many_terms_is_not_deep():
    names = {f"x{k}": None for k in range(200)}
    truth = parse(" + ".join(names) + " == 1", names)
    assert pickle.loads(pickle.dumps(truth)) == truth
    assert holds(truth, {name: np.full(2, 1 / 200) for name in names}).all()
    assert len(linear(truth).coefficients) == 200


def test_the_deepest_expression_can_be_pickled_and_evaluated():
    text = "abs(" * (LIMITS.depth - 2) + "a" + ")" * (LIMITS.depth - 2) + " < 1"
    truth = parse(text, NAMES)
    assert holds(pickle.loads(pickle.dumps(truth)), {"a": np.zeros(1)}).all()


def test_precedence_is_that_of_python():
    assert parse("a ** 2 * b < 1", NAMES).left == Operation(
        "*", Operation("**", Name("a"), Number(2.0)), Name("b")
    )
    assert parse("min(a, 1) < 1", NAMES).left == Call("min", (Name("a"), Number(1.0)))


# --- linear ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "coefficients", "sense", "bound"),
    [
        ("a + b + c == 1", {"a": 1, "b": 1, "c": 1}, "==", 1),
        ("a <= b", {"a": 1, "b": -1}, "<=", 0),
        ("a >= 2 * (b - 3)", {"a": -1, "b": 2}, "<=", 6),
        ("a > 1", {"a": -1}, "<=", -1),
        ("(a + b) / 4 - 1 < sqrt(4) * c * 0.5", {"a": 0.25, "b": 0.25, "c": -1}, "<=", 1),
        ("-(a - 2) <= 2 ** 3", {"a": -1}, "<=", 6),
        ("a + a - b <= b", {"a": 2, "b": -2}, "<=", 0),
    ],
)
def test_linear_statements_are_recognised(text, coefficients, sense, bound):
    found = linear(parse(text, NAMES))
    assert (dict(found.coefficients), found.sense, found.bound) == (coefficients, sense, bound)
    assert found.strict == ("=" not in text)


@pytest.mark.parametrize(
    "text",
    [
        "a * b <= 1",
        "a / b <= 1",
        "1 / a <= 1",
        "a ** 2 <= 1",
        "abs(a) <= 1",
        "max(a, b) <= 1",
        "a != 1",
        "not a < 1",
        "a < 1 or b < 1",
        "kind == 'x'",
        "a - a <= 1",
        "a / 0 <= 1",
        "a * 9**9**9 <= 1",
        "a <= log(0)",
    ],
)
def test_other_statements_are_not_linear(text):
    assert linear(parse(text, NAMES)) is None


def test_and_and_chains_are_split():
    parts = conjuncts(parse("0.1 <= a <= b and (c < 1 and a * b < 1) and (a < 1 or b < 1)", NAMES))
    assert [linear(part) is not None for part in parts] == [True, True, True, False, False]


@given(
    st.tuples(*[st.floats(-5, 5).map(lambda v: round(v, 2))] * 4),
    st.sampled_from(["<=", ">=", "<", ">"]),
    st.tuples(*[st.floats(-3, 3)] * 3),
)
def test_a_linear_statement_and_its_coefficients_agree(numbers, operator, values):
    x, y, z, w = numbers
    text = f"{x} * a - (b * {y} + c) / 2 {operator} {z} * (a - {w})"
    truth = parse(text, NAMES)
    found = linear(truth)
    at = dict(zip(NUMBERS, values, strict=True))
    gap = sum(weight * at[name] for name, weight in found.coefficients.items()) - found.bound
    if abs(gap) > 1e-6:
        assert verdict(text, **at) == (gap < 0)
