"""The step is exact where it claims to be, of second order elsewhere, and agrees with solutions found otherwise."""

import math
from dataclasses import replace

import numpy as np
import pytest
from order_problems import crank_slider
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import fem
import rigid
from flexph import (
    GROUND,
    ValidityWarning,
    connect,
    distance,
    distributed_load,
    drive,
    force,
    hinge,
    integrate,
    slider,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)

MATERIAL = fem.Material(young=2e7, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
DAMPED = fem.Damping(mass=0.5, stiffness=1e-3)
UNDAMPED = fem.Damping()
PLUMB = (0.0, -9.81)
BLOCK = {"pin": (0.1, -0.05), "side": (-0.1, 0.08)}


def beam(length, **options):
    """A light soft beam: masses, forces and speeds of its mechanisms are of order one."""
    return fem.beam(length, MATERIAL, SECTION, elements=2, **options)


def turned(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])


def kinds(solution, *names):
    """The parts of the states of the given kinds, side by side."""
    parts = solution.mechanism.layout.parts
    return np.hstack([solution.states[:, s] for k, s in parts.items() if k.rpartition(".")[2] in names])


def slopes(errors, ratio):
    """Orders of convergence from errors at steps that shrink by a ratio."""
    errors = np.asarray(errors)
    return np.log(errors[:-1] / errors[1:]) / math.log(ratio)


# --- order ------------------------------------------------------------------------------------------------------------

COUNTS = (9, 27, 81, 243)  # odd: the middle of the run is the middle of a step of each


@pytest.fixture(scope="module")
def crank_slider_runs():
    """A driven crank-slider whose soft rod vibrates slowly enough to be resolved by all step sizes."""
    mechanism, start, _ = crank_slider()
    return [integrate(mechanism, start, np.linspace(0.0, 0.02, n + 1)) for n in COUNTS]


def middle(solution):
    return solution.multipliers[len(solution.multipliers) // 2]


ORDERS = {  # what is compared, and the bound on its relative error with 27 steps
    "positions": (lambda s: kinds(s, "centre", "rotation", "deformation")[-1], 3e-6),
    "velocities": (lambda s: kinds(s, "velocity", "spin", "deformation_rate")[-1], 3e-5),
    "stresses": (lambda s: kinds(s, "stress")[-1], 1e-3),
    "midpoint multipliers": (middle, 1e-3),
}


@pytest.mark.parametrize("name", ORDERS)
def test_every_quantity_is_of_second_order(crank_slider_runs, name):
    measure, bound = ORDERS[name]
    values = [measure(run) for run in crank_slider_runs]
    exact = (9.0 * values[3] - values[2]) / 8.0  # extrapolated: of fourth order
    errors = np.array([np.abs(v - exact).max() for v in values[:3]]) / np.abs(exact).max()
    assert slopes(errors, 3.0) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < bound


def test_all_multipliers_are_of_second_order():
    """Those of the first and the last step as well: J θ″ of a bar driven about its centre, J = 1 kg m²."""
    bar = connect({"bar": rigid.bar(1.0, 12.0)}, [drive("bar.middle", angle=lambda t: math.sin(3.0 * t))])
    start = bar.consistent_state(bar.assemble())
    errors = []
    for count in (20, 40, 80):
        run = integrate(bar, start, np.linspace(0.0, 0.8, count + 1))
        errors.append(np.abs(run.multipliers[:, 0] + 9.0 * np.sin(3.0 * run.multiplier_times)).max() / 9.0)
    assert slopes(errors, 2.0) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 3e-3


# --- energy and constraints -------------------------------------------------------------------------------------------


def loaded(strain, damping):
    """Everything that carries energy: gravity, springs, dampers, structural damping, inputs and drives."""
    bodies = {
        "crank": rigid.bar(0.5, 1.0),
        "arm": beam(0.6, strain=strain, damping=damping),
        "rod": beam(0.8, strain=strain, damping=damping, reference="simply_supported", stations={"middle": 0.4}),
        "block": rigid.body(0.7, inertia=0.01, ports=BLOCK, centre=(0.02, 0.01)),
        "wheel": rigid.body(0.2, inertia=1e-3, ports={"hub": (0.01, 0.0)}),
        "cart": rigid.point(0.3),
        "bob": rigid.point(0.2),
    }
    connections = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        weld("arm.root", "crank.tip"),
        hinge("arm.tip", "rod.root"),
        hinge("wheel.hub", "rod.middle"),
        drive("wheel.hub", "arm.tip", angle=lambda t: 0.5 + 16.0 * math.pi * t**2),
        slider("block.pin", "rod.tip"),
        distance("bob.point", "block.side", length=0.3),
        drive("cart.point", position=lambda t: (1.0 + t, math.sin(3.0 * t))),
        spring_damper("block.side", "cart.point", stiffness=40.0, damping=0.5, length=0.4),
        spring_damper("bob.point", GROUND.at(0.0, 2.0), damping=0.3),
        torsion_spring("crank.root", GROUND, stiffness=3.0, damping=0.1, angle=0.2),
        torsion_spring("block.pin", "arm.tip", stiffness=0.5),
        force("rod.middle"),
        torque("arm.tip"),
        distributed_load("rod.load"),
    ]
    return connect(bodies, connections, gravity=(0.3, -9.81))


