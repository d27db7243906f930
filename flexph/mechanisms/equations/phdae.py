"""Nonlinear equations of a mechanism as a port-Hamiltonian descriptor system."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import measures, refuse_other_laws
from ...kernels.gradient import is_sparse
from ...kernels.state import derive
from ...numerics.arrays import Array
from ...systems.derivatives import KnownDerivatives
from ...systems.nonlinear import PHDAE
from ..model.state import State, configuration
from ..model.time_table import Anchors, laws
from .blocks import ConstantBlocks
from .dense import Matrices
from .slopes import Slopes
from .sparse import sparse_equations
from .strain_laws import StrainLaws

if TYPE_CHECKING:
    from ..model.model import Model

LATEST = 3
"""Number of states whose dense matrices are cached, the stages of a method of order 6."""


def as_phdae(mechanism: Model, state: State) -> PHDAE:
    """Equations ``E ẋ = (J − R) z + B u`` of a mechanism with x = (q, v, σ, e, λ):

        E = diag(1, diag(m, M(u)), C, 1/k, 0),   z = (∂_q H, v, σ, e, λ)
        J = [[0, Z, 0, 0, 0], [−Zᵀ, Γ, −Dᵀ, −Sᵀ, Gᵀ], [0, D, 0, 0, 0], [0, S, 0, 0, 0], [0, −G, 0, 0, 0]]

    The blocks of x are coordinates, velocities, stresses, spring forces and multipliers. Z maps v to q̇, D to strain
    rates, S to the rates of springs and G to the rates of constraints; Γ has the gyroscopic terms, C are compliances of
    strains, k stiffnesses of springs.

    Rows of σ with a law of the stored energy ψ, such as a bending law M(κ) of a rod, have their strains ε as states
    instead, with 1 in E and the stresses S(ε) in z, so that H = Σ ψ.

    External inputs act on v. Drives are inputs of their constraint rows: the input is the prescribed rate, the output
    the multiplier ([flex] eq. (43)). Small mechanisms have dense read-only matrices with derivatives; large ones have
    sparse matrices.
    """
    refuse_contacts(mechanism.connections, "mechanism.phdae")
    refuse_other_laws(mechanism, "mechanism.phdae")
    moving = [name for name, measure in measures(mechanism.connections) if measure.is_driven]
    if moving:
        raise ValueError(
            f"general equations do not support springs with a moving reference such as {moving[0]!r}: use Exact()"
        )
    limited = [name for name, m in measures(mechanism.connections) if m.kind == "rope" and m.damping]
    if limited:
        raise ValueError(
            f"general equations do not support ropes with damping such as {limited[0]!r}, which is limited so that "
            "the rope never pushes: use Exact()"
        )
    if mechanism.network.arrays.faces is not None:
        raise ValueError("general equations do not support loads that follow faces: use Exact() or Exact4()")
    equations = sparse_equations if is_sparse(mechanism.network.arrays) else _dense_equations
    driven = [i for i, law in enumerate(laws(mechanism)) if callable(law.value)]
    ports = dict(mechanism.network.input_slices)
    external = sum(s.stop - s.start for s in ports.values())
    ports |= {mechanism.constraint_names[i]: slice(external + k, external + k + 1) for k, i in enumerate(driven)}
    return PHDAE(
        **equations(mechanism, state.anchors, driven),
        sample=np.concatenate([_sample(mechanism, state), state.multipliers]),
        ports=ports,
        parts=mechanism.layout.parts,
    )


def _sample(mechanism: Model, state: State) -> Array:
    """Flat state of the general equations: rows with a law of the stored energy have strains in place of stresses."""
    a, c, stresses = mechanism.network.arrays, configuration(mechanism, state.x), _stresses(mechanism)
    if not a.strains.laws:
        return state.x
    x = state.x.copy()
    x[stresses] = StrainLaws(a).sample(x[stresses], derive(a, c).product)
    return x


def with_stresses(mechanism: Model, x: Array) -> Array:
    """Flat state of the mechanism from one of the general equations: strains of rows with a law become stresses."""
    if not mechanism.network.arrays.strains.laws:
        return x
    stresses, x = _stresses(mechanism), x.copy()
    x[stresses] = StrainLaws(mechanism.network.arrays).costate(x[stresses])
    return x


def _stresses(mechanism: Model) -> slice:
    last = mechanism.layout.size - mechanism.layout.springs
    return slice(last - mechanism.layout.stresses, last)


def _dense_equations(mechanism: Model, anchors: Anchors, driven: list[int]) -> dict[str, Any]:
    """Functions E, J, R, B, z, H of x for a small mechanism, and their derivatives, as arguments of :class:`PHDAE`.

    The rates of the ``driven`` constraint rows are inputs, after the external ones.
    """
    blocks = ConstantBlocks(mechanism, anchors, driven)
    matrices = lru_cache(maxsize=LATEST)(lambda key: Matrices(blocks, np.frombuffer(key)))

    def at(x: Array) -> Matrices:
        return matrices(np.ascontiguousarray(x, dtype=float).tobytes())

    return {
        "E": lambda x: at(x).descriptor,
        "J": lambda x: at(x).structure,
        "R": lambda x: at(x).dissipation,
        "B": lambda x: at(x).inputs,
        "z": lambda x: at(x).costate,
        "H": lambda x: at(x).energy,
        "derivatives": KnownDerivatives(
            costate=lambda x: Slopes(at(x)).costate(),
            descriptor=lambda x, w: Slopes(at(x)).descriptor(w),
            structure=lambda x, w: Slopes(at(x)).structure(w),
            inputs=lambda x, u: Slopes(at(x)).inputs(u),
        ),
    }
