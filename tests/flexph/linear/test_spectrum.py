"""Eigenfrequencies, modes and poles against definitions, exact numbers and a second route through the same system.

Five seconds, as spectra are found by two routes each.
"""

from itertools import pairwise

import numpy as np
import pytest
from covering import covering
from exact_beams import axial_frequencies, bending_frequencies
from scipy import sparse

import fem
import rigid
from flexph import GROUND, LinearPHDAE, connect, eigenfrequencies, hinge, modes, poles, torsion_spring, weld
from flexph.bodies import linear_body
from flexph.linear.eigenmodes import modes as spectrum

pytestmark = pytest.mark.processor

LENGTH, WIDTH, HEIGHT, YOUNG, DENSITY = 1.0, 0.02, 0.004, 7e10, 2700.0


def beam(elements=8, young=YOUNG, **options):
    section = fem.Section(width=WIDTH, height=HEIGHT)
    return fem.beam(LENGTH, fem.Material(young=young, density=DENSITY), section, elements=elements, **options)


def free_beam(elements=8, **options):
    return linear_body(beam(elements, **options), "beam")


def clamped_beam(elements=8, **options):
    mechanism = connect({"beam": beam(elements, **options)}, [weld("beam.root", GROUND)])
    return mechanism.linearize(mechanism.assemble())


def chain(bodies, elements):
    """Free beams one after the other on hinges."""
    names = [f"link{i}" for i in range(bodies)]
    joints = [hinge(f"{a}.tip", f"{b}.root") for a, b in pairwise(names)]
    mechanism = connect(dict.fromkeys(names, beam(elements)), joints)
    return mechanism.linearize(mechanism.assemble(guess={k: (float(i), 0.0, 0.1 * i) for i, k in enumerate(names)}))


def four_bar(lock):
    """Crank, coupler and follower of the linkage of [flex] sec. 6.1, the crank welded or hinged to the ground."""
    lengths = {"crank": 0.108, "coupler": 0.2794, "follower": 0.2705}
    section = fem.Section(width=0.02, height=0.004)
    material = fem.Material(young=YOUNG, density=DENSITY)
    bodies = {name: fem.beam(length, material, section, elements=2) for name, length in lengths.items()}
    joints = [
        lock("crank.root", GROUND),
        hinge("crank.tip", "coupler.root"),
        hinge("coupler.tip", "follower.root"),
        hinge("follower.tip", GROUND.at(0.254, 0.0)),
    ]
    mechanism = connect(bodies, joints)
    return mechanism.linearize(mechanism.assemble({"crank": (0.0, 0.0, 0.4)}, guess={"coupler": 0.8, "follower": -1.0}))


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def exact_clamped(count):
    """Lowest exact frequencies of the clamped beam, bending and axial together."""
    area, second = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12.0
    bending = bending_frequencies("clamped-free", count) * np.sqrt(YOUNG * second / (DENSITY * area * LENGTH**4))
    axial = axial_frequencies("fixed-free", count) * np.sqrt(YOUNG / (DENSITY * LENGTH**2))
    return np.sort(np.concatenate([bending, axial]))[:count]


def by_both_routes(system, count, monkeypatch):
    """The modes by shift-invert and by dense algebra, whatever the size."""
    found = []
    for limit in (1, 10**6):
        monkeypatch.setattr(spectrum, "DENSE_LIMIT", limit)
        found.append(modes(system, count))
    return found


def assert_routes_agree(system, count, monkeypatch, rtol=1e-9):
    """The routes share nothing but M, C and D; the dense one has errors near eps · ω_max/ω = 1e-10."""
    lanczos, dense = by_both_routes(system, count, monkeypatch)
    np.testing.assert_allclose(lanczos.frequencies, dense.frequencies, rtol=rtol)
    assert (lanczos.rigid, lanczos.self_stress) == (dense.rigid, dense.self_stress)


def test_a_large_system_goes_by_shift_invert(monkeypatch):
    """660 velocities: above the limit the dense route must not be taken, and the result is that of the dense one."""
    system = clamped_beam(220)
    expected = by_both_routes(system, 8, monkeypatch)[1].frequencies
    monkeypatch.undo()
    monkeypatch.setattr(spectrum, "_dense", None)
    found = eigenfrequencies(system, 8)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(found, exact_clamped(8), rtol=1e-6)  # h⁴ of the eighth mode at 220 elements: 1e-7


@covering("pair, make", ("compatible", "hermite", "paper"), (free_beam, clamped_beam))
def test_routes_agree_on_a_beam(make, pair, monkeypatch):
    assert_routes_agree(make(110, pair=pair), 10, monkeypatch)


