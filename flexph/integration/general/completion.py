"""How the algebraic states at the ends of steps follow from their stage values ([dg] examples 5 and 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...discretisation.descriptor_split import ParametrizedDescriptor, dense, differential_projection
from ...discretisation.discrete_gradient_pairs import Advance
from ...numerics.arrays import Array
from ...numerics.ranks import rank_of, subspaces
from ...systems.nonlinear import PHDAE

if TYPE_CHECKING:
    from .under_way import Stepper

CONSISTENT = 1e-6
"""Defect of the algebraic equations of a start over their terms up to which it counts as consistent: a mean of two ends
carries it on with alternating sign."""


def completed(stepper: Stepper, system: PHDAE, completion: str | None) -> Stepper:
    """The stepper, with algebraic states at the ends of its steps as ``completion`` says.

    Raises ValueError where E differentiates all states, or not the same ones everywhere.
    """
    if completion is None:
        return stepper
    if isinstance(system.E, ParametrizedDescriptor):
        if completion != "mean":
            raise ValueError(
                f"algebraic states beside a parameter belong to the ends of steps: completion={completion!r}"
            )
        return stepper
    if rank_of(dense(system.E(system.sample))) == system.size:
        raise ValueError(
            f"completion={completion!r} is for algebraic states: E of this system differentiates all states"
        )
    onto_states = differential_projection(system)
    if np.array_equal(onto_states, np.eye(system.size)):
        raise ValueError(f"completion={completion!r} needs algebraic states: the null space of E(x) varies with x")
    return stepper if completion == "new" else Completed(stepper, onto_states, mean=completion == "mean")


def refuse_inconsistent(system: PHDAE, x0: Array, inputs: Array, completion: str | None) -> None:
    """Raise ValueError for a start that does not meet the algebraic equations, which ``mean`` carries on for ever."""
    if completion != "mean" or isinstance(system.E, ParametrizedDescriptor):  # a parameter has an equation of its own
        return
    z, ports = system.z(x0), system.port_matrices(x0)
    J, R, null = dense(system.J(x0)), dense(system.R(x0)), subspaces(dense(system.E(x0))).left_null
    given = ports.flow(inputs) if inputs.size else np.zeros(x0.size)
    defect = np.abs(null.T @ (J @ z - R @ z + given))
    terms = np.abs(null).T @ (np.abs(J) @ np.abs(z) + np.abs(R) @ np.abs(z) + np.abs(given))
    if np.any(defect > CONSISTENT * terms):
        raise ValueError(
            "completion='mean' needs a start that meets the algebraic equations, of which the given one leaves "
            f"{np.max(defect / np.where(terms > 0.0, terms, 1.0)):.1e} of their terms: see flexph.consistent(system, "
            "state), or take completion='new'"
        )


class Completed:
    """A method whose step solves for the algebraic states X₂ in its middle, with x₂ at the ends that belong to them.

    ``mean``: X₂ = ½(x₂⁰ + x₂¹), x₂¹ = 2X₂ − x₂⁰; else X₂ = x₂⁰, which the step redefines. Neither touches the equations
    of the step, the differential states or the energy, which do not depend on x₂ ([dg] lemma 2).
    """

    def __init__(self, stepper: Stepper, onto_states: Array, *, mean: bool) -> None:
        self.stepper, self.onto_states, self.mean = stepper, onto_states, mean
        self._end = self._stage = None  # the last state, and what the method itself has for it

    @property
    def memory(self) -> Any:
        """That of the method, the last state and its stage value."""
        return self.stepper.memory, self._end, self._stage

    @memory.setter
    def memory(self, value: Any) -> None:
        self.stepper.memory, self._end, self._stage = value

    def step(self, x0: Array, h: float, u: Array, size: Array) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        known = self._stage if self._stage is not None and x0 is self._end else x0
        made = self.stepper.step(known, h, u, size)
        stage = made.state
        if self.mean:
            made = made._replace(state=stage + self._algebraic(stage) - self._algebraic(x0))
        else:
            made = made._replace(start=self.onto_states @ x0 + self._algebraic(stage))
        self._end, self._stage = made.state, stage  # type: ignore[assignment]
        return made

    def _algebraic(self, x: Array) -> Array:
        """The part of a state that E does not differentiate."""
        made: Array = x - self.onto_states @ x
        return made
