"""Checks of many cases: vanishing quantities, bounds, and orders of convergence."""

from __future__ import annotations

from typing import SupportsFloat

from flexph.case import Check, Kind


def vanishes(
    quantity: str, computed: SupportsFloat, tolerance: float, *, source: str = "theorem: zero", kind: Kind = "theorem"
) -> Check:
    """Check that ``computed`` is zero within an absolute tolerance; ``quantity`` is its name."""
    return Check(quantity, source, 0.0, float(computed), kind=kind, tolerance=tolerance, relative=False)


def at_most(quantity: str, bound: float, computed: SupportsFloat, *, source: str, excess: float = 1e-12) -> Check:
    """Check that ``computed`` is at most ``bound``, or larger by no more than ``excess``, for round-off."""
    return Check(quantity, source, bound, float(computed), kind="bound", tolerance=excess, relative=False)


def not_comparable(quantity: str, reference: float, computed: SupportsFloat, *, source: str) -> Check:
    """Entry that is shown with the checks, but not checked: a computed number and a published one for other data."""
    return Check(quantity, source, reference, float(computed), kind="not comparable", tolerance=None)


def converges(
    quantity: str, computed: SupportsFloat, tolerance: float, *, theory: float = 2.0, source: str = "theory"
) -> Check:
    """Check that a computed order of convergence is the order ``theory`` within an absolute tolerance."""
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
    """Check that ``computed`` is ``reference`` within an absolute tolerance."""
    return Check(quantity, source, float(reference), float(computed), kind=kind, tolerance=tolerance, relative=False)
