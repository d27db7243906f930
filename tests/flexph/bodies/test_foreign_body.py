"""Bodies from matrices and modes of other programs: written by scikit-fem and by our own beams, read back as files."""

import re

import meshio
import numpy as np
import pytest
import scipy.linalg
import skfem
from scipy import sparse
from scipy.io import mmwrite
from skfem.helpers import dot
from skfem.models.elasticity import lame_parameters, linear_elasticity
from spatial_bodies import random_rotation

import fem
import rigid
from flexph import GROUND, connect, eigenfrequencies, eliminate, hinge, integrate, poles, revolute, spherical
from flexph.bodies import floating_body, linear_body, peak_von_mises, stress_error, tensors, von_mises
from flexph.bodies.basis import body_basis
from flexph.bodies.foreign.from_matrices import body_from_matrices
from flexph.bodies.foreign.from_modes import body_from_modes
from flexph.bodies.reduced_body import reduce_body
from flexph.export import write_series
from flexph.interconnection import constrain
from flexph.numerics.rotations import rigid_motions
from flexph.results.statics import static_solution

DENSITY = 1100.0
SIZE = (1.0, 0.1, 0.06)
CORNERS = [0, 3, 6, 2, 1, 5, 7, 4]  # of a hexahedron: from the order of scikit-fem to that of meshio


class Block:
    """A block of 6 x 2 x 1 linear hexahedra: X, M, K and the end faces."""

    def __init__(self, count=(6, 2, 1)):
        mesh = skfem.MeshHex.init_tensor(*(np.linspace(0.0, s, k + 1) for s, k in zip(SIZE, count, strict=True)))
        basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementHex1()), intorder=4)
        self.K = linear_elasticity(*lame_parameters(2e9, 0.3)).assemble(basis)
        self.M = skfem.BilinearForm(lambda u, v, w: DENSITY * dot(u, v)).assemble(basis)
        self.X, self.cells = mesh.p.T, mesh.t.T[:, CORNERS]
        self.root, self.tip = (np.flatnonzero(self.X[:, 0] == x) for x in (0.0, SIZE[0]))
        self.ports = {"root": self.root, "tip": self.tip, "corner": int(self.tip[-1])}

    def body(self, **options):
        return body_from_matrices(self.M, self.K, self.X, **{"ports": self.ports, **options})


@pytest.fixture(scope="module")
def block():
    return Block()


def dense(a):
    return a.toarray() if sparse.issparse(a) else np.asarray(a)


def exact_frequencies(block, free=slice(None)):
    K, M = block.K.toarray()[free][:, free], block.M.toarray()[free][:, free]
    return np.sqrt(np.maximum(scipy.linalg.eigh(K, M, eigvals_only=True), 0.0))


def test_inertia_is_that_of_the_mesh(block):
    """Mass, centre and moments of a rigid solid that fills the same cells: linear elements integrate them exactly."""
    body = block.body(modes=3, cells=("hexahedron", block.cells))
    solid = rigid.solid(meshio.Mesh(block.X, [("hexahedron", block.cells)]), density=DENSITY, ports={"p": (0, 0, 0)})
    assert body.mass == pytest.approx(solid.mass, rel=1e-12)  # round-off
    np.testing.assert_allclose(body.centre, solid.centre, atol=1e-12)
    np.testing.assert_allclose(body.moments, solid.moments, atol=1e-12 * solid.moments.max())


def test_a_free_body_has_the_frequencies_of_its_pencil(block):
    """Of the free body: the lowest frequencies of the pencil (K, M) without its six zeros."""
    body = block.body(modes=8)
    np.testing.assert_allclose(
        eigenfrequencies(linear_body(body, "b"), 8), exact_frequencies(block)[6:14], rtol=1e-8
    )  # round-off of ω² against the highest frequency


