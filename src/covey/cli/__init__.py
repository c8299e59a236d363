"""The command line: what can be done with a study.toml, without writing Python."""

from __future__ import annotations

import sys


def main() -> None:
    """The command ``covey``; Ctrl-C while it is loading is as quiet as later."""
    try:
        from covey.cli.app import app

        app(prog_name="covey")
    except KeyboardInterrupt:
        print("covey: interrupted", file=sys.stderr)
        sys.exit(130)
