"""Looks at pages in a browser: ``python docs/_ext/check_looks.py site [--out DIR] [PAGE …]``.

Pages are names within the site, or HTML files. Without names they are the start, the gallery and some of its pages, and
the report and the view of a run of crank-slider. At widths of a desk and of a telephone, in light and in dark, with
WebGL and in a browser that has none, nothing may reach beyond the page or lie over anything else, and no canvas may be
of one colour. Needs playwright, a chromium and Pillow; pictures of the pages come to DIR.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
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
CASE = "crank-slider"
"""The case whose report and view are looked at."""
GRAPHICS = {
    "webgl": ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    "canvas": ["--disable-gpu", "--disable-3d-apis"],
}
"""Arguments of a browser that draws 3-D graphics by software, and of one that has none."""
BLOCKS = """() => {
  const kinds = ["h1", "h2", "p", "figure", "table", ".flexph-view", "pre", "iframe", ".case", ".case-search",
                 ".fx-chart", "summary"];
  const inView = [".fx-head > *", ".fx-stage", ".fx-name", ".fx-scale", ".fx-time > *", ".fx-account svg",
                  ".fx-account dd", ".fx-balance"].map((kind) => `.flexph-view ${kind}`).join();
  const within = document.querySelector("article") ? "article " : "";
  const own = [...document.querySelectorAll(kinds.map((kind) => within + kind).join())]
    .filter((e) => e.checkVisibility() && !e.parentElement.closest(".flexph-view"))
    .concat([...document.querySelectorAll(inView)].filter((e) => e.checkVisibility()));
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


def look(files: dict[str, Path], out: Path | None) -> list[str]:
    """All defects of pages, as lines."""
    from playwright.sync_api import sync_playwright

    lines = []
    with sync_playwright() as play:
        for graphics, arguments in GRAPHICS.items():
            chromium = shutil.which("chromium")
            browser = play.chromium.launch(executable_path=chromium, args=[*arguments, "--no-sandbox"])
            for (name, file), kind, theme in product(files.items(), WIDTHS, THEMES):
                viewport = dict(zip(("width", "height"), WIDTHS[kind], strict=True))
                options = {"color_scheme": theme, "viewport": viewport, "reduced_motion": "reduce", "offline": True}
                context = browser.new_context(**options)
                page = context.new_page()
                page.goto(file.absolute().as_uri() + ("#webgl" if graphics == "webgl" else ""))
                page.wait_for_timeout(1500)
                said = list(defects(page, viewport["width"]))
                drawn = page.evaluate("[...document.querySelectorAll('.flexph-view')].map((e) => e.dataset.drawn)")
                said += [f"a view is drawn by {other}" for other in drawn if other not in (None, graphics)]
                lines += [f"{name}, {kind}, {theme}, {graphics}: {defect}" for defect in said]
                if out is not None:
                    out.mkdir(parents=True, exist_ok=True)
                    page.evaluate("scrollTo(0, 0)")
                    picture = out / f"{name.replace('/', '-')}-{kind}-{theme}-{graphics}.png"
                    page.screenshot(path=picture, full_page=kind == "wide")
                context.close()
            browser.close()
    return lines


def report_and_view(folder: Path) -> dict[str, Path]:
    """Run a case, and write its report and the page of its view."""
    view = folder / "view.html"
    for words in (["run", CASE, "--out", str(folder)], ["view", str(folder), "--html", str(view)]):
        subprocess.run([sys.executable, "-m", "flexph", *words], check=True, capture_output=True)
    return {"report": folder / "report.html", "view": view}


def main() -> int:
    """Print the defects of the pages; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {
            Path(name).stem if name.endswith(".html") else name: Path(name)
            if name.endswith(".html")
            else given.site / f"{name}.html"
            for name in given.pages or PAGES
        }
        if not given.pages:
            files |= report_and_view(Path(folder))
        found = look(files, given.out)
    print("\n".join(found) or f"{len(files)} pages: nothing lies over anything, nothing is empty")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
