"""Assembly of the Jacobian of a step."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import fill
    from ..contact.jacobian import add_contacts
    from ..decay.step import add_decay
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..nodal.flow import add_flows
    from ..nodal.jacobian import add_strains
    from ..solids.jacobian import add_solids
    from .couplings import (
        add_constraints,
        add_ends,
        add_products,
        add_rolling,
        add_ropes,
        add_springs,
        differentiate_vectors,
    )
    from .curves import add_curves
    from .jacobian import add_flexible, add_rigid, turn_bodies
    from .slips import add_slips
    from .turned_forces import add_following, add_turned_forces


def assemble_step(m: Memory, dim: int, decay: int, contact: int, given: Given) -> None:
    """Assemble the Jacobian of a step at a trial.

    ``given`` are the prescribed values of the step; ``decay`` and ``contact`` are its kinds, see
    ``memory.structures.Kinds``.
    """
    h = given.h
    m.run_length[0] = h
    assemble(m, dim, decay, h, given.before, given.after)
    add_following(m, dim, h)
    add_curves(m, dim, h, True)
    add_slips(m, dim, h)
    if m.strains_stress.size > 0:
        add_strains(m, dim, h)
    if m.flows_mass.size > 0:
        add_flows(m, dim, h)
    if m.solids_frame.size > 0:
        add_solids(m, dim, h)
    if contact > 0:
        add_contacts(m, dim, contact, h)


def assemble(m: Memory, dim: int, decay: int, h: float, before: Array, after: Array) -> None:
    """Assemble the part of the Jacobian at a trial that Gauss collocation also uses: bodies, springs, constraints.

    ``before`` and ``after`` are the coefficients of the constraints at both ends of the step.
    """
    if dim == 2:  # a number for the compiler, see build_loops.py
        _assemble(m, 2, decay, h, before, after)
    else:
        _assemble(m, 3, decay, h, before, after)


def _assemble(m: Memory, dim: int, decay: int, h: float, before: Array, after: Array) -> None:
    """Assemble the part of the Jacobian of :func:`assemble`, with ``dim`` a constant of 2 or 3."""
    fill(m.system_jacobian, 0.0)
    add_flexible(m, dim, h)
    turn_bodies(m, dim, decay, h)
    add_rigid(m, dim, decay, h)
    add_turned_forces(m, dim, h)
    differentiate_vectors(m, dim, h)
    add_ends(m, dim)
    add_springs(m, dim, h)
    add_ropes(m, dim, h)
    add_products(m, dim, h)
    add_constraints(m, dim, h, before, after)
    add_rolling(m, dim, h)
    if decay > 0:
        add_decay(m, dim, h)
