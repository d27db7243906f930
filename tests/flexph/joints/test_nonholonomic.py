"""Knife edges, wheels and rolling discs: closed solutions, what the exact step keeps, and all that walks over rows.

Five seconds, as general methods take their steps in Python.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import (
    GROUND,
    IntegrationError,
    Solution,
    connect,
    eigenfrequencies,
    eliminate,
    force,
    gear,
    hinge,
    integrate,
    planar,
    spherical,
    spring_damper,
    weld,
)
from flexph.joints import knife_edge, rolling_disc, screw, wheel
from flexph.mechanisms.model.constraints import constraint_rates, velocities_of, with_velocities
from flexph.mechanisms.model.state import State, configuration, flat
from flexph.mechanisms.model.time_table import TimeTable
from flexph.methods import Decaying, Exact, Exact4, ExactGauss, by_name

ROUND_OFF = 1e-13
MASS, RADIUS = 1.5, 0.3
AXIAL, ACROSS = 0.5 * MASS * RADIUS**2, 0.25 * MASS * RADIUS**2
WEIGHT = (0.0, 0.0, -9.81)
ROLLING = "rolling_disc disc.centre–GROUND"


def times(end, h):
    return np.linspace(0.0, end, round(end / h) + 1)


def exact(run, balance=ROUND_OFF):
    """What every run keeps: its balance, nonholonomic rows in the mean of each step, positions, rotations, no work."""
    assert run.ledger.largest_residual < balance
    assert run.ledger.nonholonomic_residual.max() < 1e-12
    assert run.ledger.position_residual.max() < 1e-13
    size = max(run.ledger.scale, 1.0)
    assert all(np.abs(work).max() < balance * size for work in run.ledger.joint_work.values())
    R = configuration(run.mechanism, run.states[-1]).R
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(R.shape[1])).max() < 1e-12


def orders(errors):
    return [math.log2(a / b) for a, b in pairwise(errors)]


# --- a sled on an incline ---------------------------------------------------------------------------------------------

SLOPE, SPIN = 3.0, 2.0


def sled(dim=2):
    """A blade under its centre of mass on a slope, in the plane or held upright on a plane of space."""
    if dim == 2:
        body = rigid.body(2.0, inertia=0.3, ports={"blade": (0.0, 0.0)})
        return connect({"sled": body}, [knife_edge("sled.blade")], gravity=(SLOPE, 0.0))
    body = rigid.body(2.0, inertia=(0.2, 0.25, 0.3), ports={"blade": (0.0, 0.0, 0.0)})
    joints = [knife_edge("sled.blade", axis=(0.0, 1.0, 0.0)), planar("sled.blade", GROUND, normal=(0.0, 0.0, 1.0))]
    return connect({"sled": body}, joints, gravity=(SLOPE, 0.0, 0.0))


def sledding(dim, h, **options):
    mechanism = sled(dim)
    spin = SPIN if dim == 2 else ((0.0, 0.0, 0.0), (0.0, 0.0, SPIN))
    velocity = (0.0, 0.0, SPIN) if dim == 2 else spin
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"sled": velocity})
    return integrate(mechanism, start, times(2.0, h), **options)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_knife_edge_on_an_incline_follows_its_closed_solution(dim):
    """Bloch: x = g/(2ω²) sin² ωt, y = g/(2ω²)(ωt − ½ sin 2ωt); it does not slide down, it goes across."""
    errors = []
    for h in (0.02, 0.01, 0.005):
        run = sledding(dim, h)
        exact(run)
        turn = SPIN * run.times
        x, y = np.sin(turn) ** 2, turn - 0.5 * np.sin(2.0 * turn)
        path = SLOPE / (2.0 * SPIN**2) * np.column_stack([x, y])
        errors.append(np.abs(run["sled.centre"][:, :2] - path).max())
    assert all(abs(order - 2.0) < 0.1 for order in orders(errors))
    assert errors[-1] < 1e-4


# --- a differential drive, [rigid] sec. 7.1 ---------------------------------------------------------------------------

LEVER, TRACK, INERTIA = 0.1, 0.4, 0.6


def drive(joints):
    """A chassis whose centre of mass lies LEVER before its axle, pushed at its wheels."""
    ports = {"axle": (0.0, 0.0), "left": (0.0, 0.5 * TRACK), "right": (0.0, -0.5 * TRACK)}
    body = rigid.body(MASS, inertia=INERTIA, about=(0.0, 0.0), centre=(LEVER, 0.0), ports=ports)
    return connect({"robot": body}, [*joints, *(force(f"robot.{p}", axes="section") for p in ("left", "right"))])


def pushes(t):
    """F_L, F_R."""
    return 1.0 + math.sin(3.0 * t), 1.0 - 0.5 * math.cos(2.0 * t)


def reduced():
    """(x, y, φ, v, ω) of m v̇ = mℓω² + F_L + F_R, I_O ω̇ = −mℓωv + ½b(F_R − F_L) from rest, at t = 1 s."""

    def rate(t, z):
        (left, right), (phi, v, w) = pushes(t), z[2:]
        turn = (-MASS * LEVER * w * v + 0.5 * TRACK * (right - left)) / INERTIA
        return [v * math.cos(phi), v * math.sin(phi), w, LEVER * w**2 + (left + right) / MASS, turn]

    return solve_ivp(rate, (0.0, 1.0), np.zeros(5), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("wheels", [("axle",), ("left", "right")])
def test_a_differential_drive_follows_the_reduced_equations(wheels):
    """Two wheels on one axle forbid the same motion twice: the forces are shared, the motion is that of one."""
    mechanism = drive([wheel(f"robot.{p}") for p in wheels])
    inputs = {f"force robot.{p}": (lambda t, i=i: (pushes(t)[i], 0.0)) for i, p in enumerate(("left", "right"))}
    start, wanted, errors = mechanism.consistent_state(mechanism.assemble()), reduced(), []
    method = Exact() if len(wheels) == 1 else Exact(redundant="least_norm")
    for h in (0.02, 0.01):
        run = integrate(mechanism, start, times(1.0, h), inputs=inputs, method=method)
        exact(run)
        end = configuration(mechanism, run.states[-1])
        phi = math.atan2(end.R[0, 1, 0], end.R[0, 0, 0])
        place = mechanism.position(run.final, "robot.axle")
        errors.append(np.abs([*(place - wanted[:2]), math.remainder(phi - wanted[2], math.tau)]).max())
    assert abs(orders(errors)[0] - 2.0) < 0.1
    assert errors[-1] < 1e-4


def test_two_wheels_on_one_axle_are_redundant():
    mechanism = drive([wheel("robot.left"), wheel("robot.right")])
    start = mechanism.consistent_state(mechanism.assemble())
    with pytest.raises(ValueError, match=r"redundant constraint: 'wheel robot.*: across' follows.*'wheel robot"):
        integrate(mechanism, start, [0.0, 0.01])
    assert "constraints 2 (2 nonholonomic), redundant 1, freedoms 2" in mechanism.describe()


# --- wheels in space --------------------------------------------------------------------------------------------------


def unicycle(height=False, **options):
    """A wheel on a frame that a planar joint keeps upright; its axle is along y."""
    frame = rigid.body(2.0, inertia=(0.1, 0.1, 0.1), ports={"hub": (0.0, 0.0, 0.0)})
    tyre = rigid.body(MASS, inertia=(ACROSS, AXIAL, ACROSS), ports={"centre": (0.0, 0.0, 0.0)})
    joints = [
        hinge("tyre.centre", "frame.hub", axis=(0.0, 1.0, 0.0)),
        planar("frame.hub", GROUND.at(0.0, 0.0, RADIUS), normal=(0.0, 0.0, 1.0)),
        wheel("tyre.centre", radius=RADIUS, height=height, **options),
        force("frame.hub"),
    ]
    return connect({"frame": frame, "tyre": tyre}, joints, gravity=WEIGHT)


def test_a_wheel_is_pushed_as_a_mass_with_its_spin():
    """(M + m + I/r²) a = F, exact at constant acceleration; the ground pushes back with I a/r²."""
    mechanism, push = unicycle(), 4.0
    start = mechanism.consistent_state(mechanism.assemble())
    run = integrate(mechanism, start, times(2.0, 0.05), inputs={"force frame.hub": (push, 0.0, 0.0)})
    exact(run)
    a = push / (2.0 + MASS + AXIAL / RADIUS**2)
    np.testing.assert_allclose(run["frame.centre"][:, 0], 0.5 * a * run.times**2, atol=1e-12)
    np.testing.assert_allclose(run["tyre.spin"][:, 1], a * run.times / RADIUS, atol=1e-12)
    reaction = run.reaction("wheel tyre.centre–GROUND")
    np.testing.assert_allclose(reaction.force[:, 0], -AXIAL * a / RADIUS**2, atol=1e-11)
    np.testing.assert_allclose(reaction.torque[:, 1], AXIAL * a / RADIUS, atol=1e-11)


def test_the_height_of_a_wheel_that_is_held_twice_follows_from_the_rest():
    mechanism = unicycle(height=True)
    assert "redundant 1, freedoms 2" in mechanism.describe()
    assert "redundant 0, freedoms 2" in unicycle().describe()


# --- a coin -----------------------------------------------------------------------------------------------------------


def coin(normal=None):
    disc = rigid.body(MASS, inertia=(ACROSS, ACROSS, AXIAL), ports={"centre": (0.0, 0.0, 0.0)})
    up = np.array([0.0, 0.0, 1.0] if normal is None else normal)
    rolls = rolling_disc("disc.centre", radius=RADIUS, axis=(0.0, 0.0, 1.0), normal=normal)
    return connect({"disc": disc}, [rolls], gravity=-9.81 * up)


THETA, PRECESSION = 1.1, 2.0


def steady():
    """A coin that rolls in a circle: its state, and the radius of the circle.

    With θ between axis and normal, precession Ω and spin ω_e about the axis,
    (C + mr²) Ω ω_e sin θ − A Ω² sin θ cos θ + m g r cos θ = 0, and the centre goes round at −r ω_e/Ω.
    """
    s, c, mechanism = math.sin(THETA), math.cos(THETA), coin()
    about = (ACROSS * PRECESSION**2 * s * c - MASS * 9.81 * RADIUS * c) / ((AXIAL + MASS * RADIUS**2) * PRECESSION * s)
    radius = -RADIUS * about / PRECESSION
    pose = mechanism.assemble({"disc": ((radius, 0.0, RADIUS * s), Rotation.from_euler("y", THETA))})
    spin = np.array([0.0, 0.0, PRECESSION]) + (about - PRECESSION * c) * np.array([s, 0.0, c])
    return (
        mechanism,
        mechanism.consistent_state(pose, velocities={"disc": ((0.0, PRECESSION * radius, 0.0), spin)}),
        radius,
    )


def tumbling(seed=0, normal=None):
    """A coin somewhere, moving somehow."""
    rng = np.random.default_rng(seed)
    mechanism = coin(normal)
    tilt = Rotation.from_euler("ZYZ", [rng.uniform(0.0, 6.0), rng.uniform(0.9, 1.4), rng.uniform(0.0, 6.0)])
    pose = mechanism.assemble(guess={"disc": (np.array([*rng.uniform(-1.0, 1.0, 2), 0.1]), tilt)})
    given = {"disc": (rng.uniform(-1.0, 1.0, 3), rng.uniform(-4.0, 4.0, 3))}
    return mechanism, mechanism.consistent_state(pose, velocities=given)


def axis_of(run):
    return run["disc.rotation"].reshape(-1, 3, 3)[:, :, 2]


def test_a_coin_rolls_straight_at_constant_speed():
    """At any step, to round-off: ω = v/r for the mean velocities too."""
    mechanism = coin()
    pose = mechanism.assemble({"disc": Rotation.from_euler("x", 0.5 * np.pi)})
    start = mechanism.consistent_state(pose, velocities={"disc": ((0.6, 0.0, 0.0), (0.0, 2.0, 0.0))})
    run = integrate(mechanism, start, times(1.0, 0.1))
    exact(run)
    path = np.column_stack([0.6 * run.times, 0.0 * run.times, 0.0 * run.times + RADIUS])
    np.testing.assert_allclose(run["disc.centre"], path, atol=1e-13)


def test_a_tilted_coin_rolls_in_a_circle():
    mechanism, start, radius = steady()
    errors = []
    for h in (0.02, 0.01, 0.005):
        run = integrate(mechanism, start, times(1.5, h))
        exact(run)
        phase = PRECESSION * run.times
        circle = radius * np.column_stack([np.cos(phase), np.sin(phase)])
        around, tilted = run["disc.centre"][:, :2] - circle, np.arccos(axis_of(run)[:, 2]) - THETA
        errors.append(max(np.abs(around).max(), np.abs(tilted).max()))
    assert all(abs(order - 2.0) < 0.1 for order in orders(errors))
    assert errors[-1] < 1e-3


def test_the_ground_holds_a_coin_that_rolls_in_a_circle():
    """Normal force m g, friction m Ω² radius towards the axis; of second order in the step."""
    mechanism, start, radius = steady()
    found = integrate(mechanism, start, times(0.02, 0.002)).reaction(ROLLING).force
    assert found[:, 2] == pytest.approx(MASS * 9.81, rel=1e-4)
    assert np.hypot(found[:, 0], found[:, 1]) == pytest.approx(MASS * PRECESSION**2 * radius, rel=1e-4)


def test_the_height_of_a_coin_does_not_drift():
    """Ten seconds of tumbling: h = r sin θ at every step, up to round-off, also where the coin nearly lies flat."""
    mechanism, start = tumbling(3)
    run = integrate(mechanism, start, times(10.0, 0.005))
    exact(run, 1e-12)  # at θ = 3° the ground pushes thirty times the weight, and on gaps of round-off
    height, tilt = run["disc.centre"][:, 2], axis_of(run)[:, 2]
    assert np.abs(height**2 + RADIUS**2 * (tilt**2 - 1.0)).max() < 1e-11 * RADIUS
    assert 0.0 < height.min() < 0.06 * RADIUS


@pytest.mark.parametrize("seed", range(3))
def test_energy_is_kept_at_large_steps(seed):
    mechanism, start = tumbling(seed)
    exact(integrate(mechanism, start, times(0.6, 0.03)))


def test_a_rolling_coin_does_not_see_a_turn_of_the_world_about_the_normal():
    mechanism, start = tumbling(1)
    turn = Rotation.from_euler("z", 0.7).as_matrix()
    c = configuration(mechanism, start.x)
    moved = c._replace(r=c.r @ turn.T, R=turn @ c.R, v=c.v @ turn.T)
    again = State(0.0, flat(mechanism, moved), start.multipliers, start.anchors)
    first, second = (integrate(mechanism, s, times(0.5, 0.01)) for s in (start, again))
    np.testing.assert_allclose(second["disc.centre"], first["disc.centre"] @ turn.T, atol=1e-11)
    np.testing.assert_allclose(second["disc.spin"], first["disc.spin"], atol=1e-10)


def test_the_ground_may_be_inclined():
    """A plane with another normal, and gravity along it: the same run in turned axes."""
    turn = Rotation.from_euler("yx", [0.4, -0.3])
    mechanism, start = tumbling(1)
    c = configuration(mechanism, start.x)
    Q = turn.as_matrix()
    moved = c._replace(r=c.r @ Q.T, R=Q @ c.R, v=c.v @ Q.T)
    other = coin(normal=tuple(turn.apply([0.0, 0.0, 1.0])))
    again = State(0.0, flat(other, moved), start.multipliers, start.anchors)
    first, second = integrate(mechanism, start, times(0.3, 0.01)), integrate(other, again, times(0.3, 0.01))
    np.testing.assert_allclose(second["disc.centre"], first["disc.centre"] @ Q.T, atol=1e-11)


def test_a_disc_of_the_plane_rolls_down_an_incline():
    """(m + I/r²) a = m g sin α, exact at any step; the spin is that of rolling."""
    slope, inertia = 0.3, 0.05
    n, t = np.array([-math.sin(slope), math.cos(slope)]), np.array([math.cos(slope), math.sin(slope)])
    body = rigid.body(MASS, inertia=inertia, ports={"centre": (0.0, 0.0)})
    rolls = rolling_disc("disc.centre", radius=RADIUS, normal=n)
    mechanism = connect({"disc": body}, [rolls], gravity=(0.0, -9.81))
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), times(1.0, 0.05))
    exact(run)
    a = -MASS * 9.81 * math.sin(slope) / (MASS + inertia / RADIUS**2)
    travelled = run["disc.centre"] @ t
    np.testing.assert_allclose(travelled - travelled[0], 0.5 * a * run.times**2, atol=1e-12)
    np.testing.assert_allclose(run["disc.spin"][:, 0], -a * run.times / RADIUS, atol=1e-12)


# --- beside other joints ----------------------------------------------------------------------------------------------


def skater():
    """A flexible beam with a knife edge at its tip and a rolling disc at its root, in the plane."""
    soft = fem.Material(young=1e8, density=1000.0)
    beam = fem.beam(0.4, soft, fem.Section(width=0.02, height=0.02), elements=2, strain="von_karman")
    disc = rigid.body(0.2, inertia=1e-3, ports={"centre": (0.0, 0.0)})
    joints = [
        knife_edge("beam.tip", axis=(0.6, 0.8)),
        hinge("beam.root", "disc.centre"),
        rolling_disc("disc.centre", radius=0.1),
        spring_damper("beam.tip", GROUND.at(0.5, 0.5), stiffness=30.0, damping=0.1),
    ]
    mechanism = connect({"beam": beam, "disc": disc}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble(guess={"beam": (0.0, 0.1, 0.4)})
    return mechanism, mechanism.consistent_state(pose, velocities={"disc": 2.0})


def trailer():
    """A coin that pulls a flexible beam on a skate in space, beside a wheel on a rail."""
    soft = fem.Material(young=1e8, density=1000.0, poisson=0.4)
    beam = fem.beam(0.4, soft, fem.Section(width=0.02, height=0.02), elements=2, dim=3, strain="von_karman")
    disc = rigid.body(MASS, inertia=(ACROSS, ACROSS, AXIAL), ports={"centre": (0.0, 0.0, 0.0)})
    joints = [
        rolling_disc("coin.centre", GROUND.at(0.0, 0.0, -0.1), radius=RADIUS, axis=(0.0, 0.0, 1.0)),
        spherical("beam.root", "coin.centre"),
        knife_edge("beam.tip", axis=(0.0, 1.0, 0.0)),
        wheel("wheel.centre", GROUND.at(0.0, 0.0, -0.1), radius=RADIUS),
        spring_damper("beam.tip", "wheel.centre", stiffness=20.0, damping=0.2, length=0.3),
    ]
    mechanism = connect({"coin": disc, "beam": beam, "wheel": disc}, joints, gravity=WEIGHT)
    tilted = Rotation.from_euler("ZYZ", [0.3, 1.3, 0.2])
    guess = {"coin": tilted, "beam": (0.0, 0.0, 0.2), "wheel": ((1.0, 0.1, 0.2), np.eye(3))}
    given = {"coin": ((0.5, 0.2, 0.0), (1.0, 2.0, 0.5)), "wheel": ((0.0, 0.0, 0.0), (0.3, 1.0, 0.4))}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=given)


def bevel():
    """Two shafts geared on the tip of a flexible beam in space, over right angles, and a screw with them."""
    soft = fem.Material(young=1e8, density=1000.0, poisson=0.4)
    beam = fem.beam(0.4, soft, fem.Section(width=0.02, height=0.02), elements=2, dim=3, strain="von_karman")
    disc = rigid.body(0.1, inertia=(2e-3, 2e-3, 3e-3), ports={"centre": (0.0, 0.0, 0.0)})
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    joints = [
        weld("beam.root", GROUND.at(0.0, 0.0, 0.0)),
        hinge("a.centre", "beam.tip", axis=z, second_axis=x),
        hinge("b.centre", "beam.tip", axis=z),
        gear("a.centre", "b.centre", "beam.tip", ratio=-1.6, axis=z, carrier_axes=(x, z)),
        screw("nut.centre", GROUND.at(0.0, 0.0, 0.5), lead=0.3, axis=z),
    ]
    mechanism = connect({"beam": beam, "a": disc, "b": disc, "nut": disc}, joints, gravity=WEIGHT)
    return mechanism, mechanism.consistent_state(mechanism.assemble(), velocities={"a": (0.0, 8.0, 0.0)})


CASES = {"sled": lambda: (sled(), None), "coin": lambda: tumbling(2), "skater": skater, "trailer": trailer}
ALL = CASES | {"bevel": bevel}


def started(name):
    mechanism, start = ALL[name]()
    if start is None:
        start = mechanism.consistent_state(mechanism.assemble(), velocities={"sled": (0.4, 0.0, SPIN)})
    return mechanism, start


@pytest.fixture(params=["dense", "sparse"])
def kernels(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr("flexph.mechanisms.arrays.network.DENSE_LIMIT", 0)
    return request.param


@pytest.mark.parametrize("name", ALL)
def test_other_joints_beside_these_rows(name, kernels):
    exact(integrate(*started(name), times(0.05, 0.005)))


@pytest.mark.parametrize(
    "options",
    [
        {"method": Exact4()},
        {"method": ExactGauss()},
        {"method": Decaying()},
        {"method": Exact(tolerance=1e-3)},
        {"method": Exact(redundant="least_norm")},
        {"save_every": 3},
    ],
)
def test_all_runs_know_these_rows(options):
    mechanism, start = tumbling(1)
    run = integrate(mechanism, start, times(0.3, 0.01), **options)
    exact(run)


@pytest.mark.parametrize(
    ("name", "h"),
    [(name, h) for name in CASES for h in (0.01, 0.02 if name == "coin" else 0.05)],  # it falls to 9°; 0.05 s is halved
)
def test_collocation_keeps_these_rows(name, h):
    exact(integrate(*started(name), times(0.3, h), method=ExactGauss()))


@pytest.mark.parametrize("name", CASES)
def test_collocation_with_one_stage_is_the_exact_scheme(name):
    mechanism, start = started(name)
    one, other = (integrate(mechanism, start, [0.0, 0.01], method=method) for method in (ExactGauss(1), Exact()))
    size, pushed = np.abs(other.states[-1]).max(), np.abs(other.stage_multipliers).max(initial=1.0)
    assert np.abs(one.states - other.states).max() < 1e-11 * size  # of stresses: the round-off of stiffness
    assert one.stage_multipliers == pytest.approx(other.stage_multipliers, abs=1e-8 * pushed)
    for kind in ("energy", "dissipation", "work"):
        for port, values in getattr(other.ledger, kind).items():
            assert getattr(one.ledger, kind)[port] == pytest.approx(values, abs=1e-12), port


def test_collocation_rolls_to_high_order():
    """Of a blade all is of sixth order; of a coin, whose height is a constraint of index 2, positions are."""
    errors = []
    for h in (0.2, 0.1, 0.05):
        run = sledding(3, h, method=ExactGauss())
        turn = SPIN * run.times
        path = SLOPE / (2.0 * SPIN**2) * np.column_stack([np.sin(turn) ** 2, turn - 0.5 * np.sin(2.0 * turn)])
        errors.append(np.abs(run["sled.centre"][:, :2] - path).max())
    assert all(abs(order - 6.0) < 0.1 for order in orders(errors))
    assert errors[-1] < 1e-9
    mechanism, start, radius = steady()
    errors = []
    for h in (0.1, 0.05):
        run = integrate(mechanism, start, times(1.5, h), method=ExactGauss())
        circle = radius * np.column_stack([np.cos(PRECESSION * run.times), np.sin(PRECESSION * run.times)])
        errors.append(np.abs(run["disc.centre"][:, :2] - circle).max())
    assert orders(errors)[0] > 5.9
    assert errors[-1] < 1e-7


def test_a_run_ends_at_an_event_and_is_saved(tmp_path):
    mechanism, start = tumbling(1)
    run = integrate(mechanism, start, times(0.3, 0.01), events={"round": lambda t, x: t - 0.105})
    assert run.events["round"].times == pytest.approx([0.105])
    run.save(tmp_path / "coin.h5")
    assert np.array_equal(
        Solution.load(tmp_path / "coin.h5", mechanism).ledger.nonholonomic_residual, run.ledger.nonholonomic_residual
    )


# --- the equations in continuous time ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_the_phdae_has_these_rows_in_its_structure(name, kernels):
    mechanism, start = started(name)
    system, rng = mechanism.phdae(start), np.random.default_rng(0)
    x = np.append(start.x, rng.standard_normal(mechanism.layout.multipliers))
    dense = lambda m: m if isinstance(m, np.ndarray) else m.toarray()  # noqa: E731
    J, part = dense(system.J(x)), mechanism.layout.parts_of_motion
    assert np.abs(J + J.T).max() < 1e-15
    G, _ = constraint_rates(mechanism, configuration(mechanism, start.x), TimeTable(mechanism, start.anchors), 0.0)
    np.testing.assert_allclose(J[part, mechanism.layout.size :], G.toarray().T, atol=1e-13)
    if kernels == "dense":
        x, w = x + 0.1 * rng.standard_normal(x.size), rng.standard_normal(x.size)
        found = system.derivatives.structure(x, w)
        change = lambda y: (system.J(y) - system.R(y)) @ w  # noqa: E731
        wanted = np.array([(change(x + e) - change(x - e)) / 2e-6 for e in 1e-6 * np.eye(x.size)]).T
        np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())


def test_general_methods_and_the_exact_step_meet():
    mechanism, start = tumbling(1)
    ends = [integrate(mechanism, start, times(0.2, h)).states[-1] for h in (0.01, 0.005)]
    reference = integrate(mechanism, start, times(0.2, 0.01), method=by_name("gauss6")).states[-1][: start.x.size]
    errors = [np.abs(end - reference).max() for end in ends]
    assert abs(orders(errors)[0] - 2.0) < 0.1
    assert errors[-1] < 1e-3


def test_linearized_at_a_pose_rows_are_those_of_its_velocities():
    """A coin at rest: five freedoms of its velocities, less two; the last is rolling, turning and tilting."""
    disc = rigid.body(MASS, inertia=(ACROSS, ACROSS, AXIAL), ports={"centre": (0.0, 0.0, 0.0)})
    mechanism = connect({"disc": disc}, [rolling_disc("disc.centre", radius=RADIUS, axis=(0.0, 0.0, 1.0))])
    pose = mechanism.assemble(guess={"disc": Rotation.from_euler("y", 1.2)})
    system = mechanism.linearize(pose)
    start = mechanism.consistent_state(pose, velocities={"disc": ((0.0, 0.0, 0.0), (1.0, 0.5, 2.0))})
    c = configuration(mechanism, start.x)
    own = np.concatenate([c.R[0].T @ c.v[0], c.omega[0]])
    assert np.abs(system.G @ own).max() < 1e-14
    assert np.linalg.matrix_rank(system.G) == 3
    assert eliminate(system).size == 3


def rocking():
    """A disc of the plane on an incline that a spring holds."""
    body = rigid.body(MASS, inertia=0.05, ports={"centre": (0.0, 0.0)})
    n, t = (-math.sin(0.3), math.cos(0.3)), np.array([math.cos(0.3), math.sin(0.3)])
    at = GROUND.at(*(RADIUS * np.array(n) - 0.5 * t))
    joints = [
        rolling_disc("disc.centre", radius=RADIUS, normal=n),
        spring_damper("disc.centre", at, stiffness=40.0, length=0.5),
    ]
    return connect({"disc": body}, joints, gravity=(0.0, -9.81)), t


def test_an_equilibrium_and_its_small_motions():
    """The spring bears m g sin α; (m + I/r²) ω² = k."""
    mechanism, t = rocking()
    rest = mechanism.equilibrium(mechanism.assemble())
    assert mechanism.position(rest, "disc.centre") @ t == pytest.approx(-MASS * 9.81 * math.sin(0.3) / 40.0)
    assert rest.multipliers == pytest.approx([0.0, MASS * 9.81 * math.cos(0.3)])
    wanted = math.sqrt(40.0 / (MASS + 0.05 / RADIUS**2))
    assert mechanism.spectrum(rest).frequencies == pytest.approx([wanted])
    assert eigenfrequencies(mechanism.linearize(rest), count=1) == pytest.approx([wanted])


def test_small_motions_where_the_ground_pulls_sideways():
    """A coin hung from a spring stands where it is held by friction: its spectrum against runs that start along it."""
    disc = rigid.body(MASS, inertia=(ACROSS, ACROSS, AXIAL), ports={"centre": (0.0, 0.0, 0.0)})
    spring = spring_damper("disc.centre", GROUND.at(0.0, 0.0, 1.5), stiffness=400.0, length=0.5)
    mechanism = connect({"disc": disc}, [rolling_disc("disc.centre", radius=RADIUS, axis=(0.0, 0.0, 1.0)), spring])
    rest = mechanism.equilibrium(mechanism.assemble(guess={"disc": Rotation.from_euler("yx", [1.4, 0.1])}))
    assert abs(rest.multipliers[1]) > 1.0
    found, c = mechanism.spectrum(rest), configuration(mechanism, rest.x)
    for value, shape in zip(found.values, found.shapes.T, strict=True):
        if value.imag > 1.0:
            way = (shape / shape[np.abs(shape).argmax()]).real
            moving = flat(mechanism, with_velocities(mechanism, c, 1e-6 * way))
            span = np.linspace(0.0, 2.0 * math.pi / value.imag, 201)
            run = integrate(mechanism, State(0.0, moving, rest.multipliers, rest.anchors), span)
            moved = np.array([velocities_of(mechanism, configuration(mechanism, x)) for x in run.states]) / 1e-6
            assert np.abs(moved - np.cos(value.imag * span)[:, None] * way).max() < 1e-3


# --- bad input --------------------------------------------------------------------------------------------------------

PLAIN = rigid.body(1.0, inertia=(0.1, 0.1, 0.1), ports={"centre": (0.0, 0.0, 0.0)})
FLAT = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})


@pytest.mark.parametrize(
    "body, make, message",
    [
        (PLAIN, lambda: rolling_disc("b.centre", radius=0.0, axis=(0, 0, 1)), "radius must be positive"),
        (PLAIN, lambda: rolling_disc("b.centre", radius=1.0), "needs axis="),
        (FLAT, lambda: rolling_disc("b.centre", radius=1.0, axis=(0, 1)), "has no axis in the plane"),
        (PLAIN, lambda: rolling_disc("b.centre", radius=1.0, axis=(0, 1)), "axis must have 3 components in space"),
        (PLAIN, lambda: rolling_disc("b.centre", "b.centre", radius=1.0), "a body cannot roll on itself"),
        (
            PLAIN,
            lambda: rolling_disc("b.centre", radius=1.0, axis=(0, 0, 1), normal=(0, 0, 0)),
            "normal must not be zero",
        ),
        (PLAIN, lambda: wheel("b.centre"), "needs radius="),
        (PLAIN, lambda: wheel("b.centre", radius=1.0, axis=(0, 1, 0)), "has no axis in space"),
        (FLAT, lambda: wheel("b.centre", radius=1.0), "has no radius and no normal"),
        (PLAIN, lambda: knife_edge("b.centre"), "axis must have 3 components in space, got 2"),
        (FLAT, lambda: knife_edge("b.centre", "b.centre"), "ground of a knife_edge joint"),
        (rigid.point(1.0), lambda: rolling_disc("b.point", radius=1.0), "a point mass cannot roll"),
        (rigid.point(1.0), lambda: knife_edge("b.point"), "a point mass has no direction"),
    ],
)
def test_bad_input_is_named(body, make, message):
    with pytest.raises(ValueError, match=message):
        connect({"b": body}, [make()])


def test_a_section_that_turns_against_its_body_does_not_roll():
    beam = fem.beam(0.4, fem.Material(young=1e6, density=1e3), fem.Section(width=0.02, height=0.02), elements=2)
    with pytest.raises(ValueError, match="turns relative to its body"):
        connect({"beam": beam}, [rolling_disc("beam.tip", radius=0.1)])


def test_a_disc_that_lies_flat_cannot_start():
    mechanism = coin()
    for place in (mechanism.assemble(), mechanism.assemble({"disc": ((0.0, 0.0, 0.0), np.eye(3))})):
        with pytest.raises(ValueError, match=r"height:.*centre.*disc must.*above.*ground, got .* 0 m"):
            mechanism.consistent_state(place)


def test_a_coin_that_falls_flat_ends_the_run():
    """Without spin it falls over; the finished steps are kept."""
    mechanism = coin()
    start = mechanism.consistent_state(mechanism.assemble({"disc": Rotation.from_euler("y", 1.2)}))
    with pytest.raises(IntegrationError, match="comes to lie flat on the ground") as caught:
        integrate(mechanism, start, times(2.0, 0.01))
    assert np.isfinite(caught.value.solution.states).all()
    assert caught.value.solution.times[-1] > 0.2


def test_a_slipping_start_is_inconsistent():
    mechanism, start = tumbling(0)
    c = configuration(mechanism, start.x)
    moved = c._replace(v=c.v + np.array([0.0, 0.1, 0.0]))  # along the second tangent
    slipping = State(0.0, flat(mechanism, moved), start.multipliers, start.anchors)
    with pytest.raises(ValueError, match=r"inconsistent initial velocity .* rolling 2 is violated by"):
        integrate(mechanism, slipping, [0.0, 0.01])


def test_steady_rotations_are_refused():
    mechanism, start = tumbling(0)
    with pytest.raises(ValueError, match=r"a steady rotation.*not available.*mechanisms.*nonholonomic joints"):
        mechanism.equilibrium(mechanism.assemble(guess={"disc": Rotation.from_euler("y", 1.2)}), spin=(0.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="roll steadily"):
        mechanism.spectrum(start)