@pytest.mark.parametrize("bodies, elements", [(2, 60), (5, 30)])
def test_routes_agree_on_a_chain_with_its_rigid_modes(bodies, elements, monkeypatch):
    """A free chain of k links has k + 2 rigid motions."""
    system = chain(bodies, elements)
    assert_routes_agree(system, 10, monkeypatch)
    assert modes(system, 10).rigid == bodies + 2


def test_routes_agree_on_multiple_frequencies(monkeypatch):
    """Three equal beams, clamped side by side: each frequency thrice."""
    mechanism = connect(dict.fromkeys("abc", beam(60)), [weld(f"{k}.root", GROUND) for k in "abc"])
    system = mechanism.linearize(mechanism.assemble())
    assert_routes_agree(system, 9, monkeypatch)
    thrice = np.repeat(clamped_frequencies(60, 3), 3)
    np.testing.assert_allclose(eigenfrequencies(system, 9), thrice, rtol=1e-9)


def clamped_frequencies(elements, count):
    return eigenfrequencies(clamped_beam(elements), count)


@pytest.mark.parametrize("factor", [1e-18, 1e-8, 1e8, 1e16])
def test_slow_and_fast_systems_are_computed_alike(factor, monkeypatch):
    """Young's modulus times f multiplies all frequencies by √f: nothing in the route may know of seconds."""
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", 1)
    found = eigenfrequencies(free_beam(30, young=factor * YOUNG), 6)
    np.testing.assert_allclose(found, np.sqrt(factor) * eigenfrequencies(free_beam(30), 6), rtol=1e-9)


def test_all_frequencies_come_without_a_count(monkeypatch):
    """A large system has as many as a small one: one for each velocity that is not rigid."""
    assert len(eigenfrequencies(free_beam(8))) == 24
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", 10)
    assert len(eigenfrequencies(free_beam(170))) == 510


def test_a_count_takes_the_lowest():
    np.testing.assert_allclose(modes(free_beam(), 5).frequencies, eigenfrequencies(free_beam(), 5), rtol=1e-12)
    np.testing.assert_array_equal(eigenfrequencies(free_beam(), 5), eigenfrequencies(free_beam())[:5])
    assert np.all(np.diff(eigenfrequencies(free_beam())) >= 0.0)
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        eigenfrequencies(free_beam(), 0)


@pytest.mark.parametrize("limit", [10, 10**6])
def test_a_count_near_or_beyond_the_size_gives_what_there_is(limit, monkeypatch):
    """508 and all 510 frequencies of a free beam of 170 elements, by either route."""
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", limit)
    system = free_beam(170)
    assert [len(eigenfrequencies(system, count)) for count in (508, 510, 600)] == [508, 510, 510]


SMALL = {
    "free": (lambda: free_beam(4), 10**6),
    "clamped": (lambda: clamped_beam(4, pair="hermite"), 10**6),
    "loop": (lambda: four_bar(weld), 10**6),
    "large": (lambda: clamped_beam(170), 10),
}


@pytest.mark.parametrize("name", SMALL)
def test_modes_solve_their_equation(name, monkeypatch):
    """iω E x = J x up to the forces Gᵀλ of the joints, G x = 0 and xᴴE x = 2, half of it kinetic."""
    make, limit = SMALL[name]
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", limit)
    system, found = make(), modes(make(), 6)
    x, E, J, G = found.shapes, full(system.E), full(system.J), full(system.G)
    inertia, force = 1j * (E @ x) * found.frequencies, J @ x
    residual = inertia - force
    residual = residual - G.T @ np.linalg.lstsq(G.T, residual, rcond=None)[0] if len(G) else residual
    assert np.abs(residual).max() < 1e-9 * np.abs(inertia).max()
    assert np.abs(G @ x).max(initial=0.0) < 1e-9 * np.abs(x).max()
    gram = x.conj().T @ E @ x
    np.testing.assert_allclose(gram, 2.0 * np.eye(6), atol=1e-8)  # what the residual leaves between close modes
    kinetic = system.kinetic
    moving = np.einsum("ik,ij,jk->k", x[kinetic].conj(), E[np.ix_(kinetic, kinetic)], x[kinetic])
    np.testing.assert_allclose(moving, 1.0, rtol=1e-9)
    assert not x[kinetic].imag.any()
    assert not x[~kinetic].real.any()


