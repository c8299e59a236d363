"""Subjects of an ordeal: a script that calls minimize, and covey run with a program; both keep a log."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

_NOTE = """
    import os, sys, time

    def note(log, word, what):
        # One line on the disk: whatever happens next, it happened.
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{word} {what}\\n".encode())
        os.fsync(file)
        os.close(file)

    def evaluate(log, x, seconds):
        note(log, "begin", repr(x))
        time.sleep(seconds * (0.2 + 0.8 * x))
        note(log, "end", repr(x))
"""

_SCRIPT = """
    import signal
    import covey
    from covey.errors import Interrupted

    def main():
        storage, log, evaluations, asynchronous, n_initial, seconds = sys.argv[1:]

        def objective(params):
            evaluate(log, params["x"], float(seconds))
            return (params["x"] - 0.37) ** 2

        note(log, "enter", os.getpid())
        try:
            result = covey.minimize(
                objective, covey.Space({"x": covey.Float(0.0, 1.0)}), batch_size=4, seed=3, storage=storage,
                evaluations=int(evaluations), asynchronous=asynchronous == "True", n_initial=int(n_initial),
            )
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            if error.__traceback__.tb_next is not None:
                raise
            sys.exit(0)  # minimize had returned: the script's own Ctrl-C
        note(log, "returned", sum(trial.value is not None for trial in result.trials))

    if __name__ == "__main__":
        main()
"""

_PROGRAM = """
    log, x, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    print((x - 0.37) ** 2, flush=True)
    evaluate(log, x, seconds)
"""


@dataclass(frozen=True)
class Subject:
    """A command that runs a study, once more each time it is started.

    Attributes:
        command: "minimize", a script; or "covey run", a study.toml with a program.
        folder: where its files are.
        storage: where its study is.
        asynchronous: how it runs.
        n_initial: points before the model is asked.
        seconds: that an evaluation takes at most, and a fifth of it at least; short ones are often struck
            while they are written down.
    """

    command: str
    folder: Path
    storage: str
    asynchronous: bool
    n_initial: int = 100_000
    seconds: float = 0.1

    @property
    def log(self) -> Path:
        """Where it notes what it does."""
        return self.folder / "log.txt"

    def arguments(self, evaluations: int) -> list[str]:
        """What to start for so many evaluations in all."""
        return (self._script if self.command == "minimize" else self._run)(evaluations)

    def _script(self, evaluations: int) -> list[str]:
        script = self.folder / "script.py"
        script.write_text(textwrap.dedent(_NOTE) + textwrap.dedent(_SCRIPT))
        settings = [self.storage, self.log, evaluations, self.asynchronous, self.n_initial, self.seconds]
        return [sys.executable, str(script), *map(str, settings)]

    def _run(self, evaluations: int) -> list[str]:
        program, study = self.folder / "program.py", self.folder / "study.toml"
        program.write_text(textwrap.dedent(_NOTE) + textwrap.dedent(_PROGRAM))
        # Isolated, without site-packages: it starts in a moment.
        objective = [sys.executable, "-I", "-S", str(program), str(self.log), "{x}", str(self.seconds)]
        study.write_text(
            textwrap.dedent(f"""\
                name = "covey"
                objective = {objective}
                batch_size = 4
                evaluations = {evaluations}
                asynchronous = {str(self.asynchronous).lower()}
                n_initial = {self.n_initial}
                seed = 3
                storage = "{self.storage}"
                [space.x]
                type = "float"
                low = 0.0
                high = 1.0
                """)
        )
        return [sys.executable, "-m", "covey.cli.app", "run", str(study)]


def value(x: float) -> float:
    """What every subject finds at a point."""
    return (x - 0.37) ** 2
