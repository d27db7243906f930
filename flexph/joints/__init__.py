"""Joints and force elements between named ports; one a file."""

from .connection import GROUND, Connection, Ground
from .distance import distance
from .drive import drive
from .hinge import hinge
from .load import distributed_load, force, torque
from .slider import slider
from .spring_damper import spring_damper, torsion_spring
from .weld import weld

__all__ = [
    "GROUND",
    "Connection",
    "Ground",
    "distance",
    "distributed_load",
    "drive",
    "force",
    "hinge",
    "slider",
    "spring_damper",
    "torque",
    "torsion_spring",
    "weld",
]
