"""Scenes of natural vibrations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..joints.rows.vectors import PortName
from ..kernels.state import Configuration
from ..linear.eigenmodes.modes import Eigenmodes
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import Pose, State, at_rest, configuration, flat
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import cayley, skew, spins
from .arrows import PortPlaces, axes_from
from .of_motion import body_part, connection_part, extent_of, ground_parts, shown_connections, size_of_signs
from .scene import Field, Part, Scene
from .stresses import Rows

SMALL = 1e-4
"""Turn [rad], or displacement relative to the size of the mechanism, for the difference along a mode."""
DISPLACEMENT = "displacement over the largest"


@checked
def mode_scene(
    mechanism: Mechanism, about: Pose | State, modes: Eigenmodes, *, frames: int = 24, scale: float = 0.15
) -> Scene:
    """Scene of a mechanism that vibrates in its modes in sequence, each for one cycle of ``frames`` times.

    Points move along straight lines; the colour shows displacements.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    about : Pose or State
        Pose or equilibrium about which the modes were computed.
    modes : Eigenmodes
        The modes.
    frames : int
        Number of times in a cycle.
    scale : float
        Largest displacement of a mode, relative to the size of the mechanism.

    Returns
    -------
    Scene
        Scene over the phases of all modes.
    """
    check.positive("scale", scale)
    check.count("frames", frames, least=4)
    count = len(modes.frequencies)
    if not count:
        raise ValueError("modes must have at least one frequency, got none")
    x = about.x if isinstance(about, State) else flat(mechanism, at_rest(mechanism, about.centres, about.rotations))
    rest = Rows(mechanism, np.asarray(x)[None])
    extent, size = extent_of(rest), size_of_signs(rest)
    phase = np.arange(frames) / frames
    swing = scale * extent * np.sin(2.0 * np.pi * phase)
    parts = [
        _parts_of_mode(_displaced_states(mechanism, x, modes.shapes[:, k].real, extent), swing, size)
        for k in range(count)
    ]
    joined = tuple(_in_a_row(column) for column in zip(*parts, strict=True))
    captions = tuple(caption for k in range(count) for caption in [_caption(modes, k, scale * extent)] * frames)
    times = np.concatenate([k + phase for k in range(count)])
    bodies = [part for part in joined if part.kind == "body"]
    ground = ground_parts(rest, 1, size, bodies)
    return Scene(times, (*joined, *ground), size, mechanism.layout.dim, unit="turns", captions=captions)


def _caption(modes: Eigenmodes, k: int, length: float) -> str:
    omega = float(modes.frequencies[k])
    return (
        f"mode {k + 1}: {omega:.5g} rad/s, {omega / (2.0 * np.pi):.4g} Hz, largest displacement drawn as {length:.3g} m"
    )


def _displaced_states(mechanism: Mechanism, x: Array, shape: Array, extent: float) -> Rows:
    """State of a mechanism at rest, and states displaced along a mode by a small amount, forwards and backwards.

    x is the flat state at rest, ``shape`` that of the mode, and ``extent`` [m] the size of the mechanism.
    """
    c = configuration(mechanism, x)
    r, turn, u = _rates(mechanism, c, shape)
    fastest = max(float(np.abs(turn).max(initial=0.0)), float(np.abs(r).max(initial=0.0)) / extent)
    moved = [c]
    for factor in (SMALL / fastest, -SMALL / fastest):
        rotation = c.R @ cayley(0.5 * factor * turn, mechanism.layout.dim)
        moved.append(c._replace(r=c.r + factor * r, R=rotation, u=c.u + factor * u))
    return Rows(mechanism, np.array([flat(mechanism, displaced) for displaced in moved]))


def _rates(mechanism: Model, c: Configuration, shape: Array) -> tuple[Array, Array, Array]:
    """Velocities of centres ṙ (b, d), spins ω (b, s) and rates u̇ (n,) of all frames in a mode with unit amplitude.

    The entries of ``shape`` are velocity of the origin P, spin and u̇ of each frame.
    """
    d, at, begin = mechanism.layout.dim, 0, 0
    r, turn, u = np.zeros_like(c.r), np.zeros_like(c.omega), np.zeros_like(c.u)
    for i, frame in enumerate(mechanism.frames.values()):
        s = spins(d) if frame.turns else 0
        velocity, spin, rate = np.split(shape[at : at + d + s + frame.size], [d, d + s])
        bent = slice(begin, begin + frame.size)
        arm = frame.inertia.centre + frame.inertia.mean_shape @ c.u[bent]
        turned = skew(spin, d) @ arm if s else np.zeros(d)
        r[i] = c.R[i] @ (velocity + turned + frame.inertia.mean_shape @ rate)
        u[bent] = rate
        turn[i, : len(spin)] = spin
        at, begin = at + d + s + frame.size + frame.stress_size, bent.stop
    return r, turn, u


def _parts_of_mode(around: Rows, swing: Array, size: float) -> list[Part]:
    """Bodies, joints and force elements of a mechanism that swings in a mode.

    ``around`` are the states of :func:`_displaced_states`, ``swing`` (k,) [m] is the displacement of the point that
    moves furthest, and ``size`` [m] that of symbols.
    """
    mechanism = around.mechanism
    bodies = [body_part(around, name, size) for name, body in mechanism.bodies.items() if body.view is not None]
    moved = [part.points[1] - part.points[2] for part in bodies]
    largest = max([float(np.linalg.norm(displacement, axis=1).max()) for displacement in moved], default=0.0) or 1.0
    swung = [_swung(part, displacement / largest, swing) for part, displacement in zip(bodies, moved, strict=True)]
    shown = shown_connections(mechanism)
    places = [_ModePlacements(PortPlaces(around, 3, c.ports[0]), swing / largest) for c in shown]
    joints = [connection_part(at, c, size) for at, c in zip(places, shown, strict=True)]
    return [*swung, *(replace(j, deformation=j.points - j.points[:1]) for j in joints)]  # starting at rest


def _swung(part: Part, direction: Array, swing: Array) -> Part:
    """Part of a body with its points displaced by ``direction`` (p, 3) times ``swing`` (k,)."""
    moved = swing[:, None, None] * direction
    sizes = np.tile(np.linalg.norm(direction, axis=1), (len(swing), 1))
    fields = {DISPLACEMENT: Field("1", sizes)}
    return replace(part, points=part.points[0] + moved, deformation=moved, point_fields=fields)


def _in_a_row(parts: Sequence[Part]) -> Part:
    """Part whose times are those of all given parts, one after the other: a body or connection in all modes."""
    fields = {
        name: replace(f, values=np.concatenate([part.point_fields[name].values for part in parts]))
        for name, f in parts[0].point_fields.items()
    }
    points, deformation = (np.concatenate([getattr(p, name) for p in parts]) for name in ("points", "deformation"))
    return replace(parts[0], points=points, deformation=deformation, point_fields=fields)


@dataclass(frozen=True, eq=False)
class _ModePlacements:
    """Positions and axes of ports that are displaced along a mode by multiples ``factors`` (k,).

    ``places`` has the ports in the three states of :func:`_displaced_states`: at rest, displaced forwards and displaced
    backwards. The displacement is the difference of the latter two.
    """

    places: PortPlaces
    factors: Array

    def position(self, port: PortName) -> Array:
        """World positions (k, 3) of a port [m]."""
        return self._swung(self.places.position(port))

    def axes(self, port: PortName) -> Array:
        """Orthonormal section axes of a port as columns (k, 3, 3)."""
        x, y, _ = np.moveaxis(self._swung(self.places.axes(port)), -1, 0)
        return axes_from(x, y)

    def _swung(self, rows: Array) -> Array:
        factors = self.factors.reshape(-1, *[1] * (rows.ndim - 1))
        return np.asarray(rows[0] + factors * (rows[1] - rows[2]))
