"""The decaying scheme: its theorems at any step, what it does to fast and slow motions, and what its ledger has."""

import math
from dataclasses import replace

import numpy as np
import pytest
import skfem
from covering import covering
from order_problems import crank_slider
from spatial_bodies import beam as spatial_beam
from spatial_bodies import cloud, random_rotation
from step_samples import StepEquations

import fem
import rigid
from flexph import (
    GROUND,
    Solution,
    connect,
    drive,
    force,
    hinge,
    integrate,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    weld,
)
from flexph.kernels.decay import coefficients, free_vibrations, mass
from flexph.kernels.state import inertia_products
from flexph.mechanisms.arrays import network
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable, schedule
from flexph.methods import Decaying, Exact, Exact4, ExactGauss

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # balances hold beyond the model's range
MATERIAL = fem.Material(young=2e7, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
STEPS_BY = [pytest.param("NumPy", marks=pytest.mark.slow), "full", "banded"]
"""By NumPy, whose runs are held to those of loops, and by loops with full and banded matrices of bodies."""
PLUMB = (0.0, -9.81)


def decaying(radius=0.5, *, compiled=None, **options):
    return Decaying(radius, compiled=compiled, **options)


def beam(length, **options):
    return fem.beam(length, MATERIAL, SECTION, elements=2, **options)


def planar(driven=True):
    """Everything that carries energy, in the plane."""
    bodies = {
        "crank": rigid.bar(0.3, 0.5),
        "arm": beam(0.6, strain="von_karman", damping=fem.Damping(mass=0.5, stiffness=1e-4)),
        "rod": beam(0.8, reference="simply_supported"),
        "block": rigid.body(0.7, inertia=0.01, ports={"pin": (0.1, -0.05)}, centre=(0.02, 0.01)),
    }
    connections = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        weld("arm.root", "crank.tip"),
        hinge("arm.tip", "rod.root"),
        hinge("rod.tip", "block.pin"),
        spring_damper("block.pin", GROUND.at(1.0, 1.0), stiffness=20.0, damping=0.3, length=0.5),
        torque("arm.tip"),
        force("rod.tip"),
    ]
    if driven:
        connections.append(drive("crank.root", angle=lambda t: 0.3 + 4.0 * t + 10.0 * t**2))
    mechanism = connect(bodies, connections, gravity=PLUMB)
    pose = mechanism.assemble({"crank": 0.3}, guess={"rod": 1.0})
    return mechanism, mechanism.consistent_state(pose, velocities={"rod": 2.0})


def spatial(free=False):
    """Flexible bodies of space with gyroscopic torques."""
    bodies = {"arm": cloud(2, strain="von_karman"), "rod": spatial_beam(0.6, strain="von_karman"), "fork": cloud(4)}
    connections = [
        spherical("rod.root", "arm.q"),
        revolute("fork.p", "rod.tip", axis=(0.3, -0.5, 0.8)),
        spring_damper("fork.s", "arm.s", stiffness=5.0, length=0.3),
    ]
    connections += [] if free else [hinge("arm.p", GROUND.at(0.1, 0.0, 0.0), axis=(0.0, 0.6, 0.8)), torque("rod.tip")]
    mechanism = connect(bodies, connections, gravity=(0.0,) * 3 if free else (0.7, -2.0, -9.0))
    velocities = {"arm": (1.0, -2.0, 0.5), "rod": (0.0, 3.0, 1.0), "fork": (2.0, 0.0, -1.0)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(), velocities=velocities)


INPUTS = {"torque arm.tip": 0.2, "force rod.tip": lambda t: (2.0, 3.0 * math.cos(5.0 * t))}


