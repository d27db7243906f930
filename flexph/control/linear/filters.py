"""Standard compensators: PID, notch filters, passive ones."""

from __future__ import annotations

import numpy as np

from ...linear.state_space import state_space
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...systems.linear import LinearPHDAE
from .compensator import Compensator


@checked
def pid(proportional: float, *, integral: float = 0.0, derivative: float = 0.0, lag: float = 1e-3) -> Compensator:
    """``u = K_p e + K_i ∫e + K_d s/(1 + Ts) e`` with the lag T [s] of the derivative.

    Parameters
    ----------
    proportional : float
        K_p.
    integral : float
        K_i, in its unit by second.
    derivative : float
        K_d, in its unit times second.
    lag : float
        T [s].

    Returns
    -------
    Compensator
        Of one error and one output.

    Raises
    ------
    ValueError
        For a lag that is not positive, where there is a derivative.
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
    """``(s² + 2ζdω s + ω²)/(s² + 2ζω s + ω²)``: a filter that lets a share d of the frequency ω [rad/s] pass.

    Parameters
    ----------
    frequency : float
        ω [rad/s].
    damping : float
        ζ, its width.
    depth : float
        d, 0 where nothing passes and 1 where all does.

    Returns
    -------
    Compensator
        Of one error and one output.
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
    """A port-Hamiltonian controller, such as :func:`port_spring` or :func:`passive_observer`, as a compensator.

    Its inputs are the ports of the system in their order. It is positive real: at collocated sensors of rates, and as
    long as the period is short beside its time constants, it takes energy out of the mechanism.

    Parameters
    ----------
    system : LinearPHDAE
        The controller.

    Returns
    -------
    Compensator
        From errors at its inputs to its outputs.
    """
    given = state_space(system)
    return Compensator(A=given.A, B=given.B, C=given.C, D=given.D)
