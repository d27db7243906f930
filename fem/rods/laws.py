"""Nonlinear laws of the cross-sections of rods and cables: N(ε), M(κ) and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flexph.laws.elastic_laws import ElasticLaw
from flexph.numerics import checks as check

RESULTANTS = {2: ("N", "Q2", "M3"), 3: ("N", "Q2", "Q3", "T", "M2", "M3")}
"""Names of the resultants of a rod, in the order of its strains, by the dimension."""
ROUND_OFF = 1e-9
"""Force at strain zero over the largest stiffness that counts as zero."""


def checked_laws(
    body: str, laws: Mapping[str, ElasticLaw] | None, names: Sequence[str], dim: int
) -> dict[int, ElasticLaw]:
    """Laws of a rod or cable by the index of their strain in ``names``.

    Raises ValueError for an unknown name, and for a law that does not fit a section of dimension ``dim``.
    """
    where = "in the plane" if dim == 2 else "in space"
    elastic_laws: dict[int, ElasticLaw] = {}
    for name, law in (laws or {}).items():
        check.lookup("resultant of laws", name, dict.fromkeys(names), f"a {body} {where}")
        if law.is_controlled:
            raise ValueError(f"laws[{name!r}] must not be {law}: inputs set the stiffness of springs only")
        force, stiffness = (float(of(0.0)) for of in (law.force, law.stiffness))
        if not (abs(force) <= ROUND_OFF * law.scale and stiffness > 0.0):
            raise ValueError(
                f"laws[{name!r}] must have no force and a positive stiffness at strain zero, where the {body} is "
                f"unloaded: {law} has {force:.6g} and {stiffness:.6g} there"
            )
        elastic_laws[list(names).index(name)] = law
    return elastic_laws
