"""Constant arrays of a mechanism for the compiled kernels, by groups."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.loops.views import LANES
from .connection_data import (
    Bearings,
    Border,
    Contacts,
    Curves,
    Joints,
    LedgerColumns,
    Loads,
    Redundancy,
    Rolling,
    Ropes,
    Slips,
    Surfaces,
)
from .data import Elastic, Faces, Filter, Flows, Inertia, Masses, Nodes, Points, Solids, Stiffness, Strains, Vibration


class Constants(NamedTuple):
    """Constant arrays of a mechanism for the loops, by groups."""

    inertia: Inertia
    elastic: Elastic
    stiffness: Stiffness
    nodes: Nodes
    joints: Joints
    rolling: Rolling
    curves: Curves
    slips: Slips
    ropes: Ropes
    loads: Loads
    border: Border
    strains: Strains
    points: Points
    contacts: Contacts
    bearings: Bearings
    ledger: LedgerColumns
    redundancy: Redundancy
    vibration: Vibration
    filter: Filter
    solids: Solids
    faces: Faces
    flows: Flows
    masses: Masses
    surfaces: Surfaces


def kinds(dim: int) -> int:
    """Number K of inertia products of a flexible coordinate: 1 + s + s², rounded up to a multiple of LANES."""
    return LANES if dim == 2 else 4 * LANES
