"""Modal truncation: the lowest undamped modes, and all rigid motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..gram_schmidt import orthonormal
from ..linear import LinearPHDAE
from ..space import Array
from ..spectrum import modes
from .bases import projected
from .shifted import Shifted

ROUNDS = 4
"""Inverse iterations at a hundredth of the lowest frequency: each takes 1e-4 from what is not rigid."""


def modal(system: LinearPHDAE, shifted: Shifted, order: int) -> LinearPHDAE:
    """The system on its rigid motions and lowest undamped modes; see :func:`flexph.reduce`."""
    parts = shifted.split
    if parts is None:
        raise ValueError("method 'modal' needs a system of velocities and stresses (kinetic); take method 'krylov'")
    conservative = replace(system, R=0.0 * system.R, lift=None, parts={})
    found = modes(conservative, order // 2)
    rigid = found.rigid
    if rigid > order:
        raise ValueError(f"order must be at least {rigid}, the number of rigid motions, got {order}")
    basis = np.zeros((shifted.size, 0))
    if rigid:
        basis = _rigid(Shifted(conservative), rigid, float(found.frequencies[0]))
    shapes = found.shapes[parts.velocities].real[:, : (order - rigid) // 2]
    return projected(system, parts, np.hstack([basis, shapes]), rigid)


def _rigid(shifted: Shifted, count: int, lowest: float) -> Array:
    """M-orthonormal rigid motions, by inverse iteration on a block."""
    s = 0.01 * lowest
    solve, n, weight = shifted.factor(s), shifted.size, shifted.weight
    block = np.random.default_rng(0).standard_normal((n, count))
    for _ in range(ROUNDS):
        load = np.zeros((len(shifted.load), count))
        load[:n] = weight @ block
        block = orthonormal(solve(load)[:n], weight)
        if block.shape[1] < count:
            raise ArithmeticError(f"only {block.shape[1]} of {count} rigid motions were found")
    return block
