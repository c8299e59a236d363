"""``covey bench versus``: peers that are real processes, runs that begin alike, and ranks by hand."""

import json
import math
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from covey.bench.records import read
from covey.bench.versus.conversation import Conversation, described
from covey.bench.versus.figures import _looks
from covey.bench.versus.peers import PEERS, Peer
from covey.bench.versus.play import Run, initial_points, play, runs
from covey.bench.versus.players import strategy_named
from covey.bench.versus.ranks import ends, proposal_seconds, remaining, standings
from covey.bench.versus.suite import instance
from covey.cli.app import app
from covey.errors import PeerError
from covey.space import Categorical, Float, Int, Space
from covey.space.designs import random

CLONE = Path(__file__).parent.parent
PROGRAMS = CLONE / "benchmarks" / "peers"
MIXED, NOISY = "levy4-or-dixon-price4-int2", "branin-noise-high"
WHO = ("auto", "random", "sobol", "optuna-tpe")
OPTIONS = [
    *("--problems", f"{MIXED},{NOISY}", "--peers", ",".join(WHO[1:])),
    *("--batch-sizes", "3", "--evaluations", "6", "--reps", "2", "--clone", CLONE),
]
SPACE = Space(
    {
        "rate": Float(1e-4, 1.0, log=True),
        "share": Float(-1.0, 2.0),
        "count": Int(1, 200, log=True),
        "depth": Int(-2, 5),
        "kind": Categorical(["a", "b", "c"]),
    }
)


def covey(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output + done.stderr
    return done.stdout if code == 0 else done.stderr


def points(space, count, seed=0):
    return [space.decode(row) for row in random(space, count, np.random.default_rng(seed))]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("versus")
    covey("bench", "versus", *OPTIONS, "--out", folder)
    return folder


@pytest.fixture
def records(finished):
    return read(finished / "versus.jsonl")[1]


def test_everyone_has_the_same_budget_and_a_line_for_every_batch(records):
    assert len(records) == 2 * len(WHO) * 2 * 3
    for record in records:
        assert record["M"] == 3
        first = len(initial_points(instance(record["problem"], 0).space, "", 0))
        assert len(record["values"]) == (3 if record["iteration"] else first)
        assert "error" not in record
        assert record["version"].split()[0] in ("covey", "scipy", "optuna")
        if record["iteration"]:
            assert record["n"] == first + 3 * (record["iteration"] - 1)
            assert record["seconds"] >= 0


def test_everyone_begins_with_the_same_points_which_depend_on_the_seed(records):
    first = [r for r in records if r["iteration"] == 0]
    for problem in (MIXED, NOISY):
        values = [
            {json.dumps(r["values"]) for r in first if (r["problem"], r["seed"]) == (problem, seed)}
            for seed in (0, 1)
        ]
        assert [len(one) for one in values] == [1, 1]
        assert values[0] != values[1]


def test_proposals_differ_between_methods(records):
    last = {json.dumps(r["values"]) for r in records if r["iteration"] == 2}
    assert len(last) == 2 * len(WHO) * 2


def test_a_run_is_scored_by_the_true_value_at_the_best_observation(records):
    for record in records:
        target = instance(record["problem"], record["seed"])
        assert record["regret"] == pytest.approx(record["best"] - target.minimum)
        assert record["regret"] >= -1e-9
    noisy = [r for r in records if r["problem"] == NOISY and r["iteration"] == 0]
    for record in noisy:
        target = instance(NOISY, record["seed"])
        start = initial_points(target.space, NOISY, record["seed"])
        assert record["values"] == [target(point) for point in start]
        best = start[int(np.argmin(record["values"]))]
        assert record["best"] == target.true(best) != min(record["values"])


def test_finished_runs_are_not_done_again_and_other_budgets_do_not_mix(finished):
    before = (finished / "versus.jsonl").read_bytes()
    assert "16 runs in" in covey("bench", "versus", *OPTIONS, "--out", finished)
    assert (finished / "versus.jsonl").read_bytes() == before
    said = covey("bench", "versus", *OPTIONS, "--evaluations", "9", "--out", finished, code=2)
    assert "choose another --out" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--problems", "nope"], "problem must be one of"),
        (["--methods", "nope"], "strategy must be one of"),
        (["--methods", "auto:q=1"], "a strategy has the settings"),
        (["--methods", "auto:s"], "a method's settings are like 'auto:s=4'"),
        (["--methods", "auto:name=b-lcb"], "a method's settings are like 'auto:s=4'"),
        (["--peers", "nope"], "--peers must be of ['botorch-qlogei'"),
        (["--problems", ""], "nothing to run"),
        (["--methods", "", "--peers", ""], "nothing to run"),
        (["--batch-sizes", "²"], "whole numbers from 1"),
        (["--batch-sizes", "0"], "whole numbers from 1"),
        (["--evaluations", "0"], "--evaluations"),
        (["--clone", "/nowhere"], "run this in a clone of covey, or give --clone"),
    ],
)
def test_a_bad_option_says_what_is_accepted_and_makes_nothing(tmp_path, options, words):
    out = tmp_path / "out"
    said = covey("bench", "versus", "--peers", "random", "--clone", CLONE, *options, "--out", out, code=2)
    assert words in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_a_missing_environment_says_how_to_make_it(tmp_path):
    folder = tmp_path / "benchmarks" / "peers"
    folder.mkdir(parents=True)
    (folder / "hebo_mace.py").touch()
    said = covey("bench", "versus", "--peers", "hebo", "--clone", tmp_path, "--out", tmp_path / "o", code=2)
    assert "run make peers" in said


