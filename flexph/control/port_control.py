"""Control through ports, with controllers that are port-Hamiltonian systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..interconnection.direct_sum import block_diagonal, lifted_size
from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array, Numbers
from ..numerics.factors.signature import check_semi_definite, root_of
from ..systems.linear import LinearPHDAE, linear_system


@checked
def inject_damping(system: LinearPHDAE, port: str, gain: Numbers) -> LinearPHDAE:
    """Inject damping ``u = −K y + u_ext`` at a port: R becomes ``R + B K Bᵀ``, K = Kᵀ ⪰ 0; the port stays open.

    Then dH/dt = yᵀu_ext − xᵀR x − yᵀK y, and no gain makes the system unstable.

    Parameters
    ----------
    system : LinearPHDAE
        The system.
    port : str
        Port of the system, which stays open.
    gain : array_like
        K, a number for all components or a matrix (m, m), in the unit of input over output [N s/m or N m s].

    Returns
    -------
    LinearPHDAE
        System with the additional dissipation.

    Raises
    ------
    ValueError
        If K is not symmetric positive semi-definite.
    """
    b = linear_system(system).inputs(port)
    fed = b @ _gain(gain, b.shape[1], system.is_sparse) @ b.T
    return replace(system, R=system.R + 0.5 * (fed + fed.T))


@checked
def feedback(plant: LinearPHDAE, controller: LinearPHDAE, port: str, controller_port: str) -> LinearPHDAE:
    """Negative feedback ``u = −y_c + u_ext, u_c = y`` of plant and controller, as one system.

    ``J = [[J_p, −B_p B_cᵀ], [B_c B_pᵀ, J_c]]`` with block-diagonal R, E and G. The interconnection is lossless,
    dH/dt = yᵀu_ext − xᵀR x with H = H_p + H_c, so that two passive systems form a passive one for all parameters.

    Parameters
    ----------
    plant : LinearPHDAE
        Plant.
    controller : LinearPHDAE
        Controller; it is converted to a sparse or dense system as the plant is.
    port : str
        Port of the plant, which stays open.
    controller_port : str
        Port of the controller, which is closed by the connection.

    Returns
    -------
    LinearPHDAE
        Closed loop.

    Raises
    ------
    ValueError
        If the ports differ in width or both systems have a name in common.
    """
    return coupled(plant, controller, {controller_port: port})


def coupled(plant: LinearPHDAE, controller: LinearPHDAE, ports: Mapping[str, str]) -> LinearPHDAE:
    """Negative feedback (:func:`feedback`) at several ports, given as a mapping from controller to plant ports."""
    pairs = [
        (linear_system(plant, "plant").inputs(port), linear_system(controller, "controller").inputs(controller_port))
        for controller_port, port in ports.items()
    ]
    for (b, c), (controller_port, port) in zip(pairs, ports.items(), strict=True):
        if b.shape[1] != c.shape[1]:
            raise ValueError(
                f"ports must have one width: {port!r} has {b.shape[1]}, "
                f"{controller_port!r} of the controller {c.shape[1]}"
            )
    blocks, n = block_diagonal([plant, controller], lean=plant.is_sparse), plant.size
    left, right = (sparse.hstack([sparse.csr_array(m) for m in side]).tocsr() for side in zip(*pairs, strict=True))
    across = sparse.block_array([[sparse.csr_array((n, n)), -left @ right.T], [right @ left.T, None]]).tocsr()
    others = {name: s for name, s in controller.ports.items() if name not in ports}
    inputs = plant.B.shape[1]
    columns = np.concatenate([np.arange(inputs), inputs + spans.indices(others.values())])
    blocks["J"] = blocks["J"] + (across if plant.is_sparse else across.toarray())
    blocks["B"] = blocks["B"][:, columns]
    kept = {name: kind for name, kind in controller.causality.items() if name in others}
    return LinearPHDAE(
        **blocks,
        ports=_merged("port", plant.ports, spans.consecutive(spans.widths(others), inputs)),
        causality={**plant.causality, **kept},
        parts=_merged("part", plant.parts, spans.moved(controller.parts, lifted_size(plant))),
        constraints=plant.constraints + controller.constraints,
    )


@checked
def passive_observer(system: LinearPHDAE, port: str, gain: Numbers, *, name: str = "observer") -> LinearPHDAE:
    """Observer with state feedback, as one port-Hamiltonian controller of a linear system at one of its ports.

        E x̂' = (J − R − 2BKBᵀ) x̂ + BK y + Gᵀλ,  0 = G x̂,  y_c = KBᵀx̂

    Here y is the output at the port, y_c the output of the controller, and K = Kᵀ ⪰ 0 the gain. It is a Luenberger
    observer ``E x̂' = (J − R)x̂ + Bu + L(y − Bᵀx̂)`` with the control u = −KBᵀx̂, damping injection with x̂ in place of
    x, and L = BK. Both gains agree, so that input and output of the compensator are collocated, B_c = BK, and it is a
    port-Hamiltonian system with R_c = R + 2BKBᵀ ⪰ 0. Its feedback (:func:`feedback`) is therefore stable by
    construction: H = ½xᵀEx + ½x̂ᵀEx̂ does not grow, whether ``system`` is the plant itself, a reduced model or one with
    wrong parameters. For the plant itself the error e = x − x̂ obeys ``E ė = (J − R − BKBᵀ)e + Bu_ext`` and decays
    where damping at the port would make the plant decay.

    Parameters
    ----------
    system : LinearPHDAE
        Model of the plant.
    port : str
        Port to measure and drive.
    gain : array_like
        K, see :func:`inject_damping`.
    name : str
        Name of the compensator's port; its parts are those of the system, named ``name.part``.

    Returns
    -------
    LinearPHDAE
        Compensator, for :func:`feedback`.
    """
    b = linear_system(system).inputs(port)
    k = _gain(gain, b.shape[1], system.is_sparse)
    fed = b @ k @ b.T
    return replace(
        system,
        R=system.R + (fed + fed.T),
        B=b @ k,
        ports={name: slice(0, b.shape[1])},
        causality={} if port in system.causality else {name: "velocity"},  # its input is the output of the plant
        parts={f"{name}.{part}": s for part, s in system.parts.items()},
        constraints=tuple(f"{name}: {row}" for row in system.constraints),
    )


@checked
def port_spring(
    stiffness: Numbers, damping: Numbers | None = None, *, width: int = 1, name: str = "spring"
) -> LinearPHDAE:
    """Spring and damper in parallel, ``σ̇ = K u, y = σ + D u``, K ≻ 0, D ⪰ 0: a PI controller of a velocity.

    ``K⁻¹σ̇ = u`` with H = ½σᵀK⁻¹σ [J]; D = LLᵀ enters by algebraic states, 0 = −w + Lᵀu, y = σ + Lw. In
    :func:`feedback` at a velocity port the spring holds the position of the port.

    Parameters
    ----------
    stiffness : array_like
        K [N/m or N m], a number for all ``width`` components, or a matrix.
    damping : array_like, optional
        D [N s/m or N m s], a number or a matrix; none by default.
    width : int
        Number of components.
    name : str
        Name of its port and of its only part.

    Returns
    -------
    LinearPHDAE
        Controller, for :func:`feedback`.

    Raises
    ------
    ValueError
        If K is not positive definite, or D not positive semi-definite; both must be symmetric.
    """
    check.count("width", width)
    given = [np.shape(a)[0] for a in (stiffness, damping) if a is not None and np.ndim(a) == 2]
    m = given[0] if given else width
    k = _square("stiffness", stiffness, m)
    try:
        np.linalg.cholesky(k)
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(k)[0]
        raise ValueError(f"stiffness must be positive definite: lowest eigenvalue {lowest:.3e}") from None
    root = np.zeros((m, 0)) if damping is None else root_of(_square("damping", damping, m))
    r = root.shape[1]
    compliance = np.linalg.inv(k)
    return LinearPHDAE(
        E=np.block([[0.5 * (compliance + compliance.T), np.zeros((m, r))], [np.zeros((r, m + r))]]),
        J=np.zeros((m + r, m + r)),
        R=np.diag([0.0] * m + [1.0] * r),
        B=np.vstack([np.eye(m), root.T]),
        ports={name: slice(0, m)},
        causality={name: "velocity"},
        parts={name: slice(0, m)},
        kinetic=np.zeros(m + r, dtype=bool),
    )


def _gain(gain: Any, width: int, lean: bool) -> Any:
    k = _square("gain", gain, width)
    return sparse.csr_array(k) if lean else k


def _square(name: str, value: Any, width: int) -> Array:
    """Symmetric positive semi-definite matrix (width, width) from a matrix or a number, which multiplies the identity.

    Raises ValueError for another matrix.
    """
    if np.ndim(value) == 0:
        return check.not_negative(name, value) * np.eye(width)
    k = check.array(name, value.toarray() if sparse.issparse(value) else value, (width, width))
    check.symmetric(name, k)
    check_semi_definite(name, k)
    return k


def _merged(kind: str, first: Mapping[str, slice], second: Mapping[str, slice]) -> dict[str, slice]:
    twice = sorted(set(first) & set(second))
    if twice:
        raise ValueError(
            f"{kind} names must differ between plant and controller, both have {twice}; "
            "rename those of the controller, e.g. by port_spring(..., name=...) or passive_observer(..., name=...)"
        )
    return {**first, **second}
