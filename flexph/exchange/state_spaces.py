"""Conversion from and to state spaces of scipy.signal and python-control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..linear.responses.channels import channel_columns
from ..linear.state_space import StateSpace, state_space
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE, linear_system
from .general import from_general
from .passivity import ACCURACY, NoEnergyError, defect_of, find_energy, violation

UNIT = 1e-12
"""Defect up to which Q = 1 counts as the energy, and the coordinates stay unchanged."""
DOT, RAISED = ".", "·"
"""The dot in port names, and its substitute for python-control, which splits names at dots."""


@checked
def to_scipy(system: LinearPHDAE) -> Any:
    """Convert to a :class:`scipy.signal.StateSpace` ``ξ̇ = A ξ + B u, y = C ξ + D u`` with the energy H = ½ξᵀξ.

    Constraints and algebraic states are eliminated (:func:`flexph.linear.state_space.state_space`); if E is regular,
    A = J − R, C = Bᵀ, D = 0. The matrices are dense. scipy stores no names: inputs are the columns of B.

    Parameters
    ----------
    system : LinearPHDAE
        The system.

    Returns
    -------
    scipy.signal.StateSpace
        Dense state space.

    Raises
    ------
    ValueError
        If the transfer function grows with the frequency.
    """
    from scipy.signal import StateSpace as Scipy

    return Scipy(*state_space(system))


@checked
def from_scipy(model: Any, *, energy: Any = None, ports: Mapping[str, slice] | None = None) -> LinearPHDAE:
    """Convert a passive state space to a port-Hamiltonian system with E = Q, H = ½xᵀQx, in the same states.

    The matrices ``J = ½(QA − AᵀQ), R = −½(QA + AᵀQ), B = ½(QB + Cᵀ), P = ½(Cᵀ − QB), S − N = D`` have the form of
    :func:`flexph.exchange.from_general`; the condition is ``[[−AᵀQ − QA, Cᵀ − QB], [C − BᵀQ, D + Dᵀ]] ⪰ 0``.

    Parameters
    ----------
    model : scipy.signal.StateSpace
        Model in continuous time with as many outputs as inputs.
    energy : array_like, optional
        Q = Qᵀ ≻ 0 (n, n); by default Q = 1 if it fits, else computed
        (:func:`flexph.exchange.passivity.find_energy`) and checked.
    ports : mapping, optional
        Slices of the inputs by name; by default ``u`` for all.

    Returns
    -------
    LinearPHDAE
        System in the states of the model.

    Raises
    ------
    ValueError
        For a discrete-time model, unequal numbers of outputs and inputs, a Q that violates the condition (with the
        defect), and a system that is not passive, with the frequency at which the Hermitian part of H(iω) is negative.
    ArithmeticError
        If no energy was found, although no violation of passivity was found either.
    """
    if getattr(model, "dt", None):
        raise ValueError(f"model must be continuous in time, got a sampling time of {model.dt} s")
    given = model.to_ss() if hasattr(model, "to_ss") else model
    if not all(hasattr(given, name) for name in "ABCD"):
        raise ValueError(f"model must be a scipy.signal.StateSpace or similar, got {type(model).__name__}")
    return _from_matrices(given.A, given.B, given.C, given.D, energy=energy, ports=ports)


@checked
def to_control(system: LinearPHDAE) -> Any:
    """Convert to a ``control.StateSpace`` in energy coordinates as :func:`to_scipy`, with the names of the ports.

    python-control reserves dots: ``force b.tip`` becomes ``force b·tip``, and :func:`from_control` restores it.

    Parameters
    ----------
    system : LinearPHDAE
        The system.

    Returns
    -------
    StateSpace
        State space whose inputs and outputs have the names of the ports.

    Raises
    ------
    ValueError
        If a port name contains the raised dot.
    ImportError
        If python-control is not installed (extra ``control``).
    """
    control, names = _control(), list(channel_columns(linear_system(system)))
    for name in names:
        if RAISED in name:
            raise ValueError(f"ports must not have {RAISED!r} in their names for python-control, got {name!r}")
    names = [name.replace(DOT, RAISED) for name in names]
    return control.StateSpace(*state_space(system), inputs=names, outputs=[f"{name} output" for name in names])


@checked
def from_control(model: Any, *, energy: Any = None, ports: Mapping[str, slice] | None = None) -> LinearPHDAE:
    """Convert a passive ``control.StateSpace`` or transfer function to a LinearPHDAE; see :func:`from_scipy`.

    Parameters
    ----------
    model : StateSpace or TransferFunction
        Passive model of python-control.
    energy : array_like, optional
        Q, see :func:`from_scipy`.
    ports : mapping, optional
        Slices of the inputs by name; by default inputs are grouped by labels ``port[i]``, with raised dots restored.

    Returns
    -------
    LinearPHDAE
        System in the states of the model.
    """
    try:
        given = _control().ss(model)
    except (TypeError, ValueError) as error:
        raise ValueError(f"model must be a system of python-control, got {type(model).__name__}: {error}") from None
    if given.dt:
        raise ValueError(f"model must be continuous in time, got dt = {given.dt}")
    return _from_matrices(
        given.A,
        given.B,
        given.C,
        given.D,
        energy=energy,
        ports=ports or _grouped([name.replace(RAISED, DOT) for name in given.input_labels]),
    )


def _from_matrices(A: Any, B: Any, C: Any, D: Any, *, energy: Any, ports: Mapping[str, slice] | None) -> LinearPHDAE:
    a = check.array("A", A, (None, None))
    n = a.shape[0]
    b, c = check.array("B", B, (n, None)), check.array("C", C, (None, n))
    if c.shape[0] != b.shape[1]:
        raise ValueError(f"model must have as many outputs as inputs, got {c.shape[0]} and {b.shape[1]}")
    model = StateSpace(check.array("A", a, (n, n)), b, c, check.array("D", D, (b.shape[1],) * 2))
    q = _computed(model) if energy is None else _given(model, energy)
    skew, loss = 0.5 * (q @ a - a.T @ q), -0.5 * (q @ a + a.T @ q)
    into, off = 0.5 * (q @ b + c.T), 0.5 * (c.T - q @ b)
    if not np.any(model.D + model.D.T) and np.linalg.norm(off) <= ACCURACY * np.linalg.norm(into):
        into, off = c.T, np.zeros_like(off)  # P must vanish on the kernel of S; only its round-off is dropped
    s, feed = 0.5 * (model.D + model.D.T), -0.5 * (model.D - model.D.T)
    loss, off, s = _positive(loss, off, s, q)
    return from_general(q, skew, loss, into, P=off, S=s, N=feed, ports=dict(ports or {}))


def _positive(loss: Array, off: Array, s: Array, q: Array) -> tuple[Array, Array, Array]:
    """Matrices R, P and S with the negative eigenvalues of [[R, P], [Pᵀ, S]] that come from round-off set to zero.

    The given matrices are ``loss``, ``off`` and ``s``. Eigenvalues are those in coordinates in which the energy matrix
    ``q`` is the identity.
    """
    lower = np.linalg.cholesky(q)
    half = np.linalg.solve(lower, loss)
    inner, edge = np.linalg.solve(lower, half.T), np.linalg.solve(lower, off)
    n = len(q)
    if np.any(off) or np.any(s):
        weight = np.sqrt(np.linalg.norm(inner) / max(float(np.linalg.norm(s)), 1e-300)) if np.any(inner) else 1.0
        whole = np.block([[inner, weight * edge], [weight * edge.T, weight**2 * s]])
    else:
        weight, whole = 1.0, inner
    values, vectors = np.linalg.eigh(0.5 * (whole + whole.T))
    if not values.size or values[0] >= 0.0:
        return loss, off, s
    mended = (vectors * np.maximum(values, 0.0)) @ vectors.T
    loss = lower @ mended[:n, :n] @ lower.T
    if whole.shape[0] > n:
        off, s = lower @ mended[:n, n:] / weight, mended[n:, n:] / weight**2
    return 0.5 * (loss + loss.T), off, 0.5 * (s + s.T)


def _given(model: StateSpace, energy: Any) -> Array:
    q = check.array("energy", energy, model.A.shape)
    check.symmetric("energy", q)
    try:
        defect = defect_of(model, q)
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(q)[0]
        raise ValueError(f"energy must be positive definite: lowest eigenvalue {lowest:.3e}") from None
    if defect > ACCURACY:
        raise ValueError(
            "energy must satisfy [[−AᵀQ − QA, Cᵀ − QB], [C − BᵀQ, D + Dᵀ]] ⪰ 0: its lowest eigenvalue is "
            f"{-defect:.1e} of the size of the system"
        )
    return q


def _computed(model: StateSpace) -> Array:
    one = np.eye(model.A.shape[0])
    if defect_of(model, one) <= UNIT:
        return one
    try:
        q = find_energy(model)
        defect = defect_of(model, q)
        if defect <= ACCURACY:
            return q
        reason = f"the energy found misses by {defect:.1e}"
    except NoEnergyError as error:
        reason = str(error)
    except np.linalg.LinAlgError:
        reason = "the energy found is not positive definite: some states are not moved or not seen by the ports"
    against = violation(model)
    if against is not None:
        raise ValueError(f"the system is not passive: {against}")
    raise ArithmeticError(f"no energy was found ({reason}); give energy=Q, or a minimal state space")


def _grouped(labels: Sequence[str]) -> dict[str, slice]:
    """Slices of ports from labels ``port[i]`` or ``port``, in their order.

    Empty if the labels of a port are not adjacent.
    """
    ports_by_label: dict[str, slice] = {}
    for i, label in enumerate(labels):
        port = label.rpartition("[")[0] if label.endswith("]") else label
        start = ports_by_label[port].start if port in ports_by_label and ports_by_label[port].stop == i else i
        if port in ports_by_label and start == i:
            return {}
        ports_by_label[port] = slice(start, i + 1)
    return ports_by_label


def _control() -> Any:
    try:
        import control
    except ImportError:
        raise ImportError('python-control is not installed: pip install "flexph[control]"') from None
    return control