def test_every_peer_has_its_program_and_every_environment_its_requirements():
    for peer in PEERS.values():
        assert (PROGRAMS / peer.program[0]).exists()
        if peer.environment is not None:
            pins = (PROGRAMS / "requirements" / f"{peer.environment}.txt").read_text().splitlines()
            assert all("==" in line for line in pins if not line.startswith("#"))


def test_settings_of_a_method_are_part_of_its_name():
    changed = strategy_named("auto:s=4:jitter=fixed:starts=null:p=0.5")
    assert (changed.s, changed.jitter, changed.starts, changed.p) == (4, "fixed", None, 0.5)


def test_budgets_follow_the_batch_size():
    found = runs(["branin"], ["auto"], [1, 5, 20, 7], [0])
    assert [(run.M, run.iterations) for run in found] == [(1, 40), (5, 10), (20, 5), (7, 10)]
    given = runs(["branin"], ["auto"], [1, 5, 20], [0], evaluations=12)
    assert [run.iterations for run in given] == [12, 2, 1]
    assert [run.seed for run in runs(["branin"], ["auto"], [1], range(3, 5))] == [3, 4]


@pytest.mark.parametrize("method", ["random", "sobol", "optuna-tpe"])
def test_a_peer_proposes_configurations_of_any_space_and_is_repeatable(method):
    def proposals():
        with closing(Conversation(PEERS[method].command(CLONE), SPACE, 7, 6)) as peer:
            peer.tell(points(SPACE, 6), [0.5, 1.0, 2.0, 3.0, 4.0, 5.0])
            batch = peer.ask(4)
            assert batch.error is None
            peer.tell(batch.params, [1.0, 2.0, 3.0, 4.0])
            return [*batch.params, *peer.ask(2).params]

    found = proposals()
    assert len(found) == 6
    for params in found:
        SPACE.encode(params)  # raises if it is not one of the space
    assert found == proposals()


def test_a_space_is_described_in_the_words_of_the_protocol():
    words = described(Space({"x": Float(0.5, 2, log=True), "n": Int(1, 3), "c": Categorical(["a", 1])}))
    assert words == [
        {"name": "x", "type": "float", "low": 0.5, "high": 2, "log": True},
        {"name": "n", "type": "int", "low": 1, "high": 3, "log": False},
        {"name": "c", "type": "categorical", "choices": ["a", 1]},
    ]


def test_the_cube_of_the_peers_keeps_every_configuration():
    program = """
import json, sys
from cube import decode, encode, spread
space, params = json.load(sys.stdin)
rows = [encode(space, one) for one in params]
ends = [[spread(d, u) for d in space] for u in (0.0, 1 - 2**-53)]
json.dump([[list(decode(space, row).values()) for row in rows], rows, ends], sys.stdout)
"""
    wanted = points(SPACE, 50)
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([described(SPACE), wanted]),
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        check=True,
    )
    found, rows, (low, high) = json.loads(done.stdout)
    for params, values, row in zip(wanted, found, rows, strict=True):
        rate, share, *exact = params.values()
        assert values[:2] == pytest.approx([rate, share])
        assert values[2:] == exact
        np.testing.assert_allclose(row[:4], SPACE.encode(params)[:4], atol=1e-12)
        assert row[4] == "abc".index(params["kind"])
    assert low == [1e-4, -1.0, 1, -2, "a"]
    assert high[2:] == [200, 5, "c"]


