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
    """Spring of a joint: stiffness [N m/rad, N/m], and coordinate at which its force is zero [rad, m]."""

    joint: str
    stiffness: float
    rest: float


class Contents(NamedTuple):
    """Contents of a robot file: links by name, joints of the tree, and joints that close loops.

    ``springs``: those of joints; ``actuators`` by name; ``rotors``: inertias by joint; ``shapes``: function that reads
    the shapes of a link; ``unread``: names of unsupported actuators.
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
    """Massless link ``name``, and the fixed joint that holds it at a pose (4, 4) on the link ``link``."""
    return LinkElement(name), JointElement(f"{name} anchor", FIXED, link, name, pose, np.zeros(3))


def unused(name: str, taken: Collection[str]) -> str:
    """Name that is not in ``taken``: ``name``, with underscores appended if needed."""
    while name in taken:
        name += "_"
    return name
