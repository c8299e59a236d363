"""Odd reasons, values, choices and names: a study holds them exactly, or says at once that it cannot."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.arguments import as_result
from covey.study import Study
from covey.study.codec import LIMITS
from covey.trial import Evaluation, Failure, Trial

SPACE = covey.Space({"x": covey.Float(-1.0, 1.0)})


class Broken:
    """Something that breaks when it is looked at."""

    def __str__(self):
        raise RuntimeError("not now")

    __repr__ = __str__


class BrokenError(Exception):
    def __str__(self):
        raise RuntimeError("not now")


class Word(str):
    """A text of somebody else's class, which another process may not have."""


REASONS = [
    (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    (KeyError("a"), "KeyError: 'a'"),
    (KeyboardInterrupt(), "KeyboardInterrupt"),
    (None, ""),
    (b"caf\xc3\xa9 \xff", "café \ufffd"),
    (404, "404"),
    (["a", 1], "['a', 1]"),
    (Word("word"), "word"),
    (Broken(), "<Broken that cannot be shown>"),
    (BrokenError(), "BrokenError()"),
    ("plain", "plain"),
]


@pytest.mark.parametrize(("reason", "said"), REASONS, ids=lambda one: type(one).__name__)
def test_a_reason_of_any_kind_is_a_text(reason, said):
    assert Failure(reason).reason == said
    assert type(Failure(reason).reason) is str


@given(
    st.one_of(st.none(), st.binary(), st.integers(), st.text(), st.lists(st.text()), st.builds(ValueError))
)
def test_the_reason_of_a_failure_is_always_a_text(reason):
    assert type(Failure(reason).reason) is str


def test_an_objective_that_returns_its_exception_can_be_resumed(database):
    def objective(params):
        try:
            return 1 / 0
        except ZeroDivisionError as error:
            return Failure(error)

    for evaluations in (2, 3):
        with ThreadPoolExecutor(1) as pool:
            options = {"storage": database, "evaluations": evaluations, "n_initial": 9, "seed": 1}
            result = covey.minimize(objective, SPACE, executor=pool, **options)
        assert [t.reason for t in result.trials] == ["ZeroDivisionError: division by zero"] * evaluations


ODD = ["a\0b", "\ud800 alone", "\N{PILE OF POO}", "'\"\\%s\n", "\x1b[31m", "x" * 10_000_000]


@pytest.fixture
def study(database):
    with_rows = Study(database, "demo", SPACE)
    yield with_rows
    with_rows.close()


def test_odd_reasons_are_kept_the_end_of_long_ones(study):
    for k, reason in enumerate(ODD):
        study.started(Trial(k, {"x": k / 10}))
        study.finished(Trial(k, {}), Evaluation(Failure(reason), 0.0))
        study.finished(Trial(k, {}), Evaluation(Failure(reason), 0.0))
    assert [row.trial.reason for row in study.recorded()] == [one[-LIMITS.text :] for one in ODD]


VALUES = [
    np.float64(0.1),
    np.float32(0.1),
    np.int64(-(2**62)),
    10**300,
    5e-324,
    -5e-324,
    sys.float_info.max,
    sys.float_info.min,
    -0.0,
    np.array([2.5]),
    True + 0.5,
]


def test_values_are_kept_exactly(study):
    for k, value in enumerate(VALUES):
        study.started(Trial(k, {"x": k / 100}))
        study.finished(Trial(k, {}), Evaluation(as_result(value), 0.0))
    kept = [row.result for row in study.recorded()]
    assert kept == [float(np.asarray(value, dtype=float).reshape(())) for value in VALUES]
    assert all(type(one) is float for one in kept)


def test_parameters_at_the_edges_of_float64_are_kept_exactly(database):
    space = covey.Space(
        {"x": covey.Float(-1e308, 1e308), "k": covey.Int(-(2**53), -1), "n": covey.Int(1, 2**53)}
    )
    study = Study(database, "demo", space)
    points = [
        {"x": 5e-324, "k": -(2**53), "n": 2**53},
        {"x": -1e308, "k": -(2**53) + 1, "n": 2**53 - 1},
        {"x": 0.1 + 0.2, "k": -1, "n": 1},
    ]
    for k, point in enumerate(points):
        study.started(Trial(k, point))
    assert [row.trial.params for row in study.recorded()] == points
    study.close()


def test_odd_choices_are_kept(database):
    choices = ["a\0b", "\ud800", "'", "", "x" * 5000, None, float("inf"), 10**300]
    space = covey.Space({"c": covey.Categorical(choices)})
    study = Study(database, "demo", space)
    for k, choice in enumerate(choices):
        study.started(Trial(k, {"c": choice}))
    again = Study(database, "demo", space)
    assert [row.trial.params["c"] for row in again.recorded()] == choices
    again.close()
    study.close()


@pytest.mark.parametrize("choice", [10**400, -(10**6000)], ids=["401 digits", "6001 digits"])
def test_a_choice_past_float64_is_refused(sqlite, choice):
    with pytest.raises(ValueError, match="a study holds whole numbers of up to 308 digits"):
        Study(sqlite, "demo", covey.Space({"c": covey.Categorical([choice, 1])}))


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 513, "", None, 3], ids=ascii)
def test_a_name_that_some_database_cannot_hold_is_refused_and_nothing_is_made(tmp_path, name):
    address = f"sqlite:///{tmp_path}/study.db"
    with pytest.raises(TypeError, match="name must be a non-empty string of up to 512 printable") as caught:
        Study(address, name, SPACE)
    assert len(str(caught.value)) < 300
    if isinstance(name, str) and name:
        with pytest.raises(ValueError, match="the name of a parameter in a study must be"):
            Study(address, "demo", covey.Space({name: covey.Float(0, 1)}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name", ["x" * 512, "\N{PILE OF POO}" * 512, "'; drop table studies; --", "%s{0}", "a b"]
)
def test_any_other_name_is_kept(database, name):
    space = covey.Space({name: covey.Float(0, 1)})
    study = Study(database, name, space)
    study.started(Trial(0, {name: 0.5}))
    assert name in Study.names(database)
    assert Study.names(database) == [name]
    assert [row.trial.params for row in study.recorded()] == [{name: 0.5}]
    with study.exclusive():
        pass
    study.close()
