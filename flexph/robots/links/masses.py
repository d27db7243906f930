"""Mass, centre of mass and moments of inertia of links: checks, repair, and sums over links fixed to each other."""

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
"""Ratio of the smallest to the largest principal moment for a link to be a separate body: above round-off."""
POINT = 1e-8
"""Radius of gyration [m] up to which a link is a point: its moments are round-off of those of its mass at 1 m."""
ADVICE = 'taken as they are; inertia="repair" takes the nearest ones that a body can have'


class Masses(NamedTuple):
    """Mass [kg], centre of mass (3,) [m] and moments of inertia (3, 3) [kg m²] about the centre in body axes."""

    mass: float
    centre: Array
    moments: Array

    @property
    def can_move_separately(self) -> bool:
        """True if a body with these masses can move separately: it has mass, and moments about every axis."""
        if self.mass == 0.0 or not self.moments.any():
            return False
        least, _, largest = np.linalg.eigvalsh(self.moments)
        return bool(least > LEAST * largest)


def masses_of(link: LinkElement) -> Masses:
    """Mass, centre of mass and moments of inertia of a link, in its frame."""
    return Masses(link.mass, link.centre, link.moments)


def sum_of_masses(parts: Iterable[tuple[Masses, Array]]) -> Masses:
    """Sum of masses, each at a pose (4, 4) in the body.

    A single mass at the identity is returned unchanged, without round-off.
    """
    held = list(parts)
    if len(held) == 1 and np.array_equal(held[0][1], np.eye(4)):
        return held[0][0]
    placed = [(m.mass, pose[:3, :3] @ m.centre + pose[:3, 3], pose[:3, :3], m.moments) for m, pose in held]
    mass = sum(m for m, *_ in placed)
    heavy = [(m, c) for m, c, *_ in placed if m > 0.0]
    centre = heavy[0][1] if len(heavy) == 1 else sum((m * c for m, c in heavy), np.zeros(3)) / (mass or 1.0)
    moments = sum((R @ J @ R.T for _, _, R, J in placed), np.zeros((3, 3)))
    for m, c in heavy:
        d = c - centre
        moments = moments + m * (d @ d * np.eye(3) - np.outer(d, d))
    return Masses(float(mass), centre, moments)


def checked_links(links: Mapping[str, LinkElement], handling: Handling) -> dict[str, LinkElement]:
    """Check the triangle inequality J1 + J2 ≥ J3 of the moments of inertia of links, and return the links.

    J1 ≤ J2 ≤ J3 are the principal moments of a link. If a link violates the inequality, ``handling`` decides: "repair"
    changes its moments, "refuse" raises ValueError, any other value only warns. Moments of the size of round-off
    are set to zero. Raises ValueError for a negative trace.
    """
    sound, beyond = dict(links), []
    for name, link in links.items():
        principal = np.linalg.eigvalsh(link.moments) if link.moments.any() else np.zeros(3)
        if np.abs(principal).max() <= POINT**2 * link.mass:
            sound[name] = link._replace(moments=np.zeros((3, 3)))
            continue
        if principal.sum() < 0.0:
            raise _negative(name, link.moments)
        excess = float((2.0 * principal[-1] - principal.sum()) / np.abs(principal).sum())
        if excess > check.ROUND_OFF:
            beyond.append(f"{name} ({excess:.2g})")
            sound[name] = link._replace(moments=_nearest(link.moments)) if handling == "repair" else link
    if beyond and handling != "repair":
        message = (
            f"moments of inertia must have J1 + J2 >= J3, beyond by shares of J1 + J2 + J3: links {several(beyond)}"
        )
        if handling == "refuse":
            raise ValueError(message)
        warn(f"{message}; {ADVICE}")
    return sound


def check_moments(bodies: Mapping[str, Masses]) -> None:
    """Raise ValueError for a body with a negative principal moment of inertia."""
    for name, masses in bodies.items():
        size = np.linalg.eigvalsh(masses.moments) if masses.moments.any() else np.zeros(3)
        if size[0] < -check.ROUND_OFF * np.abs(size).max():
            raise _negative(name, masses.moments)


def _nearest(moments: Array) -> Array:
    """Physically possible moments of inertia J (3, 3) near given ones, with principal moments J1 + J2 ≥ J3.

    The second moments ½ tr(J) I − J are replaced by the nearest positive semi-definite matrix.
    """
    size, axes = np.linalg.eigh(0.5 * np.trace(moments) * np.eye(3) - moments)
    second = (axes * np.maximum(size, 0.0)) @ axes.T
    return np.asarray(np.trace(second) * np.eye(3) - second)


def _negative(name: str, moments: Array) -> ValueError:
    moments_text = ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(moments))
    return ValueError(
        f"the inertia of link {name!r} must have no negative principal moment, got {moments_text} kg m²: "
        'correct it in the file, or take inertia="repair"'
    )