# --- theorems ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=STEPS_BY)
def compiled(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "banded":
            from flexph.integration.loops import filters

            patch.setattr(filters, "NARROW", 0)
        yield request.param != "NumPy"


@pytest.fixture(scope="module", params=[(0.0, 0.005), (0.3, 0.005), (0.5, 0.01)], ids=str)
def loaded(request, compiled):
    radius, h = request.param
    mechanism, start = planar()
    return integrate(mechanism, start, h * np.arange(31), method=decaying(radius, compiled=compiled), inputs=INPUTS)


def test_the_balance_closes_with_what_is_taken_away(loaded):
    ledger = loaded.ledger
    assert ledger.largest_residual < 1e-13
    assert ledger.dissipation["numerical"].max() > 1e-9 * ledger.scale
    # never negative: of a square of differences, each known to 1e-16 of the energy
    assert ledger.dissipation["numerical"].min() > -1e-15 * ledger.scale
    assert max(np.abs(w).max() for w in ledger.joint_work.values()) < 1e-12 * ledger.scale


def test_positions_do_not_drift_and_drives_are_followed(loaded):
    assert loaded.ledger.position_residual.max() < 1e-13
    c, s = loaded["crank.rotation"].T
    t = loaded.times
    assert np.abs(np.sin(np.arctan2(s, c) - (0.3 + 4.0 * t + 10.0 * t**2))).max() < 1e-13


@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_a_free_mechanism_keeps_both_momenta_and_loses_energy(radius, compiled):
    mechanism, start = spatial(free=True)
    run = integrate(mechanism, start, 0.01 * np.arange(31), method=decaying(radius, compiled=compiled))
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert run.orthogonality() < 1e-13
    assert run.ledger.largest_residual < 1e-13
    assert np.diff(run.ledger.total_energy).max() < 1e-14 * run.ledger.scale
    assert run.ledger.total_energy[0] - run.ledger.total_energy[-1] > 1e-6 * run.ledger.scale


@pytest.mark.slow
@pytest.mark.parametrize("dim, elements", [(2, 128), (3, 72)])
@pytest.mark.parametrize("seed", [0, 1])
def test_free_bodies_of_hundreds_of_coordinates_keep_momenta_and_lose_energy(dim, elements, seed):
    """From random states, in compiled loops alone: NumPy has dense matrices, which are too large here."""
    options = {"elements": elements, "strain": "von_karman", "reference": "simply_supported", "dim": dim}
    rod = fem.beam(1.0, fem.Material(young=2e7, density=200.0, poisson=0.3), SECTION, **options)
    mechanism = connect({"rod": rod}, [])
    start, rng = mechanism.consistent_state(mechanism.assemble()), np.random.default_rng(seed)
    x = start.x.copy()
    for name, size in (("velocity", 1.0), ("spin", 3.0), ("deformation", 1e-4), ("deformation_rate", 0.1)):
        part = mechanism.layout.parts[f"rod.{name}"]
        x[part] = size * rng.standard_normal(part.stop - part.start)
    moving = type(start)(0.0, x, start.multipliers, start.anchors)
    run = integrate(mechanism, moving, 2e-3 * np.arange(21), method=decaying(0.3, compiled=True))
    assert run.steps_by == "compiled loops"
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.dissipation["numerical"].min() > -1e-15 * run.ledger.scale
    energy = run.ledger.total_energy
    assert np.diff(energy).max() < 1e-14 * run.ledger.scale
    assert energy[0] - energy[-1] > 1e-3 * energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("reference, elements, tolerance", [("simply_supported", 72, 1e-7), ("cantilever", 24, 1e-6)])
def test_banded_solves_take_the_steps_of_free_vibrations(reference, elements, tolerance):
    """A pendulum by two routes: compiled solves, and dense matrices of modes by NumPy.

    In the frame of a cantilever M has a condition of 2e7 at 32 elements, and modes lose as many digits.
    """
    rod = fem.beam(0.6, MATERIAL, SECTION, elements=elements, strain="von_karman", reference=reference)
    joints = [hinge("rod.root", GROUND.at(0.0, 0.0)), torque("rod.tip")]
    mechanism = connect({"rod": rod}, joints, gravity=PLUMB)
    start = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.3)}), velocities={"rod": 2.0})
    times, inputs = 4e-3 * np.arange(31), {"torque rod.tip": 0.1}
    fast, slow = (
        integrate(mechanism, start, times, method=decaying(compiled=flag), inputs=inputs) for flag in (True, False)
    )
    assert fast.steps_by == "compiled loops"
    for name, part in mechanism.layout.parts.items():
        if part.stop <= mechanism.layout.size:
            size = np.abs(slow.states[:, part]).max()
            assert np.abs(fast.states[:, part] - slow.states[:, part]).max() < tolerance * size, name
    lost = [run.ledger.dissipation["numerical"] for run in (fast, slow)]
    assert np.abs(lost[0] - lost[1]).max() < tolerance * lost[1].max()
    assert fast.ledger.iterations.mean() <= 1.1 * slow.ledger.iterations.mean()
    assert fast.ledger.largest_residual < 1e-13


