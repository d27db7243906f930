"""Contacts of the nodes of rods, and of points of cables, which are means of nodes; Capstan's equation."""

import math

import numpy as np
import pytest
from contact_runs import lawful, sound

import fem
from flexph import GROUND, connect, force, integrate, spherical, spring_damper
from flexph.contacts import Cylinder, KelvinVoigt, Plane, Rigid, Sphere, contact, mutual_contact
from flexph.methods import Exact
from flexph.sensors import gap, normal_force

PORTS = {f"node{i}": i / 4.0 for i in range(5)}
SHAPES = {
    "plane": Plane(GROUND.at(0.0, 0.0, -1e-3), (0.0, 0.0, 1.0)),
    "cylinder": Cylinder(GROUND.at(0.5, 0.0, -0.101), 0.1, (0.0, 1.0, 0.0)),
}
LAWS = {"soft": KelvinVoigt(1e4, damping=5.0, friction=0.3), "rigid": Rigid(friction=0.3)}


def line(kind):
    if kind == "cable":
        return fem.cable(1.0, mass_per_length=0.1, axial=1e3, bending=1e-2, elements=4, ports=PORTS | {"within": 0.3})
    rubber = fem.Material(young=1e7, density=1000.0, poisson=0.3)
    return fem.rod(1.0, rubber, fem.Section(width=0.01, height=0.01), elements=4, ports=PORTS)


def falling(kind, shape, law, ports=tuple(PORTS)):
    touching = contact([f"line.{port}" for port in ports], SHAPES[shape], law, name="touch")
    mechanism = connect({"line": line(kind)}, [touching], gravity=(0.0, 0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble())


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["rod", "cable"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_lines_that_fall_are_held_where_they_touch(kind, shape, law):
    mechanism, start = falling(kind, shape, LAWS[law])
    run = integrate(mechanism, start, np.linspace(0.0, 0.03, 13))
    x, _, z = np.array([run.position(f"line.{port}") for port in PORTS]).T
    gaps = z + 1e-3 if shape == "plane" else np.hypot(x - 0.5, z + 0.101) - 0.1
    touch = run.contact("touch")
    np.testing.assert_allclose(touch.gap, gaps, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(run.measured(gap("touch")), touch.gap)
    assert touch.touches.any() and touch.gap.min() > (-1e-12 if law == "rigid" else -1e-3)
    assert run.measured(normal_force("touch")).max() > 0.0
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("port", ["node2", "within"])
def test_the_impulse_of_a_contact_of_a_cable_is_its_change_of_momentum(port, law):
    mechanism, start = falling("cable", "plane", LAWS[law], (port,))
    run = integrate(mechanism, start, np.linspace(0.0, 0.02, 9))
    weight = 9.81 * mechanism.bodies["line"].mass * run.times[-1]
    pushed = run.ledger.impulses["touch: normal"].sum()
    assert pushed > 0.01 * weight
    assert run.linear_momentum()[-1, 2] == pytest.approx(pushed - weight, abs=1e-13 * weight)


@pytest.mark.covering
@pytest.mark.parametrize("kind", ["rod", "cable"])
@pytest.mark.parametrize("shape", SHAPES)
def test_rigid_contacts_of_lines_obey_their_laws(kind, shape):
    ports = (*PORTS, "within") if kind == "cable" else tuple(PORTS)
    mechanism, start = falling(kind, shape, LAWS["rigid"], ports)
    times = np.linspace(0.0, 0.03, 13)
    lawful(integrate(mechanism, start, times, method=Exact(contact="steps")))
    sound(integrate(mechanism, start, times))


def test_a_chain_of_lines_falls_and_folds():
    """A rod that holds a cable by a joint, and both the floor: one island."""
    bodies = {"rod": line("rod"), "cable": line("cable")}
    places = [f"{name}.{port}" for name in bodies for port in PORTS]
    touching = contact(places, Plane(GROUND.at(0.0, 0.0, -5e-3), (0.05, 0.0, 1.0)), Rigid(friction=0.2), name="touch")
    mechanism = connect(bodies, [spherical("rod.node4", "cable.node0"), touching], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"cable": (1.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.15, 31), method=Exact(contact="steps"))
    assert run.contact("touch").touches.sum(axis=1).max() > 4
    lawful(run)


def test_parts_of_a_cable_touch_each_other():
    """Pairs on one cable move against each other, as those on one rigid body do not."""
    balls = [Sphere("line.node0", 0.3), Sphere("line.node4", 0.3), Sphere("line.node2", 0.05)]
    mechanism = connect({"line": line("cable")}, [mutual_contact(balls, KelvinVoigt(1e4), name="ends")])
    assert mechanism.network.arrays.contacts.number == 3


@pytest.mark.parametrize("kind", ["rod", "cable"])
def test_restitution_at_a_node_is_refused(kind):
    with pytest.raises(ValueError, match=r"touch: restitution.*not defined.*'line\.node0',.*body deforms"):
        falling(kind, "plane", Rigid(restitution=0.5))


def pulled_round(ratio, friction=0.2, radius=0.1, tension=20.0):
    """Run of a planar cable half round a roller; the pull on its right is ``ratio`` e^{μπ} times that on its left."""
    length = math.pi * radius + 0.12
    nodes = {f"n{i}": i * length / 24 for i in range(1, 24)}
    damping = fem.Damping(stiffness=2e-3)
    stiff = {"axial": 2e4, "bending": 1e-3, "damping": damping}
    cable = fem.cable(length, mass_per_length=0.2, elements=24, dim=2, ports=nodes, **stiff)
    centre = GROUND.at(0.5 * length, -radius)
    law = KelvinVoigt(2e4, damping=20.0, friction=friction)
    touch = contact([f"line.{name}" for name in nodes], Sphere(centre, radius), law, name="roller")
    air = [
        spring_damper(f"line.{end}", centre, damping=2.0, direction=way, length=0.0, name=f"air of {end} along {way}")
        for end in ("root", "tip")
        for way in ((1.0, 0.0), (0.0, 1.0))
    ]
    pulls = [force("line.root", name="left"), force("line.tip", name="right")]
    mechanism = connect({"line": cable}, [touch, *air, *pulls])
    rise = lambda t, begin, end: 0.5 - 0.5 * math.cos(math.pi * min(max((t - begin) / (end - begin), 0.0), 1.0))  # noqa: E731
    more = ratio * math.exp(friction * math.pi) - 1.0
    inputs = {
        "left": lambda t: (0.0, -tension * rise(t, 0.0, 0.1)),
        "right": lambda t: (0.0, -tension * rise(t, 0.0, 0.1) * (1.0 + more * rise(t, 0.3, 0.7))),
    }
    start = mechanism.consistent_state(mechanism.assemble())
    return integrate(mechanism, start, 5e-4 * np.arange(1801), inputs=inputs)


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize("ratio, holds", [(0.97, True), (1.05, False)])
def test_a_cable_round_a_roller_holds_up_to_the_tension_of_capstans_equation(ratio, holds):
    """T₁ = T₀ e^{μφ} of a band; a polygon of 23 points has 0.2 % more."""
    run = pulled_round(ratio)
    along = run.position("line.n12")[:, 0]
    settled, last = (along[np.searchsorted(run.times, t)] for t in (0.75, 0.9))
    moved = abs(last - settled)
    assert moved < 1e-8 if holds else moved > 0.02
    assert not holds or abs(settled - along[500]) < 2e-4  # anchors give
    assert np.abs(run.ledger.residual).max() < 1e-12 * run.ledger.scale
