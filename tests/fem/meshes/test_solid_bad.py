"""Meshes, materials and regions that cannot be: each is named, with its cells."""

from functools import cache

import meshio
import numpy as np
import pytest
import skfem
from solid_meshes import box

import fem
from flexph import ValidityWarning
from flexph.bodies.floating.linear_system import linear_body

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
CUBE = (1.0, 1.0, 1.0)


def changed(mesh, points=None, cells=None, **options):
    return meshio.Mesh(mesh.points if points is None else points, mesh.cells if cells is None else cells, **options)


def inverted():
    mesh = box("tetra", (1, 1, 1), CUBE)
    cells = mesh.cells[0].data.copy()
    cells[3] = cells[3][[0, 2, 1, 3]]
    return changed(mesh, cells=[("tetra", cells)])


def folded():
    mesh = box("hexahedron", (2, 1, 1), CUBE)
    points = mesh.points.copy()
    points[np.all(np.isclose(points, (0.5, 0, 0)), axis=1)] = (3.0, 0.0, 0.0)
    return changed(mesh, points)


def folded_at_a_corner():
    """A node moved past its neighbour, not so far that it shows at the points of the quadrature."""
    mesh = box("hexahedron", (4, 2, 2), (4.0, 1.0, 1.0))
    points = mesh.points.copy()
    points[np.all(np.isclose(points, (2.0, 0.5, 0.5)), axis=1), 0] += 1.2
    return changed(mesh, points)


def collapsed():
    """A hexahedron whose side is an edge."""
    mesh = box("hexahedron", (1, 1, 1), CUBE)
    return changed(mesh, cells=[("hexahedron", mesh.cells[0].data[:, [0, 1, 1, 0, 4, 5, 6, 7]])])


def flat():
    mesh = box("tetra", (1, 1, 1), CUBE)
    points = np.vstack([mesh.points, [0.5, 0.5, 0.0]])
    return changed(mesh, points, [("tetra", np.vstack([mesh.cells[0].data, [0, 2, 4, 8]]))])


def hanging():
    """Two squares beside one of twice their height."""
    points = np.array([[0, 0], [1, 0], [0, 2], [1, 2], [2, 0], [2, 1], [1, 1], [2, 2], [3, 0], [3, 2]], dtype=float)
    return meshio.Mesh(points, [("quad", [[0, 1, 3, 2], [1, 4, 5, 6], [6, 5, 7, 3], [4, 8, 9, 7]])])


def hanging_solid():
    """A cube beside one that is cut in eight: faces that do not match."""
    made = skfem.io.meshio.to_meshio(skfem.MeshHex.init_tensor(*([0.0, 0.5, 1.0],) * 3))
    cube, n = box("hexahedron", (1, 1, 1), CUBE), len(made.points)
    cells = np.vstack([made.cells[0].data, n + cube.cells[0].data])
    return meshio.Mesh(np.vstack([made.points, cube.points + np.eye(3)[0]]), [("hexahedron", cells)])


def two_pieces():
    one = box("tetra", (1, 1, 1), CUBE)
    k = len(one.points)
    cells = one.cells[0].data
    return changed(one, np.vstack([one.points, one.points + np.eye(3)[0]]), [("tetra", np.vstack([cells, cells + k]))])


def with_cell(*corners, kind="tetra", point=(0.3, 0.3, 2.0)):
    """A cube of tetrahedra with one more cell, and a point for it."""
    one = box("tetra", (1, 1, 1), CUBE)
    return changed(one, np.vstack([one.points, point]), [("tetra", one.cells[0].data), (kind, [corners])])


def other_order():
    """Nodes 8 and 9 exchanged, as in files of gmsh."""
    mesh = box("tetra10", (1, 1, 1), CUBE)
    return changed(mesh, cells=[("tetra10", mesh.cells[0].data[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]])])


def apart(gap, turned=(1.0, 0.0, 0.0)):
    one = box("hexahedron", (1, 1, 1), CUBE)
    both = np.vstack([one.points, one.points + (1.0 + gap) * np.array(turned)])
    points, number = np.unique(both.round(9), axis=0, return_inverse=True)
    cells = np.vstack([one.cells[0].data, one.cells[0].data + 8])
    return changed(one, points, [("hexahedron", number.ravel()[cells])])


def nan():
    mesh = box("tetra", (1, 1, 1), CUBE)
    points = mesh.points.copy()
    points[5, 1] = np.nan
    return changed(mesh, points)


def named(**sets):
    mesh = box("hexahedron", (2, 1, 1), CUBE)
    quad = ("quad", [[0, 1, 3, 2]])
    return meshio.Mesh(mesh.points, [*mesh.cells, quad], cell_sets=sets)


