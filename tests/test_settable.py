"""Steps and levels at the command line: tables and programs have what can be set."""

import csv
import io
import sys
from ast import literal_eval

import pytest
from typer.testing import CliRunner

from covey.cli.app import app

STUDY = """\
name = "oven"
objective = ["{python}", "-c", "import sys; print(sys.argv[1:], file=open('seen.txt', 'a')); print(1.0)", "{{t}}", "{{n}}", "{{d}}"]
evaluations = 9
n_initial = 4

[space.t]
type = "float"
low = 33.0
high = 34.0
step = 0.1

[space.n]
type = "int"
low = 0
high = 100
step = 5

[space.d]
type = "ordinal"
levels = [1, 2.5, 10]
log = true
"""  # noqa: E501  (a program on one line)
TENTHS = {f"{33 + k / 10:.1f}" for k in range(11)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "study.toml").write_text(STUDY.format(python=sys.executable))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_tables_show_what_can_be_set():
    done = CliRunner().invoke(app, ["ask", "study.toml", "-n", "6"])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 6
    assert {row["t"] for row in rows} <= TENTHS
    assert {row["n"] for row in rows} <= {str(n) for n in range(0, 101, 5)}
    assert {row["d"] for row in rows} <= {"1", "2.5", "10"}


def test_programs_are_given_what_can_be_set(folder):
    done = CliRunner().invoke(app, ["run", "study.toml"])
    assert done.exit_code == 0, done.output
    seen = [literal_eval(line) for line in (folder / "seen.txt").read_text().splitlines()]
    assert len(seen) == 9
    assert {t for t, _, _ in seen} <= TENTHS
    assert {d for _, _, d in seen} <= {"1", "2.5", "10"}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("step = 0.1", "step = 2", 10, "space.t: Float: step must be a number above 0 and at most 1,"),
        ("step = 0.1", "step = 0.1\nlog = true", 10, "step does not go with log=true"),
        ("step = 0.1", "step = 1e-18", 10, r"2**53"),
        ("step = 5", "step = 2.5", 16, "step must be a whole number from 1, got 2.5"),
        ("levels = [1, 2.5, 10]", "levels = [1, 10, 2.5]", 20, "levels must rise, got [1, 10, 2.5]"),
        ("levels = [1, 2.5, 10]", 'levels = ["1", 2]', 20, "levels must be finite numbers"),
        ("levels = [1, 2.5, 10]", "levels = 3", 20, "levels must be a list of numbers, got 3"),
        ("levels = [1, 2.5, 10]", "levels = [0, 1]", 20, "log=true needs levels above 0"),
        ("levels = [1, 2.5, 10]", "", 18, "levels is missing; ordinal needs levels"),
        ("log = true", "step = 1", 21, "unknown key 'step'"),
    ],
)
def test_what_is_wrong_in_a_study_file_is_one_line_with_its_number(folder, old, new, line, says):
    text = (folder / "study.toml").read_text()
    assert old in text
    (folder / "study.toml").write_text(text.replace(old, new))
    done = CliRunner().invoke(app, ["ask", "study.toml"])
    assert done.exit_code == 2
    assert says in done.stderr
    assert f"line {line}:" in done.stderr
    assert not (folder / "study.db").exists()
