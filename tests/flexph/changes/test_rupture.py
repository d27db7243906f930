"""Rods, cables and springs that break within a run."""

from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, Solution, connect, force, hinge, integrate, spring_damper
from flexph.changes import lock, rupture, with_changes
from flexph.laws import controlled, force_law, one_sided, scheduled
from flexph.methods import Exact, Exact4
from flexph.models import ModelError, load_model
from flexph.scenes import motion_scene
from flexph.sensors import energy

SLACK = {"N": one_sided(1e4, side="tension")}
SECTION = fem.RodSection(
    axial=1e4, shear=(8e3, 8e3), torsion=3.0, bending=(5.0, 5.0), mass=0.1, inertia=(2e-3, 1e-3, 1e-3)
)
PULL = {"pull": lambda t: [1e3 * t, 0.0]}
TIMES = np.linspace(0.0, 0.06, 61)


def cable(laws=None, dim=2):
    return fem.cable(2.0, mass_per_length=0.1, axial=1e4, bending=0.01, elements=4, dim=dim, laws=laws)


def rod(laws=None, dim=2):
    return fem.rod(2.0, None, SECTION, elements=4, dim=dim, laws=laws)


BODIES = {"cable": cable, "slack cable": lambda: cable(SLACK), "rod": rod, "slack rod": lambda: rod(SLACK)}


def hung(body):
    mechanism = connect({"rope": body}, [hinge("rope.root", GROUND), force("rope.tip", name="pull")])
    return mechanism, mechanism.consistent_state(mechanism.assemble())


@pytest.mark.parametrize("method", [Exact(), Exact4()], ids=["Exact", "Exact4"])
@pytest.mark.parametrize("name", BODIES)
def test_an_element_that_breaks_takes_its_energy(name, method):
    """At its tension; the loss is the energy of the element, N²/2EA per length, and the run balances as a whole."""
    mechanism, start = hung(BODIES[name]())
    snap = rupture("rope", 0.7, tension=40.0)
    run = integrate(mechanism, start, TIMES, inputs=PULL, changes=[snap], method=method)
    ledger, (instant,) = run.ledger, run.events["rupture rope"].times
    before = run.states[np.searchsorted(run.times, instant)]
    assert run.events["rupture rope"].states[0] @ before == pytest.approx(before @ before, rel=1e-12)
    lost = ledger.dissipation["rupture rope"].sum()
    assert lost == pytest.approx(0.5 * 40.0**2 / 1e4 * 0.5, rel=0.05)  # the tension varies along the element
    spent = sum(w.sum() for w in ledger.work.values()) - sum(w.sum() for w in ledger.dissipation.values())
    assert ledger.total_energy[-1] - ledger.total_energy[0] == pytest.approx(spent, abs=1e-12 * ledger.scale)
    assert ledger.largest_residual <= 1e-12
    own = run.final_mechanism.bodies["rope"].elasticity
    stress = run.states[-1][mechanism.layout.parts["rope.stress"]]
    assert (stress[own.factors == 0.0] == 0.0).all() and stress[own.factors > 0.0].any()


@pytest.mark.parametrize("make", [cable, rod], ids=["cable", "rod"])
@pytest.mark.parametrize("dim", [2, 3])
def test_both_momenta_stay(make, dim):
    """Of a free rope whose parts fly apart."""
    mechanism, rng = connect({"rope": make(dim=dim)}, []), np.random.default_rng(3)
    start = mechanism.consistent_state(mechanism.assemble())
    x, own = start.x.copy(), mechanism.layout.parts["rope.velocity"]
    x[own] = 0.3 * rng.standard_normal(own.stop - own.start)
    run = integrate(mechanism, replace(start, x=x), np.linspace(0.0, 0.04, 41), changes=[rupture("rope", 1.1, at=0.02)])
    assert run.ledger.dissipation["rupture rope"].sum() > 0.0
    assert run.ledger.largest_residual <= 1e-12
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.ptp(momentum, axis=0).max() <= 1e-13 * np.abs(momentum).max()


