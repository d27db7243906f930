"""Reduced bodies: energies of the full body in the span of the basis, its frequencies from above, and short runs.

Five seconds, as reduced bodies are compared with all coordinates of the full ones.
"""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from covering import covering
from spatial_bodies import cloud, random_rotation

import fem
import rigid
from cases.crank_slider import CRANK, CRANK_MASS, ROD, SLIDER, SPEED, crank_slider
from flexph import (
    GROUND,
    connect,
    drive,
    eigenfrequencies,
    eliminate,
    hinge,
    integrate,
    poles,
    revolute,
    slider,
    spherical,
    weld,
)
from flexph.bodies import floating_body, linear_body, reduce_body
from flexph.bodies.basis import body_basis
from flexph.bodies.held_body import HeldBody
from flexph.bodies.inertia import contract
from flexph.bodies.reduced_body import diverging_spins
from flexph.export import write_modes, write_series
from flexph.interconnection import constrain
from flexph.linear import ReductionWarning
from flexph.linear.eigenmodes.modes import modes as vibrations

NYLON = fem.Material(young=2e9, density=1100.0, poisson=0.4)
STRIP = fem.Section(width=0.02, height=0.01)
REFERENCES = ("cantilever", "simply_supported", "mean_axis")
FEW = {"modes": 4, "derivatives": 2, "static": ("tip",)}


def beam(**options):
    return fem.beam(1.0, NYLON, STRIP, **{"elements": 4, "strain": "von_karman", **options})


def dense(a):
    return a.toarray() if hasattr(a, "toarray") else np.asarray(a)


def stress_basis(body, T):
    """S = C⁻¹D₀T(TᵀKT)⁻¹: then SᵀD₀T = 1, by dense algebra."""
    e = body.elasticity
    C, D = dense(e.compliance), dense(e.strain)
    stress = np.linalg.solve(C, D @ T)
    return stress @ np.linalg.inv((D @ T).T @ stress)


def stiffness(body):
    D = dense(body.elasticity.strain)
    return D.T @ np.linalg.solve(dense(body.elasticity.compliance), D)


# --- the basis


@pytest.mark.processor
@covering("dim, reference", (2, 3), REFERENCES)
def test_vectors_are_normal_to_mass_and_stiffness(reference, dim):
    body = beam(reference=reference, dim=dim)
    T = body_basis(body, **FEW)
    M, K = dense(contract(body.inertia, about_centre=False).M), stiffness(body)
    np.testing.assert_allclose(T.T @ M @ T, body.mass * np.eye(T.shape[1]), atol=1e-12 * body.mass)  # round-off
    projected = T.T @ K @ T
    size = np.sqrt(projected.diagonal())
    # round-off of K, whose entries cancel in the lowest mode by the square of the number of elements
    np.testing.assert_allclose(projected / np.outer(size, size), np.eye(len(size)), atol=1e-9)
    assert np.all(np.diff(size) > -1e-9 * size[-1])


def test_lowest_vibrations_are_kept():
    """Frequencies of the body with its frame at rest, as damping by modes counts them."""
    body = beam(strain="linear", dim=3)
    held = constrain(linear_body(body, "b"), np.eye(6, linear_body(body, "b").size))
    reduced = reduce_body(body, modes=5)
    stiff = 1.0 / reduced.elasticity.compliance.diagonal()
    np.testing.assert_allclose(np.sqrt(stiff / body.mass), eigenfrequencies(held, 5), rtol=1e-10)  # round-off


@pytest.mark.parametrize("reference", REFERENCES)
def test_static_vectors_give_the_static_response(reference):
    """Deflection at the tip under forces there: that of the full body, in each direction and turn."""
    body = beam(strain="linear", dim=3, reference=reference)
    reduced = reduce_body(body, static=("tip",))
    for rows in ("shape", "rotation"):
        full, few = dense(getattr(body.ports["tip"], rows)), dense(getattr(reduced.ports["tip"], rows))
        flexible = full @ np.linalg.solve(stiffness(body), full.T)
        found = few @ np.linalg.solve(stiffness(reduced), few.T)
        np.testing.assert_allclose(found, flexible, atol=1e-9 * np.abs(flexible).max())  # round-off of K


