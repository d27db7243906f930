"""Flat parts of drawings as plates: middle surface, thickness, ports, and what is not flat.

Some five seconds, as gmsh starts anew for each drawing. All is skipped without gmsh.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from drawings import Sheet
from scipy.spatial.transform import Rotation

import fem
from flexph.bodies.held_body import HeldBody
from flexph.cli import main
from flexph.meshes.drawings.drawing import MeshRequest, read_drawing
from flexph.meshes.files.reading import read_contents
from flexph.models import load_model

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
TURN = Rotation.from_euler("xyz", [20.0, 30.0, 40.0], degrees=True).as_matrix()
MOVED = np.array([5.0, 6.0, 7.0])  # mm


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    """A sheet of 2 mm with two bores, turned and moved; its volume, centre and inertia by the kernel in SI units."""
    with Sheet() as drawn:
        body = drawn.without(
            drawn.box((0, 0, 0), (100, 60, 2)),
            drawn.cylinder((25, 30, -1), (0, 0, 4), 8),
            drawn.cylinder((75, 30, -1), (0, 0, 4), 12),
        )
        volume, centre, inertia = drawn.properties(body)
        drawn.moved(body, TURN, MOVED)
        drawn.named("sheet", body)
        path = drawn.write(tmp_path_factory.mktemp("sheet") / "sheet.step")
    return path, 1e-9 * volume, 1e-3 * (TURN @ centre + MOVED), 1e-15 * TURN @ inertia @ TURN.T


def test_a_sheet_has_the_mass_and_inertia_of_the_kernel_and_its_ports(sheet):
    """Within 1e-4, as the rim of a bore of 24 sides is moved to the area of the circle; in place to round-off."""
    path, volume, centre, inertia = sheet
    body = fem.plate(path, STEEL, size="20 mm", ports={"large": "hole1", "small": "hole2"})
    assert body.mass == pytest.approx(7850.0 * volume, rel=1e-4)
    np.testing.assert_allclose(body.centre, centre, atol=1e-6)
    np.testing.assert_allclose(body.moments, 7850.0 * inertia, atol=2e-4 * 7850.0 * inertia.max())
    for name, (x, y) in {"large": (75.0, 30.0), "small": (25.0, 30.0)}.items():
        np.testing.assert_allclose(body.ports[name].position, 1e-3 * (TURN @ (x, y, 1.0) + MOVED), atol=1e-9)
    part = read_drawing(path).part(None)
    for port in part.ports[:2]:
        own = body.ports[{"hole1": "large", "hole2": "small"}[port.name]]
        np.testing.assert_allclose(own.position, port.centre, atol=1e-9)


def test_names_of_edges_are_the_same_for_all_sizes(sheet):
    names = []
    for size in (0.03, 0.015):
        held = read_contents(sheet[0], request=MeshRequest(size, flat=True))
        rim = held.mesh.cells[1].data
        names.append(sorted(held.mesh.cell_sets))
        for port in held.ports:
            nodes = np.unique(rim[held.mesh.cell_sets[port.name][1]])
            away = held.mesh.points[nodes] - port.centre
            if port.kind == "hole":  # beyond the circle by less than the rise of an arc of 15°
                radii = np.linalg.norm(away - np.outer(away @ port.axis, port.axis), axis=1)
                assert len(nodes) >= 24 and np.all(radii >= port.radius)
                assert np.all(radii < port.radius * (2.0 - np.cos(np.pi / 24.0)))
            elif len(nodes):  # a face of the rim
                np.testing.assert_allclose(away @ port.axis, 0.0, atol=1e-9)
    assert names[0] == names[1] and {"sheet", "hole1", "hole2", "plane1", "plane6"} <= set(names[0])


@pytest.mark.slow
def test_a_drawing_is_refined_until_its_frequencies_are_known(sheet):
    """Another mesh by sizes from the estimate; the frequency is that of a fine mesh within the tolerance."""
    rounds = []
    to = fem.Refinement(2e-4, modes=2, watch=rounds.append)
    options = {"ports": {"grip": "hole2"}, "reference": "grip"}
    fem.plate(sheet[0], STEEL, size="40 mm", refine=to, **options)
    assert len(rounds) > 1 and rounds[-1].worst <= 2e-4 and rounds[-1].cells > rounds[0].cells
    fine = HeldBody(fem.plate(sheet[0], STEEL, size="4 mm", **options))
    modes = fine.modes(2)
    squares = fine.elastic.energies(modes).diagonal() / np.einsum("nk,nk->k", modes, fine.mass @ modes)
    np.testing.assert_allclose(rounds[-1].values, np.sqrt(squares) / (2.0 * np.pi), rtol=2e-3)  # and the polygon
    with pytest.raises(ValueError, match="got node numbers"):
        fem.plate(sheet[0], STEEL, size="40 mm", refine=to, ports={"grip": [0, 1]}, reference="grip")


def test_commands_and_model_files_take_flat_parts(sheet, tmp_path):
    asked = CliRunner().invoke(main, ["mesh", str(sheet[0]), "--plate", "--size", "30mm", "--json"])
    report = json.loads(asked.output)
    assert report["cells"].keys() == {"triangle", "line"} and any("2 mm thick" in note for note in report["notes"])
    refined = [*("--tolerance", "2%", "--material", "2.1e11,7850,0.3", "--modes", "2", "--held", "hole2"), "--json"]
    found = CliRunner().invoke(main, ["mesh", str(sheet[0]), "--plate", "--size", "30mm", *refined])
    values = json.loads(found.output)
    assert values["rounds"][-1]["error"] <= 0.02 and [c["name"] for c in values["criteria"]] == ["mode 1", "mode 2"]
    model = tmp_path / "flap.yaml"
    model.write_text(
        "materials: {steel: {young: 210 GPa, density: 7850 kg/m^3, poisson: 0.3}}\n"
        "bodies:\n  flap:\n    kind: plate\n"
        f"    mesh: {sheet[0].name}\n    size: 30 mm\n    material: steel\n    ports: {{grip: hole2}}\n"
        "    reference: grip\n    refine: {tolerance: 0.05, modes: 1}\n"
        "connections:\n  - {kind: weld, first: flap.grip, second: ground}\n"
    )
    (tmp_path / sheet[0].name).write_bytes(sheet[0].read_bytes())
    body = load_model(model).mechanism.bodies["flap"]
    assert body.mass == pytest.approx(7850.0 * sheet[1], rel=1e-4)


def test_a_thin_flexible_part_of_an_assembly_is_proposed_as_a_plate(tmp_path):
    """A sheet on the pin of a base: its port lies where the joint is, at the face, and the mechanism assembles."""
    with Sheet() as drawn:
        base = drawn.joined(drawn.box((-20, -20, -10), (20, 20, 0)), drawn.cylinder((0, 0, 0), (0, 0, 3), 5))
        arm = drawn.without(drawn.box((-10, -10, 0), (80, 10, 2)), drawn.cylinder((0, 0, -1), (0, 0, 4), 5))
        drawn.named("base", base)
        drawn.named("arm", arm)
        path = drawn.write(tmp_path / "swing.step")
    asked = [*("new", str(tmp_path / "swing"), "--from", str(path)), "--density", "7850", "--flexible", "arm"]
    done = CliRunner().invoke(main, [*asked, "--size", "10mm", "--ground", "base"])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "swing.yaml").read_text()
    assert "kind: plate" in text and "flat and 2 mm thick" in text
    mechanism = load_model(tmp_path / "swing.yaml").mechanism
    arm = mechanism.bodies["arm"]
    assert arm.mass == pytest.approx(7850.0 * 1e-9 * (90.0 * 20.0 - np.pi * 25.0) * 2.0, rel=1e-4)
    mechanism.assemble()


def test_what_is_not_flat_is_refused_by_its_faces(tmp_path):
    with Sheet() as drawn:
        stepped = drawn.joined(drawn.box((0, 0, 0), (50, 20, 2)), drawn.box((50, 0, 0), (80, 20, 4)))
        chamfered = drawn.joined(drawn.box((0, 50, 0), (50, 90, 2)), drawn.ball((25, 70, 1), 6))
        drawn.named("stepped", stepped)
        drawn.named("bossed", chamfered)
        path = drawn.write(tmp_path / "stepped.step")
    with pytest.raises(ValueError, match=r"part 'stepped' must be flat .* for a plate: its thickness"):
        fem.plate(path, STEEL, size=0.01, select="stepped")  # an outline along y, 20 mm wide
    with pytest.raises(ValueError, match=r"part 'bossed' must be flat and of one thickness for a plate: no two"):
        fem.plate(path, STEEL, size=0.01, select="bossed")
    with pytest.raises(ValueError, match="size must be given for a drawing"):
        fem.plate(path, STEEL)
