"""Solids of finite strain in compiled loops: runs that are the same as by NumPy."""

import numpy as np
import pytest
from solid_blocks import SOFT, mechanism

import fem
from flexph import GROUND, IntegrationInterrupted, Simulator, connect, integrate, spherical, weld
from flexph.integration.choice import LOOPS
from flexph.integration.loops import build
from flexph.integration.loops.solids import laws
from flexph.methods import Exact

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
