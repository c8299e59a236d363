"""The command ``covey``: its first moment, before covey and NumPy are loaded.

Loading takes half a second. Ctrl-C in it ends the command as later, in one line; nothing can be lost yet.
This file is not in the package because a module of a package is imported after all that the package imports.
"""

from __future__ import annotations

import os
import signal
from types import FrameType


def _leave(_number: int, _frame: FrameType | None) -> None:
    # An exception could be swallowed by whatever is being imported.
    os.write(2, b"covey: interrupted\n")
    os._exit(130)


def main() -> None:
    """Load the command line and do what it says."""
    loading = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if loading:  # a signal that a shell has covey ignore stays ignored
        signal.signal(signal.SIGINT, _leave)
    from covey.cli.app import app

    if loading:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app(prog_name="covey")


if __name__ == "__main__":
    main()
