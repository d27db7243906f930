"""Shells of decks as plates: in any plane, with materials and thicknesses of the file, or refused by name."""

import meshio
import numpy as np
import pytest
from plate_meshes import rectangle
from scipy.spatial.transform import Rotation
from skfem.io.meshio import to_meshio

import fem
from fem.mesh_report import mesh_report, words
from flexph.bodies import tensors, von_mises
from flexph.bodies.held_body import HeldBody
from flexph.meshes.files import read_contents

YOUNG, DENSITY, POISSON, THICKNESS = 2.1e11, 7800.0, 0.3, 2e-3
STEEL = fem.Material(young=YOUNG, density=DENSITY, poisson=POISSON)
LENGTHS, COUNTS = (0.3, 0.2), (3, 2)
TURN = Rotation.from_euler("xyz", [20.0, 130.0, 40.0], degrees=True).as_matrix()
MOVED = np.array([0.5, -0.2, 0.1])


def in_space(kind, turn=TURN, by=MOVED, counts=COUNTS, lengths=LENGTHS):
    """Points (n, 3) of a rectangle somewhere in space, its cells, and the nodes of its left side."""
    mesh = to_meshio(rectangle(kind, counts, lengths))
    points = np.pad(np.asarray(mesh.points)[:, :2], [(0, 0), (0, 1)])
    cells = np.asarray(mesh.cells[0].data)
    one, two = points[cells[:, 1]] - points[cells[:, 0]], points[cells[:, 2]] - points[cells[:, 0]]
    up = np.cross(one, two)[:, 2] > 0.0  # the upper face is that of the normals of the cells
    cells = np.where(up[:, None], cells, cells[:, ::-1])
    return points @ turn.T + by, cells, np.flatnonzero(points[:, 0] < 1e-9)


def lines(rows, first=1):
    return "".join(f"{first + i}, " + ", ".join(map(str, row)) + "\n" for i, row in enumerate(rows))


def inp(points, cells, left, section=f"*Shell Section, elset=ALL, material=STEEL\n{THICKNESS}, 5\n"):
    kind = {3: "S3", 4: "S4R", 6: "S6", 8: "S8"}[cells.shape[1]]
    return (
        f"*Node\n{lines(points.tolist())}*Element, type={kind}, elset=ALL\n{lines((cells + 1).tolist())}"
        f"*Nset, nset=LEFT\n{', '.join(str(k + 1) for k in left)}\n{section}"
        f"*Material, name=STEEL\n*Density\n{DENSITY}\n*Elastic\n{YOUNG}, {POISSON}\n"
    )


def bdf(points, cells, left, shell=f"PSHELL,7,3,{THICKNESS},3,,3\n", tail=""):
    kind = {3: "CTRIA3", 4: "CQUAD4", 6: "CTRIA6", 8: "CQUAD8"}[cells.shape[1]]
    text = "BEGIN BULK\n"
    text += "".join(f"GRID,{i + 1},,{x:.9g},{y:.9g},{z:.9g}\n" for i, (x, y, z) in enumerate(points))
    for i, row in enumerate(cells + 1):
        more = "\n," + ",".join(map(str, row[6:])) if len(row) > 4 else ""
        text += f"{kind},{i + 1},7," + ",".join(map(str, row[:6])) + f"{more}{tail}\n"
    return f"{text}{shell}MAT1,3,{YOUNG:.9g},,{POISSON},{DENSITY}\nENDDATA\n".replace("e+11", "+11")


def cdb(points, cells, left, section=f"SECTYPE,4,SHELL\nSECOFFSET,MID\nSECBLOCK,1\n {THICKNESS:.9E},1,0.0,3\n"):
    corners = cells if cells.shape[1] > 3 else cells[:, [0, 1, 2, 2]]
    nodes = "".join(f"{i + 1:9d}{0:9d}{0:9d}" + "".join(f"{x:21.13E}" for x in p) + "\n" for i, p in enumerate(points))
    head = [1, 1, 1, 4, 0, 0, 0, 0, corners.shape[1], 0]
    rows = "".join("".join(f"{n:9d}" for n in (*head, i + 1, *(row + 1))) + "\n" for i, row in enumerate(corners))
    return (
        f"/PREP7\nET,1,{281 if cells.shape[1] == 8 else 181}\n{section}"
        f"NBLOCK,6,SOLID,{len(points)},{len(points)}\n(3i9,6e21.13)\n{nodes}"
        f"N,R5.3,LOC,-1,\nEBLOCK,19,SOLID,{len(cells)},{len(cells)}\n(19i9)\n{rows}-1\n"
        f"MPDATA,R5.0,1,EX,1,1,{YOUNG}\nMPDATA,R5.0,1,PRXY,1,1,{POISSON}\nMPDATA,R5.0,1,DENS,1,1,{DENSITY}\n"
        f"CMBLOCK,LEFT,NODE,{len(left)}\n(8i10)\n{''.join(f'{k + 1:10d}' for k in left)}\n"
    )


