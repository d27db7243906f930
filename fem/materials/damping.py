"""Structural damping: proportional to mass and stiffness, and by modes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import sparse

from flexph.bodies.elasticity import ElasticEnergy
from flexph.bodies.inertia import Inertia, contract
from flexph.linear.eigenmodes.modes import modes
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.factors.low_rank import Bordered
from flexph.systems.linear import LinearPHDAE
from flexph.units.arguments import quantities


@quantities(mass="1/s", stiffness="s")
@checked
@dataclass(frozen=True, kw_only=True)
class Damping:
    """Structural damping: mass α [1/s], stiffness β [s], and damping ratios ζ_i of the lowest modes.

    The matrix of the damping force ``−(αM + βDᵀC⁻¹D + Σ 2ζ_iω_i (Mφ_i)(Mφ_i)ᵀ) u̇`` is R of [flex] eq. (45), with the
    mass M and the stiffness DᵀC⁻¹D. The modes φ_i,
    φ_iᵀMφ_i = 1, are those of the body in its reference condition (P at rest), each damped by ζ_i + α/(2ω_i) + βω_i/2.
    With ratios the damping matrix is dense. Damping acts on the deformation only; rigid motion is not damped.

    Parameters
    ----------
    mass : float
        α ≥ 0 [1/s].
    stiffness : float
        β ≥ 0 [s].
    ratios : tuple of float
        ζ_i in [0, 1) of the lowest modes, counted among *all* modes by frequency, axial and torsional ones included; a
        section with I_y = I_z has each bending mode twice.

    Raises
    ------
    ValueError
        If α or β is negative, or a ratio is not in [0, 1).
    """

    mass: float = 0.0
    stiffness: float = 0.0
    ratios: tuple[float, ...] = ()
    remedy: ClassVar[str] = "such as Damping(stiffness=1e-5)"

    def __post_init__(self) -> None:
        check.not_negative("mass", self.mass, "1/s")
        check.not_negative("stiffness", self.stiffness, "s")
        ratios = tuple(check.number(f"ratios[{i}]", zeta) for i, zeta in enumerate(np.atleast_1d(self.ratios)))
        for i, zeta in enumerate(ratios):
            if not 0.0 <= zeta < 1.0:
                raise ValueError(f"ratios[{i}] must be at least 0 and below 1, got {zeta}")
        object.__setattr__(self, "ratios", ratios)


def damped(elasticity: ElasticEnergy, inertia: Inertia, damping: Damping) -> ElasticEnergy:
    """Elastic energy with damping added.

    Raises ValueError for another type of damping, or for more ratios than modes.
    """
    if not isinstance(damping, Damping):
        raise ValueError(f"damping must be a Damping, such as Damping(stiffness=1e-5), got {damping!r}")
    return replace(  # type: ignore[type-var]  # every kind of elastic energy is a data class
        elasticity,
        mass_damping=damping.mass,
        stiffness_damping=damping.stiffness,
        viscous=_by_modes(elasticity, inertia, np.array(damping.ratios)) if any(damping.ratios) else None,
    )


def _by_modes(elasticity: ElasticEnergy, inertia: Inertia, ratios: np.ndarray) -> sparse.csr_array:
    """Damping matrix Σ 2ζω (Mφ)(Mφ)ᵀ over the lowest modes of M ü + DᵀC⁻¹D u = 0, with D at u = 0."""
    mass, strain = contract(inertia, about_centre=False).M, elasticity.strain
    if isinstance(mass, Bordered):
        raise ValueError(
            "damping must not have ratios for a large body about mean axes, whose matrices they would fill: use "
            "stiffness, or hold a port of the body"
        )
    stresses, size = strain.shape
    system = LinearPHDAE(
        E=sparse.block_diag([mass, elasticity.compliance]).tocsr(),
        J=sparse.csr_array(sparse.block_array([[None, -strain.T], [strain, None]])),
        kinetic=np.arange(size + stresses) < size,
    )
    lowest = modes(system, len(ratios))
    if len(lowest.frequencies) < len(ratios):
        raise ValueError(f"damping has {len(ratios)} ratios, the body has only {len(lowest.frequencies)} modes")
    root = mass @ lowest.shapes[:size].real * np.sqrt(2.0 * ratios * lowest.frequencies)
    return sparse.csr_array(root @ root.T)
