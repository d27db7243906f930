"""HDF5 files of reduced bodies, readable without mesh and finite-element code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np
from scipy import sparse

from ..files.durable import HDF5_SUFFIXES, refuse_suffix
from ..files.hdf5 import open_contained, write_hdf5
from ..files.reading import reading
from ..files.storage import put_text, write_fields, write_value
from ..files.stored_fields import get_texts, read_fields, read_value, refuse_expansion
from ..numerics import checks as check
from ..numerics.arguments import checked
from .array_checks import checked_body, refuse_sizes
from .body import Body
from .elasticity import Elasticity
from .fields import SectionStress, TensorField, View
from .inertia import Inertia

FORMAT = "flexph reduced body 1"
LARGEST = 5000
"""Largest number of coordinates, or stresses, of a reduced body."""
APART = ("inertia", "elasticity", "unshifted")
"""Fields that are written and read separately."""

Fields = Literal["none", "shape", "stresses"]


@checked
def save_reduced(body: Body, path: str | Path, *, fields: Fields = "shape") -> None:
    """Write a reduced body (:func:`reduce_body`) as HDF5: mass integrals, elasticity, damping, ports, loads, sections.

    Runs with the body that is read back agree to round-off with those of the saved body. A use of fields that were not
    saved raises an error. The file is written completely or not at all.

    Parameters
    ----------
    body : Body
        Body from :func:`reduce_body`.
    path : path
        Path of the file.
    fields : {"none", "shape", "stresses"}
        Data saved for export, in single precision: ``none``, the ``shape`` with its displacements, or the ``stresses``,
        too, which need most of the file: six numbers for each vector at each point of each cell.

    Raises
    ------
    ValueError
        For a suffix other than ``.h5`` or ``.hdf5``, and for a body that is not reduced, with more than 5000
        coordinates or stresses.
    OSError
        If the file cannot be written.
    """
    refuse_suffix("a reduced body, which is HDF5,", path, HDF5_SUFFIXES)
    check.choice("fields", fields, ("none", "shape", "stresses"))
    elastic = body.elasticity
    if body.unshifted is not None or not isinstance(elastic, Elasticity | None) or _largest(body) > LARGEST:
        raise ValueError(
            f"body must be reduced, by flexph.bodies.reduce_body, to at most {LARGEST} coordinates, "
            f"but has {body.size} flexible coordinates and {body.stress_size} stresses"
        )
    stored = replace(body, view=_single(body.view, fields))

    def write(file: h5py.File) -> None:
        put_text(file, "format", FORMAT)
        write_value(file, "inertia", body.inertia, Inertia)
        write_value(file, "elasticity", elastic, Elasticity | None)
        write_fields(file, stored, without=APART)

    write_hdf5(path, write)


@checked
def load_reduced(path: str | Path) -> Body:
    """Read a body written by :func:`save_reduced`, without its mesh and the package that made it.

    Format, checksums, sizes, shapes and numbers in the file are checked.

    Parameters
    ----------
    path : path
        Path of the HDF5 file.

    Returns
    -------
    Body
        Reduced body.

    Raises
    ------
    ValueError
        For a damaged file, or another format.
    OSError
        For a missing file.
    """
    with reading("a reduced body", path), open_contained(path) as file:
        return checked_body(_read(file))


def _read(file: h5py.File) -> Body:
    """Read the body in a file; its number of coordinates is checked before its matrices are read."""
    stored = get_texts(file, "format") if "format" in file.attrs else [None]
    if stored != [FORMAT]:
        raise OSError(f"format is {stored[0]!r}, expected {FORMAT!r}")
    refuse_expansion(file)
    inertia = read_value(file, "inertia", Inertia)
    refuse_sizes("shape_first", inertia.shape_first, LARGEST)
    if get_texts(file["elasticity"], "names"):
        refuse_sizes("strain", read_value(file["elasticity/0"], "strain", Any), LARGEST)
    elastic = read_value(file, "elasticity", Elasticity | None)
    return read_fields(file, Body, {"inertia": inertia, "elasticity": elastic, "unshifted": None})


def _largest(body: Body) -> int:
    return max(body.size, body.stress_size)


def _single(view: View | None, fields: Fields) -> View | None:
    """View for a file: the parts that ``fields`` names, with matrices in single precision; None for "none"."""
    if view is None or fields == "none":
        return None
    stresses, tensors = (view.stresses, view.tensors) if fields == "stresses" else ({}, {})
    return replace(
        view,
        shape=_rows(view.shape),
        stresses={name: replace(f, cells=_rows(f.cells)) for name, f in stresses.items()},
        tensors={name: _tensor(f) for name, f in tensors.items()},
        sweep=view.sweep and replace(view.sweep, rotation=_rows(view.sweep.rotation)),
        sections=view.sections and _sections(view.sections, fields),
        mesh=None,
    )


def _sections(sections: SectionStress, fields: Fields) -> SectionStress | None:
    return replace(sections, resultants=_rows(sections.resultants)) if fields == "stresses" else None


def _tensor(field: TensorField) -> TensorField:
    cells, at, nodal, spread = map(_rows, (field.cells, field.at, field.nodal, field.spread))
    return replace(field, cells=cells, at=at, nodal=nodal, spread=spread)


def _rows(rows: Any) -> Any:
    """Sparse matrix of the given rows in single precision."""
    matrix = rows if sparse.issparse(rows) or isinstance(rows, np.ndarray) else rows.toarray()
    return sparse.csr_array(matrix, dtype=np.float32)