@pytest.mark.parametrize("pair, self_stress", [("compatible", 0), ("hermite", 2), ("paper", 3)])
def test_zero_modes_of_a_beam(pair, self_stress):
    """Free: 3 rigid motions. Continuous stresses exceed the strains by 2 moments, and 1 axial force in `paper`.

    Self-stress is independent of the supports of a statically determinate beam.
    """
    for elements in (1, 5, 16):
        free, clamped = modes(free_beam(elements, pair=pair)), modes(clamped_beam(elements, pair=pair))
        assert (free.rigid, free.self_stress, len(free.frequencies)) == (3, self_stress, 3 * elements)
        assert (clamped.rigid, clamped.self_stress, len(clamped.frequencies)) == (0, self_stress, 3 * elements)


def test_zero_modes_of_a_four_bar_linkage():
    """Locked at the crank it only vibrates; on a hinge it has its one rigid motion."""
    locked, turning = modes(four_bar(weld)), modes(four_bar(hinge))
    assert (locked.rigid, turning.rigid) == (0, 1)
    assert (locked.self_stress, turning.self_stress) == (0, 0)
    velocities = 3 * (3 + 6)  # of three beams of two elements
    assert (len(locked.frequencies), len(turning.frequencies)) == (velocities - 9, velocities - 8 - 1)


def test_a_redundant_support_leaves_self_stress():
    """A beam on hinges at both ends carries one axial force that no motion relieves, with one velocity less."""
    mechanism = connect({"beam": beam(4)}, [hinge("beam.root", GROUND), hinge("beam.tip", GROUND)])
    found = modes(mechanism.linearize(mechanism.assemble()))
    assert (found.rigid, found.self_stress, len(found.frequencies)) == (0, 1, 11)


def test_a_body_without_joints_floats():
    """A mechanism of one unconnected body is the body."""
    mechanism = connect({"beam": beam()}, [])
    found = modes(mechanism.linearize(mechanism.assemble()))
    assert found.rigid == 3
    np.testing.assert_allclose(found.frequencies, eigenfrequencies(free_beam()), rtol=1e-10)


def test_a_spring_gives_a_rigid_bar_its_frequency():
    """ω = √(k/J), J = m L²/3 about the hinge."""
    bar = rigid.bar(2.0, 3.0)
    mechanism = connect({"bar": bar}, [hinge("bar.root", GROUND), torsion_spring("bar.root", GROUND, stiffness=5.0)])
    system = mechanism.linearize(mechanism.assemble({"bar": 0.7}))
    np.testing.assert_allclose(eigenfrequencies(system), [np.sqrt(5.0 / 4.0)], rtol=1e-14)
    np.testing.assert_allclose(np.sort(poles(system).imag), [-np.sqrt(1.25), np.sqrt(1.25)], rtol=1e-13)


def gyroscopic(seed, velocities=5, stresses=3):
    """A random lossless system with gyroscopic forces J_vv between its velocities."""
    n = velocities + stresses
    draw = np.random.default_rng(seed).standard_normal
    mass, compliance, strain, spin = draw((velocities,) * 2), draw((stresses,) * 2), draw((stresses, n)), draw((n, n))
    E, J = np.zeros((n, n)), np.zeros((n, n))
    E[:velocities, :velocities] = mass @ mass.T + np.eye(velocities)
    E[velocities:, velocities:] = compliance @ compliance.T + np.eye(stresses)
    J[:velocities, :velocities] = (spin - spin.T)[:velocities, :velocities]
    J[velocities:, :velocities] = strain[:, :velocities]
    J[:velocities, velocities:] = -strain[:, :velocities].T
    return LinearPHDAE(E, J, kinetic=np.arange(n) < velocities)