@pytest.mark.parametrize("make", [planar, spatial])
def test_the_coefficients_are_what_the_theorem_asks_for(make):
    """B = Bᵀ ⪰ 0 and CA = (CA)ᵀ ⪰ 0; neither acts on motions as rigid bodies."""
    a = make()[0].network.arrays
    found = coefficients(a, free_vibrations(a), 0.01, 0.2)
    first, n = a.turning.size * a.n.shape[0], a.body_u.size
    M = mass(a, np.zeros(n), inertia_products(a, np.zeros(n)))
    CA = a.compliance @ found.softening
    for matrix in (found.mobility, CA):
        assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
        assert np.linalg.eigvalsh(matrix).min() > -1e-12 * np.abs(matrix).max()
    assert np.abs(found.mobility @ M[:, :first]).max() < 1e-9  # B M is between 0 and 1
    # α(M⁻¹ − 4S⁻¹) and ½αh²C⁻¹D S⁻¹Dᵀ of the flexible bodies
    flexes = np.concatenate([np.isin(np.repeat(a.turning, a.n.shape[0]), a.flexing), np.ones(n, dtype=bool)])
    D = np.hstack([np.zeros((a.compliance.shape[0], first)), a.strain])
    S = 4.0 * M + 1e-4 * D.T @ a.stiffness @ D
    B = 0.8 / 1.2 * (np.linalg.inv(M) - 4.0 * np.linalg.inv(S))
    A = 0.8 / 1.2 * 1e-4 * a.stiffness @ D @ np.linalg.inv(S) @ D.T
    assert np.abs((found.mobility - B)[np.ix_(flexes, flexes)]).max() < 1e-8 * np.abs(B).max()
    assert np.abs(2.0 * found.softening - A).max() < 1e-8 * np.abs(A).max()


@covering("strain, h, dim", ("linear", "von_karman"), (0.02, 0.3), (2, 3))
def test_the_jacobian_is_the_derivative_of_the_residual(dim, strain, h):
    soft = fem.Material(young=20.0, density=2.0)
    if dim == 2:
        bodies = {
            "arm": fem.beam(1.0, soft, fem.Section(width=1.0, height=0.8), elements=2, strain=strain),
            "bar": rigid.bar(0.5, 1.0),
        }
        joints = [hinge("arm.tip", "bar.root"), hinge("arm.root", GROUND.at(0.0, 0.0)), torque("arm.tip")]
    else:
        bodies = {"arm": cloud(2, strain=strain), "bar": cloud(3, strain=strain)}
        joints = [spherical("arm.q", "bar.p"), torque("arm.p"), spherical("arm.p", GROUND.at(0.0, 0.0, 0.0))]
    mechanism = connect(bodies, joints)
    step = RandomStep(mechanism, h)
    # differences are good to 1e-16/1e-3 and 1e-3**4 of entries of order ten, the inverse amplifies them
    assert step.newton_error() < 1e-7


class RandomStep(StepEquations):
    """A step from a random state, a random iterate, and ρ = 0.3."""

    def __init__(self, mechanism, h):
        rng, layout, a = np.random.default_rng(5), mechanism.layout, mechanism.network.arrays
        c = configuration(mechanism, rng.standard_normal(layout.size))
        rotation = random_rotation(rng) if layout.dim == 3 else np.array([[0.6, -0.8], [0.8, 0.6]])
        c = c._replace(R=np.tile(rotation, (layout.frames, 1, 1)), u=0.3 * c.u)
        inputs = rng.standard_normal(a.input_node.shape[1])
        decay = coefficients(a, free_vibrations(a), h, 0.3)
        prescribed = schedule(TimeTable(mechanism, mechanism.assemble().anchors), 0.0, h, inputs)._replace(decay=decay)
        y = rng.standard_normal(layout.velocities + layout.multipliers)
        super().__init__(mechanism, h, c, schedule=prescribed, y=y)


