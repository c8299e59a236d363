"""Parameters that exist only with others: in configurations, in the model, in the search and in studies."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import covey
from covey import Categorical, Failure, Float, Int, Space
from covey.cli.app import app
from covey.space.describe import describe
from covey.space.features import Features
from covey.study import Study

TREE = Space(
    {
        "deep": Float(0, 1, when={"layers": [2, 3]}),  # ahead of its parents
        "kernel": Categorical(["rbf", "linear", "net"]),
        "C": Float(1e-2, 1e3, log=True),
        "gamma": Float(1e-4, 1.0, log=True, when={"kernel": "rbf"}),
        "layers": Int(1, 3, when={"kernel": "net"}),
        "unit": Categorical(["relu", "tanh", "gelu"], when={"kernel": "net", "layers": [2, 3]}),
    }
)
FINITE = Space(
    {
        "kind": Categorical(["a", "b"]),
        "n": Int(1, 3, when={"kind": "a"}),
        "m": Int(1, 2, when={"kind": "b"}),
    }
)


def names(kernel, layers=None):
    """The parameters that exist."""
    own = {"rbf": {"gamma"}, "linear": set(), "net": {"layers"}}[kernel]
    return {"kernel", "C"} | own | ({"deep", "unit"} if layers in (2, 3) else set())


def uniform(count, space=TREE, seed=0):
    return np.random.default_rng(seed).random((count, len(space)))


@given(st.integers(0, 2**32))
def test_a_configuration_has_what_exists_and_nothing_else(seed):
    for row in TREE.spread(uniform(20, seed=seed)):
        params = TREE.decode(row)
        assert set(params) == names(params["kernel"], params.get("layers"))
        assert TREE.decode(TREE.encode(params)) == pytest.approx(params)


@given(st.integers(0, 2**32))
def test_rows_that_differ_in_what_does_not_exist_are_one_row(seed):
    rows, others = TREE.spread(uniform(20, seed=seed)), uniform(20, seed=seed + 1)
    exists = TREE.conditions.active(rows)
    mixed = np.where(exists, rows, others)
    assert np.array_equal(TREE.conditions.settled(mixed), rows)
    features = Features.of(TREE)
    assert np.array_equal(features.embed(mixed), features.embed(rows))


def test_branches_share_what_they_have_in_common_and_are_apart_in_the_rest():
    embed = Features.of(TREE).embed

    def at(**params):
        return embed(TREE.encode(params)[None])[0]

    here = at(kernel="rbf", C=1.0, gamma=1e-2)
    owner = Features.of(TREE).owner
    gamma = owner == list(TREE.dimensions).index("gamma")
    linear, other = at(kernel="linear", C=1.0), at(kernel="rbf", C=1.0, gamma=1e-1)
    assert np.linalg.norm((here - linear)[gamma]) == pytest.approx(1.0)
    assert np.linalg.norm((other - linear)[gamma]) == pytest.approx(1.0)
    assert np.linalg.norm((here - other)[gamma]) == pytest.approx(0.25, rel=0.02)
    c = owner == list(TREE.dimensions).index("C")
    assert np.array_equal(here[c], linear[c])


def test_gradients_come_back_along_the_arc():
    features = Features.of(TREE)
    rows = TREE.spread(uniform(50))
    weights = np.random.default_rng(1).normal(size=len(features.owner))
    back = features.pull_back(features.embed(rows), np.tile(weights, (50, 1)))
    for column in features.continuous:
        step = np.zeros(len(TREE))
        step[column] = 1e-6
        slope = (features.embed(rows + step) - features.embed(rows - step)) @ weights / 2e-6
        assert back[:, column] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize(
    ("dimensions", "words"),
    [
        ({"x": Float(0, 1, when={"x": 1})}, "'x' depend"),
        ({"a": Int(0, 1, when={"b": 1}), "b": Int(0, 1, when={"a": 1})}, "in a circle"),
        ({"x": Float(0, 1, when={"kernle": "rbf"}), "kernel": Categorical(["rbf"])}, "did you mean 'kernel'"),
        ({"x": Float(0, 1, when={"y": "rbf"}), "y": Categorical(["a", "b"])}, "'rbf' is not one of"),
        ({"x": Float(0, 1, when={"y": 0.5}), "y": Float(0, 1)}, "must have levels"),
    ],
    ids=["itself", "circle", "no parent", "no value", "continuum"],
)
def test_a_condition_that_cannot_be_is_refused_at_once(dimensions, words):
    with pytest.raises(ValueError, match=words):
        Space(dimensions)


@pytest.mark.parametrize("when", ["rbf", 5, {}, {"a": []}, {"a": [[1]]}, {1: 2}, ["a", "b"]], ids=str)
def test_a_condition_is_a_dict_of_values(when):
    with pytest.raises(ValueError, match="when must be a dict of a parameter to its value"):
        Float(0, 1, when=when)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"kernel": "rbf", "C": 1.0}, "'gamma' is missing"),
        ({"kernel": "linear", "C": 1.0, "gamma": 0.1}, "'gamma' exists only with {'kernel': 'rbf'}"),
        ({"kernel": "net", "C": 1.0, "layers": 1, "deep": 0.5}, "'deep' exists only with"),
        ({"kernel": "linear", "C": 1.0, "other": 1}, "parameters must be"),
    ],
)
def test_a_configuration_with_too_much_or_too_little_is_refused(params, words):
    with pytest.raises(ValueError, match=words):
        TREE.encode(params)


def test_conditions_are_data():
    dimension = Float(0, 1, when={"kernel": ["rbf", "net"]})
    assert dimension == Float(0, 1, when={"kernel": ["rbf", "net"]}) != Float(0, 1)
    assert hash(dimension) == hash(replace(dimension))
    assert pickle.loads(pickle.dumps(TREE)) == TREE
    assert describe(TREE)["unit"]["when"] == {"kernel": ["net"], "layers": [2, 3]}
    assert "when" not in describe(TREE)["C"]


def value(params):
    base = {"rbf": 0.5, "linear": 1.0, "net": 0.0}[params["kernel"]]
    own = params.get("gamma", 0.0) + params.get("deep", 1.0) + 0.1 * (params.get("unit") != "tanh")
    return base + own + 0.1 * abs(np.log10(params["C"]))


@pytest.mark.parametrize("strategy", ["auto", "j-ats", "lp", "p-ts"])
def test_the_model_finds_the_branch_and_its_own_optimum(strategy):
    opt = covey.Optimizer(TREE, strategy, n_initial=10, seed=3)
    for _ in range(8):
        trials = opt.ask(5)
        opt.tell(trials, [value(trial.params) for trial in trials])
    for trial in opt.trials:
        assert set(trial.params) == names(trial.params["kernel"], trial.params.get("layers"))
    assert opt.best.value < 0.35
    assert opt.best.params["kernel"] == "net"


def test_a_finite_tree_gives_each_configuration_once_and_then_says_so():
    opt = covey.Optimizer(FINITE, n_initial=2, seed=1)
    seen = []
    for _ in range(3):
        trials = opt.ask(2)
        seen += [tuple(trial.params.items()) for trial in trials]
        opt.tell(trials, [float(sum(trial.params.get(k, 0) for k in "nm")) for trial in trials])
    assert len(seen) == len(set(seen)) == FINITE.size == 5
    with pytest.raises(covey.SpaceExhausted):
        opt.ask()


def test_failures_and_points_given_are_learned_from_in_their_branch():
    opt = covey.Optimizer(TREE, n_initial=3, seed=2)
    opt.add({"kernel": "linear", "C": 2.0}, 1.0)
    opt.tell(opt.include({"kernel": "rbf", "C": 2.0, "gamma": 0.1}), Failure("no"))
    for trial in opt.ask(6):
        opt.tell(trial, value(trial.params))
    assert opt.trials[0].params == {"kernel": "linear", "C": 2.0}


# Parameters that are held


def test_held_parameters_are_held_in_the_design_and_by_the_model():
    opt = covey.Optimizer(TREE, n_initial=4, seed=1)
    for asked in range(4):
        trials = opt.ask(3, fixed={"kernel": "net", "layers": 2})
        assert all(t.params["kernel"] == "net" and t.params["layers"] == 2 for t in trials)
        assert len({t.params["deep"] for t in trials}) == 3 or asked > 0
        opt.tell(trials, [value(t.params) for t in trials])
    assert opt.best.params["deep"] < 0.3
    assert {t.params["kernel"] for t in opt.ask(8)} - {"net"}


def test_held_parameters_leave_fewer_configurations():
    opt = covey.Optimizer(FINITE, n_initial=1, seed=1)
    assert len(opt.ask(10, fixed={"kind": "b"})) == 2
    with pytest.raises(covey.SpaceExhausted, match="'kind': 'b'"):
        opt.ask(fixed={"kind": "b"})
    assert len(opt.ask(10)) == 3


def test_everything_held_is_one_point():
    opt = covey.Optimizer(Space({"x": Float(0, 1)}), seed=1)
    (trial,) = opt.ask(3, fixed={"x": 0.25})
    assert trial.params == {"x": 0.25}
    with pytest.raises(covey.SpaceExhausted):
        opt.ask(fixed={"x": 0.25})


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        ({"kernle": "rbf"}, "there is no parameter 'kernle'"),
        ({"kernel": "cubic"}, "'cubic' is not one of"),
        ({"C": 1e9}, "is not a number in"),
        ("kernel=rbf", "must be a dict"),
    ],
)
def test_what_cannot_be_held_is_refused(fixed, words):
    with pytest.raises(ValueError, match=words):
        covey.Optimizer(TREE, seed=1).ask(fixed=fixed)
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match=words):
        covey.minimize(value, TREE, evaluations=1, executor=threads, fixed=fixed)


# Studies and the command line


def test_a_study_of_a_tree_resumes_and_shows_what_is_there(database):
    with ThreadPoolExecutor(3) as threads:
        options = {"batch_size": 3, "seed": 1, "n_initial": 6, "executor": threads, "storage": database}
        first = covey.minimize(value, TREE, evaluations=9, **options)
        again = covey.minimize(value, TREE, evaluations=12, **options)
    assert [t.params for t in again.trials[:9]] == [t.params for t in first.trials]
    rows = optuna.load_study(study_name="covey", storage=database).trials
    assert [row.params for row in rows] == [t.params for t in again.trials]


def test_a_row_without_a_parameter_that_exists_is_left_out(sqlite, caplog):
    study = Study(sqlite, "covey", TREE)
    distribution = optuna.distributions.CategoricalDistribution(["rbf", "linear", "net"])
    optuna.load_study(study_name="covey", storage=sqlite).add_trial(
        optuna.trial.create_trial(params={"kernel": "rbf"}, distributions={"kernel": distribution}, value=1.0)
    )
    assert study.recorded() == []
    assert "is missing" in caplog.text
    study.close()


STUDY = """
name = "tree"
n_initial = 4
{more}
[space.kernel]
type = "categorical"
choices = ["rbf", "linear"]
[space.gamma]
type = "float"
low = 0.1
high = 1.0
when = {{kernel = "rbf"}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, code=0):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == code, done.output
    return done.output