def triangles(z=0.0):
    mesh = box("triangle", (1, 1), (1.0, 1.0))
    points = mesh.points.copy()
    points[1, 2] = z
    return changed(mesh, points)


OUTER = (0, 3, 1)
"""Corners of a facet on the side x = 0."""
WITH_SURFACE = box("triangle", (1, 1), (1.0, 1.0))
PLANE = {"plane": "stress", "thickness": 0.1}
HALVES = {"a": [np.array([0]), np.array([], int)], "b": [np.array([1]), np.array([], int)]}


@pytest.mark.parametrize(
    ("mesh", "options", "message"),
    [
        (inverted, {}, "no inverted cells, got tetra cells .*: 3$"),
        (folded, {}, "no inverted cells, got hexahedron cells .*: 1$"),
        (folded_at_a_corner, {}, "no inverted cells, got hexahedron cells .*: 8, 9, 10, 11$"),
        (collapsed, {}, "no degenerate cells, got hexahedron cells with a node twice: 0; give collapsed hexahedra as"),
        (flat, {}, "no degenerate cells, got tetra cells without volume: 6"),
        (hanging, PLANE, "no hanging nodes, got 2 on the inside .* m on cells 0, 3 of type quad"),
        (hanging_solid, {}, r"no hanging nodes, got 5 .* on cells 8 of type hexahedron"),
        (two_pieces, {}, "got 2 pieces of 6, 6 cells; one of them has cells .* 4 points are at the place of another"),
        (lambda: apart(1e-5), {}, "got 2 pieces .*; its points are 1e-05 m or more away from the others"),
        (
            lambda: apart(0.0, (1.0, 1.0, 0.0)),
            {},
            "2 pieces .* 2 nodes in common with others, which are no whole facet",
        ),
        (other_order, {}, r"no inverted cells.*: 0, 1, 2, 3, 4, 5; the corners are sound: do the other nodes come"),
        (
            lambda: with_cell(0, 6, 7, 8, point=(0.9, 0.0, 0.9)),
            {},
            "one cell or two at each facet, got more at the facets of cells .*6 of type",
        ),
        (
            lambda: with_cell(*OUTER, 8, point=(0.4, 0.6, 0.3)),
            {},
            "no overlapping cells, got some on the same side .*6 of",
        ),
        (lambda: with_cell(0, 1, 8, kind="triangle"), {}, "mixed dimensions: triangle cells that are no facets .*: 0$"),
        (lambda: with_cell(0, 1, 2, 99), {}, "must refer to the 9 points of the mesh, got 99 in cells 0"),
        (nan, {}, "must be finite, got NaN or infinity in points 5$"),
        (lambda: meshio.Mesh(np.zeros((3, 3)), []), {}, "must have volume cells, got no cells"),
        (triangles, {}, "must have volume cells, got triangle; plane='stress' or plane='strain' makes a plane body"),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            PLANE,
            "surface cells only for a plane body, mixed dimensions: got tetra",
        ),
        (lambda: triangles(0.3), PLANE, "must lie in a plane z = constant for a plane body, z goes from 0 to 0.3 m"),
        (lambda: box("tetra10", (1, 1, 1), CUBE), {"degree": 1}, r"degree must be 2 .* second-order cells \(tetra10\)"),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"degree": 3}, "degree must be 1 or 2, got 3"),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"ports": {"p": "lft"}},
            "no region 'lft': port 'p': the mesh has 'left'",
        ),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"loads": {"w": "up"}},
            "no region 'up': load 'w': the mesh has 'left'",
        ),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"ports": {"p": lambda x: x[0] > 2}},
            "port 'p' must be true at some node",
        ),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"ports": {"p": lambda x: x[0]}},
            "returns 8 truth values|N truth values",
        ),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"ports": {"p": 99}}, "node numbers from 0 to 7, got 99"),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"ports": {"p": fem.Tie(3, "rigid")}}, "do not lie on a line"),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"ports": {"p": "left", "q": "top"}},
            "'p' and 'q' must not share nodes",
        ),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"reference": "root"}, "no reference 'root': there are 'mean_axis'"),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"thickness": 0.1}, "thickness is for plane bodies"),
        (triangles, {"plane": "stress"}, "thickness must be given"),
        (triangles, {"plane": "shell", "thickness": 1.0}, "plane must be one of 'stress', 'strain'"),
        (
            lambda: named(a=[np.array([0]), np.array([0])]),
            {"ports": {"p": "a"}},
            "'a' must have cells of one dimension",
        ),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"loads": {"w": 3}},
            "load 'w' must be on a region with facets, got none",
        ),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"ports": {"p": np.ones(8, bool)}},
            r"list of whole numbers.* got array\(",
        ),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"ports": {"p": lambda x: x[5] > 0}}, "port 'p' raised IndexError"),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"ports": {3: "left"}}, "a name of ports must be a text, got 3"),
        (
            lambda: box("tetra", (1, 1, 1), CUBE),
            {"ports": {"mean_axis": "left"}},
            "ports must not be named 'mean_axis'",
        ),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"loads": "left"}, "loads must be a dict of names with values"),
        (lambda: box("tetra", (1, 1, 1), CUBE), {"damping": 0.1}, r"damping must be a Damping, .* got float"),
        (lambda: 3, {}, "mesh must be a Mesh or a path, got 3"),
        (
            lambda: meshio.Mesh(np.zeros((18, 3)), [("wedge18", [range(18)])]),
            {},
            "cells of type tetra, .*, got wedge18",
        ),
    ],
)
def test_bad_meshes_and_regions(mesh, options, message):
    with pytest.raises(ValueError, match=message):
        fem.solid(mesh(), STEEL, **options)


