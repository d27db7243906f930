"""Joints and force elements between named ports.

Each function of this package, such as ``hinge`` or ``spring_damper``, returns a connection for ``flexph.connect``. A
connection is a list of constraint rows, springs and dampers, and inputs, which ``joints.rows`` defines.

Imports: joints.forces, joints.rolling, joints.rows, laws, numerics, units.
"""

from .drive import drive
from .forces.bushing import bushing
from .forces.cartesian_spring_damper import cartesian_spring_damper
from .forces.load import distributed_load, force, torque
from .forces.rope import Sheave, rope
from .forces.spring_damper import spring_damper, torsion_spring
from .lower_pairs import cylindrical, hinge, planar, prismatic, revolute, screw, slider, spherical, universal
from .point_on_curve import point_on_curve
from .rolling.rolling import knife_edge, rolling_disc, wheel
from .rolling.slipping_wheel import railway_wheel, slipping_wheel
from .rows.connection import Connection
from .rows.friction import CoulombFriction
from .rows.vectors import GROUND, Ground
from .transmissions import belt, gear, rack
from .weld import distance, weld

__all__ = [
    "GROUND",
    "Connection",
    "CoulombFriction",
    "Ground",
    "Sheave",
    "belt",
    "bushing",
    "cartesian_spring_damper",
    "cylindrical",
    "distance",
    "distributed_load",
    "drive",
    "force",
    "gear",
    "hinge",
    "knife_edge",
    "planar",
    "point_on_curve",
    "prismatic",
    "rack",
    "railway_wheel",
    "revolute",
    "rolling_disc",
    "rope",
    "screw",
    "slider",
    "slipping_wheel",
    "spherical",
    "spring_damper",
    "torque",
    "torsion_spring",
    "universal",
    "weld",
    "wheel",
]
