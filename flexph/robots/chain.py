"""Open chains of joints as products of exponentials.

R. M. Murray, Z. Li, S. S. Sastry, A Mathematical Introduction to Robotic Manipulation, CRC Press (1994), sec. 3.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.rotations import finite_rotation, spin_map, spins, sweep, turned_spins

SMALL = 1e-6
"""Velocity, relative to the largest one, below which a body counts as at rest."""
Placed = tuple[Array, Array]
"""Centres of mass (b, d) and rotations (b, d, d)."""


class Twist(NamedTuple):
    """Twist of a joint at unit rate, in world axes: velocity (d,) at the origin of the world, and spin (s,)."""

    velocity: Array
    spin: Array

    def motion(self, by: float) -> tuple[Array, Array]:
        """Rotation (d, d) and translation (d,) of the rigid motion exp(ξ q) with this twist ξ, and q = ``by``."""
        dim, rate = self.velocity.size, float(np.linalg.norm(self.spin))
        if rate < SMALL:
            return np.eye(dim), self.velocity * by
        turn = finite_rotation(self.spin * by, dim)
        centre = sweep(self.spin[None], self.velocity[None])[0] / rate**2  # point of the axis nearest to the origin
        shift = centre - turn @ centre
        return turn, shift if dim == 2 else shift + self.spin * (self.spin @ self.velocity) / rate**2 * by


class JointMotion(NamedTuple):
    """Rigid motion x → R x + t of the bodies that a joint moves, from home to given coordinates.

    ``turn`` is R (d, d), ``shift`` t (d,), and ``twist`` that of the joint at these coordinates.
    """

    turn: Array
    shift: Array
    twist: Twist


class Chain:
    """Product of exponentials Π exp(ξ_i Δq_i) of an open chain, with the twist ξ_i of each joint at home.

    ``is_open`` is False if a coordinate moves bodies by different twists, as in a loop, or if two coordinates move the
    same bodies.

    Parameters
    ----------
    home : tuple of arrays
        Centres of mass (b, d) and rotations (b, d, d) at home.
    origin : array
        Coordinates at home (n,).
    unit_velocities : array
        Rigid velocities (n_v, n) of unit rates of the coordinates at home.
    """

    def __init__(self, home: Placed, origin: Array, unit_velocities: Array) -> None:
        self.home, self.origin = home, origin
        self.twists: list[Twist] = []
        self.moved = np.zeros((0, len(home[0])), dtype=bool)
        bodies, dim = home[0].shape
        self.is_open = (
            len(unit_velocities) == bodies * (dim + spins(dim)) and self._read(unit_velocities) and self._is_tree()
        )
        if self.is_open:
            self._order()

    def joints(self, target: Array) -> list[JointMotion]:
        """For each joint, the rigid motion from home to the coordinates ``target`` (n,) of the bodies that it moves."""
        dim = self.home[0].shape[1]
        moved: list[JointMotion | None] = [None] * len(self.twists)
        for n, parent in self._parents:
            before = None if parent < 0 else moved[parent]
            turn, shift = (np.eye(dim), np.zeros(dim)) if before is None else before[:2]
            turned, along = self.twists[n].motion(target[n] - self.origin[n])
            spin = turned_spins(turn[None], self.twists[n].spin[None])[0]
            velocity = turn @ self.twists[n].velocity - sweep(spin[None], shift[None])[0]
            moved[n] = JointMotion(turn @ turned, shift + turn @ along, Twist(velocity, spin))
        return [one for one in moved if one is not None]

    def pose(self, target: Array) -> Placed:
        """Pose at the coordinates ``target`` (n,): centres of mass and rotations of the bodies."""
        centres, rotations = (part.copy() for part in self.home)
        joints = self.joints(target)
        for body, n in enumerate(self._last):
            if n >= 0:
                turn, shift, _ = joints[n]
                centres[body], rotations[body] = turn @ centres[body] + shift, turn @ rotations[body]
        return centres, rotations

    def place(self, joints: list[JointMotion], body: int, point: Array) -> tuple[Array, Array, Array]:
        """Position (d,) of a point of a body, rotation (d, d) of the body, and their Jacobian (d + s, n).

        ``point`` (d,) is the position of the point in the home pose, ``joints`` the result of :meth:`joints` at the
        wanted coordinates. The columns of the Jacobian are the velocity of the point and the spin of the body at unit
        rates.
        """
        n, R = self._last[body], self.home[1][body]
        place = point if n < 0 else joints[n].turn @ point + joints[n].shift
        spin = np.array([one.twist.spin for one in joints])
        velocity = np.array([one.twist.velocity for one in joints])
        velocity = velocity + sweep(spin, np.tile(place, (len(spin), 1)))
        jacobian = np.hstack([velocity, spin]).T * self.moved[:, body]
        return place, R if n < 0 else joints[n].turn @ R, jacobian

    def _order(self) -> None:
        """Sort the joints from the base outward.

        Store each joint with the next one towards the base (−1 for none), and for each body the outermost joint that
        moves it.
        """
        sizes = self.moved.sum(axis=1)
        order = np.argsort(-sizes, kind="stable")
        parents = []
        for n in order:
            outer = [m for m in order if sizes[m] > sizes[n] and (self.moved[m] & self.moved[n]).any()]
            parents.append((int(n), int(outer[-1]) if outer else -1))
        self._parents = parents
        inner = [[n for n in order if self.moved[n, body]] for body in range(self.moved.shape[1])]
        self._last = [int(joints_inside[-1]) if joints_inside else -1 for joints_inside in inner]

    def _read(self, unit_velocities: Array) -> bool:
        """Store the twist of each joint at home, and which bodies it moves, from the rigid velocities at unit rates.

        Returns False if a coordinate moves no body, or moves bodies by different twists.
        """
        centres, rotations = self.home
        bodies, dim = centres.shape
        velocity = unit_velocities[: bodies * dim].reshape(bodies, dim, -1)
        spin = spin_map(rotations) @ unit_velocities[bodies * dim :].reshape(bodies, spins(dim), -1)
        small, moved = SMALL * float(np.abs(unit_velocities).max(initial=0.0)), []
        for v, w in zip(np.moveaxis(velocity, 2, 0), np.moveaxis(spin, 2, 0), strict=True):
            moving = (np.abs(v) > small).any(axis=1) | (np.abs(w) > small).any(axis=1)
            if not moving.any():
                return False
            of = v - sweep(w, centres)  # velocity of each body at the origin of the world
            twist = Twist(of[moving][0], w[moving][0])
            apart = max(np.abs(of[moving] - twist.velocity).max(), np.abs(w[moving] - twist.spin).max())
            if apart > small * (1.0 + float(np.abs(centres).max())):
                return False
            self.twists.append(twist)
            moved.append(moving)
        self.moved = np.array(moved)
        return True

    def _is_tree(self) -> bool:
        """True if the joints form a tree, judged by the set of bodies that each joint moves.

        Of any two of these sets, one must contain the other or they must be disjoint, and no two may be equal.
        """
        sets = self.moved.astype(int)
        common, sizes = sets @ sets.T, sets.sum(axis=1)
        nested = (common == 0) | (common == np.minimum.outer(sizes, sizes))
        same = (common == sizes) & (common == sizes[:, None])
        return bool(nested.all()) and int(same.sum()) == len(sizes)
