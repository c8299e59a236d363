"""The commands do what they say; wrong input is one line, exit code 2, and changes nothing."""

import csv
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from typer.testing import CliRunner

from covey.cli import run as run_module
from covey.cli.app import app
from covey.run.result import Result
from covey.study import study as study_module

EXAMPLES = Path(__file__).parent.parent / "examples"

SPACE = """
[space.x]
type = "float"
low = 0.0
high = 1.0

[space.kind]
type = "categorical"
choices = ["a", "b"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(text="", space=SPACE):
    Path("study.toml").write_text(f'name = "demo"\nn_initial = 50\ninitial = "random"\n{text}\n{space}')


def script(body, name="program.sh"):
    Path(name).write_text(f"#!/bin/sh\n{body}\n")
    Path(name).chmod(0o755)


def covey(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, (result.output, result.exception)
    if code == 2:
        assert re.fullmatch(r"covey: [^\n]+\n", result.stderr), result.stderr
    return result.stderr if code else result.stdout


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def trials():
    return json.loads(
        covey("export", "study.toml", "-o", "all.json", "--overwrite") and Path("all.json").read_text()
    )


def fill_in(source, values, target="results.csv"):
    rows = table(source)
    with open(target, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "value"])
        writer.writerows([row["id"], value] for row, value in zip(rows, values, strict=False))


def test_the_lab_loop_from_an_empty_folder_in_three_commands(folder):
    covey("init")
    covey("ask", "study.toml", "-n", 8, "-o", "batch.csv")
    rows = table("batch.csv")
    assert list(rows[0]) == ["id", "rate", "depth", "kind", "value"]
    assert len({row["id"] for row in rows}) == 8
    fill_in("batch.csv", [0.5, 0.25, "", "FAILED", "nan", "-inf", "1e-3", 7])
    said = covey("tell", "study.toml", "results.csv")
    assert "4 values and 4 failures recorded, 0 known before" in said
    assert "best 0.001" in said
    best = min((t for t in trials() if t["value"] is not None), key=lambda t: t["value"])
    assert str(best["id"]) == rows[6]["id"]
    assert best["rate"] == float(rows[6]["rate"])  # to the last digit


def test_asking_again_goes_on_with_the_same_design_and_the_model(folder):
    study()
    once = [row["x"] for row in csv.DictReader(covey("ask", "study.toml", "-n", 4).splitlines())]
    Path("study.db").unlink()
    parts = []
    for _ in range(2):
        parts += [row["x"] for row in csv.DictReader(covey("ask", "study.toml", "-n", 2).splitlines())]
    assert once[:2] == parts[:2]
    assert len(set(parts)) == 4
    Path("study.toml").write_text(Path("study.toml").read_text().replace("n_initial = 50", "n_initial = 4"))
    Path("results.csv").write_text(
        "id,value\n" + "".join(f"{k},{float(x)}\n" for k, x in enumerate(parts, 1))
    )
    covey("tell", "study.toml", "results.csv")
    (chosen,) = csv.DictReader(covey("ask", "study.toml", "-n", 1).splitlines())
    assert chosen["x"] not in parts
    origins = [
        t.user_attrs["covey:origin"]["strategy"]
        for t in optuna.load_study(study_name="demo", storage="sqlite:///study.db").trials
    ]
    assert origins == ["initial"] * 4 + ["auto"]


def test_telling_in_parts_in_any_order_and_twice(folder):
    study()
    covey("ask", "study.toml", "-n", 3, "-o", "batch.csv")
    a, b, c = (row["id"] for row in table("batch.csv"))
    Path("part.csv").write_text(f"\ufeffvalue,note,id\n 0.5 ,late,{c}\n,,\n")
    assert "1 values" in covey("tell", "study.toml", "part.csv")
    Path("rest.csv").write_text(f"id,value\n{a},1\n{c},0.50\n{b},failed\n{a},1.0\n")
    assert "1 values and 1 failures recorded, 2 known before" in covey("tell", "study.toml", "rest.csv")
    before = trials()
    assert "0 values and 0 failures recorded, 4 known before" in covey("tell", "study.toml", "rest.csv")
    assert trials() == before
    assert [t["value"] for t in before] == [1.0, None, 0.5]


def test_blanks_can_wait(folder):
    study()
    covey("ask", "study.toml", "-n", 2, "-o", "batch.csv")
    assert "2 left blank" in covey("tell", "study.toml", "batch.csv", "--skip-blank")
    assert {t["state"] for t in trials()} == {"running"}


def test_parameters_that_a_spreadsheet_rounded_still_match(folder):
    study()
    covey("ask", "study.toml", "-n", 2, "-o", "batch.csv")
    rows = table("batch.csv")
    lines = [f"{r['id']},{float(r['x']):.8g},{r['kind']},1.5" for r in rows]
    Path("results.csv").write_text("\n".join(["id,x,kind,value", *lines]))
    assert "2 values" in covey("tell", "study.toml", "results.csv")


BAD_TABLES = {
    "empty": ("", "is empty"),
    "no id": ("number,value\n1,2\n", "column 'id' is missing"),
    "no value": ("id,valeu\n1,2\n", "column 'value' is missing, is it 'valeu'?"),
    "a column twice": ("id,value,value\n1,2,3\n", "'value' is there twice"),
    "semicolons": ("id;value\n1;2\n", "separated by commas"),
    "a cell too many": ("id,value\n1,0,5\n", "line 2: 3 cells under 2 columns"),
    "a cell too few": ("id,value\n1\n", "line 2: 1 cells under 2 columns"),
    "an id in words": ("id,value\nfirst,2\n", "line 2: id must be a whole number"),
    "no id in a line": ("id,value\n1,2\n,3\n", "line 3: id must be a whole number"),
    "an unknown trial": ("id,value\n1,2\n77,2\n", "line 3: trial 77 is not in study 'demo'"),
    "a value in words": (
        "id,value\n1,good\n",
        "line 2: value must be a number, blank or 'failed', got 'good'",
    ),
    "a decimal comma": ('id,value\n1,"0,5"\n', "got '0,5'"),
    "underscores": ("id,value\n1,1_000\n", "got '1_000'"),
    "two values for one": ("id,value\n1,2\n1,3\n", "line 3: trial 1 is 2.0 already, the table says 3.0"),
    "another value": ("id,value\n1,2\n3,9\n", "line 3: trial 3 is 0.5 already, the table says 9.0"),
    "a failure after all": ("id,value\n1,2\n3,\n", "trial 3 is 0.5 already, the table says failed"),
    "a value after all": ("id,value\n1,2\n4,1\n", "trial 4 is failed already, the table says 1.0"),
    "another's parameters": ("id,x,value\n1,7.5,2\n", "line 2: trial 1 has x = "),
    "another's choice": ("id,kind,value\n1,c,2\n", "the table says 'c'"),
    "parameters in words": ("id,x,value\n1,high,2\n", "the table says 'high'"),
    "a quote without its end": ('id,value\n1,"2\n', "not CSV"),
    "not text": (b"id,value\n1,\xff\n", "not UTF-8"),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A study of four trials: two running, one with a value, one failed."""
    path = tmp_path_factory.mktemp("told")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        study()
        covey("ask", "study.toml", "-n", 4, "-o", "batch.csv")
        Path("first.csv").write_text("id,value\n3,0.5\n4,failed\n")
        covey("tell", "study.toml", "first.csv")
    return path


