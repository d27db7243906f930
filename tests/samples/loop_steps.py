"""A step in uncompiled loops at a random iterate beside that of the NumPy kernels: their defects and corrections."""

import numpy as np

from flexph.integration.loops.mechanics.arrow import factor, solve
from flexph.integration.loops.mechanics.residual import residual
from flexph.integration.loops.steps.run import settle
from flexph.integration.loops.workspace import memory
from flexph.kernels import step as kernels
from flexph.kernels.jacobians import factor as jacobians
from flexph.kernels.jacobians.blocks import flatten, unflatten
from flexph.kernels.state import Configuration, derive
from flexph.kernels.values import Means, Point, Step
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable, schedule


def differences(mechanism, start, *, seed=0, h=0.1, off=0.01):
    """Largest differences of defects, and of the corrections for random defects, over the largest of each."""
    rng, a = np.random.default_rng(seed), mechanism.network.arrays
    away = off * rng.standard_normal(start.x.size)
    for name, part in mechanism.layout.parts.items():
        if name.endswith("rotation"):
            away[part] = 0.0
    c = configuration(mechanism, start.x + away)
    push = rng.standard_normal(len(mechanism.input_names))
    own = schedule(TimeTable(mechanism, start.anchors), 0.0, h, push)
    step, count = Step(c, derive(a, c), h, own), mechanism.layout.velocities
    y, b = rng.standard_normal((2, count + mechanism.layout.multipliers))
    x, given = (unflatten(a, part[:count], part[count:] * scale) for part, scale in ((y, 1.0 / h), (b, h)))
    own_memory = memory(mechanism).copy()  # owns what the fields show
    m = own_memory.fields
    for name, values in zip(Configuration._fields, c, strict=True):
        getattr(m, f"at_{'w' if name == 'omega' else name}")[...] = values
    settle(m, a.dim)
    _put(m, "x", x)
    residual(m, a.dim, 0, 0, h, own.coefficient_0, own.coefficient_1, own.offset_1, own.inputs)
    defects, trial = kernels.residual(a, step, x)
    missed = _apart(a, _taken(m, "defect"), defects)
    assert factor(m, a.dim, 0, 0, h, own.coefficient_0, own.coefficient_1)
    _put(m, "defect", given)
    solve(m, a.dim, 0, h)
    return missed, _apart(a, _taken(m, "correction"), jacobians.factor(a, Point(*step, trial))(given))


def _taken(m, group):
    return Means(*(getattr(m, f"{group}_{name}").copy() for name in ("v", "w", "du", "lam")))


def _put(m, group, x):
    for name, values in zip(("v", "w", "du", "lam"), x, strict=True):
        getattr(m, f"{group}_{name}")[...] = values


def _apart(a, own, other):
    pairs = (flatten(a, own), flatten(a, other)), (own.lam, other.lam)
    return max(np.abs(p - q).max(initial=0.0) / np.abs(q).max(initial=1e-300) for p, q in pairs)
