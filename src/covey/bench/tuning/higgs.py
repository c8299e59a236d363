"""Data that XGBoost learns from: a uniform sample of HIGGS, kept on disk, or a generated set like it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from covey.bench.tuning.rows import COLUMNS, FEATURES, Rows, chunks, unreadable
from covey.bench.tuning.split import Split, keep, load
from covey.errors import BadData

TRAIN, VALID = 1_120_000, 400_000
"""The paper's sizes (its section on hyper-parameter optimization), about."""

ALL = 11_000_000
"""Rows of the whole file."""

SMALL = (11_200, 4_000)
"""Sizes of the generated data: enough to see methods differ, at a second an evaluation."""

_FORMAT = 1
"""Of the files in the cache: another number makes old ones unknown."""


class Source(Hashable, Protocol):
    """Where data come from; small, hashable and the same in every process, which the data are not.

    Attributes:
        name: how the data are called in results.
        about: what tells them from others.
    """

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> dict[str, Any]: ...

    def split(self) -> Split:
        """The data; raises BadData."""


@dataclass(frozen=True)
class Higgs:
    """A sample of a file, kept in a cache.

    Attributes:
        path: see ``covey.bench.tuning.rows.chunks``.
        cache: a folder, made if it is not there.
        train, valid: numbers of rows.
        seed: of the sample.
    """

    path: Path
    cache: Path
    train: int = TRAIN
    valid: int = VALID
    seed: int = 0

    @property
    def name(self) -> str:
        """Of the problem."""
        return "higgs"

    @property
    def about(self) -> dict[str, Any]:
        """The file without its folder or age: a copy elsewhere is the same."""
        size = self._status.st_size
        parts = {"data": self.path.name, "bytes": size, "train": self.train, "valid": self.valid}
        return parts | {"data_seed": self.seed}

    @property
    def cached(self) -> Path:
        """Where the sample is kept: another file, or a changed one, is another sample."""
        parts = self.about | {"changed": self._status.st_mtime_ns, "format": _FORMAT}
        return self.cache / f"higgs-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]}.npz"

    @property
    def _status(self) -> os.stat_result:
        try:
            return self.path.stat()
        except OSError as error:
            raise unreadable(self.path, error) from None

    def split(self) -> Split:
        """From the cache, or from the file and then into the cache."""
        kept = load(self.cached, self.train, self.valid)
        if kept is not None:
            return kept
        wanted = self.train + self.valid
        rows, seen = sample(chunks(self.path), wanted, self.seed)
        if seen < wanted:
            raise BadData(
                f"{self.path} has {seen:,} rows, fewer than {self.train:,} to train and {self.valid:,} "
                "to validate with: lower --train and --valid"
            )
        found = _divide(rows, self.train)
        keep(self.cached, found)
        return found


def sample(stream: Iterable[Rows], count: int, seed: int) -> tuple[Rows, int]:
    """Rows drawn uniformly without replacement, in random order, whatever the chunks they come in.

    Each row gets a uniform random key; the ``count`` rows with the smallest keys are the sample, in the order
    of their keys. Only these are in memory, besides a chunk.

    Args:
        stream: chunks (any, 29).
        count: how many rows.
        seed: of the keys.

    Returns:
        Rows (count, 29), or all if there are fewer, and how many there were.
    """
    rng, seen = np.random.default_rng(seed), 0
    kept, keys = np.zeros((count, COLUMNS), np.float32), np.full(count, np.inf)
    for rows in stream:
        both = np.concatenate([keys, rng.random(len(rows))])
        stays = np.zeros(len(both), bool)
        stays[np.argpartition(both, count - 1)[:count]] = True
        leaves, enters = np.flatnonzero(~stays[:count]), np.flatnonzero(stays[count:])
        kept[leaves], keys[leaves] = rows[enters], both[count + enters]
        seen += len(rows)
    return kept[np.argsort(keys, kind="stable")[: min(count, seen)]], seen


def _divide(rows: Rows, train: int) -> Split:
    """Rows (n, 29) in random order -> the first ``train`` and the others."""
    x, y = np.ascontiguousarray(rows[:, 1:]), rows[:, 0].copy()
    return Split(x[:train], y[:train], x[train:], y[train:])


@dataclass(frozen=True)
class Synthetic:
    """A generated set: see ``synthetic``."""

    train: int = SMALL[0]
    valid: int = SMALL[1]
    seed: int = 0

    @property
    def name(self) -> str:
        """Of the problem."""
        return "synthetic"

    @property
    def about(self) -> dict[str, Any]:
        """All there is to it."""
        return {"data": self.name, "train": self.train, "valid": self.valid, "data_seed": self.seed}

    def split(self) -> Split:
        """Generated anew, the same each time."""
        return synthetic(self.train, self.valid, self.seed)


def synthetic(train: int, valid: int, seed: int) -> Split:
    """Data of HIGGS' shape: 28 features, 53% of labels 1, and a signal that no linear model sees whole.

    Features are normal, the odd ones exponentiated and thus positive and skewed. The label is 1 with
    probability 1 / (1 + exp(-0.8 f)), f a sum of products, waves and steps of nine of the features; who
    knows f has a log-loss of 0.48.
    """
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((train + valid, FEATURES), dtype=np.float32)
    bumps = np.abs(z[:, 3]) + 2 * (z[:, 4] > 0.5) * z[:, 5] - np.abs(z[:, 7] - z[:, 8])
    f = 1.6 * z[:, 0] * z[:, 1] + 1.2 * np.sin(2.0 * z[:, 2]) + bumps + 0.8 * z[:, 6] + 0.55
    labels = rng.random(len(z)) < 1 / (1 + np.exp(-0.8 * f))
    x = np.where(np.arange(FEATURES) % 2, np.exp(0.5 * z), z)
    return _divide(np.column_stack([labels, x]).astype(np.float32), train)
