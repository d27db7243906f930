"""Robots from Denavit-Hartenberg tables, in the standard and in the modified convention.

J. Denavit, R. S. Hartenberg, A kinematic notation for lower-pair mechanisms based on matrices, J. Appl. Mech. 22 (1955)
215-221. J. J. Craig, Introduction to Robotics, 3rd ed., Pearson (2005), sec. 3.4 (modified).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array, Numbers
from .assembly import Options, assembled
from .elements import FIXED, JointElement, Limit, LinkElement
from .masses import checked_links
from .parts import Flexible
from .robot import Robot

Z = np.array([0.0, 0.0, 1.0])
BASE, TOOL = "base", "tool"
"""Names of the root link, and of the frame of the last link."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Link:
    """Row of a Denavit-Hartenberg table: a joint and the link that it moves.

    Standard convention: frame i is frame i − 1 moved by Rz(θ) Tz(d) Tx(a) Rx(α), and the axis of the joint is the z
    axis of frame i − 1. Modified convention: frame i is frame i − 1 moved by Rx(α) Tx(a) Rz(θ) Tz(d), and the axis of
    the joint is the z axis of frame i. The coordinate q is added to θ for a revolute joint, to d for a prismatic one.

    Parameters
    ----------
    a, d : float
        Length and offset [m].
    alpha, theta : float
        Twist and angle [rad].
    kind : {"revolute", "prismatic"}
        Kind of the joint.
    mass : float
        Mass of the link [kg].
    centre : array_like
        Centre of mass (3,) in frame i [m].
    moments : array_like
        Moments of inertia about the centre in the axes of frame i: three principal ones, or (3, 3) [kg m²].
    limits : tuple, optional
        Lower and upper limit of the coordinate [rad, m].

    Raises
    ------
    ValueError
        For numbers that are not finite, a negative mass, moments of another shape and limits in the wrong order.
    """

    a: float = 0.0
    d: float = 0.0
    alpha: float = 0.0
    theta: float = 0.0
    kind: Literal["revolute", "prismatic"] = "revolute"
    mass: float = 0.0
    centre: Numbers = (0.0, 0.0, 0.0)
    moments: Numbers = (0.0, 0.0, 0.0)
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("a", "alpha", "d", "theta"):
            check.number(name, getattr(self, name))
        check.choice("kind", self.kind, ("revolute", "prismatic"))
        check.not_negative("mass", self.mass, "kg")
        object.__setattr__(self, "centre", check.array("centre", self.centre, (3,)))
        given = np.asarray(self.moments, dtype=float)
        shape = (3,) if given.ndim == 1 else (3, 3)
        J = check.array("moments", self.moments, shape)
        J = np.diag(J) if J.ndim == 1 else J
        check.symmetric("moments", J)
        object.__setattr__(self, "moments", J)
        if self.limits is not None:
            lower, upper = check.array("limits", self.limits, (2,))
            if lower > upper:
                raise ValueError(f"limits must have lower <= upper, got ({lower}, {upper})")


