"""What survives when a Ray Tune run is stopped? Every trial, told or in flight, as plain JSON.

An optimizer is its seed and its trials, so writing these down is enough to build it again; nothing is
unpickled. Discrete parameters are written as levels, since what they stand for need not fit into JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from covey.integrations.ray.codec import dump, load
from covey.integrations.ray.layout import Layout
from covey.optimizer import Optimizer
from covey.space import Dimension, Space
from covey.trial import Failure, State, Trial

_FORMAT = "covey.CoveySearch 1"
_FEW = 64
"""Up to this many levels are all looked at to tell spaces apart."""


def write(path: str, layout: Layout, optimizer: Optimizer, rest: Mapping[str, Any]) -> None:
    """Save an optimizer, its layout and the rest; the file is there whole or not at all."""
    document = {
        "format": _FORMAT,
        "tree": _tree(layout),
        "space": sketch(layout.space),
        "seed": optimizer.seed,
        "trials": [_written(layout.space, trial) for trial in optimizer.trials],
        **rest,
    }
    beside = Path(f"{path}.part")
    beside.write_text(json.dumps(document))
    os.replace(beside, path)


def read(path: str) -> dict[str, Any]:
    """A saved state; raises ValueError if the file is something else."""
    try:
        document = json.loads(Path(path).read_text())
    except ValueError:  # neither JSON nor text
        document = None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ValueError(f"{path} was not saved by this version of CoveySearch")
    return document


def layout_of(document: Mapping[str, Any]) -> Layout:
    """The layout in a saved state; raises ValueError if there is none."""
    if document["tree"] is None:
        raise ValueError("the search space could not be saved: give it to CoveySearch before restoring")
    return Layout(load(document["tree"]))


def _tree(layout: Layout) -> Any:
    """A layout's tree, or None with choices in it that are no data. Of the Tuner's space all is data."""
    try:
        return dump(layout.tree)
    except TypeError:
        return None


def replay(document: Mapping[str, Any], space: Space, settings: Mapping[str, Any]) -> Optimizer:
    """The optimizer of a saved state, with the seed it had.

    Raises:
        ValueError: if it was saved for another space.
    """
    if (ours := sketch(space)) != document["space"]:
        raise ValueError(f"the state was saved for another space: {document['space']}, now {ours}")
    optimizer = Optimizer(space, **{**settings, "seed": document["seed"]})
    for saved in document["trials"]:
        trial = optimizer.include(_params(space, saved["params"]))
        if saved["state"] != State.RUNNING:
            failed = saved["state"] == State.FAILED
            optimizer.tell(trial, Failure(saved["reason"]) if failed else saved["value"])
    return optimizer


def sketch(space: Space) -> dict[str, list[Any]]:
    """Values of each dimension: enough to tell two spaces apart, and the same in another process."""
    return {name: [_plain(value) for value in _samples(dim)] for name, dim in space.dimensions.items()}


def _samples(dimension: Dimension) -> list[Any]:
    if (count := dimension.levels) is None:
        return [dimension.decode(position) for position in (0.0, 0.5, 1.0)]
    levels = range(count) if count <= _FEW else (0, count // 2, count - 1)
    return [count, *(_at_level(dimension, level) for level in levels)]


def _plain(value: Any) -> Any:
    """A number or a text as it is, of other things their kind: a repr may have an address in it."""
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else type(value).__name__


def _at_level(dimension: Dimension, level: int) -> Any:
    return dimension.decode(float(dimension.position(np.asarray(float(level)))))


def _written(space: Space, trial: Trial) -> dict[str, Any]:
    params = {
        name: trial.params[name] if dim.levels is None else dim.level(dim.encode(trial.params[name]))
        for name, dim in space.dimensions.items()
    }
    return {"params": params, "state": trial.state, "value": trial.value, "reason": trial.reason}


def _params(space: Space, written: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: written[name] if dim.levels is None else _at_level(dim, written[name])
        for name, dim in space.dimensions.items()
    }
