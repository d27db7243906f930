"""Compiled linear algebra of contacts coupled by their bodies, with a factor in body velocities instead of D.

Impulses Λ change the velocities z of the bodies, n each, and the rates y of the contacts,

    z = Σ P (Λ − Λ₀),    y = y₀ + R z,

with blocks P and R of each contact at its two bodies. The steps of all methods have the form ΔΛ = h − J Δy, with J
(r, r) of each contact. The system to solve is (I + P J R) Δz = P h, with 3 velocities for each body in the plane and 6
in space; it is banded if neighbouring bodies have near numbers. In functions z is ``s.z``, J ``s.gain``, h ``s.pull``.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from ...numerics.algebra.band import factor as factor_band
    from ...numerics.algebra.band import solve as solve_band
    from ...numerics.loops.views import fill
    from .problem import Chain, Coupled


X = cython.declare(cython.Py_ssize_t, 0)
RATES = cython.declare(cython.Py_ssize_t, 1)
CHANGE = cython.declare(cython.Py_ssize_t, 2)
BEST = cython.declare(cython.Py_ssize_t, 3)
TRIED = cython.declare(cython.Py_ssize_t, 4)
KEPT = cython.declare(cython.Py_ssize_t, 5)
CENTRE = cython.declare(cython.Py_ssize_t, 6)
NOTHING = cython.declare(cython.Py_ssize_t, 7)
POINT = cython.declare(cython.Py_ssize_t, 8)
"""Rows of ``Chain.vectors``; row NOTHING stays zero."""


def add_impulses(p: Coupled, x: Array, given: Array, s: Chain) -> None:
    """Write z = Σ P (x − given) into ``s.z``."""
    c = p.friction.size
    fill(s.z, 0.0)
    for k in range(c):
        for i in range(p.rows):
            add_impulse(p, k, i, x[i * c + k] - given[i * c + k], s)


def add_impulse(p: Coupled, k: int, i: int, impulse: float, s: Chain) -> None:
    """Add the change of velocities by an impulse in row i of contact k to z."""
    n = p.rate.shape[2]
    if impulse != 0.0:
        for e in range(2):
            b = p.side[k][e]
            if b >= 0:
                for a in range(n):
                    s.z[b * n + a] += p.answer[2 * k + e][i][a] * impulse


def rate_change(p: Coupled, k: int, i: int, s: Chain) -> float:
    """Rate R z of contact k in row i."""
    n = p.rate.shape[2]
    total = 0.0
    for e in range(2):
        b = p.side[k][e]
        if b >= 0:
            for a in range(n):
                total += p.rate[2 * k + e][i][a] * s.z[b * n + a]
    return total


def rates_of(p: Coupled, x: Array, out: Array, s: Chain) -> None:
    """Write the rates y = y₀ + R z at impulses x into ``out``."""
    c = p.friction.size
    add_impulses(p, x, p.given, s)
    for k in range(c):
        for i in range(p.rows):
            out[i * c + k] = p.b[i * c + k] + rate_change(p, k, i, s)


def solve_steps(p: Coupled, out: Array, s: Chain) -> bool:
    """Write the step ΔΛ for J and h into ``out``; return False if the system is singular."""
    c = p.friction.size
    pull = s.pull
    if not (s.made[0] > 0 and _is_kept(p, s)):
        s.made[0] = 0
        _assemble(p, s)
        if not factor_band(s.band, s.pivot, s.half):
            return False
        s.made[0] = 1
        for k in range(c):
            for i in range(p.rows):
                for j in range(p.rows):
                    s.kept_gain[k][i][j] = s.gain[k][i][j]
    add_impulses(p, pull, s.vectors[NOTHING], s)
    solve_band(s.band, s.pivot, s.half, s.z)
    for k in range(c):
        for i in range(p.rows):
            out[i * c + k] = pull[i * c + k]
        for j in range(p.rows):
            if _affects(p, k, j, s):
                rate = rate_change(p, k, j, s)
                for i in range(p.rows):
                    out[i * c + k] -= s.gain[k][i][j] * rate
    return True


def _affects(p: Coupled, k: int, j: int, s: Chain) -> bool:
    """True if rate j of contact k affects its impulses."""
    acts = cython.declare(cython.bint)
    acts = False
    for i in range(p.rows):
        acts = acts or s.gain[k][i][j] != 0.0
    return acts


def _is_active(p: Coupled, k: int, s: Chain) -> bool:
    """True if any rate of contact k affects its impulses, as it does where the contact is closed."""
    felt = cython.declare(cython.bint)
    felt = False
    for j in range(p.rows):
        felt = felt or _affects(p, k, j, s)
    return felt


def _is_kept(p: Coupled, s: Chain) -> bool:
    """True if the current factor belongs to J."""
    for k in range(p.friction.size):
        for i in range(p.rows):
            for j in range(p.rows):
                if s.gain[k][i][j] != s.kept_gain[k][i][j]:
                    return False
    return True


def _assemble(p: Coupled, s: Chain) -> None:
    """Assemble I + P J R as a band matrix, stored by rows."""
    n = p.rate.shape[2]
    half = s.half
    fill(s.band, 0.0)
    for i in range(s.band.shape[0]):
        s.band[i][half] = 1.0
    for k in range(p.friction.size):
        for e in range(2 if _is_active(p, k, s) else 0):
            for f in range(2):
                if p.side[k][e] >= 0 and p.side[k][f] >= 0:
                    _add(p, k, (e, f), n, half, s)


def _add(p: Coupled, k: int, ends: tuple[int, int], n: int, half: int, s: Chain) -> None:
    """Add the block P J R of contact k between two of its bodies to the band matrix."""
    e, f = ends
    first = p.side[k][e] * n
    other = p.side[k][f] * n
    r = p.rows
    for j in range(r):
        for a in range(n):
            share = 0.0
            for i in range(r):
                share += p.answer[2 * k + e][i][a] * s.gain[k][i][j]
            if share != 0.0:
                for d in range(n):
                    s.band[first + a][other + d - first - a + half] += share * p.rate[2 * k + f][j][d]
