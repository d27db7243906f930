"""Joints and force elements between named ports; one a file."""

from .bushing import bushing
from .cartesian_spring_damper import cartesian_spring_damper
from .connection import Connection
from .cylindrical import cylindrical
from .distance import distance
from .drive import drive
from .hinge import hinge
from .knife_edge import knife_edge
from .load import distributed_load, force, torque
from .planar import planar
from .prismatic import prismatic
from .revolute import revolute
from .rolling_disc import rolling_disc
from .slider import slider
from .spherical import spherical
from .spring_damper import spring_damper, torsion_spring
from .universal import universal
from .vectors import GROUND, Ground
from .weld import weld
from .wheel import wheel

__all__ = [
    "GROUND",
    "Connection",
    "Ground",
    "bushing",
    "cartesian_spring_damper",
    "cylindrical",
    "distance",
    "distributed_load",
    "drive",
    "force",
    "hinge",
    "knife_edge",
    "planar",
    "prismatic",
    "revolute",
    "rolling_disc",
    "slider",
    "spherical",
    "spring_damper",
    "torque",
    "torsion_spring",
    "universal",
    "weld",
    "wheel",
]