HELP = "import sys; sys.path.insert(0, {folder!r}); from protocol import serve\n"
FAULTY = """
class Faulty:
    asked = 0
    def ask(self, n):
        self.asked += 1
        print("a library that talks")
        if self.asked == 1:
            raise ValueError("not positive definite")
        return [{"x1": 1.0, "x2": 2.0}] * n
    def tell(self, params, values):
        {on_tell}
serve("numpy", lambda setup: Faulty())
"""


def faulty(folder, on_tell="pass"):
    """A clone with a peer that fails at its first proposal."""
    programs = folder / "benchmarks" / "peers"
    programs.mkdir(parents=True)
    text = HELP.format(folder=str(PROGRAMS)) + FAULTY.replace("{on_tell}", on_tell)
    (programs / "faulty.py").write_text(text)
    return folder


def test_a_proposal_that_fails_is_made_at_random_and_recorded(tmp_path, monkeypatch):
    monkeypatch.setitem(PEERS, "faulty", Peer(("faulty.py",)))
    first, failed, fine = play(Run("branin", "faulty", 2, 2, 0), faulty(tmp_path))
    assert "error" not in first
    assert failed["error"] == "ValueError: not positive definite"
    assert len(failed["values"]) == 2
    assert "error" not in fine
    assert fine["values"] == [instance("branin", 0)({"x1": 1.0, "x2": 2.0})] * 2


def test_a_peer_that_dies_is_an_error_with_its_last_words(tmp_path, monkeypatch):
    monkeypatch.setitem(PEERS, "faulty", Peer(("faulty.py",)))
    clone = faulty(tmp_path, "import os; os.write(2, b'out of memory'); os._exit(3)")
    with pytest.raises(PeerError, match=r"faulty\.py has died: out of memory"):
        play(Run("branin", "faulty", 1, 1, 0), clone)


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name, peer in PEERS.items() if peer.environment])
@pytest.mark.parametrize("problem", ["branin", MIXED])
def test_every_peer_of_make_peers_runs(method, problem):
    if not (CLONE / ".peers" / PEERS[method].environment / "ready").exists():
        pytest.skip(f"no .peers/{PEERS[method].environment} here: make peers")
    found = play(Run(problem, method, 3, 2, 0), CLONE)
    assert [len(r["values"]) for r in found[1:]] == [3, 3]
    assert not any("error" in r for r in found)


def ended(problem, seed, method, best, M=1, **more):
    """The two records of a run that began at 10."""
    base = {"problem": problem, "seed": seed, "method": method, "M": M}
    first = {**base, "iteration": 0, "best": 10.0, "regret": more.get("regret0")}
    last = {"iteration": 1, "best": best, "regret": None, "n": 5, "seconds": 1.0, **more}
    return [first, {**base, **last}]


@pytest.fixture
def by_hand():
    """Problem p with two seeds, q with one; a and b are equal on p's second."""
    table = {("p", 0): (1.0, 2.0, 3.0), ("p", 1): (2.0, 2.0, 5.0), ("q", 0): (3.0, 1.0, 2.0)}
    return [
        record
        for (problem, seed), values in table.items()
        for method, best in zip("abc", values, strict=True)
        for record in ended(problem, seed, method, best)
    ]


def test_equal_values_share_their_ranks(by_hand):
    found = ends(by_hand, 1)
    assert found.ranks("p").tolist() == [1.25, 1.75, 3.0]
    assert found.ranks("q").tolist() == [3.0, 1.0, 2.0]


def test_mean_ranks_and_their_errors_are_over_problems(by_hand):
    b, a, c = standings(ends(by_hand, 1))
    assert [s.method for s in (b, a, c)] == ["b", "a", "c"]
    assert [s.rank for s in (b, a, c)] == [1.375, 2.125, 2.5]
    assert b.error == pytest.approx(0.375)  # of 1.75 and 1
    assert (b.behind, b.behind_error) == (0.0, 0.0)
    assert a.behind == pytest.approx(0.75)  # the mean of -0.5 and 2
    assert a.behind_error == pytest.approx(1.25)
    assert [(s.first, s.last) for s in (b, a, c)] == [(1, 0), (1, 1), (0, 1)]


