"""Command ``covey bench xgboost``: XGBoost on HIGGS."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from covey.bench.extras import needed
from covey.bench.paper.protocol import prior_of
from covey.bench.paper.runs import Job, Settings, acquisition_of, run
from covey.bench.pool import run_all
from covey.bench.records import Results
from covey.bench.tuning import boosting
from covey.bench.tuning.higgs import ALL, SMALL, TRAIN, VALID, Higgs, Source, Synthetic
from covey.cli.bench.paper import KEY, STARTS, bench, names
from covey.errors import InputError

NO_DATA = (
    "give --data HIGGS.csv.gz, which is in the UCI Machine Learning Repository (data set HIGGS, number 280: "
    "2.6 GB compressed, 11 million rows), or --synthetic to run on a generated data set of the same shape"
)


@bench.command(
    epilog="Example: covey bench xgboost --data HIGGS.csv.gz --train 112000 --valid 40000 --jobs 2"
)
def xgboost(
    data: Annotated[Path | None, typer.Option(help="HIGGS.csv.gz, or a file like it; or unpacked.")] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Generated data instead.")] = False,
    train: Annotated[
        int | None,
        typer.Option(min=2, max=ALL, help=f"Training rows; by default {TRAIN:,}; synthetic {SMALL[0]:,}."),
    ] = None,
    valid: Annotated[
        int | None,
        typer.Option(min=1, max=ALL, help=f"Validation rows; by default {VALID:,}; synthetic {SMALL[1]:,}."),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Separated by commas, with any settings, as in ats-b-lcb:p=1.")
    ] = None,
    reps: Annotated[int, typer.Option(min=1, help="Runs of each, with seeds from --seed.")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at once, each on one core.")] = 1,
    iterations: Annotated[int, typer.Option(min=1, help="T.")] = boosting.ITERATIONS,
    sequential_iterations: Annotated[int, typer.Option(min=1, help="T of sequential, whose M is 1.")] = 60,
    batch: Annotated[int, typer.Option(min=1, help="M of methods other than sequential.")] = boosting.BATCH,
    out: Annotated[Path, typer.Option(help="A folder for the results.")] = Path("xgboost-results"),
    seed: Annotated[int, typer.Option(min=0, help="Of the first run; the data do not depend on it.")] = 0,
    cache: Annotated[
        Path | None, typer.Option(help="A folder for the sampled rows; by default ~/.cache/covey.")
    ] = None,
    prior: Annotated[str, typer.Option(help="As in covey bench paper, but scale-6-raw.")] = "paper",
    s: Annotated[int, typer.Option("--s", min=1, help="Thetas averaged over.")] = 10,
    p: Annotated[
        float,
        typer.Option("--p", min=0, max=1, help="Probability of fresh thetas in ats-b-lcb."),
    ] = 0.5,
    starts: Annotated[int, typer.Option(min=0, help="As in covey bench paper.")] = STARTS,
) -> None:
    """Tune XGBoost on HIGGS, or on generated data.

    The data are sampled from the file once and kept in the cache. Results are appended to
    OUT/xgboost.jsonl, a line for every batch iteration. Runs that are there already are not done again, so
    the same command continues after an interruption.
    """
    settings = Settings(prior, s, p, starts)
    source = _source(data, synthetic, train, valid, cache)
    sizes = {True: (1, sequential_iterations), False: (batch, iterations)}
    try:
        prior_of(prior, boosting.SPACE)
        todo = [
            _job(source, method, settings, sizes, one)
            for one in range(seed, seed + reps)
            for method in names(methods, boosting.METHODS)
        ]
    except ValueError as error:
        raise InputError(str(error)) from None
    library = needed("xgboost").__version__
    typer.echo(f"reading data: {', '.join(f'{key} = {value}' for key, value in source.about.items())}")
    source.split()  # whatever is wrong is found here; from now on a sample is in the cache
    results = Results(out, asdict(settings) | source.about | {"xgboost": library}, KEY, name="xgboost")
    left = [job for job in todo if results.done.get(results.key_of(asdict(job)), -1) < job.iterations]
    work = partial(run, settings=settings, target=boosting.Boosting(source))
    run_all(work, left, jobs, lambda _, found: results.add(found), len(todo) - len(left))
    typer.echo(f"{len(todo)} runs in {results.path}")


def _source(
    data: Path | None, synthetic: bool, train: int | None, valid: int | None, cache: Path | None
) -> Source:
    """What the options ask for."""
    if (data is None) != synthetic:
        raise InputError("give --data or --synthetic, not both" if synthetic else NO_DATA)
    if data is None:
        return Synthetic(train or SMALL[0], valid or SMALL[1])
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "covey"
    return Higgs(data, cache or folder, train or TRAIN, valid or VALID)


def _job(
    source: Source, method: str, settings: Settings, sizes: dict[bool, tuple[int, int]], seed: int
) -> Job:
    """A run, with M and T by whether it is sequential, and the acquisition function it is defined for."""
    acquisition = acquisition_of(method, settings, boosting.ACQUISITION)
    size, rounds = sizes[method.partition(":")[0] == "sequential"]
    return Job(boosting.Boosting(source).name, method, acquisition, size, rounds, seed)
