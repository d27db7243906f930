"""Links and joints of a robot as given in a file, and valid names of bodies, ports and connections."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .shapes import LinkShape


def free_names(wanted: Iterable[str], taken: Iterable[str] = (), *, replaced: str = "/") -> dict[str, str]:
    """Unique valid names, by the names ``wanted`` of a file, with the characters ``replaced`` substituted by ``_``.

    No result is one of ``taken``. If two names become equal, an unchanged name has priority, and the other gets a
    number.
    """
    names, taken_names, unique = list(wanted), {*taken}, {}
    for name in sorted(names, key=lambda own: own != _plain(own, replaced)):
        plain = _plain(name, replaced)
        candidates = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        unique[name] = next(candidate for candidate in candidates if candidate not in taken_names)
        taken_names.add(unique[name])
    return {name: unique[name] for name in names}


def _plain(name: str, replaced: str) -> str:
    plain = "".join("_" if letter in replaced else letter for letter in name)
    return plain.replace(".", "_") if not plain.strip(".") else plain


TURNING, SLIDING, PLANAR, FLOATING, FIXED = ("revolute", "continuous"), ("prismatic",), "planar", "floating", "fixed"
BALL = "ball"
SEVERAL = (PLANAR, FLOATING, BALL)
"""Kinds with several degrees of freedom."""


class Limit(NamedTuple):
    """Limits of a joint: range [rad, m], largest speed [rad/s, m/s], and largest effort of its motor [N m, N]."""

    lower: float
    upper: float
    velocity: float
    effort: float

    @property
    def is_bounded(self) -> bool:
        """True if the range has a finite lower or upper limit."""
        return math.isfinite(self.lower) or math.isfinite(self.upper)


class Mimic(NamedTuple):
    """Law ``q = multiplier * q_leader + offset`` of a joint that follows another joint, its leader."""

    leader: str
    multiplier: float
    offset: float


class LinkElement(NamedTuple):
    """Link in its frame: mass [kg], centre of mass (3,) [m] and moments of inertia about it (3, 3) [kg m²].

    ``shapes`` are the shapes for contacts.
    """

    name: str
    mass: float = 0.0
    centre: Array = np.zeros(3)
    moments: Array = np.zeros((3, 3))
    shapes: tuple[LinkShape, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if the link has neither mass nor inertia."""
        return self.mass == 0.0 and not self.moments.any()


class JointElement(NamedTuple):
    """Joint of a file: kind, parent and child link, pose ``origin`` (4, 4) on the parent, and axis (3,) there."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    damping: float = 0.0
    friction: float = 0.0
    limit: Limit | None = None
    mimic: Mimic | None = None


def several(names: list[str], most: int = 8) -> str:
    """Text that lists the first ``most`` of the names, and how many others there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} others" if len(names) > most else "")
