"""Commands ``covey bench paper``, ``table`` and ``figures``: the paper's experiments."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from covey.bench.paper import protocol as protocol
from covey.bench.paper import table as tables
from covey.bench.paper.runs import Job, Settings, acquisition_of, run
from covey.bench.pool import run_all
from covey.bench.problems.functions import problem
from covey.bench.records import Results, find, read, there
from covey.errors import InputError

bench = typer.Typer(
    help="Benchmarks: the paper's experiments, and more.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

STARTS = 1
"""By default, chosen by experiment: docs/paper.md."""

KEY = ("problem", "method", "acquisition", "M", "seed")


def names(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    """What an option lists, separated by commas, each once."""
    if text is None:
        return default
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


@bench.command(
    epilog="Example: covey bench paper --problems branin --methods ats,b-lcb --reps 2 --jobs 2 --out results"
)
def paper(
    problems: Annotated[str | None, typer.Option(help="Separated by commas; by default all five.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Separated by commas, with any settings, as in ats-b-lcb:p=1.")
    ] = None,
    reps: Annotated[int, typer.Option(min=1, help="Runs of each, with seeds from --seed.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at once, each on one core.")] = 1,
    out: Annotated[Path, typer.Option(help="A folder for the results.")] = Path("paper-results"),
    seed: Annotated[int, typer.Option(min=0, help="Of the first run.")] = 0,
    batch_sizes: Annotated[
        str | None, typer.Option(help="Of methods other than sequential; by default the paper's M.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="By default the paper's T.")] = None,
    prior: Annotated[str, typer.Option(help="One of " + ", ".join(protocol.PRIORS) + ".")] = "paper",
    s: Annotated[int, typer.Option("--s", min=1, help="Thetas averaged over.")] = 10,
    p: Annotated[
        float,
        typer.Option("--p", min=0, max=1, help="Probability of fresh thetas in ats-b-lcb and ats-p-ts."),
    ] = 0.5,
    starts: Annotated[
        int,
        typer.Option(
            min=0, help="Climbs to a maximum of an acquisition function; 0 scans for the global one."
        ),
    ] = STARTS,
) -> None:
    """Run the paper's experiments on synthetic functions.

    Results are appended to OUT/results.jsonl, a line for every batch iteration. Runs that are there already
    are not done again, so the same command continues after an interruption. Sequential runs go on for as many
    evaluations as the batches make, to see how much faster these are. The method auto is not of the paper: it
    runs with its own prior, acquisition function and settings.
    """
    settings = Settings(prior, s, p, starts)
    try:
        todo = _jobs(
            names(problems, tuple(protocol.COLUMNS)),
            names(methods, protocol.METHODS),
            [batch_size(text) for text in names(batch_sizes, ())],
            iterations,
            range(seed, seed + reps),
            settings,
        )
        for job in todo:
            protocol.prior_of(prior, problem(job.problem).space)
    except ValueError as error:
        raise InputError(str(error)) from None
    results = Results(out, asdict(settings), KEY)
    left = [job for job in todo if results.done.get(results.key_of(asdict(job)), -1) < job.iterations]
    run_all(
        partial(run, settings=settings),
        left,
        jobs,
        lambda _, found: results.add(found),
        len(todo) - len(left),
    )
    typer.echo(
        f"{len(todo)} runs in {results.path}; see covey bench table {out} and covey bench figures {out}"
    )


def batch_size(text: str) -> int:
    """What an option says, or ValueError."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"batch sizes are whole numbers from 1, got {text}")
    return int(text)


def _jobs(
    problems: tuple[str, ...],
    methods: tuple[str, ...],
    sizes: list[int],
    iterations: int | None,
    seeds: range,
    settings: Settings,
) -> list[Job]:
    """Runs in the order of their seeds, so that what there is after a while covers everything."""
    found = []
    for seed in seeds:
        for name in problems:
            column = protocol.COLUMNS.get(name) or protocol.other(problem(name).name)
            for method in methods:
                rounds = iterations or column.iterations
                acquisition = acquisition_of(method, settings, column.acquisition)
                if method.partition(":")[0] == "sequential":
                    found.append(Job(name, method, acquisition, 1, rounds * column.batch, seed))
                    continue
                for size in sizes or [column.batch]:
                    found.append(Job(name, method, acquisition, size, rounds, seed))
    return found


@bench.command(epilog="Example: covey bench table results")
def table(
    folder: Annotated[Path, typer.Argument(help="Where covey bench paper has put its results.")],
    csv: Annotated[Path | None, typer.Option(help="Write the cells to this CSV file too.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write to this file instead of stdout.")] = None,
) -> None:
    """Show the paper's table and ours side by side, in Markdown."""
    _, records = read(find(folder))
    found = tables.cells(records)
    if not found:
        raise InputError(f"{folder} has no run that reaches the paper's number of iterations")
    if csv is not None:
        csv.write_text(tables.csv_text(found), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(tables.markdown(found), encoding="utf-8")
    else:
        typer.echo(tables.markdown(found), nl=False)


@bench.command(epilog="Example: covey bench figures results")
def figures(
    folder: Annotated[
        Path, typer.Argument(help="Where covey bench paper and xgboost have put their results.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to draw; by default in the same folder.")] = None,
) -> None:
    """Draw the paper's figures from results on disk, as PNG.

    Those for which there are no results are left out.
    """
    from covey.bench.paper.figures import FIGURES

    found = {name: read(path)[1] for name in ("results", "xgboost") if (path := there(folder, name))}
    if not found:
        raise InputError(f"{folder} has no results: run covey bench paper --out {folder} first")
    drawn = [draw(found.get(name, []), out or folder) for name, draw in FIGURES]
    paths = [path for path in drawn if path is not None]
    for path in paths:
        typer.echo(path)
    if not paths:
        raise InputError(f"the results in {folder} are not of the paper's problems: nothing to draw")
