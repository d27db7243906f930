"""Cables in the plane: closed forms at rest, invariants in motion, and the cable of space restrained to the plane."""

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
import rigid
from flexph import (
    GROUND,
    ValidityWarning,
    connect,
    distance,
    distributed_load,
    eigenfrequencies,
    force,
    hinge,
    integrate,
    spherical,
    spring_damper,
)
from flexph.contacts import KelvinVoigt, Plane, Rigid, contact
from flexph.export import write_series
from flexph.methods import Decaying, Exact4, ExactGauss
from flexph.models import load_model, write_model
from flexph.scenes import pose_scene

ROPE = {"mass_per_length": 0.3, "axial": 1e4, "bending": 0.1}


def arc(length, span):
    """A circular arc over a span, by its length."""
    radius = brentq(lambda r: 2.0 * r * np.sin(0.5 * length / r) - span, 0.5 * length / np.pi * 1.01, 100.0 * length)
    sag = radius * np.cos(0.5 * length / radius)

    def curve(s):
        angle = (s - 0.5 * length) / radius
        return 0.5 * span + radius * np.sin(angle), sag - radius * np.cos(angle)

    return curve


def hanging(length, span, *, bending=1e-4, elements=6):
    """A cable between two points of one height, and its pose along an arc."""
    rope = fem.cable(
        length,
        mass_per_length=0.3,
        axial=1e6,
        bending=bending,
        elements=elements,
        dim=2,
        curve=arc(length, span),
        ports={"middle": 0.5 * length},
    )
    joints = [hinge("rope.root", GROUND.at(0.0, 0.0)), hinge("rope.tip", GROUND.at(span, 0.0))]
    mechanism = connect({"rope": rope}, joints, gravity=(0.0, -9.81))
    return mechanism, mechanism.assemble({"rope": (0.0, 0.0, 0.0)})


def test_a_sagging_cable_is_a_catenary():
    """Thrust and sag of the inextensible one without bending: both are 1e-5 of it here."""
    length, span, weight = 10.0, 8.0, 0.3 * 9.81
    mechanism, pose = hanging(length, span)
    state = mechanism.equilibrium(pose)
    catenary = brentq(lambda a: 2.0 * a * np.sinh(0.5 * span / a) - length, 0.5, 100.0)
    sag = catenary * (np.cosh(0.5 * span / catenary) - 1.0)
    np.testing.assert_allclose(mechanism.position(state, "rope.middle"), [0.5 * span, -sag], rtol=0, atol=1e-3)
    pull = mechanism.reaction(state, mechanism.connections[0].name).force[0]
    np.testing.assert_allclose(pull, [-catenary * weight, 0.5 * weight * length], rtol=1e-3)


def test_frequencies_of_a_taut_string():
    """ω_k = (kπ/L) √(T/ρA) (closed form), and the spectrum is that of the linear system."""
    length, pull = 2.0, 300.0
    rope = fem.cable(length, mass_per_length=0.3, axial=1e6, bending=1e-4, elements=12, dim=2)
    held = [hinge("rope.root", GROUND.at(0.0, 0.0)), distance("rope.tip", GROUND.at(length, 5000.0))]
    mechanism = connect({"rope": rope}, [*held, force("rope.tip", name="F")])
    stretched = {"F": [pull, 0.0]}
    state = mechanism.equilibrium(mechanism.assemble({"rope": (0.0, 0.0, 0.0)}), inputs=stretched)
    spectrum = mechanism.spectrum(state, inputs=stretched).frequencies
    k = np.arange(1, 4)
    np.testing.assert_allclose(spectrum[:3], k * np.pi / length * np.sqrt(pull / 0.3), rtol=2e-3)  # stiffness 1e-3
    system = mechanism.linearize(state, inputs=stretched)
    np.testing.assert_allclose(eigenfrequencies(system, 3), spectrum[:3], rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.* free to move:UserWarning")
@pytest.mark.parametrize("step", [0.02, 0.05])
@pytest.mark.parametrize("method", [None, Exact4()], ids=["Exact", "Exact4"])
def test_a_tumbling_rope_keeps_all_invariants(step, method):
    rope = fem.cable(2.0, **ROPE, elements=4, dim=2)
    hub = rigid.body(0.5, inertia=0.03, ports={"eye": (0.1, 0.05)})
    mechanism = connect({"rope": rope, "hub": hub}, [hinge("rope.tip", "hub.eye")])
    pose = mechanism.assemble({"rope": (0.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"rope": (0.0, 0.0, 3.0)}, joints="free")
    run = integrate(mechanism, start, np.arange(0.0, 0.6, step), **({"method": method} if method else {}))
    assert run.energy_drift() <= 1e-13
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() <= 1e-13 * max(1.0, np.abs(momentum).max())
    assert run.ledger.position_residual.max() <= 1e-14


def pair(dim):
    """A damped rope with a body at its end that falls about a point, with loads and a spring, in the x-y plane."""
    place = lambda *x: GROUND.at(*x, *(0.0,) * (dim - 2))  # noqa: E731
    damping = fem.Damping(stiffness=1e-3)
    rope = fem.cable(2.0, **ROPE, elements=8, ports={"q": 0.7}, damping=damping, dim=dim)
    ball = rigid.point(0.4, dim)
    join = hinge if dim == 2 else spherical
    loads = [distributed_load("rope.load", name="w"), force("rope.q", name="F")]
    spring = spring_damper("rope.tip", place(2.0, 1.0), stiffness=5.0, damping=0.1, length=0.5)
    joints = [join("rope.root", place(0.0, 0.0)), join("ball.point", "rope.tip"), spring]
    mechanism = connect({"rope": rope, "ball": ball}, [*joints, *loads], gravity=(0.0, -9.81, 0.0)[:dim])
    pose = {"rope": (0.0, 0.0, 0.0) if dim == 2 else ((0.0, 0.0, 0.0), np.eye(3))}
    return mechanism, mechanism.assemble(pose)


def test_the_cable_of_space_restrained_to_the_plane():
    """Two routes to one motion: a planar motion of a spatial cable stays in its plane."""
    runs = []
    for dim in (2, 3):
        mechanism, pose = pair(dim)
        wide = lambda x, y, d=dim: [x, y, 0.0][:d]  # noqa: E731
        inputs = {"w": lambda t, f=wide: f(0.0, -t), "F": lambda t, f=wide: f(1.0, 5.0 * t)}
        run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 1.0, 101), inputs=inputs)
        assert run.ledger.largest_residual <= 1e-12
        assert run.ledger.dissipation["rope"].sum() > 0.0
        runs.append(run)
    plane, space = runs
    for port in ("rope.tip", "rope.q", "ball.point"):
        np.testing.assert_allclose(plane.position(port), space.position(port)[:, :2], rtol=0, atol=1e-9)
    np.testing.assert_allclose(plane.ledger.total_energy, space.ledger.total_energy, rtol=0, atol=1e-9)


