"""The blocks of the Jacobian that couple bodies: by vectors between nodes, their products, and the multipliers."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from ..terms.border import add
from ..terms.nodes import differentiate_node
from .rolling import gain, gain_slopes
from .springs import tangent


@kernel
def differentiate_vectors(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Discrete gradient B and end derivative W of the vectors by the unknowns that move them."""
    for v in range(m.joints_plus.size):
        row = m.border_vector_ptr[v]
        for side in range(2):
            n, sign = (m.joints_plus[v], 1.0) if side == 0 else (m.joints_minus[v], -1.0)
            if n >= 0:
                row = differentiate_node(m, axes, h, n, sign, row)


@kernel
def add_springs(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """−h βᵀ T γ with the tangents T of the spring-dampers."""
    lengths, components = m.joints_length_product.size, m.joints_component_product.size
    for i in range(m.joints_stiffness.size):
        tangent(m, i, h, m.at_product, m.end_product, m.system_tangent)
        if i < lengths:
            p = m.joints_length_product[i]
            _add_stiffness(m, axes, h, m.system_tangent[0, 0], p, p)
        elif i < lengths + components:
            p = m.joints_component_product[i - lengths]
            _add_stiffness(m, axes, h, m.system_tangent[0, 0], p, p)
        else:
            a = i - lengths - components
            p, q = m.joints_sine_product[a], m.joints_cosine_product[a]
            _add_stiffness(m, axes, h, m.system_tangent[0, 0], p, p)
            _add_stiffness(m, axes, h, m.system_tangent[0, 1], p, q)
            _add_stiffness(m, axes, h, m.system_tangent[1, 0], q, p)
            _add_stiffness(m, axes, h, m.system_tangent[1, 1], q, q)


@kernel
def _add_stiffness(m: Memory, axes: tuple[int, ...], h: float, value: float, p: int, q: int) -> None:
    for side in range(2):
        v, other = (m.joints_first[p], m.joints_second[p]) if side == 0 else (m.joints_second[p], m.joints_first[p])
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            left = -h * value * _dot(axes, m.system_B[i], m.trial_mean[other])
            if left == 0.0:
                continue
            for back in range(2):
                u, rest = (
                    (m.joints_first[q], m.joints_second[q]) if back == 0 else (m.joints_second[q], m.joints_first[q])
                )
                for j in range(m.border_vector_ptr[u], m.border_vector_ptr[u + 1]):
                    right = _dot(axes, m.system_W[j], m.end_vector[rest])
                    add(m, m.border_vector_col[i], m.border_vector_col[j], left * right)


@kernel
def _dot(axes: tuple[int, ...], a: Array, b: Array) -> float:
    total = 0.0
    for i in range(len(axes)):
        total += a[i] * b[i]
    return total


@kernel
def add_products(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """The force φ on V·W acts along ½(W₀ + W₁) and ½(V₀ + V₁), which change."""
    for p in range(m.joints_first.size):
        gain = -0.5 * h * m.trial_force[p]
        for side in range(2):
            v, u = (m.joints_first[p], m.joints_second[p]) if side == 0 else (m.joints_second[p], m.joints_first[p])
            for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
                for j in range(m.border_vector_ptr[u], m.border_vector_ptr[u + 1]):
                    value = gain * _dot(axes, m.system_B[i], m.system_W[j])
                    add(m, m.border_vector_col[i], m.border_vector_col[j], value)


@kernel
def add_constraints(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> None:
    """−(c̄ β B)ᵀ and c₁ γ W/h."""
    for term in range(m.joints_term_row.size):
        row, p = m.border_l[m.joints_term_row[term]], m.joints_term_product[term]
        mean, last = 0.5 * (before[term] + after[term]), after[term] / h
        for side in range(2):
            v, other = (m.joints_first[p], m.joints_second[p]) if side == 0 else (m.joints_second[p], m.joints_first[p])
            for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
                column = m.border_vector_col[i]
                add(
                    m,
                    column,
                    row,
                    -mean * _dot(axes, m.system_B[i], m.trial_mean[other]),
                )
                add(
                    m,
                    row,
                    column,
                    last * _dot(axes, m.system_W[i], m.end_vector[other]),
                )


@kernel
def add_rolling(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Forces w Π̄_by λ and torques a λ of constraints on velocities, and how their defects change."""
    for i in range(m.rolling_row.size):
        row, p, q, own = m.border_l[m.rolling_row[i]], m.rolling_product[i], m.rolling_by[i], gain(m, i)
        change, lam = (m.end_product[p] - m.at_product[p]) / h, m.x_lam[m.rolling_row[i]]
        along, across = gain_slopes(m, i)
        _add_row(m, axes, row, p, own, own / h + along * change)
        _add_row(m, axes, row, q, 0.0, across * change)
        _add_stiffness(m, axes, h, across * lam, p, q)
        if along != 0.0:
            _add_stiffness(m, axes, h, along * lam, p, p)
    _add_spins(m, axes)


@kernel
def _add_row(m: Memory, axes: tuple[int, ...], row: int, p: int, mean: float, last: float) -> None:
    """−(mean β B)ᵀ and last γ W of a product."""
    for side in range(2):
        v, other = (m.joints_first[p], m.joints_second[p]) if side == 0 else (m.joints_second[p], m.joints_first[p])
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            column = m.border_vector_col[i]
            add(m, column, row, -mean * _dot(axes, m.system_B[i], m.trial_mean[other]))
            add(m, row, column, last * _dot(axes, m.system_W[i], m.end_vector[other]))


@kernel
def _add_spins(m: Memory, axes: tuple[int, ...]) -> None:
    """Torques −R̄⁻¹a and rows aᵀR₀ of the spins."""
    s = m.rolling_spin_axis.shape[1]
    for i in range(m.rolling_spin_row.size):
        row, b = m.border_l[m.rolling_spin_row[i]], m.rolling_spin_body[i]
        for j in range(s):
            acting, moved = m.rolling_spin_axis[i, j], m.rolling_spin_axis[i, j]
            if s == 3:
                acting, moved = 0.0, 0.0
                for k in range(3):
                    acting += m.trial_inverse[b, j, k] * m.rolling_spin_axis[i, k]
                    moved += m.at_R[b, k, j] * m.rolling_spin_axis[i, k]
            add(m, m.border_w[b, j], row, -acting)
            add(m, row, m.border_w[b, j], moved)
