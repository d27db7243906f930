"""Skins: faces of triangles between ports of bodies that deform, which balls touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..joints.rows.connection import Gap
from ..joints.rows.signs import Sign
from ..joints.rows.vectors import BodyVector, Vector
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .laws import ContactLaw
from .shapes import Shape, Sphere, Spot
from .signs import Ball, TouchingPort

SIDES = (2, 3)
"""Numbers of corners of faces: segments and triangles."""


@quantities(radius="m")
@checked
@dataclass(frozen=True)
class Skin(Shape):
    """Faces between ports of bodies that deform: the surface of a solid, or segments along a cable.

    Corners of the faces are ports, such as nodes of a solid (:func:`fem.surface_ports`) or of a cable. A ball touches
    the closest face, whose corners share the force. Faces are touched from both sides, at the distance ``radius``. If
    it is zero, balls need a radius. Boxes, capsules and meshes touch a skin at the corners of the skin, and with their
    own round corners; two skins touch each other in the same way. Friction of compliant laws needs a ``slip_velocity``.
    The law Rigid is for corners in one floating frame, such as nodes of a solid with small strains.

    Parameters
    ----------
    ports : sequence of str
        Ports of bodies, the corners.
    cells : sequence of sequence of int
        Numbers of the two or three corners of each face, from 0.
    radius : float
        Distance of the surface from the faces [m].

    Raises
    ------
    ValueError
        For cells that have other numbers of corners, name one twice, or corners that do not exist.

    Examples
    --------
    >>> from flexph.contacts import KelvinVoigt, Skin, Sphere, contact
    >>> sheet = Skin([f"sheet.{k}" for k in range(4)], [(0, 1, 2), (1, 3, 2)])
    >>> contact(Sphere("ball.centre", 0.1), sheet, KelvinVoigt(1e4), name="sheet").name
    'sheet'
    """

    port: ClassVar[str]  # type: ignore[misc]  # the first of the ports, no argument
    ports: Sequence[str]
    cells: Sequence[Sequence[int]]
    radius: float = 0.0

    if TYPE_CHECKING:  # type checkers would take ``port`` of the base class as the first argument

        def __init__(self, ports: Sequence[str], cells: Sequence[Sequence[int]], radius: float = 0.0) -> None: ...

    def __post_init__(self) -> None:
        names = [self.ports] if isinstance(self.ports, str) else list(self.ports)
        for k, name in enumerate(names):
            if not isinstance(name, str):
                raise ValueError(f"ports[{k}] must be the name of a port of a body, got {check.shown(name)}")
        if len(set(names)) < len(names) or len(names) < 2:
            raise ValueError(f"ports must be two or more different ports, got {check.shown(names)}")
        cells = []
        for k, given in enumerate(self.cells):
            cell = np.atleast_1d(np.asarray(given))
            if (
                cell.dtype.kind not in "iu"
                or cell.shape not in [(n,) for n in SIDES]
                or len(set(cell.tolist())) < len(cell)
            ):
                raise ValueError(f"cells[{k}] must be 2 or 3 different numbers of ports, got {check.shown(given)}")
            if not 0 <= cell.min() <= cell.max() < len(names):
                raise ValueError(f"cells[{k}] must name ports from 0 to {len(names) - 1}, got {cell.tolist()}")
            cells.append(tuple(cell.tolist()))
        if not cells:
            raise ValueError("cells must have at least one face, got none")
        check.not_negative("radius", self.radius, "m")
        object.__setattr__(self, "port", names[0])
        object.__setattr__(self, "ports", tuple(names))
        object.__setattr__(self, "cells", tuple(cells))

    @property
    def reach(self) -> float:
        """Distance [m] of the touched surface from the faces."""
        return self.radius

    def corners(self) -> list[Spot]:
        """Corners of all faces, as balls at ports."""
        used = sorted({k for cell in self.cells for k in cell})
        return [Spot(self.ports[k], self.radius) for k in used]

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Ball at the first corner; contacts do not draw it, as the bodies show their skins."""
        return Ball(self.ports[0], self.radius, dim)

    def gaps(
        self, ball: Sphere, law: ContactLaw, centre: tuple[BodyVector | None, tuple[float, ...] | None], number: int
    ) -> list[Gap]:
        """Gaps between a ball and all faces of the skin, except faces of which the ball is a corner.

        ``centre`` is the centre of the ball, ``number`` the number of this pair of ball and skin in the connection.
        Raises ValueError for laws that skins do not support, and for a point if the skin has no radius.
        """
        if getattr(law, "holding", 0.0):
            raise ValueError("a Skin takes friction with slip_velocity= only, not by a tangential stiffness")
        offset = ball.reach + self.radius
        if offset == 0.0:
            raise ValueError("a point passes through a skin: give it a radius, Sphere(port, radius), or the skin one")
        place, fixed = centre
        gaps = []
        for cell in self.cells:
            first, *others = (BodyVector(self.ports[k]) for k in cell)
            if any(self.ports[k] == ball.port for k in cell):
                continue
            sides = (Vector(plus=other, minus=first) for other in others)
            apart = Vector(plus=place, minus=first, fixed=fixed)
            faces = (apart, *sides)
            radii = (ball.reach, 0.0)
            gaps.append(Gap("face", faces, 1.0, offset, law, (ball.port, first.port), radii, skin=number))
        return gaps