# --- fast and slow motions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("radius", [0.0, 0.3, 0.8, 1.0])
def test_modes_of_a_free_beam_decay_by_their_amplification_factor(radius, compiled):
    """|μ|² = (1 + ¼Ω²(1 − β)²)/(1 + ¼Ω²(1 + β)²), β = αΩ²/(4 + Ω²): ρ at high frequencies, 1 − ¼αΩ⁴ at low ones."""
    mechanism = connect({"rod": beam(1.0, reference="simply_supported")}, [])
    a, layout = mechanism.network.arrays, mechanism.layout
    (found,) = free_vibrations(a)
    alpha, start = (1.0 - radius) / (1.0 + radius), mechanism.consistent_state(mechanism.assemble())
    for k in range(1, found.squares.size):  # the first is the rotation
        for Omega in (0.1, 1.0, 1e4):
            h = Omega / math.sqrt(found.squares[k])
            x = start.x.copy()
            x[layout.parts["rod.spin"]] = 1e-9 * found.modes[0, k]
            x[layout.parts["rod.deformation_rate"]] = 1e-9 * found.modes[1:, k]
            moving = type(start)(0.0, x, start.multipliers, start.anchors)
            times = [0.0, h]
            run = integrate(mechanism, moving, times, method=decaying(radius, compiled=compiled))
            beta = alpha * Omega**2 / (4.0 + Omega**2)
            factor = (1.0 + 0.25 * Omega**2 * (1.0 - beta) ** 2) / (1.0 + 0.25 * Omega**2 * (1.0 + beta) ** 2)
            energy = run.ledger.total_energy
            assert energy[1] / energy[0] == pytest.approx(factor, rel=1e-6)
            if Omega == 1e4:
                assert math.sqrt(factor) == pytest.approx(radius, abs=2e-4)
            if Omega == 0.1:
                assert 1.0 - factor == pytest.approx(0.25 * alpha * Omega**4, abs=1e-5 * alpha)


def swinging(strain="linear"):
    """A stiff pendulum on a cantilever frame, whose rotation takes part in all momenta of its deformation."""
    steel = fem.Material(young=2e11, density=7800.0)
    rod = fem.beam(1.0, steel, fem.Section(width=0.02, height=0.02), elements=2, strain=strain)
    mechanism = connect({"rod": rod}, [hinge("rod.root", GROUND.at(0.0, 0.0))], gravity=PLUMB)
    state = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.0)}), elastic="quasi_static")
    return mechanism, state


def test_slow_motions_are_those_of_the_exact_scheme():
    """Steps that resolve no vibration: the deviation of both runs is far below their error, which is of order 2."""
    mechanism, start = swinging()
    exact, damped = (
        [integrate(mechanism, start, np.linspace(0.0, 1.0, n + 1), method=m)["rod.centre"] for n in (20, 40, 80)]
        for m in (Exact(), decaying())
    )
    fine = (4.0 * exact[2][-1] - exact[1][-1]) / 3.0
    errors = [np.abs(run[-1] - fine).max() for run in damped[:2]]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-2
    assert max(np.abs(a - b).max() for a, b in zip(exact, damped, strict=True)) < 0.1 * errors[1]


