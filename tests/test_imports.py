"""Imports go down only, and `import covey` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import covey

PACKAGE = Path(covey.__file__).parent

# Bottom-up. A module may import those of lower layers, and those before it in its own.
LAYERS = {
    "words": ["arrays", "errors", "normal"],
    "acquisition": ["distributions", "acquisition"],
    "space": ["space", "features", "design", "search"],
    "machine": ["parallel", "compiled", "lapack", "kernels"],
    "model": [
        "outputs",
        "priors",
        "thetas",
        "gp",
        "density",
        "laplace",
        "scale",
        "posterior",
        "paths",
        "penalty",
        "edges",
        "odds",
        "settle",
    ],
    "maximise": ["surface", "maximise"],
    "strategy": ["strategy", "sources", "batch"],
    "optimizer": ["trial", "checks", "optimizer"],
    "run": ["evaluate", "workers", "campaign", "result", "exclusive", "study", "progress", "loop"],
    "package": [""],  # covey itself, which names what is public
    "on top": [
        "testing",
        "bench",
        "bench.interface",
        "bench.classical",
        "bench.scalable",
        "bench.functions",
        "bench.variants",
        "bench.mixed",
        "bench.extras",
        "bench.models",
        "bench.tasks",
        "bench.others",
        "bench.everyday",
        "bench.rows",
        "bench.split",
        "bench.higgs",
        "bench.paper",
        "bench.methods",
        "bench.runs",
        "bench.boosting",
        "bench.records",
        "bench.pool",
        "bench.table",
        "bench.style",
        "bench.curves",
        "bench.figures",
        "bench.plateaus",
        "bench.bbob",
        "bench.suite",
        "bench.conversation",
        "bench.peers",
        "bench.players",
        "bench.versus",
        "bench.ranks",
        "bench.ranks_text",
        "bench.ranks_figures",
        "integrations",
        "integrations.missing",
        "integrations.labelled",
        "integrations.optuna_space",
        "integrations.optuna_trials",
        "integrations.optuna_model",
        "integrations.optuna_memory",
        "integrations.optuna",
        "integrations.tune_domains",
        "integrations.tune_layout",
        "integrations.tune_json",
        "integrations.tune_state",
        "integrations.tune",
        "integrations.ray",
        "integrations.sklearn_space",
        "integrations.sklearn_rounds",
        "integrations.sklearn",
    ],
    "command line": [
        "cli",
        "cli.document",
        "cli.program",
        "cli.keys",
        "cli.config",
        "cli.table",
        "cli.lab",
        "cli.tune",
        "cli.show",
        "cli.template",
        "cli.bench",
        "cli.higgs",
        "cli.versus",
        "cli.app",
    ],
}
RANK = {name: rank for rank, name in enumerate(name for layer in LAYERS.values() for name in layer)}


def name_of(path):
    """The dotted name below covey: "" for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(name, source, modules):
    """The modules of covey that a module's source imports, wherever in it and however written."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = ["covey", *name.split(".")][: None if name == "" else -1]
                package = package[: len(package) - node.level + 1]
                base = ".".join([*filter(None, package), *filter(None, [base])])
            found |= {
                f"{base}.{alias.name}" if f"{base}.{alias.name}".removeprefix("covey.") in modules else base
                for alias in node.names
            }
    own = {full for full in found if full == "covey" or full.startswith("covey.")}
    return {full.removeprefix("covey").removeprefix(".") for full in own}


def test_every_module_has_its_layer():
    new = sorted(set(MODULES) - set(RANK))
    assert not new, f"add {new} to LAYERS in tests/test_imports.py, above what they import"


def test_every_module_in_the_table_exists_once():
    gone = sorted(set(RANK) - set(MODULES))
    assert not gone, f"take {gone} out of LAYERS in tests/test_imports.py"
    assert len(RANK) == sum(map(len, LAYERS.values()))


@pytest.mark.parametrize("name", sorted(set(MODULES) & set(RANK)), ids=lambda name: name or "covey")
def test_imports_go_down_only(name):
    targets = imported(name, MODULES[name].read_text(), MODULES)
    upward = sorted(target for target in targets if RANK.get(target, len(RANK)) >= RANK[name])
    assert not upward, f"covey.{name} must not import {upward}: same place or above it in LAYERS"


@pytest.mark.parametrize(
    ("name", "source", "found"),
    [
        ("gp", "from covey.space import Space", {"space"}),
        ("gp", "from covey import kernels, Space", {"kernels", ""}),
        ("gp", "import covey.bench.functions", {"bench.functions"}),
        ("gp", "def f():\n    from covey.batch import Task", {"batch"}),
        ("gp", "from . import batch", {"batch"}),
        ("gp", "from .batch import Task", {"batch"}),
        ("bench.functions", "from ..space import Space", {"space"}),
        ("gp", "import numpy as np\nfrom coveys import x", set()),
    ],
)
def test_imports_are_seen_however_they_are_written(name, source, found):
    assert imported(name, source, MODULES) == found


HEAVY = [
    "optuna",
    "matplotlib",
    "plotly",
    "rich",
    "emcee",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "pytest",
]


def loaded(program):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_import_covey_loads_nothing_heavy():
    modules = loaded("import covey")
    assert "covey.optimizer" in modules
    assert not modules & set(HEAVY)


def test_describing_a_space_and_reading_values_loads_nothing_heavy():
    modules = loaded(
        "import covey; opt = covey.Optimizer(covey.Space({'x': covey.Float(0, 1)}), initial='random');"
        "opt.tell(opt.ask(2), [1.0, 2.0]); opt.best"
    )
    assert not modules & set(HEAVY)


def test_everything_public_is_there_and_documented():
    assert len(set(covey.__all__)) == len(covey.__all__)
    for name in covey.__all__:
        assert getattr(covey, name).__doc__, f"covey.{name} has no docstring"
