"""Geometrically exact rods in motion: what the scheme promises, at any step."""

import numpy as np
import pytest
from port_hamiltonian import check_equations
from rod_samples import SLENDER, between_bodies, flight, stiff
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import (
    GROUND,
    Solution,
    connect,
    distributed_load,
    drive,
    force,
    integrate,
    revolute,
    spherical,
    spring_damper,
    torque,
    weld,
)
from flexph.kernels.state import derive
from flexph.kernels.strains import strain_stresses, strains
from flexph.mechanisms.model.state import configuration
from flexph.methods import Exact, Exact4

LONG_STEPS = pytest.mark.filterwarnings("ignore:.*in a step of.*phase is not accurate")


def drift(values, scale):
    """Largest difference from the first row, over a scale."""
    return np.abs(values - values[0]).max() / scale


@LONG_STEPS
@pytest.mark.parametrize("step", [0.1, 0.5])
def test_flying_rod_keeps_all_invariants(step):
    run = flight(step)
    later = run.times >= 5.0 - 1e-9  # the loads are gone
    momentum, turning = run.linear_momentum()[later], run.angular_momentum()[later]
    assert np.abs(run.ledger.residual).max() <= 1e-12 * run.ledger.total_energy.max()
    assert drift(momentum, np.abs(momentum).max()) <= 1e-12
    assert drift(turning, np.abs(turning).max()) <= 1e-12
    assert run.orthogonality() <= 1e-12


def test_flying_rod_has_the_impulse_of_its_force():
    run = flight(0.1)
    np.testing.assert_allclose(run.linear_momentum()[-1], [50.0, 0.0, 0.0], rtol=0, atol=1e-10)  # ½ · 5 s · 20 N


def test_few_iterations_however_stiff():
    """4.05 were measured on a prototype, and with stresses that are no iterates of their own steps fail at 1e8."""
    assert flight(0.1).ledger.iterations.mean() <= 4.6
    assert flight(0.1, 3.5, section=stiff(1e8)).ledger.iterations.mean() <= 5.0


def test_second_order_in_time():
    """By the differences of runs with halved steps, which resolve all motions of this soft rod."""
    ends = [flight(0.1 / 2**k, 1.0, elements=1, section=stiff(100.0)).position("rod.tip")[-1] for k in range(4)]
    apart = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    np.testing.assert_allclose(np.log2(apart[:-1] / apart[1:]), 2.0, rtol=0, atol=0.1)
    assert apart[-1] <= 4e-4


@LONG_STEPS
@pytest.mark.parametrize("step", [0.1, 0.3])
def test_rod_between_bodies_keeps_all_invariants(step):
    mechanism = between_bodies()
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
    start = mechanism.consistent_state(
        pose, velocities={"hub": ((0.0, 0.0, 0.0), (0.0, 3.0, 0.0)), "ball": ((0.0, 0.0, 0.0), (1.0, 2.0, 0.0))}
    )
    run = integrate(mechanism, start, np.arange(31) * step)
    energy, turning, momentum = run.ledger.total_energy, run.angular_momentum(), run.linear_momentum()
    assert np.ptp(run["rod.stress"], axis=0).max() > 10.0  # it bends
    assert drift(energy, energy[0]) <= 1e-12
    assert drift(turning, np.abs(turning).max()) <= 1e-12
    assert drift(momentum, 8.0 * np.abs(run["hub.velocity"]).max()) <= 1e-12
    assert run.ledger.position_residual.max() <= 1e-12
    assert run.orthogonality() <= 1e-12


def test_damping_is_in_the_ledger_as_that_of_the_rod():
    mechanism = between_bodies(damping=0.2)
    start = mechanism.consistent_state(
        mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))}), velocities={"hub": ((0, 0, 0), (0.0, 3.0, 0.0))}
    )
    run = integrate(mechanism, start, np.arange(21) * 0.1)
    energy, lost = run.ledger.total_energy, run.ledger.dissipation["rod"]
    assert lost.sum() > 1e-3 * energy[0]
    assert np.all(np.diff(energy) < 0.0)
    assert abs(energy[0] - energy[-1] - lost.sum()) <= 1e-12 * energy[0]