def test_resolved_motions_are_of_second_order():
    """A soft beam: positions, velocities and multipliers in the middle of the run; odd numbers of steps have one."""
    mechanism, start, _ = crank_slider(reference="cantilever")
    runs = [integrate(mechanism, start, np.linspace(0.0, 0.02, n + 1), method=decaying()) for n in (27, 81)]
    fine = integrate(mechanism, start, np.linspace(0.0, 0.02, 28), method=Exact4())
    motion = mechanism.layout.parts_of_motion
    for measure in (
        lambda r: r.states[-1, : motion.start],
        lambda r: r.states[-1, motion],
        lambda r: r.multipliers[len(r.multipliers) // 2],
    ):
        errors = [np.abs(measure(run) - measure(fine)).max() / np.abs(measure(fine)).max() for run in runs]
        assert math.log(errors[0] / errors[1]) / math.log(3.0) == pytest.approx(2.0, abs=0.1)
        assert errors[0] < 1e-2


def ringing(method):
    """A crank-slider that starts undeformed under linear strain, with a step of twenty axial periods."""
    steel = fem.Material(young=2.1e11, density=7800.0)
    rod = fem.beam(0.3, steel, fem.Section(width=0.006, height=0.006), elements=2, reference="simply_supported")
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 150.0 * t),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
    ]
    mechanism = connect({"crank": rigid.bar(0.15, 0.1), "rod": rod, "slider": rigid.point(0.14)}, joints)
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    turn = 2.0 * math.pi / 150.0
    return integrate(mechanism, start, np.linspace(0.0, turn, 201), method=method)


def test_axial_ringing_dies_and_bending_stays(compiled):
    exact, damped = ringing(Exact()), ringing(decaying(compiled=compiled))
    axial = damped.mechanism.constraint_names.index("hinge rod.tip–slider.point: x")
    jumps = [np.abs(np.diff(run.multipliers[100:, axial], n=2)).max() for run in (exact, damped)]
    assert jumps[1] < 0.05 * jumps[0]
    bending = [run.displacement("rod.tip") for run in (exact, damped)]
    assert bending[0].shape == bending[1].shape
    shape = [run["rod.deformation"][:, [2, 4]] for run in (exact, damped)]
    assert np.abs(shape[0] - shape[1]).max() < 0.2 * np.abs(shape[0]).max()
    assert damped.ledger.largest_residual < 1e-13


def test_the_defect_that_a_jump_of_a_drive_leaves_dies(compiled):
    """The rate goes from 1 to 0 at 0.505 s: exact steps carry the error in turn for ever, these by ρ a step."""
    kink = drive("bar.root", angle=lambda t: min(t, 0.505))
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), kink])
    start = mechanism.consistent_state(mechanism.assemble())
    times = np.linspace(0.0, 1.0, 101)
    exact = integrate(mechanism, start, times)
    found = integrate(mechanism, start, times, method=decaying(0.5, compiled=compiled))
    spin = exact["bar.spin"][51:, 0]
    assert np.abs(spin).min() > 0.9 * np.abs(spin[0])
    after = found["bar.spin"][51:, 0]
    assert after[1:20] == pytest.approx(after[0] * (-0.5) ** np.arange(1, 20), abs=1e-12)
    assert found.ledger.largest_residual < 1e-13
    # all that the drive put in is lost, none of it by the joint
    assert found.ledger.total_energy[-1] < 1e-20
    ledger = found.ledger
    assert ledger.dissipation["numerical"].sum() > 0.0
    assert np.abs(ledger.joint_work["hinge bar.root–GROUND at (0.0, 0.0)"]).max() < 1e-13


def test_the_radius_one_is_the_exact_scheme():
    mechanism, start = planar()
    times = 0.01 * np.arange(21)
    exact = integrate(mechanism, start, times, inputs=INPUTS)
    same = integrate(mechanism, start, times, method=decaying(1.0), inputs=INPUTS)
    for name, part in mechanism.layout.parts.items():
        if part.stop <= mechanism.layout.size:
            size = np.abs(exact.states[:, part]).max() + 1e-3
            assert np.abs(same.states[:, part] - exact.states[:, part]).max() < 1e-9 * size, name
    assert np.abs(same.ledger.dissipation["numerical"]).max() < 1e-14 * same.ledger.scale


# --- with everything else ---------------------------------------------------------------------------------------------


