"""Runs as labelled arrays, and additional data that other packages write to the files of runs.

An entry ``NAME = "module:function"`` of the entry-point group ``flexph.saved`` is called as ``function(run, file)`` and
adds groups of numbers and texts to the file, which readers of the run ignore.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.labelled import Labels, Variable
from ..numerics.arguments import warn
from ..numerics.arrays import Array

if TYPE_CHECKING:
    import h5py


AXES = ("x", "y", "z")
PARTS = {
    "centre": ("axis", "m", "centre of mass"),
    "rotation": ("rotation_entry", "1", "kept entries of the rotation"),
    "deformation": ("", "m or 1", "deformation"),
    "velocity": ("axis", "m/s", "velocity of the centre of mass"),
    "spin": ("spin_axis", "rad/s", "spin in the axes of the body"),
    "deformation_rate": ("", "m/s or 1/s", "rate of the deformation"),
    "stress": ("", "N or N m", "generalised stress"),
}
"""Parts of a body: name of the dimension of its entries (its own one if empty), unit and description."""


def time_of(times: Array) -> Variable:
    """Labelled array of the saved times [s], the coordinate of the dimension ``time``."""
    return Variable(("time",), np.asarray(times), "s", "time")


def state_variables(
    parts: Mapping[str, slice], states: Array, *, dim: int
) -> tuple[dict[str, Variable], dict[str, Variable]]:
    """Labelled arrays of the parts of states (k, n) by name, and coordinates of their dimensions by name.

    ``dim`` is the dimension of a mechanism, or 0 for general systems, whose parts have no unit.
    """
    variables: dict[str, Variable] = {}
    coordinates: dict[str, Variable] = {}
    for name, at in parts.items():
        values = np.asarray(states[:, at])
        body, _, kind = name.rpartition(".")
        axis, unit, words = PARTS.get(kind, ("", "", "")) if dim and body else ("", "", "")
        axis_name, long_name = axis if _is_vector(axis, values, dim) else "", f"{words} of {body}" if words else name
        if values.shape[1] == 1:
            variables[name] = Variable(("time",), values[:, 0], unit, long_name)
            continue
        variables[name] = Variable(("time", axis_name or f"{name} entry"), values, unit, long_name)
        if axis_name == "axis":
            coordinates[axis_name] = Variable((axis_name,), np.array(AXES[:dim]), "", "axis of the world")
        elif axis_name == "spin_axis":
            coordinates[axis_name] = Variable((axis_name,), np.array(AXES), "", "axis of the body")
    return variables, coordinates


def _is_vector(axis: str, values: Array, dim: int) -> bool:
    """True if a part of the state has the entries of a single frame, not those of all nodes of a body.

    ``axis`` is the name of the array's second dimension, such as ``spin_axis``, ``dim`` the dimension of the mechanism.
    """
    sizes = {"axis": dim, "spin_axis": 3, "rotation_entry": 2 if dim == 2 else 9}
    return sizes.get(axis) == values.shape[1]


def sensor_labels(
    times: Array, quantities: tuple[Any, ...], measured: Callable[[Any], Array], attrs: Mapping[str, Any]
) -> Labels:
    """Readings of sensors at saved times as labelled arrays, with attributes ``attrs``; ``measured`` reads a sensor."""
    variables, coordinates = dict[str, Variable](), {"time": time_of(times)}
    for quantity in quantities:
        values, name = np.asarray(measured(quantity)), str(quantity)
        dims = ("time", *(f"{name} entry" if k else "component" for k in range(values.ndim - 1)))
        if dims[1:] == ("component",) and values.shape[1] <= 3:
            dims = ("time", f"axis{values.shape[1]}")
            coordinates[dims[1]] = Variable(dims[1:], np.array(AXES[: values.shape[1]]), "", "component")
        elif dims[1:] == ("component",):
            dims = ("time", f"{name} entry")
        variables[name] = Variable(dims, values, quantity.unit, f"{'rate of ' * quantity.is_rate}{name}")
    return Labels("time", variables, coordinates, attrs)


GROUP = "flexph.saved"


def write_companions(run: Any, file: h5py.File) -> None:
    """Add the data of all entry points ``flexph.saved`` to the file of a run; warn of entry points that fail.

    An OSError is not caught, as the file itself is then incomplete.
    """
    for entry in entry_points(group=GROUP):
        try:
            entry.load()(run, file)
        except OSError:
            raise
        except Exception as error:  # the run must be saved even if its picture fails
            reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            warn(f"the run is saved without its {entry.name}: {reason}", RuntimeWarning)