FORMS = {"inp": inp, "bdf": bdf, "cdb": cdb}


def written(path, text):
    path.write_text(text)
    return path


def held(body, count=4):
    own = HeldBody(body)
    modes = own.modes(count)
    return own.elastic.energies(modes).diagonal() / np.einsum("nk,nk->k", modes, own.mass @ modes)


@pytest.mark.parametrize(
    ("form", "kind"), [("inp", "quad"), ("inp", "triangle"), ("bdf", "quad"), ("bdf", "triangle"), ("cdb", "quad")]
)
def test_shells_of_a_deck_are_the_plate_somewhere_in_space(form, kind, tmp_path):
    """Mass, moments and frequencies of the same plate in its own plane, which is turned and moved."""
    path = written(tmp_path / f"plate.{form}", FORMS[form](*in_space(kind)))
    body = fem.plate(path)
    twin = fem.plate(rectangle(kind, COUNTS, LENGTHS), STEEL, thickness=THICKNESS)
    assert body.mass == pytest.approx(twin.mass, rel=1e-7)  # nine digits in the deck
    np.testing.assert_allclose(body.centre, TURN @ twin.centre + MOVED, atol=1e-8)
    scale = twin.moments.max()
    np.testing.assert_allclose(body.moments, TURN @ twin.moments @ TURN.T, atol=1e-6 * scale)
    np.testing.assert_allclose(held(body), held(twin), rtol=1e-5)  # thin: nine digits of points count 1e-6
    np.testing.assert_allclose(np.sort(body.view.points, axis=0)[0], in_space(kind)[0].min(axis=0), atol=1e-8)


def with_edge_nodes(kind):
    """As in_space, with nodes on edges after the corners, and seven digits."""
    points, cells, left = in_space(kind)
    c = cells.shape[1]
    ends = np.sort(np.stack([cells, np.roll(cells, -1, axis=1)], axis=2), axis=2)
    edges, number = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
    whole = np.round(np.vstack([points, points[edges].mean(axis=1)]), 7)
    return whole, np.column_stack([cells, len(points) + number.reshape(-1, c)]), left


@pytest.mark.parametrize(
    ("form", "kind", "name"),
    [
        *(("inp", "quad", "S8"), ("inp", "triangle", "S6")),
        *(pytest.param("inp", *own, marks=pytest.mark.slow) for own in (("quad", "S8R"), ("triangle", "STRI65"))),
        *(("bdf", "quad", "CQUAD8"), ("bdf", "triangle", "CTRIA6"), ("cdb", "quad", "ET,1,281")),
    ],
)
def test_shells_with_nodes_on_edges_are_the_same_plate(form, kind, name, tmp_path):
    """Seven digits: nodes are off the middles by 1e-7 of the extent, frequencies by as little."""
    text = FORMS[form](*with_edge_nodes(kind))
    text = text.replace("type=S8", f"type={name}").replace("type=S6", f"type={name}")
    assert name in text
    body = fem.plate(written(tmp_path / f"p.{form}", text))
    twin = fem.plate(rectangle(kind, COUNTS, LENGTHS), STEEL, thickness=THICKNESS)
    assert body.mass == pytest.approx(twin.mass, rel=1e-5)
    np.testing.assert_allclose(held(body), held(twin), rtol=1e-4)


BLOCK = f"RLBLOCK,2,2,8,7\n(2i8,6g16.9)\n(7g16.9)\n{1:8d}{2:8d}{0.01:16.9f}{0.01:16.9f}\n{2:8d}{8:8d}"
RECTANGULAR = "".join(f"{t:16.9f}" for t in (THICKNESS, THICKNESS, 0.0, 0.0, 0.0, 0.0))


