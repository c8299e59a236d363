"""Compilation: announced when it happens, and only then."""

import os
import subprocess
import sys

import pytest
from numba import njit
from numba.core.event import install_listener

from covey.model.native.jit import Announcement

WORDS = "compiling covey's kernels"


def ask_for_a_kernel(cache, first=""):
    """What a fresh process writes to its standard error when it uses one, perhaps after something else."""
    code = f"{first}import numpy as np; from covey.model.native.jit import dot; dot(np.ones(3), np.ones(3))"
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


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
def test_a_damaged_file_in_the_cache_is_compiled_again_and_mended(tmp_path, kind):
    ask_for_a_kernel(tmp_path)
    for file in tmp_path.rglob(kind):
        file.write_bytes(file.read_bytes()[:20])
    assert "cannot be read" in ask_for_a_kernel(tmp_path)
    assert ask_for_a_kernel(tmp_path) == ""


def test_a_cache_that_cannot_be_written_costs_time_and_nothing_else(tmp_path):
    """No file may grow beyond 100 bytes: what a full disk is to numba."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
    ignore = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    said = ask_for_a_kernel(tmp_path, ignore + limit)
    assert said.count("cannot be written (OSError") == 1


def test_without_a_place_for_the_cache_it_is_said_that_every_process_compiles():
    nowhere = "import numba.core.caching as c; c.CacheImpl._locator_classes.clear(); "
    nowhere += "c.CompileResultCacheImpl._locator_classes = []; "
    assert "in every process" in ask_for_a_kernel("", nowhere)


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
