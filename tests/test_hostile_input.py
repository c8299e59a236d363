"""Malformed input is one line and exit code 2: no traceback, no hang, and nothing is changed."""

import io
import math
import os
import re
import stat
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.main import get_command

from covey import Categorical, Float, Int, Space
from covey.cli import show
from covey.cli.app import app
from covey.cli.config.document import line_of
from covey.cli.files import SIZES
from covey.cli.tables import read_results
from covey.errors import InputError, shown

GOOD = {
    "name": '"demo"',
    "objective": '["echo", "{x}", "{n}", "{kind}"]',
    "batch_size": "3",
    "iterations": "2",
    "initial": '"random"',
    "space.x": '{type = "float", low = 0.1, high = 1.0, log = true}',
    "space.n": '{type = "int", low = 1, high = 9}',
    "space.kind": '{type = "categorical", choices = ["a", "b"]}',
}
KEYS = [
    *GOOD,
    *("value", "storage", "timeout", "evaluations", "seconds", "target", "asynchronous", "max_failures"),
    *("strategy", "acquisition", "noise", "prior", "n_initial", "seed", "space", "bogus", '""', '"\\u0000"'),
    *("space.y.type", "space.y.low", "space.id", 'space." y"', 'space."\\u001b"', f"space.{'y' * 600}"),
]
VALUES = [
    *(
        "9" * 5000,
        f"1{'0' * 400}",
        f"0x{'f' * 6000}",
        "1e400",
        "nan",
        "-inf",
        "true",
        "[]",
        "{}",
        "[[]]",
        "0",
        "-1",
    ),
    *(
        "0.5",
        "1e308",
        "1e10",
        str(2**63),
        str(10**12),
        "1979-05-27",
        "07:32:00",
        "1979-05-27T07:32:00Z",
        '""',
    ),
    *('" "', '"\\u0000"', '"\\u001b[31m"', '"\\ud800"', f'"{"x" * 5000}"', '"π"', '"{"', '"{nope}"', "[nan]"),
    *(
        "[" * 3000 + "]" * 3000,
        "[" * 300 + "]" * 300,
        "{a=" * 3000 + "1" + "}" * 3000,
        "[1, 1.0]",
        '["a\\u0000"]',
    ),
    *('"stdout"', "{json = 1, key = 2}", f"[{','.join(map(str, range(3000)))}]", f"[1{'0' * 400}]"),
    *('"postgresql://h:notaport/d"', '"postgresql://[::1/d"', '"postgresql://h:99999/d"', '"sqlite:///"'),
    *('"sqlite:///:memory:"', f'"sqlite:///{"a" * 300}"', '"sqlite:///a\\u0000b"', '"mysql://h/d"'),
    *(
        "{type = []}",
        "{type = {}}",
        '{type = "float", low = {}, high = []}',
        '{type = "int", low = 0, high = 1e300}',
    ),
    '{type = "categorical", choices = [0x' + "f" * 6000 + "]}",
]
HARD = st.sampled_from(
    [
        "\0",
        "\r",
        "\ufeff",
        '"',
        "'",
        "[",
        "]",
        "{",
        "}",
        "\x1b[2J",
        "=",
        ".",
        "\u2028",
        '"""',
        "#",
        "\\",
        "\ud7ff",
    ]
)
QUICK = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


GROUP = get_command(app)


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def covey(*arguments, charset="utf-8"):
    """Run a command on a terminal of some charset, and hold it to what every command promises."""
    out, err = (io.TextIOWrapper(io.BytesIO(), charset) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        GROUP.main([str(one) for one in arguments], "covey")
    out.flush()
    err.flush()
    done = Done(
        ended.value.code, out.buffer.getvalue().decode("utf-8"), err.buffer.getvalue().decode(charset)
    )
    if done.code == 2:
        assert re.fullmatch(r"covey: [^\n]+\n", done.err), done.err
        assert done.err[:-1].isprintable()
        assert len(done.err) <= 1100
    return done


def refused(*arguments):
    done = covey(*arguments)
    assert done.code == 2, (done.out, done.err)
    return done.err


def toml(entries):
    return "".join(f"{key} = {value}\n" for key, value in entries.items())


def edited(text):
    """Texts a few edits away: something put in, a piece taken out, or the end cut off."""
    place = st.integers(0, len(text))
    put = st.builds(lambda i, what: text[:i] + what + text[i:], place, HARD | st.text(max_size=5))
    take = st.builds(lambda i, size: text[:i] + text[i + size :], place, st.integers(1, 40))
    return put | take | place.map(lambda i: text[:i])


def encoded(texts):
    """Texts as bytes, in an encoding that may be another."""
    encodings = st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32-le"])
    return st.builds(lambda text, how: text.encode(how, "replace"), texts, encodings)


STUDIES = encoded(
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), min_size=1, max_size=3).map(
        lambda other: toml(GOOD | other)
    )
    | edited(toml(GOOD))
)


