"""Rows are sampled uniformly from a stream and kept; XGBoost learns from them; a bad file is one line."""

import gzip
import importlib
import json
import os
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from typer.testing import CliRunner

from covey.bench import extras
from covey.bench.paper.protocol import prior_of
from covey.bench.paper.runs import Job, Settings, run
from covey.bench.tuning import boosting, higgs, rows, split
from covey.bench.tuning.boosting import Boosting, log_loss
from covey.bench.tuning.higgs import Higgs, Synthetic, sample, synthetic
from covey.bench.tuning.rows import chunks
from covey.cli.app import app
from covey.cli.bench import xgboost as command
from covey.errors import BadData, NotInstalled

FIELDS = ("x_train", "y_train", "x_valid", "y_valid")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-of-the-user"))
    return tmp_path


def covey(*args, code=0):
    result = CliRunner().invoke(app, ["bench", "xgboost", *(str(arg) for arg in args)])
    assert result.exit_code == code, (result.output, result.exception)
    if code == 2:
        assert re.fullmatch(r"covey: [^\n]+\n", result.stderr), result.stderr
    return result.stderr if code else result.stdout


def text(count, start=0):
    """Lines in the format of HIGGS whose first feature is the number of the row."""
    data = synthetic(count, 1, seed=start)
    numbered = np.column_stack([data.y_train, np.arange(start, start + count), data.x_train[:, 1:]])
    return "".join(",".join(f"{cell:.18e}" for cell in row) + "\n" for row in numbered)


def file_of(count, name="data.csv.gz"):
    path = Path(name)
    content = text(count).encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path


def replaced(line, column, cell, count=40):
    """A good file but for one cell; lines and columns from 1."""
    lines = [row.split(",") for row in text(count).splitlines()]
    lines[line - 1][column - 1] = cell
    return "\n".join(",".join(row) for row in lines) + "\n"


def without_last_column(count=40):
    return "".join(line.rpartition(",")[0] + "\n" for line in text(count).splitlines())


def packed(content):
    return gzip.compress(content.encode(), mtime=0)


def damaged(content):
    """Compressed, with a checksum that is not its own."""
    whole = packed(content)
    return whole[:-8] + bytes(4) + whole[-4:]