def test_a_fixed_body_has_the_clamped_frequencies(block):
    """With a face fixed and its modes taken, the clamped body has the clamped frequencies."""
    body = block.body(modes=6, fixed=block.root)
    system = linear_body(body, "b")
    held = constrain(system, np.eye(6, system.size))
    free = np.setdiff1d(np.arange(block.X.size), (3 * block.root[:, None] + np.arange(3)).ravel())
    np.testing.assert_allclose(eigenfrequencies(held, 6), exact_frequencies(block, free)[:6], rtol=1e-8)


def test_large_models_agree_with_small_ones(block, monkeypatch):
    """Lanczos and dense modes span the same space: equal frequencies, equal port rows up to a sign."""
    one = block.body(modes=5)
    monkeypatch.setattr("flexph.bodies.foreign.from_matrices.DENSE_LIMIT", 10)
    other = block.body(modes=5)
    for a, b in ((one, other),):
        np.testing.assert_allclose(a.elasticity.compliance.diagonal(), b.elasticity.compliance.diagonal(), rtol=1e-8)
        moved = [np.abs(dense(body.ports["tip"].shape)) for body in (a, b)]
        np.testing.assert_allclose(*moved, atol=1e-6)  # vectors have half the digits of frequencies


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "free"])
def test_static_vectors_give_exact_responses(block, fixed):
    """Under a force at the tip: the displacement of the fixed block, and of the free one relative to the mean."""
    body = block.body(static=("tip",), fixed=block.root if fixed else ())
    force = np.zeros(block.X.size)
    force[3 * block.tip + 1] = 1.0 / len(block.tip)
    K, M = block.K.toarray(), block.M.toarray()
    if fixed:
        free = np.setdiff1d(np.arange(block.X.size), (3 * block.root[:, None] + np.arange(3)).ravel())
        full = np.zeros_like(force)
        full[free] = np.linalg.solve(K[free][:, free], force[free])
    else:  # K u = f − MRa, RᵀMu = 0
        x, y, z = block.X.T
        o, i = np.zeros_like(x), np.ones_like(x)
        R = np.array([[i, o, o], [o, i, o], [o, o, i], [o, -z, y], [z, o, -x], [-y, x, o]])
        R = R.transpose(2, 1, 0).reshape(-1, 6)
        whole = np.block([[K, M @ R], [(M @ R).T, np.zeros((6, 6))]])
        full = np.linalg.solve(whole, np.append(force, np.zeros(6)))[:-6]
    tip = dense(body.ports["tip"].shape)
    D, C = dense(body.elasticity.strain), dense(body.elasticity.compliance)
    moved = tip @ np.linalg.solve(D.T @ np.linalg.solve(C, D), tip[1])
    np.testing.assert_allclose(moved, full.reshape(-1, 3)[block.tip].mean(axis=0), atol=1e-8 * np.abs(moved).max())


@pytest.mark.parametrize("free", [True, False])
def test_the_energy_is_that_of_the_moved_nodes(block, free):
    """H of the body is ½ẋᵀMẋ + ½qᵀKq − Σ m g·x of the moved nodes, x = r + R(X + Φu), at any motion."""
    rng = np.random.default_rng(0)
    phi = np.linalg.qr(rng.standard_normal((block.X.size, 4)))[0]  # any shapes: not even smooth ones
    body = block.body(shapes=phi)
    R, r, v, w = random_rotation(rng), *rng.standard_normal((3, 3))
    u, du = 0.1 * rng.standard_normal(4), rng.standard_normal(4)
    local = block.X + (phi @ u).reshape(-1, 3)
    rates = (v + np.cross(w, local) + (phi @ du).reshape(-1, 3)) @ R.T
    gravity = np.array([1.0, 2.0, -9.81])
    weight = np.asarray(block.M.sum(axis=0)).reshape(-1, 3)
    expected = 0.5 * rates.ravel() @ block.M @ rates.ravel() + 0.5 * (phi @ u) @ block.K @ (phi @ u)
    expected -= np.sum(weight * gravity * (r + local @ R.T))
    sigma = np.linalg.solve(dense(body.elasticity.compliance), body.elasticity.strain @ u)
    x = np.concatenate([r, R.ravel(), u, v, w, du, sigma])
    assert floating_body(body, gravity=gravity).H(x) == pytest.approx(expected, rel=1e-12)  # round-off