INPUTS = {
    "force rod.middle": lambda t: (2.0, 3.0 * math.cos(5.0 * t)),
    "torque arm.tip": 0.2,
    "load rod.load": lambda t: [(0.5, t), (1.0, -1.0)],
}


@pytest.fixture(scope="module", params=[("linear", UNDAMPED), ("von_karman", DAMPED)], ids=["linear", "von_karman"])
def loaded_run(request):
    mechanism = loaded(*request.param)
    pose = mechanism.assemble({"crank": 0.3}, guess={"bob": (1.0, 1.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"crank": 1.0})
    return integrate(mechanism, start, np.linspace(0.0, 0.7, 71), inputs=INPUTS)


def test_energy_balances_in_every_step(loaded_run):
    ledger = loaded_run.ledger
    # some fifty energies and works are added, each known to 1e-16 of itself, and Newton stops at the square of 1e-11
    assert ledger.largest_residual < 1e-13
    exchanged = [*ledger.work.values(), *ledger.dissipation.values()]
    assert min(np.abs(v).max() for v in exchanged) > 1e-5 * ledger.total_energy.max()  # every account has entries


def test_ideal_joints_do_no_work(loaded_run):
    work = np.array(list(loaded_run.ledger.joint_work.values()))
    assert np.abs(work).max() < 1e-12 * loaded_run.ledger.total_energy.max()  # as the balance, over a lever of ten


def test_losses_are_never_negative(loaded_run):
    assert min(v.min() for v in loaded_run.ledger.dissipation.values()) >= 0.0


def test_positions_do_not_drift(loaded_run):
    assert loaded_run.ledger.position_residual.max() < 1e-13
    for first, second in (("arm.root", "crank.tip"), ("arm.tip", "rod.root")):
        # centres, rotations and deformations are put together once more: a few round-offs of lengths near one
        assert np.abs(loaded_run.position(first) - loaded_run.position(second)).max() < 1e-13


def test_drives_are_followed_over_several_turns(loaded_run):
    t = loaded_run.times
    moved = np.column_stack([1.0 + t, np.sin(3.0 * t)])
    assert loaded_run.position("cart.point") == pytest.approx(moved, abs=1e-14)
    wanted = 0.5 + 16.0 * np.pi * t**2
    assert wanted[-1] > 3.5 * 2.0 * np.pi
    measured = section_angle(loaded_run, "wheel.hub") - section_angle(loaded_run, "arm.tip")
    # the law is that the product d₁·d₂(θ) of directions vanishes: where these are not unit vectors, its angle is exact
    assert np.abs(np.sin(measured - wanted)).max() < 1e-13


def section_angle(solution, port):
    """Direction of the section at a port from its kept rotation and its linearised one: a(u) = n + ψu × n."""
    body, _, name = port.partition(".")
    c, s = solution[f"{body}.rotation"].T
    rotation = solution.mechanism.bodies[body].ports[name].rotation
    return np.arctan2(s, c) + np.arctan(rotation @ solution.deformation(body).T)[0]


def test_rotations_stay_rotations(loaded_run):
    for name in ("crank", "arm", "rod", "block", "wheel"):
        R = loaded_run.rotations(name)
        # each of 70 steps multiplies by a rotation known to one round-off
        assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(2)).max() < 1e-14 * 10


AT_REST = {
    "nothing acts": ([hinge("bar.root", GROUND.at(0.3, 0.1))], 0.4, (0.0, 0.0)),
    "free": ([], 0.4, (0.0, 0.0)),
    "welded": ([weld("bar.root", GROUND.at(0.3, 0.1))], 0.4, PLUMB),
    "hanging": ([hinge("bar.root", GROUND.at(0.3, 0.1))], -0.5 * math.pi, PLUMB),
    "held": ([hinge("bar.root", GROUND.at(0.3, 0.1)), drive("bar.tip", angle=lambda t: 0.4)], 0.4, PLUMB),
}


@pytest.mark.parametrize("name", AT_REST)
def test_bodies_at_rest_stay_at_rest(name):
    """Where all velocities are round-off there is no motion that a correction could be small against."""
    run = at_rest(rigid.bar(1.0, 1.0), *AT_REST[name])
    assert np.abs(run.states - run.states[0]).max() < 1e-12  # ten steps of 0.1 s under accelerations of 1e-15
    held = np.abs(run.multipliers).max(initial=0.0)
    assert held > 1.0 if run.mechanism.gravity.any() else held < 1e-11  # the weight, or round-off of none


@pytest.mark.parametrize("name", ["nothing acts", "free"])
def test_a_beam_at_rest_stays_at_rest(name):
    run = at_rest(beam(1.0), *AT_REST[name])
    assert np.abs(run.states - run.states[0]).max() < 1e-9  # as above; stresses are 1e5 times the strains


def at_rest(body, connections, angle, gravity):
    mechanism = connect({"bar": body}, connections, gravity=gravity)
    start = mechanism.consistent_state(mechanism.assemble({"bar": angle}))
    return integrate(mechanism, start, np.linspace(0.0, 1.0, 11))


