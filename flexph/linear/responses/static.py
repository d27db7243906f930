"""Static response, at ω = 0."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array, dense
from ...numerics.ranks import singular_vectors
from ...systems.linear import LinearPHDAE
from ..elimination import eliminate
from ..shifted import Pole, Shifted

DENSE_LIMIT = 2000
"""States up to which a singular system is solved by singular values."""
NOISE = 1e-12
"""Relative singular value that counts as zero: round-off of a few hundred states."""


def static_response(system: LinearPHDAE, output: Array, into: Array) -> Array:
    """Static response ``H(0) = B_outᵀ (R − J)⁺ B_in`` on the null space of G, (p, m).

    J − R has one kernel N from both sides, so that H(0) is finite if NᵀB = 0. A structure that is held without a static
    degree of freedom has H(0) = 0: forces cause no velocity. Raises ValueError if a rigid motion without damping (or an
    integrator) is driven or observed.
    """
    if _is_held(system):
        return np.zeros((output.shape[1], into.shape[1]))
    if system.size > DENSE_LIMIT:
        raise ValueError(
            f"the response at ω = 0 of {system.size} states that can move without strain (or be stressed without load) "
            "is not computed: leave ω = 0 out, or reduce the system first"
        )
    wide = np.hstack([output, into])
    free = eliminate(_with_inputs(system, wide))
    a, b = dense(free.R) - dense(free.J), dense(free.B)
    scale = _scale(dense(free.E).diagonal(), a)
    a, b = scale[:, None] * a * scale, scale[:, None] * b
    own = singular_vectors(a, tolerance=NOISE)
    if np.linalg.norm(own.left_null.T @ b) > 1e-9 * max(float(np.linalg.norm(b)), 1e-300):
        raise ValueError(
            "omega = 0 is a pole of the system: a motion without strain and damping (a rigid one) is driven or seen; "
            "begin at a frequency above 0 rad/s"
        )
    states = own.rows @ ((own.range.T @ b[:, output.shape[1] :]) / own.values[: own.rank, None])
    return b[:, : output.shape[1]].T @ states


def _is_held(system: LinearPHDAE) -> bool:
    """True if every motion that the constraints admit causes strain, so that s = 0 is no pole of the displacements."""
    shifted = Shifted(system)
    if shifted.split is None:
        return False
    try:
        shifted.factor(0.0)
    except Pole:
        return False
    return True


def _with_inputs(system: LinearPHDAE, wide: Array) -> LinearPHDAE:
    """System with other columns of B, which elimination then transforms, too."""
    B = sparse.csr_array(wide) if system.is_sparse else wide
    return LinearPHDAE(
        E=system.E, J=system.J, R=system.R, B=B, G=system.G, constraints=system.constraints, kinetic=system.kinetic
    )


def _scale(energy: Array, a: Array) -> Array:
    """Scaling to energy coordinates; rows without energy are scaled to the size of the others."""
    stores = energy > 0.0
    scale = 1.0 / np.sqrt(np.where(stores, energy, 1.0))
    if np.all(stores) or not np.any(stores):
        return scale
    scaled = np.abs(scale[:, None] * a * scale)
    reference = max(float(scaled[np.ix_(stores, stores)].max(initial=0.0)), 1e-300)
    outer, own = scaled[:, stores].max(axis=1), scaled.diagonal()
    wanted = np.maximum(outer / reference, np.sqrt(own / reference))
    factor: Array = np.where(stores | (wanted == 0.0), 1.0, 1.0 / np.where(wanted > 0.0, wanted, 1.0))
    return scale * factor
