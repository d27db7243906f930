"""Studies that model files describe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..models.commands import loaded, refusals
from ..models.figures import figures_of_run
from ..models.settings import parse_setting

SUFFIXES = (".yaml", ".yml")
"""Endings of the names of model files."""


def study_of_file(
    file: str, given: Sequence[str], *, trust: bool
) -> tuple[Callable[..., Mapping[str, Any]], Mapping[str, list[Any]]]:
    """The function and the grid of the study of a model file, whose first run is studied where it has none.

    ``given`` are ``PATH=A,B,…`` in place of the values of a setting, or beside them. Raises click's exceptions.
    """
    model = loaded(Path(file), trust=trust)
    with refusals():
        model.check()
        entry = next(iter(model.document.studies.values()), None)
        grid = ({} if entry is None else dict(entry.vary)) | dict(map(_values, given))
        if not (grid and model.runs):
            raise ValueError(f"{file} has no study: write a section 'studies', or --set PATH=A,B")
        model.check_grid(grid)
        return figures_of_run(model, model.runs[0] if entry is None else entry.run), grid


def _values(text: str) -> tuple[str, list[Any]]:
    path, _ = parse_setting(text)
    return path, parse_setting(f"{path}=[{text.partition('=')[2]}]")[1]