def test_welded_rods_are_one():
    """A body joined to the middle of a rod, and to the weld of two halves: the same motion to round-off."""
    hub = rigid.body(5.0, inertia=(4.0, 5.0, 6.0), ports={"axle": (0.0, 0.0, 0.0)})
    whole = connect(
        {"rod": fem.rod(4.0, None, SLENDER, elements=4, ports={"mid": 2.0}), "hub": hub},
        [spherical("hub.axle", "rod.mid")],
    )
    half = fem.rod(2.0, None, SLENDER, elements=2)
    halves = connect(
        {"left": half, "right": half, "hub": hub}, [weld("right.root", "left.tip"), spherical("hub.axle", "right.root")]
    )
    ends = []
    for mechanism, names in ((whole, {"rod": 0.0}), (halves, {"left": 0.0, "right": 2.0})):
        pose = mechanism.assemble({name: ((s, 0.0, 0.0), np.eye(3)) for name, s in names.items()})
        motion = {name: ((0.0, 0.0, 1.0), (0.3, 0.0, 0.0)) for name in names}
        start = mechanism.consistent_state(pose, velocities={**motion, "hub": ((0.0, 0.0, 1.0), (0.0, 2.0, 0.0))})
        run = integrate(mechanism, start, np.arange(11) * 0.1)
        ends.append(run.position(f"{list(names)[-1]}.tip")[-1])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11)


def random_state(mechanism, seed):
    """A state far from the undeformed one: places and rotations of all nodes at random."""
    rng, layout = np.random.default_rng(seed), mechanism.layout
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
    c = configuration(mechanism, mechanism.consistent_state(pose).x)
    turned = Rotation.from_quat(rng.normal(size=(layout.frames, 4))).as_matrix()
    return c._replace(r=c.r + 0.3 * rng.normal(size=c.r.shape), R=turned)


@pytest.mark.parametrize("seed", range(2))
def test_strains_do_not_see_a_rotation_of_the_world(seed):
    mechanism = between_bodies()
    a, c = mechanism.network.arrays, random_state(mechanism, seed)
    Q = Rotation.from_rotvec([0.5, 2.0, -0.1]).as_matrix()
    moved = c._replace(r=c.r @ Q.T + [1.0, 2.0, 3.0], R=Q @ c.R)
    here, there = (strain_stresses(a.strains, derive(a, state).product) for state in (c, moved))
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-12 * np.abs(here).max())


def test_strains_of_the_undeformed_rod_vanish():
    mechanism = between_bodies()
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
    a, c = mechanism.network.arrays, configuration(mechanism, mechanism.consistent_state(pose).x)
    np.testing.assert_allclose(strains(a.strains, derive(a, c).product), 0.0, atol=1e-14)


def test_equations_as_a_port_hamiltonian_system():
    """J is skew, R semi-definite, Eᵀz the gradient of H, and derivatives those of differences; at a random state."""
    mechanism = between_bodies(elements=1, damping=0.01)
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
    check_equations(mechanism.phdae(mechanism.consistent_state(pose)))


@pytest.mark.slow
def test_composition_and_chosen_steps_hold_too():
    mechanism = between_bodies(elements=1)
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
    start = mechanism.consistent_state(pose, velocities={"hub": ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))})
    exact = integrate(mechanism, start, np.linspace(0.0, 0.4, 81)).position("rod.tip")[-1]
    for method, bound in ((Exact4(), 1e-4), (Exact(tolerance=1e-4), 1e-4)):
        run = integrate(mechanism, start, np.linspace(0.0, 0.4, 5), method=method)
        assert run.ledger.largest_residual <= 1e-13
        np.testing.assert_allclose(run.position("rod.tip")[-1], exact, rtol=0, atol=bound)


