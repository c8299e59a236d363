"""The keys of study.toml: one check for each, in one table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from covey.acquisition.acquisition import acquisitions
from covey.arguments import LIMITS, NAME, check_noise, is_duration, is_name, is_whole
from covey.batch.strategy import strategies
from covey.cli.config.document import did_you_mean
from covey.cli.program import Reading
from covey.errors import shown
from covey.model.priors import PRESETS
from covey.space.designs import INITIAL
from covey.space.dimensions import is_finite
from covey.study.address import masked
from covey.study.location import located

Check: TypeAlias = Callable[[Any], Any]
"""Returns the value to use; a ValueError says what is accepted."""

MOST_BY_COMMAND = 1000
"""Programs or experiments at once: each is a process or a line in a table, and a row in a database."""


def _accept(test: Callable[[Any], bool], what: str) -> Check:
    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError(f"must be {what}, got {shown(value)}")
        return value

    return check


def _one_of(names: list[str]) -> Check:
    def check(value: Any) -> Any:
        if value not in names:
            hint = did_you_mean(value, names) if isinstance(value, str) else ""
            raise ValueError(f"must be one of {', '.join(names)}, got {shown(value)}{hint}")
        return value

    return check


def _is_arguments(value: Any) -> bool:
    texts = isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
    return texts and value[0] != "" and not any("\0" in one for one in value)


def _noise(value: Any) -> Any:
    try:
        return check_noise(value)
    except ValueError:
        raise ValueError(f'must be "learn" or a standard deviation from 0, got {shown(value)}') from None


def _reading(value: Any) -> Reading:
    if value == "stdout":
        return Reading()
    fits = isinstance(value, dict) and set(value) == {"json", "key"}
    if fits and all(isinstance(part, str) and part and "\0" not in part for part in value.values()):
        return Reading(**value)
    raise ValueError(f'must be "stdout" or {{json = "result.json", key = "loss"}}, got {shown(value)}')


SQLITE = "sqlite:///"
_OPTION = re.compile(r"\?(?:cache|immutable|mode|nolock|timeout|uri|vfs)=[^/]*$")


def _storage(value: Any) -> str:
    """A SQLite file by its path, which may have any character; or the address of a PostgreSQL database."""
    example = '"sqlite:///study.db" or "postgresql://user@host/name"'
    if not isinstance(value, str):
        raise ValueError(f"must be like {example}, got {shown(value)}")
    if len(value) > LIMITS.address:
        raise ValueError(f"must be like {example}, got one of {len(value)} characters")
    known = re.fullmatch(r"(sqlite:///|postgresql(\+\w+)?://).+", value)
    if not known or not value.isprintable() or value == "sqlite:///:memory:":
        raise ValueError(
            f"must be a SQLite file or a PostgreSQL database, which have a lock that goes with its holder, "
            f"like {example}, got {shown(masked(value))}"
        )
    if value.startswith(SQLITE):
        if _OPTION.search(value):
            raise ValueError(f"must be a path after {SQLITE}, without options, got {shown(masked(value))}")
        return value
    try:
        located(value)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("storage ")) from None
    return value


_NAME = _accept(is_name, NAME)
_ARGUMENTS = 'a list of strings like ["python", "train.py", "{x}"]'
_FLAG = _accept(lambda value: isinstance(value, bool), "true or false")
_NUMBER = _accept(is_finite, "a finite number")


def _whole(least: int, most: int) -> Check:
    return _accept(lambda value: is_whole(value, least, most), f"a whole number from {least} to {most}")


def _seconds(most: float) -> Check:
    what = f"a positive number of seconds up to {most:.0f}; leave it out for no limit"
    return _accept(lambda value: is_duration(value, most), what)


_COUNT = _whole(1, LIMITS.count)


def _fixed(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(
            f'must be a table of parameters and values, like {{solvent = "water"}}, got {shown(value)}'
        )
    return value


PLAN: dict[str, Check] = {
    "name": _NAME,
    "objective": _accept(_is_arguments, _ARGUMENTS),
    "value": _reading,
    "storage": _storage,
    "timeout": _seconds(LIMITS.timeout),
}
BUDGET: dict[str, Check] = {
    "batch_size": _whole(1, MOST_BY_COMMAND),
    "iterations": _COUNT,
    "evaluations": _COUNT,
    "seconds": _seconds(LIMITS.seconds),
    "target": _NUMBER,
    "asynchronous": _FLAG,
    "fixed": _fixed,
    "max_failures": _COUNT,
}
SETTINGS: dict[str, Check] = {
    "strategy": _one_of(strategies()),
    "acquisition": _one_of(acquisitions()),
    "noise": _noise,
    "prior": _one_of(sorted(PRESETS)),
    "n_initial": _whole(0, LIMITS.count),
    "initial": _one_of(sorted(INITIAL)),
    "seed": _whole(0, 2**63 - 1),
}
CHECKS = {**PLAN, **BUDGET, **SETTINGS}
"""Every key but the space."""
