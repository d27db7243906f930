"""Checks of many cases: vanishing quantities, bounds, and orders of convergence."""

from __future__ import annotations

from typing import SupportsFloat

from flexph.case import Check, Kind


def vanishes(
    quantity: str, computed: SupportsFloat, tolerance: float, *, source: str = "theorem: zero", kind: Kind = "theorem"
) -> Check:
    """A check of a quantity that vanishes; the tolerance is absolute."""
    return Check(quantity, source, 0.0, float(computed), kind=kind, tolerance=tolerance, relative=False)


def at_most(quantity: str, bound: float, computed: SupportsFloat, *, source: str, excess: float = 1e-12) -> Check:
    """A check that a quantity does not exceed a bound, except for an ``excess`` for round-off."""
    return Check(quantity, source, bound, float(computed), kind="bound", tolerance=excess, relative=False)


def not_comparable(quantity: str, reference: float, computed: SupportsFloat, *, source: str) -> Check:
    """A published number for other data, and the computed one, not comparable."""
    return Check(quantity, source, reference, float(computed), kind="not comparable", tolerance=None)


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