def test_steps_chosen_by_their_error_do_not_depend_on_the_height():
    """Errors are relative to kinetic energies alone: weights would add the zero of the height to them."""
    rod, taken = fem.rod(2.0, None, SLENDER, elements=2), []
    for height in (0.0, 3.0):
        fallen = connect({"rod": rod}, [spherical("rod.root", GROUND.at(0.0, 0.0, height))], gravity=(0.0, 0.0, -9.81))
        start = fallen.consistent_state(fallen.assemble({"rod": ((0.0, 0.0, height), np.eye(3))}))
        taken.append(integrate(fallen, start, [0.0, 0.3, 0.6], method=Exact(tolerance=1e-3)).ledger.steps)
    np.testing.assert_array_equal(*taken)


def test_runs_are_saved_and_known_again(tmp_path):
    mechanism = between_bodies(elements=1)
    start = mechanism.consistent_state(mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))}))
    run = integrate(mechanism, start, [0.0, 0.1])
    run.save(tmp_path / "run.h5")
    assert np.array_equal(Solution.load(tmp_path / "run.h5", between_bodies(elements=1)).states, run.states)
    with pytest.raises(ValueError):
        Solution.load(tmp_path / "run.h5", between_bodies(elements=1, damping=0.1))


def test_joints_drives_springs_and_loads_act_on_sections():
    """On an eccentric port with a lumped mass too: the balance of all that is recorded holds."""
    body = fem.rod(4.0, None, SLENDER, elements=2, ports={"eye": (2.0, (0.0, 0.1, 0.0)), "q": 3.0})
    ball = rigid.body(3.0, inertia=(1.0, 2.0, 2.5), ports={"pin": (-0.4, 0.1, 0.0)})
    turning = {"axis": (0.0, 0.0, 1.0)}
    mechanism = connect(
        {"rod": body.with_mass("eye", 3.0, 0.5), "ball": ball},
        [
            revolute("rod.root", GROUND.at(0.0, 0.0, 0.0), **turning),
            drive("rod.root", angle=lambda t: 0.5 * np.sin(t) ** 2, **turning),
            spherical("ball.pin", "rod.tip"),
            spring_damper("rod.eye", GROUND.at(2.0, 1.0, 1.0), stiffness=30.0, damping=2.0),
            force("rod.q", axes="section", name="F"),
            torque("rod.eye", axes="section", name="M"),
            distributed_load("rod.load", name="q"),
        ],
        gravity=(0.0, 0.0, -9.81),
    )
    pose = mechanism.assemble(guess={"rod": ((0.1, 0.2, 0.0), np.eye(3)), "ball": ((4.4, 0.0, 0.0), np.eye(3))})
    loads = {"F": [0.0, 5.0, 1.0], "M": lambda t: [3.0 * np.sin(t), 0.0, 0.0], "q": [0.0, 0.5, 0.0]}
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 1.0, 21), inputs=loads)
    assert run.ledger.largest_residual <= 1e-13
    assert run.ledger.position_residual.max() <= 1e-13
    assert all(np.ptp(np.cumsum(run.ledger.work[name])) > 1e-3 for name in ("F", "M", "q"))


def test_a_distributed_load_is_a_weight():
    rod, pull = fem.rod(4.0, None, SLENDER, elements=2), (0.0, 0.0, -9.81)
    free = connect({"rod": rod}, [], gravity=pull)
    loaded = connect({"rod": rod}, [distributed_load("rod.load", name="q")])
    ends = []
    for mechanism, inputs in ((free, {}), (loaded, {"q": [0.0, 0.0, -9.81]})):  # of 1 kg/m
        start = mechanism.consistent_state(mechanism.assemble(), velocities={"rod": ((0.0, 0.0, 0.0), (1.0, 2.0, 0.0))})
        ends.append(integrate(mechanism, start, [0.0, 0.1, 0.2], inputs=inputs).states[-1])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11)


