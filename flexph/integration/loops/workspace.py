"""Memory of a mechanism: its constant arrays with the work space of compiled steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.convergence.tolerances import HISTORY
from ...mechanisms.model.accounts import Accounts
from .build import banded_constants, constants, constants_of_decaying, with_near
from .contacts import entries_of, springs_of, strike_space, touch_space
from .filters import filter_space
from .friction.arrays import rub_space
from .memory.connection_data import border_width
from .memory.constants import Constants, kinds
from .memory.data import Index
from .memory.memory import Memory
from .memory.packing import pack
from .memory.run_space import RunSpace, StageSpace
from .memory.sliding import path_space, rope_space, row_space, slide_space
from .memory.step_space import Motion, System, Trial, Unknowns
from .memory.workspace import Workspace
from .near_pairs import NearPairs
from .redundancy import null_space, redundancy
from .solids.arrays import solid_space
from .strains import nodal_space
from .vibration import decay_space

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


def constants_of_redundant(mechanism: Model) -> Constants:
    """Arrays of constants of a mechanism for steps with multipliers of least norm."""
    k = mechanism.once(constants)
    return k._replace(redundancy=redundancy(mechanism, k))


def constants_by(parts: tuple[int, int]) -> Callable[[Model], Constants]:
    """Function that builds the arrays of constants of a mechanism.

    ``parts`` are two flags: multipliers of least norm, and steps that lose energy.
    """
    of_decaying = constants_of_redundant_decaying if parts[0] else constants_of_decaying
    return of_decaying if parts[1] else constants_of_redundant if parts[0] else constants


def memory(mechanism: Model) -> Memory:
    """Memory of a mechanism before a run by the exact scheme."""
    return memory_of(mechanism, (0, 0))


def banded_memory(mechanism: Model) -> Memory:
    """Memory of a mechanism before a run by Gauss collocation, whose border is banded."""
    return _packed(mechanism, mechanism.once(banded_constants))


def memory_of_single_bodies(mechanism: Model, *, banded: bool = False, decaying: bool = False) -> Memory:
    """Memory of a mechanism before a run, where each body has its own matrices, even if those of bodies are equal.

    Such a memory is for derivatives with respect to the matrices of one body. If ``banded`` it has a banded border, for
    Gauss collocation; if ``decaying``, arrays of steps that lose energy.
    """
    k = mechanism.once(banded_constants if banded else constants_of_decaying if decaying else constants)
    if (near := mechanism.once(NearPairs)).lists:
        k = with_near(mechanism, k, np.arange(near.contacts.number), decaying=decaying)
    inertia = k.inertia
    ends = inertia.ptr[inertia.first]
    rows = np.arange(ends[-1]) + np.repeat(inertia.alike, np.diff(ends))
    k = k._replace(inertia=inertia._replace(val=inertia.val[rows], alike=0 * inertia.alike))
    return _packed(mechanism, k, decaying=decaying)


def memory_of(mechanism: Model, parts: tuple[int, int], near: Index | None = None) -> Memory:
    """Memory of a mechanism before a run, by the flags ``parts`` of :func:`constants_by`.

    It has the contacts with the numbers ``near``, by default the contacts :attr:`NearPairs.in_order`.
    """
    k = mechanism.once(constants_by(parts))
    decaying = bool(parts[1])
    k = k if near is None else with_near(mechanism, k, near, decaying=decaying)
    return _packed(mechanism, k, decaying=decaying)


def constants_of_redundant_decaying(mechanism: Model) -> Constants:
    """Arrays of constants of a mechanism for multipliers of least norm and steps that lose energy."""
    k = mechanism.once(constants_of_decaying)
    return k._replace(redundancy=redundancy(mechanism, k))


def _packed(mechanism: Model, k: Constants, *, decaying: bool = False) -> Memory:
    accounts = mechanism.once(Accounts)
    springs = springs_of(mechanism) + mechanism.layout.dim * int(np.count_nonzero(k.contacts.pair))
    pile = int(k.border.size[0]) if mechanism.once(NearPairs).is_pile else 0
    flows = accounts.flow_count + decaying
    near = mechanism.once(NearPairs)
    strikes = near.strikes + (near.strikes and near.stores_responses)
    sizes = len(accounts.energy), flows, springs, int(accounts.compliant.size), pile, strikes
    memory = pack(k, partial(_workspace, k, *sizes), sizes)
    return memory


def _workspace(k: Constants, *sizes: int) -> Workspace:
    """Work space of compiled steps, all zeros.

    ``sizes`` are the numbers of energies, flows, springs, contact energies, unknowns of a pile, and 0 to 2 for
    impacts.
    """
    energies, flows, springs, connections, pile, strikes = sizes
    b, d = k.inertia.weight.shape
    s, n, m = k.inertia.J.shape[1], int(k.inertia.first[-1]), k.elastic.body.size
    nodes, vectors, products, rows = (
        k.nodes.body.size,
        k.joints.plus.size,
        k.joints.first.size,
        k.border.l.size,
    )
    count, z = kinds(d), np.zeros

    def motion() -> Motion:
        return Motion(
            *(z((b, d)), z((b, d, d)), z(n), z((b, d)), z((b, s)), z(n), z(m), z(springs)),
            *(z((n, count)), z((n, count)), z((b, s)), z(n), z((nodes, d)), z((vectors, d))),
            *(z(len(k.curves.row)), z(products)),
        )

    def unknowns() -> Unknowns:
        return Unknowns(z((b, d)), z((b, s)), z(n), z(rows))

    entries, measured = k.elastic.col.size, k.joints.stiffness.size
    prescribed = int(k.joints.timed[-1] @ (1, 2))
    given: Any = (
        *(z((b, d, d)), z((n, count)), z((n, count)), z((b, d)), z(n), z(entries), z(m), z(m), z(m), z(m)),
        *(z((nodes, d)), z((vectors, d)), z(products), *(z(measured) for _ in range(4))),
        *(z((nodes, d)), z((vectors, d)), z((b, d)), z((b, s)), z(k.ledger.input.size)),
        *(z((k.loads.torque_body.size, s)), z(measured), z(measured), z(prescribed)),
        *(z(1), z(k.ledger.input.size), z(measured), z(measured)),
    )
    trial = Trial(*given)
    width, is_asked = b * (d + s) + n + 2 * rows + 1, bool(k.inertia.is_asked)
    run = RunSpace(
        *(z((HISTORY, width)), z(energies), z(rows), z((HISTORY, width)), z(energies), z(rows), z(rows)),
        *(z(energies), z(flows), z(flows), z(rows), z(rows), z(k.ledger.input.size), z(8)),
        *(z(rows), z((2, d)), z((d, d)), z((nodes, d)), z((2 * d, count)), z((b, d)), z((HISTORY, HISTORY + 1))),
        *(z(k.ledger.input.size), z(n if is_asked else 0), z((n if is_asked else 0, count)), z(1), z(3)),
    )
    x, defect, correction, best = (unknowns() for _ in range(4))
    rows_of = row_space(k.curves, k.slips, k.ropes, int(k.border.size[0]))
    sliding = path_space(k.curves), slide_space(k.slips), rope_space(k.ropes), rows_of
    return Workspace(
        *(motion(), motion(), x, defect, correction, best, trial, _system(k), *sliding),
        rub_space(k),
        *(
            nodal_space(k.strains, b, d),
            touch_space(k.contacts, k.nodes, d, connections=connections, pile=pile),
            strike_space(
                k.contacts,
                k.nodes,
                (b, k.points.node.size, d, n, rows, k.bearings.friction.size),
                strikes=strikes,
            ),
            run,
            _stage_space(k),
            null_space(k),
            decay_space(k),
            filter_space(k),
        ),
        solid=solid_space(k.solids, s, b),
    )


def _stage_space(k: Constants) -> StageSpace:
    b, d = k.inertia.weight.shape
    s, n, z = k.inertia.J.shape[1], int(k.inertia.first[-1]), np.zeros
    nodes, products, springs = k.nodes.body.size, k.joints.first.size, k.joints.stiffness.size
    stresses, entries = k.elastic.damping.size, k.elastic.col.size
    return StageSpace(
        *(z((b, s)), z((b, s)), z((b, s)), z((b, s, s)), z((b, s, s)), z((b, s)), z((nodes, d)), z(products)),
        *(z(n), z((n, kinds(d))), z(springs), z(s)),
        *(z(stresses), z(stresses), z(entries), z(entries), z((springs, 3))),
    )


def _system(k: Constants) -> System:
    b, d = k.inertia.weight.shape
    s, n, z = k.inertia.J.shape[1], int(k.inertia.first[-1]), np.zeros
    size = int(k.border.size[0])
    inners, columns, vectors = k.border.inners, k.border.columns, k.border.vector_col.size
    vectors += entries_of(k.contacts, k.nodes, d)
    entries, strains = k.inertia.col.size, k.elastic.col.size
    border = z((size, border_width(k.border))) if k.border.size[1] >= 0 else z((1, k.border.row.size))
    return System(
        *(z(k.stiffness.left_mean.size), z(entries), z(int(inners @ k.border.stored)), z(int(inners @ columns))),
        *(border, z(strains), z((n, s)), z((n, s)), z(n, dtype=np.int64)),
        *(z((b, d, d)), z((b, d, d)), z((s + d, int(columns.max()))), z(size, dtype=np.int64)),
        *(z((b, s, s)), z((b, d, d)), z((b, d, d)), z((vectors, d)), z((vectors, d)), z((s, s)), z((s, s)), z((2, 2))),
        *(z(3), z(3), z(3), z(size), z(n), z(1, dtype=np.int64)),
    )
