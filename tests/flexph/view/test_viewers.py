"""Views in a browser and pictures: marker ``view``, which needs plotly, playwright with a chromium, and pyvista."""

import shutil

import numpy as np
import pytest

import fem
from flexph import GROUND, connect, hinge, integrate
from flexph.scenes import motion_scene

pytestmark = [pytest.mark.view, pytest.mark.slow]


@pytest.fixture(scope="module")
def scene():
    nylon = fem.Material(young=2e9, density=1100.0)
    arm = fem.beam(1.0, nylon, fem.Section(width=0.02, height=0.01), elements=3)
    pendulum = connect({"arm": arm}, [hinge("arm.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = pendulum.consistent_state(pendulum.assemble({"arm": (0.0, 0.0, 0.0)}))
    return motion_scene(integrate(pendulum, start, np.linspace(0.0, 0.5, 101)), frames=11)


def test_a_page_turns_and_plays_without_a_network(scene, tmp_path):
    pytest.importorskip("plotly")
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or pytest.skip("no chromium")
    from flexph.view import write_html

    page_file, said = write_html(tmp_path / "view.html", scene), []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--use-gl=swiftshader", "--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(page_file.as_uri())
        page.wait_for_selector(".gl-container canvas", timeout=60_000)
        page.wait_for_timeout(1500)
        first = page.screenshot(path=tmp_path / "first.png")
        assert len(first) > 10_000  # an empty page of this size is smaller
        x = lambda: page.evaluate(  # noqa: E731
            "Array.from(document.querySelector('.js-plotly-plot')._fullData[0].x).reduce((a, b) => a + b, 0)"
        )
        before = x()
        page.evaluate("Plotly.animate(document.querySelector('.js-plotly-plot'), ['10'], {mode: 'immediate'})")
        page.wait_for_timeout(1500)
        assert x() != before
        assert page.screenshot(path=tmp_path / "last.png") != first
        browser.close()
    assert said == []


def test_pictures_and_films_show_something(scene, tmp_path):
    pytest.importorskip("pyvista")
    imageio = pytest.importorskip("imageio.v3")
    from flexph.view import write_film, write_picture

    picture = imageio.imread(write_picture(tmp_path / "a.png", scene, size=(320, 180)))
    assert picture.shape[:2] == (180, 320) and picture[..., :3].std() > 5.0
    film = imageio.imread(write_film(tmp_path / "a.gif", scene, size=(320, 180)), index=None)
    assert len(film) == len(scene.times)
    assert np.abs(film[0].astype(float) - film[-1]).mean() > 0.5
    assert write_film(tmp_path / "a.mp4", scene, size=(320, 192)).stat().st_size > 2000
