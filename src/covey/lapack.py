"""How do compiled kernels reach LAPACK and BLAS? By symbol, so that numba can cache the callers.

SciPy publishes the addresses of its LAPACK and BLAS routines. Registered as LLVM symbols they are
resolved when a kernel is linked, not when it is compiled: the machine code on disk stays valid in the
next process. All routines take pointers (the Fortran convention); matrices are column-major.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba.extending import get_cython_function_address

_CHAR = types.CPointer(types.uint8)
_INT = types.CPointer(types.int32)
_REAL = types.CPointer(types.float64)


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

dtrsm = _routine("dtrsm", "blas", _CHAR, _CHAR, _CHAR, _CHAR, _INT, _INT, _REAL, _REAL, _INT, _REAL, _INT)
"""Many triangular solves in place: (side, uplo, trans, diag, n, m, alpha, a, lda, b, ldb)."""
