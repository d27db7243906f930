"""The decaying scheme: its theorems at any step, what it does to fast and slow motions, and what its ledger has."""

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import skfem
from exact_scheme.decay import mobility
from exact_scheme.inertia import mass_matrix
from exact_scheme.system import system_of
from order_problems import crank_slider
from sample_mechanisms import chain
from spatial_bodies import beam as spatial_beam
from spatial_bodies import cloud

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
from flexph.integration.loops import build, filters
from flexph.kernels.decay import free_vibrations
from flexph.mechanisms.arrays import network
from flexph.methods import Decaying, Exact, Exact4, ExactGauss

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")  # balances hold beyond the model's range
MATERIAL = fem.Material(young=2e7, density=200.0)
SECTION = fem.Section(width=0.1, height=0.05)
PLUMB = (0.0, -9.81)


def decaying(radius=0.5, **options):
    return Decaying(radius, **options)


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


FULL, BANDED = 1000, 0
"""Ratios of the coordinates of a body to its bandwidth above which its matrices are banded."""


@pytest.fixture(params=[FULL, BANDED], ids=["full", "banded"])
def matrices(request, monkeypatch):
    """Full or banded matrices of all bodies."""
    monkeypatch.setattr(filters, "NARROW", request.param)


STEPS = (0.0, 0.005), (0.3, 0.005), (0.5, 0.01)


@pytest.fixture(scope="module", params=[(narrow, *own) for narrow in (FULL, BANDED) for own in STEPS], ids=str)
def loaded(request):
    narrow, radius, h = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filters, "NARROW", narrow)
        mechanism, start = planar()
        return integrate(mechanism, start, h * np.arange(31), method=decaying(radius), inputs=INPUTS)


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


@pytest.mark.usefixtures("matrices")
@pytest.mark.parametrize("radius", [0.0, 0.5])
def test_a_free_mechanism_keeps_both_momenta_and_loses_energy(radius):
    mechanism, start = spatial(free=True)
    run = integrate(mechanism, start, 0.01 * np.arange(31), method=decaying(radius))
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert run.orthogonality() < 1e-13
    assert run.ledger.largest_residual < 1e-13
    assert np.diff(run.ledger.total_energy).max() < 1e-14 * run.ledger.scale
    assert run.ledger.total_energy[0] - run.ledger.total_energy[-1] > 1e-6 * run.ledger.scale


@pytest.mark.parametrize("dim, elements", [(2, 128), (3, 72)])
@pytest.mark.parametrize("seed", [0, 1])
def test_free_bodies_of_hundreds_of_coordinates_keep_momenta_and_lose_energy(dim, elements, seed):
    """From random states."""
    options = {"elements": elements, "strain": "von_karman", "reference": "simply_supported", "dim": dim}
    rod = fem.beam(1.0, fem.Material(young=2e7, density=200.0, poisson=0.3), SECTION, **options)
    mechanism = connect({"rod": rod}, [])
    start, rng = mechanism.consistent_state(mechanism.assemble()), np.random.default_rng(seed)
    x = start.x.copy()
    for name, size in (("velocity", 1.0), ("spin", 3.0), ("deformation", 1e-4), ("deformation_rate", 0.1)):
        part = mechanism.layout.parts[f"rod.{name}"]
        x[part] = size * rng.standard_normal(part.stop - part.start)
    moving = type(start)(0.0, x, start.multipliers, start.anchors)
    run = integrate(mechanism, moving, 2e-3 * np.arange(21), method=decaying(0.3))
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() < 1e-12
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.dissipation["numerical"].min() > -1e-15 * run.ledger.scale
    energy = run.ledger.total_energy
    assert np.diff(energy).max() < 1e-14 * run.ledger.scale
    assert energy[0] - energy[-1] > 1e-3 * energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("reference, elements, tolerance", [("simply_supported", 72, 1e-7), ("cantilever", 24, 1e-6)])
