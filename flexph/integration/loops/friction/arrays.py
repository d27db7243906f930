"""Dry friction of joints for the compiled loops: bearings, their columns in the ledger, and work space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....mechanisms.model.accounts import Accounts
from ..memory.connection_data import Bearings
from ..memory.constants import Constants
from ..memory.step_space import RubSpace

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model


def bearings_of(mechanism: Model) -> Bearings:
    """Arrays of the bearings of a mechanism: its joints with dry friction."""
    b, accounts = mechanism.network.arrays.bearings, mechanism.once(Accounts)
    spring = b.spring.copy()
    spring[0, b.curve >= 0] = mechanism.network.arrays.springs.damping.size + b.curve[b.curve >= 0]
    numbers, first = np.arange(b.number), len(accounts.work) + len(accounts.joint_work)
    pressing = first + len(accounts.impulses) - 2 * b.number + numbers
    lost = first + len(accounts.impulses)
    return Bearings(
        spring=spring.T,
        lever=b.lever.T,
        friction=b.friction,
        rubbing=b.rubbing,
        row=b.row,
        owner=b.owner,
        lost=lost + accounts.first_bearing + numbers,
        struck=lost + accounts.first_bearing + numbers + (b.number if accounts.rigid.size else 0),
        pressing=pressing,
        rubbed=pressing + b.number,
        joined=lost + len(accounts.dissipation) - 1 if accounts.joins else -1,
    )


def rub_space(k: Constants) -> RubSpace:
    """Work space of dry friction of joints, all zeros."""
    z, q, pressed = np.zeros, k.bearings.spring.size, k.bearings.row.size
    if not q:
        q = pressed = size = unknowns = forces = products = rows = 0
    else:
        (b, d), s, rows = k.inertia.weight.shape, k.inertia.J.shape[1], k.border.l.size
        size, unknowns = int(k.border.size[0]), b * (d + s) + int(k.inertia.first[-1]) + rows
        forces = (k.nodes.body.size + k.joints.plus.size + b) * d + b * s
        products = k.joints.first.size
    return RubSpace(
        *(z(q), z(q), z(pressed), z((q, q)), z((pressed, q)), z((q, unknowns)), z((q, unknowns)), z((q, size))),
        *(z(size), z(1), z(q), z(q), z(q), z(q), z((q, q)), z(q, dtype=np.int64), z(q), z(pressed)),
        *(z(k.bearings.friction.size), z(k.bearings.friction.size), z(unknowns), z(forces), z(products), z(rows), z(2)),
    )