@pytest.mark.parametrize("body", [rigid.bar(1.0, 1.0), beam(1.0)], ids=["rigid", "flexible"])
def test_a_drive_may_begin_later(body):
    turn = drive("bar.root", angle=lambda t: 0.4 + max(0.0, t - 0.5) ** 3)
    run = at_rest(body, [hinge("bar.root", GROUND.at(0.3, 0.1)), turn], 0.4, (0.0, 0.0))
    assert np.abs(run["bar.spin"][:6]).max() < 1e-12
    c, s = run["bar.rotation"][-1]
    assert math.atan2(s, c) == pytest.approx(0.4 + 0.5**3, abs=1e-14)
    assert run.ledger.largest_residual < 1e-12  # energies of 1e-2 J are sums of impulses from rest


# --- momenta ----------------------------------------------------------------------------------------------------------


def mass_matrix(body, u):
    """M(u) over (ω, u̇) about the centre of mass, from the integrals about P: x = X + φu less its mean."""
    i, pair = body.inertia, body.inertia.shape_pair
    first = i.first + i.shape_first @ u
    polar = np.trace(i.second) + 2.0 * (i.shape_lever[0, 0] + i.shape_lever[1, 1]) @ u
    polar += u @ (pair[0][0] + pair[1][1]) @ u - first @ first / i.mass
    across = i.shape_lever[1, 0] - i.shape_lever[0, 1] + u @ pair[0][1] - u @ pair[1][0]
    across -= (first[0] * i.shape_first[1] - first[1] * i.shape_first[0]) / i.mass
    flexible = (pair[0][0] + pair[1][1]).toarray() - i.shape_first.T @ i.shape_first / i.mass
    corner = np.array([[polar + i.spin[0, 0]]])
    across = (across + i.spin_shape[0])[None, :]
    return np.block([[corner, across], [across.T, flexible + i.spin_pair]])


def rates(solution, name):
    """(ω, u̇) of a body at the saved times; ω = 0 for a point mass."""
    body = solution.mechanism.bodies[name]
    spin = solution[f"{name}.spin"] if body.turns else np.zeros((len(solution.times), 1))
    return np.hstack([spin, solution[f"{name}.deformation_rate"]]) if body.size else spin


def momenta(solution):
    """Linear and angular momentum of all bodies at the saved times, (k + 1, 3)."""
    total = np.zeros((len(solution.times), 3))
    for name, body in solution.mechanism.bodies.items():
        r, v = solution[f"{name}.centre"], solution[f"{name}.velocity"]
        total[:, :2] += body.mass * v
        total[:, 2] += body.mass * (r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0])
        for k, (u, w) in enumerate(zip(solution.deformation(name), rates(solution, name), strict=True)):
            total[k, 2] += mass_matrix(body, u)[0] @ w
    return total


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_a_free_mechanism_keeps_both_momenta(strain):
    bodies = {
        "arm": beam(0.6, strain=strain, damping=DAMPED).with_mass("tip", 0.1, 1e-3),
        "rod": beam(0.8, strain=strain, reference="simply_supported"),
        "block": rigid.body(0.7, inertia=0.01, ports=BLOCK, centre=(0.02, 0.01)),
        "bob": rigid.point(0.2),
    }
    connections = [
        hinge("arm.tip", "rod.root"),
        weld("block.pin", "rod.tip", angle=0.4),
        distance("bob.point", "arm.root"),
        slider("bob.point", "block.side", turning=True, direction=(0.3, 1.0)),
        spring_damper("arm.root", "rod.tip", stiffness=30.0, damping=0.2, length=0.5),
        torsion_spring("arm.tip", "block.side", stiffness=0.4, damping=0.01, angle=-1.0),
    ]
    mechanism = connect(bodies, connections)
    pose = mechanism.assemble({"arm": (0.3, -0.2, 0.5)}, guess={"rod": 1.5, "bob": (-0.5, 0.4, 0.0)})
    given = {"arm": (1.0, 2.0, 1.5), "rod": (0.0, 1.0, -1.0), "block": (2.0, 0.0, 1.0), "bob": (1.0, -1.0, 0.0)}
    run = integrate(mechanism, mechanism.consistent_state(pose, velocities=given), np.linspace(0.0, 0.2, 31))
    found = momenta(run)
    assert np.abs(found[0]).min() > 0.1  # there is something to keep
    assert run.ledger.kind("elastic").max() > 1e-3 * run.ledger.total_energy.max()  # and the bodies deform
    # forces of order ten and impulses of order one enter and cancel, each known to 1e-16, over 30 steps
    assert np.abs(found - found[0]).max() < 1e-13


# --- symmetries -------------------------------------------------------------------------------------------------------


