"""The keys of study.toml: one check for each, in one table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from covey.acquisition.acquisition import acquisitions
from covey.arguments import check_noise, is_whole
from covey.batch.strategy import strategies
from covey.cli.config.document import did_you_mean
from covey.cli.program import Reading
from covey.model.priors import PRESETS
from covey.space.designs import INITIAL
from covey.study.address import masked
from covey.study.location import located

Check: TypeAlias = Callable[[Any], Any]
"""Returns the value to use; a ValueError says what is accepted."""


def _accept(test: Callable[[Any], bool], what: str) -> Check:
    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError(f"must be {what}, got {value!r}")
        return value

    return check


def _one_of(names: list[str]) -> Check:
    def check(value: Any) -> Any:
        if value not in names:
            raise ValueError(
                f"must be one of {', '.join(names)}, got {value!r}{did_you_mean(str(value), names)}"
            )
        return value

    return check


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")


def _is_arguments(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, str) for one in value)
        and value[0] != ""
    )


def _noise(value: Any) -> Any:
    try:
        return check_noise(value)
    except ValueError:
        raise ValueError(f'must be "learn" or a standard deviation from 0, got {value!r}') from None


def _reading(value: Any) -> Reading:
    if value == "stdout":
        return Reading()
    fits = isinstance(value, dict) and set(value) == {"json", "key"}
    if fits and all(isinstance(part, str) and part for part in value.values()):
        return Reading(**value)
    raise ValueError(f'must be "stdout" or {{json = "result.json", key = "loss"}}, got {value!r}')


SQLITE = "sqlite:///"
_OPTION = re.compile(r"\?(?:cache|immutable|mode|nolock|timeout|uri|vfs)=[^/]*$")


def _storage(value: Any) -> str:
    """A SQLite file by its path, which may have any character; or the address of a PostgreSQL database."""
    example = '"sqlite:///study.db" or "postgresql://user@host/name"'
    if not isinstance(value, str):
        raise ValueError(f"must be like {example}, got {value!r}")
    known = re.fullmatch(r"(sqlite:///|postgresql(\+\w+)?://)[^\0]+", value)
    if not known or value == "sqlite:///:memory:":
        raise ValueError(
            f"must be a SQLite file or a PostgreSQL database, which have a lock that goes with its holder, "
            f"like {example}, got {masked(value)!r}"
        )
    if value.startswith(SQLITE):
        if _OPTION.search(value):
            raise ValueError(f"must be a path after {SQLITE}, without options, got {masked(value)!r}")
        return value
    try:
        located(value)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("storage ")) from None
    return value


_TEXT = _accept(lambda value: isinstance(value, str) and bool(value.strip()), "a non-empty string")
_ARGUMENTS = 'a list of strings like ["python", "train.py", "{x}"]'
_FLAG = _accept(lambda value: isinstance(value, bool), "true or false")
_COUNT = _accept(lambda value: is_whole(value, 1), "a whole number from 1")
_NATURAL = _accept(lambda value: is_whole(value, 0), "a whole number from 0")
_NUMBER = _accept(_is_number, "a finite number")
_SECONDS = _accept(lambda value: _is_number(value) and value > 0, "a positive number of seconds")

PLAN: dict[str, Check] = {
    "name": _TEXT,
    "objective": _accept(_is_arguments, _ARGUMENTS),
    "value": _reading,
    "storage": _storage,
    "timeout": _SECONDS,
}
BUDGET: dict[str, Check] = {
    "batch_size": _COUNT,
    "iterations": _COUNT,
    "evaluations": _COUNT,
    "seconds": _SECONDS,
    "target": _NUMBER,
    "asynchronous": _FLAG,
    "max_failures": _COUNT,
}
SETTINGS: dict[str, Check] = {
    "strategy": _one_of(strategies()),
    "acquisition": _one_of(acquisitions()),
    "noise": _noise,
    "prior": _one_of(sorted(PRESETS)),
    "n_initial": _NATURAL,
    "initial": _one_of(sorted(INITIAL)),
    "seed": _NATURAL,
}
CHECKS = {**PLAN, **BUDGET, **SETTINGS}
"""Every key but the space."""
