"""The step in space: exact balances at any size, second order elsewhere, symmetries, and solutions found otherwise.

Ten seconds, as the mechanisms have a joint, force and body of every kind.
"""

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from covering import covering
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk, ellipkinc
from spatial_bodies import (
    SOFT,
    STRIP,
    Sight,
    beam,
    block,
    cloud,
    moved,
    random_positions,
    random_rotation,
    random_velocities,
    unit,
)

import fem
import rigid
from flexph import (
    GROUND,
    InputError,
    Solution,
    connect,
    cylindrical,
    distance,
    distributed_load,
    drive,
    force,
    hinge,
    integrate,
    planar,
    prismatic,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    universal,
    weld,
)
from flexph.bodies import floating_body
from flexph.joints import bushing
from flexph.mechanisms.arrays import network
from flexph.systems import transform

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # balances hold beyond the model's range
GRAVITY = (0.7, -2.0, -9.0)
A1, A2, A3 = (0.3, -0.5, 0.8), (0.1, 0.9, -0.2), (1.0, 0.2, 0.4)
Z = (0.0, 0.0, 1.0)
FIRM = fem.Material(young=2e6, density=200.0, poisson=0.3)
STRAINS = ["linear", "von_karman"]
MOMENTA = ["full", "constant"]
RATE = np.array([0.5, -0.8, 0.6])


def orientation(t):
    return Rotation.from_rotvec((0.2, 0.3, -0.1)) * Rotation.from_rotvec((t + 0.5 * t**2) * RATE)


def parts_of_everything(strain, momenta, damping, material=SOFT):
    kind = {"strain": strain, "momenta": momenta}
    damped = fem.Damping(mass=0.3 * damping, stiffness=0.01 * damping)
    return {
        "crank": block(seed=1),
        "arm": cloud(2, damping=damping, **kind),
        "rod": beam(0.6, material=material, damping=damped, **kind).with_mass("tip", 0.1, 2e-3),
        "disc": block(seed=3),
        "fork": cloud(4, damping=damping, **kind),
        "plate": block(seed=5),
        "flap": block(seed=6),
        "spinner": cloud(7, **kind),
        "bob": rigid.point(0.3, dim=3),
        "cart": rigid.point(0.2, dim=3),
    }


def inner_connections(rate=1.0):
    """Every joint and force element between bodies: a tree, so that any pose closes."""
    axis = {"axis": A1, "second_axis": A2}
    return [
        spherical("arm.p", "crank.q"),
        universal("rod.root", "arm.q", axis=(0.0, 1.0, 0.0), second_axis=A1),
        cylindrical("disc.p", "rod.tip", **axis),
        prismatic("fork.p", "disc.q", direction=A3),
        planar("plate.p", "disc.s", normal=A1, second_normal=A3),
        weld("flap.p", "fork.q", rotation=Rotation.from_rotvec((0.5, 0.1, -0.4))),
        hinge("spinner.p", "crank.s", axis=A3),
        drive("spinner.p", "crank.s", angle=lambda t: 0.2 + 2.0 * rate * t, axis=A3),
        distance("bob.point", "flap.q"),
        slider("cart.point", "plate.q", direction=A2, turning=True),
        spring_damper("bob.point", "cart.point", stiffness=15.0, damping=0.3, length=0.2),
        spring_damper("plate.s", "crank.p", damping=0.2),
        torsion_spring("disc.p", "rod.tip", stiffness=0.6, damping=0.05, angle=0.3, **axis),
        bushing(
            "fork.s",
            "plate.s",
            stiffness=(3.0, 5.0, 0.0),
            damping=(0.2, 0.0, 0.1),
            torsional_stiffness=(0.3, 0.2, 0.1),
            torsional_damping=0.02,
        ),
    ]


def everything(strain="von_karman", momenta="full", damping=1.0):
    """A mechanism with every joint, force element, drive and input, on flexible and rigid bodies and point masses."""
    outer = [
        revolute("crank.p", GROUND.at(0.1, 0.2, -0.1), axis=A1),
        drive("flap.s", GROUND, rotation=orientation),
        spring_damper("arm.s", GROUND.at(0.0, 0.0, 2.0), stiffness=5.0, damping=0.1),
        torsion_spring("crank.p", GROUND, stiffness=2.0, damping=0.1, axis=A1),
        bushing("plate.p", GROUND.at(1.0, 0.0, 0.0), stiffness=2.0, damping=0.1, torsional_stiffness=0.2),
        force("arm.s"),
        torque("rod.tip"),
        force("fork.q", axes="section"),
        torque("spinner.s", axes="section"),
        distributed_load("rod.load"),
    ]
    bodies = parts_of_everything(strain, momenta, damping)
    return connect(bodies, [*inner_connections(), *outer], gravity=GRAVITY)


INPUTS = {
    "force arm.s": lambda t: (0.5, math.cos(3.0 * t), -0.3),
    "torque rod.tip": (0.02, -0.05, 0.03),
    "force fork.q": lambda t: (0.4 * math.sin(2.0 * t), 0.3, 0.2),
    "torque spinner.s": (0.01, 0.02, -0.01),
    "load rod.load": lambda t: [(0.5, t, 0.2), (0.3, -1.0, 0.1)],
}


def start_of(mechanism, seed=0, scale=1.0):
    """A consistent state that moves, from a random guess."""
    rng = np.random.default_rng(seed)
    guess = {
        name: (0.5 * rng.standard_normal(3), Rotation.from_rotvec(0.4 * rng.standard_normal(3)))
        for name, body in mechanism.bodies.items()
    }
    pose = mechanism.assemble(guess=guess)
    return mechanism.consistent_state(pose, velocities=random_velocities(mechanism, seed, scale))


