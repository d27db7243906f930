"""Reduction of flexible states only, which keeps the rigid states and the multipliers ([flex] eq. (46))."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.subspaces import orthonormal
from ...systems.linear import LinearPHDAE
from ..elimination import null_space_and_redundancy
from ..shifted import Pole, Shifted, Split

Keep = Literal["rigid"] | Sequence[str] | None
FLEXIBLE = ("deformation_rate", "stress")
"""Suffixes of the flexible parts of a body; its other parts are rigid."""
NOISE = 1e-10
"""Flexible part of a vector, relative to the whole, in the root of energy, that counts as round-off."""


@dataclass(frozen=True, eq=False)
class RetainedStates:
    """States p_r that a reduction leaves unchanged, and vectors that the basis of the other states p_f must contain.

    ``leading`` (n,) marks the retained leading unknowns, ``others`` (m,) the retained stresses; ``responses`` (n, k)
    are static deformations p_f under constraint forces Gᵀλ that act on no retained velocity, G_rᵀλ = 0. With them [G_r,
    G_f V_f] has the rank of G for every V_f, so that the reduced multipliers are unique if those of the system are.
    """

    leading: Array
    others: Array
    responses: Array

    @property
    def count(self) -> int:
        """Number of states that are retained in the reduced system."""
        return int(self.leading.sum() + self.others.sum())

    @property
    def least(self) -> int:
        """Least order of a reduced system: the retained states, and one or two states for each of ``responses``."""
        return self.count + self._states * self.responses.shape[1]

    @property
    def _states(self) -> int:
        """Number of states for each vector of the basis: two for a velocity and its stress, else one."""
        return 2 if self.others.size else 1

    def room(self, order: int) -> int:
        """Largest number of vectors, besides ``responses``, for which the reduced system has at most this order."""
        return (order - self.least) // self._states

    def order(self, vectors: Array, weight: Any) -> int:
        """Upper bound of the number of states of the system reduced to vectors (n, k).

        ``weight`` is the matrix of their inner product.
        """
        return self.least + self._states * self.flexible(vectors, weight).shape[1]

    def flexible(self, vectors: Array, weight: Any) -> Array:
        """Vectors (n, k) with zeros at the retained states; those of which only round-off is left are dropped."""
        left = np.where(self.leading[:, None], 0.0, vectors)
        size = weight.diagonal()
        share = size @ left**2 > NOISE**2 * (size @ vectors**2)
        return left[:, share]

    def velocities(self, vectors: Array, weight: Any) -> Array:
        """Basis (n, r) of the leading unknowns: unit vectors of the retained ones, and an orthonormal basis for p_f.

        The latter spans ``responses`` and the ``vectors`` with zeros at the retained states.
        """
        basis = orthonormal(np.hstack([self.responses, self.flexible(vectors, weight)]), weight)
        return np.hstack([units(self.leading), basis])


def units(chosen: Array) -> Array:
    """Unit vectors (n, k) of the entries at which the mask ``chosen`` (n,) is true."""
    vectors = np.zeros((len(chosen), int(chosen.sum())))
    vectors[chosen] = np.eye(vectors.shape[1])
    return vectors


def retained_states(shifted: Shifted, keep: Keep) -> RetainedStates | None:
    """Retained states of a system by the names of their parts; None without names.

    Raises ValueError for unknown names, for a system that was eliminated or reduced, if nothing is left to reduce, and
    if states that are not retained move rigidly and constraints act on them alone.
    """
    if keep is None:
        return None
    places, parts = _places(shifted.system, keep), shifted.split
    if parts is None:
        leading, others = places, np.zeros(0, dtype=bool)
    else:
        leading, others = places[parts.velocities], places[parts.stresses]
    return RetainedStates(leading, others, _responses(shifted, places, leading))


def _places(system: LinearPHDAE, keep: Literal["rigid"] | Sequence[str]) -> Array:
    """True for each retained state (n,), from the names of parts to keep.

    Raises ValueError for unknown names, a system that was eliminated or reduced, and if nothing is left to reduce.
    """
    if system.lift is not None and system.lift.shape != (system.size, system.size):
        raise ValueError("keep needs the states that parts names: use the system before elimination")
    names = _rigid(system) if keep == "rigid" else _names(keep)
    places = np.zeros(system.size, dtype=bool)
    for name in names:
        places[check.lookup("part", name, system.parts)] = True
    if places.all():
        raise ValueError("keep must leave states to reduce: it names all of them")
    return places


def _names(keep: Sequence[str]) -> Sequence[str]:
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise ValueError(f"keep must be 'rigid' or a list of names of parts, got {keep!r}")
    return keep


def _rigid(system: LinearPHDAE) -> list[str]:
    flexible = [name for name in system.parts if name.rpartition(".")[2] in FLEXIBLE]
    if not flexible:
        listed = ", ".join(map(repr, system.parts)) or "none"
        raise ValueError(f"keep='rigid' needs parts of flexible bodies, such as 'rod.stress', the system has {listed}")
    return [name for name in system.parts if name not in flexible]


def _responses(shifted: Shifted, places: Array, leading: Array) -> Array:
    """Static responses K_ff⁻¹G_fᵀY of the flexible states to constraint forces that act on no retained state.

    They are leading unknowns (n, k); Y is a basis of all λ with G_rᵀλ = 0. ``places`` marks the retained states,
    ``leading`` the leading unknowns among them. If the system does not split, E_ff⁻¹ replaces K_ff⁻¹.
    """
    system, G = shifted.system, sparse.csr_array(shifted.system.G)
    if not G.shape[0]:
        return np.zeros((len(leading), 0))
    unfelt = null_space_and_redundancy(G[:, np.flatnonzero(places)].T)[0]
    responses = np.zeros((len(leading), unfelt.shape[1]))
    if unfelt.shape[1]:
        free = np.flatnonzero(~places)
        load = (G[:, free].T @ unfelt).toarray()
        if shifted.split is None:
            responses[free] = _solved(system.E[free][:, free], load)
        else:
            responses[~leading] = _static(system, free, load)
    return responses


def _static(system: LinearPHDAE, free: Array, load: Array) -> Array:
    """Static displacements (n_f, k) of the states ``free`` under loads on them, with all other states held at zero.

    Raises ValueError if they can move rigidly.
    """
    E, J = (a[free][:, free] for a in (system.E, system.J))
    assert system.kinetic is not None
    moving = system.kinetic[free]
    inner = Shifted(LinearPHDAE(E=E, J=J, kinetic=moving))
    try:
        return inner.factor(0.0)(inner.padded(load[moving]))[: inner.size]
    except Pole:
        raise ValueError(
            "keep must name all parts that move rigidly: without support, the others have no static displacement under "
            "the forces of constraints"
        ) from None


def _solved(E: Any, load: Array) -> Array:
    try:
        solution: Array = splu(sparse.csc_array(E)).solve(load)
    except RuntimeError:
        raise ValueError("E must be positive definite: there is a motion without energy; condense it first") from None
    return solution


def kept_basis(parts: Split, velocities: Array, stresses: Array, others: Array) -> tuple[Array, Array]:
    """Basis diag(1, V_f) of all states, which keeps the retained states, and a mask of its velocities.

    The columns are ``velocities``, which are [1, V_f] for velocities, then unit vectors of the retained stresses,
    marked by ``others``, and then the ``stresses`` of V_f.
    """
    v, retained = velocities.shape[1], units(others)
    basis = np.zeros((len(parts.velocities) + len(parts.stresses), v + retained.shape[1] + stresses.shape[1]))
    basis[parts.velocities, :v] = velocities
    basis[np.ix_(parts.stresses, np.arange(v, v + retained.shape[1]))] = retained
    basis[np.ix_(parts.stresses[~others], np.arange(v + retained.shape[1], basis.shape[1]))] = stresses
    return basis, np.arange(basis.shape[1]) < v