def test_a_missing_mesh_is_no_wrong_one(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no such file: '.*nowhere\.msh'"):
        fem.solid(tmp_path / "nowhere.msh", STEEL)
    with pytest.raises(IsADirectoryError, match="must be a file and is a folder"):
        fem.solid(tmp_path, STEEL)


@pytest.mark.parametrize(
    ("material", "message"),
    [
        ({"a": STEEL}, "material must be given for all cells, missing for cells 1"),
        ({"a": STEEL, "b": STEEL, "all": STEEL}, "must be unique for every cell, got two for cells 0, 1"),
        ({"c": STEEL}, "no region 'c': material: the mesh has 'a', 'b', 'all', 'face'"),
        ({"face": STEEL}, "material 'face' must belong to a region of cells"),
        ({}, "got none"),
        (3.0, "material must be a Material, Orthotropic or Anisotropic, got float"),
        (fem.Material(young=1.0, density=1.0), "material needs poisson= or shear= in a solid"),
        (fem.Material(young=1.0, density=1.0, poisson=0.5), "must be compressible: .* poisson = 0.5"),
    ],
)
def test_bad_materials_are_refused(material, message):
    sets = {**HALVES, "all": [np.array([0, 1]), None], "face": [None, np.array([0])]}
    with pytest.raises(ValueError, match=message):
        fem.solid(named(**sets), material)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: fem.Orthotropic(young=(1, 1, -1), poisson=(0, 0, 0), shear=(1, 1, 1), density=1.0),
            "young must be positive",
        ),
        (
            lambda: fem.Orthotropic(young=(1, 1, 1), poisson=(1.2, 0, 0), shear=(1, 1, 1), density=1.0),
            "positive definite",
        ),
        (lambda: fem.Anisotropic(stiffness=np.diag([1, 1, 1, 1, 1, -1.0]), density=1.0), "positive definite"),
        (lambda: fem.Anisotropic(stiffness=np.triu(np.ones((6, 6))), density=1.0), "symmetric"),
        (lambda: fem.Tie("x", "welded"), "how must be one of 'rigid', 'mean'"),
        (lambda: fem.Load("x", on="line"), "on must be one of 'surface', 'volume'"),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_incompressible_plane_stress_is_sound():
    body = fem.solid(triangles(), fem.Material(young=1.0, density=1.0, poisson=0.5), **PLANE)
    assert body.size == 5


def test_regions_of_cells_have_their_materials():
    heavy = fem.Material(young=1.0, density=3.0, poisson=0.2)
    light = fem.Material(young=1.0, density=1.0, poisson=0.2)
    body = fem.solid(named(**HALVES), {"a": heavy, "b": light})
    assert body.mass == pytest.approx(2.0) and body.centre[0] == pytest.approx(0.375)


def test_gmsh_groups_by_name(tmp_path):
    """Physical groups written to a file and read back: volumes carry materials, surfaces become ports."""
    mesh = box("hexahedron", (2, 1, 1), CUBE)
    tags = [np.array([1, 2]), np.array([7])]
    made = meshio.Mesh(
        mesh.points,
        [*mesh.cells, ("quad", [[0, 1, 3, 2]])],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"core": np.array([1, 3]), "shell": np.array([2, 3]), "seat": np.array([7, 2])},
    )
    meshio.write(tmp_path / "bar.msh", made, file_format="gmsh22", binary=False)
    body = fem.solid(tmp_path / "bar.msh", {"core": STEEL, "shell": STEEL}, ports={"seat": "seat"}, reference="seat")
    assert body.ports["seat"].position == pytest.approx([0.0, 0.5, 0.5])
    assert body.size == 3 * 8


