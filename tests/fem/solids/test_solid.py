"""Solids and plane bodies: patch test, spectra, convergence, inertia, ports, loads, invariance.

Ten seconds, as spectra of ten kinds of cells are those of dense matrices.
"""

import pickle

import meshio
import numpy as np
import pytest
import skfem
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation
from skfem.helpers import ddot, dot, sym_grad, trace
from solid_meshes import DEGREE, PLANE, PRISMS, SOLID, box, plane_of

import fem
import rigid
from fem.meshes.reading import solid_mesh
from fem.solids.model import solid_model
from fem.solids.region_samples import facet_samples
from flexph import eigenfrequencies, modes
from flexph.bodies import energy_norm, principal_stresses, stress_error, tensors, von_mises
from flexph.bodies.floating.linear_system import linear_body
from flexph.bodies.inertia import contract
from flexph.meshes.blocks import cell_blocks
from flexph.numerics.checks import norm

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
SOFT = fem.Material(young=1.0, density=1.0, poisson=0.3)
LENGTHS = (1.0, 0.6, 0.5)


def lengths(kind):
    return LENGTHS[:2] if kind in PLANE else LENGTHS


def counts(kind, n=2):
    return (n,) * len(lengths(kind))


def static(body, force):
    """u and σ under generalised forces."""
    D, S = body.elasticity.strain.toarray(), body.elasticity.stiffness_of_stress
    u = np.linalg.solve(D.T @ (S @ D), force)
    return u, S @ (D @ u)


def loaded(body, **densities):
    """Generalised forces of uniform loads."""
    force = np.zeros(body.size)
    for name, density in densities.items():
        port = body.loads[name]
        force += port.shapes.T @ np.outer(port.measures, density).ravel()
    return force


