"""Several multibody systems as one block system, in the positions and velocities of all ([rigid] sec. 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from flexph.numerics.arrays import Array
from flexph.systems.discrete_gradients import Invariants

from .system.matrix_functions import BlockGyroscopic, BlockMatrix, MatrixFunction, at
from .system.system import MultibodySystem
from .system.terms import (
    Damper,
    Dissipation,
    ExternalPort,
    PositionConstraint,
    PositionMap,
    Potential,
    VelocityConstraint,
)


@dataclass(frozen=True)
class Block:
    """One system within a block system, with its name and its slices of the stacked positions and velocities.

    Stacked positions are those of all systems, one after the other. ``whole`` has the number of stacked positions
    and the number of stacked velocities.
    """

    name: str
    system: MultibodySystem
    positions: slice
    velocities: slice
    whole: tuple[int, int]

    def columns(self, matrix: MatrixFunction | Array) -> MatrixFunction | Array:
        """Extend a matrix (n_kin, k) of the system by zero rows for the velocities of all other systems.

        A function of the system's positions becomes a function of the stacked positions.
        """
        return self._placed(matrix, self.velocities, slice(None))

    def rows(self, matrix: MatrixFunction | Array) -> MatrixFunction | Array:
        """Extend a matrix (k, n_kin) of the system by zero columns for the velocities of all other systems.

        A function of the system's positions becomes a function of the stacked positions.
        """
        return self._placed(matrix, slice(None), self.velocities)

    def _placed(self, matrix: Any, rows: slice, columns: slice) -> Any:
        size = at(matrix, self.system.sample).shape
        shape = (
            size[0] if rows == slice(None) else self.whole[1],
            size[1] if columns == slice(None) else self.whole[1],
        )
        wide = BlockMatrix(shape, ((rows, columns, self.positions, matrix),))
        return wide if callable(matrix) else wide(np.zeros(self.whole[0]))

    def map(self, given: PositionMap) -> PositionMap:
        """Convert a position map of the system into a map of the stacked positions."""
        return PositionMap.of_terms(self.whole[0], ((self.positions, given),))

    def port(self, name: str) -> ExternalPort:
        """Port of the block system for the port ``name`` of this system."""
        given = self.system.ports[name]
        return ExternalPort(self.columns(given.matrix), None if given.position is None else self.map(given.position))


def blocks(systems: Mapping[str, MultibodySystem]) -> tuple[Block, ...]:
    """Blocks of the given systems, whose positions and velocities are stacked in the order of the mapping."""
    whole = (sum(s.positions for s in systems.values()), sum(s.velocities for s in systems.values()))
    placed, n, k = [], 0, 0
    for name, s in systems.items():
        placed.append(Block(name, s, slice(n, n + s.positions), slice(k, k + s.velocities), whole))
        n, k = n + s.positions, k + s.velocities
    return tuple(placed)


def terms(placed: Sequence[Block]) -> dict[str, Any]:
    """Keyword arguments of :class:`MultibodySystem` for the block system of all blocks.

    Names of parts, ports and constraints begin with the name of their system, as in ``crank.position``.
    """
    return {
        "mass": block_diag(*(b.system.mass for b in placed)),
        "sample": np.concatenate([b.system.sample for b in placed]),
        "kinematics": _kinematics(placed),
        "kinematics_mean": _kinematics_mean(placed),
        "gyroscopic": _gyroscopic(placed),
        "potential": tuple(_potential(b, p) for b in placed for p in b.system.potentials),
        "constraints": tuple(_held(b, c) for b in placed for c in b.system.constraints),
        "coordinates": tuple(_held(b, c) for b in placed for c in b.system.coordinates),
        "spread": min(b.system.spread for b in placed),
        "velocity_constraints": tuple(_constraint(b, a) for b in placed for a in b.system.velocity_constraints),
        "dissipation": tuple(_dissipation(b, d) for b in placed for d in b.system.dissipation),
        "ports": {f"{b.name}.{name}": b.port(name) for b in placed for name in b.system.ports},
        "parts": _parts(placed, "parts"),
        "velocity_parts": _parts(placed, "velocity_parts"),
        "cautions": tuple(_caution(b, c) for b in placed for c in b.system.cautions),
    }


def _kinematics(placed: Sequence[Block]) -> Any:
    if all(b.system.kinematics is None for b in placed):
        return None
    if not any(callable(b.system.kinematics) for b in placed):
        return block_diag(*(b.system.Z(b.system.sample) for b in placed))
    pairs = ((b, np.eye(b.system.velocities) if b.system.kinematics is None else b.system.kinematics) for b in placed)
    return BlockMatrix(placed[0].whole, tuple((b.positions, b.velocities, b.positions, Z) for b, Z in pairs))


def _kinematics_mean(placed: Sequence[Block]) -> Any:
    """Block-diagonal mean Z̄ of the kinematic matrices over a step, as a function of the end positions (ζ₀, ζ₁).

    The block of a system without its own ``kinematics_mean`` is its Z at the midpoint. None if no system has one.
    """
    if all(b.system.kinematics_mean is None for b in placed):
        return None
    mean = lambda b, zeta0, zeta1: b.system.Z_mean(zeta0[b.positions], zeta1[b.positions])  # noqa: E731

    def whole(zeta0: Array, zeta1: Array) -> Array:
        matrix = np.zeros(placed[0].whole)
        for b in placed:
            matrix[b.positions, b.velocities] = mean(b, zeta0, zeta1)
        return matrix

    return whole


def _gyroscopic(placed: Sequence[Block]) -> Any:
    turning = [b for b in placed if b.system.gyroscopic is not None]
    if not turning:
        return None
    return BlockGyroscopic(placed[0].whole[1], tuple((b.velocities, b.positions, b.system.gyroscopic) for b in turning))


def _potential(b: Block, given: Potential | Invariants) -> Invariants:
    """Potential of one system as a function of the stacked positions; only the entries of this system matter.

    A potential that is not a function of invariants is converted to one, with the system's positions as invariants:
    Gonzalez' discrete gradient is taken in the invariants, so that it does not involve the positions of other systems.
    """
    positions, inner = b.positions, given if isinstance(given, Invariants) else _of_positions(given, b.system.positions)
    count = len(inner.values(b.system.sample))
    jacobian = BlockMatrix((count, b.whole[0]), ((slice(None), positions, positions, inner.jacobian),))
    return Invariants(lambda zeta: inner.values(zeta[positions]), jacobian, inner.energy, inner.gradient)


def _of_positions(given: Potential, size: int) -> Invariants:
    one = np.eye(size)
    return Invariants(lambda zeta: zeta, lambda zeta: one, given.energy, given.gradient)


def _held(b: Block, given: PositionConstraint) -> PositionConstraint:
    return PositionConstraint(f"{b.name}.{given.name}", b.map(given.map))


def _constraint(b: Block, given: VelocityConstraint) -> VelocityConstraint:
    position = None if given.position is None else b.map(given.position)
    return VelocityConstraint(f"{b.name}.{given.name}", b.rows(given.matrix), position, given.closed)


def _dissipation(b: Block, given: Damper | Dissipation) -> Damper | Dissipation:
    name = f"{b.name}.{given.name}"
    if isinstance(given, Damper):
        return Damper(name, b.columns(given.directions), given.relation)

    def force(zeta: Array, omega: Array) -> Array:
        forces = np.zeros(b.whole[1])
        forces[b.velocities] = given.force(zeta[b.positions], omega[b.velocities])
        return forces

    return Dissipation(name, force)


def _parts(placed: Sequence[Block], kind: str) -> dict[str, slice]:
    parts = {}
    for b in placed:
        span = b.positions if kind == "parts" else b.velocities
        entries = getattr(b.system, kind)
        if not entries:
            parts[b.name] = span
        parts.update({f"{b.name}.{k}": slice(span.start + s.start, span.start + s.stop) for k, s in entries.items()})
    return parts


def _caution(b: Block, given: Callable[[Array], str | None]) -> Callable[[Array], str | None]:
    def caution(zeta: Array) -> str | None:
        text = given(zeta[b.positions])
        return None if text is None else f"{b.name}: {text}"

    return caution