@cache
def moving():
    """The mechanism with its start, which is made once."""
    mechanism = everything()
    return mechanism, start_of(mechanism)


CASES = [("linear", "full", 1.0), ("von_karman", "full", 0.0), ("von_karman", "constant", 1.0)]


RUNS = {(*c, h): pytest.mark.slow if (h > 0.01) == (c == CASES[1]) else () for c in CASES for h in (0.002, 0.02)}
"""Fast ones have every case and both lengths of steps, which take the same loops."""


@pytest.fixture(scope="module", params=[pytest.param(run, marks=marks) for run, marks in RUNS.items()], ids=str)
def loaded_run(request):
    strain, momenta, damping, h = request.param
    mechanism = everything(strain, momenta, damping)
    return integrate(mechanism, start_of(mechanism), np.linspace(0.0, 16 * h, 17), inputs=INPUTS)


# --- energy, constraints, rotations -----------------------------------------------------------------------------------


def test_energy_balances_in_every_step(loaded_run):
    ledger = loaded_run.ledger
    # some hundred energies and works are added, each known to 1e-16 of itself
    assert ledger.largest_residual < 2e-13
    exchanged = [*ledger.work.values(), *ledger.dissipation.values()]
    assert min(np.abs(v).max() for v in exchanged) > 1e-10 * ledger.scale  # every account has entries
    assert min(v.min() for v in ledger.dissipation.values()) >= 0.0


def test_ideal_joints_do_no_work(loaded_run):
    work = np.array(list(loaded_run.ledger.joint_work.values()))
    assert np.abs(work).max() < 1e-12 * loaded_run.ledger.scale


def test_joints_do_not_drift(loaded_run):
    assert loaded_run.ledger.position_residual.max() < 1e-13
    for first, second in (("arm.p", "crank.q"), ("rod.root", "arm.q"), ("flap.p", "fork.q")):
        assert np.abs(loaded_run.position(first) - loaded_run.position(second)).max() < 1e-13


def test_rotations_stay_rotations(loaded_run):
    assert loaded_run.orthogonality() < 1e-14 * 10  # one round-off in each of 16 steps


def test_drives_are_followed(loaded_run):
    """Of the driven rotation in the world: the section is R + R[ψu]×; the rigid flap is exact."""
    want = np.array([orientation(t).as_matrix() for t in loaded_run.times])
    assert np.abs(loaded_run.rotations("flap") - want).max() < 1e-13


@covering("h, strain, momenta", (0.002, 0.1), tuple(STRAINS), tuple(MOMENTA))
def test_a_free_mechanism_keeps_both_momenta(strain, momenta, h):
    """Joints, springs, dampers, a drive between bodies and flexibility make no outer force."""
    mechanism = connect(parts_of_everything(strain, momenta, 1.0), inner_connections())
    run = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 12 * h, 13))
    found = np.array([Sight(mechanism, x).momentum() for x in run.states])
    assert np.abs(found[0]).max() > 1.0  # there is something to keep
    assert run.ledger.kind("elastic").max() > 1e-3 * run.ledger.total_energy.max()  # and the bodies deform
    impulses = h * np.abs(run.stage_multipliers).max()
    # impulses enter and cancel, each known to 1e-16 of itself, on levers near one
    assert np.abs(found - found[0]).max() < 1e-13 * max(1.0, impulses)
    assert run.linear_momentum() == pytest.approx(found[:, :3], abs=1e-13)
    assert run.angular_momentum() == pytest.approx(found[:, 3:], abs=1e-13)
    assert run.ledger.largest_residual < 2e-13
    assert run.ledger.position_residual.max() < 1e-13


# --- work of loads, and losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [block(seed=2), cloud(3), beam(0.5, material=FIRM)], ids=["rigid", "cloud", "beam"])
@pytest.mark.parametrize("axes", ["world", "section"])
def test_work_of_forces_and_torques(body, axes):
    """F·Δp of the port in the world; of a rigid body in section axes F̄·Δp with the mean of both directions."""
    port = next(reversed(body.ports))
    mechanism = connect({"b": body}, [force(f"b.{port}", axes=axes), torque(f"b.{port}", axes=axes)], gravity=GRAVITY)
    push, turn = np.array([0.3, -0.4, 0.5]), np.array([0.02, 0.01, -0.03])
    inputs = {f"force b.{port}": push, f"torque b.{port}": turn}
    run = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 0.3, 7), inputs=inputs)
    moved_by = np.diff(run.position(f"b.{port}"), axis=0)
    sections = np.array([Sight(mechanism, x).section(f"b.{port}") for x in run.states])
    mean = 0.5 * (sections[1:] + sections[:-1])
    acting = mean @ push if axes == "section" else np.tile(push, (6, 1))
    assert run.ledger.work[f"force b.{port}"] == pytest.approx(np.einsum("ti,ti->t", acting, moved_by), abs=1e-15)
    if not body.size:  # T·hΩ with the spin of Cayley's rotation: ½hΩ = tan(½θ) of its axis
        R = run.rotations("b")
        turns = [Rotation.from_matrix(b @ a.T).as_rotvec() for a, b in itertools.pairwise(R)]
        spin = np.array([2.0 * math.tan(0.5 * np.linalg.norm(v)) * unit(v) for v in turns])
        acting = mean @ turn if axes == "section" else np.tile(turn, (6, 1))
        assert run.ledger.work[f"torque b.{port}"] == pytest.approx(np.einsum("ti,ti->t", acting, spin), abs=1e-14)
    assert run.ledger.largest_residual < 5e-13  # of a soft beam that turns fast


