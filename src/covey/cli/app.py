"""The commands ``covey run``, ``ask``, ``tell``, ``show``, ``export`` and ``init``.

Exit codes: 0 done; 1 a run that failed too often or found no value, a space used up, or an error that nobody
foresaw; 2 wrong input, with one line on stderr and nothing changed; 130 interrupted.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from covey.cli import by_hand as lab
from covey.cli import exports, show
from covey.cli import tables as table
from covey.cli.bench.paper import bench
from covey.cli.config import Config, load
from covey.cli.config.keys import MOST_BY_COMMAND
from covey.cli.config.template import TEMPLATE
from covey.cli.last_resort import unexpected
from covey.cli.terminal import printable
from covey.errors import CoveyError, InputError, RunError, SpaceExhausted, TooManyFailures, shown
from covey.history import best_of
from covey.study.address import masked_words
from covey.trial import State

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""What typer raises at a wrong command line; it has no public name of its own."""

_LONGEST_LINE = 1000
"""Characters of a complaint; what a database or a program says may have any number."""


class OneLine(TyperGroup):
    """A group of commands whose errors are one line on stderr."""

    def main(self, *args: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            _show_all(stream)
        try:
            code = super().main(*args, **extra)
        except _UsageError as error:
            code = _complain(f"{getattr(error, 'format_message', error.__str__)()} (see covey --help)", 2)
        except (RunError, SpaceExhausted) as error:
            code = _complain(str(error), 1)
        except CoveyError as error:
            code = _complain(str(error), 2)
        except Exception as error:
            full = isinstance(error, OSError) and error.errno == errno.ENOSPC
            code = _complain(f"nothing can be written: {error}" if full else unexpected(error), 1)
        sys.exit(_written(code if isinstance(code, int) else 0))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(_complain("interrupted", 130)) from None


def _written(code: int) -> int:
    """The exit code of a command, once its output is where it belongs."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # Python tries again when it ends, and would say so.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        quiet = code != 0 or isinstance(error, BrokenPipeError)  # nobody reads on, as with | head
        return code or (1 if quiet else _complain(f"the output cannot be written: {error.strerror}", 1))
    return code


def _show_all(stream: TextIO, encoding: str | None = None) -> None:
    """Let a stream write what its encoding lacks as an escape: no character ends a command."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _complain(message: str, code: int) -> int:
    """One line on stderr: no secrets, no control characters, and an end."""
    words = masked_words(message)
    line = printable(words[:_LONGEST_LINE])
    print(f"covey: {line}{'...' if len(words) > _LONGEST_LINE else ''}", file=sys.stderr)
    return code


app = typer.Typer(
    cls=OneLine,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Parallel Bayesian optimization of programs and experiments, described by a study.toml.",
    epilog="Begin with: covey init",
)

app.add_typer(bench, name="bench")

StudyFile = Annotated[Path, typer.Argument(help="The study.toml.", metavar="STUDY.TOML")]


def _version(wanted: bool) -> None:
    if wanted:
        from covey import __version__

        typer.echo(f"covey {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: covey run study.toml")
def run(
    study: StudyFile,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, only the end.")] = False,
) -> None:
    """Tune the program of a study.toml until its budget is spent.

    Every result is saved as it comes in. The same command again goes on where it was, also after Ctrl-C or a
    crash; give the study.toml more iterations to go on after the end.
    """
    from covey.cli import run as tune

    config = load(study)
    try:
        with tune.signals(), closing(tune.prepare(config)) as record, lab.storage_errors(config):
            result = tune.tune(config, record, quiet=quiet)
            if result.stopped == "interrupted":
                tune.ignore_signals()
            trials = [row.trial for row in record.recorded()]
    except KeyboardInterrupt:
        raise typer.Exit(_interrupted(config)) from None
    except TooManyFailures as error:
        failed = [trial for trial in error.result.trials if trial.state is State.FAILED]
        reason = show.last_line(failed[-1])
        last = shown(failed[-1].params)
        message = f"{len(failed)} evaluations failed (max_failures), the last with {last}: {reason}"
        raise typer.Exit(_complain(message, 1)) from None
    _say(*show.summary_lines(config, trials, result))
    if result.stopped == "interrupted":
        raise typer.Exit(_interrupted(config))
    if best_of(trials) is None:
        raise typer.Exit(_complain("no evaluation succeeded", 1))


def _interrupted(config: Config) -> int:
    from covey.cli.run import ignore_signals

    ignore_signals()
    return _complain(f"interrupted; all finished values are kept, go on with: covey run {config.path}", 130)


def _say(*lines: str) -> None:
    for line in lines:
        print(printable(line))  # typer's echo writes UTF-8 to a terminal that says it shows ASCII


@app.command(epilog="Example: covey ask study.toml -n 8 -o batch.csv")
def ask(
    study: StudyFile,
    count: Annotated[
        int | None,
        typer.Option(
            "-n", "--count", min=1, max=MOST_BY_COMMAND, help="How many; by default the batch_size."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="A new CSV file; else to stdout.")] = None,
    fix: Annotated[
        list[str] | None, typer.Option("--fix", help="Hold a parameter, like solvent=water; may be repeated.")
    ] = None,
) -> None:
    """Suggest experiments to do by hand, as a CSV table.

    It has the columns id, the parameters, and an empty value. The trials are recorded as running: asking
    again before telling suggests others. Fill in the values and give the table to covey tell.
    """
    config = load(study)
    fixed = {**config.fixed, **table.fixed_params(config.space, fix or [])}
    with _new_file(out) as file, lab.storage_errors(config):
        batch = lab.ask(config, lab.open_study(config, create=True), count or config.batch_size, fixed)
        file.write(_as_shown(file, table.batch_text(config.space, batch)))
    if out is not None:
        _say(
            f"{len(batch)} trials to evaluate in {out}; fill in the values and say: covey tell {study} {out}"
        )


def _table_out() -> TextIO:
    """The standard output for a table, which is UTF-8 wherever it goes: covey tell reads it back."""
    if sys.stdout is None:  # closed, as with >&-
        raise InputError("there is no standard output; name a file with -o")
    _show_all(sys.stdout, encoding="utf-8")
    return sys.stdout


def _as_shown(file: TextIO, text: str) -> str:
    """A table as it is; on a terminal, which would obey its control characters, as it can be shown."""
    return "\n".join(map(printable, text.split("\n"))) if file.isatty() else text


@contextmanager
def _new_file(path: Path | None) -> Iterator[TextIO]:
    """A file that did not exist, opened before anything is done for it; stdout for None."""
    if path is None:
        yield _table_out()
        return
    try:
        file = path.open("x", encoding="utf-8", newline="")
    except FileExistsError:
        raise InputError(f"{path} exists already; choose another name or remove it") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    except ValueError:  # a NUL in the name
        raise InputError(f"{shown(str(path))} is no name of a file") from None
    try:
        with file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@app.command(epilog="Example: covey tell study.toml batch.csv")
def tell(
    study: StudyFile,
    results: Annotated[Path, typer.Argument(help="A CSV file with the columns id and value.")],
    skip_blank: Annotated[
        bool, typer.Option("--skip-blank", help="Leave trials with a blank value running, not failed.")
    ] = False,
) -> None:
    """Take back the values of experiments from a CSV table.

    Only the columns id and value count, in any order and in parts; parameters, if they are there, must be
    those asked for. A blank value, failed, nan or inf is a failed experiment. Lines that were told before do
    no harm; one that contradicts the study is an error, and then nothing of the table is taken.
    """
    config = load(study)
    lines = table.read_results(results, config.space)
    with lab.storage_errors(config):
        record = lab.open_study(config, create=False)
        told = lab.tell(lines, record, skip_blank=skip_blank)
        trials = [row.trial for row in record.recorded()]
    values = sum(isinstance(result, float) for result in told.news.values())
    left = f", {told.blank} left blank" if told.blank else ""
    _say(f"{values} values and {len(told.news) - values} failures recorded, {told.known} known before{left}")
    _say(show.count_line(trials), *show.best_lines(trials))


@app.command("show", epilog="Example: covey show study.toml -n 20")
def show_(
    study: StudyFile,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many trials in the table.")] = 10,
    last: Annotated[bool, typer.Option("--last", help="The last trials instead of the best.")] = False,
) -> None:
    """Show the best trials, what is running and what failed."""
    config = load(study)
    with lab.storage_errors(config):
        trials = [row.trial for row in lab.open_study(config, create=False).recorded()]
    _say(f"study {config.name!r}: {show.count_line(trials)}", *show.best_lines(trials))
    best = show.ranked(trials)
    chosen = trials[-count:] if last or not best else best[:count]
    if chosen:
        show.print_table(chosen)
    running = [str(trial.id) for trial in trials if trial.state is State.RUNNING]
    _say(*([f"running: trials {', '.join(running)}"] if running else []), *show.failure_lines(trials))


@app.command(epilog="Example: covey export study.toml -o trials.csv")
def export(
    study: StudyFile,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A .csv, .json or .parquet file; else CSV to stdout.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
) -> None:
    """Write all trials as CSV, JSON or Parquet.

    The columns are id, state, value, the parameters, when it was finished, how long it took (in seconds) and
    why it failed.
    """
    config = load(study)
    with lab.storage_errors(config):
        rows = lab.open_study(config, create=False).recorded()
    if out is None:
        text = exports.csv_text(exports.records(rows), exports.columns_of(config.space))
        _table_out().write(_as_shown(sys.stdout, text))
        return
    exports.export(out, rows, config.space, overwrite=overwrite)
    _say(f"{len(rows)} trials in {out}")


@app.command(epilog="Example: covey init")
def init(
    study: Annotated[Path, typer.Argument(help="Where to write it.", metavar="[STUDY.TOML]")] = Path(
        "study.toml"
    ),
) -> None:
    """Write a commented study.toml to begin with.

    An existing file is left alone.
    """
    with _new_file(study) as file:
        file.write(TEMPLATE)
    _say(f"wrote {study}; edit it, then say: covey run {study} (or covey ask {study}, for work by hand)")


if __name__ == "__main__":
    app(prog_name="covey")
