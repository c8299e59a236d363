"""Climbing and the nearest point under linear inequalities: quadratic programs, one for each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covey.arrays import Array

ValueAndGradient = Callable[[Array], tuple[Array, Array]]
"""From rows (k, d), any number of them, to values (k,) and gradients (k, d)."""


@dataclass(frozen=True)
class Pace:
    """How a climb walks.

    Attributes:
        first: length of the first step, before anything is known of the curvature.
        armijo: share of the promised gain that a step must keep.
        shrink: what a step that does not is multiplied with, between these by the parabola through it.
        evaluations: per step, on average, as L-BFGS-B in a box has.
        gain: promised, relative to the value, below which a row has arrived.
    """

    first: float = 0.2
    armijo: float = 1e-4
    shrink: tuple[float, float] = (0.1, 0.5)
    evaluations: int = 2
    gain: float = 1e-12


PACE = Pace()

_EXACT = 1e-13
"""A constraint that is violated by no more is held: some roundings of numbers around 1."""


def least_distance(C: Array, h: Array) -> Array:
    """The shortest y (f,) with C y <= h, by non-negative least squares (Lawson and Hanson 1974, ch. 23).

    Where that is not exact, the rows that hold y back are solved for once more.
    """
    from scipy.optimize import nnls  # slow to import

    if (h >= 0).all():
        return np.zeros(C.shape[1])
    system = np.vstack([-C.T, -h])
    try:
        weights, _ = nnls(system, np.append(np.zeros(C.shape[1]), 1.0), maxiter=20 * len(C))
    except RuntimeError:  # it goes round in circles, which rounding can make it do
        return _pushed(C, h)
    rest = 1.0 + weights @ h
    if rest <= 0:
        return _pushed(C, h)
    rough = -(C.T @ weights) / rest
    if (C @ rough - h).max() <= _EXACT:
        return np.asarray(rough)
    back = weights > 0
    polished = np.linalg.lstsq(C[back], h[back], rcond=None)[0]
    return np.asarray(min(polished, rough, key=lambda y: float((C @ y - h).max())), dtype=float)


def _pushed(C: Array, h: Array) -> Array:
    """The same by Hildreth's sweeps over the rows, which always come nearer."""
    y, weight = np.zeros(C.shape[1]), np.zeros(len(C))
    length = (C**2).sum(axis=1)
    for _ in range(1000):
        for k in np.flatnonzero(length > 0):
            change = max((C[k] @ y - h[k]) / length[k], -weight[k])
            weight[k] += change
            y -= change * C[k]
        if (C @ y - h).max() <= _EXACT:
            break
    return y


def climb(function: ValueAndGradient, rows: Array, steps: int, G: Array, g: Array, basis: Array) -> Array:
    """Rows (k, d) moved up along basis (d, f) inside G u <= g, by sequential quadratic programs.

    Each row has its own BFGS matrix, and all rows are evaluated together. Every step ends inside, as the
    rows, the programs' solutions and all points between are.
    """
    rows, f = rows.copy(), basis.shape[1]
    values, gradients = function(rows)
    slopes = -gradients @ basis
    awake = np.isfinite(values) & np.isfinite(slopes).all(axis=1)
    if f == 0 or not awake.any():
        return rows
    C = G @ basis
    length = np.linalg.norm(slopes, axis=1)
    bends = np.eye(f) * (np.maximum(length, 1e-300) / PACE.first)[:, None, None]
    fresh, share, taken = awake.copy(), np.ones(len(rows)), np.zeros(len(rows), dtype=int)
    moves = np.zeros((len(rows), f))
    first = np.ones(len(rows), dtype=bool)
    for _ in range(PACE.evaluations * steps):
        for k in np.flatnonzero(fresh & awake):
            moves[k] = _step(bends[k], slopes[k], C, np.maximum(g - G @ rows[k], 0.0))
            awake[k] = -slopes[k] @ moves[k] > PACE.gain * max(abs(values[k]), PACE.gain)
        fresh[:] = False
        index = np.flatnonzero(awake)
        if len(index) == 0:
            break
        trial = rows[index] + share[index, None] * (moves[index] @ basis.T)
        found, gradient = function(trial)
        for k, row, value, slope in zip(index, trial, found, -gradient @ basis, strict=True):
            promised = -share[k] * (slopes[k] @ moves[k])
            gained = value - values[k]
            if gained >= PACE.armijo * promised and np.isfinite(slope).all():
                bends[k] = _bent(bends[k], share[k] * moves[k], slope - slopes[k], first[k])
                rows[k], values[k], slopes[k] = row, value, slope
                share[k], first[k], fresh[k] = 1.0, False, True
                taken[k] += 1
                awake[k] = taken[k] < steps
            else:
                best = promised / (2 * (promised - gained)) if np.isfinite(gained) else 0.0
                share[k] *= np.clip(best, *PACE.shrink)
                awake[k] = share[k] > 1e-10
    return rows


def _step(bend: Array, slope: Array, C: Array, room: Array) -> Array:
    """The q (f,) that minimises slope @ q + q @ bend @ q / 2 with C q <= room."""
    lower = np.linalg.cholesky(bend)
    back = np.linalg.inv(lower).T
    free = -(back.T @ slope)  # in coordinates in which the bend is the identity
    turned = C @ back
    over = room - turned @ free
    return np.asarray(back @ (free + least_distance(turned, over)))


def _bent(bend: Array, move: Array, change: Array, first: bool) -> Array:
    """The BFGS matrix after a move, damped as Powell (1978) does where the function is not concave."""
    along = float(move @ change)
    if first and along > 0:
        bend = np.eye(len(move)) * (change @ change) / along
    pulled = bend @ move
    energy = float(move @ pulled)
    if energy <= 0:
        return bend
    if along < 0.2 * energy:
        mix = 0.8 * energy / (energy - along)
        change = mix * change + (1 - mix) * pulled
        along = float(move @ change)
    found = bend - np.outer(pulled, pulled) / energy + np.outer(change, change) / along
    scale = np.trace(found) / len(move)
    return np.asarray(found + 1e-10 * scale * np.eye(len(move)))
