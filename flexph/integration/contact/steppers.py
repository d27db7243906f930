"""The stepper of a method for a mechanism that may have rigid contacts."""

from __future__ import annotations

from ..exact.step import InitialValueProblem, Stepper
from ..exact.steppers import stepper_of
from ..methods import Exact, MechanismMethod
from .stepper import RigidStepper


def steps_with_contacts(method: MechanismMethod, problem: InitialValueProblem) -> Stepper:
    """What takes the steps; raises ValueError for methods that know nothing of rigid contacts."""
    contacts = problem.mechanism.network.arrays.contacts
    if not contacts.rigid.any():
        return stepper_of(method, problem)
    if not isinstance(method, Exact) or method.tolerance is not None:
        name = next(c.name for c in problem.mechanism.connections for gap in c.form.gaps)
        raise ValueError(f"rigid contacts such as {name!r} are for Exact() with given steps, got {method}")
    return RigidStepper(problem, contact=method.contact, least_norm=method.redundant == "least_norm")
