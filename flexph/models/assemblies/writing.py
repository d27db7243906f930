"""Writing of a model file for an assembly."""

from __future__ import annotations

from pathlib import Path

from ...files.durable import staged
from ...meshes.drawings.drawing import FORMATS, read_drawing
from .proposal import Proposal, proposed
from .text import Choices, model_text


def write_assembly(
    target: Path, drawing: Path, choices: Choices, *, ground: str | None = None, unit: float | None = None
) -> tuple[Path, Proposal]:
    """Write the model file proposed for the assembly in a drawing; return its path and the proposal.

    The path is ``target``, with the suffix .yaml if it has none. ``ground`` names the fixed part, ``unit`` [m] is the
    unit of a drawing without one. Raises FileExistsError instead of replacing a file; ValueError for a file that is no
    drawing, and for a part without density.
    """
    if drawing.suffix.lower() not in FORMATS:
        raise ValueError(f"an assembly must be a drawing ({', '.join(FORMATS)}), got {drawing.name!r}")
    path = target if target.suffix in (".yaml", ".yml") else target.with_name(f"{target.name}.yaml")
    if path.exists():
        raise FileExistsError(17, "exists already", str(path))
    read = read_drawing(drawing, unit=unit, assembly=True)
    proposal = proposed(read, ground)
    text = model_text(read, proposal, choices, folder=path.parent, name=path.name)
    with staged(path) as part:
        part.write_text(text, encoding="utf-8")
    return path, proposal
