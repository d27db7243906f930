"""Solids and plane bodies of finite strain: closed forms at rest, and what the scheme promises at any step.

Fifteen seconds, as stored energies are functions in Python, called at every point in every iteration.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import fem
import rigid
from fem.materials.strain_laws import stored_energy
from flexph import (
    GROUND,
    ValidityWarning,
    connect,
    distance,
    distributed_load,
    eigenfrequencies,
    eliminate,
    force,
    hinge,
    integrate,
    revolute,
    slider,
    spherical,
    weld,
)
from flexph.bodies.stresses import deformation_gradients
from flexph.models import ModelError, load_model
from flexph.results.state_view import MechanismView

RUBBER = fem.Material(young=1e6, density=1000.0, poisson=0.3)
SOFT = fem.Material(young=1e4, density=1000.0, poisson=0.3)
LENGTH, WIDTH = 0.4, 0.1


def corner(*place):
    """The node at a place."""
    return lambda x: np.linalg.norm(x - np.array(place)[:, None], axis=0) < 1e-9


def body(dim, cells=(1, 1, 1), material=RUBBER, **options):
    """A block of rubber of the plane or of space."""
    options |= {"plane": "stress", "thickness": WIDTH} if dim == 2 else {}
    mesh = fem.box_mesh((LENGTH, WIDTH, WIDTH)[:dim], cells[:dim])
    return fem.solid(mesh, material, degree=2, strain="finite", **options)


def pulled(dim, traction, **options):
    """A block in uniaxial tension, supported where nothing acts: its state by name."""
    ends = {name: corner(*place[:dim]) for name, place in {"a": (0, 0, 0), "b": (LENGTH, 0, 0)}.items()}
    held = [slider("block.b", GROUND, direction=(1.0, 0.0, 0.0)[:dim], turning=True)]
    held.append(hinge("block.a", GROUND) if dim == 2 else spherical("block.a", GROUND))
    if dim == 3:
        held.append(distance("block.c", GROUND.at(0.0, WIDTH, 1.0)))
    block = body(
        dim, ports=ends | {"c": corner(*(0.0, WIDTH, 0.0)[:dim])}, loads={"l": "left", "r": "right"}, **options
    )
    mechanism = connect({"block": block}, [*held, *(distributed_load(f"block.{k}", name=k) for k in "lr")])
    along = traction * np.eye(dim)[0]
    state = mechanism.equilibrium(mechanism.assemble(), inputs={"l": -along, "r": along})
    return MechanismView(mechanism, state.x)


@pytest.mark.parametrize("dim", [2, 3])
def test_uniaxial_tension_of_st_venant_and_kirchhoff(dim):
    """P = ½E(λ³ − λ) per undeformed area, and λ_t² = 1 − ν(λ² − 1)."""
    traction = 0.6e6
    stretch = np.roots([0.5 * RUBBER.young, 0.0, -0.5 * RUBBER.young, -traction])
    stretch = stretch[np.isreal(stretch)].real.max()
    state = pulled(dim, traction)
    apart = [np.linalg.norm(state.position(f"block.{k}") - state.position("block.a")) for k in "bc"]
    np.testing.assert_allclose(apart[0], stretch * LENGTH, rtol=1e-12)
    np.testing.assert_allclose(apart[1], np.sqrt(1.0 - 0.3 * (stretch**2 - 1.0)) * WIDTH, rtol=1e-12)
    uniaxial = np.zeros(3 if dim == 2 else 6)
    uniaxial[0] = traction / stretch
    stresses = state["block.stress"].reshape(-1, uniaxial.size)
    np.testing.assert_allclose(stresses, np.tile(uniaxial, (len(stresses), 1)), rtol=0, atol=1e-12 * RUBBER.young)


def logarithms(C):
    """ψ = ½μ(I₁ − 3) − μ ln J + ½κ(J − 1)², μ = 0.4 MPa, κ = 1 MPa."""
    volume = np.sqrt(np.linalg.det(C))
    return 2e5 * (np.trace(C, axis1=1, axis2=2) - 3.0 - 2.0 * np.log(volume)) + 5e5 * (volume - 1.0) ** 2


def logarithms_by_tensor(C):
    """∂ψ/∂C."""
    volume, inverse = np.sqrt(np.linalg.det(C))[:, None, None], np.linalg.inv(C)
    return 2e5 * (np.eye(3) - inverse) + 5e5 * (volume - 1.0) * volume * inverse


LAWS = {
    "neo-Hooke": (
        fem.NeoHooke(4e5, 6e5),
        lambda a, b, c: 2e5 * (a**2 + b**2 + c**2 - 3) - 4e5 * np.log(a * b * c) + 3e5 * np.log(a * b * c) ** 2,
    ),
    "Mooney-Rivlin": (
        fem.MooneyRivlin(1.2e5, 0.8e5, 1e6),
        lambda a, b, c: (
            1.2e5 * ((a**2 + b**2 + c**2) * (a * b * c) ** (-2 / 3) - 3)
            + 0.8e5 * (((a * b) ** 2 + (b * c) ** 2 + (c * a) ** 2) * (a * b * c) ** (-4 / 3) - 3)
            + 5e5 * (a * b * c - 1) ** 2
        ),
    ),
    "user": (
        fem.StoredEnergy(logarithms, logarithms_by_tensor),
        lambda a, b, c: 2e5 * (a**2 + b**2 + c**2 - 3 - 2 * np.log(a * b * c)) + 5e5 * (a * b * c - 1) ** 2,
    ),
}
"""Laws, and their energies as functions of the principal stretches, written independently."""


def uniaxial(energy, stretch):
    """The lateral stretch and the force per undeformed area of uniaxial tension, by complex steps of ψ."""
    small = 1e-30
    side = brentq(lambda b: energy(stretch, b + small * 1j, b).imag, 0.3, 1.5, xtol=1e-15)
    return side, energy(stretch + small * 1j, side, side).imag / small


@pytest.mark.parametrize(
    ("law", "dim"), [("neo-Hooke", 2), ("Mooney-Rivlin", 2), pytest.param("user", 3, marks=pytest.mark.slow)]
)
def test_uniaxial_tension_of_laws(law, dim):
    own, energy = LAWS[law]
    side, traction = uniaxial(energy, 1.4)
    state = pulled(dim, traction, law=own)
    apart = [np.linalg.norm(state.position(f"block.{k}") - state.position("block.a")) for k in "bc"]
    np.testing.assert_allclose(apart, [1.4 * LENGTH, side * WIDTH], rtol=1e-11)
    np.testing.assert_allclose(state["block.stress"][0], traction / 1.4, rtol=1e-10)


def tumbling(dim, step, steps=30, **options):
    """A block between no supports and a rigid body, which are jointed eccentrically and turn against each other."""
    block = body(dim, **{"material": SOFT} | options, ports={"root": "left", "tip": "right"})
    inertia = 0.02 if dim == 2 else np.diag([0.01, 0.02, 0.03])
    hub = rigid.body(2.0, inertia=inertia, ports={"b": (0.1, 0.05, 0.0)[:dim]})
    joint = hinge("block.tip", "hub.b") if dim == 2 else revolute("block.tip", "hub.b", axis=(0.0, 0.0, 1.0))
    mechanism = connect({"block": block, "hub": hub}, [joint])
    spins = {"block": (0.0, 0.3, 3.0), "hub": (0.0, -2.0, -25.0)}
    if dim == 3:
        spins = {"block": ((0.0, 0.3, 0.1), (1.0, 0.5, 3.0)), "hub": ((0.0, -2.0, 0.5), (0.0, -3.0, -25.0))}
    start = mechanism.consistent_state(mechanism.assemble(), velocities=spins)
    return integrate(mechanism, start, np.arange(steps + 1) * step)


@pytest.mark.parametrize(("dim", "step"), [(2, 0.01), (2, 0.05), (3, 0.02)])
def test_all_invariants_are_kept(dim, step):
    run = tumbling(dim, step, steps=30 if dim == 2 else 10)
    assert np.abs(run["block.stress"]).max() > 0.05 * SOFT.young  # it deforms by much
    keeps_all(run)


@pytest.mark.parametrize(("law", "dim"), [(fem.NeoHooke(4e3, 6e3), 2), (fem.MooneyRivlin(1e3, 1e3, 1e4), 3)])
def test_all_invariants_are_kept_by_laws(law, dim):
    run = tumbling(dim, 0.02, steps=10 if dim == 2 else 6, law=law)
    assert np.abs(run["block.stress"]).max() > 0.05 * SOFT.young
    keeps_all(run)


@pytest.mark.covering
@pytest.mark.parametrize("law", ["neo-Hooke", "Mooney-Rivlin", "user"])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_free_block_falls_without_strain(dim, law):
    """The stored energy of strains of round-off is round-off: it must not correct the mean stress."""
    block, down = body(dim, law=LAWS[law][0]), np.eye(dim)[-1]
    mechanism = connect({"block": block}, [], gravity=tuple(-9.81 * down))
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.arange(11) * 0.01)
    centres = run["block.centre"].reshape(11, -1, dim)
    np.testing.assert_allclose(
        centres[-1] - centres[0], np.tile(-0.5 * 9.81 * 0.1**2 * down, (centres.shape[1], 1)), rtol=0, atol=1e-14
    )
    assert np.abs(run["block.stress"]).max() <= 1e-12 * RUBBER.young
    assert np.abs(run.ledger.residual).max() <= 1e-12 * 0.5 * block.mass * (9.81 * 0.1) ** 2


@pytest.mark.parametrize("law", ["neo-Hooke", "Mooney-Rivlin"])
def test_energies_of_small_strains_are_accurate(law):
    """ψ = ½ E·K·E to the order of |E|³, with relative round-off, not that of the stiffness."""
    own = stored_energy(LAWS[law][0], None)
    strain = 1e-8 * np.array([[1.0, -0.4, 0.3, 0.5, -0.2, 0.7], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]])
    stiffness = own.at(np.zeros((1, 6))).tangent[0]
    exact = 0.5 * np.einsum("ki,ij,kj->k", strain, stiffness, strain)
    np.testing.assert_allclose(own.at(strain).energy, exact, rtol=1e-6)


@pytest.mark.parametrize("law", ["neo-Hooke", "Mooney-Rivlin"])
def test_laws_are_not_a_number_where_the_tensor_is_singular(law):
    """Iterations that diverge come there; the step then fails or starts again, and the run goes on."""
    good, flat = np.diag([1.1, 0.9, 1.0]), np.ones((3, 3))
    with np.errstate(all="ignore"):
        energy, stress, _ = LAWS[law][0].of_tensor(np.array([good, flat]))
        assert np.isnan(stress[1]).any()
        np.testing.assert_array_equal(energy[:1], LAWS[law][0].of_tensor(good[None])[0])


def keeps_all(run):
    """Energy, both momenta, joints and rotations, to round-off."""
    for values, size in (
        (run.ledger.total_energy, run.ledger.total_energy[0]),
        (run.linear_momentum(), np.abs(run.linear_momentum()).max()),
        (run.angular_momentum(), np.abs(run.angular_momentum()).max()),
    ):
        assert np.abs(values - values[0]).max() <= 1e-12 * size
    assert np.abs(run.ledger.residual).max() <= 1e-12 * run.ledger.total_energy[0]
    assert run.ledger.position_residual.max() <= 1e-12
    assert run.orthogonality() <= 1e-12


def test_cauchy_stress_of_uniaxial_tension_is_the_force_per_deformed_area():
    own, energy = LAWS["neo-Hooke"]
    side, traction = uniaxial(energy, 1.4)
    state = pulled(2, traction, law=own)
    block = state.mechanism.bodies["block"]
    centres = state["block.centre"].reshape(1, -1, 2)
    gradients = deformation_gradients(block, centres, state.rotations("block")[None])
    stress = block.current["cauchy"].of(gradients, state["block.stress"][None])
    np.testing.assert_allclose(stress[0, :, 0], traction / side**2, rtol=1e-10)
    np.testing.assert_allclose(stress[0, :, 1:], 0.0, rtol=0, atol=1e-9 * traction)


def test_cauchy_stress_turns_with_the_body():
    """Objectivity: a body that is deformed by F and then turned by Q has Q σ Qᵀ."""
    block, rng = body(3), np.random.default_rng(1)
    F = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    Q *= np.linalg.det(Q)
    sigma = np.tile(rng.standard_normal(6), block.stress_size // 6)[None]
    stresses = []
    for own in (F, Q @ F):
        gradients = deformation_gradients(block, (block.places @ own.T)[None], np.zeros((1, 0, 3, 3)))
        xx, yy, zz, xy, yz, xz = block.current["cauchy"].of(gradients, sigma)[0, 0]
        stresses.append(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    np.testing.assert_allclose(stresses[1], Q @ stresses[0] @ Q.T, rtol=0, atol=1e-12 * np.abs(sigma).max())


@pytest.mark.parametrize("dim", [2, 3])
def test_motion_is_the_same_in_a_world_that_is_turned(dim):
    """Everything turns with the start: the scheme knows no axes."""
    angle = 0.7
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turn = Q if dim == 2 else Rotation.from_rotvec([0.4, -0.8, 0.6]).as_matrix()
    block = body(dim, material=SOFT, law=None, ports={"root": "left"})
    mechanism, ends = connect({"block": block}, []), []
    for R in (np.eye(dim), turn):
        place = (0.0, 0.0, 0.0 if R is not turn else angle) if dim == 2 else ((0.0, 0.0, 0.0), R)
        pose = mechanism.assemble({"block": place})
        x = mechanism.consistent_state(pose).x.copy()
        velocities = np.outer(np.linalg.norm(block.centres, axis=1), np.array([0.5, -1.0, 0.8])[:dim])
        x[mechanism.layout.parts["block.velocity"]] = (velocities @ R.T).ravel()
        start = replace(mechanism.consistent_state(pose), x=x)
        ends.append(integrate(mechanism, start, np.arange(6) * 0.01)["block.centre"][-1].reshape(-1, dim))
    assert np.abs(ends[0] - block.centres).max() > 0.01
    np.testing.assert_allclose(ends[1], ends[0] @ turn.T, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_small_vibrations_are_those_of_the_linear_solid():
    """Frequencies of a clamped block: lumped masses of 9 nodes a cell keep their order, 4; stiffness is the same."""
    differences = []
    for cells in (4, 8):
        mesh = fem.box_mesh((LENGTH, WIDTH), (cells, cells // 4))
        given = {"degree": 2, "plane": "stress", "thickness": WIDTH, "ports": {"root": "left"}}
        clamped = []
        for own in ({"strain": "finite"}, {"reference": "root"}):
            block = fem.solid(mesh, RUBBER, **given, **own)
            mechanism = connect({"block": block}, [weld("block.root", GROUND.at(0.0, 0.5 * WIDTH))])
            system = mechanism.linearize(mechanism.assemble({"block": (0.0, 0.0, 0.0)}))
            clamped.append(eigenfrequencies(eliminate(system), count=3))
        differences.append(np.abs(clamped[0] / clamped[1] - 1.0))
    assert np.all(differences[1] < 4e-4)
    np.testing.assert_array_less(2.5, np.log2(differences[0] / differences[1]))


@pytest.mark.slow
def test_second_order_in_time():
    ends = [tumbling(2, 0.005 / 2**k, steps=6 * 2**k)["block.centre"][-1] for k in range(4)]
    apart = np.linalg.norm(np.diff(ends, axis=0), axis=1)
    np.testing.assert_allclose(np.log2(apart[:-1] / apart[1:]), 2.0, rtol=0, atol=0.1)
    assert apart[-1] <= 2e-4


def test_cells_that_turn_inside_out_are_told():
    block = body(2, ports={"root": "left", "tip": "right"})
    mechanism = connect({"block": block}, [weld("block.root", GROUND.at(0.0, 0.5 * WIDTH)), force("block.tip")])
    with pytest.warns(ValidityWarning, match="inside out"):
        start = mechanism.consistent_state(mechanism.assemble({"block": (0.0, 0.0, 0.0)}))
        integrate(mechanism, start, np.arange(6) * 0.01, inputs={"force block.tip": (-2e6, 0.0)})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"reference": "root"}, "reference is for strain='linear'"),
        ({"momenta": "constant"}, "momenta is for strain='linear'"),
        ({"sections": {"cut": "left"}}, "sections is for strain='linear'"),
        ({"ports": {"root": fem.Tie("left", "mean")}}, "port 'root' must be tied rigidly"),
        ({"damping": fem.Damping(mass=1.0)}, "damping of finite strain must be by stiffness"),
        ({"law": {"steel": fem.NeoHooke(1.0, 1.0)}}, "steel"),
    ],
)
def test_what_is_of_floating_frames_is_refused(options, told):
    with pytest.raises(ValueError, match=told):
        body(2, **options)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: fem.NeoHooke(-1.0, 1.0), "mu must be positive"),
        (lambda: fem.NeoHooke(1.0, -1.0), "lam must be above"),
        (lambda: fem.MooneyRivlin(1.0, -2.0, 1.0), r"c1 \+ c2 must be positive"),
        (lambda: fem.StoredEnergy(logarithms, lambda C: 2.0 * logarithms_by_tensor(C)), "derivative must be"),
        (
            lambda: fem.StoredEnergy(logarithms, logarithms_by_tensor, second=lambda C: "stiff"),
            "the value of second must be numbers, got 'stiff'",
        ),
        (
            lambda: body(2, law=fem.StoredEnergy(lambda C: C[:, 0, 0], lambda C: 0.0 * C + np.diag([1.0, 0.0, 0.0]))),
            "no stress without strain",
        ),
        (lambda: body(2, law=fem.StoredEnergy(lambda C: -logarithms(C), lambda C: -logarithms_by_tensor(C))), "stable"),
        (lambda: fem.solid(fem.box_mesh((1.0, 1.0, 1.0), (1, 1, 1)), RUBBER, law=fem.NeoHooke(1.0, 1.0)), "law is for"),
    ],
)
def test_laws_that_are_none_are_refused(make, told):
    with pytest.raises(ValueError, match=told):
        make()


MODEL = """
flexph: 1
materials:
  rubber: {young: 1 MPa, density: 1000, poisson: 0.4}
