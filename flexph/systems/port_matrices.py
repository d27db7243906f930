"""Port matrices B, P, S, N of a system, at a state or over a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array


class PortMatrices(NamedTuple):
    """Port matrices of ``(B − P) u`` in the equations and ``y = (B + P)ᵀz + (S − N) u``.

    B, P (n, m), S = Sᵀ, N = −Nᵀ (m, m), with [[R, P], [Pᵀ, S]] ⪰ 0; P, S, N are None without feed-through. The power
    is yᵀu = zᵀ(B − P)u + 2 zᵀP u + uᵀS u ([dg] remark 2).
    """

    B: Any
    P: Any = None
    S: Any = None
    N: Any = None

    @property
    def of_inputs(self) -> Any:
        """Input matrix B − P (n, m)."""
        return self.B if self.P is None else self.B - self.P

    def flow(self, u: Array) -> Array:
        """Flow of the inputs ``(B − P) u`` (n,)."""
        return self.of_inputs @ u

    def output(self, z: Array, u: Array) -> Array:
        """Outputs ``y = (B + P)ᵀz + (S − N) u`` (m,)."""
        if self.P is None:
            return self.B.T @ z
        return np.asarray((self.B + self.P).T @ z + (self.S - self.N) @ u)

    def dissipated(self, R: Any, z: Array, u: Array) -> float:
        """Dissipated power ``(z, u)ᵀ [[R, P], [Pᵀ, S]] (z, u)`` [W]."""
        own = float(z @ (R @ z))
        return own if self.P is None else own + float(2.0 * (z @ (self.P @ u)) + u @ (self.S @ u))