@pytest.mark.parametrize("dim", [2, 3])
def test_a_load_port_gives_the_static_response_to_a_uniform_load(dim):
    body = beam(strain="linear", dim=dim)
    T, load = body_basis(body, modes=0, static=("load",)), body.loads["load"]
    assert T.shape[1] == dim
    force = dense(load.shapes).T @ np.kron(load.measures, rng_at(0, dim))
    np.testing.assert_allclose(*static_responses(body, T, force), atol=1e-9)  # round-off of K, of a vector of size 1


def static_responses(body, T, force):
    """In the span of T, and in full, the largest entry 1."""
    K = stiffness(body)
    full = np.linalg.solve(K, force)
    return T @ np.linalg.solve(T.T @ K @ T, T.T @ force) / np.abs(full).max(), full / np.abs(full).max()


@covering("kind, dim", (*REFERENCES, "lumped", "cloud"), (2, 3))
def test_inertia_vectors_give_the_static_response_to_any_rigid_motion(kind, dim):
    """Gravity, angular acceleration and spin about any point, by the equations of motion of the floating body."""
    rng = np.random.default_rng(0)
    body = (
        cloud(flexible=14) if kind == "cloud" else beam(dim=dim, reference="cantilever" if kind == "lumped" else kind)
    )
    if kind == "lumped":
        body = body.with_mass("tip", 0.3, 0.01)
    system = floating_body(body, gravity=rng.standard_normal(body.dim))
    x = np.zeros(system.sample.size)
    part = system.parts
    x[part["rotation"]] = (0.6, 0.8) if body.dim == 2 else random_rotation(rng).ravel()
    x[part["velocity"]], x[part["spin"]] = (rng.standard_normal(x[part[k]].size) for k in ("velocity", "spin"))
    turning = dense(system.E(x))[part["deformation_rate"], part["spin"]]
    force = (dense(system.J(x)) @ system.z(x))[part["deformation_rate"]] - turning @ rng.standard_normal(
        turning.shape[1]
    )
    found, full = static_responses(body, body_basis(body, modes=0, inertia=True), force)
    np.testing.assert_allclose(found, full, atol=1e-8)  # round-off of K, of a vector of size 1


def test_a_body_of_mean_axes_is_not_loaded_by_accelerations():
    """∫ρφ = ∫ρX × φ = 0, to round-off, which must not become a vector: the centrifugal stretch alone is left."""
    assert body_basis(beam(dim=3, reference="mean_axis"), modes=0, inertia=True).shape[1] == 1
    assert body_basis(beam(dim=3), modes=0, inertia=True).shape[1] == 7  # stretch, bending in two planes twice; torsion


def test_derivatives_are_bending_without_stretching():
    """A cantilever bends freely: with the derivative of its mode no axial strain is left, to second order exactly."""
    body = beam(elements=6)
    T = body_basis(body, modes=1, derivatives=1)
    alone = body.elasticity.strain_of(0.1 * T[:, 0])[:6]
    stretch = np.linalg.lstsq(dense(body.elasticity.strain)[:6] @ T[:, 1:], -alone, rcond=None)[0]
    left = body.elasticity.strain_of(0.1 * T[:, 0] + T[:, 1:] @ stretch)[:6]
    assert np.abs(alone).max() > 1e-4
    assert np.abs(left).max() < 1e-10 * np.abs(alone).max()  # round-off of the static response


# --- energies


def state_of(body, rng, u, du, sigma):
    """A state of floating_body: anywhere, turning."""
    kept = np.array([0.6, 0.8]) if body.dim == 2 else random_rotation(rng).ravel()
    rigid = {2: 3, 3: 6}[body.dim]
    return lambda b, T, S: np.concatenate([rng_at(1, body.dim), kept, T @ u, rng_at(2, rigid), T @ du, S @ sigma])


