"""Compiled linear algebra of contacts coupled by their bodies, with a matrix over body velocities instead of D.

Impulses Λ change the velocities z of the bodies, n each, and the rates y of the contacts,

    z = Σ P (Λ − Λ₀),    y = y₀ + R z,

with blocks P and R of each contact at its two bodies. The steps of all methods have the form ΔΛ = h − J Δy, with J (r,
r) of each contact. The system to solve is (I + P J R) Δz = P h, with 3 velocities for each body in the plane and 6 in
space; its matrix is banded if neighbouring bodies have near numbers. Λ₀ are the impulses at which the rates are y₀. In
functions z is ``s.z``, J ``s.gain``, h ``s.pull``.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from ...numerics.algebra.band import factor as factor_band
    from ...numerics.algebra.band import solve as solve_band
    from ...numerics.algebra.halves import add_entry, factor_halves, is_of_second, rows_of_first, solve_halves
    from ...numerics.loops.threads import run_both
    from ...numerics.loops.views import fill, part
    from .problem import Chain, Coupled, Side


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
    """Write the velocities z = Σ P (x − Λ₀) of all bodies at impulses x into ``s.z``; ``given`` are Λ₀."""
    c = p.friction.size
    fill(s.z, 0.0)
    for k in range(c):
        for i in range(p.rows):
            add_impulse(p, k, i, x[i * c + k] - given[i * c + k], s)


def add_impulse(p: Coupled, k: int, i: int, impulse: float, s: Chain) -> None:
    """Add the velocities by one impulse, along row i of contact k, to ``s.z``.

    Row 0 is the normal, the following ones are the tangents.
    """
    n = p.rate.shape[2]
    if impulse != 0.0:
        for e in range(2):
            b = p.side[k][e]
            if b >= 0:
                for a in range(n):
                    s.z[b * n + a] += p.answer[2 * k + e][i][a] * impulse


def rate_change(p: Coupled, k: int, i: int, s: Chain) -> float:
    """Change R z of rate i of contact k by the velocities z in ``s.z``."""
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
    """Solve for the step ΔΛ = h − J Δy of the impulses and write it into ``out``; False if the system is singular.

    J and h are ``s.gain`` and ``s.pull``. The last factorisation of I + P J R is used again if J is the same.
    """
    c = p.friction.size
    pull = s.pull
    if not (s.made[0] > 0 and _is_kept(p, s)):
        s.made[0] = 0
        _assemble(p, s)
        if not _factor(s):
            return False
        s.made[0] = 1
        for k in range(c):
            for i in range(p.rows):
                for j in range(p.rows):
                    s.kept_gain[k][i][j] = s.gain[k][i][j]
    add_impulses(p, pull, s.vectors[NOTHING], s)
    _solve(s)
    for k in range(c):
        for i in range(p.rows):
            out[i * c + k] = pull[i * c + k]
        for j in range(p.rows):
            if _affects(p, k, j, s):
                rate = rate_change(p, k, j, s)
                for i in range(p.rows):
                    out[i * c + k] -= s.gain[k][i][j] * rate
    return True


def _factor(s: Chain) -> bool:
    """Factorise the matrix I + P J R in place, in ``s.band``; return False if it is singular."""
    if s.band.shape[0] > s.z.size:
        return factor_halves(s.band, s.pivot, s.half, s.z, s.other, s.made[4])
    return factor_band(s.band, s.pivot, s.half)


def _solve(s: Chain) -> None:
    """Replace the right-hand side in ``s.z`` by the solution for the velocities, with the factors in ``s.band``."""
    if s.band.shape[0] > s.z.size:
        solve_halves(s.band, s.pivot, s.half, s.z, s.other, s.made[4])
    else:
        solve_band(s.band, s.pivot, s.half, s.z)


def _affects(p: Coupled, k: int, j: int, s: Chain) -> bool:
    """True if J has an entry by which rate j of contact k changes its impulses."""
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
    """True if the factorised matrix in ``s.band`` belongs to the J in ``s.gain``."""
    for k in range(p.friction.size):
        for i in range(p.rows):
            for j in range(p.rows):
                if s.gain[k][i][j] != s.kept_gain[k][i][j]:
                    return False
    return True


def _assemble(p: Coupled, s: Chain) -> None:
    """Assemble I + P J R as a band matrix in ``s.band``.

    Two threads assemble a matrix that is stored in two halves.
    """
    first = Side(p, s, 0)
    if s.band.shape[0] > s.z.size:
        second = Side(p, s, 1)
        run_both(_assemble_side, first, second, s.made[4] > 1)
    else:
        _assemble_side(first)


def _assemble_side(side: Side) -> None:
    """Assemble the rows of I + P J R in one half of the matrix, or all rows if it is not stored in halves."""
    p = side.problem
    s = side.space
    n = p.rate.shape[2]
    N = s.z.size
    end = s.band.shape[0]
    if end > N:
        end = rows_of_first(N, s.half)
    fill(part(s.band, end if side.second else 0, s.band.shape[0] if side.second else end), 0.0)
    for i in range(end if side.second else 0, N if side.second else end):
        _add_entry(s, i, i, 1.0)
    for k in range(p.friction.size):
        for e in range(2 if _is_active(p, k, s) else 0):
            for f in range(2):
                i = p.side[k][e] * n
                j = p.side[k][f] * n
                if i >= 0 and j >= 0 and _is_here(side, i, j, n):
                    _add(side, k, (e, f), n)


def _is_here(side: Side, i: int, j: int, n: int) -> bool:
    """True if a block (n, n) whose first entry is (i, j) may have entries in the rows of the half ``side``."""
    N = side.space.z.size
    if side.space.band.shape[0] == N:
        return True
    if side.second:
        return is_of_second(N, side.space.half, i + n - 1, j + n - 1)
    return not is_of_second(N, side.space.half, i, j)


def _add(side: Side, k: int, ends: tuple[int, int], n: int) -> None:
    """Add the block P J R of contact k to the matrix, as far as its entries belong to the half ``side``.

    ``ends`` selects the body of the rows and that of the columns: 0 for the first body of the contact, 1 for the
    second.
    """
    whole = cython.declare(cython.bint)
    p = side.problem
    s = side.space
    e, f = ends
    first = p.side[k][e] * n
    other = p.side[k][f] * n
    r = p.rows
    whole = s.band.shape[0] == s.z.size
    for j in range(r):
        for a in range(n):
            share = 0.0
            for i in range(r):
                share += p.answer[2 * k + e][i][a] * s.gain[k][i][j]
            if share != 0.0:
                for d in range(n):
                    if whole or is_of_second(s.z.size, s.half, first + a, other + d) == side.second:
                        _add_entry(s, first + a, other + d, share * p.rate[2 * k + f][j][d])


def _add_entry(s: Chain, i: int, j: int, value: float) -> None:
    """Add a value to entry (i, j) of the band matrix."""
    if s.band.shape[0] > s.z.size:
        add_entry(s.band, s.z.size, s.half, i, j, value)
    else:
        s.band[i][j - i + s.half] += value