def four_bar(strain="von_karman", angle=0.0, shift=(0.0, 0.0)):
    """A conservative four-bar linkage and its start, in a world that is turned and shifted."""
    place = lambda *x: tuple(turned(angle) @ x + shift)  # noqa: E731
    bodies = {"crank": rigid.bar(0.3, 0.5), "rod": beam(0.8, strain=strain), "rocker": beam(0.7, strain=strain)}
    connections = [
        hinge("crank.root", GROUND.at(*place(0.0, 0.0))),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "rocker.root"),
        slider("rocker.tip", GROUND.at(*place(0.0, -0.3)), direction=tuple(turned(angle) @ (1.0, 0.2)), turning=True),
        spring_damper("rod.tip", GROUND.at(*place(0.3, 1.5)), stiffness=20.0, length=0.5),
        torsion_spring("rocker.root", "rod.tip", stiffness=1.0, angle=-2.0),
    ]
    mechanism = connect(bodies, connections, gravity=tuple(turned(angle) @ PLUMB))
    crank = (*place(0.0, 0.0), 0.8 + angle)
    guess = {"rod": (*place(0.2, 0.2), 0.1 + angle), "rocker": (*place(1.0, 0.3), angle - 1.2)}
    pose = mechanism.assemble({"crank": crank}, guess=guess)
    return mechanism, mechanism.consistent_state(pose, velocities={"crank": 4.0})


def test_a_run_can_be_turned_back():
    mechanism, start = four_bar()
    times = np.cumsum([0.0, 0.02, 0.01, 0.03, 0.02, 0.02, 0.01, 0.02])
    there = integrate(mechanism, start, times)
    x = there.final.x.copy()
    for name, part in mechanism.layout.parts.items():
        if name.rpartition(".")[2] in ("velocity", "spin", "deformation_rate"):
            x[part] *= -1.0
    memory = there.final.memory.copy()
    memory[:, : mechanism.layout.frames * 3 + mechanism.layout.flexible] *= -1.0  # mean velocities, not multipliers
    turn = replace(there.final, time=0.0, x=x, memory=memory)
    back = integrate(mechanism, turn, times[-1] - times[::-1])
    assert np.abs(there.states[-1] - start.x).max() > 0.1
    # positions return through round-off, amplified by axial frequencies of 1e3/s; stresses are 1e5 times the strains
    for kind in ("centre", "rotation", "deformation"):
        assert kinds(back, kind)[::-1] == pytest.approx(kinds(there, kind), abs=1e-12)
    assert kinds(back, "velocity", "spin")[::-1] == pytest.approx(-kinds(there, "velocity", "spin"), abs=1e-10)
    assert kinds(back, "stress")[::-1] == pytest.approx(kinds(there, "stress"), abs=1e-9)
    assert back.stage_multipliers[::-1] == pytest.approx(there.stage_multipliers, abs=1e-9)


def test_the_world_may_be_turned_and_shifted():
    angle, shift = 2.2, np.array([0.4, -0.7])
    times = np.linspace(0.0, 0.2, 11)
    here, there = (integrate(*four_bar(angle=a, shift=s), times) for a, s in ((0.0, (0.0, 0.0)), (angle, shift)))
    # round-off over ten steps, amplified as in the run turned back
    for port in ("crank.tip", "rod.tip", "rocker.tip"):
        moved = here.position(port) @ turned(angle).T + shift
        assert there.position(port) == pytest.approx(moved, abs=1e-11)
    for part in ("rod.deformation", "rocker.stress", "crank.spin"):
        assert there[part] == pytest.approx(here[part], abs=1e-10)
    force_here, force_there = (
        np.column_stack([run[f"hinge rod.tip–rocker.root: {axis}"] for axis in "xy"]) for run in (here, there)
    )
    assert force_there == pytest.approx(force_here @ turned(angle).T, abs=1e-9)


# --- the formulas of one step -----------------------------------------------------------------------------------------

STEP = 0.05
FORCE, TORQUE = np.array([0.7, -0.4]), 0.05


@pytest.fixture(scope="module", params=["linear", "von_karman"])
def one_step(request):
    """One step of a free beam under gravity, a force, a torque and damping, from a state that moves and is loaded."""
    body = beam(0.8, strain=request.param, stations={"middle": 0.4}, damping=fem.Damping(stiffness=1e-3))
    mechanism = connect(
        {"rod": body.with_mass("tip", 0.3, 2e-3)}, [force("rod.middle"), torque("rod.tip")], gravity=PLUMB
    )
    start = mechanism.consistent_state(mechanism.assemble({"rod": (0.2, 0.1, 0.6)}))
    rng, x = np.random.default_rng(1), start.x.copy()
    for part, size in (
        ("deformation", 0.02),
        ("velocity", 1.0),
        ("spin", 3.0),
        ("deformation_rate", 0.5),
        ("stress", 1),
    ):
        x[mechanism.layout.parts[f"rod.{part}"]] = size * rng.standard_normal(
            x[mechanism.layout.parts[f"rod.{part}"]].size
        )
    inputs = {"force rod.middle": FORCE, "torque rod.tip": TORQUE}
    return _Pair(integrate(mechanism, replace(start, x=x), [0.0, STEP], inputs=inputs))