def rng_at(seed, size):
    return np.random.default_rng(seed).standard_normal(size)


BODIES = {
    **{f"{name} {dim}": partial(beam, dim=dim, reference=name) for dim in (2, 3) for name in REFERENCES},
    "lumped": lambda: beam(dim=3).with_mass("tip", 0.3, 0.01),
    "constant": partial(beam, momenta="constant", dim=3),
    "cloud": partial(cloud, flexible=5, damping=1.0),
}


@covering("name, given", tuple(BODIES), (False, True))
@pytest.mark.filterwarnings("ignore::flexph.linear.ReductionWarning")  # whatever the spin at which such a body diverges
def test_energies_are_those_of_the_full_body(name, given):
    """H at u = Tû, σ = Sσ̂ at any motion, gravity included."""
    body, rng = BODIES[name](), np.random.default_rng(3)
    T = rng.standard_normal((body.size, 4)) if given else body_basis(body, modes=2, derivatives=1)
    reduced = reduce_body(body, basis=T) if given else reduce_body(body, modes=2, derivatives=1)
    k = T.shape[1]
    S = stress_basis(body, T)
    if given:  # SᵀD₀T is triangular there
        S = S @ dense(reduced.elasticity.strain).T
    u, du, sigma = 0.1 * rng.standard_normal(k), rng.standard_normal(k), rng.standard_normal(k)
    gravity = (0.3, -9.81, 1.0)[: body.dim]
    place = state_of(body, rng, u, du, sigma)
    whole = floating_body(body, gravity=gravity).H(place(body, T, S))
    few = floating_body(reduced, gravity=gravity).H(place(reduced, np.eye(k), np.eye(k)))
    assert few == pytest.approx(whole, rel=1e-10)  # round-off, with ten digits of the stresses found by dense algebra
    strain = reduced.elasticity.strain_of(u)
    expected = S.T @ body.elasticity.strain_of(T @ u)
    np.testing.assert_allclose(strain, expected, atol=1e-9 * np.abs(expected).max())  # and of S, squares included


def test_stress_in_the_span_is_linear_stress():
    """σ = C⁻¹D₀Tû is in the span of S: stress fields and strain energy are those of the full body."""
    body = beam(strain="linear", dim=3)
    T, reduced = body_basis(body, modes=6), reduce_body(body, modes=6)
    u = np.random.default_rng(0).standard_normal(6)
    full, few = body.elasticity.stress_of(T @ u), reduced.elasticity.stress_of(u)
    assert few @ reduced.elasticity.compliance @ few == pytest.approx(
        full @ body.elasticity.compliance @ full, rel=1e-11
    )
    for name, field in body.view.stresses.items():
        expected = field.cells @ full
        np.testing.assert_allclose(
            reduced.view.stresses[name].cells @ few,
            expected,
            atol=1e-9 * (1e-6 + np.abs(field.cells) @ np.abs(full)).max(),
        )


def test_structure_of_the_reduced_blocks():
    """J = −Jᵀ and R ⪰ 0 of the floating body, and E ẋ-consistency of z with ∇H by finite differences."""
    body = reduce_body(beam(dim=3, damping=fem.Damping(ratios=(0.02, 0.05), mass=0.1, stiffness=1e-4)), **FEW)
    system = floating_body(body)
    x = state_of(body, np.random.default_rng(0), *(0.05 * rng_at(i, body.size) for i in (5, 6, 7)))(
        body, np.eye(body.size), np.eye(body.size)
    )
    J, R = dense(system.J(x)), dense(system.R(x))
    assert np.abs(J + J.T).max() <= 1e-14 * np.abs(J).max()
    assert np.linalg.eigvalsh(R)[0] >= -1e-14 * np.abs(R).max()
    gradient = dense(system.E(x)).T @ system.z(x)
    h, direction = 1e-6, rng_at(8, x.size)
    slope = (system.H(x + h * direction) - system.H(x - h * direction)) / (2.0 * h)
    assert slope == pytest.approx(gradient @ direction, rel=1e-7)  # h² and round-off over h


