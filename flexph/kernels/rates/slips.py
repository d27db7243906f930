"""Friction against slips, velocities s of one or two components: sums of product terms, or along a curve.

Over a step the slip is exactly S = Σ gain ΔΠ; the force on a product is its gain times −κ S/h, κ = ρ(|S|/h)/(|S|/h), so
that the loss of a relation ρ is its force times the slip distance.
"""

from __future__ import annotations

from typing import NamedTuple

from ...laws.resistive_relations import Relation
from ...numerics.arrays import Array
from .terms import Index


class Slips(NamedTuple):
    """Terms (w,) of the components of slip, the slip of each component, and the relations of all slips.

    A component without terms is the slip of a port along its curve.
    """

    row: Index  # (w,), component
    product: Index
    by: Index
    weight: Array
    angular: Index
    slip: Index  # (components,)
    curve: Index  # (components,), the curve along which a port slips, or −1
    relations: tuple[Relation, ...]
