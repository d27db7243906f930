"""Warnings where bodies leave the range of validity of their models, by the estimated error of their deflection.

A frame describes rotations of its sections to first order. The relative error of the deflection of a body of N frames,
fitted to rods (:func:`fem.rod`) and the elastica under end moments, end forces and distributed loads, is

    e = ℓ |4/3 (Σ|ψ|³ − Σ 2 tanh(λa/2) |ψ̂|³)/Σβ + 0.45 max|ψ|²/N − N̄/N_c|,

with ψ the rotations of sections that joints hold and β the angles by which the frames bend between sections. The first
term comes from joints: directions n + ψ × n turn by atan ψ (error ψ²/3), and a moment on them acts as M/(1 + ψ²) (error
ψ²). The second sum counts frames of length a under tension, with nonlinear strain, whose axis is not their chord: the
angle between both is ψ̂, the sum of the ψ of a frame. The next term comes from forces across a frame. The last is the
term that linear strain omits, the mean axial force N̄ over the buckling load N_c of a frame. The factor ℓ accounts for
tension, which straightens a bend: ℓ = tanh(λL)/λL with λ² = N̄/EI, and for compression the same function of an imaginary
λ, limited to four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.body import Body
from ...bodies.nodal_body import AnyBody, NodalBody
from ...bodies.ports import find_port, first_frame
from ...bodies.stresses import deformation_gradients
from ...joints.rows.connection import Connection, measures
from ...joints.rows.laws import ProductLaw
from ...kernels.ropes import out_of_plane
from ...kernels.state import derive
from ...numerics.arguments import warn
from ...numerics.arrays import Array, over_rows, sparse_blocks
from ...numerics.rotations import entry_count, from_entries, spins
from ...systems.nonlinear import ValidityWarning
from .model import Model
from .state import configuration

HELD = 4.0 / 3.0
INNER = 0.45
SMALL = 0.01
"""Rotation [rad] of sections up to which no error is estimated."""
BENT = 0.05
"""Bend of a body [rad] from which on its axial force counts: a straight body has no deflection."""
COMPRESSED = 1.4
"""Largest |λ|L for compression, near the π/2 at which a cantilever buckles."""


Held = dict[int, list[Any]]


class Bends(NamedTuple):
    """Estimated relative error of the deflection of a body, and largest rotation of its sections [rad], in k states."""

    error: Array
    turn: Array


class _Frame(NamedTuple):
    """Floating frame with the slices of its deformation and stresses in a state.

    ``held`` has, for each section that a joint holds, the matrix from the deformation to the rotation of the section.
    """

    body: Body
    deformation: slice
    stress: slice
    held: tuple[Any, ...]


def bends(
    bodies: Mapping[str, AnyBody], name: str, states: Array, *, parts: Mapping[str, slice], held: Held
) -> Bends | None:
    """Estimated error of the deflection of the body ``name``, and its section rotations, in states (k, size).

    ``parts`` are the slices of the states by name, ``held`` the result of :func:`held_sections`. None if no section
    turns by more than SMALL.
    """
    frames = _bent_frames(bodies, name, parts, held)
    if not frames or over_rows(lambda some: _largest(frames, some), states).max() <= SMALL:
        return None
    return Bends(*over_rows(lambda some: np.stack(_bends(frames, some), axis=1), states).T)


def held_sections(bodies: Mapping[str, AnyBody], connections: Sequence[Connection]) -> Held:
    """Sections whose directions joints prescribe, by index of the frame to which they belong.

    Each is a matrix (s, n) from the deformation of the frame to the rotation of the section.
    """
    laws = (row.law for c in connections for row in c.rows)
    products = (product for law in laws if isinstance(law, ProductLaw) for product in law.products)
    vectors = (v for product in products for w in (product.first, product.second) for v in (w.plus, w.minus))
    names = dict.fromkeys(v.port for v in vectors if v is not None and v.direction is not None)
    held: Held = {}
    for frame, port in (find_port(name, bodies) for name in names):
        if port.rotation is not None and port.rotation.shape[1]:
            held.setdefault(frame, []).append(port.rotation)
    return held


def _bent_frames(bodies: Mapping[str, AnyBody], name: str, parts: Mapping[str, slice], held: Held) -> list[_Frame]:
    frames = []
    at, of = (parts.get(f"{name}.{part}", slice(0, 0)).start for part in ("deformation", "stress"))
    for i, body in enumerate(bodies[name].frames, first_frame(name, bodies)):
        if body.size and body.section_rotation is not None:
            frame = _Frame(body, slice(at, at + body.size), slice(of, of + body.stress_size), tuple(held.get(i, ())))
            frames.append(frame)
        at, of = at + body.size, of + body.stress_size
    return frames


def _largest(frames: list[_Frame], states: Array) -> Array:
    """Largest rotation of a section of the frames in any of the states [rad], as an array (1,)."""
    turns = [np.abs(f.body.section_rotation @ states[:, f.deformation].T).max(initial=0.0) for f in frames]
    return np.array([max(turns)])


def _bends(frames: list[_Frame], states: Array) -> tuple[Array, Array]:
    """Estimated errors of the deflection of a body of given frames, and largest rotations, in k states."""
    s, held, tension = spins(frames[0].body.dim), np.zeros(len(states)), np.zeros(len(states))
    largest, bend, left_out = held.copy(), held.copy(), held.copy()
    for frame in frames:
        u = states[:, frame.deformation].T
        turns = _points(frame.body.section_rotation @ u, s)
        across = np.ptp(turns, axis=1)
        lengths = np.linalg.norm(across, axis=1)
        bend += lengths
        largest = np.maximum(largest, np.linalg.norm(turns, axis=2).max(axis=1))
        off_chord = np.zeros((len(states), s))
        for rows in frame.held:
            rotation = _points(rows @ u, s)[:, 0]
            turned, off_chord = np.linalg.norm(rotation, axis=1), off_chord + rotation
            held, largest = held + turned**3, np.maximum(largest, turned)
        if frame.body.stiffening is not None:
            axial = frame.body.stiffening
            force = axial.force(states[:, frame.stress])
            rigidity = (across / np.maximum(lengths, 1e-300)[:, None]) ** 2 @ axial.rigidities
            square = force * axial.length**2 / np.where(rigidity > 0.0, rigidity, np.inf)
            tension += lengths * square * len(frames) ** 2
            if axial.critical is None:
                straightened = 2.0 * np.tanh(0.5 * np.sqrt(np.maximum(square, 0.0)))
                held -= straightened * np.linalg.norm(off_chord, axis=1) ** 3
            else:
                left_out += lengths * force / axial.critical
    bend = np.maximum(np.maximum(bend, largest), 1e-300)
    missing = left_out / bend * (bend > BENT) if len(frames) > 1 else 0.0
    error = HELD * held / bend + INNER * largest**2 / len(frames) - missing
    return _lever(tension / bend) * np.abs(error), largest


def _lever(square: Array) -> Array:
    """Factors ℓ (k,) by which axial forces change deflections, from (λL)² (k,), negative for compression."""
    size = np.maximum(np.sqrt(np.abs(square)), 1e-6)
    pressed = np.minimum(size, COMPRESSED)
    return np.where(square > 0.0, np.tanh(size) / size, np.tan(pressed) / pressed)


def _points(turns: Array, s: int) -> Array:
    """Section rotations (p·s, k) in k states, reshaped to (k, p, s)."""
    return np.asarray(turns).T.reshape(turns.shape[1], -1, s)


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
    """Warn if states (k, size) at the times (k,) leave the range of validity of the models of bodies or ropes."""
    for name, body in mechanism.bodies.items():
        if isinstance(body, NodalBody) and (len(body.elements) or body.tangents is not None):
            kind = "rotation" if body.tangents is None else "centre"
            turned = _element_turns(body, states[:, mechanism.layout.parts[f"{name}.{kind}"]])
            for doubt in _elements(name, times, turned):
                warn(doubt, ValidityWarning)
        if isinstance(body, NodalBody) and body.current:
            for doubt in _inside_out(name, times, _volumes(mechanism, name, body, states)):
                warn(doubt, ValidityWarning)
    for doubt in _rope_out_of_plane(mechanism, times, states):
        warn(doubt, ValidityWarning)
    if mechanism.once(_Frames).are_straight(states):
        return
    held = held_sections(mechanism.bodies, mechanism.connections)
    for name in mechanism.bodies:
        for doubt in (*_deflection(mechanism, name, times, states, held), *_frames(mechanism, name, times, states)):
            warn(doubt, ValidityWarning)


class _Frames:
    """Section rotations, and axial forces divided by buckling loads, as linear functions of a mechanism's state."""

    def __init__(self, mechanism: Model) -> None:
        parts, turns, loads, sizes = mechanism.layout.parts, [], [], []
        for name, body in mechanism.bodies.items():
            at, of = (parts.get(f"{name}.{part}", slice(0, 0)).start for part in ("deformation", "stress"))
            for frame in body.frames:
                if frame.size and frame.section_rotation is not None:
                    turns.append((at, frame.section_rotation))
                for load in frame.buckling if frame.size else ():
                    loads.append((of, sparse.diags_array(load.weights / load.critical) @ load.rows))
                    sizes.append(len(load.weights))
                at, of = at + frame.size, of + frame.stress_size
        self._turns, self._loads = (_rows_over(mechanism.layout.size, rows) for rows in (turns, loads))
        self._firsts = np.cumsum([0, *sizes])[:-1]

    def are_straight(self, states: Array) -> bool:
        """True if in all states sections turn by at most SMALL, and axial forces are small.

        Small are forces of either sign up to the share BUCKLING_SHARE of the buckling load.
        """
        states = states[:, : self._turns.shape[1]]  # states of general systems have multipliers at their end
        few = not self._turns.shape[0] or over_rows(self._largest_turn, states).max() <= SMALL
        return bool(few and (not self._firsts.size or over_rows(self._largest_load, states).max() <= BUCKLING_SHARE))

    def _largest_turn(self, states: Array) -> Array:
        return np.array([np.abs(self._turns @ states.T).max(initial=0.0)])

    def _largest_load(self, states: Array) -> Array:
        return np.array([np.add.reduceat(np.abs(self._loads @ states.T), self._firsts).max(initial=0.0)])


