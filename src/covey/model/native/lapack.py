"""LAPACK and BLAS for compiled kernels, by symbol, so that numba can cache the callers.

SciPy publishes the addresses of its LAPACK and BLAS routines. Registered as LLVM symbols they are
resolved when a kernel is linked, not when it is compiled: the machine code on disk stays valid in the
next process. All routines take pointers (the Fortran convention); matrices are column-major.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba import types
from numba.extending import get_cython_function_address

from covey.model.native.jit import compiled

_CHAR = types.CPointer(types.uint8)
_INT = types.CPointer(types.int32)
_REAL = types.CPointer(types.float64)

LOWER, PLAIN, TRANSPOSED = ord("L"), ord("N"), ord("T")
"""What the routines are told by a letter: which triangle; as it is, or transposed. A side "L" is left."""

_LEFT = LOWER


def _routine(name: str, library: str, *arguments: Any) -> Any:
    symbol = f"covey_{name}"
    llvm.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.cython_{library}", name))
    return types.ExternalFunction(symbol, types.void(*arguments))


dpotrf = _routine("dpotrf", "lapack", _CHAR, _INT, _REAL, _INT, _INT)
"""Cholesky factor in place: (uplo, n, a, lda, info)."""

dpotri = _routine("dpotri", "lapack", _CHAR, _INT, _REAL, _INT, _INT)
"""Inverse from a Cholesky factor, in place: (uplo, n, a, lda, info)."""

dtrsv = _routine("dtrsv", "blas", _CHAR, _CHAR, _CHAR, _INT, _REAL, _INT, _REAL, _INT)
"""One triangular solve in place: (uplo, trans, diag, n, a, lda, x, incx)."""

dtrmv = _routine("dtrmv", "blas", _CHAR, _CHAR, _CHAR, _INT, _REAL, _INT, _REAL, _INT)
"""One triangular product in place: (uplo, trans, diag, n, a, lda, x, incx)."""

dtrsm = _routine("dtrsm", "blas", _CHAR, _CHAR, _CHAR, _CHAR, _INT, _INT, _REAL, _REAL, _INT, _REAL, _INT)
"""Many triangular solves in place: (side, uplo, trans, diag, n, m, alpha, a, lda, b, ldb)."""


@compiled
def _apply(chol: Any, vector: Any, transpose: bool, inverted: bool) -> None:
    """Vector <- the factor, its transpose, or the inverse of either, times vector, in place."""
    lower = np.array([LOWER], dtype=np.uint8)
    plain = np.array([PLAIN], dtype=np.uint8)
    trans = np.array([TRANSPOSED if transpose else PLAIN], dtype=np.uint8)
    size = np.array([chol.shape[0]], dtype=np.int32)
    one = np.ones(1, dtype=np.int32)
    up, op, diagonal, n, step = lower.ctypes, trans.ctypes, plain.ctypes, size.ctypes, one.ctypes
    if inverted:
        dtrsv(up, op, diagonal, n, chol.ctypes, n, vector.ctypes, step)
    else:
        dtrmv(up, op, diagonal, n, chol.ctypes, n, vector.ctypes, step)


@compiled
def solve_vector(chol: Any, vector: Any, transpose: bool) -> None:
    """Vector <- L^-1 vector, or L^-T vector, in place."""
    _apply(chol, vector, transpose, True)


@compiled
def multiply_vector(chol: Any, vector: Any, transpose: bool) -> None:
    """Vector <- L vector, or L^T vector, in place."""
    _apply(chol, vector, transpose, False)


@compiled
def solve_rows(chol: Any, rows: Any, transpose: bool) -> None:
    """Each row b of rows (m, n) <- L^-1 b, or L^-T b, in place."""
    left = np.array([_LEFT], dtype=np.uint8)
    lower = np.array([LOWER], dtype=np.uint8)
    plain = np.array([PLAIN], dtype=np.uint8)
    trans = np.array([TRANSPOSED if transpose else PLAIN], dtype=np.uint8)
    size = np.array([rows.shape[1]], dtype=np.int32)
    count = np.array([rows.shape[0]], dtype=np.int32)
    one = np.ones(1)
    dtrsm(
        left.ctypes,
        lower.ctypes,
        trans.ctypes,
        plain.ctypes,
        size.ctypes,
        count.ctypes,
        one.ctypes,
        chol.ctypes,
        size.ctypes,
        rows.ctypes,
        size.ctypes,
    )


@compiled
def inverse(chol: Any) -> None:
    """The factor's triangle <- the same triangle of the inverse of the matrix."""
    lower = np.array([LOWER], dtype=np.uint8)
    size = np.array([chol.shape[0]], dtype=np.int32)
    info = np.zeros(1, dtype=np.int32)
    dpotri(lower.ctypes, size.ctypes, chol.ctypes, size.ctypes, info.ctypes)
