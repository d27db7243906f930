"""Drawings: parts, proposed ports, meshes, units, materials, and what is refused.

Some ten seconds, as gmsh starts anew for each drawing. All is skipped without gmsh but for texts and messages.
"""

import json
import sys
import warnings

import meshio
import numpy as np
import pytest
from click.testing import CliRunner
from drawings import INCH, METRE, MILLIMETRE, Sheet, link
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph.cli import main
from flexph.meshes.drawings import worker
from flexph.meshes.drawings.answers import FOLDER
from flexph.meshes.drawings.drawing import MeshRequest, _warn_of_walls, read_drawing
from flexph.meshes.drawings.step_text import entities, length_unit, materials
from flexph.meshes.drawings.triangles import file_surface
from flexph.meshes.files.reading import read_contents

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)


@pytest.fixture(scope="module")
def rod(tmp_path_factory):
    """A connecting rod as STEP and IGES, and its volume, centre and inertia by the kernel in SI units."""
    folder = tmp_path_factory.mktemp("rod")
    with Sheet() as sheet:
        body = link(sheet, (0, 0), (100, 30), low=0, high=24, radius=15, bores=[((0, 0), 9), ((100, 30), 7)])
        body = sheet.joined(body, sheet.cylinder((50, 15, 24), (0, 0, 10), 6))
        volume, centre, inertia = sheet.properties(body)
        sheet.write(folder / "rod.igs")
        sheet.write(folder / "rod.brep")
        sheet.named("rod", body)
        path = sheet.write(folder / "rod.step")
    return path, (1e-9 * volume, 1e-3 * centre, 1e-15 * inertia)


def test_every_bore_and_pin_of_turned_plates_is_found(tmp_path):
    """Ten plates with ten bores or pins each; rounded edges and slots are none."""
    rng, expected = np.random.default_rng(5), []
    with Sheet() as sheet:
        for k in range(10):
            plate = sheet.box((0, 0, 0), (100, 20, 8))
            corner = sheet.box((-1, -1, -1), (3, 3, 9))  # an edge of radius 3: no pin
            corner = sheet.without(corner, sheet.cylinder((3, 3, -1), (0, 0, 10), 3))
            bores, pins = [], []
            slot = sheet.box((90, 8, -1), (95, 12, 9))
            slot = sheet.joined(
                slot, sheet.cylinder((90, 10, -1), (0, 0, 10), 2), sheet.cylinder((95, 10, -1), (0, 0, 10), 2)
            )
            rotation, by = Rotation.random(random_state=rng).as_matrix(), (200.0 * k, 0.0, 0.0)
            for i in range(10):
                radius, x, pin = rng.uniform(1.0, 3.5), 8.0 + 8.0 * i, rng.random() < 0.3
                start, height = ((x, 10, 8), 5) if pin else ((x, 10, -1), 10)
                (pins if pin else bores).append(sheet.cylinder(start, (0, 0, height), radius))
                centre = rotation @ (x, 10.0, 10.5 if pin else 4.0) + by
                expected.append((k, "pin" if pin else "hole", 1e-3 * centre, rotation[:, 2], 1e-3 * radius))
            plate = sheet.joined(sheet.without(plate, corner, slot, *bores), *pins)
            sheet.moved(plate, rotation, by)
        path = sheet.write(tmp_path / "plates.step")
    parts = sorted(read_drawing(path).parts, key=lambda part: np.round(part.centre[0], 1))
    found = [(k, port) for k, part in enumerate(parts) for port in part.ports if port.kind in ("hole", "pin")]
    assert len(found) == len(expected) == 100
    for k, kind, centre, axis, radius in expected:
        near = [
            p for j, p in found if j == k and p.kind == kind and np.linalg.norm(np.subtract(p.centre, centre)) < 1e-8
        ]
        assert len(near) == 1  # 1e-8 m: the kernel writes 15 digits, rotations of it are good to 1e-13
        assert near[0].radius == pytest.approx(radius, rel=1e-9)
        assert abs(np.dot(near[0].axis, axis)) == pytest.approx(1.0, abs=1e-12)