HEADER = ",".join(["label", *(f"f{k}" for k in range(28))]) + "\n"
BAD_FILES = {
    "empty": ("data.csv", lambda: b"", "data.csv is empty"),
    "empty though named .gz": ("data.csv.gz", lambda: b"", "data.csv.gz is empty"),
    "empty when unpacked": ("data.csv.gz", lambda: packed(""), "data.csv.gz is empty"),
    "blank": ("data.csv", lambda: b"\n \n", "data.csv is empty"),
    "cut off": ("data.csv.gz", lambda: packed(text(400))[:-9000], "data.csv.gz is cut off after"),
    "cut off at once": ("data.csv.gz", lambda: packed(text(40))[:30], "is cut off after 0 rows"),
    "damaged": ("data.csv.gz", lambda: damaged(text(400)), "data.csv.gz is damaged after 400 rows"),
    "not gzip": ("data.csv.gz", lambda: text(40).encode(), "is named .gz but is not a gzip file"),
    "zip": ("higgs.zip", lambda: b"PK\x03\x04" + bytes(99), "is a zip archive: unpack it"),
    "28 columns": (
        "data.csv",
        lambda: without_last_column().encode(),
        "line 1: 28 columns, but HIGGS has 29",
    ),
    "a column more": ("data.csv", lambda: replaced(9, 5, "1,2").encode(), "line 9: 30 columns"),
    "a column less": ("data.csv.gz", lambda: packed(replaced(9, 29, "1\n0")), "line 10: 1 columns"),
    "semicolons": ("data.csv", lambda: text(9).replace(",", ";").encode(), "line 1: 1 columns"),
    "header": ("data.csv", lambda: (HEADER + text(40)).encode(), "line 1: column 1 is 'label', not a finite"),
    "words": ("data.csv.gz", lambda: packed(replaced(33, 7, "high")), "line 33: column 7 is 'high', not a"),
    "after blank lines": ("data.csv", lambda: ("\n\n" + replaced(5, 2, "x")).encode(), "line 7: column 2"),
    "not text": ("data.csv", lambda: b"\x80\xff\n" * 9, "line 1: 1 columns"),
    "quotes": ("data.csv", lambda: replaced(3, 4, '"1').encode(), "line 3: column 4 is '\"1'"),
    "missing": ("data.csv", lambda: replaced(12, 29, "").encode(), "line 12: column 29 is missing"),
    "nan": ("data.csv", lambda: replaced(12, 4, "nan").encode(), "line 12: column 4 is 'nan', not a finite"),
    "infinite": ("data.csv", lambda: replaced(2, 4, "-inf").encode(), "line 2: column 4 is '-inf'"),
    "too large": ("data.csv", lambda: replaced(2, 4, "1e39").encode(), "line 2: column 4 is '1e39'"),
    "underscores": ("data.csv", lambda: replaced(2, 4, "1_0").encode(), "line 2: column 4 is '1_0'"),
    "other labels": (
        "data.csv",
        lambda: replaced(40, 1, "2").encode(),
        "line 40: the label in column 1 is '2'",
    ),
    "labels -1 and 1": ("data.csv", lambda: replaced(1, 1, "-1").encode(), "is '-1', not 0 or 1"),
    "too few rows": ("data.csv", lambda: text(40).encode(), "data.csv has 40 rows, fewer than 1,120,000"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_one_line_and_leaves_nothing(folder, monkeypatch, kind):
    monkeypatch.setattr(rows.chunks, "__defaults__", (16,))  # so that there is something before the mistake
    name, content, part = BAD_FILES[kind]
    Path(name).write_bytes(content())
    assert part in covey("--data", name, "--out", "out", code=2)
    assert os.listdir() == [name]


def test_how_many_rows_there_are_and_what_to_do(folder):
    said = covey("--data", file_of(40), "--train", 30, "--valid", 11, code=2)
    assert "40 rows, fewer than 30 to train and 11 to validate with: lower --train and --valid" in said


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (
            [],
            "UCI Machine Learning Repository (data set HIGGS, number 280: 2.6 GB compressed, 11 million",
        ),
        (["--data", "none.csv", "--synthetic"], "give --data or --synthetic, not both"),
        (["--data", "none.csv.gz"], "none.csv.gz does not exist"),
        (["--data", "."], ". is not a file"),
        (["--synthetic", "--train", "0"], "--train"),
        (["--synthetic", "--valid", "99999999999"], "--valid"),
        (["--synthetic", "--methods", "ats,flock"], "flock"),
        (["--synthetic", "--methods", "ats-b-lcb:p=x"], "p must be a probability"),
        (
            ["--synthetic", "--prior", "scale-6-raw"],
            "prior scale-6-raw needs real parameters",
        ),
        (["--synthetic", "--batch", "0"], "--batch"),
    ],
)
def test_a_bad_command_is_one_line_and_leaves_nothing(folder, arguments, part):
    assert part in covey(*arguments, code=2)
    assert os.listdir() == []


def test_without_data_the_message_names_the_way_out(folder):
    assert "or --synthetic to run on a generated data set" in covey(code=2)


@pytest.mark.parametrize("package", ["xgboost", "pandas"])
def test_a_package_that_is_not_installed(folder, monkeypatch, package):
    def absent(name):
        if name == package:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return importlib.import_module(name)

    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(NotInstalled):
        extras.needed(package)
    said = covey("--data", file_of(40), "--train", 20, "--valid", 10, code=2)
    assert f"No module named {package!r}" in said
    assert said.endswith("pip install 'covey[bench]'\n")


def test_a_cache_that_cannot_be_written(folder):
    Path("taken").touch()
    said = covey("--data", file_of(40), "--train", 20, "--valid", 10, "--cache", "taken/here", code=2)
    assert "the cache taken/here cannot be written" in said


stream = st.lists(st.integers(0, 12), max_size=8)