class _Pair:
    """Both ends of a step by letter, and their means: r, v, R, spin, u, du, w = (ω, u̇), M, sigma."""

    def __init__(self, run):
        self.run, self.body = run, run.mechanism.bodies["rod"]
        self.ends = [_End(self.body, run, k) for k in (0, 1)]

    def mean(self, name):
        return 0.5 * (getattr(self.ends[0], name) + getattr(self.ends[1], name))

    def jump(self, name):
        return getattr(self.ends[1], name) - getattr(self.ends[0], name)

    @property
    def inverse(self):
        """R̄⁻¹ = (I − ½h[ω̄]×)R₀ᵀ."""
        return (np.eye(2) - 0.5 * STEP * self.mean("omega") * turned(math.pi / 2)) @ self.ends[0].R.T

    @property
    def strain_operator(self):
        """D(ū)."""
        return self.body.elasticity.operator(self.mean("u")).toarray()

    @property
    def stiffness(self):
        """C⁻¹."""
        return self.body.elasticity.stiffness_of_stress.toarray()

    @property
    def stress_terms(self):
        """Size of the terms that cancel in the stress increments h C⁻¹D u̇̄."""
        return STEP * (np.abs(self.stiffness) @ np.abs(self.strain_operator) @ np.abs(self.mean("du"))).max()

    @property
    def mass_slopes(self):
        """∂M/∂u_k at ū, exact: M is quadratic in u."""
        u = self.mean("u")
        return np.array([0.5 * (mass_matrix(self.body, u + e) - mass_matrix(self.body, u - e)) for e in np.eye(u.size)])


class _End:
    def __init__(self, body, run, k):
        self.r, self.v, self.u = run["rod.centre"][k], run["rod.velocity"][k], run["rod.deformation"][k]
        self.omega, self.du, self.sigma = run["rod.spin"][k, 0], run["rod.deformation_rate"][k], run["rod.stress"][k]
        self.R, self.w, self.M = run.rotations("rod")[k], rates(run, "rod")[k], mass_matrix(body, self.u)
        self.p = self.M @ self.w
        self.energy = run.ledger.total_energy[k]


def close(first, second, size=1.0):
    """Equal up to the round-off of a hundred operations on terms of a size."""
    return np.abs(np.asarray(first) - second).max() < 1e-14 * max(size, np.abs(second).max())


def arm_and_shape(body, port):
    """X − c and φ − φ̄ at a port."""
    at = body.ports[port]
    return at.position - body.inertia.centre, at.shape.toarray() - body.inertia.mean_shape


def test_increments_of_positions_are_mean_velocities(one_step):
    quarter = turned(math.pi / 2)
    assert close(one_step.jump("r"), STEP * one_step.mean("v"))
    assert close(one_step.jump("R"), STEP * one_step.mean("R") @ quarter * one_step.mean("omega"))
    assert close(one_step.jump("u"), STEP * one_step.mean("du"))
    stiffness, D = one_step.stiffness, one_step.strain_operator
    assert close(one_step.jump("sigma"), STEP * stiffness @ D @ one_step.mean("du"), size=one_step.stress_terms)
    assert close(one_step.inverse @ one_step.mean("R"), np.eye(2))


@pytest.mark.parametrize("port", ["root", "middle", "tip"])
def test_points_move_by_their_mean_velocity(one_step, port):
    X, phi = arm_and_shape(one_step.body, port)
    arms = [end.R @ (X + phi @ end.u) for end in one_step.ends]
    spin = one_step.mean("omega") * turned(math.pi / 2)
    along = one_step.mean("v") + spin @ (0.5 * (arms[0] + arms[1])) + one_step.inverse.T @ phi @ one_step.mean("du")
    assert close(one_step.jump("r") + arms[1] - arms[0], STEP * along)
    assert close(one_step.run.position(f"rod.{port}")[1] - one_step.run.position(f"rod.{port}")[0], STEP * along)


def test_increments_of_momenta_are_mean_forces(one_step):
    X, phi = arm_and_shape(one_step.body, "middle")
    lever = sum(0.5 * end.R @ (X + phi @ end.u) for end in one_step.ends)
    psi, mass = one_step.body.ports["tip"].rotation.toarray()[0], one_step.body.mass
    assert close(mass * one_step.jump("v"), STEP * (mass * np.array(PLUMB) + FORCE))
    jump = one_step.jump("p")
    assert close(jump[0], STEP * (lever[0] * FORCE[1] - lever[1] * FORCE[0] + TORQUE))
    inertial = 0.5 * np.einsum("i,kij,j->k", one_step.ends[0].w, one_step.mass_slopes, one_step.ends[1].w)
    stress = one_step.mean("sigma") + 1e-3 / STEP * one_step.jump("sigma")  # with Kelvin-Voigt damping
    elastic = one_step.strain_operator.T @ stress
    outer = phi.T @ one_step.inverse @ FORCE + psi * TORQUE
    assert close(jump[1:], STEP * (inertial - elastic + outer), size=one_step.stress_terms)


def discrete_pair(pair, energy_gradient_r):
    """Ē (dense) and z̄ of [dg] eq. (18) over (r, R, u, ṙ, w, σ), R by its entries (c, s)."""
    body, w = pair.body, pair.mean("w")
    M = 0.5 * (pair.ends[0].M + pair.ends[1].M)
    by_u = np.einsum("i,kij,j->k", w, pair.mass_slopes, w)
    by_u -= 0.5 * np.einsum("i,kij,j->k", pair.ends[0].w, pair.mass_slopes, pair.ends[1].w)
    z = np.concatenate([energy_gradient_r, np.zeros(2), by_u, pair.mean("v"), w, pair.mean("sigma")])
    E = block_diagonal(np.eye(4 + body.size), body.mass * np.eye(2), M, body.elasticity.compliance.toarray())
    return E, z


