"""Energy of motions that positions in double precision cannot tell from rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays, Springs
from .convergence.tolerances import POSITIONAL


def coordinate_size(a: Arrays, r: Array) -> float:
    """Largest coordinate that positions are sums of [m]: of centres of mass r (b, d), and of nodes from them."""
    own = max(r.max(initial=0.0), -r.min(initial=0.0))
    points = a.node_position * a.node_moves[:, None]  # directions have no length
    return float(max(own, np.abs(points).max(initial=0.0)) if points.size else own)


def rate_of_positions(size: float, h: float) -> float:
    """Velocity [m/s] that positions of a ``size`` [m] at the ends of a step h [s] tell to 1e-12.

    Defects of laws that gaps obey at the end of a step are g/h, and relative to this where bodies are slower: an ulp of
    a position over h is round-off however slow they are. Other defects stay above 1e-12 as long as positions know them.
    """
    return POSITIONAL * size / h


def resolution_terms(parts: Mapping[str, Any], springs: Springs) -> Array:
    """Σ m [kg], Σ tr J [kg m²], and stiffness against displacements [N/m] and against rotations [N m], (4,).

    A body has the stiffness m max ω², with ω² = K_ii/M_ii of its flexible coordinates: of no unit but 1/s² whatever
    these are.
    """
    flexible = len(parts["body_u"])
    mass, elastic = parts["stack"].diagonal()[:flexible], (parts["strain"] * parts["rise"]).sum(axis=0)
    squares = np.zeros(len(parts["mass"]))
    np.maximum.at(squares, parts["body_u"], elastic / mass)
    moved = len(springs.length_product) + len(springs.component_product)
    return np.array(
        [
            parts["mass"].sum(),
            np.trace(parts["J"], axis1=1, axis2=2).sum(),
            parts["mass"] @ squares + springs.scale[:moved].sum(),
            springs.scale[moved:].sum(),
        ]
    )
