"""Rigid bodies of the plane and of space, and multibody systems in redundant coordinates.

``rigid.body`` takes mass and inertia; ``rigid.bar`` (plane), ``rigid.point``, ``rigid.box``, ``rigid.cylinder`` and
``rigid.sphere`` know them; ``rigid.solid`` integrates them over a mesh: bodies for :func:`flexph.connect`.
:class:`MultibodySystem` takes a system as [rigid] eq. (10) writes it, of matrices and functions.
"""

from .bodies import bar, body, point
from .shapes import box, cylinder, sphere
from .solid import solid
from .system import MultibodySystem
from .terms import (
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
    "Dissipation",
    "ExternalPort",
    "MultibodySystem",
    "PositionConstraint",
    "PositionMap",
    "Potential",
    "VelocityConstraint",
    "bar",
    "body",
    "box",
    "cylinder",
    "point",
    "solid",
    "sphere",
]