def test_work_of_a_distributed_load_and_of_gravity():
    mechanism = connect({"b": beam(0.5, elements=3)}, [distributed_load("b.load")], gravity=GRAVITY)
    load = np.array([(0.5, 1.0, -0.3), (0.2, 0.0, 0.4), (-0.1, 0.6, 0.2)])
    run = integrate(mechanism, start_of(mechanism), np.linspace(0.0, 0.3, 7), inputs={"load b.load": load})
    at = mechanism.bodies["b"].loads["load"]
    places = run.points("b", at.positions, at.shapes)
    work = np.einsum("ki,tki,k->t", load, np.diff(places, axis=0), at.measures)
    assert run.ledger.work["load b.load"] == pytest.approx(work, abs=1e-14)
    height = -run.mechanism.bodies["b"].mass * run["b.centre"] @ GRAVITY
    assert np.diff(run.ledger.kind("potential")) == pytest.approx(np.diff(height), abs=1e-13)


def test_a_force_that_follows_turns_with_its_section():
    """A rocket: a body thrust along its own x axis through its centre, spun about z: exact circle of its momentum."""
    ball = rigid.sphere(0.2, density=30.0)
    mechanism = connect({"b": ball}, [force("b.centre", axes="section")])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"b": ((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))})
    errors = []
    for n in (20, 40, 80):
        run = integrate(mechanism, start, np.linspace(0.0, 1.0, n + 1), inputs={"force b.centre": (1.5, 0.0, 0.0)})
        exact = 1.5 / (2.0 * ball.mass) * np.array([math.sin(2.0), 1.0 - math.cos(2.0), 0.0])
        errors.append(np.abs(run["b.velocity"][-1] - exact).max() / np.abs(exact).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 1e-3


def test_damping_of_a_small_motion_is_in_the_ledger():
    """A damper between two points: c (Δℓ/h)² h; a bushing: Σ c ḋ²; of free point masses on a line."""
    made = {"a": rigid.point(1.0, dim=3), "b": rigid.point(2.0, dim=3)}
    joint = spring_damper("a.point", "b.point", stiffness=4.0, damping=0.7, length=1.0)
    mechanism = connect(made, [joint])
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (1.2, 0.3, -0.1)})
    given = {"a": ((0.3, 0.1, 0.0), (0, 0, 0)), "b": ((-0.2, 0.4, 0.5), (0, 0, 0))}
    run = integrate(mechanism, mechanism.consistent_state(pose, velocities=given), np.linspace(0.0, 0.5, 11))
    length = np.linalg.norm(run.position("a.point") - run.position("b.point"), axis=1)
    (lost,) = run.ledger.dissipation.values()
    assert lost == pytest.approx(0.7 * np.diff(length) ** 2 / 0.05, rel=1e-9)
    (stored,) = (v for k, v in run.ledger.energy.items() if k.startswith("stored"))
    assert stored == pytest.approx(0.5 * 4.0 * (length - 1.0) ** 2, rel=1e-9)


# --- order ------------------------------------------------------------------------------------------------------------

COUNTS = (17, 33, 65, 129)
"""Odd, so that the middle of the run is the middle of a step of each; and of a step with an even number, since the
error of multipliers alternates (its size is of second order on both sides)."""


def pair():
    """A smooth motion: two flexible bodies on a driven hinge, a spherical joint and a bushing."""
    joints = [
        revolute("a.p", GROUND.at(0.0, 0.0, 0.0), axis=A1),
        drive("a.p", GROUND.at(0.0, 0.0, 0.0), angle=lambda t: 0.3 + 1.0 * t + t**2, axis=A1),
        universal("b.q", "a.q", axis=A1, second_axis=A2),
        spherical("c.p", "b.s"),
        bushing("c.s", "a.s", stiffness=3.0, damping=0.1, torsional_stiffness=0.1),
    ]
    bodies = {"a": block(seed=1), "b": cloud(2, stiffness=10.0, damping=1.0), "c": block(seed=4)}
    return connect(bodies, joints, gravity=(0.5, -1.0, -3.0))


@pytest.fixture(scope="module")
def smooth_runs():
    mechanism = pair()
    start = mechanism.consistent_state(mechanism.assemble(guess={"a": Rotation.from_rotvec(0.3 * unit(A1))}))
    return [integrate(mechanism, start, np.linspace(0.0, 0.3, n + 1)) for n in COUNTS]


def kinds(solution, *names):
    parts = solution.mechanism.layout.parts
    return np.hstack([solution.states[:, s] for k, s in parts.items() if k.rpartition(".")[2] in names])