@pytest.mark.parametrize("real", [f"R,2,{THICKNESS}\n", f"{BLOCK}{RECTANGULAR}\n{0.0:16.9f}{0.0:16.9f}\n"])
def test_real_constants_are_the_thickness_of_shells(real, tmp_path):
    mesh = in_space("quad")
    rows = lambda text: text.replace(f"{1:9d}{1:9d}{1:9d}{4:9d}", f"{1:9d}{1:9d}{2:9d}{1:9d}")  # noqa: E731
    path = written(tmp_path / "p.cdb", rows(cdb(*mesh, section=real)))
    assert [s.thickness for s in read_contents(path).shells.values()] == [THICKNESS]
    np.testing.assert_allclose(held(fem.plate(path)), held(fem.plate(written(tmp_path / "q.cdb", cdb(*mesh)))))
    for other, match in [
        (f"R,2,{THICKNESS},0.003\n", r"R \(line 3: its thickness is not the same at all corners\)"),
        (f"R,2,{THICKNESS}\nRMORE,0.5\n", r"its real constant 7 is 0.5"),
        (f"R,2,{THICKNESS},,,,30\n", r"its real constant 5 is 30"),
        (f"{BLOCK}{RECTANGULAR}\n", r"RLBLOCK .*it must have 8 real constants, got 6"),
        ("R,2,THICK\n", "it cannot be read from 'THICK'"),
    ]:
        with pytest.raises(ValueError, match=match):
            fem.plate(written(tmp_path / "r.cdb", rows(cdb(*mesh, section=other))))


@pytest.mark.parametrize(("kind", "offset"), [("quad", ",,,,,,0.001"), ("triangle", "\n,,0.001")])
def test_offsets_of_shells_with_nodes_on_edges_are_refused(kind, offset, tmp_path):
    name = {"quad": "CQUAD8", "triangle": "CTRIA6"}[kind]
    text = bdf(*with_edge_nodes(kind), tail=offset).replace("\n,\n", "\n")
    with pytest.raises(ValueError, match=rf"ZOFFS=0.001 of {name} \(line"):
        fem.plate(written(tmp_path / "p.bdf", text))
    text = bdf(*with_edge_nodes(kind), tail=",0.002" if kind == "quad" else "\n,,,0.002").replace("\n,\n", "\n")
    with pytest.raises(ValueError, match=rf"{name} \(line \d+\) has a thickness at its corners"):
        fem.plate(written(tmp_path / "q.bdf", text))