@pytest.mark.parametrize("kind", BAD_TABLES)
def test_a_bad_table_is_one_line_and_changes_nothing(told, monkeypatch, kind):
    monkeypatch.chdir(told)
    text, part = BAD_TABLES[kind]
    Path("bad.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    before = Path("study.db").read_bytes()
    assert part in covey("tell", "study.toml", "bad.csv", code=2)
    assert Path("study.db").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("low = 0.0", "low = 0.5", "another space: 'x' is"),
        ('type = "float"', 'type = "real"', "line 7: space.x: type must be one of"),
        ("n_initial = 50", "n_inital = 50", "line 2: unknown key 'n_inital', did you mean 'n_initial'?"),
        ('"demo"', '"demo', "line 1: not TOML"),
        ("n_initial = 50", 'storage = "sqlite:///none/study.db"', "cannot be used"),
        ("n_initial = 50", 'storage = "sqlite:///batch.csv"', "cannot be used: file is not a database"),
    ],
)
@pytest.mark.parametrize("command", ["run", "ask"])
def test_a_bad_study_is_one_line_and_changes_nothing(told, monkeypatch, command, old, new, part):
    monkeypatch.chdir(told)
    good = Path("study.toml").read_text()
    runnable = '\nobjective = ["echo", "{x}", "{kind}"]\niterations = 1\n\n[space.x]'
    Path("bad.toml").write_text(good.replace(old, new).replace("\n\n[space.x]", runnable, command == "run"))
    part = part.replace("line 7", "line 9") if command == "run" else part
    before = Path("study.db").read_bytes()
    assert part in covey(command, "bad.toml", code=2)
    assert Path("study.db").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["ask", "none.toml"], "none.toml does not exist"),
        (["ask", "study.toml", "-n", "0"], "-n"),
        (["ask", "study.toml", "-n", "many"], "-n"),
        (["ask", "study.toml", "-o", "batch.csv"], "batch.csv exists already"),
        (["ask", "study.toml", "-o", "none/batch.csv"], "cannot be written"),
        (["tell", "study.toml"], "Missing argument"),
        (["tell", "study.toml", "none.csv"], "none.csv does not exist"),
        (["run", "study.toml"], "objective is missing"),
        (["export", "study.toml", "-o", "trials.xlsx"], ".csv, .json, .parquet"),
        (["export", "study.toml", "-o", "none/trials.csv"], "cannot be written"),
        (["init", "study.toml"], "study.toml exists already"),
        (["fly"], "No such command"),
        (["show", "study.toml", "--colour"], "No such option"),
        ([], "Missing command"),
    ],
)
def test_a_bad_command_is_one_line_and_changes_nothing(told, monkeypatch, arguments, part):
    monkeypatch.chdir(told)
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert part in covey(*arguments, code=2)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("command", [["show"], ["export"], ["tell", "results.csv"]])
def test_a_study_that_is_not_there_is_not_made(folder, command):
    study()
    Path("results.csv").write_text("id,value\n1,2\n")
    assert "covey ask or covey run creates it" in covey(command[0], "study.toml", *command[1:], code=2)
    assert not Path("study.db").exists()
    covey("ask", "study.toml", "-n", 1)
    Path("study.toml").write_text(Path("study.toml").read_text().replace("demo", "other"))
    assert "'other' is not in" in covey(command[0], "study.toml", *command[1:], code=2)
    assert optuna.get_all_study_names("sqlite:///study.db") == ["demo"]