def test_an_absent_parameter_is_an_empty_cell_on_the_way_out_and_back(folder):
    Path("study.toml").write_text(STUDY.format(more=""))
    run("ask", "study.toml", "-n", "6", "-o", "batch.csv")
    header, *lines = Path("batch.csv").read_text().splitlines()
    assert header == "id,kernel,gamma,value"
    cells = [line.split(",") for line in lines]
    assert all((gamma == "") == (kernel == "linear") for _, kernel, gamma, _ in cells)
    Path("batch.csv").write_text("\n".join([header, *(f"{line}0.5" for line in lines)]))
    assert "6 values" in run("tell", "study.toml", "batch.csv")
    assert "linear" in run("show", "study.toml")
    assert ",linear,," in run("export", "study.toml")


def test_a_parameter_is_held_by_an_option_or_by_the_study(folder):
    Path("study.toml").write_text(STUDY.format(more='fixed = {kernel = "rbf"}'))
    assert "linear" not in run("ask", "study.toml", "-n", "6")
    assert "rbf,0.5," in run("ask", "study.toml", "--fix", "gamma=0.5")
    assert "did you mean 'gamma'" in run("ask", "study.toml", "--fix", "gama=0.5", code=2)
    assert "is not a number in" in run("ask", "study.toml", "--fix", "gamma=7", code=2)