def test_a_meshed_rod_has_the_mass_and_inertia_of_the_kernel(rod):
    path, (volume, centre, inertia) = rod
    part = read_drawing(path).part(None)
    assert part.name == "rod" and part.volume == pytest.approx(volume, rel=1e-9)
    np.testing.assert_allclose(part.inertia, inertia, atol=1e-9 * inertia.max())
    body = fem.solid(path, STEEL, size="20 mm", ports={"big": "hole1", "pin": "pin1"}, reference="big")
    assert body.mass == pytest.approx(7850.0 * volume, rel=1e-3)  # second-order cells around bores
    moments = body.inertia
    np.testing.assert_allclose(moments.centre, centre, atol=1e-3 * 0.1)
    # a port of a rigid face lies at the mean of its nodes
    np.testing.assert_allclose(body.ports["big"].position, [0.0, 0.0, 0.012], atol=1e-4)


def test_names_of_ports_are_the_same_for_all_sizes(rod):
    regions = []
    for size in (0.03, 0.015):
        held = read_contents(rod[0], request=MeshRequest(size))
        facets = held.mesh.cells[1].data
        regions.append([p.name for p in held.ports])
        for port in held.ports:  # the nodes of the region lie on the cylinder or plane of the port
            nodes = np.unique(facets[held.mesh.cell_sets[port.name][1]])
            away = held.mesh.points[nodes] - port.centre
            along = away @ port.axis
            if port.radius is None:
                np.testing.assert_allclose(along, 0.0, atol=1e-9)
            else:
                radii = np.linalg.norm(away - np.outer(along, port.axis), axis=1)
                np.testing.assert_allclose(radii, port.radius, atol=1e-9)
    assert regions[0] == regions[1] == ["hole1", "hole2", "pin1", *(f"plane{k}" for k in range(1, 6))]


@pytest.mark.parametrize(
    ("text", "scale", "word"), [(METRE, 1.0, "m"), (INCH, 0.0254, "inch"), (MILLIMETRE, 1e-3, "mm")]
)
def test_the_unit_of_the_file_counts(rod, tmp_path, text, scale, word):
    own = tmp_path / "own.step"
    own.write_text(rod[0].read_text().replace(MILLIMETRE, text, 1))
    assert length_unit(entities(own)) == word
    part = read_drawing(own).part(None)
    assert part.ports[0].radius == pytest.approx(9.0 * scale, rel=1e-6)
    assert part.volume == pytest.approx(rod[1][0] * (scale / 1e-3) ** 3, rel=1e-6)


def test_iges_and_brep_have_the_same_ports(rod):
    """IGES has free-form surfaces: cylinders are fitted to them."""
    ports = [read_drawing(rod[0]).part(None).ports]
    ports += [read_drawing(rod[0].with_suffix(".igs")).part(None).ports]
    ports += [read_drawing(rod[0].with_suffix(".brep"), unit=1e-3).part(None).ports]
    for others in ports[1:]:
        assert [(p.name, p.kind) for p in others] == [(p.name, p.kind) for p in ports[0]]
        for one, two in zip(ports[0], others, strict=True):
            np.testing.assert_allclose(two.centre, one.centre, atol=1e-8)  # digits of IGES


