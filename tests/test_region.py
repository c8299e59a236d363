"""Constraints on parameters: not one suggestion violates them, and the optimum on their edge is found."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import covey
from covey import Categorical, Float, Int, Ordinal, Space
from covey.cli.app import app
from covey.space.describe import describe

MIXTURE = Space({name: Float(0, 1) for name in "abcd"}, ["a + b + c + d == 1"])
PARTS = Space({name: Float(0, 1, step=0.05) for name in "abcd"}, ["a + b + c + d == 1"])
OVEN = Space(
    {"temp": Float(20, 90, step=0.5), "dose": Ordinal([1, 2, 5, 10, 50]), "x": Float(0, 1)},
    ["temp * dose <= 400"],
)


def in_disk(params):
    return params["x"] ** 2 + params["y"] ** 2 <= 1.0


DISK = Space(
    {"x": Float(-2, 2), "y": Float(-2, 2), "kind": Categorical(["a", "b"])},
    [in_disk, "kind == 'a' or x < 0"],
)
TREE = Space(
    {
        "kind": Categorical(["one", "two"]),
        "u": Float(0, 1, when={"kind": "one"}),
        "v": Float(0, 1, when={"kind": "two"}),
        "w": Float(0, 1),
    },
    ["u + w <= 0.5", "v * w >= 0.3"],
)
KINDS = {
    "mixture": (MIXTURE, lambda p: abs(sum(p.values()) - 1) < 1e-12),
    "parts": (
        PARTS,
        lambda p: abs(sum(p.values()) - 1) < 1e-12 and all(v == round(v, 2) for v in p.values()),
    ),
    "oven": (OVEN, lambda p: p["temp"] * p["dose"] <= 400),
    "disk": (DISK, lambda p: in_disk(p) and (p["kind"] == "a" or p["x"] < 0)),
    "tree": (TREE, lambda p: p["u"] + p["w"] <= 0.5 if "u" in p else p["v"] * p["w"] >= 0.3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_suggestion_satisfies_every_constraint(kind):
    space, allowed = KINDS[kind]
    opt = covey.Optimizer(space, n_initial=8, seed=1)
    for _ in range(5):
        trials = opt.ask(6)
        assert all(allowed(trial.params) for trial in trials)
        opt.tell(trials, [sum(v for v in t.params.values() if isinstance(v, float)) for t in trials])
    assert len({tuple(trial.params.values()) for trial in opt.trials}) == 30


@pytest.mark.parametrize("strategy", ["j-ats", "lp", "p-ts", "ats-b-lcb"])
def test_other_strategies_stay_inside_too(strategy):
    opt = covey.Optimizer(MIXTURE, strategy, n_initial=5, seed=1)
    for _ in range(2):
        trials = opt.ask(5)
        opt.tell(trials, [trial.params["a"] for trial in trials])
    assert all(abs(sum(trial.params.values()) - 1) < 1e-12 for trial in opt.trials)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_random_polytopes_are_never_left(seed):
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(4)]
    inside, rows = rng.random(4), rng.normal(size=(3, 4)).round(3)
    bounds = rows @ inside + rng.uniform(0.01, 0.3, 3)
    texts = [
        " + ".join(f"{c!r} * {name}" for c, name in zip(row.tolist(), names, strict=True)) + f" <= {bound!r}"
        for row, bound in zip(rows, bounds.tolist(), strict=True)
    ]
    space = Space({name: Float(0, 1) for name in names}, texts)
    opt = covey.Optimizer(space, n_initial=4, seed=seed)
    for _ in range(2):
        trials = opt.ask(4)
        points = np.array([[trial.params[name] for name in names] for trial in trials])
        assert (points @ rows.T <= bounds).all()
        opt.tell(trials, points @ rng.normal(size=4))


def test_the_optimum_on_an_edge_of_the_region_is_found():
    opt = covey.Optimizer(
        Space({"x": Float(0, 10), "y": Float(0, 10)}, ["x + 2 * y <= 8", "x - y >= 1"]), seed=1
    )
    for _ in range(6):
        trials = opt.ask(4)
        opt.tell(trials, [-trial.params["x"] - 3 * trial.params["y"] for trial in trials])
    assert opt.best.value == pytest.approx(-10.0 / 3 - 3 * 7.0 / 3, abs=0.02)


def test_the_initial_design_is_spread_over_the_region():
    points = np.array([list(trial.params.values()) for trial in covey.Optimizer(MIXTURE, seed=1).ask(8)])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(8, 1)]
    rng = np.random.default_rng(0)
    random = [np.linalg.norm(a - b) for a, b in rng.dirichlet(np.ones(4), (500, 2))]
    assert apart.min() > np.quantile(random, 0.1)


def test_asking_in_parts_gives_the_design_of_asking_at_once():
    at_once = covey.Optimizer(MIXTURE, n_initial=6, seed=4)
    in_parts = covey.Optimizer(MIXTURE, n_initial=6, seed=4)
    whole = [trial.params for trial in at_once.ask(6)]
    assert whole == [trial.params for n in (1, 2, 3) for trial in in_parts.ask(n)]


def test_held_parameters_and_constraints_hold_together():
    opt = covey.Optimizer(MIXTURE, n_initial=4, seed=1)
    for _ in range(3):
        trials = opt.ask(3, fixed={"a": 0.25})
        assert all(t.params["a"] == 0.25 and abs(sum(t.params.values()) - 1) < 1e-12 for t in trials)
        opt.tell(trials, [trial.params["b"] for trial in trials])
    (parts,) = covey.Optimizer(PARTS, seed=1).ask(1, fixed={"a": 0.25, "b": 0.7})
    assert abs(sum(parts.params.values()) - 1) < 1e-12
    with pytest.raises(ValueError, match="the constraints leave nothing with such values of a, b"):
        opt.ask(fixed={"a": 0.75, "b": 0.5})


def test_a_finite_region_gives_each_configuration_once_and_then_says_so():
    space = Space({"n": Int(0, 3), "m": Int(0, 3)}, ["n + m == 3"])
    opt = covey.Optimizer(space, n_initial=1, seed=1)
    assert space.size == 4
    trials = opt.ask(10)
    assert sorted((t.params["n"], t.params["m"]) for t in trials) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    with pytest.raises(covey.SpaceExhausted):
        opt.ask()


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        (["a + b + c + d == 7"], r"no configuration satisfies 'a \+ b \+ c \+ d == 7'"),
        (["a + b >= 1.5", "c <= 0.5", "a + b <= 0.2"], r"'a \+ b >= 1.5' and 'a \+ b <= 0.2'"),
        (["a * b >= 2"], r"no configuration was found that satisfies 'a \* b >= 2'"),
        ([lambda params: False], "no configuration was found"),
        (["aa + b <= 1"], "unknown name 'aa'"),
        (["__import__('os').system('true') == 0"], "accepted are"),
        (["a"], "comparison"),
        ("a <= 1", "must be a list"),
        ([5], "a constraint must be a text"),
        ([lambda params: 1 / 0], "ZeroDivisionError"),
    ],
)
def test_constraints_that_leave_nothing_or_mean_nothing_are_refused_at_once(constraints, words):
    with pytest.raises(ValueError, match=words):
        Space({name: Float(0, 1) for name in "abcd"}, constraints)


def test_a_small_region_is_found_and_kept_to():
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, ["x ** 2 + y ** 2 <= 0.001"])
    opt = covey.Optimizer(space, n_initial=4, seed=1)
    for _ in range(2):
        trials = opt.ask(4)
        assert all(t.params["x"] ** 2 + t.params["y"] ** 2 <= 0.001 for t in trials)
        opt.tell(trials, [trial.params["x"] for trial in trials])


def test_a_configuration_outside_is_refused_with_the_constraint_that_it_breaks():
    opt = covey.Optimizer(OVEN, seed=1)
    with pytest.raises(ValueError, match=r"must satisfy 'temp \* dose <= 400'"):
        opt.include({"temp": 90.0, "dose": 50, "x": 0.5})
    opt.add({"temp": 40.0, "dose": 10, "x": 0.5}, 1.0)


def test_a_space_with_constraints_is_another_space():
    plain = Space({name: Float(0, 1) for name in "abcd"})
    assert plain != MIXTURE
    assert Space(MIXTURE.dimensions, ["a + b + c + d == 1"]) == MIXTURE
    assert describe(MIXTURE)[""] == {"constraints": ["a + b + c + d == 1"]}
    assert "" not in describe(plain)


def test_a_study_with_constraints_resumes_and_refuses_others(sqlite):
    with ThreadPoolExecutor(2) as threads:
        options = {"executor": threads, "storage": sqlite, "batch_size": 2, "seed": 1}
        first = covey.minimize(lambda p: p["a"], MIXTURE, evaluations=4, **options)
        again = covey.minimize(lambda p: p["a"], MIXTURE, evaluations=6, **options)
        with pytest.raises(covey.StudyMismatch, match="another space"):
            covey.minimize(lambda p: p["a"], Space(MIXTURE.dimensions), evaluations=6, **options)
    assert [t.params for t in again.trials[:4]] == [t.params for t in first.trials]
    assert all(abs(sum(t.params.values()) - 1) < 1e-12 for t in again.trials)


STUDY = """
name = "mix"
constraints = {constraints}
[space.a]
type = "float"
low = 0
high = 1
step = 0.05
[space.b]
type = "float"
low = 0
high = 1
step = 0.05
"""


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ('["a + b == 3"]', "no configuration satisfies 'a + b == 3'"),
        ('["a + c == 1"]', "unknown name 'c'"),
        ('"a + b == 1"', "constraints must be a list of texts"),
        ("[1]", "constraints must be a list of texts"),
        (
            '["a + b == 1"]\nfixed = {a = 0.5, b = 0.75}',
            "the constraints leave nothing with such values of a, b",
        ),
    ],
)
def test_wrong_constraints_of_a_study_are_one_line(tmp_path, monkeypatch, constraints, words):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY.format(constraints=constraints))
    done = CliRunner().invoke(app, ["ask", "study.toml"])
    assert done.exit_code == 2
    assert words in done.output
    assert done.output.count("\n") == 1
    assert not Path("study.db").exists()


def test_a_study_hands_out_parts_that_sum_to_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY.format(constraints='["a + b == 1"]'))
    done = CliRunner().invoke(app, ["ask", "study.toml", "-n", "5"])
    assert done.exit_code == 0, done.output
    rows = [line.split(",") for line in done.output.splitlines()[1:]]
    assert all(len(a) <= 4 and len(b) <= 4 and float(a) + float(b) == pytest.approx(1) for _, a, b, _ in rows)
