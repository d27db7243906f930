"""The axes of one floating body in those of another, for interconnections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arguments import checked
from ...numerics.arrays import Array, block_diag
from ...numerics.rotations import entry_count, from_entries, spins
from ...systems.nonlinear import PHDAE

DIMENSIONS = {entry_count(dim): dim for dim in (2, 3)}
UNITS = {dim: from_entries(np.eye(count), dim) for count, dim in DIMENSIONS.items()}
"""The matrices of R = Σ_e (kept entry e) UNITS[dim][e]."""


@dataclass(frozen=True)
class RelativeAxes:
    """``C = R₁ᵀR₂`` of two bodies, a function of both states, and its derivative ``slope``; see :func:`relative_axes`.

    Parameters
    ----------
    dim : int
        2 in the plane, 3 in space.
    rotations : tuple of slice
        The kept entries of R₁ and R₂ in the states of the two systems.
    sizes : tuple of int
        Numbers of their states.
    torques : bool
        Whether C has torques below the forces.
    """

    dim: int
    rotations: tuple[slice, slice]
    sizes: tuple[int, int]
    torques: bool = False

    def __call__(self, x1: Array, x2: Array) -> Array:
        """C, of forces (d, d), with torques (d + s, d + s)."""
        one, two = (from_entries(x[own], self.dim) for x, own in zip((x1, x2), self.rotations, strict=True))
        C = one.T @ two
        if not self.torques:
            return C
        return block_diag(C, np.ones((1, 1)) if self.dim == 2 else C)

    def slope(self, x1: Array, x2: Array) -> Array:
        """∂C/∂(x₁, x₂), by the kept entries of both rotations."""
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
    """The coupling ``C = R₁ᵀR₂`` of ports of two floating bodies, each in its own axes ([flex] eq. (40)).

    Parameters
    ----------
    first, second : PHDAE
        Systems of :func:`floating_body`, each with one part ``rotation`` or ``name.rotation``.
    torques : bool
        Whether the ports have torques, too, after the forces: C is then diag(R₁ᵀR₂, 1) in the plane and
        diag(R₁ᵀR₂, R₁ᵀR₂) in space.

    Returns
    -------
    RelativeAxes
        C, a function of both states, with its derivative ``slope``.

    Raises
    ------
    ValueError
        For a system without such a part, or with several.
    """
    spans = [_rotation(name, system) for name, system in (("first", first), ("second", second))]
    counts = {own.stop - own.start for own in spans}
    if len(counts) > 1:
        raise ValueError("first and second must both be of the plane, or both of space")
    return RelativeAxes(DIMENSIONS[counts.pop()], (spans[0], spans[1]), (first.size, second.size), torques)


def _rotation(name: str, system: PHDAE) -> slice:
    """The part with the rotation of a floating body."""
    own = [span for part, span in system.parts.items() if part.rpartition(".")[2] == "rotation"]
    if len(own) != 1 or own[0].stop - own[0].start not in DIMENSIONS:
        raise ValueError(
            f"{name} must have one part 'rotation', as a floating body has; its parts are {', '.join(system.parts)}"
        )
    return own[0]