def test_ports_see_rigid_and_mean_motion(block):
    """A linear field: the mean at the centre, and its skew part as the rotation of a square face."""
    G = 0.01 * np.random.default_rng(1).standard_normal((3, 3))
    phi = (block.X @ G.T).reshape(-1, 1)
    rest = block.body(shapes=phi + 0.0)
    port = rest.ports["tip"]
    np.testing.assert_allclose(port.position, [1.0, 0.05, 0.03], atol=1e-15)
    np.testing.assert_allclose(dense(port.shape).ravel(), G @ port.position, atol=1e-15)
    # e_x × about the face normal: the y–z part of G weighted by the face's own moments, the others from one column
    face = block.X[block.tip] - port.position
    y2, z2 = np.mean(face[:, 1] ** 2), np.mean(face[:, 2] ** 2)
    expected = [(y2 * G[2, 1] - z2 * G[1, 2]) / (y2 + z2), G[0, 2], -G[0, 1]]
    np.testing.assert_allclose(dense(port.rotation).ravel(), expected, atol=1e-14)
    assert rest.ports["corner"].rotation is None


def test_a_run_writes_its_files(block, tmp_path):
    """Matrix Market, .npz and .npy: the same body."""
    mmwrite(tmp_path / "M.mtx", block.M, precision=17)
    sparse.save_npz(tmp_path / "K.npz", sparse.csr_array(block.K))
    phi = np.linalg.qr(np.random.default_rng(0).standard_normal((block.X.size, 3)))[0]
    np.save(tmp_path / "phi.npy", phi)
    read = body_from_matrices(
        tmp_path / "M.mtx", str(tmp_path / "K.npz"), block.X, ports=block.ports, shapes=tmp_path / "phi.npy"
    )
    given = block.body(shapes=phi)
    for name in ("second", "shape_first", "shape_lever"):
        np.testing.assert_allclose(getattr(read.inertia, name), getattr(given.inertia, name), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(dense(read.elasticity.compliance), dense(given.elasticity.compliance), rtol=1e-13)


def test_printed_digits_are_enough(block, tmp_path):
    """Seven digits: frequencies to six."""
    mmwrite(tmp_path / "M.mtx", block.M, precision=8, symmetry="general")
    mmwrite(tmp_path / "K.mtx", block.K, precision=10, symmetry="general")
    read = body_from_matrices(tmp_path / "M.mtx", tmp_path / "K.mtx", block.X, ports={}, modes=4)
    exact = exact_frequencies(block)[6:10]
    np.testing.assert_allclose(eigenfrequencies(linear_body(read, "b"), 4), exact, rtol=1e-5)


def test_pendulum_of_a_truss():
    """Bars in the plane, their matrices by hand: it swings as a rigid body does, ω² = m g s / J."""
    count, length = 4, 0.5
    X, bars = truss(count, length)
    K, M = truss_matrices(X, bars, 2e5, 0.1)
    body = body_from_matrices(M, K, X, ports={"pin": [0, 1], "tip": 2 * count}, modes=5)
    mechanism = connect({"arm": body}, [hinge("arm.pin", GROUND)], gravity=(0.0, -9.81))
    hanging = mechanism.equilibrium(mechanism.assemble({"arm": -np.pi / 2}))
    low = mechanism.spectrum(hanging).frequencies[0]
    lever = np.linalg.norm(body.centre - body.ports["pin"].position)
    J = float(body.moments[0, 0]) + body.mass * lever**2
    assert low == pytest.approx(np.sqrt(body.mass * 9.81 * lever / J), rel=1e-3)  # (ω_rigid/ω_elastic)² is 1e-4


def truss(count, length):
    """A ladder of 2 x (count + 1) nodes and its bars."""
    X = np.array([(length * i, y) for i in range(count + 1) for y in (0.0, 0.3)])
    bars = [(2 * i, 2 * i + 1) for i in range(count + 1)]
    for i in range(count):
        a = 2 * i
        bars += [(a, a + 2), (a + 1, a + 3), (a, a + 3), (a + 1, a + 2)]
    return X, bars


def truss_matrices(X, bars, rigidity, line_density):
    K, m = np.zeros((X.size,) * 2), np.zeros((len(X),) * 2)
    for a, b in bars:
        span = X[b] - X[a]
        length = np.linalg.norm(span)
        row = np.zeros(X.size)
        row[2 * a : 2 * a + 2], row[2 * b : 2 * b + 2] = -span / length, span / length
        K += rigidity / length * np.outer(row, row)
        m[np.ix_([a, b], [a, b])] += line_density * length / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
    return K, np.kron(m, np.eye(2))


def test_block_and_beam_swing_alike(tmp_path):
    """A slender block of quadratic solid elements, through files, and a beam of ours with its section, on a hinge."""
    solid = skfem.MeshHex.init_tensor(np.linspace(0.0, 1.0, 7), np.array([0.0, 0.05]), np.array([0.0, 0.05]))
    basis = skfem.Basis(solid, skfem.ElementVector(skfem.ElementHex2()), intorder=4)
    mmwrite(tmp_path / "K.mtx", linear_elasticity(*lame_parameters(2e9, 0.0)).assemble(basis), precision=16)
    mass = skfem.BilinearForm(lambda u, v, w: DENSITY * dot(u, v)).assemble(basis)
    mmwrite(tmp_path / "M.mtx", mass, precision=16)
    X = basis.doflocs[:, ::3].T
    ends = {name: np.flatnonzero(X[:, 0] == x) for name, x in (("root", 0.0), ("tip", 1.0))}
    body = body_from_matrices(tmp_path / "M.mtx", tmp_path / "K.mtx", X, ports=ends, modes=8, static=("root",))
    section = fem.Section(width=0.05, height=0.05)
    beam = fem.beam(1.0, fem.Material(young=2e9, density=DENSITY, poisson=0.0), section, elements=8, dim=3)
    found = []
    for arm in (body, beam):
        pin = revolute("arm.root", GROUND.at(*arm.ports["root"].position), axis=(0, 0, 1))
        mechanism = connect({"arm": arm}, [pin])
        pose = mechanism.assemble({"arm": np.eye(3)})
        found.append(eigenfrequencies(eliminate(mechanism.linearize(pose)), 3))
    np.testing.assert_allclose(found[0], found[1], rtol=0.02)  # shear, which our beam has not: (kh)²


def test_a_pendulum_of_matrices_is_balanced_and_exported(block, tmp_path):
    """A pendulum in space: balanced to round-off, exported with its stresses."""
    strain = sparse.csr_array((np.ones(len(block.cells)), (range(len(block.cells)), 3 * block.cells[:, 0])))
    strain.resize(len(block.cells), block.X.size)
    body = block.body(
        modes=4,
        static=("tip",),
        fixed=block.root,
        stiffness_damping=1e-5,
        damping=0.3 * block.M,
        cells=("hexahedron", block.cells),
        stresses={"corner": ("m", strain)},
    )
    mechanism = connect({"arm": body}, [spherical("arm.root", GROUND)], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"arm": np.eye(3)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 41), progress=False)
    assert run.ledger.largest_residual < 1e-13  # round-off
    assert run.ledger.dissipation["arm"].sum() > 0.0
    assert len(write_series(tmp_path / "arm.pvd", run, frames=2)) == 3
    # the stress is a linear map of nodal displacements: seen through σ = C⁻¹Du and through u alike
    u, field = run.deformation("arm")[-1], body.view.stresses["corner"]
    sigma = body.elasticity.stress_of(u)
    expected = strain @ (body.view.shape @ u)
    np.testing.assert_allclose(field.cells @ sigma, expected, atol=1e-12 * np.abs(expected).max() + 1e-18)


