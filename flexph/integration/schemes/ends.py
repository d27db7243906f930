"""Reasons for which the motion of a mechanism ends within a step: fallen discs, ends of curves, angles of stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...contacts.stops import check_stops
from ...joints.rows.connection import measures
from ...kernels.rates.curves import KINK, OFF
from ...kernels.ropes import FULL, TOUCHING, arcs, vanishing
from ...kernels.state import Derived
from ...mechanisms.model.geometry_checks import is_surface, port_on
from ...numerics.step_failed import MotionEnded, StepFailed
from .scheme import Place

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model

BEFORE = "end the run before by an event"
"""Advice on motions that end."""


def check_end(mechanism: Model, before: Place, after: Place, iterations: int) -> None:
    """Raise StepFailed if a disc has fallen, a point or rope left its curve or sheave, or a stop turned too far."""
    a = mechanism.network.arrays
    if a.rolling.positive.size:
        _check_discs(mechanism, after[1], iterations)
    if a.curves:
        _check_curves(mechanism, before[1], after[1], iterations)
    if a.springs.ropes.number:
        _check_ropes(mechanism, before[1], after[1], iterations)
    check_stops(a, mechanism.connections, before, after, iterations)


def _check_discs(mechanism: Model, after: Derived, iterations: int) -> None:
    """Raise MotionEnded if a rolling disc lies flat, or if a surface on which a wheel rolls tilts."""
    t = mechanism.network.arrays.rolling
    fallen = np.flatnonzero(after.product[t.positive] <= t.least)
    if fallen.size:
        name = mechanism.constraint_names[t.positive_row[fallen[0]]]
        if is_surface(mechanism, t.positive_row[fallen[0]]):
            reason = f"the body on which {name!r} rolls tilts"
            raise MotionEnded(reason, iterations, advice="guide it by a joint that keeps its normal (planar, revolute)")
        reason = f"the disc of {name!r} comes to lie flat on the ground"
        raise MotionEnded(reason, iterations, advice=BEFORE)


def _check_curves(mechanism: Model, before: Derived, after: Derived, iterations: int) -> None:
    """Raise MotionEnded at a kink or end of a curve, StepFailed if a point is off its curve."""
    curves = mechanism.network.arrays.curves
    for curve, at_start, at_end in zip(curves, before.on_curves, after.on_curves, strict=True):
        own, s0, s1 = after.product[curve.products], at_start.places[1], at_end.places[1]
        angle, off = curve.kink(own, s0, s1), np.linalg.norm(at_end.apart) > OFF * np.abs(own).max()
        if angle > KINK:
            reason = f"{port_on(mechanism, curve)} passes a kink of {angle:.2g} rad, where its velocity would jump"
            raise MotionEnded(reason, iterations, advice="take a curve that is smooth")
        if curve.is_beyond(s1):
            last = curve.knots[-1] if s1 > s0 else curve.knots[0]
            reason = f"{port_on(mechanism, curve)} comes to the end of its curve"
            advice = "take a longer curve, or end the run before by an event"
            raise MotionEnded(reason, iterations, share=float((last - s0) / (s1 - s0)), advice=advice)
        if off:
            raise StepFailed(f"{port_on(mechanism, curve)} is off its curve", iterations, 0.0)


def _check_ropes(mechanism: Model, before: Derived, after: Derived, iterations: int) -> None:
    """Raise MotionEnded if a rope leaves a sheave, winds round it by a full turn, or loses a straight span."""
    springs = mechanism.network.arrays.springs
    ropes, names = springs.ropes, [name for name, _ in measures(mechanism.connections)][springs.roped]
    first = mechanism.network.arrays.first
    near = vanishing(ropes, first, (before.vector, before.product), (after.vector, after.product))
    if near.size:
        raise MotionEnded(touch(names[ropes.span_rope[near[0]]]), iterations, advice=BEFORE)
    begun = arcs(ropes, before.product)
    turned = arcs(ropes, after.product) - begun
    last = begun + turned - FULL * np.round(turned / FULL)
    for rope, arc, turns in zip(ropes.arc_rope, last, ropes.turns, strict=True):
        if turns == 0.0 and not -TOUCHING <= arc <= FULL:
            what = "leaves a sheave" if arc < 0.0 else "winds round a sheave by a full turn"
            raise MotionEnded(f"{names[rope]!r} {what}", iterations, advice=BEFORE)


def touch(rope: str) -> str:
    """Reason that a rope has no straight span left."""
    return f"two sheaves or ports of {rope!r} come to touch"