def test_a_spring_breaks_at_its_force():
    """Of a mass that is pulled away at k x = 12 N: ½ F²/k is lost."""
    tie = spring_damper("m.point", GROUND.at(0.0, 0.0), stiffness=100.0, length=1.0, name="tie")
    mechanism = connect({"m": rigid.point(1.0)}, [tie])
    pose = mechanism.assemble({"m": (1.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"m": [3.0, 0.0]})
    run = integrate(mechanism, start, np.linspace(0.0, 0.4, 41), changes=[rupture("tie", tension=12.0)])
    assert run.ledger.dissipation["rupture tie"].sum() == pytest.approx(0.5 * 12.0**2 / 100.0, rel=1e-9)
    speed = np.sqrt(9.0 - 12.0**2 / 100.0)  # of ½v² = ½·3² − ½F²/k
    assert run.linear_momentum()[-1] == pytest.approx([speed, 0.0], rel=1e-9)


def tied(law=None, stiffness=0.0):
    tie = spring_damper("m.point", GROUND.at(0.0, 0.0), stiffness=stiffness, law=law, length=1.0, name="tie")
    mechanism = connect({"m": rigid.point(1.0)}, [tie])
    pose = mechanism.assemble({"m": (1.0, 0.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"m": [3.0, 0.0]})


@pytest.mark.parametrize(
    ("law", "lost"),
    [(force_law(lambda x, v, t: 100.0 * x), 0.0), (scheduled(100.0, lambda t: 1.0 + t), None)],
    ids=["force", "schedule"],
)
def test_springs_of_other_laws_break_at_a_time_or_condition(law, lost):
    """A force law has no energy to lose, and its rupture an account of zeros; a schedule has a(t) ½kx²."""
    mechanism, start = tied(law)
    times = np.linspace(0.0, 0.2, 21)
    for how in ({"at": 0.1}, {"when": lambda t, x: x["m.centre"][0] - 1.25}):
        run = integrate(mechanism, start, times, changes=[rupture("tie", **how)])
        instant, state = run.events["rupture tie"].times[0], run.events["rupture tie"].states[0]
        x = state[mechanism.layout.parts["m.centre"]][0] - 1.0
        assert run.ledger.largest_residual < 1e-15 and instant < 0.15
        energy_there = 50.0 * (1.0 + instant) * x**2 if lost is None else lost
        assert run.ledger.dissipation["rupture tie"].sum() == pytest.approx(energy_there, rel=1e-12)
    with pytest.raises(ValueError, match=r"tension= is an elastic force.*give at=, a time, or when="):
        integrate(mechanism, start, times, changes=[rupture("tie", tension=12.0)])


def test_a_rupture_that_does_not_happen_has_an_account():
    mechanism, start = tied(stiffness=100.0)
    with pytest.warns(UserWarning, match="did not happen"):
        run = integrate(mechanism, start, [0.0, 0.1, 0.2], changes=[rupture("tie", tension=1e3)])
    assert run.ledger.dissipation["rupture tie"].tolist() == [0.0, 0.0]


def test_alternative_causes_are_one_condition():
    mechanism, start = tied(stiffness=100.0)
    message = r"a rupture earlier in the list removes it; if the first of several causes does, give a single change"
    with pytest.raises(ValueError, match=message):
        integrate(mechanism, start, TIMES, changes=[rupture("tie", tension=12.0), rupture("tie", at=0.05)])
    first = lambda t, x: max(10.0 * (x["m.centre"][0] - 1.1), t - 0.05)  # noqa: E731
    run = integrate(mechanism, start, TIMES, changes=[rupture("tie", when=first)])
    assert run.events["rupture tie"].times[0] == pytest.approx(np.arcsin(1.0 / 3.0) / 10.0, abs=1e-4)  # x = 0.3 sin 10t


def test_a_spring_that_an_input_sets_does_not_begin_to_hold():
    mechanism, start = tied(stiffness=100.0)
    spring = spring_damper("m.point", GROUND.at(0.0, 0.0), law=controlled(1.0), length=1.0, name="more")
    with pytest.raises(ValueError, match=r"not a spring whose stiffness is an input; give it the law without"):
        integrate(mechanism, start, TIMES, changes=[lock(spring, at=0.05)])


def test_several_elements_break_in_turn(tmp_path):
    """One by one; the run is saved, read, shown, and goes on with what is left."""
    mechanism, start = hung(rod())
    snaps = [rupture("rope", 1.6, tension=40.0), rupture("rope", 0.3, at=0.05)]
    run = integrate(mechanism, start, TIMES, inputs=PULL, changes=snaps)
    first, second = (run.events[f"rupture rope{more}"].times for more in ("", " (2)"))
    assert first.size == second.size == 1 and first[0] < second[0] == 0.05
    run.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", with_changes(mechanism, snaps))
    np.testing.assert_array_equal(again.states, run.states)
    whole = integrate(mechanism, start, TIMES, inputs=PULL)
    assert len(motion_scene(run).parts) == len(motion_scene(whole).parts)
    longer = integrate(run.final_mechanism, run, np.linspace(0.06, 0.07, 11), inputs={"pull": lambda t: [0.0, 0.0]})
    assert longer.ledger.largest_residual <= 1e-12
    with pytest.raises(ValueError, match="breaks within the run: use the ledger"):
        run.measured(energy("elastic rope"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: rupture("rope", 2.5, at=0.01), "s must be on 'rope', 0 to 2.0 m, got 2.5 m"),
        (lambda: rupture("rope", at=0.01), "s must be given"),
        (lambda: rupture("rope", 0.5), "needs either at="),
        (lambda: rupture("rope", 0.5, tension=1.0, at=0.1), "either tension="),
        (lambda: rupture("rope", 0.5, tension=-1.0), "tension must be positive"),
        (lambda: rupture("hinge rope.root–GROUND", at=0.01), "a spring, rod or cable breaks"),
        (lambda: rupture("robe", 0.5, at=0.01), "no rod, cable or spring 'robe'"),
    ],
)
def test_what_cannot_break_is_refused(change, message):
    mechanism, start = hung(rod())
    with pytest.raises(ValueError, match=message):
        integrate(mechanism, start, TIMES, inputs=PULL, changes=[change()])


def test_a_hose_does_not_break():
    flow = fem.Flow(0.1, 1.0)
    hose = fem.cable(2.0, mass_per_length=0.1, axial=1e4, bending=0.01, elements=2, dim=2, flow=flow)
    mechanism, start = hung(hose)
    with pytest.raises(ValueError, match="a hose with a flow does not break"):
        integrate(mechanism, start, TIMES, inputs=PULL, changes=[rupture("rope", 0.7, at=0.01)])


def test_an_element_breaks_once():
    mechanism, start = hung(rod())
    with pytest.raises(ValueError, match="is broken already"):
        snaps = [rupture("rope", 0.6, at=0.01), rupture("rope", 0.7, at=0.02)]
        integrate(mechanism, start, TIMES, inputs=PULL, changes=snaps)


TEXT = """
bodies:
  rope: {kind: cable, length: 2 m, mass_per_length: 0.1, axial: 10000, bending: 0.01, elements: 2, dim: 2}
connections:
  - {kind: hinge, first: rope.root, second: ground}
gravity: [0, -9.81]
runs:
  snap: {end: 10 ms, steps: 10, changes: [CHANGE]}
"""


def test_a_rupture_in_a_model_file(tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text(TEXT.replace("CHANGE", "{rupture: rope, s: 500 mm, at: 5 ms}"))
    run = load_model(file).run("snap").solution
    assert run.events["rupture rope"].times == pytest.approx(0.005)
    file.write_text(TEXT.replace("CHANGE", "{release: rope, s: 500 mm, at: 5 ms}"))
    with pytest.raises(ModelError, match="s and tension are for a rupture"):
        load_model(file)


def test_a_part_above_its_strength_at_the_start_breaks_there():
    tie = spring_damper("m.point", GROUND.at(-1.0, 0.0), length=0.9, stiffness=100.0, name="tie")
    mechanism = connect({"m": rigid.point(1.0)}, [tie])
    start = mechanism.consistent_state(mechanism.assemble({"m": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 21), changes=[rupture("tie", tension=5.0)])
    assert run.ledger.dissipation["rupture tie"].sum() == pytest.approx(0.5 * 100.0 * 0.1**2, rel=1e-12)
    np.testing.assert_allclose(run.position("m.point"), 0.0, atol=1e-14)
