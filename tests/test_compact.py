"""``covey bench compact``: an eighth of the file, the same tables and figures."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from covey.bench.records import read
from covey.cli.app import app


def covey(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output + done.stderr
    return done.stdout if code == 0 else done.stderr


def write(path, records):
    headers = [{"header": {"settings": {"s": 1}, "versions": {"covey": "1"}}}] * 2
    path.write_text("".join(json.dumps(line) + "\n" for line in [*headers, *records]))


def runs(problem, methods, M, iterations, **common):
    """Records of three runs of each method, with all digits; the last run was done again."""
    rng = np.random.default_rng(0)
    for seed in (0, 1, 2, 2):
        for method in methods:
            best, base = 10.0, {"problem": problem, "method": method, "M": M, "seed": seed, **common}
            for iteration in range(iterations + 1):
                best -= rng.uniform() ** 3
                yield {
                    **base,
                    "iteration": iteration,
                    "best": best,
                    "regret": best + 1 / 3,
                    "values": rng.uniform(best, 20.0, M).tolist(),
                }


@pytest.fixture
def compared(tmp_path):
    rng, records = np.random.default_rng(1), []
    for M in (1, 5):
        records += runs("branin", ("auto", "random"), M, 9, version="covey 1")
        records += runs("mlp-wine", ("random", "auto"), M, 9)
    for record in records:
        if record["problem"] == "mlp-wine":
            record["regret"] = None
        if record["iteration"]:
            record |= {"n": 5 + record["M"] * record["iteration"], "seconds": round(rng.uniform(0, 2000), 4)}
    records[5]["error"] = "ValueError: no"
    write(tmp_path / "versus.jsonl", records)
    return tmp_path


@pytest.fixture
def papers(tmp_path):
    rng = np.random.default_rng(1)
    records = [
        *runs("branin", ("ats", "lp", "j-ats"), 10, 7, acquisition="lcb"),
        *runs("hartmann6", ("ats", "j-ats"), 10, 9, acquisition="ei"),
        *runs("hartmann6", ("sequential",), 1, 90, acquisition="ei"),
    ]
    for record in records:
        record |= {"distance": None if record["M"] == 1 else rng.uniform(), "points": [[0.5, 0.25]]}
    write(tmp_path / "results.jsonl", records)
    tuned = runs("xgboost-higgs", ("ats", "lp"), 10, 20, acquisition="ei")
    write(tmp_path / "xgboost.jsonl", [r | {"regret": None, "distance": 0.1} for r in tuned])
    return tmp_path


def test_ranks_and_their_figure_are_the_same_from_a_compact_file(compared, tmp_path):
    before, drawn = covey("bench", "ranks", compared), (tmp_path / "profile.png").read_bytes()
    assert covey("bench", "compact", compared).split() == [str(tmp_path / "versus.jsonl.gz")]
    assert not (tmp_path / "versus.jsonl").exists()
    assert covey("bench", "ranks", compared) == before
    assert "auto 1 times" in before
    assert (tmp_path / "profile.png").read_bytes() == drawn


def test_the_papers_table_and_figures_are_the_same_from_compact_files(papers, tmp_path):
    def shown():
        said = covey("bench", "table", papers, "--csv", tmp_path / "table.csv")
        paths = covey("bench", "figures", papers).split()
        drawn = {path: Path(path).read_bytes() for path in paths}
        return said, (tmp_path / "table.csv").read_text(), drawn

    before = shown()
    assert len(before[2]) == 5
    covey("bench", "compact", papers)
    assert sorted(path.name for path in tmp_path.glob("*.gz")) == ["results.jsonl.gz", "xgboost.jsonl.gz"]
    assert shown() == before


def test_a_line_is_a_run_and_headers_are_there_once(papers, tmp_path):
    _, full = read(tmp_path / "results.jsonl")
    covey("bench", "compact", papers)
    lines = gzip.decompress((tmp_path / "results.jsonl.gz").read_bytes()).splitlines()
    assert len(lines) == 1 + 3 * 6
    (header,), records = read(tmp_path / "results.jsonl.gz")
    assert header["settings"] == {"s": 1}
    for field in ("best", "regret", "distance"):
        assert [r[field] for r in records] == [r[field] for r in full]
    assert set(records[0]) == {"problem", "method", "acquisition", "M", "seed", "iteration"} | {
        "best",
        "regret",
        "distance",
    }


def test_a_compact_file_stays_as_it_is(compared, tmp_path):
    covey("bench", "compact", compared)
    once = (tmp_path / "versus.jsonl.gz").read_bytes()
    covey("bench", "compact", compared)
    assert (tmp_path / "versus.jsonl.gz").read_bytes() == once


def test_nothing_to_compact_or_twice_the_same_is_an_error(papers, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "has no files of results" in covey("bench", "compact", tmp_path / "empty", code=2)
    (tmp_path / "results.jsonl.gz").write_bytes(gzip.compress(b""))
    assert "is there compressed too" in covey("bench", "compact", papers, code=2)
    assert (tmp_path / "results.jsonl").exists()