def test_a_space_that_is_used_up(folder):
    study(space='[space.kind]\ntype = "categorical"\nchoices = ["a", "b"]\n')
    assert len(covey("ask", "study.toml", "-n", 5).splitlines()) == 3
    assert "all 2 configurations" in covey("ask", "study.toml", "-o", "b.csv", code=1)
    assert not Path("b.csv").exists()


def test_show_and_export(told, monkeypatch):
    monkeypatch.chdir(told)
    said = covey("show", "study.toml")
    assert "2 running, 1 complete, 1 failed" in said
    assert "best 0.5 (trial 3)" in said
    assert "running: trials 1, 2" in said
    assert "trial 4: reported as failed" in said
    assert len(re.findall(r"\d  +(?:running|complete|failed) ", covey("show", "study.toml", "--last"))) == 4
    covey("export", "study.toml", "-o", "trials.csv")
    rows = table("trials.csv")
    assert list(rows[0]) == ["id", "state", "value", "x", "kind", "finished", "evaluation_seconds", "reason"]
    assert covey("export", "study.toml") == Path("trials.csv").read_text()
    assert [row["state"] for row in rows] == ["running", "running", "complete", "failed"]
    assert [t["id"] for t in trials()] == [1, 2, 3, 4]


def test_parquet(told, monkeypatch):
    monkeypatch.chdir(told)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        assert "pip install pandas pyarrow" in covey("export", "study.toml", "-o", "trials.parquet", code=2)
        return
    import pandas as pd

    covey("export", "study.toml", "-o", "trials.parquet")
    assert pd.read_parquet("trials.parquet")["id"].tolist() == [1, 2, 3, 4]


RUN = 'objective = ["./program.sh", "{x}", "{kind}"]\nbatch_size = 2\niterations = 3\n'


def test_run_tunes_a_program_and_resumes(folder):
    study(RUN)
    script('test "$2" = a && echo "oh no" >&2 && exit 3\necho "loss $1"')
    said = covey("run", "study.toml")
    states = [t["state"] for t in trials()]
    assert len(states) == 6
    assert {t["reason"] for t in trials() if t["kind"] == "a"} == {"exit code 3: oh no"}
    assert all(t["value"] == t["x"] for t in trials() if t["kind"] == "b")
    assert f"0 running, {states.count('complete')} complete, {states.count('failed')} failed" in said
    assert "covey run study.toml" in said
    before = trials()
    covey("run", "study.toml", "--quiet")  # nothing left to do
    assert trials() == before
    Path("study.toml").write_text(Path("study.toml").read_text().replace("iterations = 3", "iterations = 4"))
    covey("ask", "study.toml", "-n", 1)  # a trial in flight is part of the run
    covey("run", "study.toml", "-q")
    assert trials()[:6] == before
    assert len(trials()) == 8
    assert "running" not in {t["state"] for t in trials()}


