"""Port-Hamiltonian system of a single floating body in the coordinates of [flex], and the coupling of two such bodies.

Positions are those of the body point P, velocities are in body axes. Start with ``floating_body``; ``relative_axes``
couples ports of two bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array, block_diag
from ...numerics.rotations import entries, entry_count, from_entries, spins
from ...systems.nonlinear import PHDAE
from ..body import Body, LoadPort
from .floating_blocks import FloatingBlocks
from .floating_slopes import FloatingSlopes

PARTS = ("position", "rotation", "deformation", "velocity", "spin", "deformation_rate", "stress")


@checked
def floating_body(
    body: Body,
    *,
    gravity: Sequence[float] | None = None,
    form: Literal["paper", "canonical"] = "paper",
    loads: Sequence[str] = (),
    name: str = "",
) -> PHDAE:
    """Port-Hamiltonian system (E, J, R, B) of a single floating body ([flex] eq. (10)-(14), (30), (36)).

    The state is x = (r_P, R, u, v_P, ω, u̇, σ) with v_P and ω in body axes and R by its stored entries: (c, s) in the
    plane, all nine row by row in space, ``dR/dt = R[ω]×``. The costate is z = (∂_q H, v_P, ω, u̇, σ), and ``E = diag(1,
    M(u), C)`` with M of eq. (10), in the plane at u = 0 of eq. (33). ``gravity`` is the acceleration g (d,) [m/s²] in
    world axes: ``V = −∫ρ g·(r_P + R(X + φu))``, remark 1. Every port is a power port in body axes. In the plane its
    input is (F_x, F_y, T), its output (v_x, v_y, ω) of the section; in space (F, T) and (v, ω) with three entries each,
    in [N], [N m], [m/s], [rad/s]. ``B_r = [[1, 0], [[ℓ]×, 1]]`` is eq. (35) with the lever ℓ = X + φu, and ``B_f = [φᵀ,
    ψᵀ]``. J z is unique, but J is not. Both forms of J have [p_t]× and [p_r]× of the momenta p = M(u)(v_P, ω, u̇) in
    their rigid part (remark 3; p_r is absent in the plane). ``form="paper"`` has the entries of eq. (13)-(14), (34), in
    which doubled momenta compensate for the missing block of u̇ with u̇:

        p̃_t = p_t + ∫ρφu̇,  p̃_r = p_r + ∫ρ(X + φu) × φu̇,  row of ω, column of u̇: ∫(2p_f + ρφu̇) × φ.

    ``form="canonical"`` has ``Σ_k (e_k a_kᵀ − a_k e_kᵀ)`` with a_k = (∂M/∂u_k)(v_P, ω, u̇); the system transformations
    of [dg] sec. 5.1 carry it to the centre-of-mass form of :class:`flexph.Mechanism`. ``loads`` names load ports whose
    force densities β in body axes are inputs, too, after those of the ports:

        B_d u_d = Σ_e ∫_e [1, [X + φu]×, φᵀ]ᵀ dΩ β_e,   y_d = B_dᵀ z = M_d ỹ_d

    See eq. (15), (30), remark 4. β_e is constant on each of the k elements and gives k·d inputs, element by element, in
    [N/m] on lines, [N/m²] on surfaces, [N/m³] in volumes. M_d are the measures of the elements, ỹ_d their mean
    velocities, so that y_dᵀu_d is the power of the load. A body with ``momenta="constant"`` has M(0) and its momenta,
    and no coupling of v_P and ω with u̇ in J (sec. 4.3). The system has exact derivatives, as all matrices are
    polynomials of the state. With a ``name``, ports and parts are ``name.port`` and ``name.part``, so that bodies can
    be interconnected.

    Parameters
    ----------
    body : Body
        Body with rotation.
    gravity : array_like, optional
        g (d,) [m/s²] in world axes; none by default.
    form : {"paper", "canonical"}
        Form of J.
    loads : sequence of str
        Load ports whose densities are additional inputs.
    name : str
        Prefix of the names of ports and parts, followed by a dot.

    Returns
    -------
    PHDAE
        Equations of the body.

    Raises
    ------
    ValueError
        For a body without rotation, gravity of another dimension, an unknown form, and load ports that are unknown,
        named twice, or named as a port.
    """
    check.choice("form", form, ("paper", "canonical"))
    d = body.dim
    if not body.turns:
        kind = "planar" if d == 2 else "spatial"
        raise ValueError(f"body must be a {kind} body with rotation, got one without")
    acceleration = check.array("gravity", np.zeros(d) if gravity is None else gravity, (d,))
    chosen = _loads(body, loads)
    blocks = FloatingBlocks(body, acceleration, form, tuple(chosen.values()))
    owner = f"{name}." if name else ""
    width = d + blocks.spins
    sample = np.zeros(blocks.edges[-1])
    parts = {k: slice(int(a), int(b)) for k, a, b in zip(PARTS, blocks.edges[:-1], blocks.edges[1:], strict=True)}
    sample[parts["rotation"]] = entries(np.eye(d))
    return PHDAE(
        E=blocks.descriptor,
        J=blocks.structure,
        R=blocks.dissipation(sample) if blocks.damps_alike else blocks.dissipation,
        B=blocks.inputs,
        z=blocks.costate,
        H=blocks.energy,
        sample=sample,
        ports={owner + port: columns for port, columns in _columns(body, width, chosen).items()},
        parts={owner + k: s for k, s in parts.items()},
        derivatives=FloatingSlopes(blocks).derivatives(),
    )


def _loads(body: Body, names: Sequence[str]) -> dict[str, LoadPort]:
    """Load ports with the given names.

    Raises ValueError for names that are unknown, repeated, or also names of ports.
    """
    if isinstance(names, str):
        raise ValueError(f"loads must be a list of names of load ports, such as ('load',), got the text {names!r}")
    for name in names:
        check.lookup("load port", name, body.loads)
        if name in body.ports or list(names).count(name) > 1:
            raise ValueError(f"loads must be different load ports, none named as a port, got {name!r}")
    return {name: body.loads[name] for name in names}


def _columns(body: Body, width: int, loads: Mapping[str, LoadPort]) -> dict[str, slice]:
    """Slices of the columns of the input matrix B by name: first those of the ports, then those of the loads.

    ``width`` is the number of inputs of a port.
    """
    sizes = [width] * len(body.ports) + [load.positions.size for load in loads.values()]
    ends = np.cumsum([0, *sizes])
    return {name: slice(int(a), int(b)) for name, a, b in zip([*body.ports, *loads], ends[:-1], ends[1:], strict=True)}


DIMENSIONS = {entry_count(dim): dim for dim in (2, 3)}
UNITS = {dim: from_entries(np.eye(count), dim) for count, dim in DIMENSIONS.items()}
"""Matrices of R = Σ_e (stored entry e) UNITS[dim][e]."""


@dataclass(frozen=True)
class RelativeAxes:
    """Function ``C = R₁ᵀR₂`` of the states of two bodies, and its derivative ``slope``; see :func:`relative_axes`.

    Parameters
    ----------
    dim : int
        Dimension, 2 or 3.
    rotations : tuple of slice
        Slices of the stored entries of R₁ and R₂ in the states of the systems.
    sizes : tuple of int
        Numbers of states of the systems.
    torques : bool
        True if C includes torques, after the forces.
    """

    dim: int
    rotations: tuple[slice, slice]
    sizes: tuple[int, int]
    torques: bool = False

    def __call__(self, x1: Array, x2: Array) -> Array:
        """Matrix C at the states x₁ and x₂: (d, d) for ports with forces only, (d + s, d + s) with torques."""
        one, two = (from_entries(x[span], self.dim) for x, span in zip((x1, x2), self.rotations, strict=True))
        C = one.T @ two
        if not self.torques:
            return C
        return block_diag(C, np.ones((1, 1)) if self.dim == 2 else C)

    def slope(self, x1: Array, x2: Array) -> Array:
        """Derivatives of C with respect to both states (x₁, x₂), (rows of C, columns of C, states)."""
        units, d = UNITS[self.dim], self.dim
        one, two = (from_entries(x[span], d) for x, span in zip((x1, x2), self.rotations, strict=True))
        width = d + spins(d) if self.torques else d
        slope = np.zeros((width, width, sum(self.sizes)))
        first, second = self.rotations
        moved = slice(self.sizes[0] + second.start, self.sizes[0] + second.stop)
        for block in (slice(0, d), slice(d, width)) if self.torques and d == 3 else (slice(0, d),):
            slope[block, block, first] = (units.transpose(0, 2, 1) @ two).transpose(1, 2, 0)
            slope[block, block, moved] = (one.T @ units).transpose(1, 2, 0)
        return slope


@checked
def relative_axes(first: PHDAE, second: PHDAE, *, torques: bool = False) -> RelativeAxes:
    """Coupling ``C = R₁ᵀR₂`` of ports of two floating bodies, each in its own axes ([flex] eq. (40)).

    Parameters
    ----------
    first, second : PHDAE
        Systems from :func:`floating_body`, each with one part ``rotation`` or ``name.rotation``.
    torques : bool
        True if the ports have torques after the forces: C is then diag(R₁ᵀR₂, 1) in the plane and
        diag(R₁ᵀR₂, R₁ᵀR₂) in space.

    Returns
    -------
    RelativeAxes
        C as a function of both states, with its derivative ``slope``.

    Raises
    ------
    ValueError
        For a system without such a part, or with several.
    """
    spans = [_rotation(name, system) for name, system in (("first", first), ("second", second))]
    counts = {span.stop - span.start for span in spans}
    if len(counts) > 1:
        raise ValueError("first and second must both be planar, or both spatial")
    return RelativeAxes(DIMENSIONS[counts.pop()], (spans[0], spans[1]), (first.size, second.size), torques)


def _rotation(name: str, system: PHDAE) -> slice:
    """Slice of the rotation in the state of a floating body; raises ValueError unless there is just one.

    ``name`` is that of the argument, for messages.
    """
    spans = [span for part, span in system.parts.items() if part.rpartition(".")[2] == "rotation"]
    if len(spans) != 1 or spans[0].stop - spans[0].start not in DIMENSIONS:
        raise ValueError(
            f"{name} must have one part 'rotation', like a floating body; its parts are {', '.join(system.parts)}"
        )
    return spans[0]
