"""Commands ``covey bench versus`` and ``covey bench ranks``: covey beside other optimisers."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from covey.bench.pool import run_all
from covey.bench.records import Results, find, read
from covey.bench.versus.peers import PEERS
from covey.bench.versus.play import BATCHES, KEY, play, runs
from covey.bench.versus.players import check
from covey.bench.versus.suite import GROUPS, KINDS, SUITE, instance, members
from covey.cli.bench.paper import batch_size, bench, names
from covey.errors import InputError

NAME = "versus"
"""Of the file of results."""

_DEFAULTS = ", ".join(f"{batches} batches of {M}" for M, batches in BATCHES.items())


@bench.command(
    epilog="Example: covey bench versus --problems branin,ackley5 --peers optuna-tpe,random --reps 2"
)
def versus(
    problems: Annotated[
        str | None,
        typer.Option(help=f"Or groups ({', '.join(GROUPS)}); by default {', '.join(KINDS)}."),
    ] = None,
    methods: Annotated[
        str, typer.Option(help="Of covey, separated by commas, with settings as in auto:s=4.")
    ] = "auto",
    peers: Annotated[
        str | None, typer.Option(help=f"By default all: {', '.join(PEERS)}; '' for none.")
    ] = None,
    batch_sizes: Annotated[str | None, typer.Option(help="By default 1, 5 and 20.")] = None,
    reps: Annotated[int, typer.Option(min=1, help="Runs of each, with seeds from --seed.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at once, each on one core.")] = 1,
    out: Annotated[Path, typer.Option(help="A folder for the results.")] = Path("versus-results"),
    seed: Annotated[int, typer.Option(min=0, help="Of the first run.")] = 0,
    evaluations: Annotated[
        int | None,
        typer.Option(min=1, help=f"After the initial points, in whole batches; by default {_DEFAULTS}."),
    ] = None,
    clone: Annotated[Path, typer.Option(help="The clone of covey that has benchmarks/peers.")] = Path("."),
) -> None:
    """Run covey beside other optimisers on the development suite.

    All begin with the same random points and have the same budget and one core. Results are appended to
    OUT/versus.jsonl, a line for every batch. Runs that are there already are not done again, so the same
    command continues after an interruption.
    """
    others = names(peers, tuple(PEERS))
    who = (*names(methods, ()), *others)
    try:
        for other in others:
            if other not in PEERS:
                raise ValueError(f"--peers must be of {list(PEERS)}, got {other!r}")
        sizes = [batch_size(text) for text in names(batch_sizes, tuple(map(str, BATCHES)))]
        which = members(names(problems, tuple(SUITE)))
        todo = runs(which, who, sizes, range(seed, seed + reps), evaluations)
        for name in {run.problem for run in todo}:
            instance(name, seed)
        for method in who:
            check(method, clone)
        if not todo:
            raise ValueError("nothing to run: give problems, batch sizes, and methods or peers")
    except ValueError as error:
        raise InputError(str(error)) from None
    results = Results(out, {"evaluations": evaluations}, KEY, name=NAME)
    left = [run for run in todo if results.done.get(results.key_of(asdict(run)), -1) < run.iterations]
    work = partial(play, clone=clone.resolve())
    run_all(work, left, jobs, lambda _, found: results.add(found), len(todo) - len(left))
    typer.echo(f"{len(todo)} runs in {results.path}; see covey bench ranks {out}")


@bench.command(epilog="Example: covey bench ranks versus-results")
def ranks(
    folder: Annotated[Path, typer.Argument(help="Where covey bench versus has put its results.")],
    markdown: Annotated[Path | None, typer.Option(help="Write to this file instead of stdout.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to draw; by default in the same folder.")] = None,
) -> None:
    """Compare: mean ranks, values, seconds, and a performance profile.

    The tables are in Markdown, the figure is drawn as PNG. Only problems and seeds count that every
    method has been run on.
    """
    from covey.bench.versus.figures import profile
    from covey.bench.versus.markdown import markdown as text

    _, records = read(find(folder, NAME))
    if not records:
        raise InputError(f"{folder} has no results yet")
    try:
        if markdown is None:
            typer.echo(text(records), nl=False)
        else:
            markdown.write_text(text(records), encoding="utf-8")
        drawn = profile(records, out or folder)
    except OSError as error:
        raise InputError(f"cannot write: {error}") from None
    if drawn is not None:
        typer.echo(drawn, err=True)
