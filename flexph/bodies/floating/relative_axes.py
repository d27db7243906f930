"""Rotation between the axes of two floating bodies, for interconnections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arguments import checked
from ...numerics.arrays import Array, block_diag
from ...numerics.rotations import entry_count, from_entries, spins
from ...systems.nonlinear import PHDAE

DIMENSIONS = {entry_count(dim): dim for dim in (2, 3)}
UNITS = {dim: from_entries(np.eye(count), dim) for count, dim in DIMENSIONS.items()}
"""Matrices of R = Σ_e (stored entry e) UNITS[dim][e]."""


@dataclass(frozen=True)
class RelativeAxes:
    """Function ``C = R₁ᵀR₂`` of the states of two bodies, and its derivative ``slope``; see :func:`relative_axes`.

    Parameters
    ----------
    dim : int
        Dimension, 2 or 3.
    rotations : tuple of slice
        Slices of the stored entries of R₁ and R₂ in the states of the systems.
    sizes : tuple of int
        Numbers of states of the systems.
    torques : bool
        True if C includes torques, after the forces.
    """

    dim: int
    rotations: tuple[slice, slice]
    sizes: tuple[int, int]
    torques: bool = False

    def __call__(self, x1: Array, x2: Array) -> Array:
        """Matrix C, (d, d) for forces, (d + s, d + s) with torques."""
        one, two = (from_entries(x[own], self.dim) for x, own in zip((x1, x2), self.rotations, strict=True))
        C = one.T @ two
        if not self.torques:
            return C
        return block_diag(C, np.ones((1, 1)) if self.dim == 2 else C)

    def slope(self, x1: Array, x2: Array) -> Array:
        """Derivative ∂C/∂(x₁, x₂)."""
        units, d = UNITS[self.dim], self.dim
        one, two = (from_entries(x[own], d) for x, own in zip((x1, x2), self.rotations, strict=True))
        width = d + spins(d) if self.torques else d
        slope = np.zeros((width, width, sum(self.sizes)))
        first, second = self.rotations
        moved = slice(self.sizes[0] + second.start, self.sizes[0] + second.stop)
        for block in (slice(0, d), slice(d, width)) if self.torques and d == 3 else (slice(0, d),):
            slope[block, block, first] = (units.transpose(0, 2, 1) @ two).transpose(1, 2, 0)
            slope[block, block, moved] = (one.T @ units).transpose(1, 2, 0)
        return slope


@checked
def relative_axes(first: PHDAE, second: PHDAE, *, torques: bool = False) -> RelativeAxes:
    """Coupling ``C = R₁ᵀR₂`` of ports of two floating bodies, each in its own axes ([flex] eq. (40)).

    Parameters
    ----------
    first, second : PHDAE
        Systems from :func:`floating_body`, each with one part ``rotation`` or ``name.rotation``.
    torques : bool
        True if the ports have torques after the forces: C is then diag(R₁ᵀR₂, 1) in the plane and
        diag(R₁ᵀR₂, R₁ᵀR₂) in space.

    Returns
    -------
    RelativeAxes
        C as a function of both states, with its derivative ``slope``.

    Raises
    ------
    ValueError
        For a system without such a part, or with several.
    """
    spans = [_rotation(name, system) for name, system in (("first", first), ("second", second))]
    counts = {own.stop - own.start for own in spans}
    if len(counts) > 1:
        raise ValueError("first and second must both be planar, or both spatial")
    return RelativeAxes(DIMENSIONS[counts.pop()], (spans[0], spans[1]), (first.size, second.size), torques)


def _rotation(name: str, system: PHDAE) -> slice:
    """Slice of the rotation in the state of a floating body."""
    own = [span for part, span in system.parts.items() if part.rpartition(".")[2] == "rotation"]
    if len(own) != 1 or own[0].stop - own[0].start not in DIMENSIONS:
        raise ValueError(
            f"{name} must have one part 'rotation', like a floating body; its parts are {', '.join(system.parts)}"
        )
    return own[0]
