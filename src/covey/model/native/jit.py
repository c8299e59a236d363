"""Compilation of Python to machine code: once, cached, without the GIL, and so that loops vectorise."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.event import Event, Listener, register
from numba.extending import intrinsic

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SHIFT = 6755399441055744.0
"""1.5 * 2^52: adding it to a small double leaves the nearest integer in the low bits of the sum."""


_log = logging.getLogger("covey")


class ForgivingCache:
    """A cache of numba's that never ends a suggestion: what it cannot read or keep is compiled.

    A full disk, a file that was cut off or one of another make are no reason to stop.

    Args:
        cache: numba's own, of one function.
    """

    complained = False

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        """What was compiled earlier; None if there is nothing that can be used."""
        try:
            return self._cache.load_overload(*arguments)
        except Exception as error:  # whatever a damaged file makes of itself
            self._complain("read", error)
            with suppress(Exception):
                self._cache.flush()  # an index that cannot be read is not read again
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep what was compiled, if it can be kept."""
        try:
            self._cache.save_overload(*arguments)
        except Exception as error:
            self._complain("written", error)

    def _complain(self, done: str, error: Exception) -> None:
        """Once in a process: a disk that is full is full for every kernel."""
        if not ForgivingCache.complained:
            ForgivingCache.complained = True
            _log.warning(
                "compiled kernels in %s cannot be %s (%s: %s): compiling them in this process",
                self._cache.cache_path,
                done,
                type(error).__name__,
                error,
            )


class Announcement(Listener):
    """Says once in a process that kernels are being compiled: the first seconds on a new machine.

    Kernels that are loaded from the disk raise no such event, and those of others are none of our business.
    """

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Event) -> None:
        """A function is about to be compiled."""
        dispatcher = event.data["dispatcher"]
        if dispatcher.py_func.__module__.startswith("covey.") and not self.said:
            self.said = True
            kept = isinstance(dispatcher._cache, ForgivingCache)
            often = "once" if kept else "in every process, since numba finds no place to keep them"
            _log.warning("compiling covey's kernels for a few seconds: %s", often)

    def on_end(self, event: Event) -> None:
        """It was compiled: nothing to say."""


register("numba:compile", Announcement())


def compiled(function: Callable[..., Any], *relaxed: str) -> Any:
    """Compile lazily and keep the machine code on disk where a directory can be written.

    Array expressions and ``np.dot`` are left out of compiled code: they take seconds to compile.
    """
    options: dict[str, Any] = {"nogil": True, "fastmath": {"contract", *relaxed}, "error_model": "numpy"}
    try:
        dispatcher = njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no place for its cache: compile in each process instead
        return njit(**options)(function)
    dispatcher._cache = ForgivingCache(dispatcher._cache)
    return dispatcher


@intrinsic
def _bits(_context: Any, _value: Any) -> Any:
    """Read a float64 as the int64 with the same bits."""

    def generate(_c: Any, builder: Any, _s: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(_context: Any, _value: Any) -> Any:
    """Read an int64 as the float64 with the same bits."""

    def generate(_c: Any, builder: Any, _s: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(inline="always")
def exp_minus(x: float) -> float:
    """exp(-x) for x >= 0 to the last bit or two, in operations that a compiler can vectorise.

    exp(-x) = 2^k exp(r) with |r| <= ln(2)/2, and a Taylor polynomial for exp(r). The C library's own
    ``exp`` is a call per element, which made it the larger half of a covariance matrix.
    """
    y = -min(x, 700.0)
    shifted = y * _LOG2E + _SHIFT
    k = shifted - _SHIFT
    r = (y - k * _LN2_HIGH) - k * _LN2_LOW
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return _from_bits(_bits(p) + (_bits(shifted) << 52))


def _dot_product(a: Any, b: Any) -> float:
    """Sum of the products; in any order, so that it can be vectorised."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


dot = compiled(_dot_product, "reassoc")