STRESS = {
    "nodes, 6, modes": lambda s: s,
    "modes, nodes, 6": lambda s: np.moveaxis(s, 2, 0),
    "nodes, modes, 6": lambda s: np.swapaxes(s, 1, 2),
    "rows": lambda s: s.reshape(-1, s.shape[2]),
}


@pytest.mark.parametrize("axes", STRESS)
@pytest.mark.parametrize("place", ["nodes", "cells"])
def test_stresses_of_modes_are_taken_as_they_come(block, axes, place, tmp_path):
    """The stress of a state is the sum of those of its modes: at the points, as means, and in files."""
    rng, k = np.random.default_rng(3), 3
    phi = np.linalg.qr(rng.standard_normal((block.X.size, k)))[0]
    given = rng.standard_normal((len(block.X) if place == "nodes" else len(block.cells), 6, k))
    stresses = {"stress": ("Pa", STRESS[axes](given))}
    body = block.body(shapes=phi, cells=("hexahedron", block.cells), stresses=stresses)
    u = rng.standard_normal(k)
    field, sigma = body.view.tensors["stress"], body.elasticity.stress_of(u)
    own = given @ u
    expected = own[block.cells] if place == "nodes" else own[:, None]
    np.testing.assert_allclose(tensors(field.at, sigma), expected.reshape(-1, 6), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(tensors(field.cells, sigma), expected.mean(axis=1), rtol=1e-8, atol=1e-10)
    peak = von_mises(expected).max(axis=1)
    np.testing.assert_allclose(peak_von_mises(field, sigma), peak, rtol=1e-8)
    if axes == "rows":
        mechanism = connect({"arm": body}, [])
        start = mechanism.consistent_state(mechanism.assemble({"arm": np.eye(3)}))
        assert len(write_series(tmp_path / "arm.pvd", static_solution(mechanism, start), discontinuous=True)) == 2
        with pytest.raises(ValueError, match="energies of stresses need compliances"):
            stress_error(field, sigma)


def test_stresses_that_fit_in_no_or_two_ways_are_refused(block):
    phi = np.linalg.qr(np.random.default_rng(3).standard_normal((block.X.size, 6)))[0]
    cells = ("hexahedron", block.cells)
    six = np.zeros((len(block.X), 6, 6))
    with pytest.raises(ValueError, match=r"shape \(42, 6, 6\) fits.*more than one way: write .* \* 6, modes"):
        block.body(shapes=phi, cells=cells, stresses={"s": ("Pa", six)})
    made = block.body(shapes=phi, cells=cells, stresses={"s": ("Pa", six.reshape(-1, 6))})
    assert made.view.tensors["s"].unit == "Pa"
    with pytest.raises(ValueError, match=r"of modes must.*axes.*locations \(42 nodes, 12 cells\).* does not"):
        block.body(shapes=phi, cells=cells, stresses={"s": ("Pa", np.zeros((42, 5, 6)))})
    with pytest.raises(ValueError, match=r"axes of locations \(12 cells\).* does not"):
        block.body(shapes=phi[:, :4], cells=cells, stresses={"s": ("Pa", np.zeros((42, 6, 4)), "cells")})
    with pytest.raises(ValueError, match=r"stress 's' of modes needs .*shapes="):
        block.body(modes=4, cells=cells, stresses={"s": ("Pa", np.zeros((42, 6, 4)))})


def test_no_shapes_make_a_rigid_body(block):
    body = block.body()
    assert body.size == 0 and body.elasticity is None
    mechanism = connect({"arm": body}, [revolute("arm.corner", GROUND.at(*block.X[block.tip[-1]]), axis=(0, 0, 1))])
    assert mechanism.linearize(mechanism.assemble({"arm": np.eye(3)})).size == 6


def test_foreign_bodies_can_be_reduced(block):
    body = reduce_body(block.body(modes=10), modes=4)
    np.testing.assert_allclose(eigenfrequencies(linear_body(body, "b"), 4), exact_frequencies(block)[6:10], rtol=1e-8)


# --- modes alone


def modal(block, count=6):
    """Lumped masses, frequencies and mass-normalised modes of the free block with them."""
    lumps = np.asarray(block.M.sum(axis=0)).reshape(-1, 3)[:, 0]
    values, vectors = scipy.linalg.eigh(block.K.toarray(), np.diag(np.repeat(lumps, 3)))
    return lumps, np.sqrt(values[6 : 6 + count]), vectors[:, 6 : 6 + count]


def test_modes_keep_frequencies_and_ratios(block):
    lumps, omega, phi = modal(block)
    ratios = np.array([0.01, 0.02, 0.0, 0.3, 0.05, 0.1])
    body = body_from_modes(phi * (1.0, 2.0, 3.0, 1.0, 1.0, 1.0), omega, block.X, masses=lumps, ports=block.ports,
                           ratios=ratios)  # fmt: skip
    assert body.mass == pytest.approx(lumps.sum(), rel=1e-14)
    found = poles(linear_body(body, "b"))
    found = found[found.imag > 1e-6 * omega[0]]
    np.testing.assert_allclose(np.abs(found), omega, rtol=1e-9)  # round-off
    np.testing.assert_allclose(-found.real / np.abs(found), ratios, atol=1e-9)


def test_consistent_modes_with_lumped_masses(block):
    """Modes of the consistent mass matrix keep their frequencies although lumped masses couple them a little."""
    body = block.body(modes=5)
    phi, omega = dense(block.body(modes=5, cells=("hexahedron", block.cells)).view.shape), exact_frequencies(block)
    lumps = modal(block)[0]
    made = body_from_modes(phi, omega[6:11], block.X, masses=lumps, ports=block.ports)
    assert made.mass == pytest.approx(body.mass)
    system = linear_body(made, "b")
    held = constrain(system, np.eye(6, system.size))
    np.testing.assert_allclose(eigenfrequencies(held, 5), omega[6:11], rtol=1e-9)


def test_modes_of_a_beam_of_ours():
    """Modes of a planar beam at 41 stations with lumped masses: the beam itself, to the square of their distance."""
    stations = np.linspace(0.0, 1.0, 41)
    names = {f"s{i}": float(x) for i, x in enumerate(stations)}
    material, section = fem.Material(young=2e9, density=DENSITY), fem.Section(width=0.02, height=0.03)
    beam = fem.beam(1.0, material, section, elements=8, reference="simply_supported", stations=names)
    T = body_basis(beam, modes=6)
    phi = np.vstack([dense(beam.ports[name].shape) for name in names]) @ T
    omega = np.sqrt(1.0 / reduce_body(beam, modes=6).elasticity.compliance.diagonal() / beam.mass)
    lumps = beam.mass / 40 * np.r_[0.5, np.ones(39), 0.5]
    X = np.column_stack([stations, 0.0 * stations])
    made = body_from_modes(phi, omega, X, masses=lumps, ports={"root": 0, "tip": 40})
    found = []
    for arm in (made, reduce_body(beam, modes=6)):
        mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND)])
        found.append(eigenfrequencies(eliminate(mechanism.linearize(mechanism.assemble({"arm": 0.0}))), 3))
    np.testing.assert_allclose(found[0], found[1], rtol=5e-3)  # J of the lumps is off by 1/(2·40²), modes by more