def block_diagonal(*blocks):
    size = sum(len(b) for b in blocks)
    made, at = np.zeros((size, size)), 0
    for b in blocks:
        made[at : at + len(b), at : at + len(b)] = b
        at += len(b)
    return made


def test_the_step_is_a_discrete_gradient_pair(one_step):
    """z̄ᵀĒΔx = ΔH, and ĒΔx = h((J̄ − R̄)z̄ + B̄u) with J̄ skew."""
    body = one_step.body
    E, z = discrete_pair(one_step, -body.mass * np.array(PLUMB))
    change = E @ (one_step.run.states[1] - one_step.run.states[0])
    assert z @ change == pytest.approx(one_step.jump("energy"), abs=1e-13 * one_step.ends[1].energy)
    J = discrete_structure(one_step)
    assert np.abs(J + J.T).max() == 0.0
    X, phi = arm_and_shape(body, "middle")
    lever = sum(0.5 * end.R @ (X + phi @ end.u) for end in one_step.ends)
    D, tip = one_step.strain_operator, body.ports["tip"].rotation.toarray()[0]
    push = np.zeros(len(z))
    v = 4 + body.size
    push[v : v + 2] = FORCE
    push[v + 2] = lever[0] * FORCE[1] - lever[1] * FORCE[0] + TORQUE
    push[v + 3 : v + 3 + body.size] = phi.T @ one_step.inverse @ FORCE + tip * TORQUE
    push[v + 3 : v + 3 + body.size] -= 1e-3 * D.T @ one_step.stiffness @ D @ one_step.mean("du")
    assert close(change, STEP * (J @ z + push), size=one_step.stress_terms)


def discrete_structure(pair):
    """J̄ with R̄ by the mean entries and Γ̄ = Σ(e_k ā_kᵀ − ā_k e_kᵀ), ā_k = ∂_kM(ū)w̄."""
    n, m = pair.body.size, pair.body.stress_size
    q, v = 4 + n, 3 + n
    kinematics = np.zeros((q, v))
    kinematics[:2, :2] = np.eye(2)
    kinematics[2:4, 2] = pair.mean("R")[:, 1]
    kinematics[4:, 3:] = np.eye(n)
    gamma = np.zeros((v, v))
    gamma[3:, 2:] = pair.mass_slopes @ pair.mean("w")
    upper = np.zeros((q + v + m,) * 2)
    upper[:q, q : q + v] = kinematics
    upper[q : q + v, q : q + v] = gamma
    upper[q + 3 : q + v, q + v :] = -pair.strain_operator.T
    return upper - upper.T


def test_any_two_states_have_a_discrete_gradient():
    """The identity behind the step holds between states that no step connects."""
    body = beam(0.8, strain="von_karman").with_mass("tip", 0.3, 2e-3)
    mechanism = connect({"rod": body}, [], gravity=PLUMB)
    start = mechanism.consistent_state(mechanism.assemble({"rod": 0.0}))
    run = integrate(mechanism, start, [0.0, STEP])
    states = np.random.default_rng(2).standard_normal(run.states.shape)
    made = replace(run, states=states)
    pair = _Pair(made)
    E, z = discrete_pair(pair, -body.mass * np.array(PLUMB))
    H = [energy(body, x, mechanism.layout.parts) for x in states]
    assert z @ E @ (states[1] - states[0]) == pytest.approx(H[1] - H[0], abs=1e-12 * max(H))


def energy(body, x, parts):
    """H of a free body by its definition."""
    r, u, v, omega, du, sigma = (
        x[parts[f"rod.{k}"]] for k in ("centre", "deformation", "velocity", "spin", "deformation_rate", "stress")
    )
    w = np.concatenate([omega, du])
    elastic = sigma @ (body.elasticity.compliance @ sigma)
    return 0.5 * (body.mass * v @ v + w @ mass_matrix(body, u) @ w + elastic) - body.mass * np.array(PLUMB) @ r


# --- other routes -----------------------------------------------------------------------------------------------------


def reference(rates_of, start, times):
    """An ordinary differential equation to twelve digits."""
    return solve_ivp(lambda t, y: rates_of(y), times[[0, -1]], start, t_eval=times, rtol=1e-12, atol=1e-13).y


def test_a_compound_pendulum_converges_to_its_equation():
    """J_P θ″ = −m l g cos θ, θ from the horizontal."""
    body = rigid.body(1.3, inertia=0.2, ports={"pivot": (-0.1, 0.2)}, centre=(0.4, 0.2))
    mechanism = connect({"body": body}, [hinge("body.pivot", GROUND.at(0.5, 0.0))], gravity=PLUMB)
    pose = mechanism.assemble({"body": 0.4})
    origin = turned(0.4) @ (0.1, -0.2)
    start = mechanism.consistent_state(pose, velocities={"body": (-3.0 * origin[1], 3.0 * origin[0], 3.0)})
    lever = 0.5
    total = 0.2 + 1.3 * lever**2
    errors = []
    for count in (25, 50, 100):
        times = np.linspace(0.0, 1.5, count + 1)
        exact = reference(lambda y: [y[1], -1.3 * lever * 9.81 * math.cos(y[0]) / total], [0.4, 3.0], times)
        run = integrate(mechanism, start, times)
        at = [0.5, 0.0] + lever * np.column_stack([np.cos(exact[0]), np.sin(exact[0])])
        errors.append(max(np.abs(run["body.centre"] - at).max(), np.abs(run["body.spin"][:, 0] - exact[1]).max() / 10))
    assert slopes(errors, 2.0) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 2e-3


