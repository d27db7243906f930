"""Run-time wrapper of a port-Hamiltonian controller; checks that it starts consistently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from scipy import linalg

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..systems.inputs import Forcing
from ..systems.linear import LinearPHDAE, with_multipliers
from ..systems.nonlinear import PHDAE
from .continuous import Continuous, ControllerStep, steps_of
from .laws import Terminated

CONSTRAINED = 1e-6
"""Residual, relative to the sum of its terms, up to which a constraint counts as satisfied."""
NOTHING = 1e-9
"""Velocity, relative to the largest one of the mechanism, below which it counts as zero."""
APART, SINGULAR = 1e-6, 1e-5
"""Step of finite differences, and the relative singular value below which their matrix counts as singular."""

Flow = Callable[[Array, Array], Array]


class ContinuousLoop:
    """Run-time wrapper of a :class:`Continuous` controller: its stepper, joined ports and external inputs."""

    def __init__(self, name: str, given: Continuous, mechanism: Model, outputs: Mapping[str, slice]) -> None:
        self.name, self.given, self.steps = name, given, steps_of(given.system)
        slices, ports = mechanism.network.input_slices, given.system.ports
        for port_name, port in given.ports.items():
            widths = [s.stop - s.start for s in (ports[port_name], slices[port])]
            if widths[0] != widths[1]:
                raise ValueError(
                    f"controller {name!r}: port {port_name!r} has {widths[0]} components, "
                    f"{port!r} of the mechanism {widths[1]}"
                )
        self.coupled = [
            (port_name, ports[port_name], slices[port], outputs[port]) for port_name, port in given.ports.items()
        ]
        self.entries = np.concatenate([np.arange(into.start, into.stop) for _, _, into, _ in self.coupled])
        self.size = max(s.stop for s in ports.values())
        self._references = Forcing(ports, given.references)
        self._inputs = Forcing(ports, given.inputs)
        self.free = [port for port in ports if port not in given.ports]
        self.held = np.zeros(self.size)
        self.outside = [*given.references, *given.inputs]

    @property
    def spans(self) -> list[slice]:
        """Slices of the controller's inputs at each of the ports ``outside``, at which external inputs act."""
        return [self.given.system.ports[port] for port in self.outside]

    def hold(self, held: Array) -> None:
        """Add inputs by other controllers, which act at the ports that are not joined, to the external inputs.

        Other controllers write these inputs into the array ``held`` (m,). Their work is in the ledger, too.
        """
        self.held = held
        self.outside = [*self.outside, *(port for port in self.free if port not in self.outside)]

    def start_from(self, known: Array | None) -> Array:
        """State of the controller at the start of a run: ``known`` from another run, or if None the given start."""
        start = self.given.start if known is None else known
        return check.array(f"state of controller {self.name!r}", start, (self.given.system.size,))

    def acting(self, span: tuple[float, float]) -> Array:
        """External inputs (m,) in a step over the times ``span``, minus the mean rates of the references.

        The inputs are taken at the middle of the step, and include those that other controllers hold.
        """
        t0, t1 = span
        inputs = self._inputs.at(0.5 * (t0 + t1)) + self.held
        if not self.given.references:
            return inputs
        return np.asarray(inputs - (self._references.at(t1) - self._references.at(t0)) / (t1 - t0))

    def acting_over(self, times: Array) -> Array:
        """External inputs (k, m) in the k steps between ``times``, minus the mean rates of the references.

        The inputs are taken at the middle of each step, without those that other controllers hold.
        """
        inputs, h = self._inputs.at_times(0.5 * (times[1:] + times[:-1])), np.diff(times)[:, None]
        if not self.given.references:
            return np.broadcast_to(inputs, (h.size, inputs.shape[1]))
        references = self._references.at_times(times)
        return np.asarray(inputs - (np.diff(references, axis=0) / h if len(references) > 1 else np.zeros_like(h)))

    def total_input(self, acting: Array, output: Array) -> Array:
        """Inputs (m,) of the controller: external ones, ``acting``, plus the mechanism's outputs at joined ports."""
        u = acting.copy()
        for _, entries, _, seen in self.coupled:
            u[entries] += output[seen]
        return u

    def external_work(self, step: ControllerStep, acting: Array, h: float) -> list[float]:
        """Work [J] of the external inputs in a step, for each of the ports ``outside``."""
        return [h * float(step.output[part] @ acting[part]) for part in self.spans]


def check_start(name: str, system: LinearPHDAE | PHDAE | Terminated, x: Array, u: Array, *, fastest: float) -> None:
    """Raise ValueError if the stored states of a controller at the start contradict its inputs.

    The contradiction is that the algebraic equations of the controller do not hold, for example 0 = −Ω + nω for the
    spin of a rotor geared to a shaft: the states of the following steps would alternate about the consistent value. x
    is the state, u are the inputs, and ``fastest`` is the largest velocity of the mechanism.
    """
    E, flow, start = _equations(system, x)
    rows, free = linalg.null_space(E.T), linalg.null_space(E)
    if not rows.size:
        return
    here = flow(start, u)
    slopes = [(flow(start + APART * one, u) - here) / APART for one in free.T]
    tied = rows @ linalg.null_space((rows.T @ np.transpose(slopes)).T, rcond=SINGULAR)
    at_rest = flow(start, np.zeros_like(u))
    constant, by_inputs = tied.T @ at_rest, tied.T @ (here - at_rest)
    gains = np.sum([np.abs(tied.T @ (flow(start, one) - at_rest)) for one in np.eye(u.size)], axis=0)
    if np.any(
        np.abs(constant + by_inputs) > CONSTRAINED * (np.abs(constant) + np.abs(by_inputs)) + NOTHING * fastest * gains
    ):
        given = ", ".join(f"{value:.6g}" for value in x)
        raise ValueError(
            f"controller {name!r} starts with {given}, which contradicts the velocities of its ports there: "
            "give states that fit them as Continuous(start=...)"
        )


def _equations(system: LinearPHDAE | PHDAE | Terminated, x: Array) -> tuple[Array, Flow, Array]:
    """Matrix E and function f of the equations E ẋ = f(x, u) of a controller, and the first state x of a run.

    If the controller is linear, x contains its multipliers, too, which are zero in the first state.
    """
    if isinstance(system, Terminated):  # laws dissipate and tie no stored state to an input
        system = replace(system.system, B=dense(system.system.B)[:, : -len(system.laws)], ports=system.ports)
    if isinstance(system, LinearPHDAE):
        whole = with_multipliers(system)
        A, B = dense(whole.J) - dense(whole.R), dense(whole.B)
        return dense(whole.E), lambda at, u: A @ at + B @ u, np.append(x, np.zeros(whole.size - x.size))
    return (
        dense(system.E(x)),
        lambda at, u: (system.J(at) - system.R(at)) @ system.z(at) + system.port_matrices(at).flow(u),
        x,
    )
