"""Standard compensators: PID controllers, notch filters, passive controllers."""

from __future__ import annotations

import numpy as np

from ...linear.state_space import state_space
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...systems.linear import LinearPHDAE
from .compensator import Compensator


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
