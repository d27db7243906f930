"""A notebook that is executed: what its cells show, and that its page has a moving view.

Ten seconds, as a kernel of Jupyter is started.
"""

import base64
import re
import shutil
from html import unescape

import pytest
from streams import streams_of

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SOURCE = """\
import numpy as np, fem
from flexph import GROUND, connect, hinge, integrate
strip, steel = fem.Section(width=0.02, height=0.002), fem.Material(young=2.1e11, density=7850.0)
arm = connect({"arm": fem.beam(0.4, steel, strip, elements=2)}, [hinge("arm.root", GROUND)], gravity=(0.0, -9.81))
arm
---
pose = arm.assemble({"arm": (0.0, 0.0, 0.0)})
pose
---
solution = integrate(arm, arm.consistent_state(pose), np.linspace(0.0, 0.05, 51))
solution
---
solution.show()
---
solution.ledger
---
from flexph.display.bars import progress
list(progress(range(2), delay=0.0, leave=True))
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in SOURCE.split("---\n")])
    folder = tmp_path_factory.mktemp("notebook")
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook.cells


def html_in(cell):
    return "".join(output["data"].get("text/html", "") for output in cell.outputs if "data" in output)


def test_cells_show_values_as_html(cells):
    mechanism, pose, solution, shown, ledger = map(html_in, cells[:5])
    assert "<table>" in mechanism and "<iframe" in mechanism
    assert "centre of mass [m]" in pose and "kinetic arm" in ledger
    for html in (solution, shown):
        (scene,) = streams_of(unescape(re.search('srcdoc="([^"]*)"', html)[1]))
        assert len(scene["times"]) == 51
    assert "largest balance residual" in solution


def test_a_progress_bar_stands_in_the_notebook(cells):
    told = "".join(output.get("text", "") for output in cells[5].outputs if output.output_type == "stream")
    widget = any("application/vnd.jupyter.widget-view+json" in o.get("data", {}) for o in cells[5].outputs)
    assert widget or "2/2" in told or "100%" in told


@pytest.mark.view
def test_the_page_of_the_notebook_moves(cells, tmp_path):
    """The view in the page of a notebook draws something, and something else a moment later."""
    sync = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or pytest.skip("no chromium")
    page = tmp_path / "notebook.html"
    page.write_text("\n".join(map(html_in, cells)), encoding="utf-8")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--use-gl=swiftshader", "--no-sandbox"])
        shown = browser.new_page()
        shown.goto(page.as_uri())
        frame = shown.frame_locator("iframe").nth(1)
        canvas = frame.locator("canvas").first
        canvas.wait_for()
        frames = []
        for _ in range(2):
            shown.wait_for_timeout(700)
            frames.append(base64.b64encode(canvas.screenshot()))
        browser.close()
    assert frames[0] != frames[1]
