"""A program's value is the only number on its last line, or one in a new report; anything else says why."""

import math
import os
import threading

import pytest

from covey import Failure
from covey.cli.reading import READABLE, only_number, reported, stamp
from covey.run.evaluate import evaluate


@pytest.mark.parametrize(
    ("out", "value"),
    [
        ("0.31\n", 0.31),
        ("epoch 3 loss 7\nloss: 0.25\n\n \n", 0.25),
        ("loss=-1e-3", -1e-3),
        ("loss \N{MINUS SIGN}0.5", -0.5),
        ("a 1\nb 2.5.\n", 2.5),
        ("loss 0.5 in 12.5s", 0.5),  # 12.5s is no number
        ("[.5]", 0.5),
        ("v1.2.3 7", 7.0),
        ("+4E2", 400.0),
        ("50%\r100%\rdone: 3", 3.0),
    ],
)
def test_the_only_number_on_the_last_line_is_read(out, value):
    assert only_number(out) == value


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("0.53 (epoch 10)", "has 2 numbers, '0.53 (epoch 10)'"),
        ("loss 0.3 lr=1e-3", "has 2 numbers, 'loss 0.3 lr=1e-3'"),
        ("0,53", "has 2 numbers, '0,53'"),
        ("2026-01-05 12:30:01 loss 0.5", "has "),
        ("1, 234", "has 2 numbers"),
        ("3 nan", "has 2 numbers"),
        ("0.5\ndone\n", "has no number, 'done'"),
        ("3\nversion 1.2.3", "has no number, 'version 1.2.3'"),
        ("0.5 " + "x" * READABLE.line, "has more than 10000 characters"),
    ],
)
def test_another_count_of_numbers_is_a_failure_that_says_what_to_do(out, said):
    reason = only_number(out).reason
    assert f"the last line on stdout {said}" in reason
    assert "print the value alone on the last line, or use value = {json" in reason
    assert len(reason) < 400


@pytest.mark.parametrize("out", ["", "\n", "nothing here", "loss nan", "-inf", "Infinity", "1e999"])
def test_output_without_a_value_is_a_failure(out):
    assert isinstance(evaluate(lambda params: only_number(out), {}).result, Failure)


@pytest.mark.parametrize("out", ["loss 1,234.5", "1,234", "-12,345,678.25 m", "0.5 (1,000)", "cost=2,500\n"])
def test_thousands_apart_are_refused_rather_than_misread(out):
    assert "print no commas in it" in only_number(out).reason


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ('{"loss": 0.5}', "loss", 0.5),
        ('{"a": {"b": 2}}', "a.b", 2.0),
        ('{"loss": 0.5}', "lost", None),
        ('{"loss": "0.5"}', "loss", None),
        ('{"loss": true}', "loss", None),
        ('{"loss": NaN}', "loss", None),
        ("[1]", "loss", None),
        ("{", "loss", None),
        ("[" * 100_000, "loss", None),
        ('{"loss": ' + "9" * 5000 + "}", "loss", None),
        ('{"loss": 0.5}' + " " * READABLE.report, "loss", None),
    ],
)
def test_a_json_report_is_read(tmp_path, text, key, value):
    path = tmp_path / "r.json"
    path.write_text(text)
    result = evaluate(lambda params: reported(path, key, None), {}).result
    assert isinstance(result, Failure) if value is None else math.isclose(result, value)


def test_a_report_of_before_does_not_pass_for_a_new_one_and_stays(tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"value": 1}')
    before = stamp(path)
    assert reported(path, "value", before).reason.startswith("the program wrote no new r.json")
    assert path.read_text() == '{"value": 1}'


@pytest.mark.parametrize("rewrite", ["in place", "by a rename", "within the clock's grain"])
def test_a_report_that_is_written_again_is_new(tmp_path, rewrite):
    path = tmp_path / "r.json"
    path.write_text('{"value": 1}')
    os.utime(path, ns=(0, 10**9))
    before = stamp(path)
    if rewrite == "in place":
        path.write_text('{"value": 1}')
    elif rewrite == "by a rename":
        other = tmp_path / "other"
        other.write_text('{"value": 1}')
        os.utime(other, ns=(0, 10**9))
        other.rename(path)
    else:
        path.write_text('{"value": 2}')
        os.utime(path, ns=(0, 10**9))
    assert reported(path, "value", before) in (1, 2)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "null"])
def test_what_is_no_file_is_not_waited_for(tmp_path, kind):
    path = {"device": tmp_path / "/dev/zero", "folder": tmp_path, "null": tmp_path / "a\0b"}.get(kind)
    if path is None:
        path = tmp_path / "pipe"
        os.mkfifo(path)
    found = []
    reader = threading.Thread(
        target=lambda: found.extend([stamp(path), reported(path, "value", None)]), daemon=True
    )
    reader.start()
    reader.join(20)
    assert found[0] is None
    assert "cannot be read" in found[1].reason
