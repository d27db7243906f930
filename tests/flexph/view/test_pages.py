"""Pages that show a motion: what they hold is the scene, they are short, and they need no network."""

import gzip
import hashlib
import json
import re
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from streams import positions, streams_of

import fem
import flexph.view
from flexph import GROUND, connect, integrate, spring_damper, weld
from flexph.joints.rows.signs import SIDES
from flexph.scenes import Field, Part, Scene, motion_scene, read_scene, write_scene
from flexph.view import html_fragment, library_script, write_html, write_library
from flexph.view.mesh import creased, creased_each
from flexph.view.packing import RIGID, STEPS, telling_row
from flexph.view.raster import covered, png, seen_dots

BROWSER = Path(flexph.view.__file__).parent / "browser"
PLASTIC = fem.Material(young=2e9, density=1100.0, poisson=0.3)
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACETS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CELLS = np.array([[a, b, c] for a, b, c, _ in FACETS] + [[a, c, d] for a, _, c, d in FACETS])


SECTION = fem.Section(width=0.02, height=0.02)
ARMS = {
    "beam": lambda: fem.beam(1.0, PLASTIC, SECTION, elements=3, dim=3),
    "split beam": lambda: fem.beam(1.0, PLASTIC, SECTION, elements=6, dim=3, split=6),
    "rod": lambda: fem.rod(1.0, PLASTIC, SECTION, elements=3),
    "plate": lambda: fem.plate(
        fem.box_mesh((1.0, 0.1), (3, 1)), PLASTIC, ports={"root": "left", "tip": "right"}, thickness=0.02
    ),
}


@cache
def run_of(arm):
    """An arm that falls under its weight, clamped at one end and pulled at the other."""
    pulled = spring_damper("arm.tip", GROUND.at(1.0, 0.0, 1.0), stiffness=2.0)
    mechanism = connect({"arm": ARMS[arm]()}, [weld("arm.root", GROUND), pulled], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble())
    return integrate(mechanism, start, np.linspace(0.0, 0.1, 9), progress=False)


@pytest.fixture
def solution():
    return run_of("beam")


def extent_of(scene):
    return float(np.linalg.norm(np.ptp(scene.without("arrow").bounds, axis=0)))


@pytest.mark.parametrize("arm", ARMS)
def test_a_page_holds_its_scene(arm):
    """Points to 16 bits of the extent and the error that is not seen, times √3; fields to a share of their largest."""
    solution = run_of(arm)
    scene = motion_scene(solution, forces=True)
    (read,) = streams_of(html_fragment(solution))
    tolerance = np.sqrt(3.0) * (RIGID + 4.0 / 32767.0) * extent_of(scene)
    assert read["times"] == pytest.approx(scene.times, rel=1e-5) and read["row"] == telling_row(scene)
    known = {part.name: part for part in scene.parts}
    assert {part["name"] for part in read["parts"]} == set(known)
    for name, part in known.items():
        own = [piece for piece in read["parts"] if piece["name"] == name]
        for scale in (1.0, 3.0):
            want = (
                part.deformed(scale).points[0 if not part.moves else slice(None)].reshape(-1, part.points.shape[1], 3)
            )
            got = np.concatenate(
                [np.broadcast_to(positions(p, scale), (len(want), p["points"], 3)) for p in own], axis=1
            )
            if len(own) > 1:  # pieces stand in another order
                want, got = (np.sort(points[..., 0] + np.pi * points[..., 1], axis=1) for points in (want, got))
            largest = float(np.abs(part.deformation).max(initial=0.0))
            assert np.abs(got - want).max() <= 4.0 * tolerance + scale * largest / STEPS
        for field, values in part.point_fields.items():
            error = np.abs(own[0]["fields"][field] - values.values).max()
            assert error <= 1.01 * np.abs(values.values).max() / STEPS
    account, ledger = read["account"], solution.ledger
    assert account["residual"] == ledger.largest_residual
    assert account["stored"][-1] == pytest.approx(ledger.total_energy[-1] - ledger.total_energy[0], rel=1e-4)


@pytest.mark.parametrize("arm", ["beam", "split beam"])
def test_signs_follow_the_factor_of_deformations(arm):
    """The spring ends in the middle of the section at the tip, whatever the factor."""
    scene = motion_scene(run_of(arm))
    (pulled,) = (part for part in scene.parts if part.kind == "force")
    for scale in (0.0, 1.0, 5.0):
        tip = scene.parts[0].deformed(scale).points[:, -4:].mean(axis=1)  # the corners of the last section
        end = pulled.deformed(scale).points[:, -SIDES:].mean(axis=1)
        assert np.abs(end - tip).max() < 1e-14  # round-off of lengths of one metre


def part(points, **options):
    return Part("cube", "body", np.asarray(points, dtype=float), CELLS, **options)


def scene_of(*parts, times=2):
    return Scene(np.arange(float(times)), parts, 0.1, 3)


def test_sums_of_changes_wrap_around(tmp_path):
    """From one end of the extent to the other a change is twice the largest number of 16 bits."""
    points = np.array([CUBE, CUBE + 1e4, CUBE])
    (read,) = streams_of(html_fragment(scene_of(part(points), times=3)))
    assert np.abs(positions(read["parts"][0]) - points).max() < 1.0
    noise = np.random.default_rng(0).normal(size=(40, 8))  # no modes have it
    (read,) = streams_of(html_fragment(scene_of(part(CUBE[None], point_fields={"n": Field("Pa", noise)}), times=40)))
    assert np.abs(read["parts"][0]["fields"]["n"] - noise).max() < np.abs(noise).max() / STEPS
    assert read["fields"]["n"]["signed"] and read["fields"]["n"]["low"] == -read["fields"]["n"]["high"]


