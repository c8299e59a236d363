"""Covey alone needs none of the packages it works with, and says what to install when one is missing."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from covey.errors import needs

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FOREIGN = {"ray", "dask", "distributed", "sklearn", "torch", "xgboost"}
NAMES = {*FOREIGN, "scikit-learn", "mpi4py", "pandas", "pyarrow", "matplotlib"}


def name_of(requirement):
    """ "ray[tune]>=2.40" -> "ray"."""
    return re.match(r"[\w.-]+", requirement).group().lower()


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_importing_covey_imports_none_of_the_others():
    done = python("import sys, covey, covey.integrations; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    assert "covey.optimizer" in done.stdout
    assert not {module.split(".")[0] for module in done.stdout.split()} & FOREIGN


def test_installing_covey_installs_none_of_the_others():
    assert not {name_of(requirement) for requirement in PROJECT["dependencies"]} & NAMES


def test_the_wheel_asks_for_what_pyproject_says(tmp_path, monkeypatch):
    """Built for real: what pip will read, not what was meant."""
    hatchling = pytest.importorskip("hatchling.build", reason="hatchling is not installed")
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / hatchling.build_wheel(str(tmp_path))) as wheel:
        (name,) = [entry for entry in wheel.namelist() if entry.endswith(".dist-info/METADATA")]
        metadata = wheel.read(name).decode()
    required = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    core = {name_of(line) for line in required if "extra ==" not in line}
    assert core == {name_of(requirement) for requirement in PROJECT["dependencies"]}
    assert not core & NAMES


@pytest.mark.parametrize(
    ("package", "statement", "extra"),
    [
        ("ray", "import covey.integrations.ray", "ray"),
        ("ray", "from covey.integrations.ray import RayExecutor", "ray"),
        ("ray.tune", "from covey.integrations.ray import CoveySearch", "ray"),
        ("pandas", "from covey.integrations.ray import CoveySearch", "ray"),
        ("sklearn", "from covey.integrations.sklearn import CoveySearchCV", "sklearn"),
    ],
)
def test_without_its_package_an_integration_says_what_to_install(package, statement, extra):
    done = python(f"import sys; sys.modules[{package!r}] = None\n{statement}")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "NotInstalled" in last
    assert f"pip install 'covey[{extra}]'" in last
    assert extra in PROJECT["optional-dependencies"]


def test_the_executor_needs_no_more_than_ray_itself():
    pytest.importorskip("ray")
    blocked = "".join(
        f"sys.modules[{name!r}] = None\n" for name in ("pandas", "pyarrow", "tensorboardX", "ray.tune")
    )
    done = python(
        f"import sys\n{blocked}from covey.integrations.ray import RayExecutor; print(RayExecutor.__name__)"
    )
    assert done.stdout == "RayExecutor\n", done.stderr


def test_a_missing_package_is_an_import_error_with_its_cause():
    with pytest.raises(ImportError, match=r"pip install 'covey\[ray\]'") as caught, needs("ray"):
        import no_such_package  # noqa: F401
    assert caught.value.name == "no_such_package"
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), needs("ray"):
        1 / 0  # noqa: B018