def test_ports_loads_and_stresses_turn_with_the_plate():
    """Response to a force and a torque at a port: displacement, rotation, and stress tensor in axes of the file."""
    at = np.array([0.35, 0.15, 0.02])  # in axes of the plate
    options = {"thickness": THICKNESS, "reference": "root", "loads": {"wind": lambda x: x[0] > -np.inf}}

    def plate(turn, by, **of_port):
        points, cells, left = in_space("quad", turn, by)
        right = np.flatnonzero(np.abs((points - by) @ turn[:, 0] - LENGTHS[0]) < 1e-9)
        mesh = meshio.Mesh(points, [("quad", cells)], point_sets={"left": left, "right": right})
        ports = {"root": "left", "tip": fem.Tie("right", "mean", **of_port)}
        return fem.plate(mesh, STEEL, ports=ports, **options)

    body, twin = plate(TURN, MOVED), plate(np.eye(3), np.zeros(3))
    np.testing.assert_allclose(body.ports["tip"].position, TURN @ twin.ports["tip"].position + MOVED, atol=1e-12)

    def compliance(own):
        port = own.ports["tip"]
        rows = np.vstack([port.shape.toarray(), port.rotation.toarray()])
        return rows, rows @ HeldBody(own).response(rows.T)

    turn = np.kron(np.eye(2), TURN)
    (rows, found), (local, known) = compliance(body), compliance(twin)
    scale = np.sqrt(np.outer(known.diagonal(), known.diagonal()).max())
    np.testing.assert_allclose(found, turn @ known @ turn.T, atol=1e-9 * scale)
    load, other = body.loads["wind"], twin.loads["wind"]
    np.testing.assert_allclose(load.positions, other.positions @ TURN.T + MOVED, atol=1e-12)
    np.testing.assert_allclose(load.normals, other.normals @ TURN.T, atol=1e-12)
    beyond = plate(TURN, MOVED, at=tuple(TURN @ at + MOVED))  # a rigid arm from the port
    np.testing.assert_allclose(beyond.ports["tip"].position, TURN @ at + MOVED, atol=1e-12)
    x, y, z = TURN @ (at - twin.ports["tip"].position)
    arm = np.eye(6)
    arm[:3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    np.testing.assert_allclose(compliance(beyond)[1], arm @ found @ arm.T, atol=1e-9 * scale)
    force = np.array([1.0, 0.3, -0.2, 0.01, 0.02, -0.01])  # in axes of the file
    stresses = []
    for own, jacobian, load in ((body, rows, force), (twin, local, turn.T @ force)):
        u = HeldBody(own).response(jacobian.T @ load[:, None])
        sigma = (own.elasticity.stiffness_of_stress @ (own.elasticity.strain @ u)).T
        stresses.append(tensors(own.view.tensors["stress_top"].at, sigma)[0])
    stress, flat = stresses
    matrix = lambda s: s[:, [[0, 3, 5], [3, 1, 4], [5, 4, 2]]]  # noqa: E731
    np.testing.assert_allclose(matrix(stress), TURN @ matrix(flat) @ TURN.T, atol=1e-8 * np.abs(flat).max())
    np.testing.assert_allclose(von_mises(stress), von_mises(flat), rtol=1e-6)


@pytest.mark.slow
def test_a_cantilever_of_a_deck_has_the_frequencies_of_leissa(tmp_path):
    """C-F-F-F square, A. W. Leissa, J. Sound Vib. 31 (1973) 257: Ritz values, upper bounds 0.2 to 0.7 % above."""
    path = written(tmp_path / "plate.inp", inp(*in_space("quad", counts=(6, 6), lengths=(0.2, 0.2))))
    body = fem.plate(path, ports={"root": "LEFT"}, reference="root", rotary_inertia=False)
    stiffness = YOUNG * THICKNESS**3 / (12.0 * (1.0 - POISSON**2))
    found = np.sqrt(held(body, 5)) * 0.2**2 * np.sqrt(DENSITY * THICKNESS / stiffness)
    ratio = found / [3.4917, 8.5246, 21.429, 27.331, 31.111]
    assert np.all(ratio < 1.0) and np.all(ratio > 0.99)


@pytest.mark.slow
def test_a_plate_is_its_solid_within_the_error_of_the_theory():
    """Free plate of h/b = 0.04: with shear within 0.25 %, the errors of both meshes; thin plates are above.

    Torsion of a strip without shear is 0.63 h/(2b) too stiff in frequency, 1.3 % (Saint-Venant). Mode 4 of the solid
    falls with its mesh: 1503.8, 1487.9, 1483.9 and 1483.2 Hz with 10, 16, 24 cells along it and 24 in two layers; the
    plate has 1483.7 and 1482.2 Hz with 8 and 16.
    """
    lengths, thickness = (0.2, 0.1), 4e-3
    solid = fem.solid(fem.box_mesh((*lengths, thickness), (24, 12, 2)), STEEL, degree=2)
    free = np.sqrt(held(solid, 4))
    mesh = fem.box_mesh(lengths, (16, 8))
    thin, thick = (
        np.sqrt(held(fem.plate(mesh, STEEL, thickness=thickness, theory=theory), 4)) / free
        for theory in ("kirchhoff", "reissner_mindlin")
    )
    assert np.abs(thick - 1.0).max() < 2.5e-3
    assert np.all(thin > thick) and np.all(thin < 1.013)


def test_what_is_no_flat_plate_is_refused_by_name(tmp_path):
    points, cells, left = in_space("quad")
    plate = lambda form, *given, **more: fem.plate(written(tmp_path / f"p.{form}", FORMS[form](*given, **more)))  # noqa: E731
    mesh = (points, cells, left)
    layers = "*Shell Section, elset=ALL, composite\n0.001, 3, STEEL\n0.001, 3, STEEL\n"
    shifted = f"*Shell Section, elset=ALL, material=STEEL, offset=SPOS\n{THICKNESS}\n"
    for form, given, match in [
        ("inp", {"section": layers}, r"\*SHELL SECTION \(line \d+: it has layers\)"),
        ("inp", {"section": shifted}, "middle surface at their nodes, got OFFSET=SPOS"),
        ("inp", {"section": "*Shell General Section, elset=ALL\n1e8,\n"}, "its stiffness is given by numbers"),
        ("bdf", {"shell": "PCOMP,7\n"}, "PCOMP .*it has layers"),
        ("bdf", {"shell": f"PSHELL,7,3,{THICKNESS},4\n"}, "it has several materials"),
        ("bdf", {"shell": f"PSHELL,7,3,{THICKNESS}\n"}, "without MID2 it does not bend"),
        ("bdf", {"shell": f"PSHELL,7,3,{THICKNESS},3,1.2\n"}, r"12I/T\*\*3 is 1.2"),
        ("bdf", {"tail": ",,0.001"}, r"ZOFFS=0.001 of CQUAD4 \(line"),
        ("cdb", {"section": "SECTYPE,4,SHELL\nSECOFFSET,TOP\nSECDATA,0.002,1\n"}, "got SECOFFSET,TOP"),
        ("cdb", {"section": "SECTYPE,4,SHELL\nSECDATA,0.001,1\nSECDATA,0.001,1\n"}, "it has 2 layers"),
        ("cdb", {"section": "SECTYPE,4,BEAM,RECT\nSECDATA,0.001,1\n"}, "thickness must be given"),
    ]:
        with pytest.raises(ValueError, match=match):
            plate(form, *mesh, **given)
    folded = points.copy()
    beyond = (points - MOVED) @ TURN[:, 0] > 0.15
    folded[beyond] += np.outer((points[beyond] - MOVED) @ TURN[:, 0] - 0.2 + 1e-12, TURN[:, 2])
    with pytest.raises(
        ValueError, match=r"it is folded, neighbours turn by up to 45° at the edge of cells .*by up to 45°"
    ):
        plate("inp", folded, cells, left)
    curved = points + np.outer(0.3 * ((points - MOVED) @ TURN[:, 0]) ** 2, TURN[:, 2])
    with pytest.raises(ValueError, match=r"it is curved, neighbours turn by up to .*°"):
        plate("inp", curved, cells, left)


def test_millimetres_and_parts_of_decks(tmp_path):
    """Thicknesses count in the unit of the file; one flat flange of a folded sheet is selected by its set."""
    points, cells, left = in_space("quad", turn=np.eye(3), by=np.zeros(3))
    text = inp(1e3 * points, cells, left, f"*Shell Section, elset=ALL, material=STEEL\n{1e3 * THICKNESS}\n")
    text = text.replace(f"{DENSITY}\n", "7.8e-9\n").replace(str(YOUNG), "2.1e5")
    body = fem.plate(written(tmp_path / "mm.inp", text), unit="1 mm")
    assert body.mass == pytest.approx(DENSITY * 0.06 * THICKNESS, rel=1e-9)
    report = mesh_report(written(tmp_path / "m.inp", inp(*in_space("quad"))))
    assert "shells of 'ALL': 2 mm thick" in words(report) and "plane through" in words(report)
    assert report.measure == pytest.approx(0.06, rel=1e-9)
    up = points[:, [2, 1, 0]]  # a second flange across the first, from their common edge
    both = np.vstack([points, up])
    angle = np.vstack([cells, cells + len(points)])
    sets = {"floor": [np.arange(len(cells))], "wall": [np.arange(len(cells), 2 * len(cells))]}
    bent = meshio.Mesh(both, [("quad", angle)], cell_sets=sets)
    with pytest.raises(ValueError, match="flat"):
        fem.plate(bent, STEEL, thickness=THICKNESS)
    wall = fem.plate(bent, STEEL, thickness=THICKNESS, select="wall")
    np.testing.assert_allclose(wall.centre, [0.0, 0.1, 0.15], atol=1e-12)


def test_sections_are_regions_with_their_thickness(tmp_path):
    sections = "*Elset, elset=A\n1, 2, 3\n*Elset, elset=B\n4, 5, 6\n" + "".join(
        f"*Shell Section, elset={name}, material=STEEL\n{t}\n" for name, t in (("A", 0.001), ("B", 0.003))
    )
    path = written(tmp_path / "two.inp", inp(*in_space("quad"), sections))
    assert {k: s.thickness for k, s in read_contents(path).shells.items()} == {"A": 0.001, "B": 0.003}
    assert fem.plate(path).mass == pytest.approx(DENSITY * 0.03 * 0.004, rel=1e-9)