def test_walls_have_two_cells_unless_they_are_too_many(tmp_path):
    with Sheet() as sheet:
        sheet.without(sheet.box((0, 0, 0), (12, 6, 5)), sheet.box((1, 1, 1), (11, 5, 6)))
        path = sheet.write(tmp_path / "pan.step")
    mesh = read_contents(path, request=MeshRequest(0.003)).mesh
    corners = mesh.cells[0].data[:, :4]
    ends = corners[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
    lengths = np.linalg.norm(np.diff(mesh.points[ends], axis=1), axis=2)
    assert np.median(lengths) < 0.7e-3  # half of the wall is 0.5 mm
    with pytest.warns(UserWarning, match="thinnest wall, 1 mm, has fewer than two cells"):
        read_contents(path, request=MeshRequest(0.003, max_cells=1500))


MATERIAL = """#900010 = PROPERTY_DEFINITION('material property','material name',#5);
#900011 = PROPERTY_DEFINITION_REPRESENTATION(#900010,#900012);
#900012 = REPRESENTATION('material name',(#900013),#900030);
#900013 = DESCRIPTIVE_REPRESENTATION_ITEM('St\\X\\E4hl','');
#900020 = PROPERTY_DEFINITION('material property','density',#5);
#900021 = PROPERTY_DEFINITION_REPRESENTATION(#900020,#900022);
#900022 = REPRESENTATION('density',(#900023),#900030);
#900023 = MEASURE_REPRESENTATION_ITEM('density measure',POSITIVE_RATIO_MEASURE(7.85),#900024);
#900024 = DERIVED_UNIT((#900025,#900026));
#900025 = DERIVED_UNIT_ELEMENT(#900027,1.);
#900026 = DERIVED_UNIT_ELEMENT(#900028,-3.);
#900027 = ( MASS_UNIT() NAMED_UNIT(*) SI_UNIT($,.GRAM.) );
#900028 = ( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.CENTI.,.METRE.) );
"""


def test_material_and_density_of_the_file_count(rod, tmp_path):
    own = tmp_path / "steel.step"
    head, mark, tail = rod[0].read_text().rpartition("ENDSEC;")
    own.write_text(head + MATERIAL + mark + tail)
    part = read_drawing(own).part(None)
    assert (part.material, part.density) == ("Stähl", pytest.approx(7850.0))
    result = CliRunner().invoke(main, ["mesh", str(own), "--size", "30mm", "--json"])
    assert json.loads(result.stdout)["mass"] == pytest.approx(7850.0 * rod[1][0], rel=1e-3)
    with pytest.raises(ValueError, match="'Stähl' of the drawing has no Young's modulus"):
        fem.solid(own, size=0.03)


def test_materials_are_read_from_the_text(tmp_path):
    path = tmp_path / "text.step"
    product = "#5 = PRODUCT_DEFINITION('design','',#6,#9);\n#6 = PRODUCT_DEFINITION_FORMATION('','',#7);\n"
    path.write_text(product + "#7 = PRODUCT('rod','','',(#8));\n" + MATERIAL)
    held = materials(entities(path))
    assert held["rod"].name == "Stähl" and held["rod"].density == pytest.approx(7850.0)


def test_the_command_lists_ports(rod):
    result = CliRunner().invoke(main, ["mesh", str(rod[0]), "--ports", "--json"])
    (part,) = json.loads(result.stdout)["parts"]
    ports = {port["name"]: port for port in part["ports"]}
    assert (part["name"], ports["hole1"]["kind"], ports["plane1"]["radius"]) == ("rod", "hole", None)
    np.testing.assert_allclose(ports["hole2"]["centre"], [0.1, 0.03, 0.012], atol=1e-9)
    assert ports["hole2"]["radius"] == pytest.approx(0.007)
    text = CliRunner().invoke(main, ["mesh", str(rod[0]), "--ports"]).stdout
    assert "hole1: centre (0, 0, 0.012) m, radius 0.009 m, axis (0, 0, 1), length 0.024 m" in text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "size must be given for a drawing"),
        ({"size": 1e-5}, "size must be larger, or max_cells: .* try a size of"),
        ({"size": 0.01, "select": "rodd"}, "'rodd'.*'rod'"),
        ({"size": 0.01, "unit": 1e-3}, "STEP files have their own unit"),
        ({"size": -1.0}, "size must be positive"),
    ],
)
def test_wrong_arguments_are_refused(rod, given, words):
    with pytest.raises(ValueError, match=words):
        fem.solid(rod[0], STEEL, **given)


