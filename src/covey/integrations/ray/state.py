"""State of a Ray Tune search on disk: every trial, told or in flight, as plain JSON.

An optimizer is its seed, its trials and the order in which they were told, so writing these down is enough to
build it again; nothing is unpickled. Discrete parameters are written as levels, since what they stand for
need not fit into JSON.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from covey.history import Entry, replay
from covey.integrations.labelled import Labelled
from covey.integrations.ray.codec import dump, load
from covey.integrations.ray.layout import Layout
from covey.optimizer import Optimizer
from covey.space import Categorical, Dimension, Space
from covey.space.describe import describe_dimension, differences
from covey.trial import Failure, State, Trial

_FORMAT = "covey.CoveySearch 2"
"""Of the file: another number makes those of other versions unknown."""


def write(path: str, layout: Layout, optimizer: Optimizer, rest: Mapping[str, Any]) -> None:
    """Save an optimizer, its layout and the rest; the file is there whole or not at all."""
    document = {
        "format": _FORMAT,
        "tree": _tree(layout),
        "space": description(layout.space),
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


def optimizer_of(document: Mapping[str, Any], space: Space, settings: Mapping[str, Any]) -> Optimizer:
    """The optimizer of a saved state, with the seed it had, told in the order of arrival.

    Raises:
        ValueError: if it was saved for another space.
    """
    if found := differences(document["space"], description(space)):
        raise ValueError(f"the state was saved for another space: {'; '.join(found)}")
    optimizer = Optimizer(space, **{**settings, "seed": document["seed"]})
    places = {index: place for place, index in enumerate(document["told"])}
    entries = [
        Entry(_params(space, saved["params"]), _result(saved), places.get(index, math.inf))
        for index, saved in enumerate(document["trials"])
    ]
    replay(optimizer, entries)
    return optimizer


def _result(saved: Mapping[str, Any]) -> float | Failure | None:
    if saved["state"] == State.RUNNING:
        return None
    return Failure(saved["reason"]) if saved["state"] == State.FAILED else float(saved["value"])


def description(space: Space) -> dict[str, dict[str, Any]]:
    """A space as plain data that is the same in another process."""
    return {name: describe_dimension(_as_labels(dim)) for name, dim in space.dimensions.items()}


def _as_labels(dimension: Dimension) -> Dimension:
    """Choices as Tune's own are here. The repr of one that is no data may have an address in it."""
    if isinstance(dimension, Categorical):
        return Labelled(Categorical(range(dimension.levels)), dimension.choices)
    return dimension


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
