"""Stresses and forces of solids of finite strain in loops, by the formulas of kernels.strains."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import ENERGY as _ENERGY
from ..memory.codes import MEAN as _MEAN
from ..memory.codes import TANGENT as _TANGENT

if not cython.compiled:
    from ....numerics.loops.views import call_one, fill, padded
    from ..memory.memory import Memory
    from .faces import add_face_forces
    from .places import lever, place_solids

MEAN = cython.declare(cython.Py_ssize_t, _MEAN)
ENERGY = cython.declare(cython.Py_ssize_t, _ENERGY)
TANGENT = cython.declare(cython.Py_ssize_t, _TANGENT)


def begin_solids(m: Memory, dim: int) -> None:
    """Compute the deformation gradients at the start of a step; take the stresses there as a guess at its end."""
    place_solids(m, dim, m.at_r, m.at_R, m.solid_at)
    _deformation_gradients(m, dim, m.solid_at, m.solid_before)
    if m.solids_lawful.size > 0:
        _strain(m, dim, m.solid_before, m.solid_first)
    for q in range(m.solid_ahead.shape[0]):
        for k in range(m.solid_ahead.shape[1]):
            m.solid_ahead[q][k] = m.at_sigma[m.solids_stress[q][k]]


def _deformation_gradients(m: Memory, dim: int, place: Array, gradient: Array) -> None:
    """Compute the columns g_I of the deformation gradients of all points, at the positions ``place`` of mesh nodes."""
    for cell in range(m.solids_slope_at.size):
        base = m.solids_place_ptr[cell]
        at = m.solids_slope_at[cell]
        width = padded(m.solids_place_ptr[cell + 1] - base)
        for q in range(m.solids_cell[cell], m.solids_cell[cell + 1]):
            columns = gradient[q]
            fill(columns, 0.0)
            for a in range(base, m.solids_place_ptr[cell + 1]):
                x = place[m.solids_place[a]]
                for column in range(dim):
                    slope = m.solids_slope[at + width * column + a - base]
                    for i in range(dim):
                        columns[column][i] += slope * x[i]
            at += dim * width


def _strain(m: Memory, dim: int, gradient: Array, out: Array) -> None:
    """Compute the strain rows of all points from the columns of their deformation gradients."""
    for q in range(gradient.shape[0]):
        for k in range(m.solids_pair.shape[0]):
            first = gradient[q][m.solids_pair[k][0]]
            second = gradient[q][m.solids_pair[k][1]]
            total = 0.0
            for i in range(dim):
                total += first[i] * second[i]
            out[q][k] = m.solids_factor[q][k] * total - m.solids_reference[q][k]


def strain_solids(m: Memory, dim: int, h: float) -> None:
    """Compute the stresses at the end of a step of length h [s], their changes, and the mean stresses σ̃."""
    place_solids(m, dim, m.end_r, m.end_R, m.solid_end)
    _deformation_gradients(m, dim, m.solid_end, m.solid_after)
    _strain(m, dim, m.solid_after, m.solid_strain)
    rows = m.solids_pair.shape[0]
    for q in range(m.solid_strain.shape[0]):
        for k in range(rows):
            stress = 0.0
            for j in range(rows):
                stress += m.solids_stiffness[q][k][j] * m.solid_strain[q][j]
            i = m.solids_stress[q][k]
            jump = stress - m.at_sigma[i]
            m.end_sigma[i] = stress
            m.trial_jump[i] = jump
            m.trial_stress[i] = m.at_sigma[i] + (0.5 + m.elastic_damping[i] / h) * jump
    if m.solids_lawful.size > 0:
        _evaluate_laws(m, h)


def _evaluate_laws(m: Memory, h: float) -> None:
    """Compute the stresses of rows with a law; their damping is in proportion to the undeformed stiffness."""
    call_one(m.system_python[0], MEAN)
    rows = m.solids_pair.shape[0]
    for q in range(m.solid_strain.shape[0]):
        for k in range(rows):
            i = m.solids_stress[q][k]
            if m.solids_lawful[i]:
                change = 0.0
                for j in range(rows):
                    change += m.solids_viscous[q][k][j] * (m.solid_strain[q][j] - m.solid_first[q][j])
                m.trial_jump[i] = change
                m.trial_stress[i] = m.solid_stress[q][k] + m.elastic_damping[i] / h * change


def add_solid_forces(m: Memory, dim: int) -> None:
    """Add the forces and torques of mean stresses and of loads on faces to the forces and torques on the frames."""
    for q in range(m.solid_stress.shape[0]):
        for k in range(m.solid_stress.shape[1]):
            m.solid_stress[q][k] = m.trial_stress[m.solids_stress[q][k]]
    set_place_forces(m, dim)
    add_face_forces(m, dim)
    add_frame_forces(m, dim)
    if m.solid_torque.shape[0] > 0:
        add_frame_torques(m, dim, m.trial_torque)


def set_place_forces(m: Memory, dim: int) -> None:
    """Compute the forces on mesh nodes that the stresses in ``solid.stress`` exert."""
    fill(m.solid_on, 0.0)
    for cell in range(m.solids_slope_at.size):
        base = m.solids_place_ptr[cell]
        at = m.solids_slope_at[cell]
        width = padded(m.solids_place_ptr[cell + 1] - base)
        for q in range(m.solids_cell[cell], m.solids_cell[cell + 1]):
            _set_column_forces(m, dim, q, m.solid_pulled)
            for a in range(base, m.solids_place_ptr[cell + 1]):
                on = m.solid_on[m.solids_place[a]]
                for j in range(dim):
                    slope = m.solids_slope[at + width * j + a - base]
                    for i in range(dim):
                        on[i] += slope * m.solid_pulled[j][i]
            at += dim * width


def _set_column_forces(m: Memory, dim: int, q: int, out: Array) -> None:
    """Compute the forces on the columns g_I of the deformation gradient at point q, as rows of ``out``.

    A strain row w g_I·g_J − ε₀ with the mean stress σ̃ exerts the force −w σ̃ on its product g_I·g_J.
    """
    for j in range(dim):
        for i in range(dim):
            out[j][i] = 0.0
    for k in range(m.solids_pair.shape[0]):
        half = -0.5 * m.solids_factor[q][k] * m.solid_stress[q][k]
        one = m.solids_pair[k][0]
        other = m.solids_pair[k][1]
        for i in range(dim):
            out[one][i] += half * (m.solid_before[q][other][i] + m.solid_after[q][other][i])
            out[other][i] += half * (m.solid_before[q][one][i] + m.solid_after[q][one][i])


def add_frame_forces(m: Memory, dim: int) -> None:
    """Add the forces on mesh nodes to the forces on their frames."""
    for k in range(m.solids_frame.size):
        b = m.solids_frame[k]
        for i in range(dim):
            m.trial_on_body[b][i] += m.solids_moves[k] * m.solid_on[k][i]


def add_frame_torques(m: Memory, dim: int, torque: Array) -> None:
    """Add the torques of the forces on mesh nodes, with their mean levers, to ``torque`` (b, s), in world axes."""
    for k in range(m.solids_frame.size):
        if m.solids_turns[k]:
            b = m.solids_frame[k]
            on = m.solid_on[k]
            for i in range(1 if dim == 2 else 3):
                if dim == 2:
                    torque[b][0] += lever(m, dim, k, 0) * on[1] - lever(m, dim, k, 1) * on[0]
                else:
                    j = (i + 1) % 3
                    l = (i + 2) % 3
                    torque[b][i] += lever(m, dim, k, j) * on[l] - lever(m, dim, k, l) * on[j]


def predict_solid_stresses(m: Memory, dim: int, h: float) -> None:
    """Write the end stresses after a correction into ``solid.ahead``, linearised about the present ones.

    The correction is one that will be subtracted from the mean velocities.
    """
    if m.solids_lawful.size > 0:
        call_one(m.system_python[0], TANGENT)
    _move_places(m, dim, h)
    rows = m.solids_pair.shape[0]
    for cell in range(m.solids_slope_at.size):
        base = m.solids_place_ptr[cell]
        at = m.solids_slope_at[cell]
        width = padded(m.solids_place_ptr[cell + 1] - base)
        for q in range(m.solids_cell[cell], m.solids_cell[cell + 1]):
            moved = m.solid_pulled  # changes of the columns
            for j in range(dim):
                for i in range(dim):
                    moved[j][i] = 0.0
            for a in range(base, m.solids_place_ptr[cell + 1]):
                on = m.solid_on[m.solids_place[a]]
                for j in range(dim):
                    slope = m.solids_slope[at + width * j + a - base]
                    for i in range(dim):
                        moved[j][i] += slope * on[i]
            at += dim * width
            for k in range(rows):
                one = m.solids_pair[k][0]
                other = m.solids_pair[k][1]
                change = 0.0
                for i in range(dim):
                    change += moved[one][i] * m.solid_after[q][other][i] + moved[other][i] * m.solid_after[q][one][i]
                m.solid_strain[q][k] = m.solids_factor[q][k] * change
            for k in range(rows):
                stress = m.end_sigma[m.solids_stress[q][k]]
                for j in range(rows):
                    stress -= m.solids_stiffness[q][k][j] * m.solid_strain[q][j]
                if m.solids_lawful.size > 0:
                    for j in range(rows):
                        stress -= m.solid_end_slope[q][k][j] * m.solid_strain[q][j]
                m.solid_ahead[q][k] = stress


def _move_places(m: Memory, dim: int, h: float) -> None:
    """Write the motion of mesh nodes due to a correction into ``solid.on``.

    Frames turn by h/(1 + |a|²) R₀(1 + [a]×) δω for a correction δω of the spin, a = ½hω̄.
    """
    for k in range(m.solids_frame.size):
        b = m.solids_frame[k]
        for i in range(dim):
            m.solid_on[k][i] = h * m.solids_moves[k] * m.correction_v[b][i]
        if m.solids_turns[k]:
            _turn_place(m, dim, h, k)


def _turn_place(m: Memory, dim: int, h: float, k: int) -> None:
    """Add the motion of mesh node k that a correction of its frame's spin causes."""
    b = m.solids_frame[k]
    x = m.system_torque
    for i in range(dim):
        x[i] = 0.0
        for j in range(dim):
            x[i] += m.end_R[b][i][j] * m.solids_arm[k][j]
    if dim == 2:
        a = 0.5 * h * m.x_w[b][0]
        turn = h / (1.0 + a * a) * m.correction_w[b][0]
        m.solid_on[k][0] -= turn * x[1]
        m.solid_on[k][1] += turn * x[0]
        return
    a0 = 0.5 * h * m.x_w[b][0]
    a1 = 0.5 * h * m.x_w[b][1]
    a2 = 0.5 * h * m.x_w[b][2]
    w0 = m.correction_w[b][0]
    w1 = m.correction_w[b][1]
    w2 = m.correction_w[b][2]
    scale = h / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    y0 = scale * (w0 + a1 * w2 - a2 * w1)
    y1 = scale * (w1 + a2 * w0 - a0 * w2)
    y2 = scale * (w2 + a0 * w1 - a1 * w0)
    R = m.at_R[b]
    t0 = R[0][0] * y0 + R[0][1] * y1 + R[0][2] * y2
    t1 = R[1][0] * y0 + R[1][1] * y1 + R[1][2] * y2
    t2 = R[2][0] * y0 + R[2][1] * y1 + R[2][2] * y2
    m.solid_on[k][0] += t1 * x[2] - t2 * x[1]
    m.solid_on[k][1] += t2 * x[0] - t0 * x[2]
    m.solid_on[k][2] += t0 * x[1] - t1 * x[0]


def add_law_energies(m: Memory, dim: int, out: Array) -> None:
    """Add the energies of rows with a law, in the present state ``at``, to the energies of the bodies in ``out``."""
    place_solids(m, dim, m.at_r, m.at_R, m.solid_at)
    _deformation_gradients(m, dim, m.solid_at, m.solid_before)
    _strain(m, dim, m.solid_before, m.solid_first)
    fill(m.solid_energy, 0.0)
    call_one(m.system_python[0], ENERGY)
    for b in range(m.solid_energy.size):
        if m.solid_energy[b] != 0.0:
            out[m.ledger_elastic[b]] += m.solid_energy[b]
