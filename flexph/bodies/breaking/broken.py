"""Rods and cables without the strains of broken elements; masses and the layout of states are unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..nodal_body import DirectorStrain, NodalBody

GONE = 1e-12
"""Remaining share of the stiffness of a strain row below which it counts as zero, as round-off of a sum over its
elements."""


def element_at(name: str, body: Any, s: float) -> int:
    """Index of the element of a rod or cable at the length ``s`` [m] from its start.

    ``name`` is that of the body. Raises ValueError for other bodies, for hoses with a flow, and for s beyond the ends.
    """
    if not isinstance(body, NodalBody) or body.pieces is None:
        raise ValueError(f"rupture({name!r}): only elements of fem.rod and fem.cable break")
    if body.flow is not None:
        raise ValueError(f"rupture({name!r}): a hose with a flow does not break, as its fluid would leave there")
    borders = body.pieces.borders
    if not borders[0] <= s <= borders[-1]:
        raise ValueError(f"s must be on {name!r}, 0 to {borders[-1]} m, got {s} m")
    return min(int(np.searchsorted(borders, s, side="right")), len(borders) - 1) - 1


def with_broken(bodies: Mapping[str, Any], breaks: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """All bodies by name, with broken elements.

    ``breaks`` are pairs of the name of a body and the index of an element; all other elements are intact.
    """
    by_name: dict[str, Any] = {name: body.whole or body for name, body in bodies.items()}
    of_body: dict[str, list[int]] = {}
    for name, element in breaks:
        of_body.setdefault(name, []).append(element)
    for name, elements in of_body.items():
        by_name[name] = _broken(by_name[name], tuple(sorted(elements)))
    return by_name


def _broken(body: NodalBody, elements: tuple[int, ...]) -> NodalBody:
    """Copy of a body with the given elements broken; copies are cached in the body."""
    known: dict[tuple[int, ...], NodalBody] = body.once(_known)
    if elements not in known:
        assert body.pieces is not None
        left = 1.0 - np.asarray(body.pieces.shares[list(elements)].sum(axis=0)).ravel()
        strain = _weakened(body.elasticity, np.where(left > GONE, left, 0.0))
        known[elements] = replace(body, elasticity=strain, whole=body)
    return known[elements]


def _known(body: NodalBody) -> dict[tuple[int, ...], NodalBody]:
    return {}


def _weakened(e: DirectorStrain, left: np.ndarray) -> DirectorStrain:
    """Elastic energy with the stiffness of each strain scaled by the share ``left`` (m,) of intact elements in it.

    A strain with the share 0 vanishes.
    """
    size = sparse.diags_array(np.sqrt(np.where(left > 0.0, left, 1.0)))
    laws = []
    for part in e.laws:
        left_at_points = left[part.rows[:, 0]]
        laws.append(
            part._replace(
                rows=part.rows[left_at_points > 0.0], volume=(left_at_points * part.volume)[left_at_points > 0.0]
            )
        )
    return replace(
        e,
        factor=left * e.factors,
        reference=left * e.reference,
        compliance=sparse.csr_array(size @ e.compliance @ size),
        laws=tuple(part for part in laws if part.rows.size),
    )