@pytest.mark.parametrize(("flat", "height"), [(False, 60), (True, 2)])
def test_cells_longer_than_the_part_are_warned_of(tmp_path, flat, height):
    """Millimetres given as metres: gmsh meshes on with a few cells, and the first frequency is off by half."""
    with Sheet() as sheet:
        sheet.box((0, 0, 0), (200, 100, height))
        path = sheet.write(tmp_path / "sheet.step")
    with pytest.warns(UserWarning, match=r"size=12 m is longer than the part, 0.2 m"):
        read_contents(path, request=MeshRequest(12.0, flat=flat))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_contents(path, request=MeshRequest(0.03, flat=flat))


def test_files_that_are_no_drawings_are_refused(rod, tmp_path):
    (tmp_path / "bad.step").write_text("no drawing")
    (tmp_path / "cut.step").write_text(rod[0].read_text()[:3000])
    for name in ("bad.step", "cut.step"):
        with pytest.raises(ValueError, match=r"gmsh cannot read it|closed solids"):
            fem.solid(tmp_path / name, STEEL, size=0.01)
    with pytest.raises(ValueError, match="unit must be given: BREP files have none"):
        fem.solid(rod[0].with_suffix(".brep"), STEEL, size=0.01)


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    (tmp_path / "gmsh.py").write_text("raise OSError('libGLU.so.1: cannot open shared object file')")
    (tmp_path / "rod.step").write_text("ISO-10303-21;")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"flexph\[cad\].*libglu1-mesa.*libGLU.so.1"):
        fem.solid(tmp_path / "rod.step", STEEL, size=0.01)
    result = CliRunner().invoke(main, ["mesh", str(tmp_path / "rod.step")])
    assert result.exit_code == 1 and "libglu1-mesa" in result.output


BOX = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 2.0)])
SIDES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
TRIANGLES = np.array([t for a, b, c, d in SIDES for t in ([a, b, c], [a, c, d])])


def test_a_file_surface_of_triangles_is_meshed(tmp_path):
    pytest.importorskip("gmsh", exc_type=ImportError)
    meshio.write(tmp_path / "box.stl", meshio.Mesh(BOX, [("triangle", TRIANGLES)]))
    body = fem.solid(tmp_path / "box.stl", STEEL, size=0.49e-3, unit="1 mm", ports={"end": lambda x: x[0] < 1e-9})
    assert body.mass == pytest.approx(7850.0 * 2e-9, rel=1e-6)  # STL has single precision


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (TRIANGLES[1:], "watertight: 3 of 18 edges are open"),
        (np.vstack([TRIANGLES[1:], TRIANGLES[:1, ::-1]]), "senses"),
    ],
)
def test_open_surfaces_are_refused_without_trimesh(tmp_path, monkeypatch, cells, words):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    meshio.write(tmp_path / "open.stl", meshio.Mesh(BOX, [("triangle", cells)]))
    with pytest.raises(ValueError, match=words):
        file_surface(tmp_path / "open.stl")
    with pytest.raises(ValueError, match=r"by trimesh: pip install 'flexph\[cad\]'"):
        file_surface(tmp_path / "open.stl")
    with pytest.raises(ValueError, match="unit must be given"):
        fem.solid(tmp_path / "open.stl", STEEL, size=1e-3)


