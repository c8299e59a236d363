"""Split of the data: the rows to learn from, those to judge by, and how both are kept on disk."""

from __future__ import annotations

import os
import tempfile
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from covey.bench.tuning.rows import FEATURES, Rows
from covey.errors import BadData


@dataclass(frozen=True, eq=False)
class Split:
    """A training and a validation set without a row in common.

    Attributes:
        x_train, y_train: features (n, 28) and labels (n,), 0 or 1.
        x_valid, y_valid: features (m, 28) and labels (m,).
    """

    x_train: Rows
    y_train: Rows
    x_valid: Rows
    y_valid: Rows


def load(path: Path, train: int, valid: int) -> Split | None:
    """What is kept at a path; None if there is nothing that can be used."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            split = Split(**{field.name: file[field.name] for field in fields(Split)})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    shapes = [(train, FEATURES), (train,), (valid, FEATURES), (valid,)]
    arrays = [getattr(split, field.name) for field in fields(Split)]
    fits = [array.shape for array in arrays] == shapes and all(a.dtype == np.float32 for a in arrays)
    return split if fits else None


def keep(path: Path, split: Split) -> None:
    """Write it whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            try:
                np.savez(file, allow_pickle=False, **{f.name: getattr(split, f.name) for f in fields(Split)})
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise BadData(f"the cache {path.parent} cannot be written: {error.strerror}") from None
