"""Compilation: announced when it happens, and only then."""

import os
import subprocess
import sys

import pytest
from numba import njit
from numba.core.event import install_listener

from covey.model.native.jit import Announcement

WORDS = "compiling covey's kernels"


def ask_for_a_kernel(cache):
    """What a fresh process writes to its standard error when it uses one."""
    code = (
        "import numpy as np; from covey.model.native.jit import dot; assert dot(np.ones(3), np.ones(3)) == 3"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stderr


def test_compiling_is_announced_and_loading_what_was_compiled_is_not(tmp_path):
    assert ask_for_a_kernel(tmp_path).count(WORDS) == 1
    assert ask_for_a_kernel(tmp_path) == ""


def compile_two(module):
    def up(x):
        return x + 1

    def down(x):
        return x - 1

    for function in (up, down):
        function.__module__ = module
        njit(function)(1.0)


@pytest.mark.parametrize(
    ("module", "times"), [("covey.anything", 1), ("somebody.elses", 0), ("covey_like", 0)]
)
def test_it_is_announced_once_and_only_for_kernels_of_covey(caplog, module, times):
    listener = Announcement()
    with install_listener("numba:compile", listener):
        compile_two(module)
    assert listener.said == bool(times)
    assert caplog.text.count(WORDS) in (times, 2 * times)  # the process may say it for the first time too
