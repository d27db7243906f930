"""Multibody systems coupled at their ports ([rigid] sec. 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flexph.joints import GROUND, Ground
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from .blocks import Block, blocks, terms
from .system.matrix_functions import at, mapped
from .system.probes import independence, listed
from .system.system import MultibodySystem
from .system.terms import PositionMap, VelocityConstraint

End = str | Ground | None


class _Port(NamedTuple):
    """Port named ``port`` of the system in ``block``. Its text is the full name, such as ``crank.C``."""

    block: Block
    port: str

    def __str__(self) -> str:
        return f"{self.block.name}.{self.port}"

    @property
    def width(self) -> int:
        b = self.block.system
        return int(at(b.ports[self.port].matrix, b.sample).shape[1])


@checked
def interconnect(
    systems: Mapping[str, MultibodySystem],
    couplings: Sequence[tuple[End, End]] = (),
    *,
    sample: Sequence[float] | Array | None = None,
) -> MultibodySystem:
    """Interconnect systems at their ports: ``F₁ = −F₂, y₁ = y₂`` for each pair ([rigid] sec. 6, eq. (12)).

    Each coupling adds the rows ``[B₁ᵀ, −B₂ᵀ]`` to A, a velocity constraint named ``crank.C = rod.C`` whose multiplier
    is the force −F₁. If both ports have positions p₁, p₂, it preserves p₁(ζ₁) = p₂(ζ₂) ([rigid] remark 4), and initial
    states are checked against that. The remaining ports, parts and constraints are named ``crank.M``,
    ``rod.position`` and so on. Energies add up, each with its own discrete gradient.

    Rows of couplings must be independent of each other and of all other constraints at the sample, so that A has
    constant rank around it ([rigid] eq. (13)). During runs the system warns near a loss of rank
    (:class:`MultibodySystem`).

    Parameters
    ----------
    systems : mapping
        Systems by name.
    couplings : Sequence[tuple[End, End]]
        Pairs of ports ``"crank.C"``, ``"rod.C"`` of equal width. Instead of a second port, ``None`` or
        :data:`flexph.GROUND` fixes the first one at its initial position, ``GROUND.at(x, y)`` at a given position.
    sample : array_like, optional
        Stacked positions of all systems, at which the rows are checked to be independent; by default the samples of the
        systems. Coupled ports may be apart there.

    Returns
    -------
    MultibodySystem
        The interconnected system.

    Raises
    ------
    ValueError
        If rows of couplings depend on others at the sample; the message names the ports.
    """
    if not isinstance(systems, Mapping):
        raise ValueError(f"systems must be a dict with names as keys, got {type(systems).__name__}")
    for name, system in systems.items():
        if not isinstance(name, str) or not name or "." in name:
            raise ValueError(
                f"systems must have names without dots, as prefixes of the names of their ports: got {name!r}"
            )
        if not isinstance(system, MultibodySystem):
            raise ValueError(f"systems[{name!r}] must be a MultibodySystem, got {type(system).__name__}")
    if not systems:
        raise ValueError("systems must not be empty")
    placed = blocks(systems)
    pairs = [_pair(placed, coupling) for coupling in couplings]
    _check_once(pairs)
    members, coupled = terms(placed), [_constraint(*pair) for pair in pairs]
    used = {str(end) for pair in pairs for end in pair if isinstance(end, _Port)}
    members["ports"] = {name: port for name, port in members["ports"].items() if name not in used}
    members["velocity_constraints"] += tuple(coupled)
    if sample is not None:
        members["sample"] = check.array("sample", sample, members["sample"].shape)
    whole = MultibodySystem(**members)
    _check_independent(whole, coupled)
    return whole


def _pair(placed: Sequence[Block], coupling: tuple[End, End]) -> tuple[_Port, _Port | Ground]:
    if not isinstance(coupling, Sequence) or isinstance(coupling, str) or len(coupling) != 2:
        raise ValueError(f'a coupling must be a pair of ports, such as ("crank.C", "rod.C"), got {coupling!r}')
    first, second = (_end(placed, end) for end in coupling)
    if isinstance(first, Ground):
        first, second = second, first
    if isinstance(first, Ground):
        raise ValueError(f"a coupling must have a port of a system, got {coupling!r}")
    if isinstance(second, _Port) and first.width != second.width:
        raise ValueError(f"ports to couple must have equal widths: {first} has {first.width}, {second} {second.width}")
    return first, second


def _end(placed: Sequence[Block], end: End) -> _Port | Ground:
    if end is None or isinstance(end, Ground):
        return GROUND if end is None else end
    if not isinstance(end, str):
        raise ValueError(f"a port must be a name such as 'crank.C', GROUND or None, got {end!r}")
    name, _, port = end.partition(".")
    b = check.lookup("system", name, {b.name: b for b in placed})
    check.lookup("port", port, b.system.ports, owner=name)
    return _Port(b, port)


def _check_once(pairs: Sequence[tuple[_Port, _Port | Ground]]) -> None:
    seen: set[str] = set()
    for end in (str(end) for pair in pairs for end in pair if isinstance(end, _Port)):
        if end in seen:
            raise ValueError(f"a port can be coupled once, {end!r} is coupled twice: add another port to the system")
        seen.add(end)


def _check_independent(whole: MultibodySystem, coupled: Sequence[VelocityConstraint]) -> None:
    """Raise ValueError if rows of couplings depend on each other or on other constraints at the sample.

    The rank of independent rows is constant near the sample.
    """
    rank, names = whole.once(independence).dependent(whole.sample)
    if any(name.startswith(repr(c.name)) for name in names for c in coupled):
        raise ValueError(
            f"couplings must be independent of each other and of the constraints ([rigid] eq. (13)): "
            f"{listed(names)} depend on each other at the sample, the rank of all {len(whole.constraint_names)} rows "
            f"is {rank}; leave one out, or couple fewer directions"
        )


def _constraint(first: _Port, second: _Port | Ground) -> VelocityConstraint:
    """Constraint 0 = B₁ᵀϖ₁ − B₂ᵀϖ₂ of a coupling, with the position p₁ − p₂ if both ports have positions."""
    name, one = f"{first} = {second}", first.block.port(first.port)
    if isinstance(second, Ground):
        place, closed = _at(one.position, second, first), second.position is not None
        return VelocityConstraint(name, _difference(one.matrix, None), place, closed)
    other = second.block.port(second.port)
    rows = _difference(one.matrix, other.matrix)
    if one.position is None or other.position is None:
        return VelocityConstraint(name, rows)
    terms = (*one.position.terms, *((span, _negative(map)) for span, map in other.position.terms))
    return VelocityConstraint(name, rows, PositionMap.of_terms(first.block.whole[0], terms), closed=True)


def _negative(of: PositionMap) -> PositionMap:
    terms = tuple((span, _negative(term)) for span, term in of.terms)
    return PositionMap(lambda zeta: -of.value(zeta), mapped(np.negative, of.jacobian), terms)


def _difference(one: object, other: object) -> Any:
    if callable(one) or callable(other):
        return lambda zeta: at(one, zeta).T - (0.0 if other is None else at(other, zeta).T)
    return at(one, np.zeros(0)).T - (0.0 if other is None else at(other, np.zeros(0)).T)


def _at(position: PositionMap | None, ground: Ground, port: _Port) -> PositionMap | None:
    if ground.position is None:
        return position
    if position is None:
        raise ValueError(f"{port} has no position: it can be fixed by GROUND, but not at {ground.position}")
    place: Array = check.array(f"position of the ground at {port}", ground.position, (port.width,))
    return PositionMap(lambda zeta: position.value(zeta) - place, position.jacobian, position.terms)
