"""Looks at pages of the site in a browser: ``python docs/_ext/check_looks.py site [--out DIR] [PAGE …]``.

At widths of a desk and of a telephone, in light and in dark, nothing may reach beyond the page or lie over anything
else, and no canvas may be of one colour. Needs playwright, a chromium and Pillow; pictures of the pages come to DIR.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

PAGES = ("index", "gallery/index", "gallery/crank-slider", "gallery/robot-arm", "gallery/four-particle",
         "tutorials/1-pendulum", "validation")  # fmt: skip
WIDTHS = {"wide": (1400, 900), "narrow": (400, 800)}
THEMES = ("light", "dark")
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
BLOCKS = """() => {
  const kinds = ["h1", "h2", "p", "figure", "table", ".flexph-view", "pre", "iframe", ".case", ".case-search"];
  const own = [...document.querySelectorAll(kinds.map((kind) => `article ${kind}`).join())]
    .filter((e) => e.offsetParent && !e.parentElement.closest(".flexph-view"));
  const name = (e) => `${e.tagName.toLowerCase()} "${e.textContent.trim().slice(0, 30)}"`;
  return own.map((e, k) => {
    const box = e.getBoundingClientRect();
    return {name: name(e), left: box.left, right: box.right, top: box.top + scrollY, bottom: box.bottom + scrollY,
            within: own.map((o, j) => (j !== k && (o.contains(e) || e.contains(o))) ? j : -1).filter((j) => j >= 0)};
  });
}"""
"""Boxes of what stands on a page, and which of them hold each other."""
PIXEL = 1.0
FLAT = 3.0
"""Standard deviation of the colours of a canvas on which nothing is drawn."""


def defects(page: Any, width: int) -> Iterator[str]:
    """Mistakes of an open page."""
    if (far := page.evaluate("document.documentElement.scrollWidth")) > width:
        yield f"it is {far} pixels wide, of {width}"
    boxes = page.evaluate(BLOCKS)
    for k, box in enumerate(boxes):
        if box["right"] > width + PIXEL or box["left"] < -PIXEL:
            yield f"{box['name']} reaches beyond the page"
        for j in set(range(k)) - set(box["within"]):
            other = boxes[j]
            across = min(box["right"], other["right"]) - max(box["left"], other["left"])
            down = min(box["bottom"], other["bottom"]) - max(box["top"], other["top"])
            if across > PIXEL and down > PIXEL:
                yield f"{box['name']} lies over {other['name']}"
    for canvas in page.locator(".flexph-view .fx-stage canvas").all():
        canvas.scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        if colours(canvas.screenshot()).std() < FLAT:
            yield "the view shows nothing"


def colours(picture: bytes) -> np.ndarray:
    """Colours of a picture as numbers."""
    from PIL import Image

    return np.array(Image.open(BytesIO(picture)).convert("RGB")).astype(float)


def look(site: Path, pages: list[str], out: Path | None) -> list[str]:
    """All defects of pages, as lines."""
    from playwright.sync_api import sync_playwright

    lines = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for name, (kind, size), theme in product(pages, WIDTHS.items(), THEMES):
            viewport = {"width": size[0], "height": size[1]}
            context = browser.new_context(color_scheme=theme, viewport=viewport, reduced_motion="reduce", offline=True)
            page = context.new_page()
            page.goto((site / f"{name}.html").absolute().as_uri())
            page.wait_for_timeout(1500)
            lines += [f"{name}, {kind}, {theme}: {defect}" for defect in defects(page, size[0])]
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=out / f"{name.replace('/', '-')}-{kind}-{theme}.png", full_page=kind == "wide")
            context.close()
        browser.close()
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*", default=list(PAGES))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = look(given.site, given.pages, given.out)
    print("\n".join(found) or f"{len(given.pages)} pages: nothing lies over anything, nothing is empty")
    sys.exit(bool(found))
