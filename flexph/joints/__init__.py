"""Joints and force elements between named ports; one file each.

Imports: joints.forces, joints.rolling, joints.rows, joints.transmissions, laws, numerics, units.
"""

from .cylindrical import cylindrical
from .distance import distance
from .drive import drive
from .forces.bushing import bushing
from .forces.cartesian_spring_damper import cartesian_spring_damper
from .forces.load import distributed_load, force, torque
from .forces.rope import Sheave, rope
from .forces.spring_damper import spring_damper, torsion_spring
from .hinge import hinge
from .planar import planar
from .point_on_curve import point_on_curve
from .prismatic import prismatic
from .revolute import revolute
from .rolling.knife_edge import knife_edge
from .rolling.railway_wheel import railway_wheel
from .rolling.rolling_disc import rolling_disc
from .rolling.slipping_wheel import slipping_wheel
from .rolling.wheel import wheel
from .rows.connection import Connection
from .rows.friction import CoulombFriction
from .rows.vectors import GROUND, Ground
from .screw import screw
from .slider import slider
from .spherical import spherical
from .transmissions.belt import belt
from .transmissions.gear import gear
from .transmissions.rack import rack
from .universal import universal
from .weld import weld

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
