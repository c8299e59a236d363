"""The configuration that a study.toml asks for: the file checked key by key, as one frozen object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.batch.strategy import resolve_strategy
from covey.cli.config.document import Document, cut, did_you_mean, read_document
from covey.cli.config.keys import BUDGET, CHECKS, SETTINGS, SQLITE
from covey.cli.program import Reading, placeholders, text_of
from covey.errors import shown
from covey.space import Categorical, Dimension, Float, Int, Ordinal, Space
from covey.space.conditions import when_of
from covey.space.dimensions import is_finite
from covey.study.location import file_address, located

if TYPE_CHECKING:
    from sqlalchemy import URL


@dataclass(frozen=True)
class Limits:
    """What a study.toml may ask for.

    Attributes:
        parameters: with 500 the model takes 20 s for a point, on one core, and ever more beyond.
        choices: of all parameters together: the model has a column for each.
        name: characters of a parameter's name; databases keep 512.
    """

    parameters: int = 500
    choices: int = 1000
    name: int = 200


LIMITS = Limits()

RESERVED = ("id", "value", "state", "reason", "finished", "evaluation_seconds")
"""Columns of the tables, which a parameter cannot be called."""


@dataclass(frozen=True)
class Config:
    """A study.toml.

    Attributes:
        path: of the file; programs run in its folder.
        name: of the study in the storage.
        space: what is varied.
        storage: a database's address, with an absolute path if it is SQLite; it may have a password in it.
        objective: the program's argument list; None if experiments are done by hand.
        value: where the program's value is.
        budget: the keywords of ``minimize`` that are about when and how many.
        settings: the keywords of ``Optimizer``.
        timeout: seconds after which a program is killed.
        document: the file, to point at.
    """

    path: Path
    name: str
    space: Space
    storage: URL = field(repr=False)
    objective: tuple[str, ...] | None
    value: Reading
    budget: Mapping[str, Any]
    settings: Mapping[str, Any]
    timeout: float | None
    document: Document

    @property
    def folder(self) -> Path:
        """Where the file is."""
        return self.path.resolve().parent

    @property
    def batch_size(self) -> int:
        """How many evaluations run at once."""
        return int(self.budget["batch_size"])

    @property
    def fixed(self) -> Mapping[str, Any]:
        """Parameters that are held at a value."""
        return dict(self.budget.get("fixed", {}))

    @property
    def asynchronous(self) -> bool:
        """Whether a free worker gets its next point at once."""
        return bool(self.budget["asynchronous"])


def load(path: Path) -> Config:
    """Read and check a study.toml.

    Raises:
        InputError: at the first thing that is wrong, with its line and what is accepted.
    """
    document = read_document(path)
    document.check_keys((), document.data, [*CHECKS, "constraints", "space"])
    given = {key: _checked(document, key) for key in CHECKS if key in document.data}
    if "name" not in given:
        raise document.wrong((), 'name is missing; give one like name = "my-study"')
    config = Config(
        path=path,
        name=given["name"],
        space=_space(document),
        storage=_located(given.get("storage", "sqlite:///study.db"), path.resolve().parent),
        objective=tuple(given["objective"]) if "objective" in given else None,
        value=given.get("value", Reading()),
        budget={"batch_size": 1, "asynchronous": False} | {k: v for k, v in given.items() if k in BUDGET},
        # A seed of its own for each command would scatter the initial design.
        settings={"seed": 0} | {k: v for k, v in given.items() if k in SETTINGS},
        timeout=given.get("timeout"),
        document=document,
    )
    _check_together(config)
    return config


def _checked(document: Document, key: str) -> Any:
    try:
        return CHECKS[key](document.data[key])
    except ValueError as error:
        raise document.wrong((key,), f"{key} {error}") from None


def _located(storage: str, folder: Path) -> URL:
    """The address of a storage; a SQLite file's is a path, as it is written, relative to the study.toml."""
    if not storage.startswith(SQLITE):
        return located(storage)
    return file_address(folder / storage.removeprefix(SQLITE))


