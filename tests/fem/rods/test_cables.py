"""Cables: closed forms at rest, invariants in motion, and bad input."""

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
import rigid
from flexph import GROUND, ValidityWarning, connect, distributed_load, force, integrate, revolute, spherical
from flexph.scenes import pose_scene

ROPE = {"mass_per_length": 0.3, "axial": 1e4, "bending": 0.1}


def arc(length, span):
    """A circular arc over a span, by its length."""
    radius = brentq(lambda r: 2.0 * r * np.sin(0.5 * length / r) - span, 0.5 * length / np.pi * 1.01, 100.0 * length)
    sag = radius * np.cos(0.5 * length / radius)

    def curve(s):
        angle = (s - 0.5 * length) / radius
        return 0.5 * span + radius * np.sin(angle), 0.0, sag - radius * np.cos(angle)

    return curve, radius


def test_a_sagging_cable_is_a_catenary():
    """Thrust and sag of the inextensible one without bending: both are 1e-5 of it here."""
    length, span, weight = 10.0, 8.0, 0.3 * 9.81
    rope = fem.cable(
        length,
        mass_per_length=0.3,
        axial=1e6,
        bending=1e-4,
        elements=6,
        curve=arc(length, span)[0],
        ports={"middle": 5.0},
    )
    joints = [spherical("rope.root", GROUND.at(0.0, 0.0, 0.0)), spherical("rope.tip", GROUND.at(span, 0.0, 0.0))]
    mechanism = connect({"rope": rope}, joints, gravity=(0.0, 0.0, -9.81))
    state = mechanism.equilibrium(mechanism.assemble({"rope": ((0.0, 0.0, 0.0), np.eye(3))}))
    catenary = brentq(lambda a: 2.0 * a * np.sinh(0.5 * span / a) - length, 0.5, 100.0)
    sag = catenary * (np.cosh(0.5 * span / catenary) - 1.0)
    np.testing.assert_allclose(mechanism.position(state, "rope.middle"), [0.5 * span, 0.0, -sag], rtol=0, atol=1e-3)
    pull = mechanism.reaction(state, mechanism.connections[0].name).force[0]
    np.testing.assert_allclose(pull, [-catenary * weight, 0.0, 0.5 * weight * length], rtol=1e-3, atol=1e-9)
    slow = mechanism.spectrum(state).values.imag
    assert np.abs(slow).min() == pytest.approx(2.1603, abs=1e-3)  # its pendulum: no soft motions of the mesh


def test_energy_of_bending_is_that_of_its_curvature():
    """Of a circle, by the unloaded length: a stretched one has the same turn of its tangents."""
    length = 4.0
    curve, radius = arc(length, 3.0)
    stretched = 1.005
    for factor in (1.0, stretched):
        rope = fem.cable(length, **ROPE, elements=12, curve=lambda s, f=factor: f * np.array(curve(s)))
        mechanism = connect({"rope": rope}, [])
        run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), [0.0, 1e-6])
        energy = 0.5 * ROPE["bending"] * length / radius**2
        energy += 0.5 * ROPE["axial"] * length * (0.5 * (factor**2 - 1.0)) ** 2
        assert run.ledger.total_energy[0] == pytest.approx(
            energy, rel=1e-3
        )  # of 12 cubic elements; |r''|² would be off by 5e-3