@given(content=STUDIES | st.binary(max_size=200))
@QUICK
def test_no_study_file_ends_in_a_traceback_or_makes_anything(folder, content):
    Path("bad.toml").write_bytes(content)
    assert covey("show", "bad.toml").code == 2  # if not for the file, there is no such study yet
    assert [path.name for path in folder.iterdir()] == ["bad.toml"]


# What a study.toml says beside GOOD, and a part of the one line about it.
STUDY = {
    "an integer of 5,000 digits": ({"seed": "9" * 5000}, "too many digits"),
    "an integer of 6,000 hexadecimal digits": ({"seed": f"0x{'f' * 6000}"}, "int that cannot be shown"),
    "lists in lists": ({"noise": "[" * 9000 + "]" * 9000}, "nested too deeply"),
    "tables in tables": ({"noise": "{a=" * 9000 + "1" + "}" * 9000}, "nested too deeply"),
    "a key of thousands of parts": ({".".join("a" * 9000): "1"}, "too many parts"),
    "a type that is a list": (
        {"space.y": "{type = []}"},
        "must be one of float, int, ordinal, categorical; got []",
    ),
    "a type that is a table": (
        {"space.y": "{type = {}}"},
        "must be one of float, int, ordinal, categorical; got {}",
    ),
    "seconds beyond float64": ({"seconds": f"1{'0' * 400}"}, "a positive number of seconds up to 315360000"),
    "a timeout that no wait can take": ({"timeout": "1e308"}, "a positive number of seconds up to 1728000"),
    "a target beyond float64": ({"target": f"1{'0' * 400}"}, "finite number"),
    "noise beyond float64": ({"noise": f"1{'0' * 400}"}, "standard deviation"),
    "a choice beyond float64": (
        {"space.kind": f'{{type = "categorical", choices = [1{"0" * 400}]}}'},
        "no infinity",
    ),
    "whole numbers past float64's": ({"space.n": f'{{type = "int", low = 1, high = {2**53 + 1}}}'}, "2**53"),
    "a name with a NUL": ({"name": '"a\\u0000b"'}, "printable characters"),
    "a long name": ({"name": f'"{"a" * 100_000}"'}, "up to 512 printable characters, got 'aaa"),
    "a parameter with a space around it": ({'space." x"': GOOD["space.x"]}, "begins or ends with a space"),
    "a parameter with an escape": ({'space."\\u001b[2J"': GOOD["space.x"]}, "cannot be shown"),
    "a port that is none": ({"storage": '"postgresql://h:notaport/d"'}, "a host and a port"),
    "a bracket in an address": ({"storage": '"postgresql://[::1/d"'}, "a host and a port"),
    "a port too far": ({"storage": '"postgresql://h:99999/d"'}, "a host and a port"),
    "a file's name too long": ({"storage": f'"sqlite:///{"a" * 300}"'}, "storage cannot be used"),
    "a program with a NUL": ({"objective": '["a\\u0000", "{x}", "{n}", "{kind}"]'}, "list of strings"),
    "thousands at once": ({"batch_size": "1000000000"}, "whole number from 1 to 1000"),
    "thousands of choices": (
        {"space.kind": f'{{type = "categorical", choices = [{",".join(map(str, range(3000)))}]}}'},
        "1000 are accepted",
    ),
    "thousands of parameters": ({f"space.p{k}": GOOD["space.x"] for k in range(3000)}, "500 are accepted"),
}


@pytest.mark.parametrize("kind", STUDY)
def test_a_hostile_study_is_one_line_that_says_what_is_accepted(folder, kind):
    other, part = STUDY[kind]
    Path("bad.toml").write_text(toml(GOOD | other), encoding="utf-8")
    assert part in refused("ask", "bad.toml")
    assert [path.name for path in folder.iterdir()] == ["bad.toml"]