def fine_ball():
    """Points and triangles of a ball of radius 1, outward."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("networkx")
    ball = trimesh.creation.icosphere(subdivisions=3)
    return np.array(ball.vertices), np.array(ball.faces)


def volume(points, cells):
    return np.linalg.det(points[cells]).sum() / 6.0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda x, t: (x, np.vstack([t[:100], t[100:300, ::-1], t[300:]])), "200 triangles turned"),
        (lambda x, t: (x, np.delete(t, [5, 700, 701], axis=0)), "holes filled with"),
        (lambda x, t: (x, np.vstack([t, t[:7]])), "7 repeated triangles dropped"),
        (lambda x, t: (torn(x, t), np.arange(3 * len(t)).reshape(-1, 3)), "of its extent apart merged"),
    ],
    ids=["senses", "holes", "repeated", "torn"],
)
def test_surfaces_are_repaired_with_a_warning(tmp_path, damage, said):
    """The volume of the ball comes back: to single precision, or to that of three flat triangles of 1280."""
    points, cells = fine_ball()
    broken, triangles = damage(points, cells)
    meshio.write(tmp_path / "ball.stl", meshio.Mesh(broken, [("triangle", triangles)]), binary=True)
    with pytest.warns(UserWarning, match=f"was not watertight.*repaired.*{said}"):
        held = file_surface(tmp_path / "ball.stl")
    assert volume(*held) == pytest.approx(volume(points, cells), rel=1e-4)


def torn(points, cells):
    """Corners of single triangles, each moved by 3e-6 of the extent."""
    moved = 6e-6 * np.random.default_rng(1).uniform(-0.5, 0.5, (3 * len(cells), 3))
    return points[cells].reshape(-1, 3) + moved


def test_large_holes_are_not_filled(tmp_path):
    """A hemisphere without a bottom: what closes it nobody knows."""
    points, cells = fine_ball()
    half = cells[points[cells][:, :, 2].mean(axis=1) > 0.0]
    meshio.write(tmp_path / "half.stl", meshio.Mesh(points, [("triangle", half)]), binary=True)
    with pytest.raises(ValueError, match=r"must be watertight.*holes are 0\.3.* of its surface"):
        file_surface(tmp_path / "half.stl")


def test_a_mesh_may_have_another_unit(tmp_path):
    fem.box_mesh((20.0, 10.0, 10.0), (2, 1, 1)).save(str(tmp_path / "box.vtu"))
    body = fem.solid(tmp_path / "box.vtu", STEEL, unit="1 mm")
    assert body.mass == pytest.approx(7850.0 * 2e-6, rel=1e-12)
    with pytest.raises(ValueError, match="size must be left out for a mesh file"):
        fem.solid(tmp_path / "box.vtu", STEEL, size=0.1)


def test_folded_cells_are_warned_of():
    with pytest.warns(UserWarning, match="3 curved cells are folded: give a smaller size"):
        _warn_of_walls({"walls": None, "folded": 3}, 1e-3)


def test_a_full_disk_is_no_missing_library(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(worker, "opened", lambda _: None)
    monkeypatch.setattr(worker, "meshed", full)
    request, answer = tmp_path / "request.json", tmp_path / "answer.json"
    request.write_text('{"task": "mesh"}')
    worker.main(str(request), str(answer))
    assert "No space left" in json.loads(answer.read_text())["refused"]


def test_a_drawing_is_loaded_again_without_gmsh(tmp_path, monkeypatch):
    """Answers lie beside it, by the content of the file and the size of the cells: another one of both needs gmsh."""
    pytest.importorskip("gmsh", exc_type=ImportError)
    with Sheet() as sheet:
        link(sheet, (0, 0), (100, 30), low=0, high=24, radius=15, bores=[((0, 0), 9), ((100, 30), 7)])
        path = sheet.write(tmp_path / "link.step")
    first = fem.solid(path, STEEL, size=0.02, ports={"eye": "hole1"})
    swing = rigid.solid(path, density=7850.0, ports={"eye": "hole1"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "gmsh.py").write_text("raise OSError('no libGLU')")
    monkeypatch.syspath_prepend(tmp_path / "empty")
    again = fem.solid(path, STEEL, size=0.02, ports={"eye": "hole1"})
    np.testing.assert_array_equal(again.view.points, first.view.points)
    assert again.mass == first.mass
    assert rigid.solid(path, density=7850.0, ports={"eye": "hole1"}).mass == swing.mass
    with pytest.raises(ImportError, match="no libGLU"):
        fem.solid(path, STEEL, size=0.021)
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "link.step").write_text(path.read_text().replace("FILE_NAME(", "FILE_NAME( "))
    with pytest.raises(ImportError, match="no libGLU"):
        fem.solid(moved / "link.step", STEEL, size=0.02)
    for file in (tmp_path / FOLDER).iterdir():
        file.write_bytes(file.read_bytes()[:-30])  # damaged: as none
    with pytest.raises(ImportError, match="no libGLU"):
        fem.solid(path, STEEL, size=0.02)
