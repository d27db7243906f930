"""Rigid bodies of the plane and of space, and multibody systems in redundant coordinates.

``rigid.body`` takes mass and inertia; ``rigid.bar`` (plane), ``rigid.point``, ``rigid.box``, ``rigid.cylinder`` and
``rigid.sphere`` know them; ``rigid.solid`` integrates them over a mesh: bodies for :func:`flexph.connect`.
:class:`MultibodySystem` takes a system as [rigid] eq. (10) writes it, of matrices and functions;
``rigid.free_body`` and ``rigid.pivoted_body`` build those of single bodies, whose rotations are kept by
``rigid.rotation_matrix``, ``rigid.quaternion`` or ``rigid.angles``, in the plane by ``rigid.angle``;
``rigid.point_masses`` makes one of point masses, rods, springs and dashpots.
"""

from .bodies.bodies import bar, body, point
from .bodies.shapes import box, cylinder, sphere
from .bodies.solid import solid
from .dirac_structure import (
    LagrangianSubmanifold,
    ResistiveRelation,
    dirac_structure,
    lagrangian_submanifold,
    resistive_relation,
)
from .interconnection import interconnect
from .point_masses import Dashpot, Rod, Spring, point_masses
from .resolution import resolve
from .rotations.angles import angles
from .rotations.entries import angle, planar_matrix, quaternion, rotation_matrix
from .rotations.orientation import Orientation
from .single_body.constraints import KnifeEdge, OnLine, OnPlane, Pinned, Rolling
from .single_body.free_and_pivoted import free_body, pivoted_body
from .single_body.ports import Force, Frame, Gimbal, Torque
from .system.system import MultibodySystem
from .system.terms import (
    Damper,
    Dissipation,
    ExternalPort,
    PositionConstraint,
    PositionMap,
    Potential,
    VelocityConstraint,
)

__all__ = [
    "Damper",
    "Dashpot",
    "Dissipation",
    "ExternalPort",
    "Force",
    "Frame",
    "Gimbal",
    "KnifeEdge",
    "LagrangianSubmanifold",
    "MultibodySystem",
    "OnLine",
    "OnPlane",
    "Orientation",
    "Pinned",
    "PositionConstraint",
    "PositionMap",
    "Potential",
    "ResistiveRelation",
    "Rod",
    "Rolling",
    "Spring",
    "Torque",
    "VelocityConstraint",
    "angle",
    "angles",
    "bar",
    "body",
    "box",
    "cylinder",
    "dirac_structure",
    "free_body",
    "interconnect",
    "lagrangian_submanifold",
    "pivoted_body",
    "planar_matrix",
    "point",
    "point_masses",
    "quaternion",
    "resistive_relation",
    "resolve",
    "rotation_matrix",
    "solid",
    "sphere",
]
