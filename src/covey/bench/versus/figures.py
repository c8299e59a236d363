"""Figure of a comparison: the performance profile of each method, for each batch size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench.style import Look, look, pyplot, save
from covey.bench.versus.ranks import Record, ends, remaining

FLOOR = 1e-6
"""What is left of the gap is not shown below this."""

_DASHES = (0, (4, 2))
_PEERS: dict[str, Look] = {
    "botorch-qlogei": Look("#0072b2", "-", "o"),
    "botorch-qlognei": Look("#56b4e9", _DASHES, "o"),
    "optuna-gp": Look("#d55e00", "-", "s"),
    "optuna-tpe": Look("#e69f00", _DASHES, "s"),
    "hebo": Look("#009e73", "-", "^"),
    "skopt": Look("#999933", _DASHES, "^"),
    "random": Look("#999999", (0, (1, 1)), "x"),
    "sobol": Look("#555555", (0, (1, 1)), "+"),
}


_WIDTH = 45
"""Characters of a legend that fit below a panel."""


def _looks(methods: Sequence[str]) -> dict[str, Look]:
    """Of each; a strategy's variants, which would all look like it, take those of absent peers in turn."""
    spare = cycle([how for name, how in _PEERS.items() if name not in methods] or [look("")])
    return {method: next(spare) if ":" in method else _PEERS.get(method, look(method)) for method in methods}


def profile(records: Sequence[Record], folder: Path) -> Path | None:
    """The share of runs that leave no more than x of the gap they began with; higher is better."""
    found = {M: ends(records, M) for M in sorted({record["M"] for record in records})}
    shown = {M: end for M, end in found.items() if end.runs}
    if not shown:
        return None
    figure, axes = pyplot().subplots(
        1, len(shown), figsize=(3.4 * len(shown), 3.4), layout="constrained", sharey=True, squeeze=False
    )
    looks = _looks(sorted({record["method"] for record in records}))
    for axis, (M, end) in zip(axes[0], shown.items(), strict=True):
        for method, shares in remaining(records, end).items():
            how, left = looks[method], np.sort(np.maximum(shares, FLOOR))
            x = np.concatenate([[FLOOR], left, [1.0]])
            y = np.concatenate([[0.0], np.arange(1, len(left) + 1), [len(left)]]) / len(left)
            axis.step(x, y, where="post", color=how.color, linestyle=how.dashes, label=method)
        axis.set(title=f"M = {M}", xscale="log", xlim=(FLOOR, 1.0), ylim=(0.0, 1.02))
        axis.set_xlabel("share of the initial gap that is left")
    axes[0, 0].set_ylabel("share of runs")
    named: dict[str, Any] = {}  # not everyone is in every panel
    for axis in axes.flat:
        handles, names = axis.get_legend_handles_labels()
        named |= dict(zip(names, handles, strict=True))
    columns = _WIDTH * len(shown) // (6 + max(len(name) for name in named))
    figure.legend(
        named.values(), named.keys(), loc="outside lower center", ncols=max(1, min(5, columns, len(named)))
    )
    return save(figure, folder, "profile")