def test_regions_of_scikit_fem_are_taken():
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0.0, 1.0, 3),) * 3)
    mesh = mesh.with_boundaries({"left": lambda x: x[0] == 0.0}).with_subdomains({"low": lambda x: x[2] < 0.5})
    body = fem.solid(mesh, STEEL, ports={"root": "left"}, reference="root", loads={"w": "low"}, degree=2)
    assert body.ports["root"].position == pytest.approx([0.0, 0.5, 0.5])
    assert body.loads["w"].measures == pytest.approx([0.5])
    assert body.loads["w"].positions[0] == pytest.approx([0.5, 0.5, 0.25])


def test_node_numbers_are_those_of_the_file():
    """Points that no cell has, such as centres of circles, do not shift them, and are no nodes."""
    mesh = box("tetra", (1, 1, 1), CUBE)
    given = changed(mesh, np.vstack([[9.0, 9.0, 9.0], mesh.points]), [("tetra", mesh.cells[0].data + 1)])
    for degree in (1, 2):
        body = fem.solid(given, STEEL, ports={"corner": 8}, degree=degree)
        assert body.ports["corner"].position == pytest.approx([1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"port 'p' must.*node numbers.*1.*8, got 0,.*no cell has"):
        fem.solid(given, STEEL, ports={"p": [0, 1]})


def test_mirrored_numbering_is_one_mesh():
    """A file whose cells are all numbered the other way round."""
    mesh = box("hexahedron", (2, 1, 1), CUBE)
    other = changed(mesh, cells=[("hexahedron", mesh.cells[0].data[:, [0, 3, 2, 1, 4, 7, 6, 5]])])
    a, b = (fem.solid(m, STEEL) for m in (mesh, other))
    assert b.mass == pytest.approx(a.mass, rel=1e-14)
    E, F = (linear_body(x, "b").E.toarray() for x in (a, b))
    assert np.linalg.norm(E[: 6 + a.size, : 6 + a.size]) == pytest.approx(np.linalg.norm(F[: 6 + a.size, : 6 + a.size]))


# --- near incompressibility -------------------------------------------------------------------------------------------


@cache
def softness(kind, n, nu):
    """Work of a shear force at the end of a short cantilever in plane strain."""
    material = fem.Material(young=1.0, density=1.0, poisson=nu)
    ports = {"root": "left"}
    mesh = box(kind, (2 * n, n), (1.0, 0.5))
    body = fem.solid(
        mesh, material, plane="strain", thickness=1.0, ports=ports, reference="root", loads={"end": "right"}
    )
    D, S = body.elasticity.strain.toarray(), body.elasticity.stiffness_of_stress
    force = body.loads["end"].shapes.T @ np.array([0.0, 0.5])
    return force @ np.linalg.solve(D.T @ (S @ D), force)


@pytest.mark.parametrize(
    ("kind", "least"), [("triangle6", 0.97), ("quad8", 0.95), pytest.param("quad9", 0.95, marks=pytest.mark.slow)]
)
def test_degree_2_does_not_lock(kind, least):
    for nu in (0.3, 0.49, 0.4999):
        assert least < softness(kind, 4, nu) / softness("quad9", 8, nu) < 1.0


@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_degree_1_locks_and_says_so(kind):
    with pytest.warns(ValidityWarning, match=r"cells of degree 1 lock .* use degree=2"):
        found = softness(kind, 4, 0.499)
    assert found < 0.3 * softness("quad9", 4, 0.499)  # what the warning is about
    assert softness(kind, 4, 0.3) > 0.75 * softness("quad9", 4, 0.3)


@pytest.mark.parametrize(
    "heading", [b"2 2000000000 1 8", b"1 8 1 3000000000", np.array([1, 10**9, 1, 8], "<u8").tobytes()]
)
def test_a_gmsh_file_that_announces_more_than_it_holds(heading, tmp_path):
    kind = b"4.1 0 8" if heading.isascii() and b" " in heading else b"4.1 1 8\n\1\0\0\0"
    path = tmp_path / "large.msh"
    path.write_bytes(b"$MeshFormat\n" + kind + b"\n$EndMeshFormat\n$Nodes\n" + heading + b"\n$EndNodes\n")
    with pytest.raises(ValueError, match=r"it announces nodes.*\[.*\], more than.*\d+ bytes can hold"):
        fem.solid(path, STEEL)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("form", ["gmsh22", "gmsh"])
def test_headings_of_gmsh_are_not_taken_for_more(form, binary, tmp_path):
    mesh = box("tetra", (2, 1, 1), CUBE)
    meshio.write(tmp_path / "box.msh", mesh, file_format=form, binary=binary)
    assert fem.solid(tmp_path / "box.msh", STEEL).mass == pytest.approx(fem.solid(mesh, STEEL).mass, rel=1e-12)
