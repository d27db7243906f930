"""Kinematics and inverse dynamics of mechanisms in the coordinates of their joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..bodies.ports import find_port
from ..kernels.continuous import damping_matrix, gyroscopic_force, input_matrix, rigid_mass, spring_operator
from ..kernels.state import derive, places
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.constraints import port_rates, spring_forces, velocities_of, with_velocities
from ..mechanisms.model.state import Pose, at_rest
from ..mechanisms.model.time_table import table_of
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.memo import Memo, once, read_only
from ..numerics.rotations import rotation, rotation_matrix
from ..sensors.quantities import Quantity
from .inverse import reached
from .joint_space import Equations, JointSpace, Placed, listed
from .targets import Target, placed

KEPT = 16
"""Number of poses that are cached."""
HELD = 1e-9
"""Effort without an input, relative to the largest one, up to which ports can exert the efforts."""
Values = Mapping[str, float] | Sequence[float] | Array
"""Values of the coordinates by name, where others are zero, or in the order of ``names``."""


class Place(NamedTuple):
    """Position and rotation of a port in world axes.

    Attributes
    ----------
    position : array
        Position (d,) [m].
    rotation : array
        Rotation (d, d) of the section.
    """

    position: Array
    rotation: Array


class _PoseData(NamedTuple):
    """Pose at given coordinates, its :class:`Equations`, and rigid velocities (n_v, n) at unit rates there."""

    at: Placed
    equations: Equations
    unit_velocities: Array


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Kinematics(Memo):
    """Poses, Jacobians, inverse kinematics and inverse dynamics of a mechanism in joint coordinates.

    Coordinates q are sensors m that, together with the gaps g of the joints, determine the pose: 0 = g and q = m. The
    pose of an open chain, whose coordinates are angles and offsets of its joints, is a product of exponentials; other
    poses are found by continuation from ``home``. Newton's method then closes the joints to round-off. With the
    Jacobians G of g and C of m, and N from [G; C] N = (0, 1), rigid velocities are v = N q̇, and the efforts of a
    motion are

        τ = Nᵀ(M(N q̈ + γ) − Γ v − f),   [G; C] γ = −[Ġ; Ċ] v,

    with the mass matrix M of the bodies, gyroscopic forces Γ v, and the forces f of gravity, springs and dampers.
    Bodies are undeformed; drives, contacts and dry friction are disregarded.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism, with or without loops, of rigid bodies and bodies in floating frames, joints of positions and
        directions, and gears of rotors that rotate about axes fixed in the ground.
    coordinates : mapping
        Sensors by name: :func:`flexph.sensors.joint_angle`, :func:`~flexph.sensors.offset` or
        :func:`~flexph.sensors.distance`; for a :class:`Robot`, ``robot.coordinates``.
    home : Pose
        Assembled pose. If a loop has several configurations, all poses have the configuration of home.
    limits : mapping, optional
        Lower and upper limit of coordinates by name [rad, m], for :meth:`inverse`; for a :class:`Robot`,
        ``robot.limits``.

    Raises
    ------
    ValueError
        If the coordinates do not determine the motion or depend on each other, for other joints that constrain rates
        (gears, wheels), and for bodies of several frames.

    Examples
    --------
    An arm of two links of 1 m in the plane:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge
    >>> from flexph.robots import Kinematics
    >>> from flexph.sensors import joint_angle
    >>> bodies = {"upper": rigid.bar(1.0, 2.0), "fore": rigid.bar(1.0, 1.0)}
    >>> arm = connect(bodies, [hinge("upper.root", GROUND.at(0.0, 0.0)), hinge("fore.root", "upper.tip")])
    >>> joints = {"shoulder": joint_angle("upper.root"), "elbow": joint_angle("fore.root", "upper.tip")}
    >>> home = arm.assemble({"upper": 0.3}, guess={"fore": 1.0})
    >>> kinematics = Kinematics(arm, joints, home)
    >>> q = kinematics.inverse("fore.tip", position=(0.0, np.sqrt(2.0)))
    >>> np.degrees(q).round(9), kinematics.place("fore.tip", q).position.round(9)
    (array([45., 90.]), array([0.        , 1.41421356]))
    >>> kinematics.jacobian("fore.tip", q).round(3) + 0.0
    array([[-1.414, -0.707],
           [ 0.   , -0.707],
           [ 1.   ,  1.   ]])
    """

    mechanism: Mechanism
    coordinates: Mapping[str, Quantity]
    home: Pose
    limits: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        if not self.coordinates:
            raise ValueError("coordinates must have at least one sensor by name, got none")
        if len(self.home.centres) != len(self.mechanism.frames):
            raise ValueError("home must be a pose of this mechanism, got a pose of other bodies")
        object.__setattr__(self, "coordinates", read_only(self.coordinates))
        ends = {name: _ends(name, given) for name, given in self.limits.items() if name in self.coordinates}
        for name in self.limits:
            if not isinstance(name, str):
                raise ValueError(f"limits must map names of coordinates to (lower, upper), got the name {name!r}")
        if self.limits and not ends:
            raise ValueError(
                f"limits must name coordinates, {listed(self.names)}, got {listed(tuple(map(str, self.limits)))}"
            )
        object.__setattr__(self, "limits", read_only(ends))
        self._space  # noqa: B018  # so that wrong coordinates fail here

    def __repr__(self) -> str:
        return f"<Kinematics of {listed(self.names)}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of arrays."""
        return tuple(self.coordinates)

    @once
    def _space(self) -> JointSpace:
        return JointSpace(self.mechanism, self.coordinates, self.home)

    @once
    def _known(self) -> Any:
        space = self._space

        def pose_data(q: bytes) -> _PoseData:
            at, equations = space.pose(np.frombuffer(q))
            for part in at:
                part.setflags(write=False)  # kept for further calls
            return _PoseData(at, equations, space.unit_velocities(equations))

        return lru_cache(maxsize=KEPT)(pose_data)

    def _at(self, q: Values) -> _PoseData:
        pose_data: _PoseData = self._known(self._values("q", q).tobytes())
        return pose_data

    def _values(self, what: str, given: Values | None) -> Array:
        """Values of the coordinates as an array (n,), from an array or by name.

        Missing ones are zero. ``what`` names the values in errors.
        """
        if given is None:
            return np.zeros(len(self.names))
        if isinstance(given, Mapping):
            for name in given:
                check.lookup("coordinate", name, self.coordinates)
            return np.array([check.number(f"{what}[{name!r}]", given.get(name, 0.0)) for name in self.names])
        return check.array(what, given, (len(self.names),))

    @checked
    def values(self, pose: Pose) -> Array:
        """Coordinates (n,) [rad, m] at a pose.

        Angles are between −π and π.
        """
        return self._space.equations((pose.centres, pose.rotations)).value

    def difference(self, q: Array, target: Array) -> Array:
        """Differences target − q (n,) of coordinates.

        Those of angles are between −π and π.
        """
        return self._space.differences(q, target)

    @checked
    def pose(self, q: Values) -> Pose:
        """Pose of the mechanism at given coordinates (forward kinematics).

        Parameters
        ----------
        q : mapping or array
            Values by name, others zero, or (n,) in the order of ``names`` [rad, m].

        Returns
        -------
        Pose
            Start for :meth:`flexph.Mechanism.consistent_state`, with the anchors of ``home``.

        Raises
        ------
        ValueError
            If no pose has these coordinates, or if a loop is singular at a pose between home and it.
        """
        return Pose(*self._at(q).at, self.home.anchors, self.home.bodies)

    @checked
    def place(self, port: str, q: Values) -> Place:
        """Position (d,) and rotation (d, d) of a port at given coordinates.

        Parameters
        ----------
        port : str
            Port ``body.port``.
        q : mapping or array
            Coordinates, see :meth:`pose`.

        Returns
        -------
        Place
            Position [m] and rotation of the section.
        """
        pose_data = self._at(q)
        return Place(*placed(self._space, port, pose_data.at, pose_data.unit_velocities)[:2])

    @checked
    def jacobian(self, port: str, q: Values) -> Array:
        """Geometric Jacobian J of a port: (velocity, spin) = J q̇ in world axes.

        Parameters
        ----------
        port : str
            Port ``body.port``.
        q : mapping or array
            Coordinates, see :meth:`pose`.

        Returns
        -------
        array
            (6, n) in space, (3, n) in the plane; (d, n) for a point mass, which has no spin.
        """
        pose_data = self._at(q)
        return placed(self._space, port, pose_data.at, pose_data.unit_velocities)[2]

    @checked
    def inverse(
        self,
        port: str,
        *,
        position: Sequence[float] | Array | None = None,
        rotation: Any = None,
        near: Values | None = None,
        attempts: int = 60,
    ) -> Array:
        """Coordinates at which a port has a given place: inverse kinematics by damped least squares within limits.

        Each step is the least change of the coordinates that reaches the linearised target, so that with redundant
        coordinates the solution is close to ``near``. Damping is added if a step does not reduce the distance.
        Coordinates at a limit are not changed by steps that would exceed it. If a search does not reach the target, it
        is repeated from other coordinates, which are the same in every call.

        Y. Nakamura, H. Hanafusa, Inverse kinematic solutions with singularity robustness for robot manipulator control,
        J. Dyn. Sys. Meas. Control 108 (1986) 163-171.

        Parameters
        ----------
        port : str
            Port ``body.port``.
        position : array_like, optional
            World position (d,) [m].
        rotation : optional
            Rotation of the section: in space a matrix (3, 3) or a ``scipy.spatial.transform.Rotation``, in the plane an
            angle [rad].
        near : mapping or array, optional
            Coordinates at which the search begins, by default those of home.
        attempts : int
            Largest number of searches.

        Returns
        -------
        array
            Coordinates (n,) [rad, m], exact to round-off.

        Raises
        ------
        ValueError
            If the target is out of reach, with the smallest distance that was reached.
        """
        check.count("attempts", attempts)
        target = self._target(port, position, rotation)
        start = self._space.origin if near is None else self._values("near", near)
        return reached(self._space, target, start=start, ends=self._ends(), attempts=attempts)

    def _target(self, port: str, position: Any, turned: Any) -> Target:
        if position is None and turned is None:
            raise ValueError("inverse takes position=, rotation= or both, got neither")
        dim = self.mechanism.layout.dim
        index, _ = find_port(port, self.mechanism.bodies)
        R = None
        if turned is not None:
            R = rotation(check.number("rotation", turned)) if dim == 2 else rotation_matrix("rotation", turned)
            if index not in self.mechanism.layout.turning:
                raise ValueError(f"rotation must be None for {port!r}, a point without a section, got {turned}")
        model = self._space.model
        home = port_rates(model, at_rest(model, *self._space.home), port).position
        return Target(port, index, home, None if position is None else check.array("position", position, (dim,)), R)

    def _ends(self) -> tuple[Array, Array]:
        """Lower and upper limits of the coordinates, (n,) each."""
        none = (-np.inf, np.inf)
        both = np.array([self.limits.get(name, none) for name in self.names])
        return both[:, 0], both[:, 1]

    @checked
    def mass_matrix(self, q: Values) -> Array:
        """Mass matrix (n, n) of the coordinates at ``q``, by which the kinetic energy is ½ q̇ᵀ M q̇.

        Entries are in kg m² for two angles, kg m for an angle and a length, and kg for two lengths.
        """
        pose_data, a = self._at(q), self.mechanism.network.arrays
        M = dense(rigid_mass(a, np.zeros(self.mechanism.layout.flexible)))
        return np.asarray(pose_data.unit_velocities.T @ M @ pose_data.unit_velocities)

    @checked
    def efforts(self, q: Values, rates: Values | None = None, accelerations: Values | None = None) -> Array:
        """Efforts conjugate to the coordinates for a motion: inverse dynamics τ(q, q̇, q̈).

        Parameters
        ----------
        q, rates, accelerations : mapping or array
            Coordinates [rad, m] and their first and second rates; zero unless given.

        Returns
        -------
        array
            Torques [N m] and forces [N] (n,) conjugate to the coordinates, whose power is τ·q̇.
        """
        pose_data, mechanism, size = self._at(q), self.mechanism, self._space.size
        a, c = mechanism.network.arrays, at_rest(mechanism, *pose_data.at)
        v = pose_data.unit_velocities @ self._values("rates", rates)
        full = np.concatenate([v, np.zeros(mechanism.layout.flexible)])
        c = with_velocities(mechanism, c, full)
        change = pose_data.unit_velocities @ self._values("accelerations", accelerations)
        change = change + self._space.bias(pose_data.at, pose_data.equations, v)
        force = dense(rigid_mass(a, c.u)) @ change - gyroscopic_force(a, c, velocities_of(mechanism, c))[:size]
        force[: a.weight.size] -= a.weight.ravel()
        if a.springs.stiffness.size:
            d, table = derive(a, c), table_of(mechanism, self.home.anchors)
            force += (dense(spring_operator(a, c, d)).T @ spring_forces(mechanism, c, table, 0.0))[:size]
            force += (dense(damping_matrix(a, c, d)) @ full)[:size]
        return np.asarray(pose_data.unit_velocities.T @ force)

    @checked
    def inputs(self, q: Values, efforts: Values, ports: Sequence[str]) -> dict[str, Array]:
        """Inputs of the smallest norm at external ports that exert given efforts.

        Parameters
        ----------
        q : mapping or array
            Coordinates, see :meth:`pose`.
        efforts : mapping or array
            Efforts (n,) [N m, N].
        ports : sequence of str
            External ports of the mechanism, :func:`flexph.torque` and :func:`flexph.force`. A motor of a sliding joint
            is a force at both of its ports.

        Returns
        -------
        dict
            Inputs by port for :func:`flexph.integrate`.

        Raises
        ------
        ValueError
            If these ports cannot exert the efforts.
        """
        slices = self.mechanism.network.input_slices
        parts = {port: check.lookup("external port", port, slices) for port in ports}
        pose_data, wanted, a = self._at(q), self._values("efforts", efforts), self.mechanism.network.arrays
        c = at_rest(self.mechanism, *pose_data.at)
        d = derive(a, c)
        every = pose_data.unit_velocities.T @ dense(input_matrix(a, c.R, d.arm, places(a, c, d)))[: self._space.size]
        columns = np.concatenate([np.arange(part.start, part.stop) for part in parts.values()] or [np.zeros(0, int)])
        given = np.linalg.lstsq(every[:, columns], wanted, rcond=1e-12)[0]
        missing = np.abs(every[:, columns] @ given - wanted)
        if missing.max(initial=0.0) > HELD * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            name = self.names[int(np.argmax(missing))]
            raise ValueError(f"ports must exert the efforts, but {listed(tuple(ports))} cannot exert that of {name!r}")
        spread = np.zeros(every.shape[1])
        spread[columns] = given
        return {port: spread[part] for port, part in parts.items()}


def _ends(name: str, given: Any) -> tuple[float, float]:
    """Lower and upper limit of the coordinate ``name``; raises ValueError unless they are numbers in this order."""
    try:
        lower, upper, *_ = (float(x) for x in given)
    except (TypeError, ValueError):
        raise ValueError(f"limits[{name!r}] must be (lower, upper), got {check.shown(given)}") from None
    if not lower <= upper:
        raise ValueError(f"limits[{name!r}] must have lower <= upper, got ({lower}, {upper})")
    return lower, upper
