"""The code in the README runs as it stands."""

import os
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
SKIP = "<!-- not run -->"
FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """(line number, source) of each python block, those after a line with SKIP left out."""
    found = []
    for match in FENCE.finditer(text):
        before = text[: match.start()].rstrip().rsplit("\n", 1)[-1].strip()
        if before != SKIP:
            found.append((text.count("\n", 0, match.start(1)) + 1, match.group(1)))
    return found


BLOCKS = blocks(README.read_text()) if README.exists() else []


@pytest.mark.parametrize(("line", "source"), BLOCKS, ids=[f"line-{line}" for line, _ in BLOCKS])
def test_the_readmes_code_runs(line, source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Blank lines before it, so that a traceback shows the README's own line numbers.
    code = compile("\n" * (line - 1) + source, os.fspath(README), "exec")
    exec(code, {"__name__": "__main__"})


def test_blocks_are_found_and_marked_ones_left_out():
    first, marked, last = (f"```python\n{name} = 1\n```\n" for name in "abc")
    text = f"# A\n{first}{SKIP}\n\n{marked}```sh\nls\n```\n{last}"
    assert blocks(text) == [(3, "a = 1\n"), (14, "c = 1\n")]
