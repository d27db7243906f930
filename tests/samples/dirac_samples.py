"""Random Dirac structures."""

import numpy as np

from flexph.dirac import DiracStructure


def random_structure(seed, n, *, free=0, ports=None, scale=1.0):
    """``{f = J e + G λ, Gᵀe = 0}`` with J of entries about ``scale`` and G of rank ``free``, its equations mixed.

    Then flows and efforts of a random half of the pairs are exchanged: both components of the structures of ℝⁿ occur.
    """
    rng = np.random.default_rng([seed, n, free])
    J, G = rng.standard_normal((n, n)) * scale, rng.standard_normal((n, free))
    q = np.linalg.qr(G, mode="complete")[0]
    kept, one = q[:, free:], q[:, :free]
    F = np.vstack([kept.T, np.zeros((free, n))])
    E = np.vstack([-kept.T @ (J - J.T), one.T])
    swapped = rng.random(n) < 0.5
    F[:, swapped], E[:, swapped] = E[:, swapped].copy(), F[:, swapped].copy()
    mixed = rng.standard_normal((n, n))
    return DiracStructure(mixed @ F, mixed @ E, ports or {})


def ported(seed, sizes, **more):
    """A random structure whose ports have these sizes, by name."""
    ends = np.cumsum(list(sizes.values())).tolist()
    ports = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
    return random_structure(seed, ends[-1], ports=ports, **more)
