"""Command ``covey bench compact``: smaller files of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from covey.bench.compact import compact as compacted
from covey.cli.bench.paper import bench
from covey.errors import InputError


@bench.command(epilog="Example: covey bench compact versus-results")
def compact(
    folder: Annotated[Path, typer.Argument(help="Where covey bench has put its results.")],
) -> None:
    """Keep only what tables and figures read, compressed.

    Every file of results in the folder is replaced. Points and their values are gone then, so a benchmark
    that is not complete is continued before.
    """
    try:
        paths = compacted(folder)
    except OSError as error:
        raise InputError(f"cannot write: {error}") from None
    for path in paths:
        typer.echo(path)
