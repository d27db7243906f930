"""Views in a browser and pictures: marker ``view``, which needs playwright with a chromium, and pyvista."""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest

import fem
from flexph import GROUND, connect, hinge, integrate, modes
from flexph.report import write_report
from flexph.scenes import mode_scene, motion_scene, write_scene

pytestmark = [pytest.mark.view, pytest.mark.slow]


@pytest.fixture(scope="module")
def solution():
    nylon = fem.Material(young=2e9, density=1100.0)
    arm = fem.beam(1.0, nylon, fem.Section(width=0.02, height=0.01), elements=3)
    pendulum = connect({"arm": arm}, [hinge("arm.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = pendulum.consistent_state(pendulum.assemble({"arm": (0.0, 0.0, 0.0)}))
    return integrate(pendulum, start, np.linspace(0.0, 0.5, 101))


@pytest.fixture(scope="module")
def scene(solution):
    return motion_scene(solution, frames=11, forces=True)


@contextmanager
def shown(file):
    """A page in a browser without a network, and what its console says of errors."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or pytest.skip("no chromium")
    said = []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--use-gl=swiftshader", "--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto(file.as_uri())
        page.wait_for_selector(".gl-container canvas", timeout=60_000)
        yield page, said
        browser.close()


def pixels(page):
    """The picture of the canvas, once it has been drawn."""
    imageio = pytest.importorskip("imageio.v3")
    page.wait_for_timeout(2000)
    return imageio.imread(page.locator(".gl-container canvas").first.screenshot(), extension=".png")[..., :3].astype(
        float
    )


@pytest.mark.parametrize("kind", ["view", "modes", "report"])
def test_a_page_shows_a_motion_that_its_slider_moves(kind, solution, scene, tmp_path):
    from click.testing import CliRunner

    from flexph.cli import main

    page_file = tmp_path / "page.html"
    if kind == "report":
        write_report(page_file, solution)
    else:
        mechanism, pose = solution.mechanism, solution.mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
        light = connect(mechanism.bodies, mechanism.connections)
        own = scene if kind == "view" else mode_scene(light, pose, modes(light.linearize(pose), 2))
        write_scene(tmp_path / "scene.vtkhdf", own)
        result = CliRunner().invoke(main, ["view", str(tmp_path), "--html", str(page_file)])
        assert result.exit_code == 0, result.output
    with shown(page_file) as (page, said):
        first = pixels(page)
        assert first.std() > 3.0  # a canvas of one colour has none
        rail = page.locator(".slider-rail-touch-rect").last
        rail.scroll_into_view_if_needed()
        box = rail.bounding_box()
        page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"])
        moved = pixels(page)
        assert np.abs(moved - first).max() > 50.0 and np.abs(moved - first).mean() > 0.05
    assert said == []


def test_pictures_and_films_show_something(scene, tmp_path):
    pytest.importorskip("pyvista")
    imageio = pytest.importorskip("imageio.v3")
    from flexph.view import write_film, write_picture

    picture = imageio.imread(write_picture(tmp_path / "a.png", scene, size=(320, 180)))
    assert picture.shape[:2] == (180, 320) and picture[..., :3].std() > 5.0
    arrows = imageio.imread(write_picture(tmp_path / "b.png", scene, size=(320, 180), forces=True))
    assert np.abs(arrows.astype(float) - picture).mean() > 0.1
    film = imageio.imread(write_film(tmp_path / "a.gif", scene, size=(320, 180)), index=None)
    assert len(film) == len(scene.times)
    assert np.abs(film[0].astype(float) - film[-1]).mean() > 0.5
    assert write_film(tmp_path / "a.mp4", scene, size=(320, 192)).stat().st_size > 2000


def test_vtk_reads_the_file_of_a_scene(scene, tmp_path):
    """The same points at all times, by the reader that ParaView has."""
    vtk = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(write_scene(tmp_path / "scene.vtkhdf", scene)))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == len(scene.times)
    for row in (0, 5, 10):
        reader.SetStep(row)
        reader.Update()
        data = reader.GetOutputDataObject(0)
        assert data.GetNumberOfPartitionedDataSets() == len(scene.parts)
        for number, part in enumerate(scene.parts):
            grid = data.GetPartition(number, 0)
            np.testing.assert_allclose(vtk_to_numpy(grid.GetPoints().GetData()), part.at(row), atol=1e-6)
            for name, values in part.point_fields.items():
                read = vtk_to_numpy(grid.GetPointData().GetArray(name))
                np.testing.assert_allclose(read, values.values[row], rtol=1e-6)
