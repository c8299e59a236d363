"""A study.toml says what it says, and what is wrong in it is found with its line."""

import pytest

from covey import Categorical, Float, Int, Space
from covey.cli.config import check_runnable, load
from covey.cli.config.document import line_of
from covey.cli.config.template import TEMPLATE
from covey.cli.program import Reading, fill, placeholders
from covey.errors import InputError
from covey.study.address import masked

GOOD = """\
name = "demo"
objective = ["echo", "{x}", "{n}", "{kind}"]
batch_size = 3
iterations = 2
# comment

[space.x]
type = "float"
low = 0.1
high = 1.0
log = true

[space.n]
type = "int"
low = 1
high = 9

[space.kind]
type = "categorical"
choices = ["a", "b"]
"""


def written(folder, text):
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_a_good_file(tmp_path):
    config = load(written(tmp_path, GOOD))
    assert config.name == "demo"
    assert config.space == Space(
        {"x": Float(0.1, 1.0, log=True), "n": Int(1, 9), "kind": Categorical(["a", "b"])}
    )
    assert config.objective == ("echo", "{x}", "{n}", "{kind}")
    assert config.value == Reading()
    assert dict(config.budget) == {"batch_size": 3, "iterations": 2, "asynchronous": False}
    assert dict(config.settings) == {"seed": 0}
    assert masked(config.storage) == f"sqlite:///{tmp_path}/study.db"
    check_runnable(config)


def test_every_key(tmp_path):
    keys = """
value = {json = "out-{id}.json", key = "metrics.loss"}
evaluations = 10
seconds = 60
target = -1
strategy = "b-lcb"
acquisition = "lcb"
noise = 0.1
prior = "paper"
n_initial = 4
initial = "random"
seed = 7
asynchronous = true
timeout = 1.5
max_failures = 3
storage = "postgresql://me@host/db"
"""
    text = GOOD.replace("# comment", keys).replace("iterations = 2", "").replace('"{x}"', '"{x}", "{id}"')
    config = load(written(tmp_path, text))
    assert config.value == Reading("out-{id}.json", "metrics.loss")
    assert config.timeout == 1.5
    assert config.asynchronous
    assert config.batch_size == 3
    assert masked(config.storage) == "postgresql://me@host/db"
    assert config.settings["strategy"] == "b-lcb"
    assert config.settings["noise"] == 0.1
    assert config.budget["target"] == -1


@pytest.mark.parametrize(
    ("storage", "expected"),
    [("sqlite:///a/b.db", "sqlite:///{}/a/b.db"), ("sqlite:////a/b.db", "sqlite:////a/b.db")],
)
def test_sqlite_files_are_beside_the_toml(tmp_path, storage, expected):
    config = load(written(tmp_path, GOOD.replace("# comment", f'storage = "{storage}"')))
    assert masked(config.storage) == expected.format(tmp_path)


def test_the_template_is_accepted(tmp_path):
    config = load(written(tmp_path, TEMPLATE))
    check_runnable(config)
    assert list(config.space.dimensions) == ["rate", "depth", "kind"]


def test_every_line_that_the_template_comments_out_is_accepted(tmp_path):
    options = [line[2:] for line in TEMPLATE.splitlines() if line.startswith("# ") and " = " in line]
    assert len(options) >= 14
    for option in options:
        key = option.split(" = ")[0]
        kept = [line for line in TEMPLATE.splitlines() if not line.startswith((f"{key} = ", "iterations = "))]
        text = "\n".join([option, *kept]).replace('"--rate"', '"{id}", "--rate"')
        load(written(tmp_path, text))


