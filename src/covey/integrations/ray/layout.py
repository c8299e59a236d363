"""Layout of covey's parameters in a nested Ray Tune config: its leaves, under names like "model/depth"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from covey.errors import shown
from covey.integrations.ray.domains import as_dimension, is_domain
from covey.space import Dimension, Space

Path: TypeAlias = tuple[Any, ...]
"""The keys and indices that lead to a part of a config."""

_SEPARATOR = "/"
"""Of the parts of a name, as in Tune's own tables."""


class Layout:
    """A nested config, and the flat space of what varies in it.

    Args:
        config: dicts, lists and tuples with Tune's domains or covey's dimensions among their leaves; or a
            ``covey.Space``, where the name "model/depth" says ``{"model": {"depth": ...}}``.

    Attributes:
        tree: the branches of the config that vary, dimensions at their leaves.
        space: the same dimensions by name.

    Raises:
        ValueError: if nothing varies, or something that has no dimension.
    """

    def __init__(self, config: Mapping[str, Any] | Space) -> None:
        given = _nested(config.dimensions) if isinstance(config, Space) else config
        if not varies(given):
            raise ValueError(f"nothing varies in the search space {shown(config)}")
        self.tree: dict[str, Any] = _searched(given)
        varied = [(_name(path), path, leaf) for path, leaf in _leaves(self.tree)]
        self._paths = {name: path for name, path, _ in varied}
        if len(self._paths) < len(varied):
            raise ValueError(f"two parameters have one name in {[name for name, _, _ in varied]}")
        self.space = Space({name: dimension for name, _, dimension in varied})

    def fill(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The part of the config that varies, with a trial's parameters in it; Tune adds the rest."""
        filled: dict[str, Any] = _filled(self.tree, params)
        return filled

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters in a config of this layout; raises ValueError if one is missing."""
        return {name: _at(config, path) for name, path in self._paths.items()}


def varies(config: Any) -> bool:
    """Whether there is anything to search in a config, or in a part of one."""
    return any(_leaves(config))


def _name(path: Path) -> str:
    return _SEPARATOR.join(map(str, path))


def _nested(flat: Mapping[str, Dimension]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, dimension in flat.items():
        if any(other.startswith(name + _SEPARATOR) for other in flat):
            raise ValueError(f"parameter {shown(name)}: a value cannot also hold other parameters")
        *parents, last = name.split(_SEPARATOR)
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[last] = dimension
    return tree


def _is_leaf(part: Any) -> bool:
    return is_domain(part) or hasattr(part, "spread")  # which every covey.Dimension has


def _leaves(part: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if _is_leaf(part):
        yield path, part
    elif isinstance(part, (Mapping, list, tuple)):
        for key, inner in part.items() if isinstance(part, Mapping) else enumerate(part):
            yield from _leaves(inner, (*path, key))


def _searched(part: Any, path: Path = (), whole: bool = False) -> Any:
    """The branches that vary, with dimensions at their leaves; constants too where it has to be whole."""
    if _is_leaf(part):
        return _dimension(_name(path), part)
    if isinstance(part, Mapping):
        kept = {key: inner for key, inner in part.items() if whole or varies(inner)}
        return {key: _searched(inner, (*path, key), whole) for key, inner in kept.items()}
    if isinstance(part, (list, tuple)):  # Tune merges dicts into its own, and replaces everything else
        return type(part)([_searched(inner, (*path, k), whole=True) for k, inner in enumerate(part)])
    return part


def _filled(part: Any, params: Mapping[str, Any], path: Path = ()) -> Any:
    if _is_leaf(part):
        return params[_name(path)]
    if isinstance(part, Mapping):
        return {key: _filled(inner, params, (*path, key)) for key, inner in part.items()}
    if isinstance(part, (list, tuple)):
        return type(part)([_filled(inner, params, (*path, k)) for k, inner in enumerate(part)])
    return part


def _at(config: Any, path: Path) -> Any:
    for key in path:
        try:
            config = config[key]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"parameter {shown(_name(path))} is missing in the configuration") from None
    return config


def _dimension(name: str, leaf: Any) -> Dimension:
    try:
        if not is_domain(leaf):
            own: Dimension = leaf
            return own
        if any(varies(choice) for choice in getattr(leaf, "categories", ())):
            raise ValueError("a choice between search spaces has no dimension; give each part its own name")
        return as_dimension(leaf)
    except ValueError as error:
        raise ValueError(f"parameter {shown(name)}: {error}") from None