def test_runs_are_saved_continued_and_mixed(tmp_path):
    mechanism, start = planar()
    times = 0.01 * np.arange(11)
    options = {"method": decaying(), "inputs": INPUTS}
    whole = integrate(mechanism, start, times, **options)
    first = integrate(mechanism, start, times[:6], **options)
    first.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", mechanism)
    np.testing.assert_array_equal(again.ledger.dissipation["numerical"], first.ledger.dissipation["numerical"])
    later = integrate(mechanism, again.final, times[5:], **options)
    np.testing.assert_array_equal(again.followed_by(later).states, whole.states)
    exact = integrate(mechanism, again.final, times[5:], inputs=INPUTS)
    mixed = again.followed_by(exact)
    assert mixed.ledger.dissipation["numerical"][5:] == pytest.approx(np.zeros(5))
    assert mixed.energy_drift() < 1e-12


@pytest.mark.slow
def test_it_takes_a_tolerance(compiled):
    mechanism, start = planar(driven=False)
    fine = integrate(mechanism, start, np.linspace(0.0, 0.1, 201), method=decaying(), inputs=INPUTS)
    found = integrate(mechanism, start, [0.0, 0.1], method=decaying(tolerance=1e-3, compiled=compiled), inputs=INPUTS)
    assert found.ledger.steps.sum() < 100
    assert np.abs(found.position("rod.tip")[-1] - fine.position("rod.tip")[-1]).max() < 3e-3
    assert found.ledger.largest_residual < 1e-13


@pytest.mark.parametrize("make", [planar, spatial])
def test_vibrations_of_bodies_do_not_depend_on_the_size_of_the_mechanism(make, monkeypatch):
    """Of dense arrays and of sparse ones, whose shift to the centre of mass is kept apart."""
    few = free_vibrations(make()[0].network.arrays)
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    for one, other in zip(few, free_vibrations(make()[0].network.arrays), strict=True):
        np.testing.assert_allclose(other.squares, one.squares, rtol=1e-9, atol=1e-12 * one.squares.max())
        np.testing.assert_array_equal(other.columns, one.columns)


def test_what_it_cannot_do_is_answered(monkeypatch):
    for radius in (-0.1, 1.1):
        with pytest.raises(ValueError, match=f"radius must lie between 0 and 1, got {radius}"):
            decaying(radius)
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    mechanism, start = swinging()
    with pytest.raises(
        ValueError, match=r"Decaying\(\) keeps dense matrices, and this mechanism is too large for them"
    ):
        integrate(mechanism, start, [0.0, 0.1], method=decaying(compiled=False))


def test_loops_are_chosen_for_bands_and_small_bodies():
    """A beam of many coordinates has narrow bands; what couples as many among each other has none."""
    from flexph.integration.choice import _has_full_matrices as has_full_matrices

    rods = [beam_of(elements) for elements in (8, 128)]
    assert not any(has_full_matrices(connect({"rod": rod}, [])) for rod in rods)
    shuffled = rods[1].elasticity.strain @ np.linalg.qr(np.random.default_rng(0).standard_normal((384, 384)))[0]
    full = replace(rods[1], elasticity=replace(rods[1].elasticity, strain=shuffled))
    assert has_full_matrices(connect({"rod": full}, []))


@pytest.mark.slow
def test_plates_of_triangles_are_known_to_be_wide_before_their_arrays_are_made(monkeypatch):
    """Their strains are sums of millions of products of slopes, which took a minute to write out."""
    from flexph.integration import choice
    from flexph.integration.loops import build

    mesh = skfem.MeshTri.init_tensor(np.linspace(0.0, 1.0, 6), np.linspace(0.0, 0.5, 4))
    material, ports = fem.Material(young=70e9, density=2700.0, poisson=0.3), {"root": lambda x: x[0] == 0.0}
    plate = fem.plate(mesh, material, thickness=0.01, strain="von_karman", ports=ports)
    rods = connect({"first": beam_of(8), "second": beam_of(64)}, [])
    monkeypatch.setattr(choice, "cost_of_band", None)
    whole = connect({"plate": plate}, [])
    assert build.is_wide(whole) and build.constants(whole).elastic.col.size == 0
    assert choice.numpy_because(whole, ExactGauss()) == "strains are sums of too many products"
    with pytest.raises(TypeError):  # of other bodies the arrays are asked for
        choice.numpy_because(rods, ExactGauss())


def beam_of(elements):
    """A beam in the plane of so many elements."""
    return fem.beam(1.0, MATERIAL, SECTION, elements=elements)
