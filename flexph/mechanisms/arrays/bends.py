"""Error of the deflection of bodies that bend against their floating frames, estimated from their deformation.

A frame takes turns of its sections to first order. Measured against rods (:func:`fem.rod`) and the elastica, under end
moments, forces and loads along the beam, that leaves of the deflection of a body of N frames

    e = ℓ |4/3 Σ|ψ|³/Σβ + 0.45 max|ψ|²/N − N̄/N_c|,

ψ the turns of sections that joints hold, β the bends of the frames from one section to another. The first term is that
of joints: directions n + ψ × n turn by atan ψ, and a moment on them is felt as M/(1 + ψ²), a third and the whole of ψ².
The second is that of forces across a frame. The third is what linear strain leaves out, the axial force over the
buckling load of a frame. A tension straightens what bends, and where it ends is given by the tension alone: with
λ² = N̄/EI, ℓ = tanh(λL)/λL, of a compression the same function of an imaginary λ, four at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bodies.body import Body
from ...bodies.nodal_body import AnyBody, nodes_of
from ...bodies.ports import find_port, first_frame
from ...joints.rows.connection import Connection
from ...joints.rows.row_law import ProductLaw
from ...numerics.arrays import Array, over_rows
from ...numerics.rotations import spins

HELD = 4.0 / 3.0
INNER = 0.45
SMALL = 0.01
"""Turn [rad] up to which no section is looked at."""
BENT = 0.05
"""Bend of a body [rad] from which on its axial force counts: straight ones have no deflection to err in."""
COMPRESSED = 1.4
"""|λ|L of a compression at most, near the π/2 at which a cantilever buckles."""


Held = dict[int, list[Any]]


class Bends(NamedTuple):
    """The estimated error of the deflection of a body, and the largest turn of its sections [rad], (k,) each."""

    error: Array
    turn: Array


class _Frame(NamedTuple):
    """A frame, where its deformation and stresses stand in a state, and rows of turns that joints hold."""

    body: Body
    deformation: slice
    stress: slice
    held: tuple[Any, ...]


def bends(
    bodies: Mapping[str, AnyBody], name: str, states: Array, *, parts: Mapping[str, slice], held: Held
) -> Bends | None:
    """Bends of the body of a name in states (k, size) of these parts, None where no section turns that far."""
    frames = _frames(bodies, name, parts, held)
    if not frames or over_rows(lambda some: _largest(frames, some), states).max() <= SMALL:
        return None
    return Bends(*over_rows(lambda some: np.stack(_bends(frames, some), axis=1), states).T)


def held_sections(bodies: Mapping[str, AnyBody], connections: Sequence[Connection]) -> Held:
    """Rows of the turns of sections whose directions joints hold, by the number of the frame."""
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
    """The largest turn of all states, (1,)."""
    turns = [np.abs(f.body.section_rotation @ states[:, f.deformation].T).max(initial=0.0) for f in frames]
    return np.array([max(turns)])


def _bends(frames: list[_Frame], states: Array) -> tuple[Array, Array]:
    """Errors and largest turns, (k,) each."""
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
    """ℓ (k,) of (λL)²."""
    size = np.maximum(np.sqrt(np.abs(square)), 1e-6)
    pressed = np.minimum(size, COMPRESSED)
    return np.where(square > 0.0, np.tanh(size) / size, np.tan(pressed) / pressed)


def _points(turns: Array, s: int) -> Array:
    """Turns (p·s, k) point by point, (k, p, s)."""
    return np.asarray(turns).T.reshape(turns.shape[1], -1, s)
