"""Built-in laws of springs, rods and dampers as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.systems.particle_terms import DRAG, RELATIONS, Lines, ParticleTerms

from .connections import Dashpot, Drag, Points, Rod, Spring
from .lines import named_line

KINDS = {name: kind for kind, name in RELATIONS.items()}
LAW = 5
"""Largest number of parameters of a damper."""


def are_known(springs: Sequence[Spring], dashpots: Sequence[Dashpot | Drag]) -> bool:
    """True if no law is a function given by the user."""
    relations = (d.relation.kind for d in dashpots if isinstance(d, Dashpot))
    return all(s.law is not None for s in springs) and all(kind in KINDS for kind in relations)


def known_terms(
    points: Points,
    mass: Array,
    acceleration: Array,
    lines: tuple[Sequence[Spring], Sequence[Rod], Sequence[Dashpot | Drag]],
    *,
    inputs: Sequence[str],
    has_pair: bool = False,
) -> ParticleTerms:
    """Arrays of the terms of points with springs, rods, dampers and forces, for compiled loops.

    Raises ValueError for laws given by the user.
    """
    springs, rods, dashpots = lines
    coordinates = range(points.place.size)
    return ParticleTerms(
        dim=points.dim,
        masses=mass,
        weight=np.outer(mass, acceleration).ravel(),
        springs=_lines(points, "spring", [(s, *_of_spring(s)) for s in springs], 3),
        rods=_lines(points, "rod", [(r, 0, _of_rod(r)) for r in rods], 1),
        dampers=_lines(points, "dashpot", [(d, *_of_damper(d)) for d in dashpots], LAW),
        inputs=np.array([i for point in inputs for i in coordinates[points.part(point)]], dtype=np.int64),
        has_pair=has_pair,
    )


def _lines(points: Points, kind: str, given: list[tuple[Any, int, tuple[float, ...]]], parameters: int) -> Lines:
    """Springs, rods or dampers as arrays: their names, ends, kinds and parameters of laws."""
    names = tuple(named_line(kind, connection) for connection, _, _ in given)
    ends = [points.between(name, c.first, c.second) for name, (c, _, _) in zip(names, given, strict=True)]
    laws = np.zeros((len(given), parameters))
    for row, (_, _, law) in zip(laws, given, strict=True):
        row[: len(law)] = law
    return Lines(
        names,
        np.array([pair for pair, _ in ends], dtype=np.int64).reshape(-1, 2),
        np.array([offset for _, offset in ends], dtype=float).reshape(-1, points.dim),
        np.array([number for _, number, _ in given], dtype=np.int64),
        laws,
    )


def _of_spring(spring: Spring) -> tuple[int, tuple[float, ...]]:
    if spring.law is None:
        raise ValueError(
            f"{named_line('spring', spring)} must be one of Spring.linear(...) or Spring.of_square(...), got functions "
            "of its length: use rigid.point_masses for these"
        )
    return spring.law.kind, spring.law.parameters


def _of_rod(rod: Rod) -> tuple[float]:
    return (check.positive(f"length of {named_line('rod', rod)}", rod.length, "m"),)


def _of_damper(damper: Dashpot | Drag) -> tuple[int, tuple[float, ...]]:
    if isinstance(damper, Drag):
        return DRAG, (damper.coefficient, damper.growth)
    if damper.relation.kind not in KINDS:
        raise ValueError(
            f"{named_line('dashpot', damper)} must have a relation that is viscous, quadratic or coulomb, got "
            f"{damper.relation}: use rigid.point_masses for it"
        )
    return KINDS[damper.relation.kind], damper.relation.parameters