@settings(max_examples=100, deadline=None)
@given(sizes=stream, count=st.integers(1, 30), seed=st.integers(0, 2**32))
def test_the_sample_has_the_smallest_keys_whatever_the_chunks(sizes, count, seed):
    total = sum(sizes)
    table = np.repeat(np.arange(total, dtype=np.float32)[:, None], rows.COLUMNS, axis=1)
    found, seen = sample(np.split(table, np.cumsum(sizes)[:-1]) if sizes else [], count, seed)
    keys = np.random.default_rng(seed).random(total)
    assert seen == total
    np.testing.assert_array_equal(found, table[np.argsort(keys)[:count]])


def test_every_row_is_as_likely_in_every_place():
    total, count, repeats = 40, 16, 3000
    table = np.repeat(np.arange(total, dtype=np.float32)[:, None], rows.COLUMNS, axis=1)
    drawn = [sample(np.split(table, [7, 8, 30]), count, seed)[0][:, 0].astype(int) for seed in range(repeats)]
    for places in (slice(None), slice(0, 1), slice(12, None)):  # all, the first, those to validate with
        chosen = np.bincount(np.concatenate([one[places] for one in drawn]), minlength=total)
        assert chosen.sum() == repeats * len(range(count)[places])
        assert chisquare(chosen).pvalue > 1e-3  # too even rather than uneven: no replacement


def test_a_file_gives_a_sample_of_its_rows(folder):
    for name in ("data.csv.gz", "data.csv"):
        found = Higgs(file_of(300, name), Path("cache"), 150, 60).split()
        assert [getattr(found, field).dtype for field in FIELDS] == [np.float32] * 4
        assert found.x_train.shape == (150, 28)
        assert found.x_valid.shape == (60, 28)
        number = np.concatenate([found.x_train[:, 0], found.x_valid[:, 0]]).astype(int)
        assert len(set(number)) == 210  # none twice, none in both
        data = synthetic(300, 1, seed=0)
        np.testing.assert_array_equal(np.concatenate([found.y_train, found.y_valid]), data.y_train[number])
        features = np.vstack([found.x_train, found.x_valid])[:, 1:]
        np.testing.assert_allclose(features, data.x_train[number, 1:], rtol=1e-6)


def test_the_sample_depends_on_the_seed_only(folder):
    path = file_of(300)
    first, again, other = (Higgs(path, Path(f"c{k}"), 50, 20, seed) for k, seed in enumerate((0, 0, 1)))
    assert first.split().x_train.tobytes() == again.split().x_train.tobytes()
    assert first.split().x_train.tobytes() != other.split().x_train.tobytes()


def test_the_cache_is_used_and_gives_the_same_bytes(folder, monkeypatch):
    source = Higgs(file_of(300), Path("cache"), 100, 50)
    first = source.split()
    (kept,) = Path("cache").iterdir()
    monkeypatch.setattr(higgs, "chunks", None)  # the file is not read again
    second = source.split()
    for field in FIELDS:
        assert getattr(first, field).tobytes() == getattr(second, field).tobytes()
    with np.load(kept, allow_pickle=False) as file:
        assert set(file.files) == set(FIELDS)


