"""Response of single bodies to impulses: inverse masses, and inverse Jacobians of a step."""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import DISTANCE as _DISTANCE
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import fill
    from ..contact.gaps import dot
    from ..mechanics.jacobian import start_spin, turn_bodies
    from ..memory.memory import Memory
    from ..terms.nodes import differentiate_node

DISTANCE = cython.declare(cython.Py_ssize_t, _DISTANCE)


def are_apart(m: Memory) -> bool:
    """True if each body responds to impulses independently of the others, as no joint or spring couples them."""
    return m.strike_apart[0] > 0


def set_inverse_masses(m: Memory, dim: int) -> None:
    """Compute the inverse mass matrix of each body."""
    d = dim
    for b in range(m.inertia_mass.size):
        _begin(m, d, b, 1.0)
        for i in range(m.inertia_J.shape[1]):
            for j in range(m.inertia_J.shape[1]):
                m.strike_elimination[d + i][d + j] = m.inertia_J[b][i][j]
        _invert(m, b)


def set_inverse_jacobians(m: Memory, dim: int, h: float) -> None:
    """Compute the inverse Jacobian of each body in a step of length h [s] at the iterate.

    The coupling between bodies is left out.
    """
    turn_bodies(m, dim, 0, h)
    _turn_nodes(m, dim, h)
    for b in range(m.inertia_mass.size):
        _begin(m, dim, b, 2.0)
        start_spin(m, dim, 0, h, b)
        _add_spin(m, dim, h, b)
        for i in range(m.strike_inverse.shape[1]):
            for j in range(m.strike_inverse.shape[1]):
                m.strike_elimination[i][j] += m.strike_inverse[b][i][j]
        _invert(m, b)


def _begin(m: Memory, d: int, b: int, share: float) -> None:
    """Write [share·M | I] of body b into the augmented matrix, where M has its mass but not its rotational inertia."""
    fill(m.strike_elimination, 0.0)
    for i in range(m.strike_elimination.shape[0]):
        m.strike_elimination[i][m.strike_elimination.shape[0] + i] = 1.0
        if i < d:
            m.strike_elimination[i][i] = share * m.inertia_mass[b]


def _add_spin(m: Memory, dim: int, h: float, b: int) -> None:
    """Add the derivative of the angular momentum defect of body b with respect to ω̄ to the augmented matrix.

    Forces on its nodes are left out (see mechanics.jacobian).
    """
    K = m.strike_elimination
    spin = m.system_spin
    through = m.system_through
    d = dim
    for i in range(spin.shape[0]):
        for j in range(spin.shape[0]):
            for k in range(spin.shape[0]):
                K[d + i][d + j] += through[i][k] * spin[k][j]
    if d == 3:
        for i in range(3):
            j = 3 + (i + 1) % 3
            l = 3 + (i + 2) % 3
            value = 0.5 * h * (m.at_p_r[b][i] + m.end_p_r[b][i])
            for k in range(3):
                value += 0.5 * h * h * m.at_R[b][k][i] * m.trial_torque[b][k]
            K[j][l] += value
            K[l][j] -= value


def _turn_nodes(m: Memory, dim: int, h: float) -> None:
    """Compute the parts of the bodies' Jacobians due to forces on their nodes, and to normals of balls that turn.

    They are written into ``strike.inverse``.
    """
    fill(m.strike_inverse, 0.0)
    d = dim
    n = m.strike_inverse.shape[1]
    for k in range(m.nodes_body.size):
        differentiate_node(m, dim, h, k, 1.0, 0)
        for i in range(d, n):
            torque = m.strike_elimination[0]
            _axis_product(m, dim, m.system_B[i], k, i - d, torque)
            for j in range(d, n):
                m.strike_inverse[m.nodes_body[k]][i][j] += 0.5 * h * dot(dim, torque, m.system_W[j])
    for c in range(m.contacts_kind.size):
        if m.contacts_kind[c] == DISTANCE and m.touch_force[c] != 0.0:
            for end in range(2):
                if m.contacts_node[c][end] >= 0:
                    _turn_ball(m, dim, c, m.contacts_node[c][end], h)


def _axis_product(m: Memory, dim: int, row: Array, k: int, a: int, out: Array) -> None:
    """Write the cross product (R̄⁻ᵀ e_a) × f of axis a of the spin and the force f on node k into ``out``."""
    b = m.nodes_body[k]
    f = m.trial_on_node[k]
    if dim == 2:
        out[0] = -f[1]
        out[1] = f[0]
    else:
        for i in range(3):
            j = (i + 1) % 3
            l = (i + 2) % 3
            out[i] = m.trial_inverse[b][a][j] * f[l] - m.trial_inverse[b][a][l] * f[j]


def _turn_ball(m: Memory, dim: int, c: int, k: int, h: float) -> None:
    """Add −h ∂(F n)/∂v of ball contact c to the Jacobian of the body of node k.

    Only the change of the normal n is included, not that of the force F.
    """
    b = m.nodes_body[k]
    mean = m.touch_mean[c][0]
    end = m.touch_end[c][0]
    apart = fabs(m.touch_before[c] + m.contacts_offset[c]) + fabs(m.touch_after[c] + m.contacts_offset[c])
    gain = -h * m.contacts_sign[c] * m.touch_force[c] / apart
    differentiate_node(m, dim, h, k, 1.0, 0)
    for i in range(m.strike_inverse.shape[1]):
        along = dot(dim, m.system_B[i], mean)
        for j in range(m.strike_inverse.shape[1]):
            value = dot(dim, m.system_B[i], m.system_W[j]) - along * dot(dim, end, m.system_W[j])
            m.strike_inverse[b][i][j] += gain * value


def _invert(m: Memory, b: int) -> None:
    """Invert the left half of the augmented matrix by elimination, and write the result as the inverse of body b."""
    held1 = cython.declare(cython.double)
    A = m.strike_elimination
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if fabs(A[i][k]) > fabs(A[p][k]):
                p = i
        for j in range(2 * n):
            held1 = A[k][j]
            A[k][j] = A[p][j]
            A[p][j] = held1
        scale = 1.0 / A[k][k]
        for j in range(2 * n):
            A[k][j] *= scale
        for i in range(n):
            if i != k:
                share = A[i][k]
                for j in range(2 * n):
                    A[i][j] -= share * A[k][j]
    for i in range(n):
        for j in range(n):
            m.strike_inverse[b][i][j] = A[i][n + j]