# --- bad input


def bad(block):
    M, K, X = block.M, block.K, block.X
    few = {"ports": {"tip": 0}}
    coupled = sparse.lil_array(M)
    coupled[0, 1] = coupled[1, 0] = M[0, 0] * 0.2
    grounded = sparse.lil_array(K)
    grounded[4, 4] *= 1.5
    rigid_shape = np.tile([1.0, 0.0, 0.0], len(X))[:, None]
    bend = np.random.default_rng(0).standard_normal((X.size, 2))
    yield "rotations", (sparse.eye_array(2 * X.size), K, X), few, "mass must have shape.*rotational degrees of freedom"
    yield "coupled", (coupled, K, X), few, "mass must be equal in all directions and couple none.*M‖ = .e-"
    yield "grounded", (M, grounded, X), few, "stiffness must vanish on rigid motions.*at node 1"
    yield "skew", (M, K + sparse.csr_array(([1e6], ([0], [5])), shape=K.shape), X), few, "stiffness must be symmetric"
    yield "nan", (M * np.nan, K, X), few, "mass must be finite"
    yield "size", (M, sparse.eye_array(5), X), few, "stiffness must have shape"
    yield "scaled", (M, K, X[:, ::-1]), few, "stiffness must vanish on rigid motions"
    yield "port", (M, K, X), {"ports": {"tip": 999}}, "port 'tip' must be node numbers from 0 to"
    yield "twice", (M, K, X), {"ports": {"tip": [1, 1]}}, "port 'tip' must not name a node twice"
    yield "line", (M, K, X), {"ports": {"tip": block.tip[:2]}}, "port 'tip' must have nodes that do not lie on a line"
    yield "float", (M, K, X), {"ports": {"tip": 1.5}}, r"ports\['tip'\] must be a whole number, got 1\.5"
    yield "static", (M, K, X), {**few, "static": ("root",)}, "no port 'root'"
    yield (
        "text",
        (M, K, X),
        {"ports": {"tip": 0}, "static": "tip"},
        "static must be a list of names, got 'tip'",
    )
    yield "zero", (M, K, X), {**few, "shapes": bend * (1.0, 0.0)}, "shapes must move masses.* shape 1"
    corners = {**few, "cells": ("hexahedron", [[0, 1, 2]])}
    yield "corners", (M, K, X), corners, "cells of type 'hexahedron' must have 8 nodes each, got 3"
    higher = {**few, "cells": ("tetra10", [[0, 1, 2, 3]])}
    yield "higher", (M, K, X), higher, "cells of type 'tetra10' must have 10 nodes each, got 4"
    yield "kind", (M, K, X), {**few, "cells": ("brick", block.cells)}, "cells must be of a meshio type.*got 'brick'"
    yield "bare", (M, K, X), {**few, "cells": block.cells}, "cells must be a pair of names, got"
    yield "none", (M, K, X), {**few, "cells": ("tetra", np.zeros((0, 4), dtype=int))}, "cells must be .type, node"
    yield "fixed", (M, K, X), {**few, "modes": 2, "fixed": [0, 1]}, "fixed nodes must prevent every rigid motion"
    yield "many", (M, K, X), {**few, "modes": X.size}, "modes must be at most"
    yield "both", (M, K, X), {**few, "modes": 2, "shapes": bend}, "shapes= excludes modes="
    yield "shape", (M, K, X), {**few, "shapes": bend[1:]}, "shapes must have shape"
    yield (
        "rigid",
        (M, K, X),
        {**few, "shapes": np.hstack([bend, rigid_shape])},
        "without rigid motions.*shape 2",
    )
    yield "depend", (M, K, X), {**few, "shapes": bend[:, [0, 1, 0]]}, "independent.*shape 2"
    yield "negative", (M, -K, X), {**few, "shapes": bend}, "ΦᵀKΦ of the shapes must be positive definite"
    yield "loose", (M, 0.0 * K, X), {**few, "modes": 2}, "stiffness must be positive.* rigid motions"
    yield "damping", (M, K, X), {**few, "modes": 2, "damping": -M}, "damping must be positive semi-definite"
    yield "cells", (M, K, X), {**few, "cells": ("tetra", [[0, 1, 2, 999]])}, "cells must be"
    yield "stress", (M, K, X), {**few, "stresses": {"s": ("Pa", bend.T)}}, "stresses= needs cells="
    yield "plane", (M, K, X[:, :1]), few, "nodes must have shape"


