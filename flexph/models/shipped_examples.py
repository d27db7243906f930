"""Example model files that come with the package."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..files.durable import staged

FOLDER = Path(__file__).parent / "examples"
EXAMPLES = ("crank-slider", "bouncing-ball", "four-bar", "slider-crank-3d", "solid-bar")
"""Names of the examples; the first is the default of ``flexph new``."""
COMPANIONS = {"solid-bar": ("bar.msh",)}
"""Files that an example refers to."""


def write_example(path: Path, like: str) -> list[Path]:
    """Copy an example to ``path``, with the suffix .yaml, and the files that it refers to; return the paths written.

    Raises FileExistsError instead of replacing a file, and FileNotFoundError if the folder does not exist.
    """
    target = path if path.suffix in (".yaml", ".yml") else path.with_name(f"{path.name}.yaml")
    pairs = [
        (FOLDER / f"{like}.yaml", target),
        *((FOLDER / name, target.parent / name) for name in COMPANIONS.get(like, ())),
    ]
    for _, written in pairs:
        if written.exists():
            raise FileExistsError(17, "exists already", str(written))
    for source, written in pairs:
        text = source.read_text(encoding="utf-8").replace(f"{like}.yaml", target.name)
        with staged(written) as part:
            if source.suffix == ".yaml":
                part.write_text(text, encoding="utf-8")
            else:
                shutil.copyfile(source, part)
    return [written for _, written in pairs]
