"""Style of pictures: one colour, line and marker for each method, readable in grey."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.bench.extras import needed


@dataclass(frozen=True)
class Look:
    """Of a method's line."""

    color: str
    dashes: str | tuple[int, tuple[int, ...]]
    marker: str


_DOTS, _LONG, _MIXED = (0, (1, 1)), (0, (6, 2)), (0, (5, 1, 1, 1))
LOOKS: dict[str, Look] = {
    "sequential": Look("#000000", _DOTS, "."),
    "random": Look("#999999", _DOTS, "x"),
    "ats": Look("#0072b2", "-", "o"),
    "j-ats": Look("#56b4e9", _LONG, "^"),
    "h-ats": Look("#17375e", _MIXED, "v"),
    "lp": Look("#999933", _LONG, "s"),
    "b-lcb": Look("#d55e00", _LONG, "D"),
    "ats-b-lcb": Look("#e69f00", "-", "d"),
    "p-ts": Look("#009e73", _LONG, "P"),
    "ats-p-ts": Look("#44bb99", "-", "*"),
    "auto": Look("#cc0066", "-", "o"),
}
"""By method; the palette is Okabe and Ito's, whose colours differ in lightness too."""

_OTHER = Look("#cc79a7", _MIXED, "h")


def look(method: str) -> Look:
    """Of a method, whatever its settings."""
    return LOOKS.get(method.partition(":")[0], _OTHER)


def label(method: str) -> str:
    """As it is written in a legend."""
    name, _, settings = method.partition(":")
    pretty = {"sequential": "sequential", "auto": "auto", "random": "random"}.get(name, name.upper())
    pretty = pretty.replace("J-ATS", "j-ATS").replace("H-ATS", "h-ATS")
    return f"{pretty} ({settings.replace(':', ', ')})" if settings else pretty


def pyplot() -> Any:
    """Matplotlib, set up for print.

    Raises:
        NotInstalled: if it is not there.
    """
    mpl = needed("matplotlib")
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "lines.linewidth": 1.4,
            "lines.markersize": 3.5,
            "savefig.dpi": 200,
        }
    )
    return plt


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write a figure as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path)
    pyplot().close(figure)
    shrink(path)
    return path


def shrink(path: Path) -> None:
    """Write a picture of lines and letters with 256 colours, which is a third of its size."""
    from PIL import Image  # which Matplotlib brings

    with Image.open(path) as picture:
        dpi = picture.info["dpi"]
        flat = picture.convert("RGB").quantize(256)
    flat.save(path, optimize=True, dpi=dpi)
