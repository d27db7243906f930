"""Estimated error of the deflection of bodies in floating frames, from their deformation.

A frame describes rotations of its sections to first order. The relative error of the deflection of a body of N frames,
fitted to rods (:func:`fem.rod`) and the elastica under end moments, end forces and distributed loads, is

    e = ℓ |4/3 Σ|ψ|³/Σβ + 0.45 max|ψ|²/N − N̄/N_c|,

with ψ the rotations of sections that joints hold and β the bends of the frames between sections. The first term comes
from joints: directions n + ψ × n turn by atan ψ (error ψ²/3), and a moment on them acts as M/(1 + ψ²) (error ψ²). The
second comes from forces across a frame. The third is the term that linear strain omits, the mean axial force N̄ over
the buckling load N_c of a frame. The factor ℓ accounts for tension, which straightens a bend: ℓ = tanh(λL)/λL with λ² =
N̄/EI, and for compression the same function of an imaginary λ, limited to four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bodies.body import Body
from ...bodies.nodal_body import AnyBody, nodes_of
from ...bodies.ports import find_port, first_frame
from ...joints.rows.connection import Connection
from ...joints.rows.laws import ProductLaw
from ...numerics.arrays import Array, over_rows
from ...numerics.rotations import spins

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
    """Estimated relative error of the deflection of a body, and largest rotation of its sections [rad], (k,) each."""

    error: Array
    turn: Array


class _Frame(NamedTuple):
    """Frame with the slices of its deformation and stresses in a state, and rows of the rotations that joints hold."""

    body: Body
    deformation: slice
    stress: slice
    held: tuple[Any, ...]


def bends(
    bodies: Mapping[str, AnyBody], name: str, states: Array, *, parts: Mapping[str, slice], held: Held
) -> Bends | None:
    """Bends of a body in states (k, size) with these parts; None if no section turns by more than SMALL."""
    frames = _frames(bodies, name, parts, held)
    if not frames or over_rows(lambda some: _largest(frames, some), states).max() <= SMALL:
        return None
    return Bends(*over_rows(lambda some: np.stack(_bends(frames, some), axis=1), states).T)


def held_sections(bodies: Mapping[str, AnyBody], connections: Sequence[Connection]) -> Held:
    """Rotation rows (s, n) of the sections whose directions joints hold, by frame number."""
    laws = (row.law for c in connections for row in c.rows)
    products = (product for law in laws if isinstance(law, ProductLaw) for product in law.products)
    vectors = (v for product in products for w in (product.first, product.second) for v in (w.plus, w.minus))
    names = dict.fromkeys(v.port for v in vectors if v is not None and v.direction is not None)
    held: Held = {}
    for frame, port in (find_port(name, bodies) for name in names):
        if port.rotation is not None and port.rotation.shape[1]:
            held.setdefault(frame, []).append(port.rotation)
    return held


def _frames(bodies: Mapping[str, AnyBody], name: str, parts: Mapping[str, slice], held: Held) -> list[_Frame]:
    frames = []
    at, of = (parts.get(f"{name}.{part}", slice(0, 0)).start for part in ("deformation", "stress"))
    for i, body in enumerate(nodes_of(bodies[name]), first_frame(name, bodies)):
        if body.size and body.section_rotation is not None:
            own = _Frame(body, slice(at, at + body.size), slice(of, of + body.stress_size), tuple(held.get(i, ())))
            frames.append(own)
        at, of = at + body.size, of + body.stress_size
    return frames


def _largest(frames: list[_Frame], states: Array) -> Array:
    """Largest rotation over all states, (1,)."""
    turns = [np.abs(f.body.section_rotation @ states[:, f.deformation].T).max(initial=0.0) for f in frames]
    return np.array([max(turns)])


def _bends(frames: list[_Frame], states: Array) -> tuple[Array, Array]:
    """Errors and largest rotations, (k,) each."""
    s, held, tension = spins(frames[0].body.dim), np.zeros(len(states)), np.zeros(len(states))
    largest, bend, left_out = held.copy(), held.copy(), held.copy()
    for frame in frames:
        u = states[:, frame.deformation].T
        turns = _points(frame.body.section_rotation @ u, s)
        across = np.ptp(turns, axis=1)
        own = np.linalg.norm(across, axis=1)
        bend += own
        largest = np.maximum(largest, np.linalg.norm(turns, axis=2).max(axis=1))
        for rows in frame.held:
            turned = np.linalg.norm(_points(rows @ u, s)[:, 0], axis=1)
            held, largest = held + turned**3, np.maximum(largest, turned)
        if frame.body.stiffening is not None:
            axial = frame.body.stiffening
            force, length = axial.force(states[:, frame.stress]), len(frames) * axial.length
            rigidity = (across / np.maximum(own, 1e-300)[:, None]) ** 2 @ axial.rigidities
            tension += force * own * length**2 / np.where(rigidity > 0.0, rigidity, np.inf)
            left_out += 0.0 if axial.critical is None else own * force / axial.critical
    bend = np.maximum(np.maximum(bend, largest), 1e-300)
    missing = left_out / bend * (bend > BENT) if len(frames) > 1 else 0.0
    error = HELD * held / bend + INNER * largest**2 / len(frames) - missing
    return _lever(tension / bend) * np.abs(error), largest


def _lever(square: Array) -> Array:
    """Factor ℓ (k,) for the effect of tension or compression, from (λL)² (k,), negative for compression."""
    size = np.maximum(np.sqrt(np.abs(square)), 1e-6)
    pressed = np.minimum(size, COMPRESSED)
    return np.where(square > 0.0, np.tanh(size) / size, np.tan(pressed) / pressed)


def _points(turns: Array, s: int) -> Array:
    """Rotations (p·s, k) reshaped to (k, p, s)."""
    return np.asarray(turns).T.reshape(turns.shape[1], -1, s)