def test_arguments_are_no_shell(folder):
    study('objective = ["./program.sh", "{x}", "{kind}", "$(touch hacked); {{a}} *"]\nevaluations = 1\n')
    script("test \"$3\" = '$(touch hacked); {a} *' || exit 1\necho 1")
    covey("run", "study.toml")
    assert not Path("hacked").exists()


def test_values_from_json_files(folder):
    study(
        'objective = ["./program.sh", "{x}", "{kind}", "{id}"]\nbatch_size = 2\niterations = 2\n'
        'value = {json = "out-{id}.json", key = "loss"}\n'
    )
    script('echo 99; test "$3" = 3 || echo "{\\"loss\\": $1}" > out-$3.json')
    Path("out-3.json").write_text('{"loss": 0.1}')  # of an earlier run
    covey("run", "study.toml")
    assert [t["value"] for t in trials()] == [None if t["id"] == 3 else t["x"] for t in trials()]
    assert trials()[2]["reason"].startswith("the program wrote no new out-3.json")
    assert json.loads(Path("out-3.json").read_text()) == {"loss": 0.1}  # which covey did not make


def test_the_id_is_the_trials_own_however_alike_parameters_are(folder):
    """Two trials at the same parameters, of which a search by parameters would find the first twice."""
    study('objective = ["./program.sh", "{x}", "{kind}", "{id}"]\nbatch_size = 2\niterations = 1\n')
    covey("ask", "study.toml", "-n", 1)
    stored = optuna.load_study(study_name="demo", storage="sqlite:///study.db")
    (first,) = stored.trials
    twin = optuna.trial.create_trial(
        state=first.state, params=first.params, distributions=first.distributions
    )
    stored.add_trial(twin)
    script('echo "$3"')
    covey("run", "study.toml")
    assert [(t["id"], t["value"]) for t in trials()] == [(1, 1.0), (2, 2.0)]


def test_a_run_opens_its_study_once_and_leaves_logging_as_it_was(folder, monkeypatch):
    opened, logger = [], logging.getLogger("covey.minimize")
    monkeypatch.setattr(
        study_module,
        "open_storage",
        lambda url, own=study_module.open_storage: opened.append(url) or own(url),
    )
    monkeypatch.setattr(logger, "level", logging.INFO)
    study(RUN)
    script('echo "$1"')
    covey("run", "study.toml")
    assert len(opened) == 1
    assert logger.level == logging.INFO


def test_a_database_that_is_gone_at_the_end_of_a_run_is_one_line(folder, monkeypatch):
    def tune(config, record, *, quiet):
        Path("study.db").write_text("gone")
        return Result([], "done", 0.0, 0.0)

    monkeypatch.setattr(run_module, "tune", tune)
    study(RUN)
    script('echo "$1"')
    assert "cannot be used" in covey("run", "study.toml", code=1)


def test_a_program_that_takes_too_long_is_killed_with_its_children(folder):
    study('objective = ["./program.sh", "{x}", "{kind}"]\nevaluations = 2\ntimeout = 0.5\n')
    script("sleep 60 &\necho $! > child\nwait")
    began = time.monotonic()
    assert "no evaluation succeeded" in covey("run", "study.toml", code=1)
    assert time.monotonic() - began < 20
    assert trials()[0]["reason"] == "timed out after 0.5 seconds and was killed"
    assert not alive(int(Path("child").read_text()))