def test_dots_in_a_long_string_do_not_keep_the_search_for_a_line_busy():
    assert line_of("a = 1\nb = '''\n" + ". " * 5000 + "\n" + "c . " * 5000 + "\n'''\nd = 2", ("d",)) == 6


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "long", "NUL", "absent", "UTF-16"])
@pytest.mark.parametrize("command", [("show",), ("tell", "study.toml")])
def test_what_is_no_file_of_text_is_refused_and_awaited_by_nobody(folder, command, kind):
    Path("study.toml").write_text(toml(GOOD), encoding="utf-8")
    path = Path("/dev/zero" if kind == "device" else "it")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "long":
        path.write_bytes(b"#" * (max(SIZES.study, SIZES.table) + 1))
    elif kind == "NUL":
        path.write_bytes(b"id,value\n\0")
    elif kind == "UTF-16":
        path.write_bytes("id,value\n".encode("utf-16"))
    words = {
        "absent": "does not exist",
        "long": "too long",
        "NUL": "line 2: not UTF-8",
        "UTF-16": "not UTF-8",
    }
    assert words.get(kind, "cannot be read") in refused(*command, path)


SPACE = Space({"x": Float(0.1, 1.0), "n": Int(1, 9), "kind": Categorical(["a", "b"])})
CELLS = [
    *(
        "9" * 5000,
        str(2**63),
        "-1",
        "1",
        "2",
        "1.0",
        "",
        '"',
        "\0",
        "x" * 200_000,
        "1e400",
        "0x10",
        "1_000",
        "٣",
    ),
    *(
        "1,5",
        '"1,5"',
        "nan",
        "inf",
        "failed",
        " 1 ",
        "+1",
        "1e",
        "1" * 5000,
        "\x1b",
        "\u2028",
        '"1\n2"',
        "id",
    ),
]
TABLES = encoded(
    st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), max_size=3).map(
        lambda rows: "id,value\n" + "\r\n".join(",".join(row) for row in rows)
    )
    | edited("id,x,n,kind,value\n1,0.5,3,a,0.5\n2,0.6,4,b,\n")
    | st.text(max_size=50)
)


@given(content=TABLES | st.binary(max_size=100))
@QUICK
def test_a_table_is_read_or_refused_in_one_line(folder, content):
    Path("bad.csv").write_bytes(content)
    try:
        lines = read_results(Path("bad.csv"), SPACE)
    except InputError:
        lines = []
    assert all(0 <= line.id < 10**18 for line in lines)
    assert all(math.isfinite(line.result) for line in lines if isinstance(line.result, float))


