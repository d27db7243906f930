"""Strains of rods, cables and solids of finite strain: products over the lengths of directors.

    ε = w Π m_i m_j − ε₀,  m = 1/s,  s = √n,  n = d·d
    Δε = w(P̄ΔΠ + Π̄ΔP),  P = m_i m_j,  ΔP = m̄_jΔm_i + m̄_iΔm_j,  Δm = −Δn/(s₀s₁(s₀ + s₁))

Stresses σ = C⁻¹ε act on the products by these exact gradients. Of a stored energy ψ(E) the mean stress is its discrete
gradient: Gauss' rule along the way of the strains, corrected so that S̃·ΔE = Δψ. A law a(t)V(ε) by a schedule has ā in
its mean stress.
"""

from typing import Any, NamedTuple

import numpy as np

from .kinematics import Ends
from .numbers import add_up, dot
from .system import dense

NODES = 0.5 + np.sqrt(0.15) * np.array([-1.0, 0.0, 1.0])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
"""Gauss' rule of three points on [0, 1]."""


class Strained(NamedTuple):
    """Strains at both ends of a step (e,), and their exact gradients by Π and by both squares of directors."""

    strain: Ends
    gradient: Any  # (3, e)


def strained(rows, product):
    """Strains over a step from the products at both ends."""
    value, n, m = (Ends(*(_taken(p, own) for p in product)) for own in (rows.product, rows.first, rows.second))
    a, b = (Ends(np.sqrt(square.before), np.sqrt(square.after)) for square in (n, m))  # lengths of the directors
    P = Ends(1.0 / (a.before * b.before), 1.0 / (a.after * b.after))
    strain = Ends(*(rows.factor * v * p - rows.reference for v, p in zip(value, P, strict=True)))
    by_first = value.mean * _mean_inverse(b) * _slope(a)
    by_second = value.mean * _mean_inverse(a) * _slope(b)
    return Strained(strain, rows.factor * np.array([P.mean, by_first, by_second]))


def strains(rows, product):
    """ε of products (p,) at a state, (e,)."""
    return strained(rows, Ends(product, product)).strain.after


def _taken(product, own):
    """Products of the rows; 1 where a row has no director."""
    return np.append(product, 1.0)[own]


def _mean_inverse(length):
    """The mean of 1/s over a step."""
    return 0.5 * (1.0 / length.before + 1.0 / length.after)


def _slope(length):
    """Δm/Δn of m = 1/s and n = s²."""
    return -1.0 / (length.before * length.after * (length.before + length.after))


def stresses(rows, strain, factor):
    """σ = C⁻¹ε at strains (e,), or ∂ψ/∂E of stored energies times the factors of their schedules (laws,)."""
    stress = dense(rows.stiffness) @ strain
    for part, a in zip(rows.laws, factor, strict=True):
        stress[part.rows] = a * evaluated(part.law, part.strain(strain))[1]
    return stress


def mean_stresses(rows, own, given, stress, viscosity):
    """σ̃ (e,) of a step, from the strains over it, the stresses at both ends and β/h of the rows."""
    mean = stress.mean + viscosity * stress.change
    if rows.laws:
        viscous = viscosity * (dense(rows.of_undeformed) @ own.strain.change)
    for part, a in zip(rows.laws, given.strain_factor.mean, strict=True):
        E = Ends(*map(part.strain, own.strain))
        mean[part.rows] = a * discrete_gradient(part.law, E) + viscous[part.rows]
    return mean


def evaluated(law, strain):
    """ψ (k,) and ∂ψ/∂E (k, c) of a stored energy, complex where the strains (k, c) are."""
    at = law.at(strain.real)
    if not np.iscomplexobj(strain):
        return at.energy, at.stress
    turned = np.einsum("kij,kj->ki", at.tangent, strain.imag)
    return at.energy + 1j * dot(at.stress, strain.imag), at.stress + 1j * turned


def discrete_gradient(law, E):
    """S̃ (k, c) with S̃·ΔE = Δψ."""
    energy = Ends(evaluated(law, E.before)[0], evaluated(law, E.after)[0])
    mean = sum(w * evaluated(law, E.before + t * E.change)[1] for t, w in zip(NODES, WEIGHTS, strict=True))
    missed = energy.change - dot(mean, E.change)
    return mean + (missed / dot(E.change, E.change))[:, None] * E.change


def strain_forces(system, way, mean_stress):
    """Forces on products (p,) of the mean stresses of strain rows among all (m,)."""
    rows, force = system.strain_rows, np.zeros(system.vectors.first.size)
    own, stress = strained(rows, way.product), mean_stress[rows.stress]
    for index, gradient in zip((rows.product, rows.first, rows.second), own.gradient, strict=True):
        real = index >= 0
        force = force - add_up(index[real], (gradient * stress)[real], force.size)
    return force
