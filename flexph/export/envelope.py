"""Stress envelopes: extreme stresses of every cell over a run, with their times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import meshio
import numpy as np

from ..bodies.stresses import BodyState, StressPoints, stress_points
from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.solution import Solution
from .frames import Viewed, by_name, chunks, numbered_cells, spatial, state_at, viewed
from .tables import write_table


@dataclass(frozen=True, eq=False, repr=False)
class StressEnvelope:
    """Extreme stresses of a body in each of c cells over all saved times.

    ``peak_von_mises``, ``largest_principal`` and ``smallest_principal`` (c,) [Pa] with the times (c,) [s] of their
    first occurrence; ``centres`` (c, d) [m]: mean positions of the stress points of each cell, in body axes.
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
        """Columns (c,) of a table by header, with a row for each cell."""
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

    Stresses are evaluated at the stress points: for beams and rods at the section points at both ends of each drawn
    piece, for solids of finite strain as Cauchy stresses. Saved times are evaluated in parts to limit the memory.

    Parameters
    ----------
    solution : Solution
        Run of a mechanism.
    body : str
        Name of a body with stress points.
    tensor : str, optional
        Name of a stress tensor of the body, such as ``stress_top`` of a plate; by default extremes over all tensors.

    Returns
    -------
    StressEnvelope
        Extremes of each cell, with their times.

    Raises
    ------
    ValueError
        For an unknown body or tensor, and for a body without stress points.
    """
    points = _points(solution, body, tensor)
    one, times = next(iter(points.values())), solution.times
    first, numbers = one.first, sum(group.numbers for group in points.values())
    peak, when = np.full((3, len(first)), -np.inf), np.zeros((3, len(first)))
    for some in chunks(np.arange(len(times)), numbers):
        state = state_at(solution, body, some)
        values = np.max([_extremes(group, state) for group in points.values()], axis=0)  # (3, k, c)
        at = values.argmax(axis=1)
        latest = np.take_along_axis(values, at[:, None], axis=1)[:, 0]
        higher = latest > peak
        peak, when = np.where(higher, latest, peak), np.where(higher, times[some][at], when)
    (mises, large, small), (at_mises, at_large, at_small) = peak, when
    share = np.diff(first, append=len(one.cell))[:, None]
    centres = np.mean([np.add.reduceat(group.positions, first, axis=0) / share for group in points.values()], axis=0)
    return StressEnvelope(body, " and ".join(points), centres, mises, at_mises, large, at_large, -small, at_small)


def _extremes(points: StressPoints, state: BodyState) -> Array:
    """Largest von Mises stress, largest principal and negative smallest principal stress in each of c cells, (3, k, c).

    ``points``: stress points of the body; ``state``: its state at k times.
    """
    largest, smallest = points.principal(state)
    values = np.stack([points.von_mises(state), largest, -smallest])
    return np.asarray(np.maximum.reduceat(values, points.first, axis=-1))


def _points(solution: Solution, body: str, tensor: str | None) -> Mapping[str, StressPoints]:
    known = stress_points(check.lookup("body", body, solution.mechanism.bodies))
    if not known:
        raise ValueError(f"body {body!r} has no stress tensor")
    return known if tensor is None else {tensor: check.lookup("tensor", tensor, known, f"body {body!r}")}


@checked
def write_envelope(path: str | Path, solution: Solution, *, bodies: Sequence[str] = ()) -> Path:
    """Write stress envelopes of bodies (by default all with stress points); return the path.

    The suffix of the path sets the format. ``.vtu``: the undeformed bodies in their body axes, with cell data ``body``
    and, for each tensor, ``stress_peak_von_mises``, ``stress_peak_time``, … of :class:`StressEnvelope` (NaN for bodies
    without this tensor). ``.csv``: a table with a row for each cell of each body and tensor. Raises ValueError for
    unknown bodies, for bodies without stress points, and for another suffix.
    """
    held = solution.mechanism.bodies
    names = list(bodies) or [name for name, body in held.items() if stress_points(body)]
    if not names:
        raise ValueError("no body of this mechanism has a stress tensor")
    known = {name: _points(solution, name, None) for name in names}
    shown = {name: (i, name, body, view) for i, name, body, view in viewed(solution.mechanism, names)}
    envelopes = [[stress_envelope(solution, name, tensor) for tensor in known[name]] for name in names]
    if Path(path).suffix == ".csv":
        return _write_csv(path, [envelope for stress_envelopes in envelopes for envelope in stress_envelopes])
    refuse_suffix("an envelope", path, (".vtu", ".csv"))
    with staged(path) as part:
        _mesh([shown[name] for name in names], known, envelopes).write(part)
    return Path(path)


def _write_csv(path: str | Path, envelopes: Sequence[StressEnvelope]) -> Path:
    tables = [
        {"body": np.full(len(e.centres), e.body), "tensor": np.full(len(e.centres), e.tensor), **e.columns}
        for e in envelopes
    ]
    return write_table(path, {name: np.concatenate([t[name] for t in tables]) for name in tables[0]})


def _mesh(
    shown: Sequence[Viewed],
    known: Mapping[str, Mapping[str, StressPoints]],
    envelopes: Sequence[Sequence[StressEnvelope]],
) -> meshio.Mesh:
    views, owner = [view for *_, view in shown], [np.full(len(view.cells), i) for i, *_, view in shown]
    of_bodies = [
        {
            f"{tensor}_{name}": getattr(e, name)[None, points.drawn]
            for (tensor, points), e in zip(known[body].items(), stress_envelopes, strict=True)
            for name in _QUANTITIES
        }
        for (_, body, *_), stress_envelopes in zip(shown, envelopes, strict=True)
    ]
    of_cells = {name: [block[0] for block in blocks] for name, blocks in by_name(of_bodies, owner).items()}
    places = spatial(np.vstack([view.points for view in views]))
    return meshio.Mesh(places, numbered_cells(views), cell_data={"body": owner, **of_cells})