TABLE = {
    "an id of 5,000 digits": (f"id,value\n{'9' * 5000},1\n", "id must be a whole number that covey ask gave"),
    "an id beyond a database's": (f"id,value\n{2**64},1\n", "id must be a whole number"),
    "an id that no study has": (f"id,value\n{10**17},1\n", "is not in study"),
    "a negative id": ("id,value\n-1,1\n", "id must be a whole number"),
    "a quote without its end": ('id,value\n1,"2\n', "not CSV"),
    "a cell of 200,000 characters": (f"id,value\n1,{'x' * 200_000}\n", "not CSV"),
    "a number beyond float64": ("id,value\n1,1e400\n", "up to 1.7e308"),
    "a hexadecimal number": ("id,value\n1,0x10\n", "value must be a number"),
    "digits of another script": ("id,value\n1,٣\n", "value must be a number"),
    "a comma for a point": ('id,value\n1,"1,5"\n', "value must be a number"),
    "more lines than any study": ("id,value\n" + "1,2\n" * SIZES.lines, "it may have 100000 lines"),
    "a column of no name for each cell": (f"a{',' * 50_000}\n", "column 'id' is missing"),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A folder with a study of two trials that wait for their values."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "study.toml").write_text(toml(GOOD), encoding="utf-8")
    assert covey("ask", folder / "study.toml", "-n", 2).code == 0
    return folder


@pytest.mark.parametrize("kind", TABLE)
def test_a_hostile_table_changes_nothing(asked, kind):
    text, part = TABLE[kind]
    (asked / "bad.csv").write_text(text, encoding="utf-8")
    before = (asked / "study.db").read_bytes()
    assert part in refused("tell", asked / "study.toml", asked / "bad.csv")
    assert (asked / "study.db").read_bytes() == before


WORDS = st.sampled_from(
    [
        *(
            "-n",
            "-o",
            "--count",
            "--last",
            "--skip-blank",
            "0",
            "-1",
            str(10**30),
            "9" * 5000,
            "1e3",
            "",
            "\x1b",
        ),
        *("π", ".", "/dev/zero", "/dev/null", "none/x.csv", "x" * 5000, "--nope", "--", "a\0b", "\udc80"),
    ]
)


@given(
    arguments=st.lists(WORDS, max_size=4), command=st.sampled_from(["ask", "tell", "show", "export", "x", ""])
)
@QUICK
def test_no_command_line_ends_in_a_traceback_or_makes_anything(folder, command, arguments):
    assert covey(command, *arguments).code == 2
    assert not list(folder.iterdir())


@pytest.mark.parametrize("count", [0, -1, 1001, 10**9, 10**30, "9" * 5000, "many"])
def test_asking_for_absurdly_many_is_refused(asked, count):
    before = (asked / "study.db").read_bytes()
    assert "'-n' / '--count'" in refused("ask", asked / "study.toml", "-n", count)
    assert (asked / "study.db").read_bytes() == before


def test_a_terminal_that_shows_ascii_alone_is_no_reason_to_fail(folder):
    study = GOOD | {'space."π"': '{type = "categorical", choices = ["ä", "ö"]}', "name": '"Übung"'}
    study["objective"] = '["echo", "{x}", "{n}", "{kind}", "{π}"]'
    Path("study.toml").write_text(toml(study), encoding="utf-8")
    table = covey("ask", "study.toml", "-n", 2, charset="ascii").out
    assert table.startswith("id,x,n,kind,π,value\n")
    Path("batch.csv").write_text(re.sub(r",$", ",1.5", table, flags=re.M), encoding="utf-8")
    told = covey("tell", "study.toml", "batch.csv", charset="ascii")
    assert "2 values and 0 failures recorded" in told.out
    assert "\\u03c0 = \\x" in told.out
    assert "\\u03c0" in covey("show", "study.toml", charset="ascii").out
    exported = covey("export", "study.toml", charset="ascii").out
    assert exported.startswith("id,state,value,x,n,kind,π,")
    assert "\\xfc" in covey("show", "fü.toml", charset="ascii").err


def test_an_error_that_nobody_foresaw_is_one_line_and_a_file_without_secrets(asked, tmp_path, monkeypatch):
    def broken(trials):
        raise RuntimeError("lost postgresql://me:hunter2@host/db\nsomewhere")

    monkeypatch.setattr(show, "count_line", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = covey("show", asked / "study.toml")
    assert done.code == 1
    (details,) = tmp_path.iterdir()
    words = (
        "covey: something unexpected happened (RuntimeError: lost postgresql://me:***@host/db somewhere); "
    )
    assert done.err == f"{words}the details are in {details}, please report them\n"
    assert stat.S_IMODE(details.stat().st_mode) == 0o600
    assert "in broken" in details.read_text()
    assert "hunter2" not in details.read_text()


def test_details_that_cannot_be_written_are_said_to_be_lost(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(show, "count_line", lambda trials: 1 / 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    done = covey("show", asked / "study.toml")
    assert done.code == 1
    assert "(ZeroDivisionError: division by zero); the details cannot be written: No such file" in done.err


def test_an_interrupt_outside_of_a_run_is_one_line(asked, monkeypatch):
    def interrupted(trials):
        raise KeyboardInterrupt

    monkeypatch.setattr(show, "count_line", interrupted)
    done = covey("show", asked / "study.toml")
    assert (done.code, done.err) == (130, "covey: interrupted\n")


LOADING = """
import os, signal, sys
import covey_command

class Finder:
    def find_spec(self, name, *_):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
covey_command.main()
"""


def test_an_interrupt_while_the_command_is_loading_is_one_line():
    done = subprocess.run([sys.executable, "-c", LOADING, "--help"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "covey: interrupted\n")


@pytest.mark.parametrize(("where", "said"), [("a pipe", ""), ("/dev/full", "No space left on device")])
def test_output_that_cannot_be_written_is_no_traceback(asked, where, said):
    command = [sys.executable, "-m", "covey.cli.app", "export", "study.toml"]
    if where == "a pipe":
        ours, theirs = os.pipe()
        os.close(ours)  # as head does, which has seen enough
    elif Path(where).exists():
        theirs = os.open(where, os.O_WRONLY)
    else:
        pytest.skip(f"no {where} here")
    done = subprocess.run(command, cwd=asked, stdout=theirs, stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == (1 if said else 0)


class Faulty:
    def __repr__(self):
        raise RuntimeError("no")


@given(value=st.recursive(st.text() | st.binary() | st.integers() | st.floats(), st.lists))
@settings(deadline=None)
def test_a_value_is_shown_as_its_repr_on_one_line_or_a_part_of_it(value):
    text = shown(value)
    assert text == repr(value) or text == f"{repr(value)[:150]}..."
    assert text.isprintable()


@pytest.mark.parametrize("value", [10**5000, [10**5000], Faulty(), {"x": Faulty()}], ids=type)
def test_a_value_that_has_no_repr_is_shown_as_its_kind(value):
    assert shown(value) == f"<{type(value).__name__} that cannot be shown>"
