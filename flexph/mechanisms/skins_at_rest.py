"""Faces of skins that balls touch at rest: the closest faces, and their shares of the force.

A ball in the dent of a skin may lie on several faces. With the gaps g_k to all faces and the depth δ = max(−g_k), the
energy V(δ) has a kink where several faces are closest. At an equilibrium the forces N_k of the faces satisfy

    N_k ≥ 0,    Σ N_k = V'(δ),    N_k = 0 where g_k > −δ:

the first face of a set has a spring, the others have the same gap as the first, and the multipliers of these
constraints are their shares. Faces that pull leave the set, faces that are closer join it. At first each face has
a spring of its own, which shows where the ball comes to rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog

from ..contacts.laws import KelvinVoigt, Rigid
from ..joints.rows.connection import Connection, Gap
from ..kernels.contacts.distances import closest_of_face
from ..kernels.contacts.gaps import vectors_of
from ..kernels.state import Configuration, derive, touching_points
from ..numerics.arrays import Array
from .contact_equilibrium import ContactEquilibrium
from .substitutes import name_of

Mechanism = Any
"""A :class:`flexph.Mechanism`, whose module imports this one."""
Key = tuple[str, int]
"""Name of a contact and number of the ball and skin in it."""
Sets = dict[Key, tuple[int, ...]]
"""Faces that carry each ball, by the numbers of their gaps in the contact."""
NEAREST = 12
"""Number of the nearest faces among which those that carry a ball are searched."""
CARRIES = 1e-9
"""Share of the force on a ball, from which a face carries it."""
SAME = 1e-9
"""Distance of closest points of two faces, relative to the size of the mechanism, up to which they are one point."""
PULLS = 1e-9
"""Pull of a face, relative to the force on its ball, up to which it does not count."""


class NearFace(NamedTuple):
    """Face near a ball: number of its gap, the gap [m], and the vector (d,) from the ball to the closest point."""

    number: int
    gap: float
    foot: Array


def has_skins(mechanism: Mechanism) -> bool:
    """True if balls touch faces of bodies that deform."""
    return any(gap.kind == "face" for c in mechanism.connections for gap in c.form.gaps)


def nearest_faces(mechanism: Mechanism, c: Configuration) -> dict[Key, list[NearFace]]:
    """At most :data:`NEAREST` faces of each ball on a skin, those with the least gaps, by ascending gaps."""
    a = mechanism.network.arrays
    vectors = vectors_of(a.contacts, touching_points(a, c.r, derive(a, c).arm))
    near: dict[Key, list[NearFace]] = {}
    for number, (contact, k, gap) in enumerate(_gaps(mechanism)):
        if gap.kind == "face":
            distance, foot = closest_of_face(vectors[: len(gap.vectors), number])
            near.setdefault((contact.name, gap.skin), []).append(NearFace(k, distance - gap.offset, foot))
    return {key: sorted(faces, key=lambda own: own.gap)[:NEAREST] for key, faces in near.items()}


def apart(faces: list[NearFace], size: float) -> list[NearFace]:
    """Faces in the given order, except those whose closest point is the closest point of an earlier face."""
    near_faces: list[NearFace] = []
    for face in faces:
        if all(np.linalg.norm(face.foot - other.foot) > SAME * size for other in near_faces):
            near_faces.append(face)
    return near_faces


def separate_contacts(mechanism: Mechanism, sets: Sets, stiffness: float) -> Mechanism:
    """Mechanism in which each face of a set is a separate contact; a rigid one gets a ``stiffness`` [N/m]."""
    soft = KelvinVoigt(stiffness)
    return _with(mechanism, sets, lambda k, gap: replace(gap, skin=k, law=soft if _is_rigid(gap) else gap.law))


def tied_contacts(mechanism: Mechanism, sets: Sets) -> Mechanism:
    """Mechanism in which each ball touches only the faces of its set, the first of which acts as a contact.

    The other faces of a set have the same gap.
    """
    return _with(mechanism, sets, lambda k, gap: replace(gap, skin=k) if _is_rigid(gap) else gap)


def _is_rigid(gap: Gap) -> bool:
    return isinstance(gap.law, Rigid)


def _with(mechanism: Mechanism, sets: Sets, changed: Callable[[int, Gap], Gap]) -> Mechanism:
    joints = []
    for contact in mechanism.connections:
        gaps = [(k, gap) for k, gap in enumerate(contact.form.gaps) if gap.kind != "face"]
        for (name, _), numbers in sets.items():
            if name == contact.name:
                gaps += [(k, changed(k, contact.form.gaps[k])) for k in numbers]
        if any(gap.kind == "face" for gap in contact.form.gaps):
            named = tuple(replace(gap, name=gap.name or str(k + 1)) for k, gap in gaps)
            contact = replace(contact, form=replace(contact.form, gaps=named))
        joints.append(contact)
    return mechanism.replace(joints=joints)


def numbers(near: dict[Key, list[NearFace]]) -> Sets:
    """Sets with the numbers of all faces near each ball, ascending."""
    return {key: tuple(sorted(face.number for face in faces)) for key, faces in near.items()}


def tied_sets(mechanism: Mechanism, c: Configuration, size: float, tied: float) -> Sets:
    """The closest face of each ball, and those with gaps up to ``tied`` [m] larger that have closest points apart."""
    near = {key: apart(faces, size) for key, faces in nearest_faces(mechanism, c).items()}
    return {
        key: tuple(near_face.number for near_face in faces if near_face.gap <= faces[0].gap + tied)
        for key, faces in near.items()
    }


def carrying_sets(mechanism: Mechanism, result: ContactEquilibrium, size: float) -> Sets:
    """Faces that carry each ball at an equilibrium, found from the forces on the balls.

    The equilibrium may be one in which these faces do not have equal gaps yet.
    """
    forces, near = _forces(mechanism, result), nearest_faces(mechanism, result.configuration)
    return {key: _carrying(apart(faces, size), forces[key]) for key, faces in near.items()}


def changed_sets(mechanism: Mechanism, result: ContactEquilibrium, sets: Sets, closed: float, size: float) -> Sets:
    """Sets after an equilibrium: the same unless a face pulls, or another one is closer by more than ``closed`` [m]."""
    forces, near, changed = _forces(mechanism, result), nearest_faces(mechanism, result.configuration), {}
    for key, numbers in sets.items():
        normal, faces = {k: forces.get(key, {}).get(k, 0.0) for k in numbers}, near[key]
        total, worst = sum(normal.values()), min(normal, key=lambda k: normal[k])
        least = min((face.gap for face in faces if face.number in numbers), default=np.inf)
        is_closer, pulls = faces[0].gap < least - closed, len(normal) > 1 and normal[worst] < -PULLS * abs(total)
        if not (is_closer or pulls):
            changed[key] = numbers
            continue
        changed[key] = _carrying(apart(faces, size), normal)
        if set(changed[key]) == set(numbers):
            more = () if faces[0].number in numbers or not is_closer else (faces[0].number,)
            changed[key] = (*numbers, *more) if more else tuple(k for k in numbers if k != worst)
    return changed


def _carrying(faces: list[NearFace], forces: Mapping[int, float]) -> tuple[int, ...]:
    """Numbers of the faces that carry a ball with given ``forces`` of faces, by a linear programme.

    With the planes of the faces at rest, their normals n_k and the resultant f, the largest depth is least where
    f = Σ N_k n_k with N_k ≥ 0 and the least Σ N_k g_k: at most as many faces as there are dimensions carry the ball.
    """
    normals = np.array([-face.foot / np.linalg.norm(face.foot) for face in faces])
    resultant = sum((forces.get(face.number, 0.0) * n for face, n in zip(faces, normals, strict=True)), np.zeros(1))
    if not resultant.any():
        return (faces[0].number,)
    gaps = np.array([face.gap - faces[0].gap for face in faces])
    size = float(np.linalg.norm(resultant))
    found = linprog(gaps / (gaps.max() or 1.0), A_eq=normals.T, b_eq=resultant / size, method="highs-ds")
    if not found.success:
        return (faces[0].number,)
    carried = tuple(face.number for face, share in zip(faces, found.x, strict=True) if share > CARRIES)
    return carried or (faces[0].number,)


def _forces(mechanism: Mechanism, result: ContactEquilibrium) -> dict[Key, dict[int, float]]:
    """Normal forces [N] of the faces that carry each ball, by the numbers of their gaps."""
    pressing = result.pressing
    forces: dict[Key, dict[int, float]] = {}
    for contact, k, gap in _gaps(mechanism):
        if gap.kind == "face" and (name := name_of(contact, k)) in pressing:
            forces.setdefault((contact.name, gap.skin), {})[k] = pressing[name]
    return forces


def _gaps(mechanism: Mechanism) -> Iterator[tuple[Connection, int, Gap]]:
    for contact in mechanism.connections:
        for k, gap in enumerate(contact.form.gaps):
            yield contact, k, gap