@pytest.mark.parametrize("change", ["size", "time", "train", "valid", "seed", "name"])
def test_the_cache_knows_what_it_is_of(folder, change):
    path = file_of(300)
    before = Higgs(path, Path("cache"), 100, 50).cached
    sizes = {"train": 100, "valid": 50, "seed": 0}
    if change in sizes:
        sizes[change] += 1
    elif change == "name":
        path = path.rename("other.csv.gz")
    elif change == "size":
        status = path.stat()
        path.write_bytes(path.read_bytes() + b" ")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    else:
        os.utime(path, ns=(1, 1))
    assert Higgs(path, Path("cache"), **sizes).cached != before


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY", b"half"])
def test_a_broken_cache_is_made_again(folder, content):
    source = Higgs(file_of(300), Path("cache"), 100, 50)
    first = source.split()
    whole = source.cached.read_bytes()
    source.cached.write_bytes(content if content != b"half" else whole[: len(whole) // 2])
    assert source.split().x_train.tobytes() == first.x_train.tobytes()
    assert split.load(source.cached, 100, 50) is not None


def test_a_failed_write_leaves_the_cache_as_it_was(folder, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    source = Higgs(file_of(300), Path("cache"), 100, 50)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(BadData, match="the cache cache cannot be written: No space left on device"):
        source.split()
    assert list(Path("cache").iterdir()) == []


def test_a_file_is_never_in_memory_as_a_whole(folder, monkeypatch):
    import pandas

    asked = []
    read_csv = pandas.read_csv
    monkeypatch.setattr(pandas, "read_csv", lambda *a, **k: asked.append(k["chunksize"]) or read_csv(*a, **k))
    path = file_of(20_000, "data.csv")
    assert max(len(part) for part in chunks(path, 250)) == 250
    tracemalloc.start()
    try:
        found, seen = sample(chunks(path, 250), 100, seed=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.shape, seen) == ((100, 29), 20_000)
    assert asked == [250, 250]
    assert peak < path.stat().st_size / 10


def test_reading_stops_where_the_reader_stops(folder):
    Path("data.csv").write_text(text(40) + "the end\n")
    first = next(iter(chunks(Path("data.csv"), 40)))
    assert first.shape == (40, 29)


def test_synthetic_data_are_like_higgs():
    data = synthetic(4000, 1000, seed=3)
    assert [getattr(data, field).shape for field in FIELDS] == [(4000, 28), (4000,), (1000, 28), (1000,)]
    assert {getattr(data, field).dtype for field in FIELDS} == {np.dtype(np.float32)}
    assert set(data.y_train.tolist()) == {0.0, 1.0}
    assert 0.5 < data.y_train.mean() < 0.56
    again, other = synthetic(4000, 1000, seed=3), synthetic(4000, 1000, seed=4)
    assert again.x_valid.tobytes() == data.x_valid.tobytes()
    assert other.x_valid.tobytes() != data.x_valid.tobytes()


GOOD = {"rounds": 256, "eta": 0.2, "max_depth": 4, "lambda": 100.0, "colsample_bytree": 0.8}


def test_synthetic_data_can_be_learned_though_not_too_well():
    source = Synthetic()
    data, problem = source.split(), Boosting(source)
    share = data.y_train.mean(dtype=float)
    constant = log_loss(data.y_valid, np.full(len(data.y_valid), share, np.float32))
    assert constant == pytest.approx(np.log(2), abs=0.01)
    assert 0.45 < problem(GOOD) < 0.65 < constant
    assert problem(GOOD | {"rounds": 16, "lambda": 1e7}) == pytest.approx(constant, abs=1e-3)
    assert problem(GOOD | {"eta": 1.0, "max_depth": 8, "lambda": 0.01}) > constant  # learned by heart
    assert problem.true(GOOD) == problem(GOOD)


def test_the_space_is_the_papers():
    dimensions = {name: (d.low, d.high, d.log) for name, d in boosting.SPACE.dimensions.items()}
    assert dimensions == {
        "rounds": (16, 256, False),
        "eta": (0.1, 1.0, False),
        "max_depth": (2, 8, False),
        "lambda": (1e-2, 1e7, True),
        "colsample_bytree": (0.1, 1.0, False),
    }
    assert (boosting.ITERATIONS, boosting.BATCH, boosting.FIXED["max_bin"]) == (20, 20, 64)
    assert Boosting(Synthetic()).minimum == -np.inf


def test_matrices_are_made_once(monkeypatch):
    calls = []
    monkeypatch.setattr(higgs, "synthetic", lambda *args: calls.append(args) or synthetic(*args))
    problem = Boosting(Synthetic(200, 100, seed=7))
    assert problem(GOOD) == problem(GOOD)
    assert len(calls) == 1


def test_log_loss():
    labels = np.array([1, 0, 1, 1], np.float32)
    probability = np.array([0.8, 0.25, 0.5, 0.0], np.float32)
    expected = -np.mean(np.log([0.8, 0.75, 0.5, 1e-7]))
    assert log_loss(labels, probability) == pytest.approx(expected, rel=1e-6)


def test_labels_of_one_kind_cannot_be_learned(folder):
    Path("ones.csv").write_text(re.sub(r"(?m)^[^,]+", "1", text(40)))
    with pytest.raises(BadData, match="all 20 training labels are the same"):
        Boosting(Higgs(Path("ones.csv"), Path("cache"), 20, 10))(GOOD)


@pytest.mark.parametrize("reading", ["paper", "scale-6", "default"])
def test_readings_of_the_prior(reading):
    assert prior_of(reading, boosting.SPACE).length_scale is not None


def test_a_run_has_the_paper_s_records():
    job = Job("xgboost-synthetic", "ats", "lcb", 3, 2, seed=5)
    records = run(job, Settings(), Boosting(Synthetic(300, 200)))
    assert [record["iteration"] for record in records] == [0, 1, 2]
    assert [len(record["values"]) for record in records] == [5, 3, 3]
    assert [len(record["points"]) for record in records] == [5, 3, 3]
    every = [value for record in records for value in record["values"]]
    assert records[-1]["best"] == min(every)
    assert {record["regret"] for record in records} == {None}
    assert all(record["seconds_evaluating"] > 0 and record["distance"] > 0 for record in records)
    names = list(boosting.SPACE.dimensions)
    again = Boosting(Synthetic(300, 200))(dict(zip(names, records[2]["points"][1], strict=True)))
    assert again == pytest.approx(records[2]["values"][1], rel=1e-3)  # points are rounded to nine digits


def runs(path="out/xgboost.jsonl"):
    """All records, without what depends on the clock."""
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    records = [line for line in lines if "header" not in line]
    return [{k: v for k, v in one.items() if not k.startswith("seconds")} for one in records]


def here(work, jobs, processes, done, known):
    """In place of run_all: in this process, which has imported everything."""
    for job in jobs:
        done(job, work(job))


SMALL = ("--train", 600, "--valid", 300, "--iterations", 1, "--batch", 3, "--reps", 1, "--out", "out")


def test_a_synthetic_run_learns_and_goes_on_where_it_was(folder, monkeypatch):
    options = ("--synthetic", *SMALL, "--methods", "sequential,ats", "--sequential-iterations", 1)
    covey(*options)
    first = runs()
    assert {(r["problem"], r["method"], r["M"]) for r in first} == {
        ("xgboost-synthetic", "sequential", 1),
        ("xgboost-synthetic", "ats", 3),
    }
    data = synthetic(600, 300, seed=0)
    constant = log_loss(data.y_valid, np.full(300, data.y_train.mean(), np.float32))
    assert min(r["best"] for r in first) < constant - 0.02
    whole = Path("out/xgboost.jsonl").read_bytes()
    assert "2 runs in out/xgboost.jsonl" in covey(*options)  # nothing left to do
    assert Path("out/xgboost.jsonl").read_bytes() == whole
    cut = whole[: whole.index(b'"ats"') + 100]  # as if interrupted
    Path("out/xgboost.jsonl").write_bytes(cut)
    monkeypatch.setattr(command, "run_all", here)  # the same values in another process
    covey(*options)
    assert runs() == first
    assert "choose another --out" in covey(*options, "--s", 9, code=2)
    assert "choose another --out" in covey(*options, "--train", 601, code=2)


def test_a_run_on_a_file(folder, monkeypatch):
    monkeypatch.setattr(command, "run_all", here)
    covey("--data", file_of(1000), *SMALL, "--methods", "b-lcb", "--cache", "cache")
    assert {(r["problem"], r["method"], r["M"], r["acquisition"]) for r in runs()} == {
        ("xgboost-higgs", "b-lcb", 3, "lcb")
    }
    header = json.loads(Path("out/xgboost.jsonl").read_text().splitlines()[0])["header"]["settings"]
    assert (header["data"], header["train"], header["valid"]) == ("data.csv.gz", 600, 300)
    assert len(list(Path("cache").iterdir())) == 1
    assert not Path("cache-of-the-user").exists()


def test_every_method_of_the_papers_figure_runs(folder, monkeypatch):
    monkeypatch.setattr(command, "run_all", here)
    covey("--synthetic", *SMALL, "--train", 100, "--valid", 50, "--batch", 2, "--sequential-iterations", 1)
    ended = {r["method"]: (r["M"], r["acquisition"]) for r in runs() if r["iteration"] == 1}
    own = {"sequential": (1, "lcb"), "p-ts": (2, "ts")}
    assert ended == {method: own.get(method, (2, "lcb")) for method in boosting.METHODS}


def test_the_command_has_help_with_an_example():
    assert "Example: covey bench xgboost" in covey("--help")
