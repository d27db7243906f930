"""Port-Hamiltonian controllers that are joined to ports of a mechanism and solved within its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..discretisation.own_pair import OwnPair
from ..discretisation.parametrized import gradient_pair
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, Numbers, dense
from ..numerics.memo import read_only
from ..systems.inputs import Input
from ..systems.linear import LinearPHDAE, with_multipliers
from ..systems.nonlinear import PHDAE
from .laws import Law, Terminated


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Continuous:
    """A port-Hamiltonian controller in negative feedback, u = −y_c + u_ext and u_c = y − ṙ, solved within each step.

    The controller releases no more energy than was supplied to it, whatever its parameters: H + H_c changes only by
    external work, to round-off, because y are mean outputs of the mechanism over the step and the controller is
    integrated by a discrete gradient (the midpoint rule for a :class:`LinearPHDAE`).

    Parameters
    ----------
    system : LinearPHDAE, PHDAE or Terminated
        Controller, for example :func:`port_spring`, :func:`passive_observer` or a result of ``from_control`` and
        ``from_scipy`` of :mod:`flexph.exchange`; see also :meth:`Compensator.continuous`.
    ports : dict
        External port of the mechanism, by the port of the controller that is joined to it; both have one width.
    references : dict, optional
        Reference r of the mechanism's motion [m, rad] by port of the controller, a function of time: ṙ is its mean rate
        over a step; its work is in the ledger as ``controller: port``.
    inputs : dict, optional
        Inputs of the controller's other ports, in the format of ``integrate``; their work is in the ledger, too.
    start : array, optional
        State (n,) at the start; by default zeros, or the sample of a PHDAE.

    Raises
    ------
    ValueError
        If the system has no such port or the start has another size; during the run, if the start contradicts the
        velocities of the ports, for example a rotor at rest on a turning shaft.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate, torque
    >>> from flexph.control import Continuous, port_spring
    >>> from flexph.sensors import joint_angle
    >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    >>> start = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    >>> servo = Continuous(
    ...     system=port_spring(40.0, 8.0), ports={"spring": "motor"}, references={"spring": lambda t: 0.5 * min(t, 1.0)}
    ... )
    >>> run = integrate(arm, start, np.linspace(0.0, 3.0, 151), controllers={"servo": servo})
    >>> bool(run.ledger.largest_residual < 1e-12), round(float(run.measured(joint_angle("arm.root"))[-1]), 3)
    (True, 0.5)
    """

    system: LinearPHDAE | PHDAE | Terminated
    ports: Mapping[str, str]
    references: Mapping[str, Input] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    start: Numbers | None = None

    def __post_init__(self) -> None:
        known = self.system.ports
        for name in ("ports", "references", "inputs"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise ValueError(f"{name} must be a mapping of ports of the system, got {check.shown(given)}")
            for port in given:
                check.lookup("port", port, known, "the controller")
            object.__setattr__(self, name, read_only(given))
        if not self.ports:
            raise ValueError("ports must join at least one port, got none")
        for port in self.references:
            check.lookup("port", port, self.ports, "references are for ports that are joined; ports")
        for port in self.inputs:
            if port in self.ports:
                raise ValueError(f"inputs are for ports that are not joined, got {port!r}")
        size = self.system.size
        if self.start is None:
            start = np.asarray(self.system.sample, float) if isinstance(self.system, PHDAE) else np.zeros(size)
        else:
            start = check.array("start", self.start, (size,))
        object.__setattr__(self, "start", start)


class ControllerStep(NamedTuple):
    """Result of a step of a controller: state and energy at its end, mean outputs, and dissipated energy.

    ``rates`` are the mean rates of the ports that laws close. ``lost`` does not contain the dissipation of the laws.
    """

    state: Array
    energy: float
    output: Array
    lost: float
    rates: Array


class ControllerStepper(Protocol):
    """Protocol of time stepping of a controller.

    The last l ports of the controller may be closed by laws between rate and force, such as dry friction. A step has
    constant inputs (m,) at the other ports, and constant forces (l,) of the laws against the rates of their ports.
    """

    @property
    def laws(self) -> tuple[Law, ...]:
        """Laws that close the last ports of the controller, in the order of these ports."""

    def energy(self, x: Array) -> float:
        """Energy H_c [J] of the controller at a state."""

    def step(self, x: Array, h: float, u: Array, forces: Array) -> ControllerStep:
        """Advance the state x by one step of length h [s], under inputs u (m,) and the forces (l,) of the laws."""

    def by_forces(self, h: float) -> tuple[Array, Array]:
        """Derivatives of the mean outputs (m, l) and rates (l, l) of a step with respect to the forces of l laws."""

    def rates(self, x: Array) -> Array:
        """Rates (l,) of the ports that laws close, at a state x; states without energy do not contribute."""


def steps_of(system: LinearPHDAE | PHDAE | Terminated) -> ControllerStepper:
    """Stepper that conserves the energy of a controller: midpoint rule if it is linear, else a discrete gradient."""
    if isinstance(system, Terminated):
        return LinearSteps(system.system, system.acting)
    return LinearSteps(system) if isinstance(system, LinearPHDAE) else _GeneralSteps(system)


class LinearSteps:
    """Implicit midpoint rule for a linear controller, whose equations are solved once for each step length.

    ``laws`` (l) are the constitutive laws at the last l ports, which are not ports of the controller. Multipliers and
    algebraic states are means over a step.
    """

    def __init__(self, system: LinearPHDAE, laws: tuple[Law, ...] = ()) -> None:
        whole = with_multipliers(system)
        self.E, self.B, self.R = dense(whole.E), dense(whole.B), dense(whole.R)
        self.flow, self._size, self.laws = dense(whole.J) - self.R, system.size, laws
        self.moving = np.array(self.E.any(axis=0), dtype=bool)
        self._open = self.B.shape[1] - len(laws)
        self._matrices = lru_cache(maxsize=4)(self._solved)

    def energy(self, x: Array) -> float:
        """Energy H_c = ½xᵀE x of the controller [J]."""
        n = self._size
        return float(0.5 * x @ self.E[:n, :n] @ x)

    def _solved(self, h: float) -> tuple[Array, Array]:
        """Matrices P (N, n) and Q (N, m) of the mean state x̄ = P x₀ + Q u, with (2E/h − J + R) x̄ = (2E/h) x₀ + B u.

        x̄ includes multipliers, x₀ does not. Raises ValueError if the system is singular.
        """
        held = (2.0 / h) * self.E
        try:
            both = np.linalg.solve(held - self.flow, np.hstack([held[:, : self._size], self.B]))
        except np.linalg.LinAlgError:
            raise ValueError(
                "the controller cannot be stepped: E, J − R and the constraints leave states undetermined"
            ) from None
        return both[:, : self._size], both[:, self._size :]

    def step(self, x: Array, h: float, u: Array, forces: Array) -> ControllerStep:
        """Advance the state x by one step of length h [s], under inputs u (m,) and the forces (l,) of the laws."""
        from_state, from_input = self._matrices(h)
        mean = from_state @ x + from_input @ (np.concatenate([u, -forces]) if self.laws else u)
        n, output = self._size, self.B.T @ mean
        end = np.where(self.moving[:n], 2.0 * mean[:n] - x, mean[:n])
        lost = h * float(mean @ self.R @ mean)
        return ControllerStep(end, self.energy(end), output[: self._open], lost, output[self._open :])

    def by_forces(self, h: float) -> tuple[Array, Array]:
        """Derivatives of the mean outputs (m, l) and rates (l, l) of a step with respect to the forces of l laws."""
        change = -self.B.T @ self._matrices(h)[1][:, self._open :]
        return change[: self._open], change[self._open :]

    def rates(self, x: Array) -> Array:
        """Rates (l,) of the ports that laws close, at a state x; states without energy do not contribute."""
        stored = np.where(self.moving[: self._size], x, 0.0)
        return np.asarray(stored @ self.B[: self._size, self._open :])


class _GeneralSteps:
    """Stepper of a nonlinear controller by the discrete gradient that its system defines, else that of O. Gonzalez."""

    laws: tuple[Law, ...] = ()

    def __init__(self, system: PHDAE) -> None:
        self.system = system
        self._pair: Any = OwnPair(system) if "z" in system.means else gradient_pair(system, "gonzalez")

    def energy(self, x: Array) -> float:
        """Energy H_c of the controller [J]."""
        return float(self.system.H(x))

    def by_forces(self, h: float) -> tuple[Array, Array]:
        """Empty derivatives (m, 0) and (0, 0), as no laws close ports of general systems."""
        return np.zeros((self.system.inputs_size, 0)), np.zeros((0, 0))

    def rates(self, x: Array) -> Array:
        """Empty rates (0,), as no laws close ports of general systems."""
        return np.zeros(0)

    def step(self, x: Array, h: float, u: Array, forces: Array) -> ControllerStep:
        """Advance the state x by one step of length h [s], under inputs u (m,); there are no laws, so no forces."""
        size = np.maximum(np.abs(x), self.system.floor(x)) if x.any() else self._at_rest(x, h, u)
        solved = self._pair.step(x, h, u, size)
        output, lost = np.asarray(solved.output), float(solved.dissipated)
        return ControllerStep(solved.state, float(solved.energy), output, lost, np.zeros(0))

    def _at_rest(self, x: Array, h: float, u: Array) -> Array:
        """Sizes (n,) by which changes of the states in a step are judged if the step of length h starts from x = 0.

        All are h times the largest entry of E ẋ under the inputs u, over the largest entry of E; one if that is zero.
        """
        system, z = self.system, self.system.z(x)
        forces = np.abs(system.J(x) @ z - system.R(x) @ z + system.port_matrices(x).flow(u)).max(initial=0.0)
        stored = np.abs(dense(system.E(x))).max(initial=0.0)
        return np.full(x.size, h * forces / stored if stored > 0.0 and forces > 0.0 else 1.0)
