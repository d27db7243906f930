"""Warnings where bodies leave the range of validity of their models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...bodies.body import Body
from ...bodies.nodal_body import NodalBody, nodes_of
from ...bodies.stresses import deformation_gradients
from ...joints.rows.connection import measures
from ...kernels.ropes import out_of_plane
from ...kernels.state import derive
from ...numerics.arguments import warn
from ...numerics.arrays import Array, over_rows, sparse_blocks
from ...numerics.rotations import entry_count, from_entries
from ...systems.nonlinear import ValidityWarning
from ..arrays.bends import SMALL, Held, bends, held_sections
from .model import Model
from .state import configuration

DEFLECTION_ERROR = 0.007
"""Estimated error of a deflection above which a warning is given; for a true error of 1 %, it is 0.7 to 1.8 %."""

LARGE_TURN = 1.0
"""Rotation of an element between its ends [rad] up to which interpolated directors are accurate."""

FOLDED = float(np.pi)
"""Rotation along an element of a rod [rad] from which on its nodal directors are ambiguous."""

SAMPLES = 33
"""Number of states at which ropes are compared with the planes of their sheaves."""

BUCKLING_SHARE = 0.5
"""Load, relative to a buckling load that the model does not contain, above which a warning is given."""


def warn_of_range(mechanism: Model, times: Array, states: Array) -> None:
    """Warn if states (k, size) at times (k,) leave the range of validity of the models of bodies."""
    for name, body in mechanism.bodies.items():
        if isinstance(body, NodalBody) and (len(body.elements) or body.tangents is not None):
            kind = "rotation" if body.tangents is None else "centre"
            turned = _element_turns(body, states[:, mechanism.layout.parts[f"{name}.{kind}"]])
            for doubt in _elements(name, times, turned):
                warn(doubt, ValidityWarning)
        if isinstance(body, NodalBody) and body.current:
            for doubt in _inside_out(name, times, _volumes(mechanism, name, body, states)):
                warn(doubt, ValidityWarning)
    for doubt in _askew(mechanism, times, states):
        warn(doubt, ValidityWarning)
    if mechanism.once(_Frames).are_straight(states):
        return
    held = held_sections(mechanism.bodies, mechanism.connections)
    for name in mechanism.bodies:
        for doubt in (*_deflection(mechanism, name, times, states, held), *_frames(mechanism, name, times, states)):
            warn(doubt, ValidityWarning)


class _Frames:
    """Section rotations and buckling loads of all floating frames of a mechanism, as rows over its states."""

    def __init__(self, mechanism: Model) -> None:
        parts, turns, loads, sizes = mechanism.layout.parts, [], [], []
        for name, body in mechanism.bodies.items():
            at, of = (parts.get(f"{name}.{part}", slice(0, 0)).start for part in ("deformation", "stress"))
            for frame in nodes_of(body):
                if frame.size and frame.section_rotation is not None:
                    turns.append((at, frame.section_rotation))
                for load in frame.buckling if frame.size else ():
                    loads.append((of, sparse.diags_array(load.weights / load.critical) @ load.rows))
                    sizes.append(len(load.weights))
                at, of = at + frame.size, of + frame.stress_size
        self._turns, self._loads = (_rows_over(mechanism.layout.size, own) for own in (turns, loads))
        self._firsts = np.cumsum([0, *sizes])[:-1]

    def are_straight(self, states: Array) -> bool:
        """True if no section turns by more than SMALL and no load of either sign exceeds BUCKLING_SHARE."""
        states = states[:, : self._turns.shape[1]]  # states of general systems have multipliers at their end
        few = not self._turns.shape[0] or over_rows(self._largest_turn, states).max() <= SMALL
        return bool(few and (not self._firsts.size or over_rows(self._largest_load, states).max() <= BUCKLING_SHARE))

    def _largest_turn(self, states: Array) -> Array:
        return np.array([np.abs(self._turns @ states.T).max(initial=0.0)])

    def _largest_load(self, states: Array) -> Array:
        return np.array([np.add.reduceat(np.abs(self._loads @ states.T), self._firsts).max(initial=0.0)])


def _rows_over(size: int, blocks: list[tuple[int, Any]]) -> Any:
    """Stack blocks of rows, each beginning at its column, into a matrix with ``size`` columns."""
    firsts = np.cumsum([0, *(rows.shape[0] for _, rows in blocks)]).tolist()
    placed = ((first, column, rows) for first, (column, rows) in zip(firsts, blocks, strict=False))
    return sparse_blocks((firsts[-1], size), placed)


def refuse_turned(mechanism: Model, state: Array, when: str) -> None:
    """Raise ArithmeticError if an element of a rod turns too far for interpolated directors; ``when`` is part of it."""
    for name, body in mechanism.bodies.items():
        if isinstance(body, NodalBody) and len(body.elements) and body.tangents is None:
            turned = float(_element_turns(body, state[None, mechanism.layout.parts[f"{name}.rotation"]])[0])
            if turned > FOLDED:
                raise ArithmeticError(
                    f"the mesh of {name!r} is too coarse for the loads: {when} an element turns by {turned:.2g} rad "
                    f"between its ends, and at most {FOLDED:.2f} rad are possible: take more elements (up to "
                    f"{LARGE_TURN:g} rad each their shape is accurate), or smaller loads"
                )


def _frames(mechanism: Model, name: str, times: Array, states: Array) -> list[str]:
    """Warnings about buckling of the floating frames of a body, for the first frame concerned."""
    at = mechanism.layout.parts.get(f"{name}.stress", slice(0, 0)).start
    for frame in nodes_of(mechanism.bodies[name]):
        doubts = _buckling(name, frame, times, states[:, at : at + frame.stress_size]) if frame.size else []
        if doubts:
            return doubts
        at += frame.stress_size
    return []


def _deflection(mechanism: Model, name: str, times: Array, states: Array, held: Held) -> list[str]:
    """Warnings of large deflections of a body relative to its frames."""
    found = bends(mechanism.bodies, name, states, parts=mechanism.layout.parts, held=held)
    if found is None or found.error.max() <= DEFLECTION_ERROR:
        return []
    frames, most = len(nodes_of(mechanism.bodies[name])), float(found.error.max())
    parts = int(np.ceil(frames * np.sqrt(most / DEFLECTION_ERROR)))
    size = f"about {100.0 * most:.0f} %" if most < 0.5 else "half of it or more"
    return [
        f"a section of {name!r} turns by {found.turn.max():.2f} rad against its frame, and its deflection is off by "
        f"{size}{_since(times, found.error > DEFLECTION_ERROR)}: a floating frame is for moderate deflections; split "
        f"the body into {parts} or more" + (", or take strain='von_karman' if it spins" if len(times) > 1 else "")
    ]


def _element_turns(body: NodalBody, nodes: Array) -> Array:
    """Largest rotation along an element [rad], (k,), at rotations (k, 9N) or (k, 2N), or points (k, dN) of nodes.

    Rotations from node to node, or from tangent to tangent, are summed along the element: the rotation between the ends
    alone is at most π, and small after a full turn.
    """

    def largest_of_tangents(some: Array) -> Array:
        tangents = np.asarray(body.tangents) @ some.reshape(len(some), 1, -1, body.dim)
        tangents /= np.linalg.norm(tangents, axis=3, keepdims=True)
        return along(np.einsum("keqi,keqi->keq", tangents[:, :, :-1], tangents[:, :, 1:]))

    def largest(some: Array) -> Array:
        rotations = from_entries(some.reshape(len(some), -1, entry_count(body.dim)), body.dim)
        sections = (rotations @ body.directors)[:, body.elements]
        traces = np.einsum("keqij,keqij->keq", sections[:, :, :-1], sections[:, :, 1:])
        return along(0.5 * (traces - (body.dim - 2)))  # of a turn by ψ: 2 cos ψ in the plane, 1 + 2 cos ψ in space

    def along(cosines: Array) -> Array:
        turns: Array = np.arccos(np.clip(cosines, -1.0, 1.0)).sum(axis=2).max(axis=1)
        return turns

    return over_rows(largest if body.tangents is None else largest_of_tangents, nodes)


def _volumes(mechanism: Model, name: str, body: NodalBody, states: Array) -> Array:
    """Least det F over the points of a solid at all states, (k,)."""
    turning, d, parts = body.turning, body.dim, mechanism.layout.parts

    def least(some: Array) -> Array:
        centres = some[:, parts[f"{name}.centre"]].reshape(len(some), -1, d)
        rotations = np.zeros((len(some), 0, d, d))
        if turning:
            kept = some[:, parts[f"{name}.rotation"]].reshape(len(some), turning, entry_count(d))
            rotations = from_entries(kept, d)
        return np.linalg.det(deformation_gradients(body, centres, rotations)).min(axis=1)

    return over_rows(least, states)


def _inside_out(name: str, times: Array, volumes: Array) -> list[str]:
    if volumes.min() > 0.0:
        return []
    return [
        f"cells of {name!r} turn inside out, with a volume of {volumes.min():.2g} times the undeformed one"
        f"{_since(times, volumes <= 0.0)}: the results from then on are invalid; take smaller loads, more cells or "
        "shorter steps"
    ]


def _elements(name: str, times: Array, turned: Array) -> list[str]:
    if turned.max() <= LARGE_TURN:
        return []
    return [
        f"an element of {name!r} turns by {turned.max():.2g} rad between its ends, more than {LARGE_TURN:g} rad"
        f"{_since(times, turned > LARGE_TURN)}: its shape is interpolated; take more elements"
    ]


def _askew(mechanism: Model, times: Array, states: Array) -> list[str]:
    """Warning of the rope that leaves the plane of a sheave furthest, at some of the states."""
    ropes = mechanism.network.arrays.springs.ropes
    if mechanism.layout.dim == 2 or not ropes.angle_span.size:
        return []
    pick = np.unique(np.linspace(0, len(states) - 1, SAMPLES).round().astype(int))
    a, size = mechanism.network.arrays, mechanism.layout.size
    products = [derive(a, configuration(mechanism, x)).product for x in states[pick, :size]]
    off = out_of_plane(ropes, np.array(products).T)
    if not off.any():
        return []
    worst = int(np.argmax(off.max(axis=1)))
    name = [name for name, m in measures(mechanism.connections) if m.path is not None][ropes.angle_rope[worst]]
    return [
        f"{name} leaves the plane of its sheave of radius {abs(ropes.radius[worst]):.4g} m: the next point of its path "
        f"is up to {off[worst].max():.4g} m out of it{_since(times[pick], off[worst] > 0.0)}; its length is that of "
        "the projection there: place both in one plane, turn axis=, or put an eye, a port, between them"
    ]


def _since(times: Array, beyond: Array) -> str:
    """Text with the time at which a range was left; empty for a single state."""
    return f" from t = {times[np.argmax(beyond)]:.4g} s on" if len(times) > 1 else ""


def _buckling(name: str, body: Body, times: Array, sigma: Array) -> list[str]:
    cautions = []
    for load in body.buckling:
        share = over_rows(load.share, sigma)
        if share.max() <= BUCKLING_SHARE:
            continue
        most = share.max() * load.critical
        cautions.append(
            f"{name!r} carries a mean {load.load} of {most:.3g} {load.unit}, more than half of the "
            f"{load.critical:.3g} {load.unit} at which it may buckle in a way that its model leaves out ({load.mode})"
            f"{_since(times, share > BUCKLING_SHARE)}: {load.remedy}"
        )
    return cautions
