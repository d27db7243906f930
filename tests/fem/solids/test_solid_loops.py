"""Runs of solids of finite strain: by a band and by a sparse border, and errors within their laws."""

import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    IntegrationInterrupted,
    Simulator,
    connect,
    distributed_load,
    hinge,
    integrate,
    revolute,
    spherical,
    weld,
)
from flexph.integration.loops import build
from flexph.integration.loops.solids import laws
from flexph.methods import Exact

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
SOFT = fem.Material(young=1e4, density=1000.0, poisson=0.3)
LAWS = {"linear": None, "rubber": fem.NeoHooke(4e3, 6e3)}
STEP = 2e-3


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


def pressed(dim):
    """Tractions and pressure on a face."""
    return {"p": (3.0, -2.0, 5.0)[:dim]}


def thrown(whole, dim):
    """A start with an eccentric spin of the hub."""
    spin = (0.0, 0.3, -4.0) if dim == 2 else ((0.0, 0.3, 0.0), (0.0, -2.0, -4.0))
    return whole.consistent_state(whole.assemble(), velocities={"hub": spin})


@pytest.mark.covering
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dim", [2, 3])
def test_blocks_under_pressure_step_as_by_the_oracle(dim, law, monkeypatch):
    compare(monkeypatch, lambda: blocks(dim, law), inputs=pressed(dim))


def blocks(dim, law):
    """The blocks, thrown."""
    whole = mechanism(dim, LAWS[law])
    return whole, thrown(whole, dim)


def on_a_rod():
    """Two cells on a rod, at a port that turns and at a node."""
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
    return whole, whole.consistent_state(whole.assemble())


@pytest.mark.parametrize("method", [Exact(), Exact(tolerance=1e-4)])
def test_a_small_solid_has_a_band(monkeypatch, method):
    """Also by steps that are chosen."""
    assert not on_a_rod()[0].once(build.is_wide)
    compare(monkeypatch, on_a_rod, method=method)


def compare(monkeypatch, make, *, inputs=None, method=None, limit=1e-10):
    """Runs by a band and by a sparse border, as large solids have it: states to a limit over their largest entry.

    The balance closes to round-off. Stresses are strains times the stiffness, 1e4, that have round-off of positions.
    """
    runs = []
    for cost, wide in ((0.0, False), (np.inf, True)):
        monkeypatch.setattr(build, "cost_of_band", lambda _, cost=cost: cost)
        whole, start = make()
        assert whole.once(build.is_wide) == wide
        runs.append(integrate(whole, start, start.time + STEP * np.arange(6), inputs=inputs, method=method))
        assert runs[-1].ledger.largest_residual < 1e-14
        assert runs[-1].ledger.position_residual.max() < 1e-14
    band, sparse = runs
    np.testing.assert_allclose(sparse.states, band.states, rtol=0.0, atol=limit * np.abs(band.states).max())
    if limit < 1e-9:
        np.testing.assert_array_equal(sparse.ledger.iterations, band.ledger.iterations)


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
