"""The stiffness of solids of finite strain cell by cell, against that of all strain rows by sparse products."""

import numpy as np
import pytest

import fem
import rigid
from flexph import connect, distributed_load, hinge, revolute
from flexph.kernels.jacobians.factor import factor
from flexph.kernels.state import derive
from flexph.kernels.step import residual
from flexph.kernels.values import Means, Point, Step
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable, schedule
from flexph.systems.inputs import Forcing

SOFT = fem.Material(young=1e4, density=1000.0, poisson=0.3)


def mesh(dim):
    """Three cells along a bar."""
    return fem.box_mesh((0.4, 0.1, 0.1)[:dim], (3, 1, 1)[:dim])


def mechanism(dim, law):
    """Two blocks with damping, one under pressure, that are joined to each other and to a rigid body."""
    plane = {"plane": "strain", "thickness": 0.1} if dim == 2 else {}
    options = {"degree": 2, "strain": "finite", "damping": fem.Damping(stiffness=1e-3), "law": law, **plane}
    ports = {"root": "left", "tip": "right"}
    blocks = {
        "a": fem.solid(mesh(dim), SOFT, ports=ports, loads={"top": "back"}, **options),
        "b": fem.solid(mesh(dim), SOFT, ports={"root": "left"}, **options),
    }
    hub = rigid.body(0.5, inertia=0.01 if dim == 2 else (0.01, 0.02, 0.03), ports={"pin": (0.05, 0.02, 0.0)[:dim]})
    joint = hinge if dim == 2 else lambda *ports: revolute(*ports, axis=(0.0, 0.0, 1.0))
    joints = [joint("a.tip", "b.root"), joint("a.root", "hub.pin"), distributed_load("a.top", axes="face", name="p")]
    return connect({**blocks, "hub": hub}, joints)


@pytest.mark.parametrize("law", [None, fem.NeoHooke(4e3, 6e3)])
@pytest.mark.parametrize("dim", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_corrections_by_cells_are_those_by_strain_rows(dim, law):
    """At a random trial; by dense matrices in the plane, by sparse ones in space."""
    whole, rng = mechanism(dim, law), np.random.default_rng(0)
    state = whole.consistent_state(whole.assemble())
    a, c = whole.network.arrays, configuration(whole, state.x)
    c = c._replace(
        v=rng.normal(size=c.v.shape), omega=np.where(a.columns.omega >= 0, rng.normal(size=c.omega.shape), 0)
    )
    inputs = Forcing(whole.network.input_slices, {"p": np.ones(dim)}, dim).at(0.0)
    table = TimeTable(whole, state.anchors)
    step = Step(c, derive(a, c), 1e-3, schedule(table, 0.0, 1e-3, inputs))
    x = Means(c.v, c.omega, c.du, rng.normal(size=whole.layout.multipliers))
    defect, trial = residual(a, step, x)
    corrections = []
    for cells in (a.strains.cells, None):
        arrays = a._replace(strains=a.strains._replace(cells=cells))
        corrections.append(factor(arrays, Point(*step, trial))(defect))
    for ours, theirs in zip(*corrections, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max(initial=0.0))