def test_a_program_gets_the_arguments_that_exist(folder):
    more = 'objective = ["./p.sh", "{kernel}", "--gamma={gamma}"]\nevaluations = 6\nbatch_size = 3'
    Path("study.toml").write_text(STUDY.format(more=more))
    Path("p.sh").write_text('#!/bin/sh\necho "$@" >> log\necho $#\n')
    Path("p.sh").chmod(0o755)
    run("run", "study.toml", "-q")
    said = Path("log").read_text().split("\n")[:-1]
    assert len(said) == 6
    assert all(line == "linear" or line.startswith("rbf --gamma=0.") for line in said)


def test_an_option_that_would_lose_its_value_is_refused(folder):
    more = 'objective = ["./p.sh", "{kernel}", "--gamma", "{gamma}"]\nevaluations = 6'
    Path("study.toml").write_text(STUDY.format(more=more))
    assert "write --gamma={gamma} as one argument" in run("show", "study.toml", code=2)


@pytest.mark.parametrize("when", ['{kernel = "cubic"}', "{gamma = 0.5}", '"rbf"', "{}", '{kern = "rbf"}'])
def test_a_wrong_condition_in_a_study_is_one_line(folder, when):
    Path("study.toml").write_text(STUDY.format(more="").replace('{kernel = "rbf"}', when))
    said = run("ask", "study.toml", code=2)
    assert said.count("\n") == 1
    assert not Path("study.db").exists()
