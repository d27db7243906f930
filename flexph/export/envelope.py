"""Envelopes: the largest stresses of every cell over a run, and when they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import meshio
import numpy as np

from ..bodies.fields import TensorField
from ..bodies.stress_fields import first_points, principal_stresses, tensors, von_mises
from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.solution import Solution
from .frames import Viewed, by_name, chunks, instants, numbered_cells, spatial, viewed
from .tables import write_table


@dataclass(frozen=True, eq=False, repr=False)
class StressEnvelope:
    """Extremes of a stress tensor in each of c cells, over the points of its stresses and all saved times.

    ``peak_von_mises``, ``largest_principal`` and ``smallest_principal`` (c,) [Pa], and the times (c,) [s] at which they
    first were; ``centres`` (c, d) [m]: mean positions of the points of each cell, in body axes.
    """

    body: str
    tensor: str
    centres: Array
    peak_von_mises: Array
    peak_time: Array
    largest_principal: Array
    largest_time: Array
    smallest_principal: Array
    smallest_time: Array

    def __repr__(self) -> str:
        worst = int(np.argmax(self.peak_von_mises))
        return (
            f"<StressEnvelope of {self.tensor} in {self.body}: {self.peak_von_mises[worst]:.6g} Pa at most "
            f"(von Mises), in cell {worst} at t = {self.peak_time[worst]:.6g} s>"
        )

    @property
    def columns(self) -> dict[str, Array]:
        """The table: a row for each cell."""
        axes = {f"{axis} [m]": x for axis, x in zip("xyz", self.centres.T, strict=False)}
        values = {name: getattr(self, name) for name in _QUANTITIES}
        units = {name: f"{name} [{'s' if name.endswith('time') else 'Pa'}]" for name in values}
        return {"cell": np.arange(len(self.centres)), **axes, **{units[name]: v for name, v in values.items()}}


_QUANTITIES = (
    "peak_von_mises",
    "peak_time",
    "largest_principal",
    "largest_time",
    "smallest_principal",
    "smallest_time",
)


@checked
def stress_envelope(solution: Solution, body: str, tensor: str | None = None) -> StressEnvelope:
    """Peak von Mises stress, largest and smallest principal stress of every cell of a body over all saved times.

    Taken at the points of the stresses. Times are read in parts: memory does not grow with their number. ``tensor``:
    the name of one of ``view.tensors``; may be left out where there is one only. Raises ValueError for a body that is
    not there, has no stress tensor, or has several.
    """
    field, name = _field(solution, body, tensor)
    first, times = first_points(field), solution.times
    peak, when = np.full((3, len(first)), -np.inf), np.zeros((3, len(first)))
    for some in chunks(np.arange(len(times)), 6 * len(field.positions)):
        stress = tensors(field.at, instants(solution, some)[f"{body}.stress"])
        principal = principal_stresses(stress)
        values = np.stack([von_mises(stress), principal[..., 0], -principal[..., 2]])
        values = np.maximum.reduceat(values, first, axis=-1)  # (3, k, c)
        at = values.argmax(axis=1)
        latest = np.take_along_axis(values, at[:, None], axis=1)[:, 0]
        higher = latest > peak
        peak, when = np.where(higher, latest, peak), np.where(higher, times[some][at], when)
    (mises, large, small), (at_mises, at_large, at_small) = peak, when
    share = np.diff(first, append=len(field.cell))[:, None]
    centres = np.add.reduceat(field.positions, first, axis=0) / share
    return StressEnvelope(body, name, centres, mises, at_mises, large, at_large, -small, at_small)


def _field(solution: Solution, body: str, tensor: str | None) -> tuple[TensorField, str]:
    view = check.lookup("body", body, solution.mechanism.bodies).view
    known = {} if view is None else view.tensors
    if tensor is None:
        if len(known) != 1:
            names = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"tensor of body {body!r} must be given unless it has one only, it has {names}")
        tensor = next(iter(known))
    return check.lookup("tensor", tensor, known, f"body {body!r}"), tensor


@checked
def write_envelope(path: str | Path, solution: Solution, *, bodies: Sequence[str] = ()) -> Path:
    """Write stress envelopes of bodies (all with a stress tensor if none are named); returns the path.

    By the suffix of the path: ``.vtu``, the bodies in their own axes, undeformed, with cell data ``body`` and, for each
    tensor, ``stress_peak_von_mises``, ``stress_peak_time``, …, of :class:`StressEnvelope` (NaN where a body has none);
    or ``.csv``, a table with a row for each cell, of all bodies and tensors in turn. Raises ValueError for bodies that
    are not there or have no stress tensor, and for another suffix.
    """
    held = solution.mechanism.bodies
    names = list(bodies) or [name for name, body in held.items() if body.view and body.view.tensors]
    if not names:
        raise ValueError("no body of this mechanism has a stress tensor")
    for name in names:
        view = check.lookup("body", name, held).view
        if view is None or not view.tensors:
            raise ValueError(f"body {name!r} has no stress tensor")
    shown = {name: (i, name, body, view) for i, name, body, view in viewed(solution.mechanism, names)}
    envelopes = [[stress_envelope(solution, name, tensor) for tensor in shown[name][3].tensors] for name in names]
    if Path(path).suffix == ".csv":
        return _write_csv(path, [envelope for own in envelopes for envelope in own])
    refuse_suffix("an envelope", path, (".vtu", ".csv"))
    with staged(path) as part:
        _mesh([shown[name] for name in names], envelopes).write(part)
    return Path(path)


def _write_csv(path: str | Path, envelopes: Sequence[StressEnvelope]) -> Path:
    tables = [
        {"body": np.full(len(e.centres), e.body), "tensor": np.full(len(e.centres), e.tensor), **e.columns}
        for e in envelopes
    ]
    return write_table(path, {name: np.concatenate([t[name] for t in tables]) for name in tables[0]})


def _mesh(shown: Sequence[Viewed], envelopes: Sequence[Sequence[StressEnvelope]]) -> meshio.Mesh:
    views, owner = [view for *_, view in shown], [np.full(len(view.cells), i) for i, *_, view in shown]
    of_bodies = [
        {
            f"{e.tensor}_{name}": getattr(e, name)[None, view.tensors[e.tensor].drawn]
            for e in own
            for name in _QUANTITIES
        }
        for view, own in zip(views, envelopes, strict=True)
    ]
    of_cells = {name: [block[0] for block in blocks] for name, blocks in by_name(of_bodies, owner).items()}
    points = spatial(np.vstack([view.points for view in views]))
    return meshio.Mesh(points, numbered_cells(views), cell_data={"body": owner, **of_cells})