@checked
def denavit_hartenberg(
    links: Mapping[str, Link],
    *,
    convention: Literal["standard", "modified"] = "standard",
    flexible: Mapping[str, Flexible] | None = None,
) -> Robot:
    """Robot from a Denavit-Hartenberg table, with its base at the origin of the world.

    Parameters
    ----------
    links : mapping
        Rows of the table, each a :class:`Link`, by the name of its joint, beginning at the base. Bodies and frames have
        the names ``link JOINT``; the port ``robot.ports["tool"]`` is the origin of the last frame.
    convention : {"standard", "modified"}
        Convention of the table.
    flexible : mapping, optional
        Flexible links, not the last one, by their names ``link JOINT``: for each a function that takes the length of
        the link [m] and returns a body with the ports ``root`` and ``tip``, see :func:`flexph.exchange.read_urdf`.

    Returns
    -------
    Robot
        Robot for ``connect(robot.bodies, robot.connections)``. The body of a link has the axes of its frame; its port
        ``origin`` is on the axis of its joint.

    Raises
    ------
    ValueError
        For an empty table, links without mass, and a convention that does not exist.

    Examples
    --------
    The tool of an arm with two parallel joints is at (cos 0.3 + cos 0.8, sin 0.3 + sin 0.8):

    >>> from flexph import connect
    >>> from flexph.robots import Kinematics, Link, denavit_hartenberg
    >>> link = Link(a=1.0, mass=2.0, centre=(-0.5, 0.0, 0.0), moments=(1e-3, 0.17, 0.17))
    >>> robot = denavit_hartenberg({"shoulder": link, "elbow": link})
    >>> arm = connect(robot.bodies, robot.connections)
    >>> kinematics = Kinematics(arm, robot.coordinates, arm.assemble(robot.placed()))
    >>> kinematics.place(robot.ports["tool"], {"shoulder": 0.3, "elbow": 0.5}).position.round(9)
    array([1.6520432, 1.0128763, 0.       ])
    """
    if not links:
        raise ValueError("links must have at least one Link, by the name of its joint, got none")
    check.choice("convention", convention, ("standard", "modified"))
    elements, joints, bodies = _standard(links) if convention == "standard" else _modified(links)
    sound = checked_links(bodies, "refuse")
    for name in flexible or {}:
        check.lookup("link", name, sound, "the robot")
    return assembled(sound, (*elements, *joints), BASE, {}, options=Options(dict(flexible or {}), True, None))


def _standard(links: Mapping[str, Link]) -> tuple[list[JointElement], list[JointElement], dict[str, LinkElement]]:
    """Joints, tool joint, and links by name, of a table in the standard convention.

    A link has the axes of its frame in the table, but its origin on the axis of its joint.
    """
    elements, bodies, before = [], {BASE: LinkElement(BASE)}, (BASE, np.zeros(3))
    for name, row in links.items():
        twist, slides = Rotation.from_euler("x", row.alpha).as_matrix(), row.kind == "prismatic"
        turn = Rotation.from_euler("z", row.theta).as_matrix()
        origin = _pose(turn @ twist, before[1] + (row.d * Z if slides else 0.0))
        frame = twist.T @ (row.a, 0.0, 0.0 if slides else row.d)
        elements.append(_joint(name, row, before[0], origin, twist.T @ Z))
        bodies[f"link {name}"] = _body(name, row, frame)
        before = f"link {name}", frame
    return elements, [_tool(*before)], bodies | {TOOL: LinkElement(TOOL)}


def _modified(links: Mapping[str, Link]) -> tuple[list[JointElement], list[JointElement], dict[str, LinkElement]]:
    """Joints, tool joint, and links by name, of a table in the modified convention.

    Links have the frames of the table.
    """
    elements, bodies, before = [], {BASE: LinkElement(BASE)}, BASE
    for name, row in links.items():
        twist, turn = (Rotation.from_euler(*given).as_matrix() for given in (("x", row.alpha), ("z", row.theta)))
        origin = _pose(twist @ turn, np.array([row.a, 0.0, 0.0]) + row.d * twist @ Z)
        elements.append(_joint(name, row, before, origin, Z))
        bodies[f"link {name}"] = _body(name, row, np.zeros(3))
        before = f"link {name}"
    return elements, [_tool(before, np.zeros(3))], bodies | {TOOL: LinkElement(TOOL)}


def _pose(turn: Array, place: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, place
    return pose


def _joint(name: str, row: Link, parent: str, origin: Array, axis: Array) -> JointElement:
    endless = (-np.inf, np.inf)
    limit = Limit(*(row.limits or endless), np.inf, np.inf)
    kind = "prismatic" if row.kind == "prismatic" else "continuous" if row.limits is None else "revolute"
    return JointElement(name, kind, parent, f"link {name}", origin, axis, limit=limit)


def _tool(parent: str, place: Array) -> JointElement:
    return JointElement(TOOL, FIXED, parent, TOOL, _pose(np.eye(3), place), Z)


def _body(name: str, row: Link, frame: Array) -> LinkElement:
    """Link with the mass, centre and moments of a row of the table.

    ``frame`` (3,) is the origin of the frame of the table in the frame of the link. Both frames have equal axes.
    """
    return LinkElement(f"link {name}", row.mass, np.asarray(row.centre) + frame, np.asarray(row.moments))
