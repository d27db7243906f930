"""Checks that many cases make: what a theorem says is zero, and orders of convergence."""

from __future__ import annotations

from typing import SupportsFloat

from flexph.case import Check, Kind


def vanishes(
    quantity: str, computed: SupportsFloat, tolerance: float, *, source: str = "theorem: zero", kind: Kind = "theorem"
) -> Check:
    """A check of a quantity that vanishes; the tolerance is absolute."""
    return Check(quantity, source, 0.0, float(computed), kind=kind, tolerance=tolerance, relative=False)


def converges(
    quantity: str, computed: SupportsFloat, tolerance: float, *, theory: float = 2.0, source: str = "theory"
) -> Check:
    """A check of an order of convergence against that of theory; the tolerance is absolute."""
    return Check(quantity, source, theory, float(computed), kind="theorem", tolerance=tolerance, relative=False)


def near(
    quantity: str,
    reference: float,
    computed: SupportsFloat,
    tolerance: float,
    *,
    source: str,
    kind: Kind = "closed form",
) -> Check:
    """A check of a quantity against its reference; the tolerance is absolute."""
    return Check(quantity, source, float(reference), float(computed), kind=kind, tolerance=tolerance, relative=False)