@pytest.mark.parametrize("velocities, zeros", [(5, 0), (4, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_gyroscopic_systems_have_real_frequencies(velocities, zeros, seed):
    """Those of numpy's unsymmetric eig(E⁻¹J), which knows nothing of the structure; an odd J has a zero."""
    system = gyroscopic(seed, velocities)
    found = modes(system)
    values = np.linalg.eigvals(np.linalg.solve(system.E, system.J))
    assert np.abs(values.real).max() < 1e-12 * np.abs(values).max()
    expected = np.sort(values.imag[values.imag > 1e-10])
    np.testing.assert_allclose(found.frequencies, expected, rtol=1e-11)
    assert (found.rigid, len(expected)) == (zeros, (velocities + 3) // 2)
    x = found.shapes
    np.testing.assert_allclose(1j * (system.E @ x) * found.frequencies, system.J @ x, atol=1e-11)
    np.testing.assert_allclose(x.conj().T @ system.E @ x, 2.0 * np.eye(len(expected)), atol=1e-12)


@pytest.mark.parametrize("mask", [None, "velocities"])
def test_the_hermitian_and_the_split_route_agree(mask):
    """Without a mask the same beam goes through the pencil (iJ, E)."""
    system = free_beam(3)
    kinetic = None if mask is None else system.kinetic
    bare = LinearPHDAE(full(system.E), full(system.J), kinetic=kinetic)
    found = modes(bare)
    # eigh of the pencil has absolute errors of eps · ω_max
    np.testing.assert_allclose(found.frequencies, eigenfrequencies(system), rtol=0, atol=1e-13 * found.frequencies[-1])
    assert found.rigid == 3


def damped_beam(mass, stiffness):
    return clamped_beam(4, damping=fem.Damping(mass=mass, stiffness=stiffness))


def test_dissipation_has_poles_and_no_frequencies():
    with pytest.raises(
        ValueError,
        match=r"frequencies.*modes need R = 0:.*system dissipates; use poles\(system\).*damping_ratios",
    ):
        eigenfrequencies(damped_beam(1.0, 0.0))


@pytest.mark.parametrize("mass, stiffness", [(3.0, 0.0), (0.0, 1e-5), (3.0, 1e-5)])
def test_poles_of_a_proportionally_damped_beam(mass, stiffness):
    """s² + 2ζω s + ω² = 0 with ζ = α/(2ω) + βω/2 for each undamped ω; stiff modes creep, ζ > 1.

    Unsymmetric eigenvalues carry errors of eps · |s|_max times the condition of the eigenvectors.
    """
    omega = eigenfrequencies(clamped_beam(4))
    ratio = mass / (2.0 * omega) + stiffness * omega / 2.0
    root = np.sqrt((ratio**2 - 1.0).astype(complex))
    expected = np.concatenate([omega * (-ratio + root), omega * (-ratio - root)])
    found = poles(damped_beam(mass, stiffness))
    assert len(found) == len(expected)
    assert np.all(np.diff(np.abs(found)) >= 0.0)
    assert found.real.max() <= 1e-10 * np.abs(found).max()
    distance = np.abs(found[:, None] - expected[None, :]) / np.abs(expected)
    assert distance.min(axis=0).max() < 1e-7
    assert distance.min(axis=1).max() < 1e-7


def test_poles_without_dissipation_are_the_frequencies():
    system = clamped_beam(4)
    found, omega = poles(system), eigenfrequencies(system)
    np.testing.assert_allclose(np.sort(found.imag), np.sort([*omega, *-omega]), atol=1e-12 * omega[-1])
    assert np.abs(found.real).max() < 1e-12 * omega[-1]


@pytest.mark.parametrize("seed", range(4))
def test_poles_lie_in_the_left_half_plane(seed):
    """Re s = −xᴴR x / xᴴE x for a random system with dissipation in two directions."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, loss = draw((7, 7)), draw((7, 7)), draw((7, 2))
    system = LinearPHDAE(root @ root.T + np.eye(7), free - free.T, loss @ loss.T, G=draw((2, 7)))
    found = poles(system)
    assert len(found) == 5
    assert found.real.max() <= 1e-12
    assert found.real.min() < -1e-3


def test_poles_of_a_damped_solid_are_those_of_its_modes():
    """s² + (α + βω²) s + ω² = 0 for each undamped frequency ω, though compliances are 1e-13 of the masses."""

    def bar(**damping):
        steel = fem.Material(young=2.1e11, poisson=0.3, density=7800.0)
        mesh = fem.box_mesh((1.0, 0.1, 0.1), (3, 1, 1))
        solid = fem.solid(mesh, steel, ports={"l": lambda x: x[0] < 1e-6}, reference="l", degree=2, **damping)
        mechanism = connect({"bar": solid}, [weld("bar.l", GROUND)])
        return mechanism.linearize(mechanism.assemble())

    mass, stiffness = 3.0, 1e-6
    found = poles(bar(damping=fem.Damping(mass=mass, stiffness=stiffness)))
    vibrations = modes(bar())
    squares = vibrations.frequencies[::-1] ** 2
    wanted = np.concatenate([np.roots([1.0, mass + stiffness * square, square]) for square in squares])
    size = np.abs(wanted).max()
    assert found.size == wanted.size + vibrations.rigid + vibrations.self_stress
    assert found.real.max() < 1e-14 * size
    distances = np.abs(found[np.abs(found) > 1e-12 * size][:, None] - wanted)
    np.testing.assert_allclose(distances.min(axis=0) / np.abs(wanted), 0.0, atol=1e-8)
    assert distances.min(axis=1).max() < 1e-12 * size
