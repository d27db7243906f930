"""The entries of the Jacobian of a step."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.jacobian import add_contacts
from ..decay.step import add_decay
from ..memory.memory import Memory
from ..nodal.jacobian import add_strains
from .couplings import add_constraints, add_products, add_rolling, add_springs, differentiate_vectors
from .jacobian import add_flexible, add_rigid, turn_bodies
from .turned_forces import add_following, add_turned_forces


@kernel
def assemble_step(
    m: Memory,
    axes: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    h: float,
    before: Array,
    after: Array,
) -> None:
    """The entries of the Jacobian at a trial."""
    assemble(m, axes, decay, h, before, after)
    add_following(m, axes, h)
    if len(axes) == 3:
        add_strains(m, h)
    if len(contact) > 0:
        add_contacts(m, axes, contact, h)


@kernel
def assemble(m: Memory, axes: tuple[int, ...], decay: tuple[int, ...], h: float, before: Array, after: Array) -> None:
    """The entries of the Jacobian at a trial, but for those that collocation does without: see assemble_step."""
    m.system_jacobian[:] = 0.0
    add_flexible(m, axes, h)
    turn_bodies(m, axes, decay, h)
    add_rigid(m, axes, decay, h)
    add_turned_forces(m, axes, h)
    differentiate_vectors(m, axes, h)
    add_springs(m, axes, h)
    add_products(m, axes, h)
    add_constraints(m, axes, h, before, after)
    add_rolling(m, axes, h)
    if len(decay) > 0:
        add_decay(m, axes, h)
