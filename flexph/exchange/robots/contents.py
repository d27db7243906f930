"""Contents of a robot's file: links, joints, springs, and joints that close loops."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...robots.links.actuators import Actuator
from ...robots.links.elements import FIXED, JointElement, LinkElement
from ...robots.links.shapes import ShapesOf, none_of


class Spring(NamedTuple):
    """Spring of a joint: stiffness [N m/rad, N/m] and the coordinate without force [rad, m]."""

    joint: str
    stiffness: float
    rest: float


class Contents(NamedTuple):
    """Contents of a robot file.

    Links by name, joints of the tree, springs at them, joints that close loops, actuators, inertias of rotors, shapes,
    read when asked for, and names of actuators without a counterpart.
    """

    links: Mapping[str, LinkElement]
    joints: Sequence[JointElement]
    springs: Sequence[Spring] = ()
    loops: Sequence[JointElement] = ()
    actuators: Mapping[str, Actuator] = MappingProxyType({})
    rotors: Mapping[str, float] = MappingProxyType({})
    shapes: ShapesOf = none_of
    unread: Sequence[str] = ()


def anchor(link: str, pose: Array, name: str) -> tuple[LinkElement, JointElement]:
    """Link without mass that is fixed to another one at a pose (4, 4)."""
    return LinkElement(name), JointElement(f"{name} anchor", FIXED, link, name, pose, np.zeros(3))


def unused(name: str, taken: Collection[str]) -> str:
    """Name that no other one of the file is equal to: ``name`` itself, or with ``_`` at its end."""
    while name in taken:
        name += "_"
    return name
