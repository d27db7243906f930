"""Runs of large solids in full: by a factor of the constant part of the Jacobian, which steps of one length share.

Loops ask Python for it; beside them stand runs in which loops factor the Jacobian as a whole.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from solid_meshes import box
from spatial_bodies import Sight

import fem
import rigid
from flexph import GROUND, connect, distributed_load, hinge, integrate, spherical, spring_damper, torque, weld
from flexph.bodies import mean_axes
from flexph.bodies.mean_axes import about_mean_axes
from flexph.integration.loops import build
from flexph.integration.loops.memory.structures import Parts, no_pair
from flexph.integration.loops.stepper import Stepper
from flexph.integration.loops.wide import kept_block
from flexph.integration.loops.wide.kept_block import KeptBlock, has_kept_block
from flexph.mechanisms.model.accounts import Accounts
from flexph.mechanisms.poses import impacts
from flexph.methods import Exact, Exact4

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
RUBBER = fem.Material(young=2e6, density=200.0, poisson=0.3)
LENGTHS = (1.0, 0.1, 0.1)
PORTS = {"root": "left", "tip": fem.Tie("right", "mean")}
TIMES = np.linspace(0.0, 0.04, 5)
INPUTS = {"wind": lambda t: (0.0, -200.0, 50.0), "twist": lambda t: (0.5, 0.2, 0.1)}


def bar(counts=(4, 1, 1), **options):
    return fem.solid(box("tetra10", counts, LENGTHS), RUBBER, ports=PORTS, **({"reference": "root"} | options))


def two_bars(damping=0.0, second=None):
    """Two solids and a rigid body on a hinge, one about mean axes, with loads that follow, a spring and gravity."""
    damped = {"damping": fem.Damping(stiffness=1e-3 * damping)} if damping else {}
    bodies = {
        "first": bar(loads={"wind": "bottom"}, **damped),
        "second": second or bar((2, 1, 1), reference="mean_axis"),
        "block": rigid.body(0.3, inertia=(2e-3, 3e-3, 4e-3), ports={"p": (0.1, 0.0, 0.05)}),
    }
    joints = [
        hinge("first.root", GROUND, axis=(0.0, 1.0, 0.0)),
        spherical("first.tip", "second.root"),
        weld("second.tip", "block.p"),
        spring_damper("second.tip", GROUND.at(2.0, 0.0, 1.0), stiffness=20.0, damping=damping),
        distributed_load("first.wind", axes="body", name="wind"),
        torque("second.tip", axes="section", name="twist"),
    ]
    return connect(bodies, joints, gravity=(0.0, 0.0, -9.81))


two_whole_bars = cache(two_bars)
"""Those of which loops factor the whole Jacobian, whose order takes a second to find."""


def start_of(mechanism, spin=2.0):
    pose = mechanism.assemble({"first": ((0.0, 0.0, 0.0), np.eye(3))}, guess={"second": ((1.5, 0.0, 0.0), np.eye(3))})
    return mechanism.consistent_state(pose, velocities={"first": (0.0, spin, 0.0)})


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Borders of smaller bodies are sparse, too; the band that they would have is not built to be sized."""
    monkeypatch.setattr(build, "cost_of_band", lambda _: np.inf)


def run(mechanism, times=TIMES, method=None, events=None):
    assert mechanism.once(build.constants).inertia.is_asked
    return integrate(mechanism, start_of(mechanism), times, inputs=INPUTS, method=method, events=events)


def by_loops(monkeypatch, mechanism, times=TIMES, method=None, events=None):
    """The run of a mechanism whose Jacobian loops factor as a whole; by Python, as a whole, the mass of impulses."""
    with monkeypatch.context() as patch:
        patch.setattr(build, "cost_of_band", lambda _: 0.0)
        patch.setattr(kept_block, "LARGE", 10_000)
        patch.setattr(impacts, "LARGE", np.inf)
        assert not mechanism.once(build.constants).inertia.is_asked
        return integrate(mechanism, start_of(mechanism), times, inputs=INPUTS, method=method, events=events)


@pytest.fixture
def factored(monkeypatch):
    """The sizes of the matrices that were factored."""
    sizes, solver = [], kept_block.positive_solver
    monkeypatch.setattr(kept_block, "positive_solver", lambda matrix: sizes.append(matrix.shape[0]) or solver(matrix))
    return sizes


@pytest.fixture
def whole(monkeypatch):
    """How often the border was factored as a whole, as the length of a list."""
    calls, factor = [], KeptBlock._whole
    monkeypatch.setattr(KeptBlock, "_whole", lambda *given: calls.append(None) or factor(*given))
    return calls


def agree(one, other):
    """States part by part; stresses are known to round-off of the stiffness times that of u: 1e-16 · 2e6 · 1e3."""
    layout = one.mechanism.layout
    for part in (p for p in layout.parts.values() if p.start < layout.size):
        mine, theirs = one.states[:, part], other.states[:, part]
        assert np.abs(mine - theirs).max(initial=0.0) < 1e-9 * max(1e-3, np.abs(theirs).max(initial=0.0))


@pytest.mark.parametrize("kept_apart", [False, True])
def test_the_same_run_as_by_the_whole_jacobian(monkeypatch, factored, whole, kept_apart):
    """Also where mean axes are a shift of low rank beside sparse matrices; no more iterations, balance, no drift."""
    monkeypatch.setattr(mean_axes, "FILLED", 0 if kept_apart else 1000)
    mechanism = two_bars(damping=1.0, second=about_mean_axes(bar((3, 1, 1))))
    assert (mechanism.bodies["second"].unshifted is not None) == kept_apart
    monkeypatch.setattr(mean_axes, "FILLED", 1000)
    other = two_bars(damping=1.0, second=about_mean_axes(bar((3, 1, 1))))
    found, wanted = run(mechanism), by_loops(monkeypatch, other)
    assert len(factored) == 1 and not whole  # once, both bodies in one
    agree(found, wanted)
    assert found.ledger.iterations.sum() <= wanted.ledger.iterations.sum() + 2
    assert found.ledger.largest_residual < 1e-12
    assert found.ledger.position_residual.max() < 1e-13
    assert found.ledger.dissipation["first"].min() > 0.0