NAMES = [name for name, *_ in bad(Block())]


@pytest.mark.processor
@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_refused(block, name):
    _, given, options, message = next(case for case in bad(block) if case[0] == name)
    with pytest.raises(ValueError, match=message):
        body_from_matrices(*given, **options)


def test_nodes_on_a_line_are_refused():
    """Bars in a row along x: they have no inertia about it."""
    chain = np.diag([1.0, 2.0, 1.0]) - np.eye(3, k=1) - np.eye(3, k=-1)
    X, K = np.outer(np.arange(3.0), (1.0, 0.0, 0.0)), np.kron(chain, np.diag([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match=r"mass must.* about every axis: nodes.* on one line"):
        body_from_matrices(np.eye(9), K, X, ports={}, shapes=np.eye(9)[:, [6]])


def test_damaged_files_are_refused(tmp_path, block):
    (tmp_path / "M.mtx").write_text("no matrix")
    with pytest.raises(ValueError, match=re.escape("mass cannot be read from")):
        body_from_matrices(tmp_path / "M.mtx", block.K, block.X, ports={})
    (tmp_path / "M.txt").write_text("no matrix")
    with pytest.raises(ValueError, match=r"mass cannot.*read.*M\.txt':.*no line.*begins"):
        body_from_matrices(tmp_path / "M.txt", block.K, block.X, ports={})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frequencies": [0.0] * 6}, "frequencies must be positive"),
        ({"frequencies": [1.0] * 5}, r"frequencies must have shape \(6,\)"),
        ({"ratios": 1.5}, "ratios must be at least 0 and below 1"),
        ({"masses": -1.0}, "masses must not be negative"),
        ({"shapes": 0.0}, "shapes must move masses"),
    ],
)
def test_bad_modes_are_refused(block, change, message):
    lumps, omega, phi = modal(block)
    frequencies = change.get("frequencies", omega)
    with pytest.raises(ValueError, match=message):
        body_from_modes(
            phi * change.get("shapes", 1.0),
            frequencies,
            block.X,
            masses=lumps * change.get("masses", 1.0),
            ports={},
            ratios=change.get("ratios", 0.0),
        )


