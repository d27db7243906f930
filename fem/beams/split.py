"""Beams of several floating bodies in sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, LoadPort, NodalLoad
from flexph.bodies.fields import SectionStress, StressField, View
from flexph.bodies.split_body import SplitBody
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array, sparse_block_diag

from .line_mesh import LineMesh


def in_several_frames(make: Callable[..., Body], ports: Mapping[str, float], mesh: LineMesh, count: int) -> SplitBody:
    """Beam of ``count`` bodies in sequence with the same mesh, with ports at positions x [m] of the whole beam.

    Raises ValueError for ports off the beam, and for ports with the names of joints.
    """
    starts = mesh.length * np.arange(count)
    joints = tuple((f"cut{i}", f"cut{i}_next") for i in range(1, count))
    for name in ports:
        if name in {port for pair in joints for port in pair}:
            raise ValueError(f"stations must not be named {name!r}: a beam with split={count} has such a port")
    own: list[dict[str, float]] = [{} for _ in range(count)]
    for name, x in ports.items():
        if not 0.0 <= check.number(f"station {name!r}", x) <= count * mesh.length:
            raise ValueError(f"station {name!r} must lie between 0 and the length {count * mesh.length} m, got {x} m")
        i = max(int(np.searchsorted(starts, x)) - 1, 0)  # a port at a joint belongs to the body before it
        own[i][name] = min(x - starts[i], mesh.length)
    for i, (before, after) in enumerate(joints):
        own[i][before] = mesh.length
        own[i + 1] = {after: 0.0, **own[i + 1]}
    frames = tuple(make(ports=given) for given in own)
    places = np.zeros((count, mesh.dim))
    places[:, 0] = starts
    return SplitBody(frames, places, joints, {"load": _load(frames)}, _view(frames, places))


def _load(frames: Sequence[Body]) -> NodalLoad:
    """Loads of all frames as one load port."""
    loads: list[LoadPort] = [frame.loads["load"] for frame in frames]
    return NodalLoad(
        nodes=np.repeat(np.arange(len(frames)), [len(load.positions) for load in loads]),
        positions=np.vstack([load.positions for load in loads]),
        weights=sparse.diags_array(np.concatenate([load.measures for load in loads])).tocsr(),
        shapes=sparse_block_diag(load.shapes for load in loads),
    )


def _view(frames: Sequence[Body], places: Array) -> View:
    """Views of all frames as one view."""
    views = [frame.view for frame in frames if frame.view is not None]
    first, sweeps = views[0], [view.sweep for view in views if view.sweep is not None]
    starts = np.cumsum([0, *(len(view.points) for view in views)])
    return replace(
        first,
        points=np.vstack([view.points + place for view, place in zip(views, places, strict=True)]),
        cells=np.vstack([view.cells + start for view, start in zip(views, starts, strict=False)]),
        shape=sparse_block_diag(view.shape for view in views),
        stresses={
            name: StressField(
                field.unit,
                sparse_block_diag(view.stresses[name].cells for view in views),
                np.concatenate([view.stresses[name].compliance for view in views]),
            )
            for name, field in first.stresses.items()
        },
        sweep=replace(sweeps[0], rotation=sparse_block_diag(sweep.rotation for sweep in sweeps)),
        sections=_sections(views, places),
    )


def _sections(views: Sequence[View], places: Array) -> SectionStress | None:
    """Section stresses of all frames in sequence."""
    own = [view.sections for view in views if view.sections is not None]
    if not own:
        return None
    pieces, rings = (np.arange(len(views)) * count for count in (len(views[0].cells), len(views[0].points)))
    return replace(
        own[0],
        resultants=sparse_block_diag(sections.resultants for sections in own),
        cell=np.concatenate([sections.cell + k for sections, k in zip(own, pieces, strict=True)]),
        ring=np.concatenate([sections.ring + k for sections, k in zip(own, rings, strict=True)]),
        drawn=np.concatenate([sections.drawn + k for sections, k in zip(own, pieces, strict=True)]),
        positions=np.vstack([sections.positions + place for sections, place in zip(own, places, strict=True)]),
    )