def double_pendulum_rates(y):
    """Two uniform bars of length 1 m and mass 1 kg, angles from the horizontal."""
    a, b, p, q = y
    M = np.array([[4.0 / 3.0, 0.5 * math.cos(a - b)], [0.5 * math.cos(a - b), 1.0 / 3.0]])
    twist = 0.5 * math.sin(a - b)
    f = [-twist * q**2 - 1.5 * 9.81 * math.cos(a), twist * p**2 - 0.5 * 9.81 * math.cos(b)]
    return [p, q, *np.linalg.solve(M, f)]


def test_a_double_pendulum_converges_to_its_equations():
    bodies = {"upper": rigid.bar(1.0, 1.0), "lower": rigid.bar(1.0, 1.0)}
    joints = [hinge("upper.root", GROUND.at(0.0, 0.0)), hinge("lower.root", "upper.tip")]
    mechanism = connect(bodies, joints, gravity=PLUMB)
    pose = mechanism.assemble({"upper": 0.3, "lower": 1.2})
    start = mechanism.consistent_state(pose, velocities={"upper": 0.0, "lower": (0.0, 0.0, 0.0)})
    errors = []
    for count in (40, 80, 160):
        times = np.linspace(0.0, 0.8, count + 1)
        a, b, *_ = reference(double_pendulum_rates, [0.3, 1.2, 0.0, 0.0], times)
        tip = np.column_stack([np.cos(a) + np.cos(b), np.sin(a) + np.sin(b)])
        errors.append(np.abs(integrate(mechanism, start, times).position("lower.tip") - tip).max())
    assert slopes(errors, 2.0) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 2e-3


def test_a_spring_damper_swings_as_a_damped_cosine():
    """m ẍ = −k(x − ℓ₀) − c ẋ along the line of the spring: the damped cosine."""
    spring = spring_damper("bob.point", GROUND.at(1.0, 1.0), stiffness=8.0, damping=0.6, length=0.5)
    mechanism = connect({"bob": rigid.point(2.0)}, [spring])
    pose = mechanism.assemble({"bob": (1.0 + 0.6 * 0.8, 1.0 + 0.8 * 0.8, 0.0)})
    start = mechanism.consistent_state(pose)
    decay, omega = 0.15, math.sqrt(4.0 - 0.15**2)
    errors = []
    for count in (20, 40, 80):
        t = np.linspace(0.0, 4.0, count + 1)
        run = integrate(mechanism, start, t)
        wave = 0.3 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
        at = 1.0 + np.outer(0.5 + wave, [0.6, 0.8])
        errors.append(np.abs(run.position("bob.point") - at).max())
    assert slopes(errors, 2.0) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 1e-3


def test_torsion_spring_counts_turns():
    """J θ″ = −k θ swings over three turns to either side."""
    spring = torsion_spring("bar.root", GROUND, stiffness=0.5)
    mechanism = connect({"bar": rigid.bar(1.0, 3.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), spring])
    omega = math.sqrt(0.5)  # J = 1 about the hinge
    amplitude = 6.0 * math.pi
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0}), velocities={"bar": amplitude * omega})
    errors = []
    for count in (100, 200):
        t = np.linspace(0.0, 6.0, count + 1)
        run = integrate(mechanism, start, t)
        angle = run["torsion spring bar.root–GROUND"][:, 0] / 0.5
        errors.append(np.abs(angle - amplitude * np.sin(omega * t)).max() / amplitude)
    assert slopes(errors, 2.0) == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 3e-2
    assert np.abs(angle).max() > 2.9 * 2.0 * math.pi


def test_a_clamped_beam_vibrates_in_its_modes():
    """Under a suddenly applied tip force each mode follows 1 − cos; the step turns its phase by 2 atan(ωh/2)."""
    mechanism = connect({"rod": beam(0.8)}, [weld("rod.root", GROUND), force("rod.tip")])
    start = mechanism.consistent_state(mechanism.assemble({"rod": (0.3, 0.2, 0.7)}))
    body, h, count = mechanism.bodies["rod"], 0.005, 60
    load = np.array([0.2, -0.5])
    run = integrate(mechanism, start, h * np.arange(count + 1), inputs={"force rod.tip": load})
    pair, D = body.inertia.shape_pair, body.elasticity.strain.toarray()
    K = D.T @ body.elasticity.stiffness_of_stress @ D
    squares, modes = eigh(K, (pair[0][0] + pair[1][1]).toarray())
    omega = np.sqrt(squares)
    push = modes.T @ (body.ports["tip"].shape.T @ (turned(0.7).T @ load)) / squares
    swing = lambda phase: (modes @ (push * (1.0 - np.cos(np.outer(np.arange(count + 1), phase)))).T).T  # noqa: E731
    size = np.abs(run.deformation("rod")).max()
    # round-off of 60 steps in which stiff modes of condition 1e4 take part
    assert np.abs(run.deformation("rod") - swing(2.0 * np.arctan(0.5 * h * omega))).max() < 1e-10 * size
    resolved = np.abs(modes @ (push * (omega * h) ** 3 * count / 12.0)).max()  # phase error of the slow modes
    assert np.abs(run.deformation("rod") - swing(h * omega)).max() < 0.1 * size < 1e3 * resolved


