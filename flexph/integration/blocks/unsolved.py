"""Errors that explain why the loops did not solve a step, or why the motion ends in it, as at a fallen disc."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...contacts.stops import check_stops
from ...joints.rows.connection import measures
from ...kernels.convergence.tolerances import NEWTON
from ...kernels.rates.curves import KINK, OFF
from ...kernels.ropes import FULL, TOUCHING, arcs, vanishing
from ...kernels.springs import TINY
from ...kernels.state import Derived, derive
from ...laws.resistive_relations import check_dissipates
from ...mechanisms.model.geometry_checks import is_surface, port_on
from ...numerics.rotations import cayley
from ...numerics.step_failed import MotionEnded, StepFailed
from ..loops.memory.codes import GENERATING, LAWLESS, OPENED, TEXTS, TOO_MANY, TURNED, UNSETTLED
from ..schemes.scheme import Place

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model
    from ..loops.stepper import Stepper
    from ..schemes.scheme import Scheme, StepStart


ACROSS = 0.15
"""Sine and cosine of an angle, as a length, below which a step that is not solved is taken to pass its singularity."""
JUMP, SHARE = 1e-9, 0.5
"""Relative change of a rate, and share of a force law by which it must not change there."""
NAMED, UNEVEN = 3, 1e3
"""Largest number of contacts that a message names, and ratio of masses above which it gives them."""


def unsolved(scheme: Scheme, compiled: Stepper, start: StepStart, time: float) -> StepFailed:
    """Error that explains why the loops did not solve the step from a start to a time [s]."""
    try:
        error = _reason(scheme, compiled, start, time - start.time)
    except StepFailed as failed:
        error = failed
    error.span = (start.time, time)
    return error


def _reason(scheme: Scheme, compiled: Stepper, start: StepStart, h: float) -> StepFailed:
    """Error for a step of length h [s], by the code of the failure that the loops stored.

    Raises a StepFailed with a more specific reason if the last iterate shows one.
    """
    number, count, size = compiled.memory.run_failure.tolist()
    reason, iterations, text = int(number), int(count), TEXTS[int(number)]
    if reason in (OPENED, TURNED):
        after = compiled.reached()
        check_end(scheme.mechanism, start.state.place, (after, derive(scheme.arrays, after)), iterations)
    if reason == OPENED and scheme.least_norm:
        text = _followers(scheme, compiled) or text
    if reason == GENERATING:
        rates = compiled.memory.trial_extension / h
        for i, name, relation in scheme.accounts.general:
            check_dissipates(relation, float(rates[i]), name)
    if reason == UNSETTLED:
        text += _jumping(scheme, compiled, start, h)
    if reason in (LAWLESS, UNSETTLED, TOO_MANY) and scheme.arrays.contacts.laws.rigid.any():
        text += _between(scheme, compiled)
    if scheme.arrays.springs.ropes.number:
        _check_spans(scheme, start, h, iterations)
    if reason == UNSETTLED and scheme.arrays.springs.sine_product.size:
        _check_angles(scheme, start, h, iterations)
    return StepFailed(text, iterations, size)


def _check_angles(scheme: Scheme, start: StepStart, h: float, iterations: int) -> None:
    """Raise MotionEnded if an angle in the step is undefined, as the axes that define it become perpendicular.

    Its sine and cosine then both vanish. The test moves the bodies with constant velocities.
    """
    (c, d), springs = start.state.place, scheme.arrays.springs
    turned = c.R @ cayley(0.5 * h * c.omega, c.r.shape[1])
    moved = derive(scheme.arrays, c._replace(r=c.r + h * c.v, R=turned, u=c.u + h * c.du))
    first, last = (np.array([p[springs.cosine_product], p[springs.sine_product]]) for p in (d.product, moved.product))
    change = last - first
    passed = np.clip(-(first * change).sum(axis=0) / np.maximum((change * change).sum(axis=0), TINY), 0.0, 1.0)
    near = np.flatnonzero(np.linalg.norm(first + passed * change, axis=0) < ACROSS)
    if near.size:
        names = [name for name, _ in measures(scheme.mechanism.connections)][springs.angles]
        reason = f"the axes of {names[near[0]]!r} become perpendicular, where its angle is undefined"
        raise MotionEnded(reason, iterations, advice=BEFORE)


def _check_spans(scheme: Scheme, start: StepStart, h: float, iterations: int) -> None:
    """Raise MotionEnded if a rope in the step loses a straight span, as its sheaves or ports touch.

    The test moves the bodies with constant velocities.
    """
    c, springs = start.state.c, scheme.arrays.springs
    moved = derive(scheme.arrays, c._replace(r=c.r + h * c.v, u=c.u + h * c.du))
    near = np.flatnonzero(~(moved.product[springs.ropes.square] > springs.ropes.offset**2))
    if near.size:
        names = [name for name, _ in measures(scheme.mechanism.connections)][springs.roped]
        raise MotionEnded(touch(names[springs.ropes.span_rope[near[0]]]), iterations, advice=BEFORE)


def _jumping(scheme: Scheme, compiled: Stepper, start: StepStart, h: float) -> str:
    """Text on a force law that jumps near the rate of the last iterate, such as a sign function; empty if none does."""
    springs, rates = scheme.arrays.springs, compiled.memory.trial_extension / h
    names = [name for name, _ in measures(scheme.mechanism.connections)]
    for i, law in zip(springs.forced.tolist(), springs.force_laws, strict=True):
        rate, x = float(rates[i]), float(start.state.c.spring[springs.state[i]])
        near = JUMP * max(1.0, abs(rate))
        below, above = (law.force(x, rate + step, start.time) for step in (-near, near))
        if abs(above - below) > SHARE * max(abs(above), abs(below)):
            return (
                f": {law} of {names[i]} jumps from {below:.4g} to {above:.4g} at the rate {rate:.3g}: a force law must "
                "be continuous in the rate; for dry friction use damping=coulomb(...) or law=bristle(...)"
            )
    return ""


def _followers(scheme: Scheme, compiled: Stepper) -> str:
    """Text on the most violated constraint at the end of a step with redundant constraints; empty if all hold.

    Such a constraint depends on others at the start of the step, but no longer at its end.
    """
    open_by = np.abs(compiled.memory.defect_lam) / np.where(
        compiled.memory.joints_holds_points > 0.0, compiled.memory.joints_lengths[1], 1.0
    )
    worst = int(np.argmax(open_by))
    if not open_by[worst] > NEWTON.closed:
        return ""
    name, most = scheme.mechanism.constraint_names[worst], abs(compiled.memory.defect_lam[worst])
    return f"constraint {name!r}, which depends on others at its start, is violated by {most:.1e} at its end"


def _between(scheme: Scheme, compiled: Stepper) -> str:
    """Text that names the contacts that may close, and the masses of their bodies if these are very different."""
    memory, accounts = compiled.memory, scheme.accounts
    closed = np.flatnonzero(memory.strike_may_close[: memory.contacts_kind.size] > 0)
    if not closed.size:
        return ""
    owner = memory.contacts_pressed[closed] - len(accounts.work) - len(accounts.joint_work)
    names = [repr(accounts.contact_name(k)) for k in np.unique(owner)]
    text = f", of {', '.join(names[:NAMED])}{' and others' if len(names) > NAMED else ''}"
    nodes = memory.contacts_node[closed].ravel()
    bodies = memory.nodes_body[nodes[nodes >= 0]]
    masses = memory.inertia_mass[bodies[bodies >= 0]]
    if masses.size and masses.max() > UNEVEN * masses.min():
        least, most = masses.min(), masses.max()
        text += f" between masses of {least:.3g} and {most:.3g} kg, a ratio too large for their impulses"
    return text


BEFORE = "end the run before it by an event"
"""Advice for motions that cannot continue, such as a disc that falls flat."""


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
    """Raise MotionEnded if a point reaches a kink or an end of its curve, StepFailed if it is off the curve."""
    curves = mechanism.network.arrays.curves
    for curve, at_start, at_end in zip(curves, before.on_curves, after.on_curves, strict=True):
        products, s0, s1 = after.product[curve.products], at_start.places[1], at_end.places[1]
        angle, off = curve.kink(products, s0, s1), np.linalg.norm(at_end.apart) > OFF * np.abs(products).max()
        if angle > KINK:
            reason = f"{port_on(mechanism, curve)} passes a kink of {angle:.2g} rad, where its velocity would jump"
            raise MotionEnded(reason, iterations, advice="use a curve that is smooth")
        if curve.is_beyond(s1):
            last = curve.knots[-1] if s1 > s0 else curve.knots[0]
            reason = f"{port_on(mechanism, curve)} comes to the end of its curve"
            advice = "use a longer curve, or end the run before by an event"
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
    """Text that a rope has no straight span left, as its sheaves or ports touch."""
    return f"two sheaves or ports of {rope!r} come to touch"