def _rows_over(size: int, blocks: list[tuple[int, Any]]) -> Any:
    """Sparse matrix with ``size`` columns from blocks of rows, each given with its first column."""
    firsts = np.cumsum([0, *(rows.shape[0] for _, rows in blocks)]).tolist()
    placed = ((first, column, rows) for first, (column, rows) in zip(firsts, blocks, strict=False))
    return sparse_blocks((firsts[-1], size), placed)


def refuse_turned(mechanism: Model, state: Array, when: str) -> None:
    """Raise ArithmeticError if, at a flat state, an element of a rod turns too far to interpolate its directors.

    ``when`` are the words of the message that tell at which time or load this happens.
    """
    for name, body in mechanism.bodies.items():
        if isinstance(body, NodalBody) and len(body.elements) and body.tangents is None:
            turned = float(_element_turns(body, state[None, mechanism.layout.parts[f"{name}.rotation"]])[0])
            if turned > FOLDED:
                raise ArithmeticError(
                    f"the mesh of {name!r} is too coarse for the loads: {when} an element turns by {turned:.2g} rad "
                    f"between its ends, and at most {FOLDED:.2f} rad are possible: use more elements (up to "
                    f"{LARGE_TURN:g} rad each their shape is accurate), or smaller loads"
                )


def _frames(mechanism: Model, name: str, times: Array, states: Array) -> list[str]:
    """Warnings about buckling of the first floating frame of the body ``name`` that may buckle; empty if none may."""
    at = mechanism.layout.parts.get(f"{name}.stress", slice(0, 0)).start
    for frame in mechanism.bodies[name].frames:
        doubts = _buckling(name, frame, times, states[:, at : at + frame.stress_size]) if frame.size else []
        if doubts:
            return doubts
        at += frame.stress_size
    return []


