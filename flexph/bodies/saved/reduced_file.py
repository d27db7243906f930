"""Files of reduced bodies: one HDF5 file that needs no mesh, no finite elements and no code to be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np
from scipy import sparse

from ...files.contained import open_contained
from ...files.durable import HDF5_SUFFIXES, refuse_suffix
from ...files.hdf5 import write_hdf5
from ...files.reading import reading
from ...files.storage import put_text, write_fields, write_value
from ...files.stored_fields import get_texts, read_fields, read_value, refuse_expansion
from ...numerics import checks as check
from ...numerics.arguments import checked
from ..body import Body
from ..elasticity import Elasticity
from ..fields import TensorField, View
from ..inertia import Inertia
from ..section_stress import SectionStress
from .conditions import refuse_sizes, sound_body

FORMAT = "flexph reduced body 1"
LARGEST = 5000
"""Coordinates, or stresses, of a body beyond which it counts as not reduced."""
APART = ("inertia", "elasticity", "unshifted")
"""Fields that are written and read on their own."""

Fields = Literal["none", "shape", "stresses"]


@checked
def save_reduced(body: Body, path: str | Path, *, fields: Fields = "shape") -> None:
    """Write a reduced body (:func:`reduce_body`) as HDF5: mass integrals, elasticity, damping, ports, loads, sections.

    What is not kept is asked of the body that is read in vain, in words. Runs are those of the body, to round-off. The
    file appears whole or not at all.

    Parameters
    ----------
    body : Body
        A body of :func:`reduce_body`.
    path : path
        Where the file comes to.
    fields : {"none", "shape", "stresses"}
        What is kept for export, in single precision: ``none``, the ``shape`` with its displacements, or all
        ``stresses`` too, which take most of the file: six numbers for each vector, at each point of each cell.

    Raises
    ------
    ValueError
        For another suffix than ``.h5`` or ``.hdf5``, and for a body that is not reduced: more than 5000 coordinates, or
        the local stresses of a mesh.
    OSError
        Where the file cannot be written.
    """
    refuse_suffix("a reduced body, which is HDF5,", path, HDF5_SUFFIXES)
    check.choice("fields", fields, ("none", "shape", "stresses"))
    elastic = body.elasticity
    if body.unshifted is not None or not isinstance(elastic, Elasticity | None) or _largest(body) > LARGEST:
        raise ValueError(
            f"body must be reduced, by flexph.bodies.reduce_body, to at most {LARGEST} coordinates: "
            f"it has {body.size} of the deformation and {body.stress_size} of the stresses"
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
    """Read a body that :func:`save_reduced` wrote; it needs neither its mesh nor the package that made it.

    What the file says is judged before it is believed: format, checksums, sizes, shapes, and that numbers are numbers.

    Parameters
    ----------
    path : path
        An HDF5 file.

    Returns
    -------
    Body
        The body, as it was reduced.

    Raises
    ------
    ValueError
        For a file that is damaged, or of another format.
    OSError
        For a file that is missing.
    """
    with reading("a reduced body", path), open_contained(path) as file:
        return sound_body(_read(file))


def _read(file: h5py.File) -> Body:
    """The body in a file. How many coordinates it has is judged before its matrices are read."""
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
    """What is kept of a view, its rows in single precision."""
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
    )


def _sections(sections: SectionStress, fields: Fields) -> SectionStress | None:
    return replace(sections, resultants=_rows(sections.resultants)) if fields == "stresses" else None


def _tensor(field: TensorField) -> TensorField:
    cells, at, nodal, spread = map(_rows, (field.cells, field.at, field.nodal, field.spread))
    return replace(field, cells=cells, at=at, nodal=nodal, spread=spread)


def _rows(rows: Any) -> Any:
    """Rows in single precision; those that are computed part by part as a matrix."""
    known = rows if sparse.issparse(rows) or isinstance(rows, np.ndarray) else rows.toarray()
    return sparse.csr_array(known, dtype=np.float32)
