"""Energy loss of a step, by bodies with full or banded matrices: matrices, mean stresses, end rates, Jacobian."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....kernels.convergence.rules import rounded
    from ..memory.memory import Memory
    from .banded import add_damping_stresses as soften_banded
    from .banded import end_rates as rates_banded
    from .banded import prepare as prepare_banded
    from .banded_jacobian import assemble as add_banded
    from .full import add_damping_stresses as soften_full
    from .full import end_rates as rates_full
    from .full import prepare as prepare_full
    from .full_jacobian import add_decay as add_full


def prepare(m: Memory, dim: int, length: float) -> None:
    """Compute the matrices that depend only on the step length [s], unless the last ones were for this length."""
    h = rounded(length)
    if m.decay_length[0] == h:
        return
    m.decay_length[0] = h
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            prepare_full(m, b, h)
        elif m.filter_rows[b] > 0:
            prepare_banded(m, dim, b, h)


def add_damping_stresses(m: Memory, dim: int) -> None:
    """Add ½AΔσ, due to the change of the stresses Δσ in the step, to the mean stresses σ̃ of all bodies.

    See kernels.decay.
    """
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            soften_full(m, b)
        elif m.filter_rows[b] > 0:
            soften_banded(m, dim, b)


def end_rates(m: Memory, dim: int) -> None:
    """Replace the rates 2ŵ − w₀ of all bodies in the end state by the rates ω₁ and u̇₁ at the end of the step."""
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            rates_full(m, dim, b)
        elif m.filter_rows[b] > 0:
            rates_banded(m, dim, b)


def add_decay(m: Memory, dim: int, h: float) -> None:
    """Add the terms of numerical loss to the Jacobian of a step of length h [s].

    The terms of banded bodies are in separate matrices, which are eliminated later.
    """
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            add_full(m, dim, h, b)
        elif m.filter_rows[b] > 0:
            add_banded(m, dim, h, b)
