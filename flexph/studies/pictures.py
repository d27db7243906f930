"""Pictures of studies of one or two parameters, one for each scalar value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..plot.axes import save
from ..plot.studies import study, varied
from .dataset import SECONDS


def draw(results: Any, folder: Path) -> list[Path]:
    """Draw each scalar value (:func:`flexph.plot.study`) if one or two parameters vary; return the paths.

    Parameters with a single value do not vary. Earlier pictures are removed from ``folder``.
    """
    for old in folder.glob("*.png"):  # pictures of earlier samples
        old.unlink()
    if not 1 <= len(varied(results)) <= 2:
        return []
    folder.mkdir(exist_ok=True)
    return [save(study(results, name), folder / _file_name(name)) for name in drawn(results)]


def drawn(results: Any) -> list[str]:
    """Names of scalar values that are finite in at least one sample."""
    one = results[SECONDS]
    return [
        str(name)
        for name, value in results.data_vars.items()
        if name != SECONDS and value.dims == one.dims and value.dtype.kind in "fi" and np.isfinite(value).any()
    ]


def _file_name(value: Any) -> str:
    return re.sub(r"[^\w.-]+", "-", str(value)) + ".png"