# --- mechanisms


def swing(body):
    pin = hinge("arm.root", GROUND.at(0.0, 0.0)) if body.dim == 2 else spherical("arm.root", GROUND)
    return connect({"arm": body}, [pin], gravity=(0.0, -9.81, 0.0)[: body.dim])


def fall(body, steps=40, **options):
    mechanism = swing(body)
    start = mechanism.consistent_state(mechanism.assemble({"arm": 0.3 if body.dim == 2 else np.eye(3)}))
    return integrate(mechanism, start, np.linspace(0.0, 0.2, steps + 1), progress=False, **options)


@pytest.mark.parametrize("dim", [2, 3])
def test_all_vectors_make_the_full_body(dim):
    """Another basis of the same space: the same motion, with the stresses of a statically determinate beam."""
    body = beam(dim=dim, elements=2)
    same = reduce_body(body, basis=np.linalg.qr(np.random.default_rng(0).standard_normal((body.size,) * 2))[0])
    full, few = (fall(b).position("arm.tip") for b in (body, same))
    np.testing.assert_allclose(few, full, atol=1e-9)  # of a length of 1 m: Newton's tolerance over the axial stiffness


@pytest.mark.parametrize("dim", [2, 3])
def test_runs_are_balanced(dim):
    body = reduce_body(beam(dim=dim, damping=fem.Damping(ratios=(0.02, 0.05), stiffness=1e-5)), **FEW)
    run = fall(body)
    assert run.ledger.largest_residual < 1e-13  # round-off
    assert run.ledger.position_residual.max() < 1e-13
    assert run.ledger.dissipation["arm"].sum() > 0.0


def test_the_world_may_turn():
    """A spatial pendulum with its gravity and its start turned: the same states of the body, a turned position."""
    body = reduce_body(beam(dim=3, reference="simply_supported"), modes=4, derivatives=1)
    turn, found = random_rotation(np.random.default_rng(5)), []
    for Q in (np.eye(3), turn):
        mechanism = connect({"arm": body}, [spherical("arm.root", GROUND)], gravity=Q @ (0.0, -9.81, 2.0))
        start = mechanism.consistent_state(mechanism.assemble({"arm": Q}), velocities={"arm": Q @ (1.0, 2.0, 3.0)})
        found.append(integrate(mechanism, start, np.linspace(0.0, 0.1, 41), progress=False))
    still, turned = found
    np.testing.assert_allclose(turned.position("arm.tip"), still.position("arm.tip") @ turn.T, atol=1e-10)
    np.testing.assert_allclose(turned.deformation("arm"), still.deformation("arm"), atol=1e-10)  # [m], round-off grown


def test_frequencies_come_down_to_those_of_the_full_mechanism():
    """Rayleigh-Ritz: each added mode lowers every frequency of the linearised mechanism, none falls below."""
    full = crank_slider(8, "linear")
    pose = full.assemble({"crank": (0.0, 0.0, 0.4)}, time=0.4 / SPEED)
    exact = eigenfrequencies(eliminate(full.linearize(pose)), 3)
    before = np.full(3, np.inf)
    for modes in (3, 4, 6, 9, 14):
        few = slider_crank(reduce_body(full.bodies["rod"], modes=modes))
        pose = few.assemble({"crank": (0.0, 0.0, 0.4)}, time=0.4 / SPEED)
        found = eigenfrequencies(eliminate(few.linearize(pose)), 3)
        assert np.all(found >= exact * (1.0 - 1e-10))  # round-off
        assert np.all(found <= before * (1.0 + 1e-10))
        before = found
    np.testing.assert_allclose(before, exact, rtol=1e-5)  # what 14 of 24 modes give


