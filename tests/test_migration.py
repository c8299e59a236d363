"""The covey code in docs/migration.md runs as it stands, after the study that opens the page."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """The source of each python block, blank lines before it: a traceback shows the page's line numbers."""
    return ["\n" * text.count("\n", 0, match.start(1)) + match.group(1) for match in FENCE.finditer(text)]


STUDY, *REST = blocks(PAGE.read_text())
COVEY = [source for source in REST if "covey" in source]


def starts_processes(source):
    return "import tune" in source or "minimize(" in source


def named(sources):
    return [pytest.param(source, id=f"line-{len(source) - len(source.lstrip()) + 1}") for source in sources]


@pytest.mark.parametrize("source", named(s for s in COVEY if not starts_processes(s)))
def test_the_pages_covey_code_runs(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other libraries
        for part in (STUDY, source):
            exec(compile(part, os.fspath(PAGE), "exec"), namespace)
    assert "kernel" in capsys.readouterr().out


@pytest.mark.integration
@pytest.mark.parametrize("source", named(s for s in COVEY if starts_processes(s)))
def test_the_pages_covey_code_runs_as_a_script(source, tmp_path):
    script = tmp_path / "study.py"
    # Tune starts a process for each sample: fewer do here. It keeps its results in the home directory.
    script.write_text(STUDY + source.replace("num_samples=28", "num_samples=6"))
    home = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "kernel" in done.stdout


def test_every_library_has_its_study_with_covey():
    sections = PAGE.read_text().split("\n## ")[1:-1]
    assert len(sections) == 6
    for section in sections:
        first, *with_covey = blocks(section)
        assert "covey" not in first
        assert with_covey
        assert all("covey" in source for source in with_covey)
