"""Pictures of studies of one or two parameters: one of each value that is a number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..plot.axes import save
from ..plot.studies import study, varied
from .dataset import SECONDS


def draw(results: Any, folder: Path) -> list[Path]:
    """A picture (:func:`flexph.plot.study`) of each value that is a number, if one or two parameters vary; the paths.

    Parameters with one value do not vary.
    """
    for old in folder.glob("*.png"):  # of other samples
        old.unlink()
    if not 1 <= len(varied(results)) <= 2:
        return []
    folder.mkdir(exist_ok=True)
    return [save(study(results, name), folder / _file_name(name)) for name in drawn(results)]


def drawn(results: Any) -> list[str]:
    """The values that are one number of a sample, of which there is one."""
    one = results[SECONDS]
    return [
        str(name)
        for name, value in results.data_vars.items()
        if name != SECONDS and value.dims == one.dims and value.dtype.kind in "fi" and np.isfinite(value).any()
    ]


def _file_name(value: Any) -> str:
    return re.sub(r"[^\w.-]+", "-", str(value)) + ".png"
