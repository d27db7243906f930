"""Views in a browser: marker ``view``, which needs playwright with a chromium.

Some minutes, as each test starts a browser that draws by software.
"""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from browsers import ARGUMENTS, pixels
from streams import positions, streams_of

import fem
from flexph import GROUND, connect, hinge, integrate, modes
from flexph.report import write_report
from flexph.scenes import mode_scene, motion_scene, write_scene
from flexph.view import write_html

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
def shown(file, renderer="canvas", **context):
    """A page in a browser without a network, and what its console says of errors."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or pytest.skip("no chromium")
    said = []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_context(offline=True, reduced_motion="reduce", **context).new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto(f"{file.as_uri()}#{renderer}")
        if context.get("java_script_enabled", True):
            page.wait_for_function("document.querySelector('.flexph-view').dataset.pictures > 0", timeout=60_000)
        yield page, said
        browser.close()


def row_of(page):
    return page.evaluate("document.querySelector('.flexph-view').flexph.state.row")


@pytest.mark.parametrize(
    "kind, renderer", [("view", "webgl"), ("view", "canvas"), ("modes", "canvas"), ("report", "webgl")]
)
def test_a_page_shows_a_motion_that_its_slider_moves(kind, renderer, solution, scene, tmp_path):
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
    with shown(page_file, renderer) as (page, said):
        assert page.locator(".flexph-view").first.get_attribute("data-drawn") == renderer
        page.keyboard.press("Tab")
        first = pixels(page)
        assert first.std() > 3.0  # a canvas of one colour has none
        slider = page.get_by_label("time", exact=True).first
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"])
        moved = pixels(page)
        assert np.abs(moved - first).max() > 50.0 and np.abs(moved - first).mean() > 0.05
    assert said == []


def test_the_browser_reads_what_was_written(solution, tmp_path):
    """Positions and fields in the browser are those of the stream as Python reads it, to single precision."""
    file = write_html(tmp_path / "page.html", solution, scale=3.0)
    (scene,) = streams_of(file.read_text(encoding="utf-8"))
    ask = """row => { const {scene: {parts}, state} = document.querySelector('.flexph-view').flexph;
        return parts.map(p => [[...flexph.positionsOf(p, row, 0, state.factor)],
            Object.keys(p.fields).map(name => [...flexph.valuesOf(p, name, row, 0)])]); }"""
    with shown(file) as (page, said):
        for row in (0, 17, len(scene["times"]) - 1):
            for part, (points, fields) in zip(scene["parts"], page.evaluate(ask, row), strict=True):
                want = positions(part, 3.0)[row if part["times"] > 1 else 0]
                assert np.abs(np.reshape(points, (-1, 3)) - want).max() < 1e-5 * scene["extent"]
                for values, own in zip(fields, part["fields"].values(), strict=True):
                    assert np.abs(np.array(values) - own[row]).max() <= 1e-5 * np.abs(own).max()
    assert said == []


def test_keys_and_controls_do_what_they_say(solution, tmp_path):
    file = write_html(tmp_path / "page.html", solution)
    with shown(file) as (page, said):
        telling = row_of(page)
        page.get_by_role("img", name="moving view").focus()
        for key, row in (("Home", 0), ("ArrowRight", 1), ("End", 100), ("m", telling)):
            page.keyboard.press(key)
            assert row_of(page) == row
        page.get_by_role("button", name="play").click()
        page.wait_for_timeout(300)
        page.get_by_role("button", name="pause").click()
        assert row_of(page) > telling
        plain = pixels(page)
        page.get_by_role("button", name="Forces").click()
        assert np.abs(pixels(page) - plain).max() > 50.0
        page.get_by_role("button", name="Forces").click()
        page.get_by_label("field in colour").select_option("axial stress")
        assert "axial stress" in page.locator(".fx-bar").inner_text()
        ends = page.locator(".fx-scale i").all_inner_texts()
        assert ends[0] == f"−{ends[-1]}" and ends[2] == "0"
        page.get_by_label("range of the colours").select_option("instant")
        page.wait_for_function(
            "ends => String([...document.querySelectorAll('.fx-scale i')].map(e => e.innerText)) !== String(ends)",
            arg=ends,
            timeout=10_000,
        )
        page.locator(".fx-parts summary").click()
        page.get_by_label("arm", exact=True).uncheck()
        page.locator(".fx-parts summary").click()
        hidden = pixels(page)
        assert np.abs(hidden - plain).max() > 50.0
    assert said == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1400, 900), (400, 800)])
def test_nothing_covers_anything(theme, size, solution, tmp_path):
    file = write_html(tmp_path / "page.html", solution)
    viewport = {"width": size[0], "height": size[1]}
    with shown(file, color_scheme=theme, viewport=viewport) as (page, said):
        shown_elements = page.locator(
            ".fx-head > *, .fx-stage, .fx-name, .fx-scale, .fx-time > *, .fx-account svg, .fx-account dd, .fx-balance"
        )
        boxes = [shown_elements.nth(k).bounding_box() for k in range(shown_elements.count())]
        for k, a in enumerate(boxes):
            assert a["x"] >= 0 and a["x"] + a["width"] <= size[0] and a["y"] + a["height"] <= size[1]
            for b in boxes[:k]:
                apart = max(
                    b[o] - a[o] - a[e] for a, b in ((a, b), (b, a)) for o, e in (("x", "width"), ("y", "height"))
                )
                assert apart > -1.0  # pixel
        assert (pixels(page, ".fx-note").mean() > 128) == (theme == "light")
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert said == []


def test_without_scripts_a_page_is_a_picture(solution, tmp_path):
    with shown(write_html(tmp_path / "page.html", solution), java_script_enabled=False) as (page, said):
        assert pixels(page, ".flexph-view > img").std() > 3.0
    assert said == []


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
