"""The package folder for OptunaHub is complete, loads as OptunaHub loads it, and its example runs."""

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

import covey
from covey.integrations.optuna import CoveySampler

FOLDER = Path(__file__).parent.parent / "optunahub" / "package" / "samplers" / "covey"
README = (FOLDER / "README.md").read_text()


def test_the_readme_says_what_the_registry_asks_for():
    matter = re.match(r"---\n(.*?)\n---\n", README, re.DOTALL).group(1)
    fields = dict(line.split(": ", 1) for line in matter.splitlines())
    assert list(fields) == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert "sampler" in fields["tags"].strip("[]").split(", ")
    assert re.fullmatch(r"\[\d+\.\d+\.\d+\]", fields["optuna_versions"])
    assert fields["license"] == "MIT License"
    for section in ("Abstract", "Class or Function Names", "Installation", "APIs", "Example"):
        assert f"\n## {section}\n" in README


def test_the_readme_names_every_argument_and_every_default():
    signature = re.search(r"`CoveySampler\((.*?)\)`", README).group(1)
    scope = {}
    exec(f"def documented({signature}): pass", scope)
    documented = scope["documented"]
    assert documented.__defaults__ == CoveySampler.__init__.__defaults__
    assert documented.__kwdefaults__ == CoveySampler.__init__.__kwdefaults__


def test_the_readme_names_strategies_and_acquisition_functions_that_exist():
    strategies = re.search(r"`covey.strategies\(\)` \((.*?), \.\.\.\)", README).group(1)
    acquisitions = re.search(r"`covey.acquisitions\(\)` \((.*?)\)", README).group(1)
    assert set(strategies.replace("`", "").split(", ")) <= set(covey.strategies())
    assert set(acquisitions.replace("`", "").split(", ")) == set(covey.acquisitions())


def load():
    """As ``optunahub.load_local_module`` does."""
    name = "optunahub_registry.package.samplers.covey"
    spec = importlib.util.spec_from_file_location(name, FOLDER / "__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_package_gives_the_sampler():
    module = load()
    assert module.__all__ == ["CoveySampler"]
    study = optuna.create_study(sampler=module.CoveySampler(seed=0))
    assert 0 <= study.ask().suggest_float("x", 0, 1) <= 1


def test_the_licence_is_the_projects():
    assert (FOLDER / "LICENSE").read_text() == (Path(__file__).parent.parent / "LICENSE").read_text()


@pytest.mark.integration
def test_the_example_runs():
    try:
        importlib.metadata.version("optunahub")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("optunahub is not installed: pip install optunahub")
    done = subprocess.run(
        [sys.executable, FOLDER / "example.py"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"best of 40 trials: (\S+)", done.stdout).group(1)) < -2.5
