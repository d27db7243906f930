"""The stepper of a method for a mechanism that may have rigid contacts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..exact.pairs_of_steps import PairStepper
from ..exact.step import InitialValueProblem, Stepper
from ..exact.steppers import stepper_of
from ..methods import Exact, MechanismMethod
from ..times.step_size import read_tolerance
from .friction_stepper import FrictionStepper
from .judged_pairs import JudgedPairs
from .stepper import RigidStepper

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism
    from ..blocks.block_stepper import BlockStepper


def steps_with_contacts(method: MechanismMethod, problem: InitialValueProblem) -> Stepper:
    """What takes the steps; raises ValueError for methods that know nothing of rigid contacts."""
    arrays, connections = problem.mechanism.network.arrays, problem.mechanism.connections
    if not (arrays.contacts.laws.rigid.any() or arrays.bearings.number):
        return stepper_of(method, problem)
    if arrays.contacts.laws.rigid.any() and not isinstance(method, Exact):
        names = [c.name for c in connections if c.touches]
        raise ValueError(f"rigid contacts such as {names[0]!r} are for Exact(), got {method}")
    if not isinstance(method, Exact):
        names = [c.name for c in connections if c.form.bearing is not None]
        raise ValueError(f"CoulombFriction of joints such as {names[0]!r} is for Exact(), got {method}")
    least_norm, compiled = method.redundant == "least_norm", method.compiled is not False
    rigid = partial(RigidStepper, problem, contact=method.contact, least_norm=least_norm, compiled=compiled)
    if method.tolerance is None:
        return rigid()
    if arrays.contacts.laws.rigid.any():
        if method.contact != "events":
            raise ValueError(
                f"{method}: impacts at the beginning of steps have an error that does not fall with their length: take "
                "contact='events', or leave the tolerance out"
            )
        return JudgedPairs(rigid(), read_tolerance(method.tolerance))
    single = FrictionStepper(problem, contact="events", least_norm=least_norm, depth=3)
    return PairStepper(single, read_tolerance(method.tolerance))


def blocks_with_contacts(mechanism: Mechanism, stepper: Stepper) -> BlockStepper:
    """What takes the steps of a stepper in blocks, by compiled loops."""
    if not isinstance(stepper, RigidStepper | JudgedPairs):
        from ..blocks.steppers import blocks_of

        return blocks_of(mechanism, stepper)
    from ..loops.near import NearPairs
    from .flight import RigidBlocks, StrikeBlocks

    single, tolerance = (stepper, None) if isinstance(stepper, RigidStepper) else (stepper.inner, stepper.tolerance)
    return (StrikeBlocks if mechanism.once(NearPairs).strikes else RigidBlocks)(mechanism, single, tolerance)
