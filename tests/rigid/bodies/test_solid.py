"""Rigid bodies from meshes: exact for boxes, second order for spheres, and what is refused."""

import itertools

import meshio
import numpy as np
import pytest

import rigid
from flexph.bodies.inertia import contract

EDGES, DENSITY = np.array([1.0, 0.7, 0.4]), 2.5
SHIFT = np.array([0.3, -1.1, 2.0])
OUT = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]  # faces of a hexahedron
EXACT = {"rtol": 1e-13, "atol": 1e-13}


def grid(counts=(3, 2, 2)):
    """Points of a box about the origin and its hexahedra."""
    axes = [length * (np.linspace(0.0, 1.0, n + 1) - 0.5) for length, n in zip(EDGES, counts, strict=True)]
    points = np.array(list(itertools.product(*axes)))
    index = np.arange(len(points)).reshape([n + 1 for n in counts])
    corner = lambda i, j, k: index[i : i + counts[0], j : j + counts[1], k : k + counts[2]].ravel()  # noqa: E731
    order = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    return points, np.column_stack([corner(*place) for place in order])


def boundary(cells):
    """Outer quadrilaterals of hexahedra, normals out: faces that only one cell has."""
    faces = np.vstack([cells[:, face] for face in OUT])
    _, inverse, counts = np.unique(np.sort(faces, axis=1), axis=0, return_inverse=True, return_counts=True)
    return faces[counts[inverse.ravel()] == 1]


def halved(quads, alternate=True):
    """Triangles of quadrilaterals, the diagonal this way or that."""
    turned = np.where((np.arange(len(quads)) % 2)[:, None] * alternate, np.roll(quads, 1, axis=1), quads)
    return np.vstack([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])


def cut(cells, pieces):
    return np.vstack([cells[:, piece] for piece in pieces])


SIX = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
PRISMS = [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]


def meshes():
    """One box in every kind of cell, as (type, cells) blocks over the same points."""
    points, hexes = grid()
    quads, top = boundary(hexes), np.isclose(points[hexes].mean(axis=1)[:, 2], EDGES[2] / 4)
    prisms, tips = cut(hexes[top], PRISMS), len(points) + np.arange(len(hexes))
    pyramids = np.vstack([np.column_stack([hexes[:, np.array(face)[::-1]], tips]) for face in OUT])
    with_tips = np.vstack([points, points[hexes].mean(axis=1)])
    return {
        "hexahedra": (points, [("hexahedron", hexes)]),
        "tetrahedra": (points, [("tetra", cut(hexes, SIX))]),
        "wedges": (points, [("wedge", cut(hexes, PRISMS))]),
        "pyramids": (with_tips, [("pyramid", pyramids)]),
        "mixed volume": (points, [("hexahedron", hexes[~top]), ("wedge", prisms), ("quad", quads)]),
        "wedges as VTK has them": (points, [("hexahedron", hexes[~top]), ("wedge", prisms[:, [3, 4, 5, 0, 1, 2]])]),
        "two blocks": (points, [("hexahedron", hexes[:5]), ("vertex", [[0]]), ("hexahedron", hexes[5:])]),
        "all inside out": (points, [("tetra", cut(hexes, SIX)[:, [1, 0, 2, 3]])]),
        "quadrilaterals": (points, [("quad", quads)]),
        "triangles": (points, [("triangle", halved(quads))]),
        "mixed surface": (points, [("quad", quads[:9]), ("line", [[0, 1]]), ("triangle", halved(quads[9:]))]),
        "normals in": (points, [("triangle", halved(quads)[:, ::-1])]),
        "repeated points": (points[halved(quads).ravel()], [("triangle", np.arange(6 * len(quads)).reshape(-1, 3))]),
        "collapsed triangles": (points, [("triangle", np.vstack([halved(quads), [[0, 0, 1], [2, 1, 2]]]))]),
    }


def solid(points, cells, **options):
    return rigid.solid(meshio.Mesh(points, cells), density=DENSITY, ports={}, **options)


def about_centre(body):
    return contract(body.inertia, about_centre=True).J


def turn(seed=3):
    q = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    return q * np.linalg.det(q)


# --- boxes