def middle(values):
    return values[len(values) // 2]


ORDERS = {  # what is compared, and the bound on its relative error with 33 steps
    "positions": (lambda s: kinds(s, "centre", "rotation", "deformation")[-1], 3e-5),
    "velocities": (lambda s: kinds(s, "velocity", "spin", "deformation_rate")[-1], 1e-4),
    "stresses": (lambda s: kinds(s, "stress")[-1], 1e-3),
    "multipliers": (lambda s: middle(s.multipliers), 3e-4),
    "reactions": (lambda s: middle(s.reaction("universal b.q–a.q", frame="second").force), 3e-4),
    "torques": (lambda s: middle(s.reaction("revolute a.p–GROUND at (0.0, 0.0, 0.0)").torque), 3e-4),
}


@pytest.mark.parametrize("name", ORDERS)
def test_every_quantity_is_of_second_order(smooth_runs, name):
    measure, bound = ORDERS[name]
    values = [measure(run) for run in smooth_runs]
    exact = values[3] + (values[3] - values[2]) / ((COUNTS[3] / COUNTS[2]) ** 2 - 1.0)  # extrapolated: of fourth order
    errors = np.array([np.abs(v - exact).max() for v in values[:3]]) / np.abs(exact).max()
    slopes = np.log(errors[:-1] / errors[1:]) / np.log(np.divide(COUNTS[1:3], COUNTS[:2]))
    assert slopes == pytest.approx(2.0, abs=0.1)
    assert errors[1] < bound


def test_newton_needs_few_iterations(smooth_runs):
    for run in smooth_runs[1:]:
        assert run.ledger.iterations.mean() <= 4.5


def test_large_mechanisms_take_the_same_steps(monkeypatch):
    """Their arrays are sparse; of every joint, force element, drive and input."""

    def run(limit):
        monkeypatch.setattr(network, "DENSE_LIMIT", limit)
        mechanism = everything()
        return integrate(mechanism, start_of(mechanism), np.linspace(0.0, 0.1, 6), inputs=INPUTS)

    one, other = run(10**6), run(0)
    # round-off of one step and five steps of growth; poses are assembled anew
    assert np.abs(one.states - other.states).max() < 1e-10 * np.abs(one.states).max()
    assert np.abs(one.multipliers - other.multipliers).max() < 1e-8 * np.abs(one.multipliers).max()


# --- symmetries -------------------------------------------------------------------------------------------------------


def placed_everything(Q, shift):
    """The mechanism of everything with all that is given in the world turned and shifted."""
    at = lambda *x: GROUND.at(*(Q @ x + shift))  # noqa: E731
    turned = Rotation.from_matrix(Q)
    outer = [
        revolute("crank.p", at(0.1, 0.2, -0.1), axis=A1, second_axis=tuple(Q @ unit(A2))),
        drive("flap.s", GROUND, rotation=lambda t: turned * orientation(t)),
        spring_damper("arm.s", at(0.0, 0.0, 2.0), stiffness=5.0, damping=0.1),
        force("arm.s"),
        torque("rod.tip"),
        force("fork.q", axes="section"),
        torque("spinner.s", axes="section"),
        distributed_load("rod.load"),
    ]
    bodies = parts_of_everything("von_karman", "full", 1.0, FIRM)
    return connect(bodies, [*inner_connections(), *outer], gravity=tuple(Q @ GRAVITY))


def test_the_world_may_be_turned_and_shifted():
    """A random rotation and translation of poses, velocities, gravity, ground, drives and loads changes nothing."""
    Q, shift = random_rotation(np.random.default_rng(8)), np.array([0.4, -0.7, 1.1])
    runs = []
    here = placed_everything(np.eye(3), np.zeros(3))
    first = start_of(here, scale=0.3)
    sight = Sight(here, first.x)
    place = {name: sight.body(name)[1:3] for name in here.bodies}
    for R, x in ((np.eye(3), np.zeros(3)), (Q, shift)):
        mechanism = placed_everything(R, x)
        guess = {name: (R @ (r - A @ here.bodies[name].inertia.centre) + x, R @ A) for name, (r, A) in place.items()}
        given = {name: (R @ v, R @ w) for name, (v, w) in random_velocities(here, 0, 0.3).items()}
        start = mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=given)
        world = lambda t, R=R: R @ INPUTS["force arm.s"](t)  # noqa: E731
        load = lambda t, R=R: np.array(INPUTS["load rod.load"](t)) @ R.T  # noqa: E731
        inputs = {**INPUTS, "force arm.s": world, "load rod.load": load}
        inputs["torque rod.tip"] = R @ INPUTS["torque rod.tip"]
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.5, 26), inputs=inputs))
    one, other = runs
    assert np.abs(one.states[-1] - one.states[0]).max() > 0.5
    for port in ("crank.q", "rod.tip", "bob.point", "plate.q"):
        assert other.position(port) == pytest.approx(one.position(port) @ Q.T + shift, abs=1e-10)
    for part in ("rod.deformation", "arm.stress", "crank.spin", "spinner.spin"):
        assert other[part] == pytest.approx(one[part], abs=1e-9 * np.abs(one[part]).max())
    name = "universal rod.root–arm.q"
    assert other.reaction(name).force == pytest.approx(one.reaction(name).force @ Q.T, abs=1e-7)
    own = [run.reaction(name, frame="first", on="second") for run in (one, other)]
    assert own[1].torque == pytest.approx(own[0].torque, abs=1e-7)


def test_a_run_can_be_turned_back():
    mechanism = connect(
        parts_of_everything("von_karman", "full", 0.0),
        [c for c in inner_connections() if not any(m.damping for m in c.form.measures) and "drive" not in c.name][:8],
        gravity=GRAVITY,
    )
    start = start_of(mechanism)
    times = np.cumsum([0.0, 0.02, 0.01, 0.03, 0.02, 0.01])
    there = integrate(mechanism, start, times)
    x = there.final.x.copy()
    for name, part in mechanism.layout.parts.items():
        if name.rpartition(".")[2] in ("velocity", "spin", "deformation_rate"):
            x[part] *= -1.0
    memory = there.final.memory.copy()
    memory[:, : mechanism.layout.frames * 6 + mechanism.layout.flexible] *= -1.0  # mean velocities, not multipliers
    back = integrate(mechanism, replace(there.final, time=0.0, x=x, memory=memory), times[-1] - times[::-1])
    assert np.abs(there.states[-1] - start.x).max() > 0.05
    for kind in ("centre", "rotation", "deformation"):
        assert kinds(back, kind)[::-1] == pytest.approx(kinds(there, kind), abs=1e-12)
    assert kinds(back, "velocity", "spin")[::-1] == pytest.approx(-kinds(there, "velocity", "spin"), abs=1e-9)


