"""Sizes of the page and the film of a run, and processor time that takes to write them.

    python benchmarks/view_page.py [CASE …]

Runs cases (crank-slider and robot-arm) and writes the pages of their scenes, and GIFs of at most 101 frames of 800 by
450 pixels.
"""

import sys
import tempfile
import time
from pathlib import Path

from click.testing import CliRunner

from flexph.cli import main
from flexph.scenes import read_scene
from flexph.view import write_film, write_html

CASES = ("crank-slider", "robot-arm")
REPEATED = 3


def measure(case, folder):
    """Times of a scene; bytes, and the least processor time of several [s], of its page and its film."""
    result = CliRunner().invoke(main, ["run", case, "--out", str(folder / case)])
    if result.exit_code != 0:
        raise RuntimeError(result.output)
    scene = read_scene(folder / case / "scene.vtkhdf")
    page = least(lambda: write_html(folder / f"{case}.html", scene))
    film = least(lambda: write_film(folder / f"{case}.gif", scene, account=scene.account is not None))
    return len(scene.times), *page, *film


def least(write):
    """Bytes of a file, and the least processor time that takes to write it [s]."""
    seconds = []
    for _ in range(REPEATED):
        start = time.process_time()
        path = write()
        seconds.append(time.process_time() - start)
    return path.stat().st_size, min(seconds)


if __name__ == "__main__":
    print(f"{'case':20} {'times':>6} {'page, bytes':>12} {'CPU s':>7} {'film, bytes':>12} {'CPU s':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for case in sys.argv[1:] or CASES:
            times, page, page_seconds, film, film_seconds = measure(case, Path(folder))
            print(f"{case:20} {times:6d} {page:12,d} {page_seconds:7.2f} {film:12,d} {film_seconds:7.2f}")