def test_a_spun_beam_stretches_by_its_centrifugal_load():
    """u″ + (ρω²/E)(x + u) = 0: the tip goes to tan(kL)/k with k = ω√(ρ/E); it stays there while the drive turns."""
    spin, length, elements = 40.0, 0.8, 8
    rod = fem.beam(length, MATERIAL, SECTION, elements=elements, strain="von_karman")
    turning = [hinge("rod.root", GROUND.at(0.0, 0.0)), drive("rod.root", angle=lambda t: spin * t)]
    mechanism = connect({"rod": rod}, turning)
    start = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.0)}), elastic="quasi_static")
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 101))
    k = spin * math.sqrt(MATERIAL.density / MATERIAL.young)
    radius = np.linalg.norm(run.position("rod.tip"), axis=1)
    assert math.tan(k * length) / k - length > 2e-3
    # P1 displacements: (1/8)² / 12 of the stretch; steps of 0.04 rad: their square over twelve
    assert np.abs(radius - math.tan(k * length) / k).max() < 2e-3 * (math.tan(k * length) / k - length)


# --- momenta that depend on the deformation ---------------------------------------------------------------------------


def test_constant_momenta_agree_for_small_deformations():
    """Both kinds differ by products of deformations and spins: across the beam, by symmetry, at third order."""
    loads, differences = (0.05, 0.1, 0.2), []
    for load in loads:
        runs = []
        for kind in ("full", "constant"):
            mechanism = connect({"rod": beam(0.8, momenta=kind)}, [hinge("rod.root", GROUND), force("rod.tip")])
            start = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.0)}))
            times = np.linspace(0.0, 0.3, 31)
            runs.append(integrate(mechanism, start, times, inputs={"force rod.tip": (0.0, load)}).deformation("rod"))
        differences.append(np.abs(runs[0] - runs[1]).max(axis=0))
    along, across = (np.array([d[k::3].max() for d in differences]) for k in (0, 1))  # (u_x, u_y, hθ) node by node
    assert slopes(along[::-1], 2.0) == pytest.approx(2.0, abs=0.1)
    assert slopes(across[::-1], 2.0) == pytest.approx(3.0, abs=0.1)
    assert across[-1] < 1e-3 * np.abs(runs[0]).max()


# --- what a user met first --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e4])
def test_heavy_and_light_bodies_fall_alike(mass):
    """From rest the first correction is all the energy there is; its unit must not matter."""
    mechanism = connect({"ball": rigid.point(mass)}, [], gravity=(0.0, -9.81))
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.linspace(0.0, 1.0, 101))
    assert run.position("ball.point")[-1] == pytest.approx([0.0, -4.905], abs=1e-12)


def test_multipliers_converge_with_unequal_steps():
    """A rigid pendulum from the horizontal with steps h, 2h, h, 2h, …: pin forces against m(a + g) of its ODE.

    Velocity defects of equal steps cancel in pairs; of these they add up by 3h² a pair: first order.
    """
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.0}))
    errors = []
    for n in (50, 100, 200):
        times = np.concatenate([[0.0], np.cumsum(np.tile([1.0, 2.0], n))])
        run = integrate(mechanism, start, times / times[-1])
        fine = solve_ivp(
            lambda t, y: [y[1], -1.5 * 9.81 * math.cos(y[0])],
            (0.0, 1.0),
            [0.0, 0.0],
            rtol=1e-11,
            atol=1e-12,
            t_eval=run.multiplier_times,
        ).y
        turn, spin = fine
        acceleration = -1.5 * 9.81 * np.cos(turn)
        vertical = 9.81 + 0.5 * (acceleration * np.cos(turn) - spin**2 * np.sin(turn))
        errors.append(np.abs(run["hinge bar.root–GROUND at (0.0, 0.0): y"] - vertical).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(1.0, abs=0.1)
    assert errors[-1] < 0.1


def test_drives_are_asked_only_within_the_run():
    def angle(t: float) -> float:
        if not 0.0 <= t <= 1.0 + 1e-12:
            raise ValueError(f"outside: {t}")
        return 0.5 * t**2

    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND), drive("bar.root", angle=angle)])
    start = mechanism.consistent_state(mechanism.assemble())
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 21))
    assert run["bar.spin"][-1] == pytest.approx([1.0], abs=1e-2)


def test_a_kinked_drive_warns():
    """A rate that jumps leaves velocities to either side of the prescribed one."""
    drives = [hinge("bar.root", GROUND), drive("bar.root", angle=lambda t: float(np.interp(t, [0, 1, 2], [0, 1, 1])))]
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, drives)
    start = mechanism.consistent_state(mechanism.assemble())
    assert start.x[mechanism.layout.parts["bar.spin"]] == pytest.approx([1.0], rel=1e-9)  # the rate to the right
    with pytest.warns(ValidityWarning, match="a drive changes its rate abruptly"):
        integrate(mechanism, start, np.linspace(0.0, 2.0, 41))