def test_points_have_the_mass_of_the_curve():
    rope = fem.cable(4.0, **ROPE, elements=3, ports={"q": 1.3})
    masses, x = np.array([node.mass for node in rope.frames]), rope.places[:, 0]
    assert masses.min() > 0.0
    np.testing.assert_allclose([masses.sum(), masses @ x, masses @ x**2], [1.2, 2.4, 6.4], rtol=1e-14)
    np.testing.assert_allclose(rope.ports["q"].position, [1.3, 0.0, 0.0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("step", [0.02, 0.05])
def test_a_tumbling_rope_keeps_all_invariants(step):
    rope = fem.cable(2.0, **ROPE, elements=4)
    hub = rigid.body(0.5, inertia=(0.02, 0.03, 0.04), ports={"eye": (0.1, 0.0, 0.05)})
    mechanism = connect({"rope": rope, "hub": hub}, [spherical("rope.tip", "hub.eye")])
    pose = mechanism.assemble({"rope": ((0.0, 0.0, 0.0), np.eye(3))})
    motion = {"rope": ((0.0, 0.0, 0.0), (0.0, 3.0, 2.0)), "hub": ((0.0, -4.0, 6.0), (3.0, 1.0, 2.0))}
    run = integrate(mechanism, mechanism.consistent_state(pose, velocities=motion), np.arange(0.0, 0.6, step))
    assert run.energy_drift() <= 1e-13
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() <= 1e-13 * np.abs(momentum).max()
    assert run.ledger.position_residual.max() <= 1e-14
    assert run.ledger.iterations.mean() <= 5.0


def test_loads_and_damping_are_in_the_ledger():
    """A uniform load is a weight; forces act on points between the borders of elements."""
    rope = fem.cable(2.0, **ROPE, elements=3, ports={"q": 0.7}, damping=fem.Damping(stiffness=1e-3))
    held = [spherical("rope.root", GROUND.at(0.0, 0.0, 0.0))]
    free = connect({"rope": rope}, held, gravity=(0.0, 0.0, -9.81))
    loaded = connect({"rope": rope}, [*held, distributed_load("rope.load", name="w"), force("rope.q", name="F")])
    ends = []
    for mechanism, inputs in ((free, {}), (loaded, {"w": [0.0, 0.0, -9.81 * 0.3], "F": [0.0, 0.0, 0.0]})):
        pose = mechanism.assemble({"rope": ((0.0, 0.0, 0.0), np.eye(3))})
        run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.2, 9), inputs=inputs)
        ends.append(run.position("rope.tip")[-1])
        assert run.ledger.largest_residual <= 1e-12
        assert run.ledger.dissipation["rope"].sum() > 0.0
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)
    pose = loaded.assemble({"rope": ((0.0, 0.0, 0.0), np.eye(3))})
    run = integrate(loaded, loaded.consistent_state(pose), [0.0, 0.05, 0.1], inputs={"F": lambda t: [0.0, 5.0, 1.0]})
    assert run.ledger.largest_residual <= 1e-12
    assert run.ledger.work["F"].sum() > 0.0


def test_cables_are_drawn():
    rope = fem.cable(2.0, **ROPE, elements=2)
    mechanism = connect({"rope": rope}, [spherical("rope.root", GROUND.at(1.0, 0.0, 0.0))])
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    parts = pose_scene(mechanism, mechanism.assemble({"rope": ((1.0, 0.0, 0.0), turn)})).parts
    np.testing.assert_allclose([parts[0].points[0, :, 1].min(), parts[0].points[0, :, 1].max()], [0.0, 2.0], atol=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bending": 0.0}, "bending must be positive"),
        ({"axial": -1.0}, "axial must be positive"),
        ({"ports": {"q": 5.0}}, "port 'q' must be on the cable, 0 to 4.0 m, got 5.0 m"),
        ({"curve": lambda s: (2.0 * s, 0.0, 0.0)}, "curve must have its length as parameter"),
        ({"damping": fem.Damping(mass=0.1)}, "damping of a cable must be by stiffness="),
    ],
)
def test_bad_input_is_answered(options, message):
    with pytest.raises(ValueError, match=message):
        fem.cable(4.0, **{**ROPE, "elements": 2, **options})


def test_what_a_cable_has_not_is_refused_by_name():
    rope = fem.cable(2.0, **ROPE, elements=2)
    with pytest.raises(ValueError, match=r"of a cable has one direction, its slope"):
        connect({"rope": rope}, [revolute("rope.root", GROUND, axis=(0.0, 0.0, 1.0))])
    with pytest.raises(ValueError, match=r"load 'rope\.load' cannot follow its body"):
        connect({"rope": rope}, [distributed_load("rope.load", axes="body")])
    with pytest.raises(ValueError, match="join a rigid body or a point mass"):
        rope.with_mass("tip", 1.0)
    mechanism = connect({"rope": rope}, [])
    with pytest.raises(ValueError, match="linearize at a pose is not available for 'rope'"):
        mechanism.linearize(mechanism.assemble())


def test_a_mesh_that_does_not_hold_the_curvature_warns():
    curve, _ = arc(4.0, 1.5)
    mechanism = connect({"rope": fem.cable(4.0, **ROPE, elements=3, curve=curve)}, [])
    start = mechanism.consistent_state(mechanism.assemble())
    with pytest.warns(ValidityWarning, match=r"an element of 'rope' turns by 1\.\d+ rad between its ends"):
        integrate(mechanism, start, [0.0, 1e-4])
