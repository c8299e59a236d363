"""``covey bench``: runs that continue, a table beside the paper's, and its figures."""

import csv
import gzip
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from covey.batch.strategy import STRATEGIES
from covey.bench.paper.protocol import COLUMNS, METHODS, PRIORS, REPORTED, prior_of
from covey.bench.paper.runs import Job, Settings, acquisition_of, run, strategy_of
from covey.bench.paper.table import cells, markdown, plus_minus
from covey.bench.problems.functions import PROBLEMS
from covey.bench.records import Results, read
from covey.cli.app import app
from covey.errors import BadResults
from covey.optimizer import Optimizer

OPTIONS = [
    "--problems",
    "branin",
    "--methods",
    "ats,b-lcb",
    "--reps",
    "2",
    "--jobs",
    "2",
    "--iterations",
    "1",
]


def covey(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output + done.stderr
    return done.stdout if code == 0 else done.stderr


def without_time(records):
    return sorted(
        (json.dumps({key: value for key, value in r.items() if "seconds" not in key}) for r in records),
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    covey("bench", "paper", *OPTIONS, "--out", folder)
    return folder


def test_there_is_a_line_for_every_iteration_with_all_that_is_to_be_known(finished):
    (header,), records = read(finished / "results.jsonl")
    assert header["settings"] == {"prior": "paper", "s": 10, "p": 0.5, "starts": 1}
    assert {"covey", "numpy", "python"} <= set(header["versions"])
    assert len(records) == 2 * 2 * 2
    for record in records:
        assert record["problem"] == "branin"
        assert record["M"] == 10
        assert len(record["points"]) == len(record["values"]) == (10 if record["iteration"] else 5)
        assert record["regret"] == pytest.approx(record["best"] - 0.39788735772973816)
        assert record["seconds"] >= 0
        assert 0 < record["distance"] <= math.sqrt(2)


def test_methods_begin_with_the_same_points_for_the_same_seed(finished):
    first = [r for r in read(finished / "results.jsonl")[1] if r["iteration"] == 0]
    by_seed = {seed: {json.dumps(r["points"]) for r in first if r["seed"] == seed} for seed in (0, 1)}
    assert all(len(points) == 1 for points in by_seed.values())
    assert by_seed[0] != by_seed[1]


def test_an_interrupted_benchmark_continues_to_the_same_end(finished, tmp_path):
    whole = (finished / "results.jsonl").read_bytes()
    (tmp_path / "results.jsonl").write_bytes(whole[: len(whole) * 2 // 3])  # in the middle of a line
    covey("bench", "paper", *OPTIONS, "--out", tmp_path)
    _, records = read(tmp_path / "results.jsonl")
    unique = {json.dumps([r[k] for k in ("method", "seed", "iteration")]): r for r in records}
    assert without_time(unique.values()) == without_time(read(finished / "results.jsonl")[1])


def test_what_is_done_is_not_done_again(finished):
    before = (finished / "results.jsonl").read_bytes()
    covey("bench", "paper", *OPTIONS, "--out", finished)
    assert (finished / "results.jsonl").read_bytes() == before


def test_other_settings_do_not_mix(finished):
    said = covey("bench", "paper", *OPTIONS, "--prior", "scale-6", "--out", finished, code=2)
    assert "prior = paper" in said
    assert "choose another --out" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--problems", "nope"], "problem must be one of"),
        (["--methods", "nope"], "strategy must be one of"),
        (["--methods", "ats:q=1"], "a strategy has the settings"),
        (["--methods", "ats:s=x"], "s must be a whole number"),
        (["--methods", "ats-b-lcb:p=7"], "p must be a probability"),
        (["--prior", "nope"], "prior must be one of"),
        (["--batch-sizes", "0"], "whole numbers from 1"),
        (["--batch-sizes", "x"], "whole numbers from 1, got x"),
        (["--reps", "0"], "--reps"),
        (["--s", "0"], "--s"),
        (["--p", "2"], "--p"),
    ],
)
def test_a_bad_option_says_what_is_accepted_and_makes_nothing(tmp_path, options, words):
    out = tmp_path / "out"
    said = covey("bench", "paper", *options, "--out", out, code=2)
    assert words in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_a_folder_without_results_is_an_error(tmp_path):
    assert "has no results.jsonl" in covey("bench", "table", tmp_path, code=2)
    assert "run covey bench paper" in covey("bench", "figures", tmp_path, code=2)


def test_a_file_that_is_no_result_is_an_error(tmp_path):
    (tmp_path / "results.jsonl").write_text("hello\n")
    assert "not a file of JSON lines" in covey("bench", "table", tmp_path, code=2)


def test_compressed_results_are_read_as_plain_ones(finished, tmp_path):
    plain = finished / "results.jsonl"
    (tmp_path / "results.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert read(tmp_path / "results.jsonl.gz") == read(plain)


def test_settings_of_a_method_are_part_of_its_name():
    assert strategy_of("ats-b-lcb:p=1:s=4", Settings()).p == 1.0
    assert strategy_of("ats-b-lcb:p=1:s=4", Settings()).s == 4
    assert strategy_of("ats-b-lcb", Settings(p=0.25)).p == 0.25
    assert strategy_of("b-lcb", Settings(p=0.25)).p == 0.0
    assert strategy_of("ats", Settings(s=7)).s == 7
    assert strategy_of("ats:starts=0", Settings(starts=3)).starts is None
    assert strategy_of("ats", Settings(starts=3)).starts == 3
    assert strategy_of("auto", Settings(s=7, starts=3)) == STRATEGIES["auto"]
    assert strategy_of("auto:outputs=standard", Settings()).outputs == "standard"


def test_auto_keeps_its_own_acquisition_function_whatever_a_problems_is():
    chosen = {method: acquisition_of(method, Settings(), "lcb") for method in ("auto", "ats", "p-ts")}
    assert chosen == {"auto": "log-ei", "ats": "lcb", "p-ts": "ts"}


def test_auto_runs_as_the_optimizer_alone_would():
    found = run(Job("branin", "auto", "log-ei", 8, 2, seed=0), Settings())
    opt = Optimizer(PROBLEMS["branin"].space, noise=0.0, n_initial=5, initial="random", seed=0)
    for record, size in zip(found, (5, 8, 8), strict=True):
        trials = opt.ask(size)
        values = [PROBLEMS["branin"](trial.params) for trial in trials]
        opt.tell(trials, values)
        assert record["values"] == values


@pytest.mark.parametrize("reading", PRIORS)
def test_every_reading_of_the_prior_runs(reading):
    prior_of(reading, PROBLEMS["rosenbrock4"].space)
    records = run(Job("branin", "ats", "lcb", 2, 1, 0), Settings(prior=reading))
    assert [r["iteration"] for r in records] == [0, 1]


def test_a_run_that_was_cut_short_is_done_again(tmp_path):
    results = Results(tmp_path, {"s": 1}, ("seed",))
    results.add([{"seed": 0, "iteration": 0}, {"seed": 0, "iteration": 1}])
    again = Results(tmp_path, {"s": 1}, ("seed",))
    assert again.done == {(0,): 1}
    with pytest.raises(BadResults, match="s = 1, not s = 2"):
        Results(tmp_path, {"s": 2}, ("seed",))


def test_the_raw_reading_needs_equal_widths():
    import covey as package

    space = package.Space({"x": package.Float(0, 1), "y": package.Float(0, 2)})
    with pytest.raises(ValueError, match="equally wide"):
        prior_of("scale-6-raw", space)


def test_a_run_that_is_done_again_counts_once(tmp_path):
    run_once = {"problem": "branin", "method": "ats", "acquisition": "lcb", "M": 10, "seed": 0}
    write(tmp_path, [{**run_once, "iteration": 1, "best": 2.0}, {**run_once, "iteration": 1, "best": 1.0}])
    assert [r["best"] for r in read(tmp_path / "results.jsonl")[1]] == [1.0]


def made_up(methods, problems, runs=4, field=None):
    """Records of runs whose best values are known."""
    rng, records = np.random.default_rng(0), []
    for problem in problems:
        column = COLUMNS[problem]
        for method in methods:
            M = 1 if method == "sequential" else column.batch
            rounds = column.iterations * (column.batch if method == "sequential" else 1)
            for seed in range(runs):
                for iteration in range(rounds + 1):
                    regret = (1 + seed) * 10.0 ** -(1 + 3 * iteration / rounds)
                    records.append(
                        {
                            "problem": problem,
                            "method": method,
                            "acquisition": column.acquisition,
                            "M": M,
                            "seed": seed,
                            "iteration": iteration,
                            "best": regret - 1,
                            "regret": regret,
                            "distance": None if M == 1 and iteration else rng.uniform(0.1, 0.9),
                            "seconds": 0.1,
                        }
                    )
    return records


def write(folder, records, name="results"):
    lines = [{"header": {"settings": {}, "versions": {}}}, *records]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_table_takes_the_papers_iteration_and_compares_in_standard_errors():
    (cell,) = cells(made_up(["ats"], ["branin"]))
    best = np.array([1, 2, 3, 4]) * 1e-4 - 1
    error = best.std(ddof=1) / 2
    assert cell.mean == pytest.approx(best.mean())
    assert cell.error == pytest.approx(error)
    gap = best.mean() - 0.3981 + 0.5e-4  # what rounding may explain is none
    assert cell.difference == pytest.approx(gap / math.hypot(error, 0.0002))
    assert cell.holds


@pytest.mark.parametrize(("shift", "holds"), [(0.0, True), (1.9, True), (2.1, False), (-9.0, True)])
def test_a_cell_holds_within_two_standard_errors_or_when_better(shift, holds):
    records = made_up(["ats"], ["hartmann6"])
    final = [r for r in records if r["iteration"] == 9]
    values = np.array([-1.0, -0.5, 0.5, 1.0])
    error = math.hypot(values.std(ddof=1) / 2 * 0.01, 0.0172)
    for record, value in zip(final, values, strict=True):
        record["best"] = -3.2810 + shift * error + 0.01 * value + math.copysign(0.5e-4, shift)
    (cell,) = cells(records)
    assert cell.holds == holds


def test_the_sequential_row_is_taken_at_as_many_iterations_as_the_others():
    (cell,) = cells(made_up(["sequential"], ["cosines"]))
    assert cell.iterations == 9
    assert cell.mean == pytest.approx(np.mean([1, 2, 3, 4]) * 10.0 ** -(1 + 3 * 9 / 45) - 1)


def test_the_table_has_every_cell_of_the_paper(tmp_path):
    write(tmp_path, made_up(METHODS, COLUMNS))
    text = covey("bench", "table", tmp_path, "--csv", tmp_path / "table.csv")
    assert "of 35 cells" in text
    for reported in REPORTED.values():
        assert f"{reported.mean:g} ± {reported.error:g}" in text
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert len(rows) == len(METHODS) * 5
    assert {row["repetitions"] for row in rows} == {"4"}
    covey("bench", "table", tmp_path, "--markdown", tmp_path / "table.md")
    assert (tmp_path / "table.md").read_text() == text


def test_the_best_of_a_column_is_bold():
    records = made_up(["ats", "lp"], ["branin"])
    for record in records:
        record["best"] -= record["method"] == "lp"
    lines = markdown(cells(records)).splitlines()
    assert "**" in next(line for line in lines if line.startswith("| lp"))
    assert "**" not in next(line for line in lines if line.startswith("| ats"))


def test_one_run_has_no_standard_error_and_is_not_compared():
    (cell,) = cells(made_up(["ats"], ["branin"], runs=1))
    assert cell.holds is None
    assert "±" not in plus_minus(cell.mean, cell.error)


def test_digits_follow_the_standard_error():
    assert plus_minus(-3.28104, 0.0172) == "-3.281 ± 0.017"
    assert plus_minus(1630.9, 352.2) == "1631 ± 352"
    assert plus_minus(0.5, 0.0) == "0.5000000 ± 0.0000000"


def test_all_five_figures_are_drawn(tmp_path):
    write(tmp_path, made_up(METHODS, COLUMNS))
    tuning = made_up(["ats", "sequential"], ["branin"])
    write(tmp_path, [{**r, "problem": "xgboost-higgs", "regret": None} for r in tuning], "xgboost")
    said = covey("bench", "figures", tmp_path, "--out", tmp_path / "pictures")
    paths = sorted((tmp_path / "pictures").iterdir())
    assert [path.suffix for path in paths] == [".png"] * 5
    assert sorted(said.split()) == [str(path) for path in paths]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_the_same_results_make_the_same_picture(tmp_path):
    write(tmp_path, made_up(["ats", "lp"], ["branin"]))
    for name in ("a", "b"):
        covey("bench", "figures", tmp_path, "--out", tmp_path / name)
    same = [(tmp_path / name / "figure2-valleys.png").read_bytes() for name in ("a", "b")]
    assert same[0] == same[1]


def test_figures_without_results_for_them_are_left_out(tmp_path):
    write(tmp_path, made_up(["ats", "lp"], ["branin"]))
    said = covey("bench", "figures", tmp_path)
    assert "figure2-valleys" in said
    assert "figure3" not in said
    assert "figure5" not in said
