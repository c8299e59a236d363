"""Peers to compare with: programs in ``benchmarks/peers``, each with an environment of its own.

They are in a clone of covey, not in what pip installs; ``make peers`` there makes the environments.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from covey.errors import PeerError


@dataclass(frozen=True)
class Peer:
    """An optimiser to compare with.

    Attributes:
        program: in ``benchmarks/peers``, with its arguments.
        environment: in ``.peers``; None for a program that runs where covey does.
    """

    program: tuple[str, ...]
    environment: str | None = None

    def command(self, clone: Path) -> list[str]:
        """What starts it.

        Raises:
            PeerError: if the program or the environment is not there.
        """
        script = clone / "benchmarks" / "peers" / self.program[0]
        if not script.exists():
            raise PeerError(f"{script} does not exist: run this in a clone of covey, or give --clone")
        return [str(self._python(clone)), str(script), *self.program[1:]]

    def _python(self, clone: Path) -> Path:
        if self.environment is None:
            return Path(sys.executable)
        home = clone / ".peers" / self.environment
        if not (home / "ready").exists():
            raise PeerError(f"{home} is not there, or not complete: run make peers")
        return home / "bin" / "python"


PEERS: dict[str, Peer] = {
    "botorch-qlogei": Peer(("botorch_greedy.py", "qlogei"), "torch"),
    "botorch-qlognei": Peer(("botorch_greedy.py", "qlognei"), "torch"),
    "optuna-gp": Peer(("optuna_samplers.py", "gp"), "torch"),
    "optuna-tpe": Peer(("optuna_samplers.py", "tpe")),
    "hebo": Peer(("hebo_mace.py",), "hebo"),
    "skopt": Peer(("skopt_liar.py",), "skopt"),
    "random": Peer(("design_points.py", "random")),
    "sobol": Peer(("design_points.py", "sobol")),
}
"""By the name in tables."""