def test_modes_of_other_masses_are_refused(block):
    lumps, omega, phi = modal(block)
    lumps = np.where(block.X[:, 0] > 0.5, lumps, 0.1 * lumps)
    with pytest.raises(ValueError, match=r"modes must be orthogonal.* masses"):
        body_from_modes(phi, omega, block.X, masses=lumps, ports={})


def test_matrices_in_other_units_are_the_same_body():
    """A cube of masses on springs in mm, t, N, s: mass, moments, stiffness and ports as in metres, to round-off."""
    nodes = 0.1 * np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    R = rigid_motions(nodes - nodes.mean(axis=0)).reshape(nodes.size, -1)
    K, M = 1e5 * (np.eye(nodes.size) - R @ np.linalg.pinv(R)), 0.2 * np.eye(nodes.size)
    given = {"ports": {"face": [0, 1, 2, 3]}, "modes": 4, "damping": 1e-3 * K}
    metres = body_from_matrices(M, K, nodes, **given)
    given["damping"] = given["damping"] * 1e-3
    other = body_from_matrices(1e-3 * M, 1e-3 * K, 1e3 * nodes, unit="1 mm", **given)
    assert other.mass == pytest.approx(1.6, rel=1e-12)
    np.testing.assert_allclose(other.moments, metres.moments, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(other.ports["face"].position, [0.0, 0.05, 0.05], atol=1e-15)
    for body in (metres, other):  # all vibrations have one frequency, √(k/m)
        D, C = body.elasticity.strain, body.elasticity.compliance
        stiffness = np.asarray(D.T @ np.linalg.solve(C.toarray(), D.toarray() if hasattr(D, "toarray") else D))
        M_u = sum(body.inertia.shape_pair[i][i] for i in range(3))
        M_u = M_u.toarray() if hasattr(M_u, "toarray") else M_u
        np.testing.assert_allclose(np.linalg.eigvals(np.linalg.solve(M_u, stiffness)).real, 5e5, rtol=1e-9)
    with pytest.raises(ValueError, match="unit must be left out with stresses"):
        body_from_matrices(M, K, nodes, unit="1 mm", stresses={"s": ("Pa", np.ones((1, 24)))}, **given)
    with pytest.raises(ValueError, match="unit must be a number with its unit, such as '1 mm', got 'mm'"):
        body_from_matrices(M, K, nodes, unit="mm", **given)
