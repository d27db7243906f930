"""Take the picture of docs/how-to/live.md: ``python docs/figures/live_page.py [WIDTH HEIGHT FILE]``.

It runs the program of the page for eight seconds, opens it in a chromium without a window, and moves the slider.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parents[1]
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


def browse(address: str, size: tuple[int, int], file: Path) -> None:
    """Move the slider some times, and take the picture of the paused run."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        page.goto(f"{address}#webgl")
        page.locator(".fx-state").wait_for()
        for torque in (110.0, -20.0, 75.0):
            page.get_by_label("motor", exact=True).fill(str(torque))
            page.wait_for_timeout(800)
        page.get_by_role("button", name="Pause").click()
        page.locator(".fx-state[data-state=paused]").wait_for()
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(1500)
        page.screenshot(path=str(file))
        page.get_by_role("button", name="End").click()
        browser.close()


def main(width: str = "1000", height: str = "640", name: str = "how-to/live-page.png") -> None:
    """Take the picture of a page of this size [pixels]."""
    text = (DOCS / "how-to" / "live.md").read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)[0]
    size, threads = (int(width), int(height)), []

    def opened(address: str) -> None:
        threads.append(threading.Thread(target=browse, args=(address, size, DOCS / name)))
        threads[0].start()

    long = program.replace("np.linspace(0.0, 2.0, 2001)", "np.linspace(0.0, 30.0, 30001)")
    long = long.replace('title="crane")', 'title="crane", wait=60.0, browser=opened)')
    exec(compile(long, "live.md", "exec"), {"opened": opened})
    threads[0].join()


if __name__ == "__main__":
    main(*sys.argv[1:])