@pytest.mark.parametrize("kind", meshes())
def test_a_box_by_its_mesh_is_a_box(kind):
    """Surface and volume of every kind of cell, where it is and moved and turned: J_R = R J Rᵀ."""
    points, cells = meshes()[kind]
    box, R = rigid.box(EDGES, density=DENSITY), turn()
    before = points.copy()
    for moved, frame, centre in ((points, np.eye(3), np.zeros(3)), (points @ R.T + SHIFT, R, SHIFT)):
        made = solid(moved, cells)
        assert made.mass == pytest.approx(box.mass, rel=1e-13)
        np.testing.assert_allclose(made.inertia.centre, centre, **EXACT)
        np.testing.assert_allclose(about_centre(made), frame @ about_centre(box) @ frame.T, **EXACT)
    np.testing.assert_array_equal(points, before)  # the mesh is left as it was


def test_far_from_the_origin():
    """Integrals are taken near the body: 1e6 lengths away only the positions themselves lose six digits."""
    points, cells = meshes()["triangles"]
    made = solid(points + 1e6, cells)
    assert made.mass == pytest.approx(rigid.box(EDGES, density=DENSITY).mass, rel=1e-9)
    np.testing.assert_allclose(made.inertia.centre, 1e6, rtol=1e-15)


@pytest.mark.parametrize("kind", ["triangles", "hexahedra", "mixed volume", "mixed surface", "pyramids"])
def test_the_view_is_the_mesh(kind):
    """Cells of the mesh, or simplices that fill the same volume where it mixes types."""
    points, cells = meshes()[kind]
    view = solid(points, cells).view
    assert view.cell_type == {"mixed volume": "tetra", "mixed surface": "triangle"}.get(kind, cells[0][0])
    again = solid(view.points, [(view.cell_type, view.cells)])
    assert again.mass == pytest.approx(rigid.box(EDGES, density=DENSITY).mass, rel=1e-13)
    assert view.shape.shape == (3 * len(view.points), 0)


def test_unused_points_do_not_matter():
    points, cells = meshes()["triangles"]
    made = solid(np.vstack([points, [[50.0, 0.0, 0.0]]]), cells)
    assert len(made.view.points) == len(np.unique(cells[0][1]))
    np.testing.assert_allclose(made.inertia.centre, 0.0, atol=1e-14)


def test_ports_are_points_of_the_mesh():
    points, cells = meshes()["tetrahedra"]
    made = rigid.solid(meshio.Mesh(points, cells), density=DENSITY, ports={"corner": points[0]})
    np.testing.assert_array_equal(made.ports["corner"].position, points[0])


def test_a_cavity_is_left_out():
    """The normals of its surface point into it."""
    points, cells = meshes()["triangles"]
    outer = cells[0][1]
    both = np.vstack([outer, outer[:, ::-1] + len(points)])
    made, box = solid(np.vstack([points, 0.5 * points]), [("triangle", both)]), rigid.box(EDGES, density=DENSITY)
    assert made.mass == pytest.approx(box.mass * (1.0 - 0.5**3), rel=1e-13)
    np.testing.assert_allclose(about_centre(made), about_centre(box) * (1.0 - 0.5**5), **EXACT)


def test_warped_faces_bound_the_volume_of_the_trilinear_cell():
    """Two hexahedra with a warped face between them: both together are the box they were cut from."""
    points, hexes = grid((2, 1, 1))
    middle = np.isclose(points[:, 0], 0.0)
    points[middle, 0] = [0.1, -0.15, 0.05, 0.2]
    made, box = solid(points, [("hexahedron", hexes)]), rigid.box(EDGES, density=DENSITY)
    assert made.mass == pytest.approx(box.mass, rel=1e-13)
    np.testing.assert_allclose(about_centre(made), about_centre(box), **EXACT)
    x, w = np.polynomial.legendre.leggauss(3)  # the trilinear map has a Jacobian of degree two in each direction
    volume = 0.0
    for (a, wa), (b, wb), (c, wc) in itertools.product(zip(0.5 * (x + 1), 0.5 * w, strict=True), repeat=3):
        ends = lambda t: np.array([1.0 - t, t])  # noqa: E731
        shape = lambda p, q, r: np.einsum("i,j,k->kji", p, q, r).reshape(-1)[[0, 1, 3, 2, 4, 5, 7, 6]]  # noqa: E731
        slope = np.array([-1.0, 1.0])
        columns = [shape(slope, ends(b), ends(c)), shape(ends(a), slope, ends(c)), shape(ends(a), ends(b), slope)]
        volume += wa * wb * wc * np.linalg.det([row @ points[hexes[0]] for row in columns])
    assert solid(points, [("hexahedron", hexes[:1])]).mass == pytest.approx(DENSITY * volume, rel=1e-13)


