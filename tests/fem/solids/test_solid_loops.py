"""Solids of finite strain in compiled loops: at random states and along runs the same as by NumPy."""

import numpy as np
import pytest
from solid_blocks import SOFT, mechanism
from uncompiled import uncompiled

import fem
from flexph import GROUND, IntegrationInterrupted, Simulator, connect, integrate, spherical, weld
from flexph.integration.blocks.steppers import blocks_of
from flexph.integration.choice import LOOPS
from flexph.integration.exact.steppers import stepper_from
from flexph.integration.loops import build
from flexph.integration.loops.memory.structures import Given, Kinds
from flexph.integration.loops.solids import laws
from flexph.kernels.jacobians.factor import factor
from flexph.kernels.step import residual
from flexph.kernels.values import Means, Point, Step
from flexph.methods import Exact
from flexph.systems.inputs import Forcing

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
LAWS = {"linear": None, "rubber": fem.NeoHooke(4e3, 6e3)}
STEP = 2e-3
NUMPY = Exact(compiled=False)


def pressed(dim):
    """Tractions and pressure on a face."""
    return {"p": (3.0, -2.0, 5.0)[:dim]}


def thrown(whole, dim):
    """A start with an eccentric spin of the hub."""
    spin = (0.0, 0.3, -4.0) if dim == 2 else ((0.0, 0.3, 0.0), (0.0, -2.0, -4.0))
    return whole.consistent_state(whole.assemble(), velocities={"hub": spin})


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", [2, pytest.param(3, marks=pytest.mark.slow)])  # loops of 3 cells of 27 nodes by Python
def test_residual_and_correction_at_a_random_state_are_those_of_numpy(dim, law):
    """With stresses of the iterate for those that run ahead."""
    loops = uncompiled("flexph.integration.loops.steps.newton")
    forces = uncompiled("flexph.integration.loops.solids.forces")
    whole, rng = mechanism(dim, LAWS[law]), np.random.default_rng(1)
    start = thrown(whole, dim)
    stepper, *_ = stepper_from(whole, start, NUMPY, Forcing(whole.network.input_slices, pressed(dim), dim))
    begun, blocks = stepper.start(start), blocks_of(whole, stepper)
    blocks.put(begun)
    m, table = blocks.compiled.memory.fields, blocks.table(start.time + np.array([0.0, STEP]))
    c = begun.state.c
    x = Means(
        c.v + 0.3 * rng.normal(size=c.v.shape),
        c.omega + 0.3 * rng.normal(size=c.omega.shape) * m.inertia_turns[:, None],
        c.du,
        rng.normal(size=whole.layout.multipliers),
    )
    m.x_v[...], m.x_w[...], m.x_lam[...] = x.v, x.omega, x.lam
    forces.begin_solids(m, dim)
    coefficients = table.coefficient[0], table.coefficient[-1]
    rows = table.offset[-1], table.offset[0], table.own_coefficient[0], table.own_offset[0]
    kinds, given = Kinds(), Given(STEP, table.inputs[0], *coefficients, *rows, False)
    loops.evaluate(m, dim, kinds, given)
    step = Step(c, begun.state.d, STEP, stepper.prescribed(begun, start.time + STEP, table.inputs[0]))
    defect, trial = residual(stepper.arrays, step, x)
    agree((m.defect_v, m.defect_w, m.defect_lam), (defect.v, defect.omega, defect.lam), 1e-13)  # round-off of forces
    m.solid_ahead[...] = m.end_sigma[m.solids_stress]
    assert loops.factor_step(m, dim, kinds, given)
    loops.solve_step(m, dim, kinds, STEP)
    found = factor(stepper.arrays, Point(*step, trial))(defect)
    agree((m.correction_v, m.correction_w, m.correction_lam), (found.v, found.omega, found.lam), 1e-9)  # conditioned so


def agree(ours, theirs, limit):
    """Arrays to a share of their largest entry."""
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=limit * np.abs(other).max(initial=1e-3))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", [2, 3])
def test_a_run_is_that_of_numpy(dim, law, monkeypatch):
    """By a sparse border, as large solids have it; the account of the energy closes to round-off."""
    whole = mechanism(dim, LAWS[law])
    monkeypatch.setattr(build, "WIDE", 1e4)
    assert whole.once(build.is_wide)
    compare(whole, thrown(whole, dim), inputs=pressed(dim), limit=1e-10 if LAWS[law] is None else 1e-5)


@pytest.mark.parametrize("method", [Exact, lambda **options: Exact(tolerance=1e-4, **options)])
def test_a_small_solid_has_a_band(method):
    """Two cells on a rod, at a port that turns and at a node; also by steps that are chosen."""
    mesh = fem.box_mesh((0.2, 0.1, 0.1), (2, 1, 1))
    corner = int(np.argmax(mesh.p.sum(axis=0)))
    block = fem.solid(mesh, SOFT, strain="finite", ports={"root": "left", "tip": [corner]})
    rod = fem.rod(0.3, SOFT, fem.Section(width=0.02, height=0.02), elements=2)
    joints = [
        weld("rod.root", GROUND),
        weld("rod.tip", "block.root"),
        spherical("block.tip", GROUND.at(0.5, 0.1, 0.1)),
    ]
    whole = connect({"block": block, "rod": rod}, joints, gravity=(0.0, 0.0, -9.81))
    start = whole.consistent_state(whole.assemble())
    assert not whole.once(build.is_wide)
    compare(whole, start, method=method)


def compare(whole, start, *, inputs=None, method=Exact, limit=1e-10):
    """Runs by loops and by NumPy, states to a limit over their largest entry.

    Stresses are strains times the stiffness, 1e4, that have round-off of positions. The mean stress of a law is
    corrected where Gauss' rule misses more than round-off of its energy: in NumPy's steps, too, 1e-15 of a speed at the
    start makes 1e-6 of stresses.
    """
    times = start.time + STEP * np.arange(6)
    ours, theirs = (
        integrate(whole, start, times, inputs=inputs, method=method(**o)) for o in ({}, {"compiled": False})
    )
    assert ours.steps_by == LOOPS
    assert ours.ledger.largest_residual < 1e-14
    assert ours.ledger.position_residual.max() < 1e-14
    if limit < 1e-9:
        np.testing.assert_array_equal(ours.ledger.iterations, theirs.ledger.iterations)
    np.testing.assert_allclose(ours.states, theirs.states, rtol=0.0, atol=limit * np.abs(theirs.states).max())
    for account in ("total_energy", "total_work", "total_dissipation"):
        agree([getattr(ours.ledger, account)], [getattr(theirs.ledger, account)], 10.0 * limit)


def test_an_exception_in_a_law_ends_the_loops_and_a_simulator_goes_on(monkeypatch):
    """No law is called after it, and the step that it ended is taken again from where it began."""
    whole = mechanism(2, LAWS["rubber"])
    start, real, calls = thrown(whole, 2), laws.mean_stress, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(laws, "mean_stress", interrupted)
    with pytest.raises(IntegrationInterrupted):
        integrate(whole, start, STEP * np.arange(40))
    assert len(calls) == 20
    calls.clear()
    simulator, other = Simulator(whole, start), Simulator(whole, start)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(20):
            simulator.advance(STEP)
    done = round((simulator.time - start.time) / STEP)
    simulator.advance(STEP)
    for _ in range(done + 1):
        other.advance(STEP)
    np.testing.assert_allclose(simulator.state.x, other.state.x, rtol=0.0, atol=1e-8)  # of laws, see compare