def test_fields_in_cells_and_of_vectors_are_shown():
    inside = np.arange(24.0).reshape(2, 12)
    arrows = np.ones((2, 8, 3)) * [[[3.0, 4.0, 0.0]]]
    own = part(CUBE[None], cell_fields={"c": Field("Pa", inside)}, point_fields={"v": Field("m/s", arrows)})
    (read,) = streams_of(html_fragment(scene_of(own), field="v"))
    (cube,) = read["parts"]
    assert read["field"] == "v" and np.abs(cube["fields"]["v"] - 5.0).max() < 5.0 / STEPS
    corner = cube["corners"][cube["triangles"]].reshape(-1, 3)  # each triangle has points of its own
    for row in (0, 1):
        assert np.abs(cube["fields"]["c"][row][corner] - inside[row][:, None]).max() < 23.0 / STEPS


def test_corners_are_split_along_sharp_edges_alone():
    corners, triangles = creased(CUBE, CELLS)
    assert len(corners) == 24 and np.array_equal(corners[triangles], CELLS)
    angle = 2.0 * np.pi * np.arange(24) / 24
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    tube = np.vstack([np.column_stack([ring, np.full(24, z)]) for z in (0.0, 1.0)])
    j, k = np.arange(24), (np.arange(24) + 1) % 24
    sides = np.vstack([np.column_stack([j, k, k + 24]), np.column_stack([j, k + 24, j + 24])])
    assert len(creased(tube, sides).corners) == 48
    for own, alone in zip(creased_each([CUBE, tube], [CELLS, sides]), [(CUBE, CELLS), (tube, sides)], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(own, creased(*alone), strict=True))


def test_the_nearest_triangle_is_seen():
    """Areas of two triangles, of which the one in front covers half of the other."""
    behind = [[0.0, 0.0, 0.0], [40.0, 0.0, 0.0], [0.0, 40.0, 0.0]]
    front = [[0.0, 0.0, 1.0], [20.0, 0.0, 1.0], [0.0, 40.0, 1.0]]
    for order in ([0, 1], [1, 0]):
        corners = np.array([behind, front])[order]
        dots = seen_dots(corners, (50, 45))
        areas = [(dots.triangle == order.index(k)).sum() for k in (0, 1)]
        assert areas == pytest.approx([400, 400], abs=40)  # dots along the edges
        places = np.stack([dots.number % 50, dots.number // 50], axis=-1) + 0.5
        inside = np.einsum("ij,ijk->ik", dots.shares, corners[dots.triangle])
        np.testing.assert_allclose(inside, np.column_stack([places, dots.depth]), atol=1e-12)  # round-off of 40 dots
        mask = covered(corners, (50, 45))
        assert mask.sum() == len(dots.number) and mask.ravel()[dots.number].all()


def test_a_picture_is_written_as_it_is():
    picture = np.random.default_rng(0).integers(0, 256, (45, 50, 4), dtype=np.uint8)
    data = zlib.decompress(re.search(rb"IDAT(.*).{4}\0\0\0\0IEND", png(picture), re.DOTALL)[1])
    assert np.array_equal(np.frombuffer(data, np.uint8).reshape(45, 201)[:, 1:].reshape(45, 50, 4), picture)


def test_pages_are_short_and_need_no_network(solution, tmp_path):
    page = write_html(tmp_path / "page.html", solution, title="arm <1>").read_text(encoding="utf-8")
    assert len(page) < 300_000 and "<title>arm &lt;1&gt;</title>" in page and "data:image/png;base64," in page
    script = gzip.decompress((BROWSER / "viewer.js.gz").read_bytes()).decode()
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    assert not re.findall(r"\b(?:fetch|import|importScripts)\(\s*[\"'`]", script)
    assert script.isascii() and "</script" not in script
    with_address, alone = html_fragment(solution, library="view.js"), html_fragment(solution, library=False)
    assert with_address.startswith(alone) and '<script src="view.js" defer>' in with_address
    assert alone + "\n" + library_script() == html_fragment(solution)
    assert write_library(tmp_path / "view.js").read_text(encoding="utf-8") == script


def test_the_bundle_is_that_of_its_sources():
    """Else: npm ci && npm run build, in flexph/view/browser."""
    digest = hashlib.sha256()
    sources = sorted(path for path in BROWSER.iterdir() if path.suffix in (".js", ".css"))
    for path in [*sources, BROWSER / "package-lock.json"]:
        digest.update(path.read_bytes())
    script = gzip.decompress((BROWSER / "viewer.js.gz").read_bytes()).decode()
    assert f"Sources: {digest.hexdigest()}" in script[:400]
    needed = json.loads((BROWSER / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    locked = json.loads((BROWSER / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in needed} == needed
    assert "three.js authors" in (BROWSER / "LICENSE-three.txt").read_text(encoding="utf-8")


def test_scenes_in_files_keep_the_account(solution, tmp_path):
    read = read_scene(write_scene(tmp_path / "scene.vtkhdf", motion_scene(solution)))
    assert read.account is not None and read.account.residual == solution.ledger.largest_residual
    assert read.account.work == pytest.approx(
        np.append(0.0, np.cumsum(solution.ledger.total_work)), rel=1e-4, abs=1e-12
    )