# What is replaced in GOOD, by what, the line that the message names (None: no line), and a part of it.
BAD = {
    "not TOML": ("batch_size = 3", "batch_size 3", 3, "not TOML"),
    "a string without its end": ('"demo"', '"demo', 1, "not TOML"),
    "a list without its end": ('choices = ["a", "b"]', 'choices = ["a",', 20, "not TOML"),
    "a key twice": ("# comment", "batch_size = 4", 5, "not TOML"),
    "a misspelt key": ("batch_size", "batchsize", 3, "did you mean 'batch_size'?"),
    "an unknown key": ("# comment", "colour = 1", 5, "accepted are name, objective"),
    "no name": ('name = "demo"', "", None, "name is missing"),
    "an empty name": ('"demo"', '" "', 1, "non-empty string"),
    "a shell command": ('["echo", "{x}", "{n}", "{kind}"]', '"echo {x}"', 2, "list of strings"),
    "numbers among the arguments": ('"{x}"', '"{x}", 3', 2, "list of strings"),
    "a placeholder that is no parameter": ("{n}", "{m}", 2, "{m} is not a parameter"),
    "a lone brace": ('"{n}"', '"{n}", "}"', 2, "write }} for a brace"),
    "a parameter that goes nowhere": ('"{n}", ', "", 2, "mentions no {n}"),
    "no workers": (
        "batch_size = 3",
        "batch_size = 0",
        3,
        "batch_size must be a whole number from 1 to 1000, got 0",
    ),
    "half a worker": ("batch_size = 3", "batch_size = 1.5", 3, "whole number from 1"),
    "true iterations": ("iterations = 2", "iterations = true", 4, "whole number from 1"),
    "two budgets": ("# comment", "evaluations = 4", 5, "not both"),
    "no time": ("# comment", "seconds = 0", 5, "positive number of seconds"),
    "an infinite timeout": ("# comment", "timeout = inf", 5, "positive number of seconds"),
    "a target that is none": ("# comment", "target = nan", 5, "finite number"),
    "an unknown strategy": ("# comment", 'strategy = "atts"', 5, "did you mean 'ats'?"),
    "an unknown acquisition": ("# comment", 'acquisition = "ucb"', 5, "must be one of ei, lcb"),
    "a pair that does not go": ("# comment", 'strategy = "b-lcb"\nacquisition = "ei"', 6, "'lcb'"),
    "negative noise": ("# comment", "noise = -1.0", 5, '"learn" or a standard deviation'),
    "an unknown prior": ("# comment", 'prior = "flat"', 5, "default, paper"),
    "an unknown design": ("# comment", 'initial = "grid"', 5, "random, sobol"),
    "a negative seed": ("# comment", "seed = -1", 5, "whole number from 0"),
    "a flag in words": ("# comment", 'asynchronous = "yes"', 5, "true or false"),
    "a value from nowhere": ("# comment", 'value = "stderr"', 5, 'must be "stdout" or'),
    "a JSON file without a key": ("# comment", 'value = {json = "a.json"}', 5, "key ="),
    "one JSON file for all": ("# comment", 'value = {json = "a.json", key = "v"}', 5, "needs an {id}"),
    "an id that nobody knows": ("# comment", 'value = {json = "a{id}.json", key = "v"}', 2, "{id} too"),
    "a storage of another kind": ("# comment", 'storage = "study.db"', 5, "sqlite:///study.db"),
    "a study in memory": ("# comment", 'storage = "sqlite:///:memory:"', 5, "sqlite:///study.db"),
    "an unknown type": ('"float"', '"real"', 8, "float, int, ordinal, categorical"),
    "no type": ('type = "float"', "", 7, "it is missing"),
    "no bound": ("high = 9", "", 13, "high is missing"),
    "bounds the wrong way": ("high = 1.0", "high = 0.0", 9, "low must be below high"),
    "a bound in words": ("low = 0.1", 'low = "0.1"', 9, "low must be a finite number"),
    "a logarithm of zero": ("low = 0.1", "low = 0.0", 9, "log=true needs low above 0"),
    "a log of another kind": ("log = true", "log = 10", 11, "log must be true or false"),
    "half an integer": ("low = 1\n", "low = 1.5\n", 15, "whole number"),
    "no choices": ('choices = ["a", "b"]', "choices = []", 20, "must not be empty"),
    "choices that look alike": ('["a", "b"]', '["1", 1]', 20, "differ as text"),
    "choices of another kind": ('["a", "b"]', "[[1], [2]]", 20, "strings, numbers or booleans"),
    "bounds of choices": ('choices = ["a", "b"]', 'choices = ["a", "b"]\nlow = 1', 21, "unknown key 'low'"),
    "a misspelt key of the space": ("log = true", "logg = true", 11, "did you mean 'log'?"),
    "a parameter with a column's name": ("[space.n]", "[space.value]", 13, "cannot be called 'value'"),
    "no table": ("# comment", "space.y = 3", 5, "must be a table"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_found_with_its_line(tmp_path, kind):
    old, new, line, part = BAD[kind]
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert part in message
    assert "\n" not in message
    assert message.startswith(f"{path}: " if line is None else f"{path}, line {line}: ")


def test_no_space(tmp_path):
    with pytest.raises(InputError, match=r"space is missing or empty; .*\[space.x\]"):
        load(written(tmp_path, 'name = "a"\n'))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="does not exist; covey init"):
        load(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "study.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(InputError, match="not UTF-8"):
        load(tmp_path / "study.toml")


@pytest.mark.parametrize(
    ("removed", "part"),
    [(r'objective = ["echo", "{x}", "{n}", "{kind}"]', "objective"), ("iterations = 2", "budget")],
)
def test_a_run_needs_a_program_and_a_budget(tmp_path, removed, part):
    config = load(written(tmp_path, GOOD.replace(removed, "")))
    with pytest.raises(InputError, match=f"{part} is missing"):
        check_runnable(config)


@pytest.mark.parametrize(
    ("text", "where", "line"),
    [
        ("a = 1\nb.c = 2", ("b", "c"), 2),
        ("a = 1\n[b]\n\nc = 2 # x\n", ("b", "c"), 4),
        ("[b]\nx = 1\n[c]\nx = 2", ("c", "x"), 4),
        ("[b]\nc = {low = 1, high = 0}", ("b", "c", "low"), 2),
        ("['b.c'.\"d e\"] # here\nf = 1", ("b.c", "d e", "f"), 2),
        ("[b]\nx = 1", ("b", "y"), 1),
        ("x = 1", ("y",), None),
        ('x = """\n= = 2\n"""\ny = 1', ("y",), 4),
    ],
)
def test_lines_are_found(text, where, line):
    assert line_of(text, where) == line


def test_placeholders_are_filled_and_doubled_braces_are_braces():
    assert placeholders("--a={a}{{b}}{c}") == ["a", "c"]
    assert fill("--a={a}{{b}}{c}", {"a": "{c}", "c": "1"}) == "--a={c}{b}1"