def test_banded_solves_take_the_steps_of_free_vibrations(reference, elements, tolerance, monkeypatch):
    """A pendulum by two routes: banded solves, and full matrices of modes.

    In the frame of a cantilever M has a condition of 2e7 at 32 elements, and modes lose as many digits.
    """
    rod = fem.beam(0.6, MATERIAL, SECTION, elements=elements, strain="von_karman", reference=reference)
    joints = [hinge("rod.root", GROUND.at(0.0, 0.0)), torque("rod.tip")]
    runs = []
    for narrow in (BANDED, FULL):
        monkeypatch.setattr(filters, "NARROW", narrow)
        mechanism = connect({"rod": rod}, joints, gravity=PLUMB)
        start = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.3)}), velocities={"rod": 2.0})
        times, inputs = 4e-3 * np.arange(31), {"torque rod.tip": 0.1}
        runs.append(integrate(mechanism, start, times, method=decaying(), inputs=inputs))
    fast, slow = runs
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
    """B = α(M⁻¹ − 4S⁻¹) = Bᵀ ⪰ 0 and CA = (CA)ᵀ ⪰ 0, of the oracle; neither acts on motions as rigid bodies."""
    system, h, radius = system_of(make()[0]), 0.01, 0.2
    alpha, s = (1.0 - radius) / (1.0 + radius), system.spins
    for body in (own for own in system.bodies if own.own.size):
        B, A = mobility(system, body, h, radius)
        M = mass_matrix(body, np.zeros(body.own.size))
        CA = system.elasticity.compliance @ A
        for matrix in (B, CA):
            assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
            assert np.linalg.eigvalsh(0.5 * (matrix + matrix.T)).min() > -1e-12 * np.abs(matrix).max()
        assert np.abs(B @ M[:, :s]).max() < 1e-9  # B M is between 0 and 1
        D = np.hstack([np.zeros((len(A), s)), system.elasticity.D0[:, body.own]])
        S = 4.0 * M + h**2 * D.T @ system.elasticity.stiffness @ D
        expected = alpha * (np.linalg.inv(M) - 4.0 * np.linalg.inv(S))
        assert np.abs(B - expected).max() < 1e-8 * np.abs(expected).max()


# --- fast and slow motions --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("matrices")
@pytest.mark.parametrize("radius", [0.0, 0.3, 0.8, 1.0])
def test_modes_of_a_free_beam_decay_by_their_amplification_factor(radius):
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
            run = integrate(mechanism, moving, times, method=decaying(radius))
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


@pytest.mark.usefixtures("matrices")
def test_axial_ringing_dies_and_bending_stays():
    exact, damped = ringing(Exact()), ringing(decaying())
    axial = damped.mechanism.constraint_names.index("hinge rod.tip–slider.point: x")
    jumps = [np.abs(np.diff(run.multipliers[100:, axial], n=2)).max() for run in (exact, damped)]
    assert jumps[1] < 0.05 * jumps[0]
    bending = [run.displacement("rod.tip") for run in (exact, damped)]
    assert bending[0].shape == bending[1].shape
    shape = [run["rod.deformation"][:, [2, 4]] for run in (exact, damped)]
    assert np.abs(shape[0] - shape[1]).max() < 0.2 * np.abs(shape[0]).max()
    assert damped.ledger.largest_residual < 1e-13


def test_the_defect_that_a_jump_of_a_drive_leaves_dies():
    """The rate goes from 1 to 0 at 0.505 s: exact steps carry the error in turn for ever, these by ρ a step."""
    kink = drive("bar.root", angle=lambda t: min(t, 0.505))
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0)), kink])
    start = mechanism.consistent_state(mechanism.assemble())
    times = np.linspace(0.0, 1.0, 101)
    exact = integrate(mechanism, start, times)
    found = integrate(mechanism, start, times, method=decaying(0.5))
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


@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_full_matrices_of_large_mechanisms_are_those_of_single_bodies(tolerance, monkeypatch):
    """The same bits as where all are dense."""
    runs = []
    for limit in (network.DENSE_LIMIT, 0):
        monkeypatch.setattr(network, "DENSE_LIMIT", limit)
        mechanism, start, _ = chain(3)
        runs.append(integrate(mechanism, start, 1e-3 * np.arange(41), method=Decaying(0.4, tolerance=tolerance)))
    np.testing.assert_array_equal(*(run.states for run in runs))
    assert runs[1].ledger.largest_residual < 1e-14