# --- spheres


def icosphere(levels):
    """Triangles on the unit sphere, each level halves the edges."""
    g = (1.0 + np.sqrt(5.0)) / 2.0
    points = np.array([p for a, b in itertools.product((-1, 1), (-g, g)) for p in ((a, b, 0), (0, a, b), (b, 0, a))])
    edge = np.linalg.norm(points[:, None] - points[None], axis=2) < 2.1
    cells = [
        t for t in itertools.combinations(range(12), 3) if edge[t[0], t[1]] and edge[t[1], t[2]] and edge[t[0], t[2]]
    ]
    cells = [t if np.linalg.det(points[list(t)]) > 0 else t[::-1] for t in cells]
    corners = points[np.array(cells)]
    for _ in range(levels):
        a, b, c = np.swapaxes(corners, 0, 1)
        ab, bc, ca = a + b, b + c, c + a
        ab, bc, ca = (m / np.linalg.norm(m, axis=1)[:, None] * np.linalg.norm(a[0]) for m in (ab, bc, ca))
        corners = np.vstack([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    flat = corners.reshape(-1, 3) / np.linalg.norm(points[0])
    return flat.round(14), np.arange(len(flat)).reshape(-1, 3)


def test_refined_spheres_converge_with_order_two():
    sphere, errors = rigid.sphere(1.0, density=DENSITY), []
    for level in (2, 3, 4):
        points, cells = icosphere(level)
        made = solid(points, [("triangle", cells)])
        np.testing.assert_allclose(about_centre(made), about_centre(made)[0, 0] * np.eye(3), atol=1e-12)
        errors.append([made.mass / sphere.mass - 1.0, about_centre(made)[0, 0] / about_centre(sphere)[0, 0] - 1.0])
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(orders - 2.0) < 0.1), orders
    assert np.all(np.abs(errors[-1]) < [2.5e-3, 4.5e-3])  # 5120 triangles: −(edge/radius)²/4 or so


# --- files


@pytest.mark.parametrize(
    ("kind", "ending", "tolerance"),
    [
        ("triangles", "stl", 1e-6),
        ("triangles", "msh", 1e-13),
        ("triangles", "obj", 1e-13),
        ("tetrahedra", "vtu", 1e-13),
        ("tetrahedra", "msh", 1e-13),
        ("mixed volume", "vtu", 1e-13),
    ],
)
def test_a_run_writes_its_files(kind, ending, tolerance, tmp_path, capfd):
    """Binary STL has 32-bit coordinates, every triangle with points of its own."""
    points, cells = meshes()[kind]
    path = tmp_path / f"box.{ending}"
    meshio.Mesh(points + SHIFT, cells).write(path, **({"binary": True} if ending == "stl" else {}))
    capfd.readouterr()
    for source in (path, str(path)):
        made, box = rigid.solid(source, density=DENSITY, ports={}), rigid.box(EDGES, density=DENSITY)
        assert made.mass == pytest.approx(box.mass, rel=tolerance)
        np.testing.assert_allclose(made.inertia.centre, SHIFT, rtol=tolerance)
        np.testing.assert_allclose(about_centre(made), about_centre(box), rtol=tolerance, atol=tolerance)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("box.vtu", "<VTKFile>"),
        ("box.msh", "no mesh at all"),
        ("box.stl", "solid\n facet 1 2\n"),
        ("box.vtk", ""),
        ("box.xyz", "1 2 3"),
        ("box", "1 2 3"),
        ("box.ply", "ply\nformat what 1.0\n"),
    ],
)
def test_files_that_cannot_be_read(name, content, tmp_path, capfd):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"mesh cannot be read from '.*{name}': \S"):
        rigid.solid(path, density=1.0, ports={})
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


