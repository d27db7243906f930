"""Mass, centre and moments of links: checks, repair, and the sum over links that are fixed to each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from .elements import LinkElement, several

Handling = Literal["accept", "repair", "refuse"]
LEAST = 1e-13
"""Smallest principal moment over the largest one with which a link is a body of its own: above round-off."""
ADVICE = 'taken as they are; inertia="repair" takes the nearest ones that a body can have'


class Masses(NamedTuple):
    """Mass [kg], centre (3,) [m] and moments about it (3, 3) [kg m²] in the axes of a body."""

    mass: float
    centre: Array
    moments: Array

    @property
    def stands(self) -> bool:
        """Whether it moves as a body of its own: with mass, and moments about every axis."""
        if self.mass == 0.0 or not self.moments.any():
            return False
        least, _, largest = np.linalg.eigvalsh(self.moments)
        return bool(least > LEAST * largest)


def masses_of(link: LinkElement) -> Masses:
    """Those of a link in its own axes."""
    return Masses(link.mass, link.centre, link.moments)


def together(parts: Iterable[tuple[Masses, Array]]) -> Masses:
    """The sum of masses, each at a pose (4, 4) in the body; one alone at no pose is left as it is."""
    placed = [(m.mass, pose[:3, :3] @ m.centre + pose[:3, 3], pose[:3, :3], m.moments) for m, pose in parts]
    mass = sum(m for m, *_ in placed)
    heavy = [(m, c) for m, c, *_ in placed if m > 0.0]
    centre = heavy[0][1] if len(heavy) == 1 else sum((m * c for m, c in heavy), np.zeros(3)) / (mass or 1.0)
    moments = sum((R @ J @ R.T for _, _, R, J in placed), np.zeros((3, 3)))
    for m, c in heavy:
        d = c - centre
        moments = moments + m * (d @ d * np.eye(3) - np.outer(d, d))
    return Masses(float(mass), centre, moments)


def checked_links(links: Mapping[str, LinkElement], handling: Handling) -> dict[str, LinkElement]:
    """The links with moments that were accepted or repaired; raises ValueError for negative ones, and to refuse."""
    sound, beyond = dict(links), []
    for name, link in links.items():
        if not link.moments.any():
            continue
        excess = _excess(link.moments)
        repaired = link._replace(moments=_nearest(link.moments)) if excess > check.ROUND_OFF else link
        if excess > check.ROUND_OFF:
            beyond.append(f"{name} ({excess:.2g})")
        sound[name] = repaired if handling == "repair" else link
        _check_moments(sound[name], link)
    if beyond and handling != "repair":
        told = (
            f"principal moments of inertia must have J1 + J2 >= J3, beyond by shares of J1 + J2 + J3: {several(beyond)}"
        )
        if handling == "refuse":
            raise ValueError(told)
        warn(f"{told}; {ADVICE}")
    return sound


def _excess(moments: Array) -> float:
    """How far the largest principal moment is beyond the sum of the others, over the sum of all."""
    own = np.linalg.eigvalsh(moments)
    return float((2.0 * own[-1] - own.sum()) / np.abs(own).sum())


def _nearest(moments: Array) -> Array:
    """The moments of the nearest second moments ½ tr(J) I − J without negative ones: J1 or J2 grow."""
    size, axes = np.linalg.eigh(0.5 * np.trace(moments) * np.eye(3) - moments)
    second = (axes * np.maximum(size, 0.0)) @ axes.T
    return np.asarray(np.trace(second) * np.eye(3) - second)


def _check_moments(link: LinkElement, given: LinkElement) -> None:
    own = np.linalg.eigvalsh(link.moments)
    if own[0] < -check.ROUND_OFF * np.abs(own).max() or np.trace(given.moments) < 0.0:
        found = ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(given.moments))
        raise ValueError(f"the inertia of link {link.name!r} must have no negative principal moment, got {found} kg m²")
