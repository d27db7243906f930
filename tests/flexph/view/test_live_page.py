"""The page of a run in a browser: marker ``view``, which needs playwright with a chromium.

Half a minute, as each test starts a browser that draws by software.
"""

import shutil
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from browsers import ARGUMENTS, pixels
from live_runs import LONG, followed, pendulum

pytestmark = [pytest.mark.view, pytest.mark.slow]


@contextmanager
def browsed(address, **context):
    """The page of an address, and what its console says of errors and other addresses."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or pytest.skip("no chromium")
    said = []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_context(**context).new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(address[:20]) else said.append(request.url))
        page.goto(address)
        page.locator(".fx-state").wait_for(timeout=60_000)
        yield page, said
        browser.close()


def state(page, wanted):
    page.locator(f".fx-state[data-state={wanted}]").wait_for(timeout=20_000)


@pytest.mark.parametrize("size", [(1280, 800), (800, 700), (400, 800)])
def test_a_page_pauses_steps_steers_and_ends_its_run(size):
    mechanism, start = pendulum(flexible=True)
    live = {"pace": 1.0, "sliders": {"motor": (-20.0, 20.0), "wind[1]": (-9.0, 9.0)}}
    viewport = {"width": size[0], "height": size[1]}
    with followed(mechanism, start, LONG, live=live) as (client, result):
        address = f"http://127.0.0.1:{client.line.port}/?token={client.token}"
        with browsed(address, viewport=viewport) as (page, said):
            state(page, "running")
            page.get_by_label("motor", exact=True).fill("15")
            page.wait_for_timeout(600)
            page.get_by_role("button", name="Pause").click()
            state(page, "paused")
            held, shown = page.locator(".fx-now-time").inner_text(), pixels(page)
            assert shown.std() > 3.0 and page.locator(".fx-now-time").inner_text() == held
            page.get_by_role("button", name="Step").click()
            page.wait_for_timeout(500)
            assert page.locator(".fx-speed").inner_text().endswith("steps")
            assert page.locator(".fx-now-time").inner_text() != held
            boxes = [page.locator(f".{name}").bounding_box() for name in PARTS]
            for above, below in pairwise(boxes):  # none lies over the next
                assert above["y"] + above["height"] <= below["y"] + 1.0
            assert boxes[-1]["y"] + boxes[-1]["height"] <= size[1] + 1.0
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
            page.get_by_role("button", name="Continue").click()
            state(page, "running")
            page.get_by_role("button", name="End").click()
            state(page, "ended")
            assert page.get_by_role("button", name="Pause").is_disabled()
        run = result.result(timeout=20)
    assert said == []
    assert run.sliders["motor"].values[-1].tolist() == [15.0] and run.times[-1] < 100.0
    assert np.abs(run.ledger.work["motor"]).sum() > 0.0


PARTS = ("fx-head", "fx-stage", "fx-orders", "fx-sliders", "fx-account")
"""Rows of the page from above."""


def test_a_page_tells_the_error_of_its_run():
    mechanism, start = pendulum()

    def motor(time):
        if time > 3.0:
            raise RuntimeError("the motor burns")
        return 0.0

    with followed(mechanism, start, LONG, inputs={"motor": motor}, live={"pace": 1.0}) as (client, result):
        with browsed(f"http://127.0.0.1:{client.line.port}/?token={client.token}") as (page, said):
            state(page, "failed")
            assert "the motor burns" in page.get_by_role("alert").inner_text()
        with pytest.raises(ValueError, match="the motor burns"):
            result.result(timeout=20)
    assert said == []
