"""Poses and states of mechanisms: immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy

from ...display.tables import html_table, listed
from ...kernels.state import Configuration, mass_factors, momenta, products, vectors
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.memo import read_only
from ...numerics.rotations import entries, entry_count, from_entries, moment, planar_angle, spin_map, spins
from ..arrays.nodal import initial_stresses
from .time_table import Anchors

if TYPE_CHECKING:
    from .model import Model


@dataclass(frozen=True, eq=False, repr=False)
class Pose:
    """Undeformed pose: centres of mass and rotations of all bodies, and anchors.

    Anchors are the values that joints and springs keep from this pose, such as free lengths.

    Attributes
    ----------
    centres : array
        Centres of mass (b, d) [m].
    rotations : array
        Rotations (b, d, d) from body to world axes.
    anchors : Anchors
        Offsets of joints and free lengths of springs, measured in the assembled pose.
    bodies : tuple of str
        Names of the bodies (of their frames), where they are known.
    """

    remedy: ClassVar[str] = "see mechanism.assemble(...)"

    centres: Array
    rotations: Array
    anchors: Anchors
    bodies: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Pose of {_named(self.bodies, len(self.centres))}>"

    def _repr_html_(self) -> str:
        """HTML table of centres of mass and rotations of the bodies, for notebooks."""
        turn = "angle [°]" if self.rotations.shape[-1] == 2 else "turn about x, y, z [°]"
        names = self.bodies or tuple(map(str, range(len(self.centres))))
        rows = zip(names, map(_numbers, self.centres), map(_turn, self.rotations), strict=True)
        return html_table(("body", "centre of mass [m]", turn), rows, title="Pose")


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """State of a mechanism at a time, with joint forces (multipliers) and anchors.

    Anchors are the values that joints and springs keep from the assembled pose, such as free lengths.

    :func:`flexph.results.static_solution` gives its parts by name and the readings of sensors.

    Attributes
    ----------
    time : float
        Time [s].
    x : array
        Positions, velocities, stresses and spring forces in the layout of the mechanism, without multipliers.
    multipliers : array
        Multipliers (g,) of the constraints, in the order of ``Mechanism.constraint_names``.
    anchors : Anchors
        Offsets of joints and free lengths of springs, measured in the assembled pose.
    memory : array
        Mean velocities, multipliers, velocity defects and lengths of the last steps, from which the iteration of the
        next step starts: a run continued from a saved state is then equal to the last bit.
    controllers : mapping
        States of continuous controllers and memories of sampled ones, by name. A run continued without one of these
        controllers is refused; ``replace(state, controllers={})`` restarts all.
    joint_forces : bool
        True if the multipliers are the joint forces of this state: in equilibria, runs and results of
        :meth:`flexph.Mechanism.consistent_multipliers`. False after :meth:`flexph.Mechanism.consistent_state` and after
        an impact, which set the multipliers to zero. By default True if any multiplier is nonzero.
    bodies : tuple of str
        Names of the bodies, where they are known.
    """

    time: float
    x: Array
    multipliers: Array
    anchors: Anchors
    memory: Array = field(default_factory=lambda: np.zeros((0, 0)))
    controllers: Mapping[str, Any] = field(default_factory=dict)
    joint_forces: bool | None = None
    bodies: tuple[str, ...] = ()
    remedy: ClassVar[str] = "see mechanism.consistent_state(pose) and mechanism.equilibrium(pose)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", check.number("time", self.time))
        for name, shape in (("x", (None,)), ("multipliers", (None,)), ("memory", (None, None))):
            value = np.array(check.array(f"{name} of a state", getattr(self, name), shape))
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "controllers", read_only(self.controllers))
        stated = self.joint_forces
        object.__setattr__(self, "joint_forces", bool(np.any(self.multipliers) if stated is None else stated))

    def __repr__(self) -> str:
        return f"<State of {_named(self.bodies, None)} at {self.time:.6g} s: {len(self.x)} numbers>"

    def _repr_html_(self) -> str:
        """HTML table that tells what the state contains, for notebooks."""
        known = "known" if self.joint_forces else "not computed"
        rows = [
            ("bodies", _named(self.bodies, None)),
            ("time", f"{self.time:.6g} s"),
            ("numbers", len(self.x)),
            ("joint forces", f"{len(self.multipliers)}, {known}"),
            ("controllers", listed(self.controllers) or "none"),
        ]
        return html_table(("State", ""), rows)

    if not TYPE_CHECKING:  # type checkers need not know of it

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"a State has no {name!r}, as it contains no mechanism: use static_solution(mechanism, state) of "
                "flexph.results, which has position(port), measured(sensor) and the other methods of a run"
            )


def _named(bodies: tuple[str, ...], count: int | None) -> str:
    """Text with the names of the bodies, for a ``repr``.

    Without names it is ``"a mechanism"`` or, if their number ``count`` is given, the number of bodies.
    """
    return listed(bodies) or ("a mechanism" if count is None else f"{count} bodies")


def _numbers(values: Array) -> str:
    return ", ".join(f"{value:.4g}" for value in values)


def _turn(rotation: Array) -> str:
    """Text of a rotation matrix, in degrees: its angle in the plane, the components of its rotation vector in space."""
    if rotation.shape[-1] == 2:
        return _numbers(np.degrees([planar_angle(rotation)]))
    return _numbers(scipy.spatial.transform.Rotation.from_matrix(rotation).as_rotvec(degrees=True))


def configuration(mechanism: Model, x: Array) -> Configuration:
    """Arrays of positions, velocities, stresses and springs from a flat state x, with matrices for rotations."""
    layout = mechanism.layout
    r, rho, u, v, omega, du, sigma, spring = layout.split(x)
    dim, turning = layout.dim, mechanism.network.arrays.turning
    R = np.repeat(np.eye(dim)[None], layout.frames, axis=0)
    R[turning] = from_entries(rho.reshape(len(turning), entry_count(dim)), dim)
    spin = np.zeros((layout.frames, spins(dim)))
    spin[turning] = omega.reshape(len(turning), spins(dim))
    return Configuration(r.reshape(-1, dim), R, u, v.reshape(-1, dim), spin, du, sigma, spring)


def flat(mechanism: Model, c: Configuration) -> Array:
    """Flat state x of a configuration, the inverse of :func:`configuration`."""
    turning = mechanism.network.arrays.turning
    R, omega = entries(c.R.take(turning, axis=0)), c.omega.take(turning, axis=0)
    return np.concatenate([p.ravel() for p in (c.r, R, c.u, c.v, omega, c.du, c.sigma, c.spring)])


def at_rest(mechanism: Model, centres: Array, rotations: Array) -> Configuration:
    """Configuration at given centres and rotations of the frames: undeformed, at rest, without spring forces."""
    layout = mechanism.layout
    zeros = np.zeros
    return Configuration(
        r=centres,
        R=rotations,
        u=zeros(layout.flexible),
        v=np.zeros_like(centres),
        omega=zeros((layout.frames, spins(layout.dim))),
        du=zeros(layout.flexible),
        sigma=initial_stresses(mechanism.bodies),
        spring=zeros(layout.springs),
    )


def product_values(mechanism: Model, r: Array, arms: Array) -> Array:
    """Values V·W (p,) of all products of world vectors, from centres of mass r (b, d) and arms of the nodes (k, d)."""
    a = mechanism.network.arrays
    return products(a, vectors(a, r, arms))


def angular_momentum(mechanism: Model, x: Array, time: float = 0.0) -> Array:
    """Angular momentum Σ (r × m ṙ + R p_r) of a flat state about the world's origin, (s,) [N m s].

    p_r are the angular momenta of the frames about their centres. The ``time`` enters by masses with a factor of time.
    """
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    p_r, _ = momenta(a, c.omega, c.u, c.du)
    turned = np.matmul(spin_map(c.R), p_r[:, :, None])[:, :, 0]
    return mass_factors(a, time) @ (moment(c.r, a.mass[:, None] * c.v) + turned)