# --- patch test -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOLID + PLANE)
def test_the_patch_test_holds(kind):
    """Traction σ n on all sides of a distorted mesh: constant stress at every point, in every kind of cell."""
    dim = len(lengths(kind))
    sides = ("left", "right", "front", "back", "bottom", "top")[: 2 * dim]
    body = fem.solid(
        box(kind, counts(kind, 4 - DEGREE[kind]), lengths(kind), moved=0.2),
        STEEL,
        loads={s: s for s in sides},
        **plane_of(kind),
    )
    stress = np.array([[2.0, 0.3, -0.2], [0.3, -1.0, 0.5], [-0.2, 0.5, 0.7]])[:dim, :dim]
    normals = {s: (-1.0 if i % 2 == 0 else 1.0) * np.eye(dim)[i // 2] for i, s in enumerate(sides)}
    _, sigma = static(body, loaded(body, **{s: stress @ n for s, n in normals.items()}))
    voigt = [stress[i, i] for i in range(dim)] + ([stress[1, 2], stress[0, 2], stress[0, 1]] if dim == 3 else [0.3])
    found = sigma.reshape(-1, len(voigt))
    assert np.abs(found - voigt).max() < 1e-11 * 2.0  # condition of the stiffness times round-off
    field = body.view.tensors["stress"]
    drawn = tensors(field.cells, sigma)
    assert drawn[..., [0, 1, 3]] == pytest.approx(np.broadcast_to([2.0, -1.0, 0.3], (len(drawn), 3)), abs=1e-11)
    assert stress_error(field, sigma).max() < 1e-10 * energy_norm(field, sigma)  # nothing to smooth


@pytest.mark.parametrize("kind", PLANE)
def test_patch_of_plane_strain(kind):
    """σ_zz = ν(σ_xx + σ_yy), and E' = E/(1 − ν²) along x under σ_xx alone."""
    body = fem.solid(
        box(kind, (2, 2), (1.0, 0.6), moved=0.2),
        SOFT,
        plane="strain",
        thickness=2.0,
        ports={"a": fem.Tie("left", "mean"), "b": fem.Tie("right", "mean")},
        loads={"right": "right", "left": "left"},
    )
    u, sigma = static(body, loaded(body, right=(1.0, 0.0), left=(-1.0, 0.0)))
    field = body.view.tensors["stress"]
    found = tensors(field.at, sigma)
    assert np.abs(found - [1.0, 0.0, 0.3, 0.0, 0.0, 0.0]).max() < 1e-11
    stretch = (body.ports["b"].shape @ u - body.ports["a"].shape @ u)[0]
    assert stretch == pytest.approx((1.0 - 0.3**2) * 1.0, rel=1e-11)
    assert energy_norm(field, sigma) ** 2 == pytest.approx(sigma @ (body.elasticity.compliance @ sigma), rel=1e-12)


# --- spectra ----------------------------------------------------------------------------------------------------------


ELEMENTS = {
    "tetra": skfem.ElementTetP1,
    "tetra10": skfem.ElementTetP2,
    "hexahedron": skfem.ElementHex1,
    "hexahedron27": skfem.ElementHex2,
    "triangle": skfem.ElementTriP1,
    "triangle6": skfem.ElementTriP2,
    "quad": skfem.ElementQuad1,
    "quad9": skfem.ElementQuad2,
}


DEAR = ("tetra10", "hexahedron27", "wedge15", "pyramid", "pyramid13")
"""Spatial elements of degree 2; those of the plane take a fifth of the time."""


def some(kinds):
    """Kinds, the dear ones among the slow tests."""
    return [pytest.param(kind, marks=pytest.mark.slow) if kind in DEAR else kind for kind in kinds]


CLASSES = {"tetra": skfem.MeshTet, "hexahedron": skfem.MeshHex, "triangle": skfem.MeshTri, "quad": skfem.MeshQuad}


def displacement_spectrum(kind, mesh):
    """All ω² of the displacement element, by scikit-fem's own assembly; plane strain in the plane."""
    element = ELEMENTS[kind]()
    basis = skfem.Basis(mesh, skfem.ElementVector(element), intorder=4 if DEGREE[kind] == 2 else 2)
    mu, lam = 1.0 / 2.6, 0.3 / (1.3 * 0.4)

    @skfem.BilinearForm
    def stiffness(u, v, w):
        return 2.0 * mu * ddot(sym_grad(u), sym_grad(v)) + lam * trace(sym_grad(u)) * trace(sym_grad(v))

    K, M = stiffness.assemble(basis), skfem.BilinearForm(lambda u, v, w: dot(u, v)).assemble(basis)
    return eigh(K.toarray(), M.toarray(), eigvals_only=True)


@pytest.mark.parametrize("kind", some(ELEMENTS))
def test_whole_spectrum_is_that_of_the_displacement_element(kind):
    """No spurious modes, no zero modes but rigid motions: every frequency is one of an independent assembly."""
    linear = kind.rstrip("0123456789")
    n = 1 if kind == "hexahedron27" else 2
    source = box(linear, counts(kind, n), lengths(kind))
    points, cells = source.points[:, : len(lengths(kind))], source.cells[0].data
    order = {"hexahedron": [0, 4, 3, 1, 7, 5, 2, 6]}.get(linear, range(cells.shape[1]))  # scikit-fem's corners
    mesh = CLASSES[linear](points.T.copy(), cells[:, order].T.copy())
    options = {"plane": "strain", "thickness": 1.0} if kind in PLANE else {}
    body = fem.solid(source, SOFT, degree=DEGREE[kind], **options)
    found = modes(linear_body(body, "b"))
    dim = body.dim
    want = displacement_spectrum(kind, mesh)
    rigid_motions = 3 if dim == 2 else 6
    assert found.rigid == rigid_motions
    assert found.frequencies**2 == pytest.approx(want[rigid_motions:], rel=1e-8)
    assert np.abs(want[:rigid_motions]).max() < 1e-9  # what the displacement element says of rigid motions


@pytest.mark.parametrize("kind", ["hexahedron20", "quad8", *PRISMS])
def test_serendipity_cells_have_no_spurious_modes(kind):
    mesh = box(kind, counts(kind, 1), lengths(kind))
    if kind in PRISMS:
        mesh.cells[0].data = mesh.cells[0].data[:1]
    nodes = np.unique(mesh.cells[0].data).size
    found = modes(linear_body(fem.solid(mesh, SOFT, **plane_of(kind)), "b"))
    assert found.rigid == (3 if kind == "quad8" else 6)
    assert len(found.frequencies) == (2 if kind == "quad8" else 3) * nodes - found.rigid


def axial_frequency(kind, n):
    """Frequency of the mode nearest to u_x = cos(πx) of a free bar without lateral contraction: exactly π.

    A bar of any section has it: cells of equal sides make one as thin as they are long.
    """
    dim = 2 if kind in PLANE else 3
    material = fem.Material(young=1.0, density=1.0, poisson=0.0)
    mesh = box(kind, (n, 1, 1)[:dim], (1.0, 1.0 / n, 1.0 / n)[:dim], symmetric=True)  # bending does not take part
    body = fem.solid(mesh, material, ports={"p": fem.Tie("left", "mean")}, reference="p", **plane_of(kind))
    found = modes(linear_body(body, "b"), 16)
    moving = found.shapes[: (3 if dim == 2 else 6) + body.size].real
    along = moving[0] + (body.view.shape @ moving[-body.size :]).reshape(len(body.view.points), dim, -1)[:, 0]
    want = np.cos(np.pi * body.view.points[:, 0])
    likeness = np.abs(want @ along) / np.linalg.norm(along, axis=0)
    return found.frequencies[np.argmax(likeness)]


@pytest.mark.parametrize("kind", some(SOLID + PLANE))
def test_frequencies_converge_from_above_at_their_order(kind):
    """Twice the degree, as theory says of eigenvalues, from above (a Ritz method)."""
    steps = (8, 16) if DEGREE[kind] == 1 else (4, 8)
    errors = [axial_frequency(kind, n) / np.pi - 1.0 for n in steps]
    assert 0.0 < errors[1] < (2e-3 if DEGREE[kind] == 1 else 4e-5)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2 * DEGREE[kind], abs=0.1)


# --- inertia, rotation, ports, loads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SOLID)
def test_mass_and_inertia_of_a_box(kind):
    body = fem.solid(box(kind, (2, 1, 1), LENGTHS, moved=0.0), STEEL)
    want = rigid.box(LENGTHS, density=7800.0)
    assert body.mass == pytest.approx(want.mass, rel=1e-13)
    assert body.centre == pytest.approx(np.array(LENGTHS) / 2, rel=1e-13)
    assert body.moments == pytest.approx(want.moments, rel=1e-12, abs=1e-10)


def test_frequencies_do_not_depend_on_how_a_mesh_lies():
    """Frequencies do not depend on how the mesh lies, of an anisotropic body if its axes are turned with it."""
    mesh, R = box("tetra10", (2, 1, 1), LENGTHS), Rotation.from_rotvec([0.4, -0.9, 0.7]).as_matrix()
    wood = {"young": (1.0, 0.1, 0.05), "poisson": (0.3, 0.4, 0.35), "shear": (0.08, 0.07, 0.01), "density": 1.0}
    turned = meshio.Mesh(mesh.points @ R.T + [0.3, 0.1, -2.0], mesh.cells)
    for material, other in ((SOFT, SOFT), (fem.Orthotropic(**wood), fem.Orthotropic(**wood, axes=R))):
        a, b = fem.solid(mesh, material), fem.solid(turned, other)
        want = eigenfrequencies(linear_body(a, "b"))
        assert eigenfrequencies(linear_body(b, "b")) == pytest.approx(want, rel=1e-9)
        assert b.moments == pytest.approx(R @ a.moments @ R.T, abs=1e-13)


def test_materials_are_one_another():
    """Isotropic as orthotropic and as anisotropic; E and G instead of E and ν."""
    E, nu, G = 2.0, 0.25, 0.8
    iso = fem.Material(young=E, density=1.0, poisson=nu)
    same = fem.Orthotropic(young=(E,) * 3, poisson=(nu,) * 3, shear=(G,) * 3, density=1.0)
    stiffness = np.linalg.inv(iso.compliance)
    turned = Rotation.from_rotvec([1.0, 0.3, -0.2]).as_matrix()
    for other in (same, fem.Anisotropic(stiffness=stiffness, density=1.0, axes=turned)):
        assert other.compliance == pytest.approx(iso.compliance, rel=1e-12, abs=1e-14)
    assert fem.Material(young=E, density=1.0, shear=G).compliance == pytest.approx(iso.compliance, rel=1e-14, abs=1e-15)


def test_a_turned_fibre_stretches_by_its_own_modulus():
    """A tension along a turned fibre stretches by 1/E_1."""
    R = Rotation.from_rotvec([0.2, 1.1, -0.5]).as_matrix()
    wood = fem.Orthotropic(young=(10.0, 1.0, 0.5), poisson=(0.3, 0.2, 0.4), shear=(0.6, 0.5, 0.1), density=1.0, axes=R)
    fibre = np.outer(R[:, 0], R[:, 0])
    stress = np.array([fibre[0, 0], fibre[1, 1], fibre[2, 2], fibre[1, 2], fibre[0, 2], fibre[0, 1]])
    e = wood.compliance @ stress
    strain = np.array([[e[0], e[5] / 2, e[4] / 2], [e[5] / 2, e[1], e[3] / 2], [e[4] / 2, e[3] / 2, e[2]]])
    own = R.T @ strain @ R
    assert own.diagonal() == pytest.approx([0.1, -0.03, -0.02], rel=1e-12)


RIGID = {
    "face": lambda x: x[0] > 0.999,
    "volume": lambda x: x[0] > 0.49,
    "edge": lambda x: (x[0] > 0.999) & (x[2] < 1e-9),
    "node": lambda x: (x[0] > 0.999) & (x[2] < 1e-9) & (x[1] < 1e-9),
}


@pytest.mark.parametrize(
    ("region", "how"), [*((region, "mean") for region in RIGID), ("face", "rigid"), ("volume", "rigid")]
)
def test_ports_follow_rigid_motions(region, how):
    """A body held at one face that is turned as a whole: every port moves by v + ω × X and turns by ω."""
    mesh = box("tetra10", (2, 1, 1), LENGTHS)
    body = fem.solid(mesh, STEEL, ports={"p": fem.Tie(RIGID[region], how), "q": fem.Tie("left", "mean")})
    # displacements that are closest to a linear field: its rigid part is not in the coordinates, so take differences
    W = np.array([[0.0, -0.3, 0.2], [0.3, 0.0, -0.5], [-0.2, 0.5, 0.0]])
    points, shape = body.view.points, body.view.shape.toarray()
    field = np.random.default_rng(0).standard_normal(body.size)
    moved = (shape @ field).reshape(-1, 3)
    motion = np.linalg.lstsq(
        np.hstack(
            [shape, np.tile(np.eye(3), (len(points), 1)), np.einsum("aij,nj->nia", _cross(), points).reshape(-1, 3)]
        ),
        (moved + points @ W.T + [1.0, 2.0, 3.0]).ravel(),
        rcond=None,
    )[0]
    port = body.ports["p"]
    u, _, spin = np.split(motion, [body.size, body.size + 3])
    assert spin == pytest.approx([0.5, 0.2, 0.3], abs=1e-9)  # what is not deformation is the rigid motion
    assert port.rotation @ (u - field) == pytest.approx(np.zeros(3), abs=1e-9)
    assert port.shape @ (u - field) == pytest.approx(np.zeros(3), abs=1e-9)


def _cross():
    from flexph.numerics.rotations import cross

    return cross(3)


def test_rotations_of_ports_are_those_of_linear_fields():
    """ψ of a twist and of a bend: rigid, mean, edge and node agree with the linear field they sample."""
    regions = {k: fem.Tie(v, "mean") for k, v in RIGID.items()}
    body = fem.solid(
        box("hexahedron20", (2, 1, 1), LENGTHS), STEEL, ports={**regions, "held": "left"}, reference="held"
    )
    x = body.view.points
    angle = 1e-3
    twist = np.column_stack([0 * x[:, 0], -angle * x[:, 0] * (x[:, 2] - 0.25), angle * x[:, 0] * (x[:, 1] - 0.3)])
    u = np.linalg.lstsq(body.view.shape.toarray(), twist.ravel(), rcond=None)[0]
    assert body.view.shape @ u == pytest.approx(twist.ravel(), abs=1e-14)
    assert body.ports["face"].rotation @ u == pytest.approx([angle, 0.0, 0.0], abs=1e-14)
    assert body.ports["face"].shape @ u == pytest.approx(np.zeros(3), abs=1e-14)
    assert body.ports["edge"].rotation @ u == pytest.approx([0.75 * angle, 0.0, 0.25 * 0.5 * angle], abs=1e-3 * 0.2)


def test_a_rigid_region_is_rigid_and_takes_coordinates_away():
    mesh = box("hexahedron", (3, 2, 2), LENGTHS)
    soft = fem.solid(mesh, STEEL, ports={"p": fem.Tie("right", "mean")})
    stiff = fem.solid(mesh, STEEL, ports={"p": "right"})
    assert stiff.size == soft.size - 9 * 3 + 6
    u = np.random.default_rng(0).standard_normal(stiff.size)
    points, moved = stiff.view.points, (stiff.view.shape @ u).reshape(-1, 3)
    at = points[:, 0] > 0.999
    port = stiff.ports["p"]
    want = port.shape @ u + np.cross(port.rotation @ u, points[at] - port.position)
    assert moved[at] == pytest.approx(want, abs=1e-13)
    first = eigenfrequencies(linear_body(stiff, "b"))[0], eigenfrequencies(linear_body(soft, "b"))[0]
    assert first[0] >= first[1]


@pytest.mark.parametrize("reference", ["rigid", "mean", "mean_axis"])
def test_references_are_of_one_free_body(reference):
    """A free body has the same frequencies whichever way its rigid motion is taken out of the deformation."""
    mesh = box("tetra", (2, 2, 1), LENGTHS)
    ports = {"mean": fem.Tie("left", "mean"), "rigid": "right"}
    body = fem.solid(mesh, SOFT, ports=ports, reference=reference)
    want = eigenfrequencies(linear_body(fem.solid(mesh, SOFT, ports={"rigid": "right"}), "b"))
    assert eigenfrequencies(linear_body(body, "b")) == pytest.approx(want, rel=1e-9)
    c = contract(body.inertia, about_centre=True)
    held = {"rigid": body.ports["rigid"], "mean": body.ports["mean"]}.get(reference)
    if held is None:
        assert np.abs(body.inertia.shape_first).max() < 1e-14 and np.abs(c.n).max() < 1e-14
    else:
        assert norm(held.shape) < 1e-13 and norm(held.rotation) < 1e-12


@pytest.mark.parametrize("kind", ["tetra10", "hexahedron20", "triangle6", "quad"])
def test_loads_do_their_exact_work(kind):
    """Uniform, facet by facet, and cell by cell: total force and moment, and each other."""
    regions = {
        "side": fem.Load("right"),
        "facets": fem.Load("right", uniform=False),
        "weight": fem.Load(lambda x: x[0] > -1.0, on="volume"),
        "cells": fem.Load(lambda x: x[0] > -1.0, on="volume", uniform=False),
    }
    body = fem.solid(box(kind, counts(kind), lengths(kind)), SOFT, loads=regions, **plane_of(kind))
    area = np.prod(lengths(kind)[1:]) * (0.3 if kind in PLANE else 1.0)
    assert body.loads["side"].measures == pytest.approx([area])
    assert body.loads["facets"].measures.sum() == pytest.approx(area)
    assert body.loads["weight"].measures == pytest.approx([area])  # of unit length
    density = np.arange(1.0, body.dim + 1.0)
    one = lambda name: loaded(body, **{name: density})  # noqa: E731

    def each(name):
        return loaded(body, **{name: density})

    assert each("facets") == pytest.approx(one("side"), abs=1e-14)
    assert each("cells") == pytest.approx(one("weight"), abs=1e-14)
    assert one("weight") == pytest.approx(body.inertia.shape_first.T @ density, abs=1e-14)  # unit density
    assert body.loads["weight"].positions[0] == pytest.approx(body.centre)


@pytest.mark.parametrize("kind", SOLID + PLANE)
def test_normals_point_outwards(kind):
    """On every side of a box; over the whole surface they add up to nothing, and ∮X·n is the volume, d times."""
    whole = {"all": fem.Load(lambda x: x[0] > -1.0, on="surface", uniform=False)}
    sides = ("left", "right", "front", "back", "bottom", "top")[: 2 * len(lengths(kind))]
    body = fem.solid(
        box(kind, counts(kind, 1), lengths(kind)), SOFT, loads=whole | {s: s for s in sides}, **plane_of(kind)
    )
    for i, side in enumerate(sides):
        assert body.loads[side].normals == pytest.approx((2.0 * (i % 2) - 1.0) * np.eye(body.dim)[[i // 2]], abs=1e-14)
    port = body.loads["all"]
    assert port.measures @ port.normals == pytest.approx(np.zeros(body.dim), abs=1e-14)
    flux = np.einsum("k,ki,ki->", port.measures, port.positions, port.normals)
    assert flux == pytest.approx(body.dim * body.mass, rel=1e-13)  # unit density


def test_stress_measures_are_those_of_matrices():
    rng = np.random.default_rng(0)
    s = rng.standard_normal((5, 6))
    matrices = s[:, [[0, 3, 5], [3, 1, 4], [5, 4, 2]]]
    assert principal_stresses(s).sum(axis=1) == pytest.approx(np.einsum("kii->k", matrices))
    deviator = matrices - np.einsum("kii->k", matrices)[:, None, None] / 3.0 * np.eye(3)
    assert von_mises(s) == pytest.approx(np.sqrt(1.5 * np.einsum("kij,kij->k", deviator, deviator)))
    assert von_mises(np.array([3.0, 0, 0, 0, 0, 0])) == pytest.approx(3.0)


def test_mixed_cells_pass_the_patch_test():
    """Quadrilaterals and triangles in one plane body: the patch test holds."""
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2.0, 1]], dtype=float)
    mesh = meshio.Mesh(points, [("quad", [[0, 1, 2, 3]]), ("triangle", [[1, 4, 5], [1, 5, 2]])])
    for degree in (1, 2):
        body = fem.solid(
            mesh,
            SOFT,
            degree=degree,
            plane="stress",
            thickness=1.0,
            loads={"l": lambda x: x[0] < 1e-9, "r": lambda x: x[0] > 1.999},
        )
        _, sigma = static(body, loaded(body, l=(-1.0, 0.0), r=(1.0, 0.0)))
        assert sigma.reshape(-1, 3) == pytest.approx(np.tile([1.0, 0.0, 0.0], (len(sigma) // 3, 1)), abs=1e-12)
        assert body.view.cell_type == "triangle" and len(body.view.cells) == 4


@pytest.mark.parametrize("degree", [1, 2])
def test_mixed_cells_of_space_pass_the_patch_test(degree):
    """A hexahedron, wedges at its side, a pyramid on its top, and tetrahedra: linear fields are exact."""
    xy = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0.1), (2, 1.1)]
    points = np.array(
        [[x, y, z + 0.1 * x * (z > 0)] for z in (0.0, 1.0) for x, y in xy] + [[0.4, 0.6, 2.0], [1.8, 0.4, 1.9]]
    )
    cells = [
        ("hexahedron", [[0, 1, 2, 3, 6, 7, 8, 9]]),
        ("wedge", [[1, 4, 5, 7, 10, 11], [1, 5, 2, 7, 11, 8]]),
        ("pyramid", [[6, 7, 8, 9, 12]]),
        ("tetra", [[7, 8, 12, 13], [7, 11, 8, 13]]),
    ]
    mesh = meshio.Mesh(points, cells)
    model = solid_model(solid_mesh(mesh, plane=False, degree=degree), SOFT, plane=None, thickness=None)
    gradient = np.random.default_rng(0).standard_normal((3, 3))
    moved = model.mesh.points @ gradient.T
    strain = 0.5 * (gradient + gradient.T)
    want = np.array(
        [strain[0, 0], strain[1, 1], strain[2, 2], *(2.0 * strain[i, j] for i, j in ((1, 2), (0, 2), (0, 1)))]
    )
    found = (model.strain @ moved.ravel()).reshape(-1, 6) / model.weights[:, None]
    np.testing.assert_allclose(found, np.tile(want, (len(found), 1)), atol=1e-12)
    sigma = np.linalg.solve(model.compliances[0], want)
    forces = (model.strain.T @ np.tile(sigma, len(found))).reshape(-1, 3)
    xx, yy, zz, yz, xz, xy = sigma
    stress, tractions = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), np.zeros_like(forces)
    for nodes, shapes, area, _, normal in facet_samples(model, model.mesh.facets.places[model.mesh.facets.boundary]):
        own = np.einsum("kq,qn,kqj,ij->kni", area, shapes, normal, stress)
        np.add.at(tractions, nodes, own)
    np.testing.assert_allclose(forces, tractions, atol=1e-12)  # by the theorem of Gauss; inner nodes have none
    assert {b.kind.name for b in model.mesh.blocks} == (
        {kind for kind, _ in cells} if degree == 1 else {"hexahedron20", "wedge15", "pyramid13", "tetra10"}
    )


def test_faces_with_and_without_nodes_in_their_middle_are_refused():
    hexahedra = box("hexahedron27", (1, 1, 1), (1.0, 1.0, 1.0))
    wedges = box("wedge15", (1, 1, 1), (1.0, 1.0, 1.0))
    points = np.vstack([hexahedra.points, wedges.points + np.array([1.0, 0.0, 0.0])])
    cells = [(hexahedra.cells[0].type, hexahedra.cells[0].data), ("wedge15", wedges.cells[0].data + 27)]
    with pytest.raises(ValueError, match="mesh must have hexahedra of 20 nodes with wedge15: those of 27 have"):
        fem.solid(meshio.Mesh(points, cell_blocks(cells)), STEEL)


def test_bodies_can_be_pickled():
    """For runs in several processes, whatever named their regions."""
    ports = {"root": "left", "tip": lambda x: x[0] > 0.999}
    body = fem.solid(
        box("hexahedron", (2, 1, 1), (1.0, 1.0, 1.0)),
        fem.Material(young=1.0, density=1.0, poisson=0.3),
        ports=ports,
        reference="root",
        loads={"wind": "back"},
        sections={"cut": "right"},
    )
    copy = pickle.loads(pickle.dumps(body))
    assert list(copy.ports) == ["root", "tip"] and copy.loads["wind"].measures == body.loads["wind"].measures
    assert np.array_equal(copy.elasticity.strain.toarray(), body.elasticity.strain.toarray())
    assert np.array_equal(copy.sections["cut"].position, body.sections["cut"].position)
    with pytest.raises(TypeError):
        copy.ports["more"] = copy.ports["root"]


@pytest.mark.parametrize("how", ["rigid", "mean"])
def test_a_port_may_lie_at_any_place(how):
    """It moves as the face carries it, φ(at) = φ(centre) + ψ × (at − centre); the frequencies stay."""
    mesh, at, twist = fem.box_mesh((0.2, 0.02, 0.01), (4, 1, 1)), (0.25, 0.03, -0.01), np.array([1.0, 2.0, 3.0])
    moved = []
    for tie in (fem.Tie("right", how), fem.Tie("right", how, at=at)):
        bar = fem.solid(mesh, STEEL, ports={"root": "left", "tip": tie}, reference="root")
        port = bar.ports["tip"]
        u, _ = static(bar, port.rotation.T @ twist)
        moved.append(
            (np.array(port.position), port.shape @ u, port.rotation @ u, eigenfrequencies(linear_body(bar, "bar"), 3))
        )
    (centre, shift, turn, slow), (place, own, own_turn, own_slow) = moved
    np.testing.assert_allclose(place, at)
    np.testing.assert_allclose(own_turn, turn, rtol=1e-9)
    np.testing.assert_allclose(own, shift + np.cross(turn, place - centre), rtol=1e-9, atol=1e-9 * norm(own))
    np.testing.assert_allclose(own_slow, slow, rtol=1e-8)
