"""Studies as a page or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.contained import open_contained
from ..files.reading import reading
from ..plot.axes import save
from ..plot.studies import study, varied
from ..report.reports import write_study_page
from ..studies.command import summary
from ..studies.execution.needed import needed_xarray
from ..studies.pictures import drawn


def open_study(path: Path) -> Any:
    """Dataset of a study; ValueError for other files, and for files with links to outside."""
    xarray = needed_xarray()
    with reading("a study", path):
        open_contained(path).close()
        results = xarray.load_dataset(path, engine="h5netcdf")
        if "function" not in results.attrs:
            raise ValueError("no study of flexph wrote it")
        return results


def study_page(path: Path, target: Path) -> Path:
    """Write the page of a study with its pictures and a table of its values; return its path."""
    results = open_study(path)
    pictures = sorted((path.parent / "pictures").glob("*.png"))
    told = {"command": "", "lines": summary(results), "pictures": pictures}
    return write_study_page(target, f"study of {results.attrs['function']}", results, told)


def study_picture(path: Path, target: Path, value: str | None) -> Path:
    """Write a picture of a value of a study, by default the first number.

    Return its path, ValueError if none can be drawn.
    """
    results = open_study(path)
    names = drawn(results)
    if value is None and not (names and 1 <= len(varied(results)) <= 2):
        raise ValueError(f"{path} has no number over one or two parameters to draw: give --html FILE for its table")
    return save(study(results, value or names[0]), target)
