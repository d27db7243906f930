"""Reduction of a linear system to a smaller system of the same kind; modal truncation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.subspaces import orthonormal
from ...systems.linear import LinearPHDAE, unknowns
from ..eigenmodes.modes import modes
from ..elimination import independent
from ..shifted import Shifted
from .adaptive import adaptive
from .bases import projected, rigid_motions
from .irka import irka
from .krylov import as_points, krylov
from .retained_states import Keep, RetainedStates, retained_states

METHODS = ("krylov", "modal", "irka")


@computing(unknowns)
def reduce(
    system: LinearPHDAE,
    order: int | None = None,
    *,
    method: Literal["krylov", "modal", "irka"] = "krylov",
    points: Sequence[Any] | None = None,
    band: tuple[float, float] | None = None,
    tolerance: float | None = None,
    ports: Sequence[str] | None = None,
    keep: Keep = None,
) -> LinearPHDAE:
    """Reduce a system by projection on a subspace, x = V x̂, to at most ``order`` states.

        Ê = VᵀEV,  Ĵ = VᵀJV,  R̂ = VᵀRV,  B̂ = VᵀB

    Thus Ĵ is skew, R̂ ⪰ 0, the energy is that of V x̂; ports, :meth:`LinearPHDAE.expand` and passivity are preserved.
    Every V x̂ satisfies the constraints: V lies in null G ([flex] eq. (46)), and the reduced system has none. A system
    that splits into velocities and stresses keeps this form, V = diag(V_v, orth(C⁻¹D V_v)), except with method
    ``irka``.

    Parameters
    ----------
    system : LinearPHDAE
        Full system.
    order : int, optional
        Largest number of states, including kept ones; omit it if ``points`` are given.
    method : {"krylov", "modal", "irka"}
        ``krylov``: V_v spans solutions of ``(sE − J + R) x = B`` and derivatives with respect to s, at given ``points``
        or at points sought in a ``band``. ``modal``: rigid motions and the lowest undamped modes. ``irka``: points at
        the mirrored poles of the reduced system, H2-optimal up to the conditions of the structure (Gugercin et al.
        2012); first guesses lie in the ``band``. For damped systems.
    points : sequence, optional
        Numbers s [rad/s] (real, imaginary, complex) or pairs (s, multiplicity): so many moments of the transfer
        function are matched at each, and verified to 1e-8; twice as many for systems of velocities and stresses without
        a gyroscopic part.
    band : tuple of float, optional
        Frequencies (ω₁, ω₂) [rad/s]: points iω are sought there, with the input directions of large errors, in addition
        to the rigid motions that the ports drive.
    tolerance : float, optional
        Error of H, relative to the largest |H|, at which the search in a band ends. Without a tolerance an error above
        a tenth causes a warning (:class:`ReductionWarning`).
    ports : sequence of str, optional
        Ports whose responses are matched; by default all. The result has the other ports, too, without matching.
    keep : "rigid" or sequence of str, optional
        Parts that are not reduced, see Notes.

    Returns
    -------
    LinearPHDAE
        Reduced system with the same ports.

    Raises
    ------
    ValueError
        For a wrong order, band or point (a pole among the points), a system without ports, or motion without energy (E
        singular).
    ArithmeticError
        If moments are not matched, the tolerance is not reached, or points do not converge.

    Notes
    -----
    ``keep="rigid"`` reduces only the flexible states p_f, with V = diag(1, V_f): the rigid velocities p_r (and forces
    of springs) of a linearized mechanism remain unknowns, and its constraints remain with their names and multipliers,

        M_rr ṗ_r + M_rf V_f p̂̇_f = G_rᵀλ + B_r u,   V_fᵀM_fr ṗ_r + V_fᵀM_ff V_f p̂̇_f = V_fᵀ(J_ff V_f p̂_f + G_fᵀλ +
        B_f u), 0 = G_r p_r + G_f V_f p̂_f

    ([flex] eq. (46)): a system of the same kind, to which further constraints can be added. V_f consists of the
    flexible parts of the same vectors, so that as many moments are matched, those of the multipliers, too, and of the
    static responses to constraint forces that do not act on p_r. A list of names keeps these parts instead.

    Examples
    --------
    A chain of eight masses between springs, with the moments at s = 0.1 rad/s matched:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, reduce
    >>> D = np.eye(8) - np.eye(8, k=-1)
    >>> J, B = np.block([[np.zeros((8, 8)), -D.T], [D, np.zeros((8, 8))]]), np.eye(16)[:, [7]]
    >>> chain = LinearPHDAE(E=np.eye(16), J=J, B=B, ports={"end": slice(0, 1)}, kinetic=np.arange(16) < 8)
    >>> small = reduce(chain, points=[(0.1, 2)])
    >>> small.size, list(small.ports)
    (4, ['end'])
    """
    check.choice("method", method, METHODS)
    system = independent(system)
    shifted = Shifted(system, _used(system, ports))
    kept_states = retained_states(shifted, keep)
    if method != "modal" and not shifted.columns.size:
        raise ValueError(f"method {method!r} needs a system with ports, see LinearPHDAE.ports")
    if points is not None:
        _refuse("points", method, "krylov", {"order": order, "band": band, "tolerance": tolerance})
        return krylov(shifted, as_points(points), kept_states)
    order = _order(shifted, order, method, kept_states)
    if method == "modal":
        _refuse("order", method, "modal", {"band": band, "tolerance": tolerance})
        return modal(shifted, order, kept_states)
    limits = _band(band, method)
    if method == "irka":
        _refuse("band", method, "irka", {"tolerance": tolerance, "keep": keep})
        return irka(shifted, order, limits)
    if tolerance is not None:
        check.positive("tolerance", tolerance)
    return adaptive(shifted, order, limits, tolerance=tolerance, kept=kept_states)


def _used(system: LinearPHDAE, ports: Sequence[str] | None) -> tuple[str, ...] | None:
    if ports is None:
        return None
    if isinstance(ports, str) or not isinstance(ports, Iterable):
        raise ValueError(f"ports must be a list of names of ports, got {ports!r}")
    for name in (names := tuple(ports)):
        check.lookup("port", name, system.ports)
    return names


def _refuse(given: str, method: str, wanted: str, others: dict[str, Any]) -> None:
    if method != wanted:
        raise ValueError(f"{given} belong to method {wanted!r}, got method {method!r}")
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name} cannot be given along with {given} to method {method!r}, got {name}={value!r}")


def _order(shifted: Shifted, order: int | None, method: str, kept: RetainedStates | None) -> int:
    if order is None:
        raise ValueError(f"order must be given for method {method!r}" + (" without points" * (method == "krylov")))
    least = 1 if shifted.split is None else 2
    states = check.count("order", order, least)
    if kept is not None:
        if not kept.least < states < shifted.system.size:
            raise ValueError(
                f"order must be above {kept.least}, the {kept.count} states that are kept and the responses to "
                f"constraint forces, and below the {shifted.system.size} states of the system, got {states}"
            )
        return states
    free = shifted.system.size - shifted.system.G.shape[0]
    if states >= free:
        raise ValueError(f"order must be below the {free} free states of the system, got {states}")
    return states


def _band(band: tuple[float, float] | None, method: str) -> tuple[float, float]:
    if band is None:
        raise ValueError(f"band must be given for method {method!r}: the frequencies (ω₁, ω₂) [rad/s] that count")
    low, high = (float(x) for x in check.array("band", band, (2,)))
    if not 0.0 < low < high:
        raise ValueError(f"band must be two frequencies 0 < ω₁ < ω₂ [rad/s], got {(low, high)}")
    return low, high


def modal(shifted: Shifted, order: int, kept: RetainedStates | None = None) -> LinearPHDAE:
    """Project a system onto its rigid motions and its lowest undamped modes, to at most ``order`` states.

    ``kept`` are states that are retained in addition; see :func:`flexph.reduce`. Raises ValueError unless the system
    splits into velocities and stresses.
    """
    system, parts = shifted.system, shifted.split
    if parts is None:
        raise ValueError(
            "method 'modal' needs a system of velocities and stresses (kinetic) whose inputs are forces; use method "
            "'krylov' for others, such as those with algebraic states of a controller"
        )
    rigid = orthonormal(rigid_motions(shifted).toarray(), parts.M)
    count = rigid.shape[1]
    if kept is not None:
        wanted = kept.room(order) - kept.flexible(rigid, parts.M).shape[1]
    else:
        if count > order:
            raise ValueError(f"order must be at least {count}, the number of rigid motions, got {order}")
        wanted = (order - count) // 2
    if wanted <= 0:
        return projected(system, parts, rigid, count, kept=kept)
    lowest = modes(replace(system, R=0.0 * system.R, lift=None, parts={}), wanted)
    return projected(system, parts, np.hstack([rigid, lowest.shapes[parts.velocities].real]), count, kept=kept)
