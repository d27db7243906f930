"""Memory of the loops of a mechanism: its fields, the width of its border, and orders that mechanisms share."""

from functools import partial

import numpy as np
import pytest
from sample_mechanisms import chain, crank_slider, pendulum

from flexph.integration.loops import border, build, workspace
from flexph.integration.loops.flexible import kept_indices
from flexph.integration.loops.memory import packing


def test_fields_of_a_memory_are_views_of_it():
    """Of every kind that there is; a copy has its own."""
    mechanism, _, _ = crank_slider()
    whole = workspace.memory(mechanism)
    m = whole.copy()
    m.at_w[0, 0] = 1.0
    m.x_v[:] = 2.0
    assert m.at_w[0, 0] == 1.0 and (m.x_v == 2.0).all()
    assert not m.x_lam.any() and not m.defect_v.any() and not whole.at_w.any()
    assert m.inertia_mass.dtype == np.float64 and m.nodes_body.dtype == np.int64
    assert m.inertia_mass[0] == 0.1  # kg, of the crank
    with pytest.raises(AttributeError, match="no field 'at_z'"):
        m.at_z  # noqa: B018


def test_the_border_of_a_chain_stays_narrow():
    """The cost of a body does not grow with the number of bodies."""
    widths = [int(chain(bodies)[0].once(build.constants).border.size[1]) for bodies in (3, 6, 12)]
    assert widths[2] <= widths[1] + 3 <= 40


def test_orders_of_unknowns_are_kept_for_mechanisms_that_are_built_the_same_way(monkeypatch):
    """And for no others: the memory of each is that which is made without any other before it."""
    samples = crank_slider, pendulum, partial(crank_slider, elements=2), partial(crank_slider, damping=1e-3)
    made = [sample()[0] for sample in (*samples, crank_slider)]
    memories = [workspace.memory(mechanism) for mechanism in made]
    assert memories[0].table is memories[-1].table
    assert build.constants(made[0]).border is build.constants(made[-1]).border
    for room in (border, kept_indices, packing):
        monkeypatch.setattr(room, "FEW", -1)
    for mechanism, memory in zip(made, memories, strict=True):
        alone = workspace.memory(mechanism.__class__(mechanism.bodies, mechanism.connections, mechanism.gravity))
        for name in ("reals", "wholes", "table"):
            np.testing.assert_array_equal(getattr(memory, name), getattr(alone, name))
