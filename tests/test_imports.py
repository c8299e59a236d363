"""Imports go down only, and `import covey` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import covey

PACKAGE = Path(covey.__file__).parent

# Bottom-up: rooms (folders) and the modules beside them. Each may import those before it, and nothing after.
ROOMS = [
    "arrays",
    "errors",
    "trial",
    "space",
    "model",
    "acquisition",
    "batch",
    "arguments",
    "history",
    "optimizer",
    "study",
    "run",
    "covey",  # the package itself, which names what is public
    "testing",
    "bench",
    "integrations",
    "cli",
]
RANK = {room: rank for rank, room in enumerate(ROOMS)}


def name_of(path):
    """The dotted name of a module."""
    parts = ("covey", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room_of(module):
    """ "covey.space.designs" -> "space"."""
    return "covey" if module == "covey" else module.split(".")[1]


def imported(name, source, modules=MODULES):
    """The modules of covey that a module's source imports, wherever in it and however written."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name.split(".")[: -node.level]
                base = ".".join([*package, *filter(None, [base])])
            full = {f"{base}.{alias.name}" for alias in node.names}
            found |= {one if one in modules else base for one in full}
    return {one for one in found if one == "covey" or one.startswith("covey.")}


IMPORTS = {name: imported(name, path.read_text()) for name, path in MODULES.items()}


def test_every_room_is_in_the_list_once():
    assert sorted({room_of(name) for name in MODULES}) == sorted(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_down_only(room):
    upward = [
        f"{name} imports {target}"
        for name, targets in IMPORTS.items()
        for target in targets
        if room_of(name) == room and RANK[room_of(target)] > RANK[room]
    ]
    assert not upward


def test_no_two_modules_import_each_other_over_however_many_others():
    waiting = {name: targets - {name} for name, targets in IMPORTS.items()}
    # A package's __init__ gathers what is below it: that is no way back up.
    waiting = {
        name: {t for t in targets if not name.startswith(f"{t}.")} for name, targets in waiting.items()
    }
    while free := {name for name, targets in waiting.items() if not targets & waiting.keys()}:
        waiting = {name: targets for name, targets in waiting.items() if name not in free}
    assert not waiting, f"cycles among {sorted(waiting)}"


def test_no_module_beside_the_rooms_serves_one_room_alone():
    beside = {name for name, path in MODULES.items() if path.parent == PACKAGE and path.stem != "__init__"}
    users = {
        module: {room_of(name) for name, targets in IMPORTS.items() if module in targets} for module in beside
    }
    rooms = {room_of(name) for name, path in MODULES.items() if path.parent != PACKAGE}
    assert not {module: used for module, used in users.items() if len(used) == 1 and used <= rooms}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from covey.space import Space", {"covey.space"}),
        ("from covey import errors, Space", {"covey.errors", "covey"}),
        ("import covey.bench.records", {"covey.bench.records"}),
        ("def f():\n    from covey.batch.choose import Task", {"covey.batch.choose"}),
        ("from . import laplace", {"covey.model.laplace"}),
        ("from .laplace import climb", {"covey.model.laplace"}),
        ("from ..space import Space", {"covey.space"}),
        ("import numpy as np\nfrom coveys import x", set()),
    ],
)
def test_imports_are_seen_however_they_are_written(source, found):
    assert imported("covey.model.gp", source) == found


HEAVY = {
    "numba",
    "optuna",
    "matplotlib",
    "plotly",
    "rich",
    "emcee",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "pytest",
}


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
    assert not modules & HEAVY


def test_describing_a_space_and_reading_values_loads_nothing_heavy():
    modules = loaded(
        "import covey; opt = covey.Optimizer(covey.Space({'x': covey.Float(0, 1)}), initial='random');"
        "opt.tell(opt.ask(2), [1.0, 2.0]); opt.best"
    )
    assert not modules & HEAVY


def test_everything_public_is_there_and_documented():
    assert len(set(covey.__all__)) == len(covey.__all__)
    for name in covey.__all__:
        assert getattr(covey, name).__doc__, f"covey.{name} has no docstring"