@pytest.mark.usefixtures("matrices")
def test_it_takes_a_tolerance():
    mechanism, start = planar(driven=False)
    fine = integrate(mechanism, start, np.linspace(0.0, 0.1, 201), method=decaying(), inputs=INPUTS)
    found = integrate(mechanism, start, [0.0, 0.1], method=decaying(tolerance=1e-3), inputs=INPUTS)
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


def test_what_it_cannot_do_is_answered():
    for radius in (-0.1, 1.1):
        with pytest.raises(ValueError, match=f"radius must lie between 0 and 1, got {radius}"):
            decaying(radius)


def test_large_mechanisms_must_have_narrow_bands(monkeypatch):
    """A beam of many coordinates has them; what couples as many among each other has none."""
    monkeypatch.setattr(build, "FULL", 300)  # coordinates, in place of 600: smaller samples
    rods = [beam_of(elements) for elements in (8, 128)]
    assert not any(build.has_full_matrices(rod) for rod in rods)
    shuffled = rods[1].elasticity.strain @ np.linalg.qr(np.random.default_rng(0).standard_normal((384, 384)))[0]
    full = replace(rods[1], elasticity=replace(rods[1].elasticity, strain=shuffled))
    assert build.has_full_matrices(full)
    refused = r"bodies without narrow bands, and this mechanism is too large for that, with 387 velocities: use fewer"
    for rod, raised in ((rods[1], nullcontext()), (full, pytest.raises(ValueError, match=refused))):
        mechanism = connect({"rod": rod}, [])
        with raised:
            integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), [0.0, 1e-3], method=decaying())


def test_plates_of_triangles_are_known_to_be_wide_before_their_arrays_are_made(monkeypatch):
    """Their strains are sums of millions of products of slopes."""
    plate = plate_of(6, 4)
    monkeypatch.setattr(build, "PRODUCTS", 1e7)
    rods = connect({"first": beam_of(8), "second": beam_of(64)}, [])
    monkeypatch.setattr(build, "banded_constants", None)
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    whole = connect({"plate": plate}, [])
    assert build.is_wide(whole) and build.constants(whole).elastic.col.size == 0
    start, times = whole.consistent_state(whole.assemble()), [0.0, 1e-3]
    for method in (decaying(), ExactGauss()):
        with pytest.raises(ValueError, match=r"of bodies without narrow bands, .* too large for that"):
            integrate(whole, start, times, method=method)
    with pytest.raises(TypeError):  # of other bodies the arrays are asked for
        build.is_wide(rods)


def test_plates_in_full_in_large_mechanisms(monkeypatch):
    """Step as in small ones, to the round-off of their stiffness."""
    runs = {}
    for limit in (network.DENSE_LIMIT, 0):
        monkeypatch.setattr(network, "DENSE_LIMIT", limit)
        whole = connect({"plate": plate_of(3, 2)}, [weld("plate.root", GROUND)], gravity=(0.0, 0.0, -9.81))
        start = whole.consistent_state(whole.assemble())
        for method in (decaying(), ExactGauss()):
            runs[limit, method] = run = integrate(whole, start, 1e-4 * np.arange(4), method=method)
            assert run.ledger.largest_residual < 1e-14 * max(run.ledger.scale, 1.0)
    for method in (decaying(), ExactGauss()):
        found, wanted = (runs[limit, method]["plate.deformation"] for limit in (0, network.DENSE_LIMIT))
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())


def plate_of(long, wide):
    """A von Kármán plate of triangles between so many points each way."""
    mesh = skfem.MeshTri.init_tensor(np.linspace(0.0, 1.0, long), np.linspace(0.0, 0.5, wide))
    material, ports = fem.Material(young=70e9, density=2700.0, poisson=0.3), {"root": lambda x: x[0] == 0.0}
    return fem.plate(mesh, material, thickness=0.01, strain="von_karman", ports=ports)


def beam_of(elements):
    """A beam in the plane of so many elements."""
    return fem.beam(1.0, MATERIAL, SECTION, elements=elements)
