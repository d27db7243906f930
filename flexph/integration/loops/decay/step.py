"""Steps that lose energy: the coefficients of a step, σ̃, the rates at the end, and the Jacobian, body by body."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....kernels.convergence.rules import rounded
    from ..memory.memory import Memory
    from .banded import end_rates as rates_banded
    from .banded import prepare as prepare_banded
    from .banded import soften as soften_banded
    from .banded_jacobian import assemble as add_banded
    from .full import end_rates as rates_full
    from .full import prepare as prepare_full
    from .full import soften as soften_full
    from .full_jacobian import add_decay as add_full


def prepare(m: Memory, dim: int, length: float) -> None:
    """What depends on the length of steps alone, unless it is known."""
    h = rounded(length)
    if m.decay_length[0] == h:
        return
    m.decay_length[0] = h
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            prepare_full(m, b, h)
        elif m.filter_rows[b] > 0:
            prepare_banded(m, dim, b, h)


def soften(m: Memory, dim: int) -> None:
    """Add ½AΔσ to σ̃."""
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            soften_full(m, b)
        elif m.filter_rows[b] > 0:
            soften_banded(m, dim, b)


def end_rates(m: Memory, dim: int) -> None:
    """ω₁ and u̇₁ from 2ŵ − w₀, which stands in their place."""
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            rates_full(m, dim, b)
        elif m.filter_rows[b] > 0:
            rates_banded(m, dim, b)


def add_decay(m: Memory, dim: int, h: float) -> None:
    """What the Jacobian gains; for banded bodies their matrices, which are eliminated later."""
    for b in range(m.inertia_mass.size):
        if m.vibration_size[b] > 0:
            add_full(m, dim, h, b)
        elif m.filter_rows[b] > 0:
            add_banded(m, dim, h, b)