@pytest.mark.parametrize("reference", ["root", "mean_axis"])
def test_a_spinning_solid_keeps_energy_and_momenta(whole, reference):
    """Half a turn in 15 steps: hω = 0.2, which a frame at one end makes much of."""
    mechanism = connect({"b": bar((6, 1, 1), reference=reference)}, [])
    pose = mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))})
    start = mechanism.consistent_state(pose, velocities={"b": ((1.0, 0.0, 0.5), (1.2, 10.0, 2.4))})
    made = integrate(mechanism, start, np.linspace(0.0, 0.3, 16))
    momentum = np.array([Sight(mechanism, x).momentum() for x in made.states])
    assert not whole
    assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.abs(momentum[0]).max()
    assert made.energy_drift() < 1e-12 and made.ledger.largest_residual < 1e-12
    assert made.ledger.kind("elastic").max() > 1e-3 * made.ledger.total_energy.max()


def test_lengths_of_steps_may_change(monkeypatch, factored):
    """Each length is factored once, however steps of it are mixed, and is told from others but for round-off."""
    mechanism = two_bars()
    times = np.cumsum([0.0, 4e-3, 1e-2, 4e-3, 7e-3, 1e-2])
    found, wanted = run(mechanism, times), by_loops(monkeypatch, two_whole_bars(), times)
    assert len(factored) == 3
    agree(found, wanted)
    assert found.ledger.largest_residual < 1e-12


@pytest.mark.parametrize(
    "method",
    [Exact4(), pytest.param(Exact(tolerance=0.8), marks=pytest.mark.slow)],
    ids=repr,
)
def test_steps_to_and_fro_and_under_control(monkeypatch, factored, method):
    mechanism = two_bars()
    times = TIMES[:2]
    found = run(mechanism, times, method)
    wanted = by_loops(monkeypatch, two_whole_bars(), times, method)
    agree(found, wanted)
    np.testing.assert_array_equal(found.ledger.steps, wanted.ledger.steps)
    assert found.ledger.largest_residual < 1e-12
    pairs = int(found.ledger.steps[0] + found.ledger.rejected[0]) // 2
    assert len(factored) == 2 if method.tolerance is None else 1 < len(factored) <= pairs


def test_events_end_steps_where_they_would(monkeypatch):
    mechanism = two_bars()
    place = mechanism.layout.parts["first.centre"]
    first = start_of(mechanism).x[place][2]
    fallen = {"fallen": lambda t, x: x[place][2] - first + 0.015}
    found = run(mechanism, TIMES[:3], events=fallen)
    wanted = by_loops(monkeypatch, two_whole_bars(), TIMES[:3], events=fallen)
    assert len(found.events["fallen"].times) == 1
    assert found.events["fallen"].times == pytest.approx(wanted.events["fallen"].times, abs=1e-10)
    agree(found, wanted)


def test_what_does_not_converge_fast_is_factored_as_a_whole(monkeypatch, whole):
    monkeypatch.setattr(kept_block, "PASSES", 0)
    mechanism = two_bars()
    found, wanted = run(mechanism, TIMES[:3]), by_loops(monkeypatch, two_whole_bars(), TIMES[:3])
    assert whole
    agree(found, wanted)


@pytest.mark.parametrize(
    ("body", "h", "exists"),
    [
        (lambda: bar((6, 1, 1)), 0.01, True),
        (lambda: bar((6, 1, 1)), -0.01, True),
        (lambda: bar((6, 1, 1), damping=fem.Damping(stiffness=1e-3)), 0.01, True),
        (lambda: bar((6, 1, 1), damping=fem.Damping(stiffness=2e-2)), -0.01, False),  # back in time damping is no loss
        (lambda: bar((2, 1, 1)), 0.01, False),
        (lambda: fem.beam(1.0, RUBBER, fem.Section(width=0.1, height=0.1), elements=60, dim=3), 0.01, True),
        (lambda: beam_of_von_karman(), 0.01, False),
    ],
    ids=["solid", "back", "damped", "damped, back", "small", "beam", "von Kármán"],
)
def test_where_it_is_used(body, h, exists):
    mechanism = connect({"b": body()}, [hinge("b.root", GROUND, axis=(0.0, 1.0, 0.0))])
    if not mechanism.once(build.constants).inertia.is_asked:
        assert not exists
        return
    steps = Stepper(mechanism, mechanism.once(Accounts), Parts(np.ones(1), np.ones(1), 2, no_pair()))
    assert (steps._answers._bodies._of(h) is not None) == exists


def beam_of_von_karman():
    section = fem.Section(width=0.1, height=0.1)
    return fem.beam(1.0, RUBBER, section, elements=60, dim=3, strain="von_karman")


def test_chains_of_many_small_bodies_keep_the_whole_jacobian():
    link = fem.beam(0.1, RUBBER, fem.Section(width=0.01, height=0.01), elements=2, dim=3, strain="linear")
    names = [f"b{i}" for i in range(60)]
    joints = [spherical(f"{one}.tip", f"{other}.root") for one, other in pairwise(names)]
    mechanism = connect(dict.fromkeys(names, link), joints)
    a = mechanism.network.arrays
    assert a.mean is not None and a.body_u.size > kept_block.LARGE
    assert not has_kept_block(mechanism)