def test_equilibria_are_those_of_the_full_body():
    """A cantilever under its weight at the end of a static vector: the equilibrium of the full body."""
    found = []
    body = beam(strain="linear", elements=4)
    for arm in (body, reduce_body(body, modes=8, static=("tip",))):
        mechanism = connect({"arm": arm}, [weld("arm.root", GROUND)], gravity=(0.0, -9.81))
        state = mechanism.equilibrium(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))
        found.append(arm.ports["tip"].shape @ mechanism_deformation(mechanism, state))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-12)  # modes beyond 8 carry 1e-6 of the weight


def mechanism_deformation(mechanism, state):
    return state.x[mechanism.layout.parts["arm.deformation"]]


def test_lumped_masses_and_reduction_commute():
    body = beam(dim=3)
    T = body_basis(body, modes=4, derivatives=2)
    one = reduce_body(body, basis=T).with_mass("tip", 0.2, 1e-3).inertia
    other = reduce_body(body.with_mass("tip", 0.2, 1e-3), basis=T).inertia
    for name in ("first", "second", "shape_first", "shape_lever", "spin", "spin_shape", "spin_pair"):
        np.testing.assert_allclose(dense(getattr(one, name)), dense(getattr(other, name)), atol=1e-12)  # round-off
    for i, j in np.ndindex(3, 3):
        np.testing.assert_allclose(dense(one.shape_pair[i][j]), dense(other.shape_pair[i][j]), atol=1e-12)


def test_damping_ratios_are_kept():
    ratios = (0.02, 0.3, 0.05)
    body = reduce_body(beam(strain="linear", dim=3, damping=fem.Damping(ratios=ratios)), modes=4)
    held = linear_body(body, "b")
    found = poles(constrain(held, np.eye(6, held.size)))
    found = found[found.imag > 0.0]
    np.testing.assert_allclose(-found.real / np.abs(found), [*ratios, 0.0], atol=1e-9)  # round-off of the poles


def test_results_are_exported(tmp_path):
    run = fall(reduce_body(beam(), **FEW), steps=4)
    assert len(write_series(tmp_path / "run.pvd", run)) == 6
    mechanism = replace(swing(reduce_body(beam(), **FEW)), gravity=np.zeros(2))
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.1)})
    found = vibrations(mechanism.linearize(pose), 3)
    assert write_modes(tmp_path / "modes.vtu", mechanism, pose, found).exists()


# --- rotors


def blade(dim=3, **options):
    material = fem.Material(young=7e10, density=2700.0, poisson=0.3)
    section = fem.Section(width=0.02, height=0.005)
    return fem.beam(1.0, material, section, elements=8, dim=dim, **{"strain": "von_karman", **options})


def turning(body, spin):
    """Spectrum about a steady rotation in the soft direction of the blade, first frequency 25.8 rad/s at rest."""
    if body.dim == 2:
        joints, still, about = [hinge("b.root", GROUND), drive("b.root", angle=lambda t: spin * t)], 0.0, spin
    else:
        axis, about = (0.0, 0.0, 1.0), (0.0, 0.0, spin)
        joints = [revolute("b.root", GROUND, axis=axis), drive("b.root", angle=lambda t: spin * t, axis=axis)]
        still = np.eye(3)
    mechanism = connect({"b": body}, joints)
    return mechanism.spectrum(mechanism.equilibrium(mechanism.assemble({"b": still}), spin=about))


def lowest(body, spin, count=3):
    values = turning(body, spin).values
    assert np.abs(values.real).max() < 1e-6  # no motion grows; round-off of frequencies up to 1e5
    return np.sort(values.imag[values.imag > 1.0])[:count]


@pytest.mark.parametrize(
    ("reference", "choice"),
    [
        pytest.param("cantilever", {"modes": 4}, marks=pytest.mark.slow),
        ("cantilever", {"modes": 4, "derivatives": 2}),
        ("mean_axis", {"modes": 6, "static": ("root",)}),
    ],
)
def test_a_rotor_is_stiffened_by_its_centrifugal_stress(reference, choice):
    full = blade(reference=reference)
    reduced = reduce_body(full, inertia=True, **choice)
    for spin, tolerance in (
        (50.0, 1e-4),
        (200.0, 5e-3),
    ):  # of the bending of four modes, at 8 times the first frequency
        np.testing.assert_allclose(lowest(reduced, spin), lowest(full, spin), rtol=tolerance)


