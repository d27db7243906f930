"""The stiffness of solids of finite strain cell by cell, against that of all strain rows by sparse products."""

import numpy as np
import pytest
from solid_blocks import mechanism

import fem
from flexph.kernels.jacobians.factor import factor
from flexph.kernels.state import derive
from flexph.kernels.step import residual
from flexph.kernels.values import Means, Point, Step
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable, schedule
from flexph.systems.inputs import Forcing


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
