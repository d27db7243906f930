"""Checks of many cases: vanishing quantities, bounds, and orders of convergence."""

from __future__ import annotations

from typing import SupportsFloat

from flexph.case import Check, Kind


def vanishes(
    quantity: str, computed: SupportsFloat, tolerance: float, *, source: str = "theorem: zero", kind: Kind = "theorem"
) -> Check:
    """Check that a quantity is zero, to an absolute tolerance."""
    return Check(quantity, source, 0.0, float(computed), kind=kind, tolerance=tolerance, relative=False)


def at_most(quantity: str, bound: float, computed: SupportsFloat, *, source: str, excess: float = 1e-12) -> Check:
    """Check that a quantity does not exceed a bound by more than ``excess``, for round-off."""
    return Check(quantity, source, bound, float(computed), kind="bound", tolerance=excess, relative=False)


def not_comparable(quantity: str, reference: float, computed: SupportsFloat, *, source: str) -> Check:
    """Entry that shows a published number for other data next to the computed number, without a comparison."""
    return Check(quantity, source, reference, float(computed), kind="not comparable", tolerance=None)


def converges(
    quantity: str, computed: SupportsFloat, tolerance: float, *, theory: float = 2.0, source: str = "theory"
) -> Check:
    """Check of an order of convergence against the order in ``theory``, to an absolute tolerance."""
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
    """Check of a quantity against its reference, to an absolute tolerance."""
    return Check(quantity, source, float(reference), float(computed), kind=kind, tolerance=tolerance, relative=False)