bodies:
  block:
    kind: solid
    mesh: {lengths: [0.4, 0.1], counts: [1, 1]}
    material: rubber
    plane: strain
    thickness: 0.1
    ports: {root: left}
    strain: finite
    law: {kind: neo_hooke, mu: 0.36 MPa, lam: 1.4 MPa}
connections:
  - {kind: hinge, first: block.root, second: ground}
"""


def test_model_files_have_finite_strain(tmp_path):
    path = tmp_path / "block.yaml"
    path.write_text(MODEL, encoding="utf-8")
    block = load_model(path).mechanism.bodies["block"]
    assert block.elasticity.laws[0].law.law == fem.NeoHooke(0.36e6, 1.4e6)
    path.write_text(MODEL.replace("mu: 0.36 MPa", "mu: -1 MPa"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"law.*mu must be positive"):
        load_model(path)


@pytest.mark.parametrize("law", [None, fem.NeoHooke(4e3, 6e3)])
def test_general_equations_take_linear_stresses_and_laws(law):
    mechanism = connect({"block": body(2, law=law)}, [])
    start = mechanism.consistent_state(mechanism.assemble())
    assert mechanism.phdae(start).sample.size == mechanism.layout.size


@pytest.mark.slow
def test_linearised_about_a_loaded_state_as_the_spectrum():
    """Two routes to the frequencies of a stretched block: eliminated and linearised, and by the spectrum."""
    block = body(2, law=fem.NeoHooke(4e5, 6e5), ports={"root": "left", "tip": "right"})
    mechanism = connect(
        {"block": block}, [weld("block.root", GROUND.at(0.0, 0.5 * WIDTH)), force("block.tip", name="f")]
    )
    loads = {"f": (3e3, 0.0)}
    state = mechanism.equilibrium(mechanism.assemble(), inputs=loads)
    linear = eigenfrequencies(mechanism.linearize(state, inputs=loads), count=3)
    np.testing.assert_allclose(linear, mechanism.spectrum(state, inputs=loads).frequencies[:3], rtol=1e-9)