# --- solutions found otherwise ----------------------------------------------------------------------------------------

MOMENTS = np.array([0.02, 0.035, 0.05])


@pytest.mark.parametrize(
    "spin", [(1.0, 2.0, 3.0), (3.0, 2.0, 0.5), (0.1, 3.0, 0.1)], ids=["about 3", "about 1", "tumbling"]
)
def test_a_free_rigid_body_follows_the_elliptic_functions(spin):
    """Euler's top: ω = (c₁ cn, c₂ sn, c₃ dn) and its permutation (Landau and Lifshitz, Mechanics, sec. 37)."""
    mechanism = connect({"a": rigid.body(1.0, inertia=MOMENTS, ports={})}, [])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"a": spin})
    errors = []
    for n in (50, 100, 200):
        run = integrate(mechanism, start, np.linspace(0.0, 2.0, n + 1))
        errors.append(np.abs(run["a.spin"] - elliptic(np.array(spin), run.times)).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 1.2e-3 * np.linalg.norm(spin)
    L = run.angular_momentum()
    assert np.abs(L - L[0]).max() < 1e-13  # of 0.1, over 200 steps
    assert np.ptp(run.ledger.total_energy) < 1e-12 * run.ledger.scale


def elliptic(spin, times):
    """Spins in body axes from those at t = 0, for moments in ascending order."""
    J = MOMENTS
    momentum, energy = np.sum((J * spin) ** 2), np.sum(J * spin**2)
    # in the order in which the momentum turns about the last axis
    order = [0, 1, 2] if momentum > energy * J[1] else [2, 1, 0]
    a, b, c = J[order]
    w = spin[order]
    c1 = math.sqrt((energy * c - momentum) / (a * (c - a)))
    c2 = math.sqrt((energy * c - momentum) / (b * (c - b)))
    c3 = math.sqrt((momentum - energy * a) / (c * (c - a)))
    rate = math.sqrt((c - b) * (momentum - energy * a) / (a * b * c))
    m = ((b - a) * (energy * c - momentum)) / ((c - b) * (momentum - energy * a))
    guess = solve_ivp(lambda t, y: euler(y), (0.0, times[-1]), spin, rtol=1e-11, atol=1e-12, t_eval=times).y.T
    # the phase from sn = w₂/c₂ at t = 0; signs and direction are those that Euler's equations take
    first = float(ellipkinc(math.asin(max(-1.0, min(1.0, w[1] / c2))), m))
    found = []
    for phase, way, s1, s3 in itertools.product((first, 2.0 * ellipk(m) - first), (1, -1), (1, -1), (1, -1)):
        sn, cn, dn, _ = ellipj(way * rate * times + phase, m)
        found.append(np.column_stack([s1 * c1 * cn, c2 * sn, s3 * c3 * dn])[:, np.argsort(order)])
    return min(found, key=lambda y: np.abs(y - guess).max())


def euler(w):
    return np.cross(MOMENTS * w, w) / MOMENTS


def test_a_heavy_symmetric_top_precesses_steadily():
    """A Ω² cos θ − C s Ω + m g l = 0 (slow root): constant tilt, constant rate, s the spin about the axis."""
    top = rigid.cylinder(0.2, 0.08, density=500.0)
    m, length, g, tilt, s = top.mass, 0.1, 9.81, 0.6, 150.0
    C = 0.5 * m * 0.08**2
    A = m * (3.0 * 0.08**2 + 0.2**2) / 12.0 + m * length**2
    roots = np.roots([A * math.cos(tilt), -C * s, m * g * length])
    omega = float(np.min(np.abs(roots)))
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    R = np.column_stack([axis, [0.0, 1.0, 0.0], np.cross(axis, [0.0, 1.0, 0.0])])
    mechanism = connect({"top": top}, [spherical("top.root", GROUND.at(0.0, 0.0, 0.0))], gravity=(0.0, 0.0, -g))
    spin = omega * np.array(Z) + (s - omega * math.cos(tilt)) * axis
    start = mechanism.consistent_state(mechanism.assemble({"top": R}), velocities={"top": tuple(spin)})
    errors = []
    for h in (4e-3, 2e-3):
        run = integrate(mechanism, start, np.linspace(0.0, 0.4, round(0.4 / h) + 1))
        e = run.rotations("top")[:, :, 0]
        exact = np.column_stack([
            math.sin(tilt) * np.cos(omega * run.times),
            math.sin(tilt) * np.sin(omega * run.times),
            np.full(len(e), math.cos(tilt)),
        ])  # fmt: skip
        errors.append(np.abs(e - exact).max())
        assert np.ptp(run.angular_momentum()[:, 2]) < 1e-12  # gravity has no moment about the vertical
    assert omega * 0.4 > 0.8
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1.2e-2


def test_a_flexible_mechanism_against_an_integrator_of_the_equations():
    """E ẋ = (J − R) z of the PHDAE of a free flexible body, by Runge-Kutta of order 8."""
    mechanism = connect({"a": cloud(3, damping=1.0)}, [], gravity=GRAVITY)
    start = start_of(mechanism)
    system = mechanism.phdae(start)

    def rate(t, x):
        return np.linalg.solve(system.E(x), (system.J(x) - system.R(x)) @ system.z(x))

    exact = solve_ivp(rate, (0.0, 0.4), start.x, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    errors = [
        np.abs(integrate(mechanism, start, np.linspace(0.0, 0.4, n + 1)).states[-1] - exact).max() for n in (100, 200)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3 * np.abs(exact).max()


# --- the plane in space -----------------------------------------------------------------------------------------------


def lifted(x):
    return (*x, 0.0)


def flat_beam(dim, length, **options):
    return fem.beam(length, SOFT, STRIP, elements=2, strain="von_karman", dim=dim, **options)


def double_pendulum(dim):
    """Two beams on hinges, springs, a torsion spring, damping, a force that follows and gravity; both dimensions."""
    place = (lambda *x: GROUND.at(*x)) if dim == 2 else (lambda *x: GROUND.at(*x, 0.0))
    about = {} if dim == 2 else {"axis": Z}
    loss = fem.Damping(mass=0.2, stiffness=1e-3)
    bodies = {"a": flat_beam(dim, 0.5, damping=loss), "b": flat_beam(dim, 0.4, reference="simply_supported")}
    joints = [
        hinge("a.root", place(0.1, 0.2), **about),
        hinge("b.root", "a.tip", **about),
        spring_damper("b.tip", place(0.5, -1.0), stiffness=8.0, damping=0.1, length=0.4),
        torsion_spring("b.root", "a.tip", stiffness=0.4, damping=0.01, angle=0.3, **about),
        bushing("b.tip", "a.root", stiffness=1.5, damping=0.02),
        force("b.tip", axes="section"),
        torque("a.tip"),
        distributed_load("a.load"),
    ]
    return connect(bodies, joints, gravity=(1.0, -9.81) if dim == 2 else (1.0, -9.81, 0.0))


def crank_slider(dim):
    """A driven crank, a soft rod and a slider: in space with the fewest joints, a hinge, a spherical one and a rail."""
    bodies = {"crank": rigid.bar(0.15, 0.3), "rod": flat_beam(2, 0.4), "block": rigid.point(0.2)}
    turn = lambda t: 0.4 + 5.0 * t + 3.0 * t**2  # noqa: E731
    if dim == 2:
        joints = [
            hinge("crank.root", GROUND.at(0.0, 0.0)),
            drive("crank.root", GROUND.at(0.0, 0.0), angle=turn),
            hinge("rod.root", "crank.tip"),
            hinge("block.point", "rod.tip"),
            slider("block.point", GROUND.at(0.0, 0.05), direction=(1.0, 0.2), turning=True),
        ]
        return connect(bodies, joints, gravity=(0.0, -9.81))
    across = 0.3 * 0.15**2 / 12.0
    crank = rigid.body(
        0.3,
        inertia=(1e-4, across, across),
        centre=(0.075, 0.0, 0.0),
        ports={"root": (0.0, 0.0, 0.0), "middle": (0.075, 0.0, 0.0), "tip": (0.15, 0.0, 0.0)},
    )
    bodies = {"crank": crank, "rod": flat_beam(3, 0.4), "block": rigid.point(0.2, dim=3)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0, 0.0), axis=Z),
        drive("crank.root", GROUND.at(0.0, 0.0, 0.0), angle=turn, axis=Z),
        hinge("rod.root", "crank.tip", axis=Z),
        spherical("block.point", "rod.tip"),
        drive("block.point", GROUND.at(0.0, 0.05, 0.0), displacement=lambda t: 0.0, direction=(-0.2, 1.0, 0.0)),
    ]
    return connect(bodies, joints, gravity=(0.0, -9.81, 0.0))


def start_in(make, dim, poses, spins=None):
    mechanism = make(dim)
    about = (lambda a: a) if dim == 2 else (lambda a: Rotation.from_rotvec((0.0, 0.0, a)))
    guess = {name: about(angle) for name, angle in poses.items()}
    given = {name: w if dim == 2 else (0.0, 0.0, w) for name, w in (spins or {}).items()}
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=given)


