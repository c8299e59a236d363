"""A table opens in a spreadsheet without computing anything, comes back as it went, and replaces nothing."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from covey import Categorical, Float, Space
from covey.cli import exports
from covey.cli.app import app
from covey.cli.cells import csv_of
from covey.cli.tables import batch_text, check_params, read_results
from covey.cli.terminal import printable
from covey.errors import InputError
from covey.study import Recorded
from covey.trial import State, Trial

SIGNS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
hostile = st.text(st.sampled_from(SIGNS + "'\",; \0a1π\x1b"), max_size=6) | st.text(max_size=6)


def parsed(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@given(st.lists(hostile, min_size=1, max_size=4, unique=True))
@example(["=1", "'=1", "''=1"])
@example(["\r=1", "a\rb"])
def test_no_cell_of_text_is_a_formula_and_no_two_are_alike(texts):
    (_, *rows) = parsed(csv_of(["text"], [[text, -1.5, -2] for text in texts]))
    cells = [row[0] for row in rows]
    assert not any(cell and cell[0] in SIGNS for cell in cells)
    assert len(set(cells)) == len(texts)
    assert all(cell in (text, f"'{text}") for cell, text in zip(cells, texts, strict=True))
    assert all(row[1:] == ["-1.5", "-2"] for row in rows)  # numbers are as they are


accepted = hostile.filter(lambda text: "\0" not in text)
"""What a study.toml may have for a choice."""


@given(
    choices=st.lists(accepted, min_size=1, max_size=3, unique=True),
    name=accepted.map(lambda text: text + "a").filter(lambda text: text == text.strip()),
    x=st.floats(-1.0, 1.0),
)
@example(choices=["=1+1", "-5", "@a"], name="=a", x=-0.5)
def test_what_ask_writes_tell_takes_back(tmp_path_factory, choices, name, x):
    space = Space({name: Categorical(choices), "x (a number)": Float(-1.0, 1.0)})
    batch = [(key, {name: choice, "x (a number)": x}) for key, choice in enumerate(choices)]
    path = tmp_path_factory.mktemp("tables") / "batch.csv"
    path.write_text(batch_text(space, batch), encoding="utf-8", newline="")
    lines = read_results(path, space)
    assert [line.id for line in lines] == [key for key, _ in batch]
    for line, (_, params) in zip(lines, batch, strict=True):
        assert len(line.cells) == 2  # both parameters are compared
        check_params(line, params, space)


def test_another_choice_is_still_refused(tmp_path):
    space = Space({"kind": Categorical(["=1", "=2"])})
    (tmp_path / "batch.csv").write_text("id,kind,value\n1,'=2,0.5\n")
    (line,) = read_results(tmp_path / "batch.csv", space)
    with pytest.raises(InputError, match="trial 1 has kind"):
        check_params(line, {"kind": "=1"}, space)
    check_params(line, {"kind": "=2"}, space)


SPACE = Space({"-x": Float(-1.0, 1.0), "kind": Categorical(["=1", "b"])})
REASON = "=cmd|' /C calc'!A0"
ROWS = [Recorded(Trial(1, {"-x": -0.5, "kind": "=1"}, State.FAILED, reason=REASON))]


def exported(path, overwrite=False):
    exports.export(path, ROWS, SPACE, overwrite=overwrite)
    return path


def test_an_export_is_safe_as_csv_and_exact_elsewhere(tmp_path):
    header, row = parsed(exported(tmp_path / "all.csv").read_text())
    assert dict(zip(header, row, strict=True)) == {
        "id": "1",
        "state": "failed",
        "value": "",
        "'-x": "-0.5",
        "kind": "'=1",
        "finished": "",
        "evaluation_seconds": "",
        "reason": f"'{REASON}",
    }
    (record,) = json.loads(exported(tmp_path / "all.json").read_text())
    assert (record["-x"], record["kind"], record["reason"]) == (-0.5, "=1", REASON)
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.read_parquet(exported(tmp_path / "all.parquet"))
    assert frame["kind"].tolist() == ["=1"]
    assert frame["-x"].tolist() == [-0.5]


@pytest.mark.parametrize("there", ["a file", "a link", "a link to nothing"])
def test_an_export_replaces_nothing_unasked_and_follows_no_link(tmp_path, there):
    path, target = tmp_path / "all.json", tmp_path / "precious"
    if there != "a link to nothing":
        target.write_text("precious")
    if there == "a file":
        path.write_text("old")
    else:
        path.symlink_to(target)
    with pytest.raises(InputError, match=r"all.json exists already; choose another name, or say --overwrite"):
        exported(path)
    assert path.is_symlink() == (there != "a file")
    assert json.loads(exported(path, overwrite=True).read_text())[0]["id"] == 1
    assert not path.is_symlink()
    assert not target.exists() if there == "a link to nothing" else target.read_text() == "precious"
    assert {one.name for one in tmp_path.iterdir()} <= {"all.json", "precious"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_full_disk_leaves_no_half_file_and_the_old_one(tmp_path, overwrite):
    resource = pytest.importorskip("resource")
    path = tmp_path / "all.json"
    if overwrite:
        path.write_text("old")
    before = {one.name: one.read_text() for one in tmp_path.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(InputError, match=r"all.json cannot be written: File too large"):
            exported(path, overwrite=overwrite)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == before


def test_an_export_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "usual").touch()
    modes = [
        stat.S_IMODE(os.stat(path).st_mode) for path in (tmp_path / "usual", exported(tmp_path / "a.csv"))
    ]
    assert modes[0] == modes[1]


@given(st.text() | hostile | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_what_is_printable_obeys_nothing(text):
    shown = printable(text)
    assert not any((ord(sign) < 32 and sign != "\t") or 127 <= ord(sign) < 160 for sign in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text


STUDY = """
name = "a"
objective = ["./program.sh", "{kind}"]
evaluations = 2
[space.kind]
type = "categorical"
choices = ["a\\u001b]0;title\\u0007", "b\\u202eb"]
"""


@pytest.mark.parametrize("failures", [2, 3])
def test_nothing_of_a_program_or_a_study_moves_the_terminal(tmp_path, monkeypatch, failures):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(f"max_failures = {failures}\n{STUDY}")
    Path("program.sh").write_text("#!/bin/sh\nprintf 'bad \\033[2J\\302\\233 \\007 end' >&2\nexit 1\n")
    Path("program.sh").chmod(0o755)
    said = ""
    for arguments in (["run"], ["show"], ["show", "--last"], ["tell", "no\x1b.csv"]):
        said += CliRunner().invoke(app, [arguments[0], "study.toml", *arguments[1:]]).output
    assert ("2 evaluations failed (max_failures)" in said) == (failures == 2)
    assert said.count(r"bad \x1b[2J\x9b \x07 end") >= 4
    assert r"b\u202eb" in said
    assert r"no\x1b.csv" in said
    assert all(printable(line) == line for line in said.split("\n"))


def test_a_table_on_a_terminal_is_shown_and_not_obeyed(tmp_path):
    pty = pytest.importorskip("pty")
    (tmp_path / "study.toml").write_text(STUDY)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "covey.cli.app", "ask", "study.toml", "-n", "2"]
    subprocess.run(command, cwd=tmp_path, stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert r"a\x1b]0;title\x07" in shown
    assert "\x1b" not in shown
