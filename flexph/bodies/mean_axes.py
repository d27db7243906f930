"""Change to mean axes: the mean rigid motion of the deformation is transferred to the frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array
from ..numerics.factors.low_rank import Bordered, placed
from ..numerics.memo import Memo, once
from ..numerics.rotations import cross, spins
from ..systems.linear import LinearPHDAE
from .body import Body, LoadPort, Port
from .fields import View
from .inertia import Inertia

FILLED = 1000
"""Number of coordinates up to which mass integrals about mean axes are full; above, the shift is kept separately."""


def about_mean_axes(body: Body) -> Body:
    """Body about mean axes (Tisserand), with ∫ρu = 0 and ∫ρ(X − c) × u = 0.

        φ̃ = φ − R A,   A = (∫ρ RᵀR)⁻¹ ∫ρ Rᵀφ,   R(X) = [1, (·) × (X − c)]

    A (d + s, n) is the mean rigid motion of the coordinates, including rotary inertia of sections. Strains are
    unchanged, as rigid motions have none; R A is subtracted in ports, loads and the view. The mass integrals ∫ρφ̃φ̃ᵀ
    differ from those of the body by a rank of at most d(1 + d) + s; above 1000 coordinates this shift is kept
    separately (:class:`flexph.numerics.factors.low_rank.Bordered`). Frequencies are unchanged; in motion, the linear
    strain is then relative to the mean axes. Raises ValueError for a rigid body, and for von Kármán strain, whose
    slopes turn with the frame.
    """
    if body.elasticity is None or body.elasticity.slopes.shape[0]:
        kind = "is rigid" if body.elasticity is None else "has von Kármán strain"
        raise ValueError(f"body must be flexible with linear strain for mean axes, but this one {kind}")
    shift = _Shift(body)
    return replace(
        body,
        inertia=shift.inertia(),
        ports={name: shift.port(port) for name, port in body.ports.items()},
        loads={name: shift.load(load) for name, load in body.loads.items()},
        view=None if body.view is None else shift.view(body.view),
        section_rotation=shift.turned(body.section_rotation),
        unshifted=body if body.size > FILLED else None,
    )


def unshifted(system: LinearPHDAE, bodies: Mapping[str, Body]) -> LinearPHDAE:
    """Linear system whose states refer to mean axes, from one whose bodies have their original axes.

        v_P = v_P' + R(0) A u̇,  ω = ω' + A_r u̇

    v_P' and ω' are the velocities of the original axes, A is the mean rigid motion of the coordinates (see
    :func:`about_mean_axes`) and A_r its rows of rotation.

    ``bodies`` are the bodies about mean axes, by name; the names of the parts of the system begin with these. Only the
    matrix ``lift`` changes, which maps the vector x of the system to its named states, so that E, J and R stay sparse.
    """
    size = system.size if system.lift is None else system.lift.shape[0]
    change = sparse.eye_array(size, format="csr")
    for name, body in bodies.items():
        if body.unshifted is not None:
            shift = _Shift(body.unshifted)
            moves = np.vstack([shift.at(np.zeros((1, body.dim))) @ shift.motion, shift.motion[body.dim :]])
            corner = (system.parts[f"{name}.velocity"].start, system.parts[f"{name}.deformation_rate"].start)
            change = change + placed(moves, corner, (size, size))
    return replace(system, lift=sparse.csr_array(change if system.lift is None else change @ system.lift))


@dataclass(frozen=True)
class _Shift(Memo):
    """Displacement R A u that the change of a body to mean axes moves from its deformation to its frame.

    R(X) are the rigid motions at a point X, A (d + s, n) maps the coordinates u to their mean rigid motion. The rows of
    A are combinations of the rows of L (r, n) with small r: the integrals ∫ρφ_i and ∫ρφ_i X of the shapes φ_i, and the
    spin integrals of sections.
    """

    body: Body

    @property
    def given(self) -> Inertia:
        """Mass integrals of the body before the change."""
        return self.body.inertia

    @once
    def rows(self) -> Array:
        """Rows L (r, n): integrals ∫ρφ_i (1, X), and spin integrals of sections."""
        g = self.given
        moments = np.concatenate([g.shape_first[:, None], g.shape_lever], axis=1)
        return np.vstack([moments.reshape(-1, g.size), g.spin_shape])

    @once
    def fields(self) -> Array:
        """Coefficients (d + s, d, 1 + d) of the rigid motions R_ki = Σ_l fields_kil Y_l in Y = (1, X).

        k counts the rigid motions, i the components of the displacement.
        """
        d, c = self.given.dim, self.given.centre
        turning = cross(d)
        moving = np.concatenate([np.eye(d)[:, :, None], np.zeros((d, d, d))], axis=2)
        return np.concatenate([moving, np.concatenate([-(turning @ c)[:, :, None], turning], axis=2)])

    @once
    def second(self) -> Array:
        """Integrals ∫ρ Y Yᵀ (1 + d, 1 + d) of Y = (1, X)."""
        g = self.given
        return np.block([[np.full((1, 1), g.mass), g.first[None]], [g.first[:, None], g.second]])

    @once
    def weights(self) -> Array:
        """Matrix W (d + s, r) in A = W L: coefficients of the rows of L in the mean rigid motions A."""
        g = self.given
        d, s = g.dim, spins(g.dim)
        momenta = np.zeros((d + s, len(self.rows)))
        momenta[:, : d * (1 + d)] = self.fields.reshape(d + s, -1)
        momenta[d:, d * (1 + d) :] = np.eye(s)
        return np.vstack([momenta[:d] / g.mass, np.linalg.solve(self.body.moments, momenta[d:])])

    @once
    def motion(self) -> Array:
        """Matrix A (d + s, n) from the coordinates u to their mean rigid motion."""
        return self.weights @ self.rows

    def inertia(self) -> Inertia:
        """Mass integrals of the body after the change, with the shapes φ̃ = φ − R A."""
        g, d = self.given, self.given.dim
        moved = np.einsum("kil,lj->kij", self.fields, self.second[:, 1:])  # ∫ρ R_ki X_j
        turned = self.weights[d:]
        spin = np.zeros((len(turned), len(self.rows)))
        spin[:, -len(turned) :] = np.eye(len(turned))
        both = spin.T @ turned
        return replace(
            g,
            shape_first=np.zeros_like(g.shape_first),
            shape_lever=g.shape_lever - np.einsum("kij,kn->ijn", moved, self.motion),
            shape_pair=tuple(
                tuple(self._joined(g.shape_pair[i][j], self._pair(i, j)) for j in range(d)) for i in range(d)
            ),
            spin_shape=g.spin_shape - g.spin @ self.motion[d:],
            spin_pair=self._joined(g.spin_pair, turned.T @ g.spin @ turned - both - both.T),
        )

    def _pair(self, i: int, j: int) -> Array:
        """Difference ∫ρφ̃_iφ̃_j − ∫ρφ_iφ_j of components i and j, as the matrix Q (r, r) in LᵀQ L."""
        first, second = self._moments_with_motion(i, j), self._moments_with_motion(j, i)
        both = np.einsum("kl,lm,qm->kq", self.fields[:, i], self.second, self.fields[:, j])  # ∫ρ R_ki R_qj
        a = self.weights
        return a.T @ both @ a - first.T @ a - a.T @ second

    def _moments_with_motion(self, i: int, j: int) -> Array:
        """Integrals ∫ρφ_i R_kj of components i, j with rigid motions k, as coefficients (d + s, r) of the rows L."""
        d = self.given.dim
        matrix = np.zeros((len(self.fields), len(self.rows)))
        matrix[:, i * (1 + d) : (i + 1) * (1 + d)] = self.fields[:, j]
        return matrix

    def _joined(self, matrix: Any, core: Array) -> Any:
        bordered = Bordered(sparse.csr_array(matrix), self.rows.T @ core, self.rows)
        return bordered if self.body.size > FILLED else bordered.filled()

    def at(self, points: Array) -> Array:
        """Rigid motions R at the points (p, d), as a matrix (p·d, d + s)."""
        ones = np.hstack([np.ones((len(points), 1)), points])
        return np.einsum("kil,pl->pik", self.fields, ones).reshape(-1, len(self.fields))

    def port(self, port: Port) -> Port:
        """Copy of a port of the body whose displacements and rotations are relative to the mean axes."""
        shape = sparse.csr_array(port.shape.toarray() - self.at(port.position[None]) @ self.motion)
        return Port(port.position, shape, self.turned(port.rotation))

    def load(self, load: LoadPort) -> LoadPort:
        """Copy of a load port of the body whose displacements are relative to the mean axes."""
        return replace(load, shapes=self._relative_displacements(load.shapes, load.positions))

    def view(self, view: View) -> View:
        """Copy of a view of the body whose displacements are relative to the mean axes."""
        return replace(view, shape=self._relative_displacements(view.shape, view.points))

    def _relative_displacements(self, shape: Any, points: Array) -> Any:
        """Shapes (p·d, n) of points relative to the mean axes, from their shapes relative to the frame."""
        bordered = Bordered(sparse.csr_array(shape), -self.at(points), self.motion)
        return bordered if self.body.size > FILLED else bordered.filled()

    def turned(self, rotation: Any) -> Any:
        """Rotations (k·s, n) of sections relative to the mean axes, from those relative to the frame, ``rotation``.

        The result is None for a section without a rotation, whose ``rotation`` is None.
        """
        if rotation is None:
            return None
        turns = self.motion[self.given.dim :]
        return sparse.csr_array(rotation.toarray() - np.tile(turns, (rotation.shape[0] // len(turns), 1)))