def in_the_plane(solution, name):
    """Deformation of a beam without what leaves the plane."""
    u = solution.deformation(name)
    mesh = fem.beam(1.0, SOFT, STRIP, elements=2, dim=3).size // 6 if u.shape[1] == 12 else None
    return u.reshape(len(u), mesh, 6)[:, :, :3].reshape(len(u), -1) if mesh else u


PLANAR = {
    "double pendulum": (
        double_pendulum,
        {"a": -0.4, "b": 0.3},
        {"a": 2.0, "b": -1.0},
        {
            2: {"force b.tip": (0.1, 0.3), "torque a.tip": 0.05, "load a.load": (0.4, 0.2)},
            3: {"force b.tip": (0.1, 0.3, 0.0), "torque a.tip": (0.0, 0.0, 0.05), "load a.load": (0.4, 0.2, 0.0)},
        },
    ),
    "crank-slider": (crank_slider, {"crank": 0.4, "rod": -0.2}, {}, {2: {}, 3: {}}),
}


@pytest.mark.parametrize("name", PLANAR)
def test_a_planar_problem_posed_in_space_has_the_planar_answer(name):
    make, poses, spins, inputs = PLANAR[name]
    times = np.linspace(0.0, 0.6, 61)
    runs = {}
    for dim in (2, 3):
        mechanism, start = start_in(make, dim, poses, spins)
        runs[dim] = integrate(mechanism, start, times, inputs=inputs[dim])
    flat, deep = runs[2], runs[3]
    for body, own in flat.mechanism.bodies.items():
        for port in own.ports:
            found = deep.position(f"{body}.{port}")
            assert found[:, :2] == pytest.approx(flat.position(f"{body}.{port}"), abs=1e-10)
            assert np.abs(found[:, 2]).max() < 1e-12
        if own.turns:
            assert deep.spin(body)[:, 2] == pytest.approx(flat.spin(body)[:, 0], abs=1e-8)
            assert np.abs(deep.spin(body)[:, :2]).max() < 1e-11
    assert np.abs(flat.deformation(list(flat.mechanism.bodies)[1])).max() > 1e-4
    for kind in ("kinetic", "elastic", "stored"):
        assert deep.ledger.kind(kind) == pytest.approx(flat.ledger.kind(kind), abs=1e-10)
    lost = [sum(run.ledger.dissipation.values(), np.zeros(60)) for run in (flat, deep)]
    assert lost[1] == pytest.approx(lost[0], abs=1e-12)
    joint = next(iter(flat.ledger.joint_work))
    planar_force = flat.reaction(joint).force
    spatial = next(c.name for c in deep.mechanism.connections if c.rows)
    assert deep.reaction(spatial).force[:, :2] == pytest.approx(planar_force, abs=1e-7)


