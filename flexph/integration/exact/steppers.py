"""The stepper that a method makes for a mechanism, and a start that is checked for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import singledispatch
from typing import TYPE_CHECKING

from ...bodies.nodal_body import NodalBody
from ...contacts.arrays import refuse_contacts
from ...contacts.starts import warn_of_deep_starts
from ...joints.rows.connection import measures
from ...kernels.convergence.tolerances import HISTORY
from ...mechanisms.model.consistency import Checked, check_consistent, refuse_redundant, start_table
from ...mechanisms.model.state import State
from ...mechanisms.model.time_table import TimeTable
from ...systems.inputs import Forcing
from .. import methods
from ..methods import MechanismMethod
from ..times.step_size import read_tolerance
from .composition import fourth_order
from .decaying import DecayingStepper
from .gauss import GaussStepper
from .pairs_of_steps import PairStepper
from .step import ExactStepper, InitialValueProblem, Stepper

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism

StepsOf = Callable[[MechanismMethod, InitialValueProblem], Stepper]


@singledispatch
def stepper_of(method: methods.MechanismMethod, problem: InitialValueProblem) -> Stepper:
    """What takes the steps of a method.

    Compositions go back and forth and control takes second differences, so both remember more.
    """
    raise TypeError(f"there are no steps of {method} for mechanisms")


@stepper_of.register(methods.Exact)
def _exact(method: methods.Exact, problem: InitialValueProblem) -> Stepper:
    return _controlled(ExactStepper(problem, depth=_depth(method), least_norm=_least_norm(method)), method)


@stepper_of.register(methods.Exact4)
def _exact4(method: methods.Exact4, problem: InitialValueProblem) -> Stepper:
    return fourth_order(ExactStepper(problem, depth=HISTORY, least_norm=_least_norm(method)))


@stepper_of.register(methods.ExactGauss)
def _exact_gauss(method: methods.ExactGauss, problem: InitialValueProblem) -> Stepper:
    _refuse_nodes(method, problem)
    refuse_contacts(problem.mechanism.connections, "ExactGauss()")
    _refuse_laws(problem)
    return GaussStepper(ExactStepper(problem, depth=method.stages), method.stages)


@stepper_of.register(methods.Decaying)
def _decaying(method: methods.Decaying, problem: InitialValueProblem) -> Stepper:
    _refuse_nodes(method, problem)
    least_norm = _least_norm(method)
    stepper = DecayingStepper(problem, radius=method.radius, least_norm=least_norm, depth=_depth(method))
    return _controlled(stepper, method)


def _refuse_nodes(method: methods.MechanismMethod, problem: InitialValueProblem) -> None:
    """Raise ValueError for bodies of nodes, of whose strains a method knows nothing."""
    for name, body in problem.mechanism.bodies.items():
        if isinstance(body, NodalBody):
            raise ValueError(
                f"{type(method).__name__} is not known of {name!r}, a body of nodes {NodalBody.remedy}: "
                "take Exact() or Exact4()"
            )


def _refuse_laws(problem: InitialValueProblem) -> None:
    """Raise ValueError for springs with a law, whose energy collocation keeps only to its order."""
    for name, measure in measures(problem.mechanism.connections):
        if measure.law is not None:
            raise ValueError(f"ExactGauss does not take the law of {name}: take Exact() or Exact4()")


def _least_norm(method: methods.MechanismMethod) -> bool:
    return method.redundant == "least_norm"


def _depth(method: methods.Exact | methods.Decaying) -> int:
    """Steps that are remembered."""
    return 2 if method.tolerance is None else 3


def _controlled(stepper: ExactStepper, method: methods.Exact | methods.Decaying) -> Stepper:
    """The single step, or pairs of them where a tolerance chooses their length."""
    return stepper if method.tolerance is None else PairStepper(stepper, read_tolerance(method.tolerance))


def stepper_from(
    mechanism: Mechanism, start: State, method: MechanismMethod, forcing: Forcing, *, steps_of: StepsOf = stepper_of
) -> tuple[Stepper, TimeTable, Checked]:
    """The stepper of a method from a start that is consistent, what time prescribes, and the start as it was checked.

    Raises ValueError for what cannot be run; called by what users call.
    """
    table = start_table(mechanism, start)
    checked = check_consistent(mechanism, start, table=table)
    if method.redundant == "refuse":
        takes_all = any(field.name == "redundant" for field in fields(method))  # type: ignore[arg-type]
        refuse_redundant(checked, *(() if takes_all else ("take Exact(redundant='least_norm')",)))
    stepper = steps_of(method, InitialValueProblem(mechanism, start, forcing, table, checked))
    if not start.memory.size:
        warn_of_deep_starts(mechanism.network.arrays, mechanism.connections, (checked.c, checked.d))
    return stepper, table, checked


def refuse_large(stepper: Stepper) -> None:
    """Raise ValueError for large mechanisms whose steps only compiled loops take."""
    single = stepper.inner if isinstance(stepper, PairStepper) else stepper
    if isinstance(single, GaussStepper | DecayingStepper):
        single.refuse_large()
