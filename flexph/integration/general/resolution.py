"""Resolution of the states of a general system in double precision."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...systems.inputs import Forcing
from ...systems.nonlinear import PHDAE


def shortest_step(system: PHDAE, x: Array, forcing: Forcing, time: float) -> float:
    """Length of a step [s] below which no state can change, for any signs of the terms of its equation.

    A row i of E ẋ = (J − R) z + B u moves E x by at most h t_i, t_i = Σ_j |J − R|_ij |z_j| + |B u|_i, which is rounded
    off if it is below ε/2 of each |E_ij x_j|. States of zero have no round-off, and rows under a varying input have no
    known size: in a system with only such rows, or at rest, all steps are long enough.
    """
    E = sparse.coo_array(system.E(x))
    least = np.full(x.size, np.inf)
    np.minimum.at(least, E.row, np.where(E.data != 0.0, np.abs(E.data * x[E.col]), np.inf))
    terms = abs(system.J(x) - system.R(x)) @ np.abs(system.z(x))
    B, varies = system.B(x), forcing.varying.astype(float)
    terms = np.where(abs(B) @ varies > 0.0, np.inf, terms + np.abs(B @ forcing.at(time)))
    moves = np.isfinite(least) & (terms > 0.0)
    return (
        float(np.min(0.5 * np.finfo(float).eps * least[moves] / terms[moves], initial=np.inf)) if moves.any() else 0.0
    )
