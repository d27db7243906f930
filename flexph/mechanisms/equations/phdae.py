"""Nonlinear equations of a mechanism as a port-Hamiltonian descriptor system."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import measures, refuse_other_laws
from ...kernels.gradient import is_sparse
from ...numerics.arrays import Array
from ...systems.derivatives import KnownDerivatives
from ...systems.nonlinear import PHDAE
from ..model.state import State
from ..model.time_table import Anchors, laws
from .blocks import ConstantBlocks
from .dense import Matrices
from .slopes import Slopes
from .sparse import sparse_equations

if TYPE_CHECKING:
    from ..model.model import Model

LATEST = 3
"""Number of states whose dense matrices are cached, the stages of a method of order 6."""


def as_phdae(mechanism: Model, state: State) -> PHDAE:
    """Equations ``E ẋ = (J − R) z + B u`` of a mechanism with x = (q, v, σ, e, λ):

        E = diag(1, diag(m, M(u)), C, 1/k, 0),   z = (∂_q H, v, σ, e, λ)
        J = [[0, Z, 0, 0, 0], [−Zᵀ, Γ, −Dᵀ, −Sᵀ, Gᵀ], [0, D, 0, 0, 0], [0, S, 0, 0, 0], [0, −G, 0, 0, 0]]

    External inputs act on v. Drives are inputs of their constraint rows: the input is the prescribed rate, the output
    the multiplier ([flex] eq. (43)). Small mechanisms have dense read-only matrices with derivatives; large ones have
    sparse matrices.
    """
    refuse_contacts(mechanism.connections, "mechanism.phdae")
    refuse_other_laws(mechanism, "mechanism.phdae")
    moving = [name for name, measure in measures(mechanism.connections) if measure.is_driven]
    if moving:
        raise ValueError(
            f"general equations do not support springs with a moving reference such as {moving[0]!r}: take Exact()"
        )
    limited = [name for name, m in measures(mechanism.connections) if m.kind == "rope" and m.damping]
    if limited:
        raise ValueError(
            f"general equations do not take ropes with damping such as {limited[0]!r}, which is limited so that "
            "the rope never pushes: take Exact()"
        )
    if mechanism.network.arrays.strains.laws:
        raise ValueError(
            "general equations need stresses linear in the strains, unlike laws of finite strain and laws of "
            "cross-sections: take Exact() or Exact4(), or bodies without laws"
        )
    if mechanism.network.arrays.faces is not None:
        raise ValueError("general equations do not support loads that follow faces: take Exact() or Exact4()")
    equations = sparse_equations if is_sparse(mechanism.network.arrays) else _dense_equations
    driven = [i for i, law in enumerate(laws(mechanism)) if callable(law.value)]
    ports = dict(mechanism.network.input_slices)
    external = sum(s.stop - s.start for s in ports.values())
    ports |= {mechanism.constraint_names[i]: slice(external + k, external + k + 1) for k, i in enumerate(driven)}
    return PHDAE(
        **equations(mechanism, state.anchors, driven),
        sample=np.concatenate([state.x, state.multipliers]),
        ports=ports,
        parts=mechanism.layout.parts,
    )


def _dense_equations(mechanism: Model, anchors: Anchors, driven: list[int]) -> dict[str, Any]:
    """Functions of a small system and their derivatives, with the ``driven`` constraint rows as inputs."""
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