def _deflection(mechanism: Model, name: str, times: Array, states: Array, held: Held) -> list[str]:
    """Warnings that the body ``name`` deflects too much relative to its floating frames; empty if it does not."""
    bend = bends(mechanism.bodies, name, states, parts=mechanism.layout.parts, held=held)
    if bend is None or bend.error.max() <= DEFLECTION_ERROR:
        return []
    frames, most = mechanism.bodies[name].frames, float(bend.error.max())
    parts = int(np.ceil(len(frames) * np.sqrt(most / DEFLECTION_ERROR)))
    shortens = all(frame.stiffening is not None and frame.stiffening.critical is None for frame in frames)
    advice = "" if shortens or len(times) == 1 else ", or use strain='von_karman' if it spins"
    size = f"about {100.0 * most:.0f} %" if most < 0.5 else "half of it or more"
    return [
        f"a section of {name!r} turns by {bend.turn.max():.2f} rad against its frame, and its deflection is off by "
        f"{size}{_first_time(times, bend.error > DEFLECTION_ERROR)}: a floating frame is for moderate deflections; "
        f"split the body into {parts} or more{advice}"
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
    """Least determinant of the deformation gradients of a solid in each of k states, (k,).

    It is negative where an element is turned inside out.
    """
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
        f"{_first_time(times, volumes <= 0.0)}: the results from then on are invalid; use smaller loads, more cells or "
        "shorter steps"
    ]


def _elements(name: str, times: Array, turned: Array) -> list[str]:
    if turned.max() <= LARGE_TURN:
        return []
    return [
        f"an element of {name!r} turns by {turned.max():.2g} rad between its ends, more than {LARGE_TURN:g} rad"
        f"{_first_time(times, turned > LARGE_TURN)}: its shape is interpolated; use more elements"
    ]


def _rope_out_of_plane(mechanism: Model, times: Array, states: Array) -> list[str]:
    """Warning that a rope leaves the plane of a sheave, for the rope that does so most in some of the states."""
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
        f"is up to {off[worst].max():.4g} m out of it{_first_time(times[pick], off[worst] > 0.0)}; its length is that "
        "of the projection there: place both in one plane, turn axis=, or put an eye, a port, between them"
    ]


def _first_time(times: Array, beyond: Array) -> str:
    """Text with the first of the times at which ``beyond`` is true; empty for a single state."""
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
            f"{_first_time(times, share > BUCKLING_SHARE)}: {load.remedy}"
        )
    return cautions
