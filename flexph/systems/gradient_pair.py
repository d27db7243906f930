"""Gradient pairs (E, z) of a Hamiltonian, E(x)ᵀz(x) = ∇H(x), and their defects ([dg] definition 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.differences import CENTRAL

NEAR = 1e-2
"""Distance from the sample at which a discrete gradient pair is checked, relative to the sizes of the states."""
GRADIENT_TOLERANCE = 1e-6
"""Central differences with steps near eps^(1/3) resolve a gradient to about eps^(2/3) = 4e-11 times the curvature;
four digits are left for steep Hamiltonians."""


class GradientPair(NamedTuple):
    """Pair (E, z) with ``E(x)ᵀz(x) = ∇H(x)``."""

    E: Callable[[Array], Any]
    z: Callable[[Array], Array]
    H: Callable[[Array], float]

    def defect(self, x: Array, floor: Array) -> float:
        """See :meth:`flexph.PHDAE.gradient_defect`; ``floor`` (n,) are sizes below which a state counts as small."""
        analytic = self.E(x).T @ self.z(x)
        size = np.maximum(np.abs(x), floor)
        # states with energy are moved on their energy scale, as units differ between entries
        size = np.where(np.abs(x * analytic) > 1e-3 * abs(self.H(x)), np.abs(x), size)
        step = CENTRAL * np.where(size > 0.0, size, 1.0)
        numeric = np.empty(x.size)
        for i in range(x.size):
            up, down = x.copy(), x.copy()
            up[i], down[i] = x[i] + step[i], x[i] - step[i]
            numeric[i] = (self.H(up) - self.H(down)) / (up[i] - down[i])
        # and entries are compared by energy for the same reason
        scale = np.abs(step * numeric).max(initial=0.0) + np.abs(step * analytic).max(initial=0.0)
        noise = np.finfo(float).eps * abs(self.H(x))
        defect = float(np.abs(step * (analytic - numeric)).max(initial=0.0))
        if defect > GRADIENT_TOLERANCE * scale:
            aside = x + NEAR * size
            scale = max(scale, float(np.abs(step * (self.E(aside).T @ self.z(aside))).max()))
        return defect / max(scale, noise, 1e-300)

    def check_means(self, means: Mapping[str, Callable[[Array, Array], Any]], x0: Array, x1: Array) -> None:
        """Raise ValueError unless the means of E and z form a discrete gradient pair from x₀ to x₁."""
        middle = 0.5 * (x0 + x1)
        moved = (means["E"](x0, x1) if "E" in means else self.E(middle)) @ (x1 - x0)
        z = check.array("the mean of z", means["z"](x0, x1), x0.shape)
        change, work = self.H(x1) - self.H(x0), float(z @ moved)
        scale = float(np.abs(z) @ np.abs(moved)) + 1e-6 * abs(self.H(x0))
        if abs(work - change) > GRADIENT_TOLERANCE * scale:
            raise ValueError(
                "the means of E and z must be a discrete gradient pair of H: z̄ᵀĒ(x₁ − x₀) is "
                f"{work:.6g} near the sample, H(x₁) − H(x₀) is {change:.6g}"
            )
