"""Free vibrations by which steps of the decaying scheme lose energy, and work space of their matrices."""

from __future__ import annotations

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.decay import flexible_mass, free_vibrations
from ...numerics.arrays import Array
from .memory.constants import Constants
from .memory.data import Index, Vibration
from .memory.run_space import DecaySpace


def no_vibration(bodies: int) -> Vibration:
    """Empty arrays of free vibrations, for steps without energy loss."""
    none = [np.zeros(bodies, dtype=np.int64) for _ in range(6)]
    return Vibration(none[0], np.zeros(bodies + 1), *none[1:], *(np.zeros(0) for _ in range(5)))


def vibration(a: Arrays, banded: Array) -> Vibration:
    """Free vibrations of all deformable bodies that are not marked in ``banded`` (b,), in consecutive blocks."""
    bodies = a.flexing[~banded[a.flexing]]
    known, s = free_vibrations(a, bodies), a.n.shape[0]
    size, stresses, n = (np.zeros(len(a.mass), dtype=np.int64) for _ in range(3))
    size[bodies], stresses[bodies] = ([len(getattr(v, k)) for v in known] for k in ("columns", "rows"))
    n[bodies] = size[bodies] - s
    first = a.turning.size * s
    flexible = [v.columns[s:] - first for v in known]
    return Vibration(
        size=size,
        stresses=np.searchsorted(a.body_stress, np.arange(len(a.mass) + 1)),
        at=_starts(size),
        matrix=_starts(size**2),
        mass=_starts(n**2),
        strain=_starts(stresses * size),
        stress=_starts(stresses**2),
        square=_joined([v.squares for v in known]),
        mode=_joined([v.modes for v in known]),
        stressed=_joined([v.stresses for v in known]),
        strained=_joined([v.strains for v in known]),
        inertia=_joined([flexible_mass(a, u) for u in flexible]),
    )


def decay_space(k: Constants) -> DecaySpace:
    """Work space of the decaying scheme, all zeros."""
    v, z, (_, d) = k.vibration, np.zeros, k.inertia.weight.shape
    velocities, matrices, largest = int(v.size.sum()), int((v.size**2).sum()), int(v.size.max(initial=0))
    return DecaySpace(
        *(z(1), z(1), z(matrices), z(matrices), z(velocities), z(matrices), z(velocities, dtype=np.int64)),
        *(z(largest), z(largest**2 + d**2), z(largest**2), z(largest**2), z(largest**2), z((d, d)), z(k.border.l.size)),
    )


def _starts(sizes: Index) -> Index:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def _joined(blocks: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *(b.ravel() for b in blocks)])
