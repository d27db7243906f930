"""Linear compensators (PID controllers, notch filters, passive controllers), and their conversion to controllers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.signal import StateSpace, cont2discrete

from ...exchange.state_spaces import from_scipy
from ...linear.state_space import state_space
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...sensors.quantities import Quantity
from ...systems.inputs import Input
from ...systems.linear import LinearPHDAE
from ..continuous import Continuous
from ..sampled import Sampled

Reference = Callable[[float], Any]


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Compensator:
    """Linear controller with a state x that starts at zero, from errors e to inputs u of a plant.

        ẋ = A x + B e,  u = C x + D e

    The errors e (m,) are references minus readings, the inputs u (k,) act at ports. ``second * first`` connects two
    compensators in series, :func:`append` stacks several with separate inputs and outputs.

    Parameters
    ----------
    A : array
        (n, n).
    B : array
        (n, m).
    C : array
        (k, n).
    D : array
        (k, m).

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """

    A: Array
    B: Array
    C: Array
    D: Array

    def __post_init__(self) -> None:
        for name in "ABCD":
            object.__setattr__(self, name, check.array(name, getattr(self, name), (None, None)))
        n, (k, m) = len(self.A), self.D.shape
        for name, shape in (("A", (n, n)), ("B", (n, m)), ("C", (k, n))):
            check.array(name, getattr(self, name), shape)

    @property
    def poles(self) -> Array:
        """Eigenvalues of A [1/s]."""
        return np.asarray(np.linalg.eigvals(self.A))

    def __mul__(self, first: Compensator) -> Compensator:
        """Series connection, with ``first`` ahead of this compensator."""
        a, b = self, first
        if a.D.shape[1] != b.D.shape[0]:
            raise ValueError(f"compensators in series must fit: {b.D.shape[0]} outputs, {a.D.shape[1]} inputs")
        above = np.zeros((len(b.A), len(a.A)))
        return Compensator(
            A=np.block([[b.A, above], [a.B @ b.C, a.A]]),
            B=np.vstack([b.B, a.B @ b.D]),
            C=np.hstack([a.D @ b.C, a.C]),
            D=a.D @ b.D,
        )

    @checked
    def discrete(self, period: float) -> tuple[Array, Array, Array, Array]:
        """Matrices A, B, C, D of the exact discretisation ``x₊ = A x + B e`` for errors held over a period [s].

        Parameters
        ----------
        period : float
            Time over which errors are held [s].

        Returns
        -------
        tuple[array, array, array, array]
            A, B, C and D.

        Raises
        ------
        ValueError
            If the period is not positive.
        """
        check.positive("period", period, "s")
        if not len(self.A):
            return self.A, self.B, self.C, self.D
        return cont2discrete((self.A, self.B, self.C, self.D), period)[:4]

    @checked
    def sampled(
        self,
        period: float,
        *,
        sensors: Mapping[str, Quantity],
        ports: Sequence[str],
        reference: Reference | None = None,
    ) -> Sampled:
        """Sampled controller that reads its sensors every ``period`` [s], for ``integrate(controllers={…})``.

        D is the direct feed-through: through it, readings act on the outputs without delay.

        Parameters
        ----------
        period : float
            Time between readings [s].
        sensors : mapping
            Scalar quantities, one for each error, in the order of the errors.
        ports : sequence of str
            External ports, one for each output, in the order of the outputs.
        reference : callable, optional
            Reference of each sensor as a function of time; zeros by default.

        Returns
        -------
        Sampled
            Controller for ``integrate(controllers={…})``.

        Raises
        ------
        ValueError
            If the period is not positive, or the sensors or ports are not one for each error or output.
        """
        matrices = self.discrete(period)
        outputs, errors = self.D.shape
        if len(sensors) != errors or len(ports) != outputs:
            raise ValueError(
                f"the compensator has {errors} errors and {outputs} outputs, got {len(sensors)} sensors and "
                f"{len(ports)} ports"
            )
        law = _Law(matrices, tuple(sensors), tuple(ports), reference)
        return Sampled(function=law, period=period, sensors=sensors, memory=np.zeros(len(self.A)))

    @checked
    def continuous(self, ports: Sequence[str], *, references: Mapping[str, Input] | None = None) -> Continuous:
        """Controller solved within the steps, from the rates at ports, as a port-Hamiltonian system.

        Its transfer function is that of the compensator divided by s, as errors are integrals of the rates.

        Parameters
        ----------
        ports : sequence of str
            External ports, one for each error and output. They must be collocated: errors are the references minus the
            integrals of the ports' outputs.
        references : mapping, optional
            References to follow [m, rad] by port, functions of time.

        Returns
        -------
        Continuous
            Controller for ``integrate(controllers={…})``.

        Raises
        ------
        ValueError
            If C(s)/s is not positive real, as with integral action and most notches; the error names a frequency.
        """
        (outputs, errors), n = self.D.shape, len(self.A)
        if not outputs == errors == len(ports):
            raise ValueError(f"the compensator has {errors} errors and {outputs} outputs, got {len(ports)} ports")
        a = np.block([[self.A, self.B], [np.zeros((errors, n + errors))]])
        b = np.vstack([np.zeros((n, errors)), np.eye(errors)])
        names = {port: slice(i, i + 1) for i, port in enumerate(ports)}
        model = StateSpace(a, b, np.hstack([self.C, self.D]), np.zeros((outputs, outputs)))
        system = from_scipy(model, ports=names)
        return Continuous(system=system, ports={port: port for port in ports}, references=references or {})


@dataclass(frozen=True, eq=False)
class _Law:
    """Function of a sampled compensator, which maps time, readings and state to inputs by port and the next state."""

    matrices: tuple[Array, Array, Array, Array]
    sensors: tuple[str, ...]
    ports: tuple[str, ...]
    reference: Reference | None

    def __call__(self, time: float, see: Mapping[str, Any], x: Array) -> tuple[dict[str, float], Array]:
        a, b, c, d = self.matrices
        readings = np.array([see[name] for name in self.sensors])
        errors = (0.0 if self.reference is None else self._reference_values(self.reference(time))) - readings
        u = c @ x + d @ errors
        return dict(zip(self.ports, u.tolist(), strict=True)), a @ x + b @ errors

    def _reference_values(self, given: Any) -> Array:
        """Reference as a number or an array (m,), one for each sensor; raises ValueError for another shape."""
        wanted = check.numbers("reference", given)
        if wanted.shape not in ((), (len(self.sensors),)):
            words = f"a number or one for each sensor, ({len(self.sensors)},)"
            raise ValueError(f"reference must return {words}, got shape {wanted.shape}")
        return wanted


@checked
def append(*compensators: Compensator) -> Compensator:
    """Stack compensators block-diagonally: errors and outputs one after the other.

    Parameters
    ----------
    *compensators : Compensator
        Compensators, at least one.

    Returns
    -------
    Compensator
        Compensator from all errors to all outputs.

    Raises
    ------
    ValueError
        Without compensators.
    """
    if not compensators:
        raise ValueError("append needs at least one compensator, got none")
    return Compensator(**{name: block_diag(*(getattr(c, name) for c in compensators)) for name in "ABCD"})


@checked
def pid(proportional: float, *, integral: float = 0.0, derivative: float = 0.0, lag: float = 1e-3) -> Compensator:
    """PID controller ``u = K_p e + K_i ∫e + K_d s/(1 + Ts) e`` with the lag T [s] of the derivative.

    Parameters
    ----------
    proportional : float
        K_p.
    integral : float
        K_i, in the unit of K_p per second.
    derivative : float
        K_d, in the unit of K_p times seconds.
    lag : float
        T [s].

    Returns
    -------
    Compensator
        Compensator of one error and one output.

    Raises
    ------
    ValueError
        If the lag is not positive and there is a derivative.
    """
    check.number("proportional", proportional)
    poles, rows, gains, direct = [], [], [], proportional
    if check.number("integral", integral):
        poles, rows, gains = [0.0], [1.0], [integral]
    if check.number("derivative", derivative):
        rate = 1.0 / check.positive("lag", lag, "s")
        poles, rows, gains = [*poles, -rate], [*rows, 1.0], [*gains, -derivative * rate**2]
        direct += derivative * rate
    n = len(poles)
    return Compensator(
        A=np.diag(poles).reshape(n, n),
        B=np.array(rows).reshape(n, 1),
        C=np.array(gains).reshape(1, n),
        D=np.array([[direct]]),
    )


@checked
def notch(frequency: float, *, damping: float = 1.0, depth: float = 0.0) -> Compensator:
    """Notch filter ``(s² + 2ζdω s + ω²)/(s² + 2ζω s + ω²)``, which passes a share d of the frequency ω [rad/s].

    Parameters
    ----------
    frequency : float
        ω [rad/s].
    damping : float
        ζ, the width of the notch.
    depth : float
        d, 0 to block ω and 1 to pass it.

    Returns
    -------
    Compensator
        Compensator of one error and one output.

    Raises
    ------
    ValueError
        If the frequency or the damping is not positive.
    """
    w, zeta = check.positive("frequency", frequency, "rad/s"), check.positive("damping", damping)
    taken = 2.0 * zeta * w * (check.number("depth", depth) - 1.0)
    return Compensator(
        A=np.array([[0.0, 1.0], [-(w**2), -2.0 * zeta * w]]),
        B=np.array([[0.0], [1.0]]),
        C=np.array([[0.0, taken]]),
        D=np.eye(1),
    )


@checked
def passive(system: LinearPHDAE) -> Compensator:
    """Compensator with the transfer function of a port-Hamiltonian controller.

    Its inputs are the ports of the system, in their order. It is positive real: with collocated sensors of rates and a
    period that is short against its time constants, it takes energy out of the mechanism.

    Parameters
    ----------
    system : LinearPHDAE
        Controller, for example :func:`port_spring` or :func:`passive_observer`.

    Returns
    -------
    Compensator
        Compensator from errors at its inputs to its outputs.
    """
    given = state_space(system)
    return Compensator(A=given.A, B=given.B, C=given.C, D=given.D)
