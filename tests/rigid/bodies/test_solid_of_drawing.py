"""Rigid bodies of drawings: mass properties of the kernel, ports by name, and closed surfaces for pictures.

Some seconds, as gmsh reads a drawing in a process of its own; without it only the turning of surfaces is tested.
"""

import numpy as np
import pytest
from drawings import Sheet, link

import rigid
from flexph.meshes.drawings.surfaces import outward, part_surface


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    """A link with two bores and a box with a cavity, in millimetres, with their properties by the kernel."""
    path = tmp_path_factory.mktemp("drawing") / "two.step"
    with Sheet() as sheet:
        parts = {
            "link": link(sheet, (0, 0), (60, 30), low=0, high=8, radius=10, bores=[((0, 0), 5), ((60, 30), 4)]),
            "hollow": sheet.without(sheet.box((100, 0, 0), (140, 30, 20)), sheet.box((110, 10, 5), (120, 20, 15))),
        }
        for name, part in parts.items():
            sheet.named(name, part)
        properties = {name: sheet.properties(part) for name, part in parts.items()}
        sheet.write(path)
    return path, properties


@pytest.mark.parametrize("name", ["link", "hollow"])
def test_mass_and_inertia_are_those_of_the_kernel(drawing, name):
    path, properties = drawing
    volume, centre, inertia = properties[name]
    body = rigid.solid(path, density=7850.0, select=name, ports={"o": (0.0, 0.0, 0.0)})
    assert body.mass == pytest.approx(7.85e-6 * volume, rel=1e-9)
    np.testing.assert_allclose(body.centre, 1e-3 * centre, atol=1e-12)
    np.testing.assert_allclose(body.moments, 7.85e-12 * inertia, rtol=1e-9, atol=1e-9 * body.moments.max())


def test_mass_and_inertia_of_spline_faces_are_those_of_the_cylinders_that_they_are(tmp_path):
    """A mirrored link has rational splines as faces; the kernel, with too few points, is wrong by 3e-3 of its mass."""
    with Sheet() as sheet:
        part = link(sheet, (0, 0), (60, 30), low=0, high=8, radius=10, bores=[((0, 0), 5), ((60, 30), 4)])
        part = sheet.without(part, sheet.ball((30, 15, 4), 3))
        volume, centre, inertia = sheet.properties(part)
        sheet.kernel.mirror(part, 1, 0, 0, 20)
        wrong, *_ = sheet.properties(part)
        path = sheet.write(tmp_path / "mirrored.step")
    assert abs(wrong / volume - 1.0) > 1e-3
    body = rigid.solid(path, density=7850.0, ports={"o": (0.0, 0.0, 0.0)})
    turn = np.diag([-1.0, 1.0, 1.0])
    assert body.mass == pytest.approx(7.85e-6 * volume, rel=2e-5)  # second-order triangles, 48 in a turn
    np.testing.assert_allclose(body.centre, 1e-3 * (turn @ centre - [40.0, 0.0, 0.0]), atol=1e-6)
    np.testing.assert_allclose(body.moments, 7.85e-12 * turn @ inertia @ turn, atol=2e-5 * body.moments.max())


@pytest.mark.parametrize("name", ["link", "hollow"])
def test_the_surface_encloses_the_volume(drawing, name):
    """Chords of 24 cells to a turn enclose 1 % less of a cylinder (more with its bore)."""
    path, properties = drawing
    _, points, triangles, _ = part_surface(path, select=name)
    enclosed = np.linalg.det(points[triangles]).sum() / 6.0
    assert enclosed == pytest.approx(1e-9 * properties[name][0], rel=0.01)


def test_ports_of_a_drawing_have_names(drawing):
    body = rigid.solid(drawing[0], density=1.0, select="link", ports={"hub": "hole1", "eye": "hole2", "o": (0, 0, 0)})
    np.testing.assert_allclose(body.ports["hub"].position, (0.0, 0.0, 0.004), atol=1e-9)
    np.testing.assert_allclose(body.ports["eye"].position, (0.06, 0.03, 0.004), atol=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ports": {"a": "hole7"}}, r"hole7.*hole1.*hole2"),
        ({"select": "rod"}, r"rod.*link.*hollow"),
        ({"select": None}, "select must name one of the 2 parts"),
        ({"density": None}, "density must be given in kg/m³: part 'link' of two.step has none"),
        ({"unit": 1e-3}, "unit must be left out: STEP files have their own unit"),
        ({"omit": ["MASS"]}, "omit must be left out for a drawing"),
    ],
)
def test_wrong_arguments_are_refused(drawing, given, words):
    with pytest.raises(ValueError, match=words):
        rigid.solid(drawing[0], **{"density": 1.0, "select": "link", "ports": {"a": (0.0, 0.0, 0.0)}, **given})


def test_meshes_have_a_density_given_and_no_names_of_ports(tmp_path):
    (tmp_path / "t.stl").write_text("solid\nendsolid")
    with pytest.raises(ValueError, match="density must be given in kg/m³, such as 7850"):
        rigid.solid(tmp_path / "t.stl", ports={})
    with pytest.raises(ValueError, match=r"must be points .* got 'hole1' for 'a'"):
        rigid.solid(tmp_path / "t.stl", density=1.0, ports={"a": "hole1"})


CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


@pytest.mark.parametrize("seed", range(6))
def test_faces_of_any_sense_are_turned_outward(seed):
    """A cube with a cubic cavity, each face turned at random: the volumes are 27 and −1."""
    rng = np.random.default_rng(seed)
    points = np.vstack([3.0 * CORNERS, 1.0 + CORNERS])
    triangles, faces = [], []
    for shell in range(2):
        for k, (a, b, c, d) in enumerate(SIDES):
            own = np.array([(a, b, c), (a, c, d)]) + 8 * shell
            triangles.append(own[:, ::-1] if rng.random() < 0.5 else own)
            faces += [10 * shell + k] * 2
    turned = outward(points, np.vstack(triangles), np.array(faces))
    volumes = np.linalg.det(points[turned] - 0.5).reshape(2, -1).sum(axis=1) / 6.0
    np.testing.assert_allclose(volumes, (27.0, -1.0), atol=1e-12)