# --- refusals


def broken(kind, change):
    points, cells = meshes()[kind]
    return points, [(cells[0][0], change(np.array(cells[0][1])))]


def with_rows(rows, order):
    """Cells whose rows are renumbered."""

    def change(cells):
        cells[rows] = cells[rows][:, order]
        return cells

    return change


def fin(cells):
    """A further triangle on an edge that has two already, closed by its other side."""
    a, b, c = cells[0]
    return np.vstack([cells, [[a, b, c], [c, b, a]]])


def second_order(points, cells):
    """Tetrahedra of ten points, the middles of the edges pulled out of place."""
    pairs = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
    middles = np.vstack([points[cells[:, pair]].mean(axis=1) for pair in pairs]) + 0.01
    extra = len(points) + np.arange(len(middles)).reshape(6, -1).T
    return np.vstack([points, middles]), [("tetra10", np.hstack([cells, extra]))]


def test_curved_cells_are_taken_by_their_corners():
    points, cells = meshes()["tetrahedra"]
    with pytest.warns(UserWarning, match="cells of type tetra10 are reduced to their corners"):
        made = solid(*second_order(points, cells[0][1]))
    assert made.mass == pytest.approx(rigid.box(EDGES, density=DENSITY).mass, rel=1e-13)
    assert (made.view.cell_type, len(made.view.points)) == ("tetra", len(points))


FLAT = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            broken("triangles", lambda c: c[1:]),
            "mesh must be a closed surface or a volume mesh: 3 of 96 edges are open",
        ),
        (
            broken("quadrilaterals", lambda c: c[2:]),
            "mesh must be a closed surface or a volume mesh: 6 of 63 edges are open",
        ),
        (broken("triangles", with_rows([4], [1, 0, 2])), "oriented consistently: at 3 of 96 edges the two faces"),
        (broken("triangles", fin), "mesh must have two faces at every edge: 3 of 96 edges have more"),
        (broken("tetrahedra", with_rows([0, 7], [1, 0, 2, 3])), "inside out, got 2 of 72 cells of type 'tetra'"),
        (broken("hexahedra", with_rows([3], [4, 5, 6, 7, 0, 1, 2, 3])), "got 1 of 12 cells of type 'hexahedron'"),
        (broken("hexahedra", lambda c: np.vstack([c, c[:2]])), "no duplicate cells, got 2 of 14 cells"),
        (broken("triangles", lambda c: c + 1000), "must refer to the 36 points of the mesh, got 10"),
        (broken("triangles", lambda c: c - 1), "must refer to the 36 points of the mesh, got -1"),
        ((FLAT, [("triangle", [[0, 1, 2], [2, 1, 0]])]), "mesh must enclose a volume, got flat cells"),
        ((FLAT, [("tetra", [[0, 1, 2, 3]])]), "mesh must enclose a volume, got flat cells"),
        ((FLAT, [("line", [[0, 1]]), ("vertex", [[2]])]), "mesh must have volume or surface cells, got line, vertex"),
        ((FLAT, []), "mesh must have volume or surface cells, got no cells"),
        ((FLAT, [("polygon", [[0, 1, 2, 3]])]), "got cells of type 'polygon'"),
        ((FLAT[:, :2], [("triangle", [[0, 1, 2]])]), r"points of the mesh must have shape \(any, 3\), got \(4, 2\)"),
        ((FLAT * np.nan, [("triangle", [[0, 1, 2]])]), "points of the mesh must be finite"),
    ],
)
def test_bad_meshes_are_refused(made, message):
    with pytest.raises(ValueError, match=message):
        solid(*made)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"density": 0.0}, "density must be positive, got 0.0 kg/m³"),
        ({"ports": {"a": (0.0, 0.0)}}, r"port 'a' must have shape \(3,\), got \(2,\)"),
        ({"mesh": [1, 2]}, r"mesh must be a Mesh or a path, got \[1, 2\]"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    points, cells = meshes()["triangles"]
    given = {"mesh": meshio.Mesh(points, cells), "density": 1.0, "ports": {}} | options
    with pytest.raises(ValueError, match=message):
        rigid.solid(given.pop("mesh"), **given)