def alive(pid):
    """Whether a process runs; one that is dead and not yet reaped by init does not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_too_many_failures(folder):
    study(RUN + "max_failures = 2\n")
    script("echo first >&2; echo second >&2; kill -9 $$")
    said = covey("run", "study.toml", code=1)
    assert re.fullmatch(r"covey: 2 evaluations failed .*: killed by SIGKILL: second\n", said)


@pytest.mark.parametrize(
    ("program", "part"),
    [
        ("no-such-program-1", "is not on the PATH"),
        ("./none.sh", "is not there"),
        ("./study.toml", "not executable"),
    ],
)
def test_a_program_that_is_not_there(folder, program, part):
    study(RUN.replace("./program.sh", program))
    assert part in covey("run", "study.toml", code=2)
    assert not Path("study.db").exists()


def start(*arguments):
    command = [sys.executable, "-m", "covey.cli.app", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on_and_goes_on(folder, number):
    study(RUN)
    script('echo $$ >> pids; test -e go || test $(wc -l < pids) -lt 3 || sleep 60; echo "$1"')
    process = start("run", "study.toml")
    try:
        deadline = time.monotonic() + 60
        while not (Path("pids").exists() and len(Path("pids").read_text().split()) == 4):
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "covey: interrupted; all finished values are kept, go on with: covey run study.toml\n"
    assert "2 running, 2 complete, 0 failed" in out
    assert not any(alive(int(pid)) for pid in Path("pids").read_text().split())
    before = trials()
    Path("go").touch()
    covey("run", "study.toml")
    assert trials()[:2] == before[:2]
    assert [t["value"] == t["x"] for t in trials()] == [True] * 6
    assert len(Path("pids").read_text().split()) == 8  # the two in flight ran again, the others did not


def test_errors_of_the_real_command_have_no_traceback(folder):
    process = start("run", "none.toml")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert re.fullmatch(r"covey: none.toml does not exist; [^\n]+\n", err)


def test_a_password_is_not_shown(folder):
    study('storage = "postgresql://me:secret@localhost:1/none"\n')
    said = covey("ask", "study.toml", code=2)
    assert "me:***@localhost" in said
    assert "secret" not in said


def test_a_password_is_not_shown_by_runs_that_succeed(folder, postgres):
    address = f"{postgres}?password="
    study(f'storage = "{address}secret"\n{RUN}')
    script('echo "$1"')
    said = covey("run", "study.toml") + covey("show", "study.toml") + covey("ask", "study.toml")
    assert f"study 'demo' is kept in {address}***" in said
    assert "secret" not in said
    Path("study.toml").write_text(Path("study.toml").read_text().replace("demo", "other"))
    assert "secret" not in covey("show", "study.toml", code=2)


@pytest.mark.parametrize("address", ["mysql://me:secret@host/db", "postgresql:/me:secret@host", "a:secret@b"])
def test_an_address_that_is_refused_is_shown_without_its_password(folder, address):
    study(f'storage = "{address}"\n')
    said = covey("ask", "study.toml", code=2)
    assert "storage must be a SQLite file or a PostgreSQL database" in said
    assert "secret" not in said


@pytest.mark.parametrize("command", ["run", "ask", "tell", "show", "export", "init"])
def test_every_command_has_help_with_an_example(command):
    assert f"Example: covey {command}" in covey(command, "--help")
    assert command in covey("--help")


def test_the_shell_example(tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES / "shell", tmp_path / "shell")
    monkeypatch.chdir(tmp_path)  # programs run in the folder of their study.toml, wherever covey is called
    said = covey("run", "shell/study.toml")
    assert "24 evaluations are finished" in said
    assert float(re.search(r"^best (\S+)", said, re.M).group(1)) < 1.0
    assert os.listdir() == ["shell"]


def test_the_lab_example(tmp_path, monkeypatch):
    for name in ("study.toml", "README.md"):
        shutil.copy(EXAMPLES / "lab" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^covey (.*?)\s+#", Path("README.md").read_text(), re.M)
    assert [command.split()[0] for command in commands] == ["ask", "tell", "show"]
    covey(*commands[0].split())
    fill_in("batch-1.csv", [3, 1, 2, "", "failed", 5], "batch-1.csv")
    covey(*commands[1].split())
    assert "best 1.0" in covey(*commands[2].split())
    assert len(covey("ask", "study.toml").splitlines()) == 7


def test_import_covey_leaves_the_command_line_out():
    program = "import sys, covey; print('covey.cli' in sys.modules, 'typer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_slip_in_the_name_of_a_study_is_noticed(folder):
    study()
    covey("ask", "study.toml", "-n", "1", "-o", "first.csv")
    name = re.search(r'name = "(\w+)"', Path("study.toml").read_text()).group(1)
    slip = name[:-2] + name[-1]
    Path("study.toml").write_text(Path("study.toml").read_text().replace(f'"{name}"', f'"{slip}"', 1))
    assert f"there is {name!r}" in covey("show", "study.toml", code=2)
    process = start("ask", "study.toml", "-n", "1", "-o", "second.csv")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"study {slip!r} begins; there is {name!r} already" in err