# --- port-Hamiltonian form --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def equations():
    mechanism, state = moving()
    return mechanism, state, mechanism.phdae(state)


def random_states(mechanism, system, count=2):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        x = system.sample + 0.2 * rng.standard_normal(system.size)
        n = mechanism.layout.size
        yield np.concatenate([random_positions(mechanism, x[:n], seed, deformation=0.2), x[n:]])


def dense(a):
    return a.toarray() if hasattr(a, "toarray") else a


def test_the_structure_is_skew_and_dissipation_not_negative(equations):
    mechanism, _, system = equations
    for x in random_states(mechanism, system):
        J, R = dense(system.J(x)), dense(system.R(x))
        assert np.abs(J + J.T).max() < 1e-15 * np.abs(J).max()
        assert np.abs(R - R.T).max() == 0.0
        assert np.linalg.eigvalsh(R).min() > -1e-13 * np.abs(R).max()


def test_gradient_pair_and_power_balance(equations):
    mechanism, _, system = equations
    rows = mechanism.layout.size
    for x in random_states(mechanism, system):
        at = lambda e, x=x: system.H(x + e)  # noqa: E731
        slope = np.array([(8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / 12e-2 for e in 1e-2 * np.eye(x.size)])
        pulled = dense(system.E(x)).T @ system.z(x)
        # H is a polynomial of degree four and of order 100: 1e-14/1e-2
        assert np.abs(pulled - slope).max() < 1e-11 * max(100.0, system.H(x))
        u = np.random.default_rng(1).standard_normal(system.B(x).shape[1])
        z, B = system.z(x), dense(system.B(x))
        rate = (dense(system.J(x)) - dense(system.R(x))) @ z + B @ u
        motion = np.linalg.solve(dense(system.E(x))[:rows, :rows], rate[:rows])
        expected = (B.T @ z) @ u - z @ (system.R(x) @ z) - x[rows:] @ rate[rows:]
        assert pulled[:rows] @ motion == pytest.approx(expected, rel=1e-10)
        assert slope[:rows] @ motion == pytest.approx(expected, abs=1e-8 * np.abs(motion).max() * rows)


def test_outputs_are_the_motions_of_the_ports(equations):
    """y = Bᵀz: velocities of points, spins of sections, in the axes of the input; drives give their multiplier."""
    mechanism, _, system = equations
    (x, *_) = random_states(mechanism, system, 1)
    n, q = mechanism.layout.velocities, sum(mechanism.layout.position_sizes)
    v, e = x[q : q + n], 1e-4
    ahead, behind = (Sight(mechanism, moved(mechanism, x[: mechanism.layout.size], s * v)) for s in (e, -e))
    far, back = (Sight(mechanism, moved(mechanism, x[: mechanism.layout.size], 2 * s * v)) for s in (e, -e))
    y = lambda port: dense(system.inputs(x, port)).T @ system.z(x)  # noqa: E731
    speed = lambda port: (8 * (ahead.point(port) - behind.point(port)) - far.point(port) + back.point(port)) / (12 * e)  # noqa: E731
    assert y("force arm.s") == pytest.approx(speed("arm.s"), abs=1e-9)
    own = Sight(mechanism, x[: mechanism.layout.size]).section("fork.q")
    assert y("force fork.q") == pytest.approx(own.T @ speed("fork.q"), abs=1e-9)
    body, _, R, _ = Sight(mechanism, x[: mechanism.layout.size]).body("rod")
    parts = mechanism.layout.parts
    spin = R @ (x[parts["rod.spin"]] + body.ports["tip"].rotation @ x[parts["rod.deformation_rate"]])
    assert y("torque rod.tip") == pytest.approx(spin, abs=1e-12)
    name = "drive spinner.p–crank.s: angle"
    assert y(name) == pytest.approx(x[parts[name]], abs=1e-14)


def test_the_step_is_consistent_with_the_equations():
    """E ẋ = (J − R) z + B u at the middle of a step with its multipliers, up to the square of the step."""
    mechanism = without_drives(everything())
    start = start_of(mechanism)
    system = mechanism.phdae(start)
    given = {name: np.ravel(value(0.0) if callable(value) else value) for name, value in INPUTS.items()}
    u = np.concatenate([given[name] for name in mechanism.input_names])
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        run = integrate(mechanism, start, [0.0, h], inputs=given)
        x = np.concatenate([run.states.mean(axis=0), run.stage_multipliers[0]])
        jump = np.concatenate([run.states[1] - run.states[0], np.zeros(len(run.multipliers[0]))])
        right = (system.J(x) - system.R(x)) @ system.z(x) + system.B(x) @ u
        errors.append(np.abs(system.E(x) @ jump / h - right).max())
    errors = np.array(errors)
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 0.05  # of forces of order ten on bodies whose frequencies are 1e2/s


def without_drives(mechanism):
    kept = [c for c in mechanism.connections if not c.is_driven]
    return connect(mechanism.bodies, kept, gravity=mechanism.gravity)


# --- from the body point to the centre of mass ------------------------------------------------------------------------


class CentreForm:
    """The body as a mechanism of its own, at the centre of mass in world axes, and the way there from [flex]'s form."""

    def __init__(self, body):
        self.body, self.point_form = body, floating_body(body, gravity=GRAVITY, form="canonical")
        mechanism = connect({"b": body}, [], gravity=GRAVITY)
        self.form = mechanism.phdae(mechanism.consistent_state(mechanism.assemble()))
        self.mechanism = mechanism

    def phi(self, x):
        """(r_P, R, u, v_P, ω, u̇, σ) to (r, R, u, ṙ, ω, u̇, σ), r = r_P + R(c + φ̄u).

        Off the rotations ṙ is turned by the orthonormal frame of R, so that kinetic energies are one function.
        """
        n, inertia = self.body.size, self.body.inertia
        r, kept, u, v, omega, du, sigma = np.split(x, np.cumsum([3, 9, n, 3, 3, n]))
        R, lever = kept.reshape(3, 3), inertia.centre + inertia.mean_shape @ u
        a = R[:, 0] / np.sqrt(R[:, 0] @ R[:, 0])
        b = R[:, 1] - (a @ R[:, 1]) * a
        b = b / np.sqrt(b @ b)
        frame = np.column_stack([a, b, np.cross(a, b)])
        velocity = v + np.cross(omega, lever) + inertia.mean_shape @ du
        return np.concatenate([r + R @ lever, kept, u, frame @ velocity, omega, du, sigma])

    def jacobian(self, x):
        """Dφ by complex steps, exact to round-off."""
        return np.column_stack([self.phi(x + step).imag / 1e-20 for step in 1e-20j * np.eye(len(x))])

    def frame(self, x):
        """U with Uᵀ(E ∘ φ)Dφ = E of the point form."""
        carried = dense(self.form.E(self.phi(x))) @ self.jacobian(x)
        return np.linalg.solve(carried.T, dense(self.point_form.E(x)).T)

    def sample(self, seed):
        rng = np.random.default_rng(seed)
        x = 0.3 * rng.standard_normal(self.point_form.size)
        x[self.point_form.parts["rotation"]] = random_rotation(rng).ravel()
        return x


BODIES = {
    "rigid": lambda: block(seed=3),
    "cloud": lambda: cloud(5, damping=1.0),
    "linear cloud": lambda: cloud(5, strain="linear"),
    "beam": lambda: beam(0.6, damping=fem.Damping(mass=0.1, stiffness=0.02)).with_mass("tip", 0.1, 2e-3),
    "simply supported": lambda: beam(0.6, reference="simply_supported"),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_centre_of_mass_form_is_a_system_transformation(name, seed):
    """(φ, U) of [dg] sec. 5.1 carries the mechanism's form to that of [flex]: same z, J, R, H."""
    forms = CentreForm(BODIES[name]())
    carried = transform(forms.form, forms.phi, forms.jacobian, forms.frame, sample=forms.sample(9))
    point, x = forms.point_form, forms.sample(seed)
    for one, other in ((carried.E, point.E), (carried.J, point.J), (carried.R, point.R), (carried.z, point.z)):
        expected = dense(other(x))
        np.testing.assert_allclose(dense(one(x)), expected, rtol=0.0, atol=1e-11 * max(1.0, np.abs(expected).max()))
    assert carried.H(x) == pytest.approx(point.H(x), rel=1e-12)


# --- kept on disk -----------------------------------------------------------------------------------------------------


def test_a_saved_run_continues_to_the_same_bits(tmp_path):
    (mechanism, start), times = moving(), np.linspace(0.0, 0.1, 6)
    whole = integrate(mechanism, start, times, inputs=INPUTS)
    first = integrate(mechanism, start, times[:4], inputs=INPUTS)
    first.save(tmp_path / "run.h5")
    read = Solution.load(tmp_path / "run.h5", everything())
    assert np.array_equal(read.states, first.states)
    assert np.array_equal(read.anchors.rows, first.anchors.rows, equal_nan=True)
    both = read.followed_by(integrate(mechanism, read.final, times[3:], inputs=INPUTS))
    for name in ("states", "multipliers", "stage_multipliers", "memory"):
        assert np.array_equal(getattr(both, name), getattr(whole, name))
    assert np.array_equal(both.ledger.total_energy, whole.ledger.total_energy)
    assert np.array_equal(both.reaction("weld flap.p–fork.q").force, whole.reaction("weld flap.p–fork.q").force)


def test_a_drive_that_stops_being_a_rotation_keeps_the_finished_steps():
    def stretched(t):
        return orientation(t).as_matrix() * (1.0 if t < 0.25 else 1.1)

    mechanism = connect({"a": block()}, [spherical("a.p", GROUND), drive("a.p", GROUND, rotation=stretched)])
    start = mechanism.consistent_state(mechanism.assemble(guess={"a": orientation(0.0)}))
    with pytest.raises(InputError, match=r"the driven rotation at t = 0.3.* must be orthogonal") as caught:
        integrate(mechanism, start, np.linspace(0.0, 0.5, 6))
    assert caught.value.solution.times == pytest.approx([0.0, 0.1, 0.2])
    assert caught.value.solution.rotations("a")[-1] == pytest.approx(orientation(0.2).as_matrix(), abs=1e-13)
