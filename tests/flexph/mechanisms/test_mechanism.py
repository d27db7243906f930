"""Mechanisms: their nonlinear and linear equations, assembly, and consistent and quasi-static starts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eig, null_space
from scipy.optimize import approx_fprime

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distance,
    drive,
    eigenfrequencies,
    eliminate,
    force,
    hinge,
    integrate,
    poles,
    slider,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)
from flexph.interconnection import transformer

MATERIAL = fem.Material(young=2e6, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
DAMPED = fem.Damping(mass=0.5, stiffness=1e-3)
PLUMB = (0.0, -9.81)
ARC = 0.7


def beam(length, elements=2, **options):
    return fem.beam(length, MATERIAL, SECTION, elements=elements, **options)


def turned(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


def angle_of(rotation):
    return math.atan2(rotation[1, 0], rotation[0, 0])


def crank_slider(strain="von_karman", speed=6.0, gravity=PLUMB, **options):
    rod = beam(0.8, strain=strain, reference="simply_supported", stations={"middle": 0.4}, **options)
    bodies = {"crank": rigid.bar(0.3, 0.5), "rod": rod, "slider": rigid.point(0.4)}
    joints = [
        hinge("crank.root", GROUND.at(0.1, 0.2)),
        drive("crank.root", angle=lambda t: ARC + speed * t),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.1, 0.2), turning=True),
    ]
    return connect(bodies, joints, gravity=gravity)


def sprung_pendulum():
    connections = [
        hinge("rod.root", GROUND.at(0.2, 0.1)),
        spring_damper("rod.tip", GROUND.at(1.0, 1.0), stiffness=30.0, damping=0.7, length=0.4),
        torsion_spring("rod.root", GROUND, stiffness=2.0, damping=0.3, angle=0.5),
        force("rod.middle"),
        torque("rod.tip"),
    ]
    rod = beam(0.8, damping=DAMPED, stations={"middle": 0.3}).with_mass("tip", 0.2, 1e-3)
    return connect({"rod": rod}, connections, gravity=PLUMB)


def welded_beams():
    shared = beam(0.6, strain="von_karman", damping=DAMPED)
    joints = [weld("left.tip", "right.root"), distance("left.root", "right.tip")]
    return connect({"left": shared, "right": shared}, joints, gravity=PLUMB)


MAKERS = {
    "crank_slider": lambda: crank_slider(damping=DAMPED),
    "sprung_pendulum": sprung_pendulum,
    "welded_beams": welded_beams,
}
STARTS = {"crank": (0.1, 0.2, ARC), "rod": -0.3, "left": 0.4, "right": 1.0}


def start_of(mechanism, **options):
    pose = mechanism.assemble(guess={k: v for k, v in STARTS.items() if k in mechanism.bodies})
    return mechanism.consistent_state(pose, **options)


@pytest.fixture(scope="module", params=MAKERS)
def system(request):
    """A mechanism with its equations."""
    mechanism = MAKERS[request.param]()
    return mechanism, mechanism.phdae(start_of(mechanism))


def random_states(system, count=3):
    rng = np.random.default_rng(7)
    return [system.sample + 0.3 * rng.standard_normal(system.size) for _ in range(count)]


def dense(a):
    return a if isinstance(a, np.ndarray) else a.toarray()


def gradient(function, x):
    """By central differences: 1e-5**2 of the third derivatives, and 1e-16/1e-5."""
    return np.array([(function(x + e) - function(x - e)) / 2e-5 for e in 1e-5 * np.eye(x.size)]).T


# --- nonlinear equations ----------------------------------------------------------------------------------------------


def test_the_structure_is_skew_and_dissipation_not_negative(system):
    _, equations = system
    for x in random_states(equations):
        J, R = dense(equations.J(x)), dense(equations.R(x))
        assert np.abs(J + J.T).max() < 1e-15 * np.abs(J).max()  # the shift to the centre of mass is a product
        assert np.abs(R - R.T).max() == 0.0
        assert np.linalg.eigvalsh(R).min() > -1e-13 * np.abs(R).max()  # round-off of the eigenvalues


def test_efforts_are_the_gradient_of_the_energy(system):
    _, equations = system
    for x in random_states(equations):
        difference = dense(equations.E(x)).T @ equations.z(x) - gradient(equations.H, x)
        # H is a sum of stresses², speeds² and heights, of order one, and a polynomial of degree four
        assert np.abs(difference).max() < 1e-8


def test_the_rate_of_energy_is_power_less_dissipation(system):
    """dH/dt along the equations is the power through the ports less dissipation, less that of open constraints."""
    mechanism, equations = system
    rows = mechanism.layout.size
    rng = np.random.default_rng(1)
    for x in random_states(equations):
        u = rng.standard_normal(equations.B(x).shape[1])
        z, B = equations.z(x), dense(equations.B(x))
        rate = (dense(equations.J(x)) - dense(equations.R(x))) @ z + B @ u
        motion = np.linalg.solve(dense(equations.E(x))[:rows, :rows], rate[:rows])
        power = gradient(equations.H, x)[:rows] @ motion
        expected = (B.T @ z) @ u - z @ (equations.R(x) @ z) - x[rows:] @ rate[rows:]
        # the gradient is good to 1e-8, accelerations are of order 1e4
        assert power == pytest.approx(expected, abs=1e-9 * np.abs(motion).max() * rows)


def test_the_step_is_consistent_with_the_equations():
    """E ẋ = (J − R) z + B u at the middle of a step with its multipliers, up to the square of the step."""
    mechanism = sprung_pendulum()
    start = start_of(mechanism, velocities={"rod": 2.0})
    equations = mechanism.phdae(start)
    u = np.array([1.0, -2.0, 0.3])
    inputs = {"force rod.middle": u[:2], "torque rod.tip": u[2]}
    errors = []
    for h in (1e-4, 5e-5, 2.5e-5):  # axial frequencies are 1e3/s
        run = integrate(mechanism, start, [0.0, h], inputs=inputs)
        x = np.concatenate([run.states.mean(axis=0), run.stage_multipliers[0]])
        jump = np.concatenate([run.states[1] - run.states[0], np.zeros(len(run.multipliers[0]))])
        right = (equations.J(x) - equations.R(x)) @ equations.z(x) + equations.B(x) @ u
        errors.append(np.abs(equations.E(x) @ jump / h - right).max())
    errors = np.array(errors)
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 1e-4


def test_constraints_are_the_rates_of_positions():
    """G v against differences of the distances of jointed ports, for every velocity."""
    mechanism = crank_slider()
    start = start_of(mechanism)
    n, q = mechanism.layout.velocities, sum(mechanism.layout.position_sizes)
    rng = np.random.default_rng(5)
    x = start.x + np.concatenate([0.1 * rng.standard_normal(q), np.zeros(start.x.size - q)])
    for name in ("crank", "rod"):
        x[mechanism.layout.parts[f"{name}.rotation"]] = turned(rng.uniform(-3.0, 3.0))[:, 0]
    J = mechanism.phdae(start).J(np.concatenate([x, np.zeros(mechanism.layout.multipliers)]))
    e = 1e-5
    states = [moved(mechanism, x, sign * e * v) for v in np.eye(n) for sign in (1.0, -1.0)]
    sight = replace(integrate(mechanism, start, [0.0, 1e-3]), times=np.arange(2.0 * n), states=np.array(states))
    pin = sight.position("crank.tip") - sight.position("rod.root")
    gap = {
        "hinge crank.tip–rod.root: x": pin[:, 0],
        "hinge crank.tip–rod.root: y": pin[:, 1],
        "slider slider.point–GROUND at (0.1, 0.2): across": sight.position("slider.point")[:, 1],
        "drive crank.root–GROUND: angle": np.unwrap([angle_of(R) for R in sight.rotations("crank")]),
    }
    for name, values in gap.items():
        row = -J[mechanism.layout.parts[name].start, q : q + n]
        assert row == pytest.approx((values[::2] - values[1::2]) / (2.0 * e), abs=1e-9)  # 1e-5² and 1e-16/1e-5


def moved(mechanism, x, v):
    """The state after small motions v = (ṙ, ω, u̇)."""
    layout, x = mechanism.layout, x.copy()
    translations, turns, deformations = layout.position_sizes
    x[:translations] += v[:translations]
    for i in range(turns // 2):
        at = slice(translations + 2 * i, translations + 2 * i + 2)
        x[at] = turned(v[translations + i]) @ x[at]
    x[translations + turns : translations + turns + deformations] += v[translations + turns // 2 :]
    return x


def test_a_hinge_is_a_transformer_of_two_single_bodies():
    """The mechanism of two bodies is what ``transformer`` makes of two mechanisms of one, with −λ for λ."""
    bodies = {"a": beam(0.6, strain="von_karman", damping=DAMPED), "b": rigid.bar(0.5, 0.8)}
    ports = {"a": "a.tip", "b": "b.root"}
    whole = connect(bodies, [hinge("a.tip", "b.root")], gravity=PLUMB)
    single = {k: connect({k: body}, [force(ports[k])], gravity=PLUMB) for k, body in bodies.items()}
    equations = {k: m.phdae(m.consistent_state(m.assemble())) for k, m in single.items()}
    joined = transformer(equations["a"], equations["b"], ("force a.tip", "force b.root"), np.eye(2))
    mechanism = whole.phdae(whole.consistent_state(whole.assemble()))
    order, sign = [], []
    for name, part in whole.layout.parts.items():
        multiplier = name.startswith("hinge")
        same = joined.parts["multipliers"] if multiplier else joined.parts[name]
        order += [same.start + "xy".index(name[-1])] if multiplier else range(same.start, same.stop)
        sign += [-1.0 if multiplier else 1.0] * (part.stop - part.start)
    take = np.array(sign)[:, None] * np.eye(joined.size)[order]
    for x in random_states(joined):
        for matrix in ("E", "J", "R"):
            ours, theirs = dense(getattr(mechanism, matrix)(take @ x)), dense(getattr(joined, matrix)(x))
            assert ours == pytest.approx(take @ theirs @ take.T, abs=1e-12 * np.abs(theirs).max())  # the same sums
        assert mechanism.z(take @ x) == pytest.approx(take @ joined.z(x), abs=1e-12)
        assert mechanism.H(take @ x) == pytest.approx(joined.H(x), rel=1e-12)


# --- names ------------------------------------------------------------------------------------------------------------


def test_layout_names_the_state_without_gaps():
    mechanism = crank_slider()
    parts = mechanism.layout.parts
    assert set(parts) >= {"crank.centre", "crank.rotation", "rod.deformation", "rod.deformation_rate", "rod.stress"}
    assert not {"slider.rotation", "slider.spin", "crank.deformation", "crank.stress"} & set(parts)
    edges = [0, *(s.stop for s in parts.values())]
    assert [s.start for s in parts.values()] == edges[:-1]
    assert edges[-1] == mechanism.layout.size + mechanism.layout.multipliers
    assert list(parts)[-mechanism.layout.multipliers :] == list(mechanism.constraint_names)


def test_inputs_and_constraints_have_names():
    mechanism = sprung_pendulum()
    assert mechanism.input_names == ("force rod.middle", "torque rod.tip")
    assert mechanism.constraint_names[0] == "hinge rod.root–GROUND at (0.2, 0.1): x"
    assert "spring rod.tip–GROUND at (1.0, 1.0)" in mechanism.layout.parts


def test_descriptions_count_bodies_joints_and_states():
    short, text = crank_slider().describe(), crank_slider().describe(details=True)
    for words in (
        "crank: 0.5 kg, rigid",
        "rod: ",
        "6 coordinates",
        "3 hinge",
        "velocities 14, constraints 8, redundant 0",
    ):
        assert words in short
    assert len(short.splitlines()) <= 14 and "rod.stress" not in short
    for words in (*short.splitlines()[:-1], "hinge crank.tip–rod.root: x, y", "rod.stress"):
        assert words in text


def test_a_description_says_what_is_singular():
    """A parallelogram is singular where its bars lie in one line; two welds hold a bar twice wherever it is."""
    bars = {name: rigid.bar(1.0, 1.0) for name in ("left", "top", "right")}
    pins = [hinge("left.tip", "top.root"), hinge("top.tip", "right.tip"), hinge("right.root", GROUND.at(1.0, 0.0))]
    four_bar = connect(bars, [hinge("left.root", GROUND), *pins])
    upright = four_bar.assemble({"left": (0.0, 0.0, 1.5), "right": (1.0, 0.0, 1.5)}, guess={"top": (0.0, 1.0, 0.0)})
    told = four_bar.describe(upright)
    assert "redundant 0, freedoms 1" in told and "  regular: smallest singular value 0." in told
    flat = four_bar.assemble({"left": 0.0, "top": 0.0, "right": 0.0})
    told = four_bar.describe(flat)
    assert "redundant 1, freedoms 2" in told and "  singular: at a nearby pose 0 are redundant" in told
    cart = connect({"bar": bars["top"]}, [slider("bar.root", GROUND), slider("bar.tip", GROUND)])
    assert "not singular: equally many are redundant" in cart.describe()


def test_a_body_may_be_used_twice():
    mechanism = welded_beams()
    start = mechanism.consistent_state(mechanism.assemble(guess={"left": 0.4, "right": 1.0}), velocities={"left": 1.0})
    run = integrate(mechanism, start, np.linspace(0.0, 0.05, 6))
    assert mechanism.bodies["left"] is mechanism.bodies["right"]
    assert np.abs(run.deformation("left") - run.deformation("right")).max() > 1e-6


def test_connections_and_bodies_cannot_be_changed():
    mechanism = welded_beams()
    with pytest.raises(TypeError):
        mechanism.bodies["left"] = rigid.bar(1.0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.gravity[0] = 1.0


# --- small motions ----------------------------------------------------------------------------------------------------


def sprung_four_bar(damping=0.0):
    bodies = {
        "crank": beam(0.3, elements=1),
        "rod": beam(0.6, elements=1, reference="simply_supported"),
        "rocker": rigid.bar(0.5, 0.4),
        "bob": rigid.point(0.3),
    }
    connections = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "rocker.root"),
        hinge("rocker.tip", GROUND.at(0.5, 0.0)),
        torsion_spring("crank.tip", "rod.root", stiffness=2.0, damping=damping),
        spring_damper("rod.tip", "bob.point", stiffness=50.0, damping=damping),
        spring_damper("bob.point", GROUND.at(1.0, 1.0), stiffness=70.0),
        slider("bob.point", GROUND.at(1.0, 0.6), direction=(0.5, 1.0), turning=True),
    ]
    mechanism = connect(bodies, connections)
    guess = {"crank": 1.2, "rod": 0.2, "rocker": -1.5, "bob": (1.1, 0.8, 0.0)}
    return mechanism, mechanism.assemble(guess=guess)


def poles_of_the_equations(mechanism, pose):
    """Poles of the nonlinear equations, linearised by differences about rest, in velocities that keep the joints."""
    state = mechanism.consistent_state(pose)
    equations = mechanism.phdae(state)
    x, size = equations.sample, mechanism.layout.size
    first, last = sum(mechanism.layout.position_sizes), mechanism.layout.velocities
    slope = gradient(lambda y: (equations.J(y) - equations.R(y)) @ equations.z(y), x)
    G = -dense(equations.J(x))[size:, first : first + last]
    free = null_space(G)
    basis = np.zeros((size, first + free.shape[1] + size - first - last))
    basis[:first, :first] = np.eye(first)
    basis[first : first + last, first : first + free.shape[1]] = free
    basis[first + last :, first + free.shape[1] :] = np.eye(size - first - last)
    E = basis.T @ dense(equations.E(x))[:size, :size] @ basis
    return eig(basis.T @ slope[:size, :size] @ basis, E, right=False)


def test_linearization_has_the_frequencies_of_the_nonlinear_equations():
    mechanism, pose = sprung_four_bar()
    expected = eigenfrequencies(eliminate(mechanism.linearize(pose)))
    found = np.sort(poles_of_the_equations(mechanism, pose).imag)
    assert len(expected) == 8  # 6 + 6 + 3 + 2 velocities less 9 constraints, none of them free
    # at rest all terms are products of two small quantities: only round-off of the differences, 1e-16/1e-5
    assert found[-len(expected) :] == pytest.approx(expected, rel=1e-9)


def test_linearization_has_the_damping_of_the_nonlinear_equations():
    mechanism, pose = sprung_four_bar(damping=0.05)
    expected = poles(mechanism.linearize(pose))
    expected = expected[np.abs(expected) > 1e-3]
    found = poles_of_the_equations(mechanism, pose)
    assert expected.real.max() < 0.0
    for pole in expected:
        assert np.abs(found - pole).min() < 1e-8 * abs(pole)  # as above; a pair of poles nearly meets


def test_linearization_locks_drives():
    """A driven crank is a fixed one: the rod of a locked crank-slider between pins is simply supported."""
    mechanism = crank_slider(gravity=None, speed=0.0)
    pose = mechanism.assemble({"crank": (0.1, 0.2, ARC)}, guess={"rod": -0.3})
    lowest = eigenfrequencies(eliminate(mechanism.linearize(pose)), 1)[0]
    stiffness, line = MATERIAL.young * 0.1 * 0.05**3 / 12.0, MATERIAL.density * 0.005
    exact = (math.pi / 0.8) ** 2 * math.sqrt(stiffness / line)
    assert lowest == pytest.approx(exact, rel=1e-2)  # two elements: 4e-3; the slider gives way along the rod


@pytest.mark.parametrize(
    ("connections", "gravity", "message"),
    [
        ([], PLUMB, "linearize needs an unloaded pose: gravity must be zero"),
        (
            [spring_damper("rod.tip", GROUND.at(2.0, 0.0), stiffness=1.0, length=0.3)],
            None,
            "unloaded pose, and spring rod.tip–GROUND at .* is stretched",
        ),
        ([torsion_spring("rod.root", GROUND, stiffness=1.0, angle=0.1)], None, "torsion spring rod.root–GROUND is str"),
    ],
)
def test_linearization_refuses_loaded_poses(connections, gravity, message):
    mechanism = connect({"rod": beam(0.8)}, [hinge("rod.root", GROUND.at(0.0, 0.0)), *connections], gravity=gravity)
    with pytest.raises(ValueError, match=message):
        mechanism.linearize(mechanism.assemble({"rod": 0.4}))


# --- assembly ---------------------------------------------------------------------------------------------------------


def four_bar():
    bodies = {"crank": rigid.bar(0.3, 1.0), "rod": beam(0.8), "rocker": rigid.bar(0.6, 1.0)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "rocker.root"),
        hinge("rocker.tip", GROUND.at(0.7, 0.0)),
    ]
    return connect(bodies, joints)


def ends(mechanism, pose, body, length):
    """World positions of both ends of a straight undeformed body."""
    i = list(mechanism.bodies).index(body)
    centre, R = pose.centres[i], pose.rotations[i]
    c = mechanism.bodies[body].inertia.centre
    return [centre + R @ (np.array([x, 0.0]) - c) for x in (0.0, length)]


@pytest.mark.parametrize("angle", [0.4, 2.0, -2.5])
def test_loops_are_closed(angle):
    mechanism = four_bar()
    pose = mechanism.assemble({"crank": (0.0, 0.0, angle)}, guess={"rod": 0.8, "rocker": -1.0})
    crank, rod, rocker = (ends(mechanism, pose, n, x) for n, x in (("crank", 0.3), ("rod", 0.8), ("rocker", 0.6)))
    for gap in (crank[0], crank[1] - rod[0], rod[1] - rocker[0], rocker[1] - [0.7, 0.0]):
        assert np.abs(gap).max() < 1e-12  # Newton ends at a few round-offs
    for R in pose.rotations:
        assert np.abs(R.T @ R - np.eye(2)).max() < 1e-14


def test_fixed_bodies_stay_exactly():
    mechanism = four_bar()
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.4)}, guess={"rod": 0.8, "rocker": -1.0})
    assert np.array_equal(pose.rotations[0], turned(0.4))
    assert np.array_equal(pose.centres[0], turned(0.4) @ mechanism.bodies["crank"].inertia.centre)


def test_an_angle_alone_leaves_the_place_free():
    pose = four_bar().assemble({"crank": 0.4}, guess={"rod": 0.8, "rocker": -1.0})
    assert np.array_equal(pose.rotations[0], turned(0.4))


def test_guess_chooses_the_branch():
    mechanism = four_bar()
    up, down = (
        mechanism.assemble({"crank": (0.0, 0.0, 0.4)}, guess={"rod": s * 0.8, "rocker": -s * 1.0}) for s in (1, -1)
    )
    assert ends(mechanism, up, "rod", 0.8)[1][1] > 0.1
    assert ends(mechanism, down, "rod", 0.8)[1][1] < -0.1


@pytest.mark.parametrize("time", [0.0, 0.35])
def test_drives_stand_where_they_are_at_a_time(time):
    mechanism = crank_slider()
    pose = mechanism.assemble(guess={"crank": ARC + 6.0 * time, "rod": -0.3}, time=time)
    assert math.sin(angle_of(pose.rotations[0]) - ARC - 6.0 * time) == pytest.approx(0.0, abs=1e-12)
    start = mechanism.consistent_state(pose, time=time)
    assert start.time == time
    assert integrate(mechanism, start, [time, time + 0.01]).ledger.position_residual[0] < 1e-13


def test_a_driven_point_is_met():
    reach = drive("b.tip", position=lambda t: (0.5 + t, 0.4))
    bodies = {"a": rigid.bar(0.5, 1.0), "b": rigid.bar(0.4, 1.0)}
    mechanism = connect(bodies, [hinge("a.root", GROUND.at(0.0, 0.0)), hinge("a.tip", "b.root"), reach])
    pose = mechanism.assemble(guess={"a": 1.0}, time=0.1)
    assert ends(mechanism, pose, "b", 0.4)[1] == pytest.approx([0.6, 0.4], abs=1e-12)


# --- consistent velocities --------------------------------------------------------------------------------------------


def velocities(mechanism, state):
    first = sum(mechanism.layout.position_sizes)
    return state.x[first : first + mechanism.layout.velocities]


def mass_and_constraints(mechanism, state):
    equations = mechanism.phdae(state)
    x = np.concatenate([state.x, state.multipliers])
    at = slice(sum(mechanism.layout.position_sizes), sum(mechanism.layout.position_sizes) + mechanism.layout.velocities)
    return dense(equations.E(x))[at, at], -dense(equations.J(x))[mechanism.layout.size :, at]


def test_velocities_keep_constraints_and_drives():
    mechanism = crank_slider()
    state = start_of(mechanism)
    v, (_, G) = velocities(mechanism, state), mass_and_constraints(mechanism, state)
    rates = np.zeros(len(G))
    rates[list(mechanism.constraint_names).index("drive crank.root–GROUND: angle")] = 6.0
    # rates of drives come from differences of eighth order
    assert G @ v == pytest.approx(rates, abs=1e-10)
    assert not state.x[mechanism.layout.parts["rod.deformation_rate"]].any()
    # by hand: both ends of the rod move along, the slider on its line
    spin = state.x[mechanism.layout.parts["rod.spin"]][0]
    rod = angle_of(turned_of(mechanism, state, "rod"))
    assert 0.3 * math.cos(ARC) * 6.0 + 0.8 * math.cos(rod) * spin == pytest.approx(0.0, abs=1e-10)


def turned_of(mechanism, state, name):
    c, s = state.x[mechanism.layout.parts[f"{name}.rotation"]]
    return np.array([[c, -s], [s, c]])


@pytest.mark.parametrize("function", [lambda t: ARC + math.sin(3.0 * t), lambda t: ARC + t**5 - t, math.exp])
def test_drives_move_at_the_derivative_of_their_function(function):
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND), drive("bar.root", angle=function)])
    for time in (0.0, 0.8):
        pose = mechanism.assemble({"bar": (0.0, 0.0, function(time))}, time=time)
        spin = mechanism.consistent_state(pose, time=time).x[mechanism.layout.parts["bar.spin"]][0]
        exact = approx_fprime(np.array([time]), lambda t: function(t[0]), 1e-7)[0]
        assert spin == pytest.approx(exact, abs=1e-6)  # the one-sided difference to compare with: 1e-7 × curvature


def test_given_velocities_are_projected_with_least_energy():
    """The change of momentum M(v − w) is a combination of joint impulses: orthogonal to all free motions."""
    mechanism = four_bar()
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.4)}, guess={"rod": 0.8, "rocker": -1.0})
    state = mechanism.consistent_state(pose, velocities={"crank": 2.0, "rod": (0.3, -0.5, 1.0)})
    M, G = mass_and_constraints(mechanism, state)
    wanted = np.zeros(mechanism.layout.velocities)
    arms = [pose.rotations[i] @ b.inertia.centre for i, b in enumerate(mechanism.bodies.values())]
    for i, (vx, vy, spin) in ((0, (0.0, 0.0, 2.0)), (1, (0.3, -0.5, 1.0))):
        wanted[2 * i : 2 * i + 2] = np.array([vx, vy]) + spin * np.array([-arms[i][1], arms[i][0]])
        wanted[6 + i] = spin
    v, rigid_part = velocities(mechanism, state), 9
    assert np.abs(G @ v).max() < 1e-14 * 10
    free = null_space(G[:, :rigid_part])
    assert free.shape[1] == 1
    assert np.abs(free.T @ M[:rigid_part, :rigid_part] @ (v - wanted)[:rigid_part]).max() < 1e-14
    assert not v[rigid_part:].any()  # the deformation does not take part where the bodies can move alone
    assert np.abs(v - wanted).max() > 0.1


def test_velocities_that_fit_are_kept():
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))])
    state = mechanism.consistent_state(mechanism.assemble({"bar": 0.3}), velocities={"bar": 2.0})
    assert state.x[mechanism.layout.parts["bar.spin"]] == pytest.approx([2.0], rel=1e-14)


def test_deformation_rates_where_the_bodies_cannot_move_alone():
    """The ends of a beam driven apart: only its deformation follows."""
    pull = drive("rod.tip", position=lambda t: (0.8 + 0.1 * t, 0.0))
    mechanism = connect({"rod": beam(0.8)}, [hinge("rod.root", GROUND.at(0.0, 0.0)), pull])
    state = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.0)}))
    tip = mechanism.bodies["rod"].ports["tip"].shape
    assert tip @ state.x[mechanism.layout.parts["rod.deformation_rate"]] == pytest.approx([0.1, 0.0], abs=1e-10)


def test_bodies_that_cannot_move_stay_at_rest():
    """Whatever velocity is asked for: round-off is no motion."""
    mechanism = connect({"rod": beam(0.8)}, [weld("rod.root", GROUND.at(0.1, 0.2), angle=0.3)])
    pose = mechanism.assemble(guess={"rod": 0.2})
    state = mechanism.consistent_state(pose, velocities={"rod": (1.0, -2.0, 3.0)})
    assert np.abs(velocities(mechanism, state)).max() < 1e-14
    assert integrate(mechanism, state, [0.0, 0.01]).ledger.total_energy.max() < 1e-26


def test_springs_start_with_the_force_of_the_pose():
    spring = spring_damper("bar.tip", GROUND.at(3.0, 0.0), stiffness=5.0, length=1.5)
    twist = torsion_spring("bar.root", GROUND, stiffness=2.0, angle=-0.1)
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), spring, twist])
    state = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    assert state.x[mechanism.layout.parts["spring bar.tip–GROUND at (3.0, 0.0)"]] == pytest.approx([5.0 * 0.5])
    assert state.x[mechanism.layout.parts["torsion spring bar.root–GROUND"]] == pytest.approx([2.0 * 0.1])


# --- quasi-static start -----------------------------------------------------------------------------------------------


def accelerations(mechanism, state, prescribed):
    """(v̇, λ) of the constrained equations M v̇ = f + Gᵀλ, d/dt (G v) = prescribed, at a state."""
    equations = mechanism.phdae(state)
    x = np.concatenate([state.x, np.zeros(mechanism.layout.multipliers)])
    first, n, size = sum(mechanism.layout.position_sizes), mechanism.layout.velocities, mechanism.layout.size
    M, G = mass_and_constraints(mechanism, state)
    f = ((equations.J(x) - equations.R(x)) @ equations.z(x))[first : first + n]
    v = velocities(mechanism, state)

    def rate(step):
        y = np.concatenate([moved(mechanism, state.x, step * v), x[size:]])
        return -dense(equations.J(y))[size:, first : first + n] @ v

    curvature = (rate(1e-5) - rate(-1e-5)) / 2e-5
    K = np.block([[M, -G.T], [G, np.zeros((len(G),) * 2)]])
    return np.linalg.solve(K, np.concatenate([f, prescribed - curvature]))[:n]


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_quasi_static_start_balances_the_equations(strain):
    """The constrained equations give no acceleration of the deformation."""
    mechanism = crank_slider(strain, speed=4.0)
    flexible = slice(mechanism.layout.velocities - mechanism.layout.flexible, None)
    ringing = {}
    for elastic in ("undeformed", "quasi_static"):
        state = start_of(mechanism, elastic=elastic)
        assert not state.x[mechanism.layout.parts["rod.deformation_rate"]].any()
        ringing[elastic] = np.abs(accelerations(mechanism, state, np.zeros(8))[flexible]).max()
    # differences of G are good to 1e-10, the stiffness over the mass is 1e6
    assert ringing["quasi_static"] < 1e-5 * ringing["undeformed"]


def test_quasi_static_start_does_not_ring():
    """Axial force of the rod about its slow course over some axial periods."""
    mechanism = crank_slider("linear", speed=4.0)
    rod = beam(0.8, strain="linear")
    times = np.linspace(0.0, 0.04, 201)  # the slowest axial motion takes about 15 ms
    slow = np.polynomial.Polynomial.fit
    rest = {}
    for elastic in ("undeformed", "quasi_static"):
        run = integrate(mechanism, start_of(mechanism, elastic=elastic), times)
        axial = run["rod.stress"][:, 0]
        rest[elastic] = np.abs(axial - slow(times, axial, 3)(times)).max()
    assert rod.stress_size == 6  # the first stresses are the axial forces of the elements
    assert rest["quasi_static"] < 0.05 * rest["undeformed"]


@pytest.mark.parametrize(("strain", "spin"), [("linear", 5.0), ("von_karman", 40.0)])
def test_quasi_static_stretch_of_a_spinning_beam(strain, spin):
    """u″ + (ρω²/E)(x + u) = 0 on a beam that turns about its root: tip at tan(kL)/k, order 2 in the elements.

    At 40 rad/s only stiffening by the stretch keeps the beam straight: clamped, its first frequency is 8 rad/s.
    """
    length = 0.8
    k = spin * math.sqrt(MATERIAL.density / MATERIAL.young)
    exact = math.tan(k * length) / k - length
    errors = []
    for elements in (2, 4, 8):
        rod = beam(length, elements, strain=strain)
        mechanism = connect({"rod": rod}, [hinge("rod.root", GROUND.at(0.0, 0.0))])
        pose = mechanism.assemble({"rod": (0.0, 0.0, 0.3)})
        state = mechanism.consistent_state(pose, velocities={"rod": spin}, elastic="quasi_static")
        u = state.x[mechanism.layout.parts["rod.deformation"]]
        spinning = state.x[mechanism.layout.parts["rod.spin"]][0]
        assert spinning == pytest.approx(spin, rel=1e-9)
        along, across = rod.ports["tip"].shape @ u
        assert abs(across) < 1e-9  # where the passes end
        errors.append(abs(along - exact) / exact)
    errors = np.array(errors)
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 2e-3


def test_quasi_static_sag_of_a_clamped_beam():
    """At rest under its own weight: tip at −ρA g L⁴/(8 EI), which Hermite elements meet at their nodes."""
    mechanism = connect({"rod": beam(0.8)}, [weld("rod.root", GROUND.at(0.0, 0.0), angle=0.0)], gravity=PLUMB)
    state = mechanism.consistent_state(mechanism.assemble(), elastic="quasi_static")
    tip = mechanism.bodies["rod"].ports["tip"].shape @ state.x[mechanism.layout.parts["rod.deformation"]]
    bending, line = MATERIAL.young * 0.1 * 0.05**3 / 12.0, MATERIAL.density * 0.005
    assert tip == pytest.approx([0.0, -line * 9.81 * 0.8**4 / (8.0 * bending)], rel=1e-9, abs=1e-12)
    assert not velocities(mechanism, state).any()


def test_too_fast_for_the_stiffness():
    """Beyond the speed at which centrifugal forces overcome the stiffness there is no balance."""
    rod = fem.beam(0.8, fem.Material(young=2e3, density=200.0), SECTION, elements=2)
    mechanism = connect({"rod": rod}, [hinge("rod.root", GROUND.at(0.0, 0.0))])
    pose = mechanism.assemble({"rod": (0.0, 0.0, 0.1)})
    with pytest.raises(ArithmeticError, match="too fast for the stiffness; start undeformed"):
        mechanism.consistent_state(pose, velocities={"rod": 200.0}, elastic="quasi_static")


# --- given velocities -------------------------------------------------------------------------------------------------


def test_a_given_spin_is_kept_and_the_others_follow():
    """A rigid slider-crank with its crank given: the rod's spin is that of the closed form."""
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        slider("rod.tip", GROUND.at(0.0, 0.0), turning=True),
    ]
    mechanism = connect({"crank": rigid.bar(0.1, 0.3), "rod": rigid.bar(0.4, 0.5)}, joints)
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.7)}, guess={"rod": -0.2})
    state = mechanism.consistent_state(pose, velocities={"crank": 10.0})
    spin = {name: state.x[mechanism.layout.parts[f"{name}.spin"]][0] for name in mechanism.bodies}
    lean = -math.asin(0.1 * math.sin(0.7) / 0.4)  # 0.1 sin 0.7 + 0.4 sin lean = 0, differentiated
    assert spin["crank"] == pytest.approx(10.0, rel=1e-12)
    assert spin["rod"] == pytest.approx(-0.1 * math.cos(0.7) * 10.0 / (0.4 * math.cos(lean)), rel=1e-12)


def test_a_spin_about_a_pivot_off_the_origin_is_kept():
    mechanism = connect({"bar": rigid.bar(1.0, 2.0)}, [hinge("bar.tip", GROUND.at(0.0, 0.0))])
    state = mechanism.consistent_state(mechanism.assemble({"bar": 0.4}), velocities={"bar": 3.0})
    assert state.x[mechanism.layout.parts["bar.spin"]] == pytest.approx([3.0], rel=1e-12)