def _space(document: Document) -> Space:
    tables = document.data.get("space")
    if not isinstance(tables, dict) or not tables:
        what = 'say what is varied, like [space.x] with type = "float", low = 0.0, high = 1.0'
        raise document.wrong(("space",), f"space is missing or empty; {what}")
    if len(tables) > LIMITS.parameters:
        message = f"space has {len(tables)} parameters; {LIMITS.parameters} are accepted"
        raise document.wrong(("space",), message)
    dimensions = {name: _dimension(document, name, table) for name, table in tables.items()}
    try:
        space = Space(dimensions, _constraints(document))
    except ValueError as error:
        where = "constraints" if "constraint" in str(error) or "satisfies" in str(error) else "space"
        raise document.wrong((where,), str(error).removeprefix("Space: ")) from None
    choices = sum(one.levels for one in space.dimensions.values() if isinstance(one, Categorical))
    if choices > LIMITS.choices:
        message = f"space has {choices} choices in all; {LIMITS.choices} are accepted"
        raise document.wrong(("space",), message)
    return space


def _constraints(document: Document) -> list[str]:
    given = document.data.get("constraints", [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        accepted = 'a list of texts like ["a + b + c == 1", "temp * dose <= 400"]'
        raise document.wrong(("constraints",), f"constraints must be {accepted}, got {shown(given)}")
    return given


def _number_range(kind: type[Float] | type[Int]) -> Callable[[Mapping[str, Any]], Dimension]:
    def make(table: Mapping[str, Any]) -> Dimension:
        keywords = {key: table[key] for key in ("log", "step") if key in table}
        return kind(table["low"], table["high"], **keywords)

    return make


def _levels(table: Mapping[str, Any]) -> Dimension:
    if not isinstance(table["levels"], list):
        raise ValueError(f"levels must be a list of numbers, got {shown(table['levels'])}")
    return Ordinal(table["levels"], table.get("log", False))


def _is_choice(value: Any) -> bool:
    return isinstance(value, bool) or is_finite(value) or (isinstance(value, str) and "\0" not in value)


def _choice(table: Mapping[str, Any]) -> Dimension:
    choices = table["choices"]
    if not isinstance(choices, list) or not all(_is_choice(one) for one in choices):
        accepted = "a list of strings, numbers or booleans, no infinity and no NUL among them"
        raise ValueError(f"choices must be {accepted}, got {shown(choices)}")
    if len({text_of(choice) for choice in choices}) < len(choices):
        raise ValueError(f"choices must differ as text, got {shown(choices)}")
    return Categorical(choices, descriptors=_described(choices, table.get("descriptors")))


def _described(choices: list[Any], given: Any) -> Any:
    """Descriptors by choice; a key of TOML is a text, a choice may be a number."""
    if not isinstance(given, dict):
        return given
    known = {text_of(choice): choice for choice in choices}
    return {known.get(key, key): numbers for key, numbers in given.items()}


_KINDS: dict[str, tuple[Callable[[Mapping[str, Any]], Dimension], list[str], list[str]]] = {
    "float": (_number_range(Float), ["low", "high"], ["step", "log"]),
    "int": (_number_range(Int), ["low", "high"], ["step", "log"]),
    "ordinal": (_levels, ["levels"], ["log"]),
    "categorical": (_choice, ["choices"], ["descriptors"]),
}
"""Type -> how a dimension is made, the keys it needs, and those it may have."""


def _unnamable(name: str) -> str | None:
    """Why a parameter cannot have this name: it is a column of tables and a placeholder of programs."""
    if name in RESERVED or not name or set(name) & set("{}"):
        return "it has another meaning"
    if len(name) > LIMITS.name:
        return f"it has more than {LIMITS.name} characters"
    if not name.isprintable() or name != name.strip():
        return "it begins or ends with a space, or has a character that cannot be shown"
    return None


def _dimension(document: Document, name: str, table: Any) -> Dimension:
    where = ("space", name)
    if problem := _unnamable(name):
        raise document.wrong(where, f"a parameter cannot be called {shown(name)}; {problem}")
    if not isinstance(table, dict):
        raise document.wrong(where, f"space.{name} must be a table, [space.{name}] with type, low, high")
    if not isinstance(table.get("type"), str) or table["type"] not in _KINDS:
        said = f"got {shown(table['type'])}" if "type" in table else "it is missing"
        raise document.wrong(
            (*where, "type"), f"space.{name}: type must be one of {', '.join(_KINDS)}; {said}"
        )
    make, needed, optional = _KINDS[table["type"]]
    document.check_keys(where, table, ["type", *needed, *optional, "when"])
    for key in needed:
        if key not in table:
            raise document.wrong(
                where, f"space.{name}: {key} is missing; {table['type']} needs {', '.join(needed)}"
            )
    try:
        made: Any = make(table)
        conditional: Dimension = replace(made, when=table["when"]) if "when" in table else made
        return conditional
    except ValueError as error:
        words = str(error).replace("True", "true").replace("False", "false")  # as TOML spells them
        keys = (*needed, *optional, "when")
        key = next((key for key in keys if re.search(rf"\b{key}\b", words)), "type")
        raise document.wrong((*where, key), f"space.{name}: {words}") from None


def _check_together(config: Config) -> None:
    """What no key can tell alone."""
    document, budget = config.document, config.budget
    if config.storage.get_backend_name() == "sqlite":
        try:
            Path(config.storage.database or "").exists()
        except OSError as error:  # too long a name, or a folder that is closed to this user
            raise document.wrong(("storage",), f"storage cannot be used: {error.strerror}") from None
    try:
        config.space.positions(budget.get("fixed", {}))
    except ValueError as error:
        raise document.wrong(("fixed",), str(error)) from None
    if "iterations" in budget and "evaluations" in budget:
        raise document.wrong(("evaluations",), "give iterations or evaluations, not both")
    try:
        strategy = resolve_strategy(config.settings.get("strategy", "auto"))
        strategy.paired(config.settings.get("acquisition"))
    except ValueError:
        message = (
            f"strategy {strategy.name!r} is defined for acquisition {strategy.acquisition!r}; leave it out"
        )
        raise document.wrong(("acquisition",), message) from None
    if config.objective is not None:
        _check_placeholders(config)


def _check_placeholders(config: Config) -> None:
    """Every placeholder is a parameter or the trial's id, and every parameter reaches the program."""
    said = {name for part in config.objective or () for name in _named(config, "objective", part)}
    path = _named(config, "value", config.value.json or "")
    for name in config.space.dimensions:
        if name not in said:
            message = f"objective mentions no {{{name}}}: the program would never see this parameter"
            raise config.document.wrong(("objective",), message)
    _check_options(config)
    if config.value.json is None:
        return
    if "id" in path and "id" not in said:
        raise config.document.wrong(
            ("objective",), "objective needs an {id} too, to know where value.json is"
        )
    if "id" not in path and config.batch_size > 1:
        message = "value.json needs an {id} in the path: several programs run at once"
        raise config.document.wrong(("value",), message)


def _check_options(config: Config) -> None:
    """Refuse an option whose value is an argument of its own and may be left out, which leaves the option."""
    parts = config.objective or ()
    for option, value in pairwise(parts):
        names = placeholders(value)
        sometimes = [name for name in names if name != "id" and when_of(config.space.dimensions[name])]
        if sometimes and option.startswith("-") and not placeholders(option):
            one = f"write {option}={value} as one argument, which is left out where it does not"
            message = f"objective: {{{sometimes[0]}}} does not always exist; {one}"
            raise config.document.wrong(("objective",), message)


def _named(config: Config, key: str, template: str) -> list[str]:
    """The placeholders of a template, all of them known."""
    known = {**config.space.dimensions, "id": None}
    try:
        names = placeholders(template)
    except ValueError as error:
        raise config.document.wrong((key,), f"{key}: {error}") from None
    for name in names:
        if name not in known:
            those = cut(", ".join(config.space.dimensions))
            hint = did_you_mean(name, known) or f"; parameters are {those}"
            message = f"{key}: {{{cut(name)}}} is not a parameter{hint} (write {{{{ for a brace itself)"
            raise config.document.wrong((key,), message)
    return names


def check_runnable(config: Config) -> None:
    """What only ``covey run`` needs: a program and a budget.

    Raises:
        InputError: if one is missing.
    """
    if config.objective is None:
        message = 'objective is missing; covey run needs a program, like objective = ["./train.sh", "{x}"]'
        raise config.document.wrong((), message)
    if not {"iterations", "evaluations", "seconds", "target"} & set(config.budget):
        raise config.document.wrong((), "a budget is missing: iterations, evaluations, seconds or target")