def test_a_distributed_load_that_follows_turns_with_the_sections():
    """Along a rod that lies in y, q t/ρA of all sections; across one that tumbles it does work, in the ledger."""
    rod = fem.rod(4.0, None, SLENDER, elements=2)
    pushed = connect({"rod": rod}, [distributed_load("rod.load", axes="body", name="q")])
    turned = Rotation.from_euler("z", 90.0, degrees=True)
    start = pushed.consistent_state(pushed.assemble({"rod": ((0.0, 0.0, 0.0), turned)}))
    run = integrate(pushed, start, [0.0, 0.1, 0.2], inputs={"q": [3.0, 0.0, 0.0]})
    np.testing.assert_allclose(run.velocity("rod.root")[-1], [0.0, 0.6, 0.0], rtol=0, atol=1e-12)  # of 1 kg/m
    start = pushed.consistent_state(pushed.assemble(), velocities={"rod": ((0.0, 0.0, 0.0), (1.0, 2.0, 0.5))})
    run = integrate(pushed, start, np.linspace(0.0, 1.0, 11), inputs={"q": [0.0, 4.0, 1.0]})
    assert run.ledger.largest_residual <= 1e-12
    change = run.ledger.total_energy[-1] - run.ledger.total_energy[0]
    assert run.ledger.work["q"].sum() == pytest.approx(change, rel=1e-10)
    assert abs(change) > 1.0


@LONG_STEPS
@pytest.mark.slow
def test_long_rods_have_sparse_matrices():
    run, dense = flight(0.25, 1.0, elements=26), flight(0.25, 1.0, elements=20)
    assert run.mechanism.layout.velocities > 300
    assert np.abs(run.ledger.residual).max() <= 1e-12 * run.ledger.total_energy.max()
    np.testing.assert_allclose(run.position("rod.tip")[-1], dense.position("rod.tip")[-1], rtol=0, atol=1e-4)


@pytest.mark.slow
def test_fourth_order_in_time():
    mechanism = connect({"rod": fem.rod(10.0, None, stiff(100.0), elements=1)}, [])
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"rod": ((0.0, 0.0, 0.0), (0.3, 0.5, 0.2))})
    runs = (integrate(mechanism, start, np.linspace(0.0, 2.0, k + 1), method=Exact4()) for k in (20, 40, 80))
    apart = np.linalg.norm(np.diff([run.position("rod.tip")[-1] for run in runs], axis=0), axis=1)
    assert np.log2(apart[0] / apart[1]) == pytest.approx(4.0, abs=0.1)
    assert apart[1] <= 3e-6


@pytest.mark.slow
def test_small_vibrations_are_those_of_a_floating_beam():
    """Over a period at 1 % of the length; of a beam without shear, with t/L = 1/50, theories differ by 5e-3."""
    material, section = fem.Material(young=1e7, density=100.0, poisson=0.3), fem.Section(width=0.02, height=0.02)
    rod = fem.rod(1.0, material, section, elements=2, order=3)
    beam = fem.beam(1.0, material, section, elements=4, dim=3, strain="von_karman")
    tips = []
    for body in (rod, beam):
        mechanism = connect({"b": body}, [weld("b.root", GROUND.at(0.0, 0.0, 0.0)), force("b.tip", name="F")])
        pose = mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))})
        start = mechanism.equilibrium(pose, inputs={"F": [0.0, 0.0, 0.03 * 1e7 * 0.02**4 / 12.0]})
        tips.append(integrate(mechanism, start, np.linspace(0.0, 1.0, 41)).position("b.tip"))
    assert np.abs(tips[0][:, 2]).max() == pytest.approx(0.01, rel=1e-3)
    np.testing.assert_allclose(tips[0], tips[1], rtol=0, atol=1e-2 * 0.01)