def test_second_order_in_time():
    """By the differences of runs with halved steps, which resolve all motions of this soft rope."""
    ends = []
    for steps in (640, 1280, 2560, 5120):
        rope = fem.cable(2.0, mass_per_length=1.0, axial=200.0, bending=2.0, elements=1, dim=2)
        mechanism = connect({"rope": rope}, [])
        start = mechanism.consistent_state(mechanism.assemble(), velocities={"rope": (0.0, 0.0, 1.0)})
        ends.append(integrate(mechanism, start, np.linspace(0.0, 1.0, steps + 1)).position("rope.tip")[-1])
    apart = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    np.testing.assert_allclose(np.log2(apart[:-1] / apart[1:]), 2.0, rtol=0, atol=0.15)
    assert apart[-1] <= 1e-6


LAWS = {
    "rigid": Rigid(friction=0.3),
    "spring": KelvinVoigt(500.0, damping=1.0),
    "anchored": KelvinVoigt(500.0, damping=1.0, friction=0.3, tangential_stiffness=200.0),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_cable_falls_on_the_ground(law):
    damping, ports = fem.Damping(stiffness=1e-3), {"q": 0.9}
    rope = fem.cable(2.0, **ROPE | {"bending": 2.0}, elements=4, dim=2, ports=ports, damping=damping)
    floor = lambda port: contact(port, Plane(GROUND.at(0.0, -0.2), (0.0, 1.0)), law, name=port)  # noqa: E731
    ports = ("rope.root", "rope.q", "rope.tip")
    mechanism = connect({"rope": rope}, [floor(port) for port in ports], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"rope": (0.0, 0.0, 0.1)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.6, 301))
    assert run.ledger.largest_residual <= 1e-12
    assert np.diff(run.ledger.total_energy).max() <= 1e-10 * abs(run.ledger.total_energy).max()
    assert min(run.position(port)[:, 1].min() for port in ports) >= (-0.2 - 1e-9 if isinstance(law, Rigid) else -0.4)
    assert run.position("rope.tip")[-1, 1] < -0.1


def test_planar_cables_are_drawn_and_saved(tmp_path):
    rope = fem.cable(2.0, **ROPE, elements=2, dim=2)
    mechanism = connect({"rope": rope}, [hinge("rope.root", GROUND.at(1.0, 0.0))])
    pose = mechanism.assemble({"rope": (1.0, 0.0, 0.5 * np.pi)})
    parts = pose_scene(mechanism, pose).parts
    np.testing.assert_allclose([parts[0].points[0, :, 1].min(), parts[0].points[0, :, 1].max()], [0.0, 2.0], atol=0.05)
    assert np.ptp(parts[0].points[0, :, 2]) > 0.0  # bars have a thickness
    run = integrate(mechanism, mechanism.consistent_state(pose), [0.0, 0.1])
    assert write_series(tmp_path / "rope.pvd", run)
    write_model(tmp_path / "rope.yaml", mechanism)
    again = load_model(tmp_path / "rope.yaml").mechanism
    assert again.layout.dim == 2
    np.testing.assert_array_equal(again.network.arrays.mass, mechanism.network.arrays.mass)


def test_an_element_that_turns_by_much_warns():
    mechanism, _ = hanging(2.0, 1.0, elements=1, bending=1.0)
    with pytest.warns(ValidityWarning, match="an element of 'rope' turns by"):
        mechanism.equilibrium(mechanism.assemble({"rope": (0.0, 0.0, 0.0)}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 4}, r"dim must be 2 \(plane\) or 3 \(space\), got 4"),
        ({"curve": lambda s: (s, 0.0, 0.0)}, r"place on the curve must have shape \(2,\)"),
        ({"curve": lambda s: (2.0 * s, 0.0)}, "curve must have its length as parameter"),
    ],
)
def test_bad_input_is_answered(options, message):
    with pytest.raises(ValueError, match=message):
        fem.cable(4.0, **{**ROPE, "elements": 2, "dim": 2, **options})


def test_other_methods_are_refused_by_name():
    mechanism = connect({"rope": fem.cable(2.0, **ROPE, elements=1, dim=2)}, [])
    state = mechanism.consistent_state(mechanism.assemble())
    for method in (ExactGauss(), Decaying(radius=0.5)):
        with pytest.raises(
            ValueError, match=f"{type(method).__name__}.* supports no body of nodes .* such as 'rope': "
        ):
            integrate(mechanism, state, [0.0, 0.1], method=method)