def test_only_what_every_method_has_done_counts(by_hand):
    more = [*by_hand, *ended("p", 2, "a", 0.0), *ended("p", 0, "a", 0.0, M=5)]
    assert ends(more, 1).left_out == 1
    assert standings(ends(more, 1)) == standings(ends(by_hand, 1))


def test_one_problem_has_no_standard_error_and_no_common_run_no_rank(by_hand):
    assert math.isnan(standings(ends(by_hand[-6:], 1))[0].error)
    assert standings(ends([*ended("p", 0, "a", 1.0), *ended("p", 1, "b", 1.0)], 1)) == []


def test_what_is_left_of_the_gap_is_a_share(by_hand):
    left = remaining(by_hand, ends(by_hand, 1))
    assert left["a"] == pytest.approx([0.0, 0.0, 2 / 9])  # the lowest found: 1, 2 and 1
    assert left["c"] == pytest.approx([2 / 9, 3 / 8, 1 / 9])
    known = ended("p", 0, "a", 4.0, regret0=12.0)  # the minimum is -2
    assert remaining(known, ends(known, 1)) == {"a": [pytest.approx(0.5)]}
    worse = ended("p", 0, "a", 11.0, regret0=12.0)  # noise has misled it
    assert remaining(worse, ends(worse, 1)) == {"a": [1.0]}
    there = ended("p", 0, "a", 10.0, regret0=0.0)
    assert remaining(there, ends(there, 1)) == {"a": [0.0]}


def test_seconds_are_medians_by_the_number_of_observations():
    found = [
        record
        for n, seconds in [(25, 1.0), (10, 2.0), (5, 9.0), (26, 4.0), (500, 8.0)]
        for record in ended("p", n, "a", 1.0, n=n, seconds=seconds)
    ]
    up_to_25, up_to_50, up_to_100, more = proposal_seconds(found, 1)["a"]
    assert (up_to_25, up_to_50, more) == (2.0, 4.0, 8.0)
    assert math.isnan(up_to_100)


def test_the_comparison_is_told_in_tables_and_a_picture(finished, tmp_path):
    text = covey("bench", "ranks", finished, "--out", tmp_path)
    assert "## M = 3" in text
    assert "4 runs of each method on 2 problems." in text
    for word in (*WHO, MIXED, NOISY, "mean rank", "behind the best", "n <= 25"):
        assert word in text
    assert (tmp_path / "profile.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "profile.svg").exists()
    covey("bench", "ranks", finished, "--out", tmp_path, "--markdown", tmp_path / "ranks.md")
    assert (tmp_path / "ranks.md").read_text() == text


def test_failed_proposals_and_left_out_runs_are_told(tmp_path):
    lines = [
        *ended("p", 0, "a", 1.0, error="ValueError: no"),
        *ended("p", 0, "b", 2.0),
        *ended("p", 1, "a", 1.0),
        *ended("p", 0, "a", 1.0, M=5),
        *ended("q", 0, "b", 1.0, M=5),
    ]
    (tmp_path / "versus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = covey("bench", "ranks", tmp_path)
    assert "1 left out, that not all have done" in text
    assert "made at random instead: a 1 times" in text
    assert "no problem and seed that every method has been run on" in text


def test_a_folder_without_results_is_an_error(tmp_path):
    assert "has no versus.jsonl" in covey("bench", "ranks", tmp_path, code=2)
    (tmp_path / "versus.jsonl").touch()
    assert "has no results yet" in covey("bench", "ranks", tmp_path, code=2)


def test_a_file_that_cannot_be_written_is_an_error(finished, tmp_path):
    said = covey("bench", "ranks", finished, "--markdown", tmp_path / "nowhere" / "a.md", code=2)
    assert "cannot write" in said


def test_variants_of_a_strategy_do_not_look_alike():
    looks = _looks(["auto", "auto:s=4", "auto:outputs=standard", "hebo"])
    assert len(set(looks.values())) == 4
    assert looks["hebo"] == _looks(["hebo"])["hebo"]