@covering("dim, choice", (2, 3), ({"modes": 4, "derivatives": 2}, {"modes": 5, "derivatives": 2}))
def test_a_rotor_with_too_little_stress_diverges_where_it_is_said(dim, choice):
    """The spin of the warning divides steady rotations that are stable from those that are not."""
    full = blade(dim)
    with pytest.warns(ReductionWarning, match="diverges at a steady spin of .* rad/s.*add inertia=True") as caught:
        reduced = reduce_body(full, **choice)
    assert caught[0].filename == __file__
    spin = diverging_spins(HeldBody(full), body_basis(full, **choice))[0][-1]
    assert f"{spin:.3g} rad/s" in str(caught[0].message)
    for factor, grows in ((0.99, False), (1.01, True)):  # the stretch at that spin changes it by less: strain 1e-4
        assert ("grows with" in turning(reduced, factor * spin).message) is grows


def test_a_rotor_with_enough_stress_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reduce_body(blade(), modes=4, inertia=True)
        reduce_body(blade(), modes=4, derivatives=4)
        reduce_body(blade(momenta="constant"), modes=4, derivatives=2)  # knows no centrifugal load
        reduce_body(blade(strain="linear"), modes=4)  # as the full one, it has no stiffening


# --- the crank-slider


def slider_crank(rod):
    return connect(
        {"crank": rigid.bar(CRANK, CRANK_MASS), "rod": rod, "slider": rigid.point(SLIDER)},
        [
            hinge("crank.root", GROUND.at(0.0, 0.0)),
            drive("crank.root", GROUND, angle=lambda t: SPEED * t),
            hinge("crank.tip", "rod.root"),
            hinge("rod.tip", "slider.point"),
            slider("slider.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True),
        ],
    )


def turn(rod, turns=0.5, steps=1000):
    """Run from the stretched pose; the midpoint deflection over the length."""
    mechanism = slider_crank(rod)
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    times = np.linspace(0.0, turns * 2.0 * np.pi / SPEED, steps + 1)
    run = integrate(mechanism, start, times, progress=False)
    return run, run.displacement("rod.middle")[:, 1] / ROD


@pytest.mark.parametrize(
    ("strain", "choice", "size"),
    [("linear", {"modes": 3}, 3), ("von_karman", {"modes": 3, "derivatives": 2}, 5)],
)
def test_a_few_vectors_of_the_rod_are_enough(strain, choice, size):
    """rms of the difference over the largest deflection, 1.9e-2 of the length: below 1e-3."""
    rod = crank_slider(8, strain).bodies["rod"]
    reduced = reduce_body(rod, **choice)
    assert reduced.size == size < rod.size
    full, few = turn(rod)[1], turn(reduced)[1]
    assert np.sqrt(np.mean((few - full) ** 2)) < 1e-3 * np.abs(full).max()


def test_a_rod_without_axial_vectors_is_linear():
    """Bending modes alone leave no stress for the quadratic strains to work on: no stiffening, which is said."""
    rod = crank_slider(8, "von_karman").bodies["rod"]
    with pytest.warns(ReductionWarning, match="100% of the quadratic strains.*add derivatives"):
        few = reduce_body(rod, modes=3)
    assert few.elasticity.slopes.shape[0] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reduce_body(rod, modes=3, derivatives=1)
        reduce_body(rod, modes=6)  # the sixth mode is axial
        reduce_body(crank_slider(8, "linear").bodies["rod"], modes=3)


def test_without_modes_the_rod_is_rigid():
    """The same motion as that of a rigid body with its mass, centre and inertia."""
    rod = crank_slider(8, "von_karman").bodies["rod"]
    stiff = reduce_body(rod, modes=0)
    assert stiff.size == stiff.stress_size == 0 and stiff.elasticity is None
    given = rigid.body(
        rod.mass,
        inertia=float(rod.moments[0, 0]),
        centre=tuple(rod.centre),
        ports={name: tuple(port.position) for name, port in rod.ports.items()},
    )
    one, other = turn(stiff, steps=100)[0], turn(given, steps=100)[0]
    np.testing.assert_allclose(one.states, other.states, atol=1e-12 * np.abs(other.states).max())  # round-off
    assert dict(stiff.view.stresses) == {}
    assert reduce_body(given, modes=0) is given


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_two_turns_of_the_rod(strain):
    """Both turns of the case, 4000 steps: largest difference 1e-3 of the largest deflection."""
    rod = crank_slider(8, strain).bodies["rod"]
    choice = {"modes": 6} if strain == "linear" else {"modes": 3, "derivatives": 3}
    full, few = (turn(b, 2.0, 4000)[1] for b in (rod, reduce_body(rod, **choice)))
    assert np.abs(few - full).max() < 1e-3 * np.abs(full).max()


# --- bad input


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "modes must be given"),
        ({"modes": 13}, "modes must be at most the 12 flexible coordinates of the body, got 13"),
        ({"modes": -1}, "modes must be at least 0"),
        ({"modes": 1.5}, "modes must be a whole number"),
        ({"static": ("end",)}, "no port 'end'.*'root', 'tip'"),
        ({"static": "tip"}, "static must be a list of names, got 'tip'"),
        ({"static": 3}, "static must be a list of names, got 3"),
        ({"modes": 1, "inertia": 2}, "inertia must be True or False, got 2"),
        ({"inertia": True, "basis": np.eye(12)}, "basis= excludes"),
        ({"modes": 2, "derivatives": 4}, "derivatives must be at most 3"),
        ({"modes": 0, "derivatives": 1}, "derivatives need modes, static ports or inertia"),
        ({"modes": 1, "basis": np.eye(12)}, "basis= excludes"),
        ({"basis": np.eye(11)}, r"basis must have shape \(12, any\)"),
        ({"basis": np.full((12, 1), np.nan)}, "basis must be finite"),
        ({"basis": np.ones((12, 2))}, "basis must have full rank: its 2 columns"),
        ({"basis": np.eye(12)[:, :3] * (1.0, 0.0, 1.0)}, "basis must have full rank: column 1 is zero"),
    ],
)
def test_bad_input_is_refused(choice, message):
    with pytest.raises(ValueError, match=message):
        reduce_body(beam(), **choice)


@pytest.mark.parametrize("make", [lambda: swing(beam()), lambda: linear_body(beam(), "b"), lambda: None])
def test_other_things_are_not_bodies(make):
    given = make()
    for reduce in (reduce_body, body_basis):
        with pytest.raises(ValueError, match=f"body must be a Body, .*mechanism.bodies, got {type(given).__name__}"):
            reduce(given, modes=2)


def test_linear_strain_has_no_derivatives():
    with pytest.raises(ValueError, match="derivatives must be 0 for a body with linear strain, got 1"):
        reduce_body(beam(strain="linear"), modes=2, derivatives=1)
    with pytest.raises(ValueError, match="modes and derivatives must be 0 for a rigid body"):
        reduce_body(rigid.bar(1.0, 1.0), modes=2)


def test_a_body_that_deforms_without_stress_is_refused():
    body = beam(strain="linear")
    loose = replace(body.elasticity, strain=body.elasticity.strain @ np.diag([0.0] + [1.0] * 11))
    with pytest.raises(ValueError, match="body must not deform without stress"):
        reduce_body(replace(body, elasticity=loose), modes=2)
    with pytest.raises(ValueError, match="body must not deform without stress"):
        HeldBody(replace(body, elasticity=loose)).static(["tip"])
