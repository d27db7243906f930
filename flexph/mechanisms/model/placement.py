"""Arrays of the placements and motions that users give for bodies, in the plane and in space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.rotations import finite_rotation, is_scipy_rotation, rotation, rotation_matrix, spins
from ...units.arguments import in_si

Placement = Any
"""In the plane an angle [rad] or (x, y, angle) of the origin P; in space a rotation (a matrix (3, 3) or a
``scipy.spatial.transform.Rotation``), a position (x, y, z) of P, or a pair of both, (position, rotation)."""
Motion = Any
"""In the plane a spin [rad/s] or (ẋ, ẏ, spin) of the origin P; in space a spin (3,) or a pair (velocity of P, spin),
both in world axes. For a point mass its velocity alone, (ẋ, ẏ) or (ẋ, ẏ, ż)."""


def read_placement(name: str, given: Placement, dim: int) -> tuple[Array | None, Array]:
    """Position (d,) of the origin P and rotation (d, d) of the body ``name`` from a placement given by a user.

    The position is None if only a rotation is given. Numbers may be texts with units.
    """
    what = f"pose of {name!r}"
    if dim == 2:
        if np.isscalar(given):
            return None, rotation(check.number(f"angle of {name!r}", in_si(f"angle of {name!r}", given, "rad")))
        x, y, angle = check.array(what, _in_units(what, given, "m", "rad"), (3,))
        return np.array([x, y]), rotation(angle)
    if is_scipy_rotation(given) or (not _is_pair(given) and np.ndim(given) == 2):
        return None, rotation_matrix(f"rotation of {name!r}", given)
    if _is_pair(given):
        where = in_si(f"position of {name!r}", given[0], "m")
        return check.array(f"position of {name!r}", where, (3,)), rotation_matrix(f"rotation of {name!r}", given[1])
    if np.isscalar(given):
        raise ValueError(
            f"{what} must be a position (3,), a rotation, or a pair (position, rotation) in space, "
            f"got {check.shown(given)}"
        )
    return check.array(what, in_si(what, given, "m"), (3,)), np.eye(3)


def read_placements(name: str, given: Sequence[Placement], dim: int) -> tuple[Array, Array, Array]:
    """Read k placements: mask of those with a position (k,), positions of P (k, d), rotations (k, d, d).

    Positions that are not given are zero. Planar placements of one kind, all floats, are read as one array.
    """
    table = _table(given) if dim == 2 else None
    if table is not None:
        has_position, count = table.ndim == 2, len(table)
        position, angle = (table[:, :2], table[:, 2:]) if has_position else (np.zeros((count, 2)), table[:, None])
        return np.full(count, has_position), position, finite_rotation(angle, dim)
    positions, rotations = zip(*(read_placement(name, one, dim) for one in given), strict=True)
    placed = np.array([position is not None for position in positions])
    return placed, np.array([np.zeros(dim) if p is None else p for p in positions]), np.array(rotations)


def _table(given: Sequence[Placement]) -> Array | None:
    """Placements of one kind as an array: angles (k,), or triples (x, y, angle), (k, 3).

    None if they are of several kinds or forms, or not all finite floats.
    """
    floats, kinds = {float, np.float64}, set(map(type, given))
    is_triples = kinds <= {tuple, list, np.ndarray} and all(np.shape(one) == (3,) for one in given)
    if not (kinds <= floats or (is_triples and set(map(type, chain.from_iterable(given))) <= floats)):
        return None
    table = np.array(given)
    return table if np.all(np.isfinite(table)) else None


def read_motion(name: str, given: Motion, dim: int, turns: bool) -> tuple[Array | None, Array]:
    """Velocity (d,) of the origin P and spin (s,) of the body ``name`` in world axes, from the motion that a user gave.

    The velocity is None if only a spin is given. ``turns`` is False for a point mass, which has no spin. Numbers may be
    texts with units.
    """
    what = f"velocity of {name!r}"
    if not turns:
        return _point_velocity(what, given, dim), np.zeros(spins(dim))
    if dim == 2:
        if np.isscalar(given):
            return None, np.array([check.number(f"spin of {name!r}", in_si(f"spin of {name!r}", given, "rad/s"))])
        if _is_pair(given) and not np.isscalar(given[0]):
            raise ValueError(f"{what} must be (v_x, v_y, spin) or a spin in the plane, got {check.shown(given)}")
        vx, vy, spin = check.array(what, _in_units(what, given, "m/s", "rad/s"), (3,))
        return np.array([vx, vy]), np.array([spin])
    if np.isscalar(given):
        raise ValueError(f"{what} must be a spin (3,) or a pair (velocity, spin) in space, got {check.shown(given)}")
    velocity, spin = (given[0], given[1]) if _is_pair(given) else (None, given)
    moving = None if velocity is None else check.array(what, in_si(what, velocity, "m/s"), (3,))
    return moving, check.array(f"spin of {name!r}", in_si(f"spin of {name!r}", spin, "rad/s"), (3,))


def _point_velocity(what: str, given: Motion, dim: int) -> Array:
    """Velocity (d,) of a point mass, which users give alone or with a spin, which must be zero."""
    if np.isscalar(given):
        raise ValueError(
            f"{what} must be the velocity ({dim},) of a point mass, which has no spin, got {check.shown(given)}"
        )
    if dim == 3 and _is_pair(given):
        velocity, spin = given
    elif dim == 2 and not _is_pair(given) and np.size(given) == 3:
        velocity, spin = given[:2], given[2]
    else:
        return check.array(what, in_si(what, given, "m/s"), (dim,))
    if np.any(check.array(f"the spin in the {what}", np.ravel(spin), (np.size(spin),))):
        raise ValueError(f"{what} must be a velocity ({dim},): a point mass has no spin, got {check.shown(spin)}")
    return check.array(what, in_si(what, velocity, "m/s"), (dim,))


def _is_pair(given: Any) -> bool:
    """True for a list or tuple of two entries."""
    return isinstance(given, list | tuple) and len(given) == 2


def _in_units(what: str, given: Any, linear: str, angular: str) -> Any:
    """Numbers (x, y, angle), or their rates, with texts such as "30 deg" converted to SI units.

    ``linear`` and ``angular`` are these units. Other values are returned as given.
    """
    if not isinstance(given, list | tuple) or len(given) != 3:
        return given
    return [in_si(what, value, unit) for value, unit in zip(given, (linear, linear, angular), strict=True)]
