"""Sizes of the page and the film of a run, and seconds that it takes to write them.

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
    """Times of a scene; bytes, least processor time and least time by the clock [s] of its page and its film."""
    result = CliRunner().invoke(main, ["run", case, "--out", str(folder / case)])
    if result.exit_code != 0:
        raise RuntimeError(result.output)
    scene = read_scene(folder / case / "scene.vtkhdf")
    page = least(lambda: write_html(folder / f"{case}.html", scene))
    film = least(lambda: write_film(folder / f"{case}.gif", scene, account=scene.account is not None))
    return len(scene.times), *page, *film


def least(write):
    """Bytes of a file, least processor time and least time by the clock to write it [s]."""
    seconds, by_clock = [], []
    for _ in range(REPEATED):
        start, clock = time.process_time(), time.perf_counter()
        path = write()
        seconds.append(time.process_time() - start)
        by_clock.append(time.perf_counter() - clock)
    return path.stat().st_size, min(seconds), min(by_clock)


if __name__ == "__main__":
    print(
        f"{'case':20} {'times':>6}"
        + "".join(f"{kind + ', bytes':>13} {'CPU s':>6} {'s':>6}" for kind in ("page", "film"))
    )
    with tempfile.TemporaryDirectory() as folder:
        for case in sys.argv[1:] or CASES:
            times, *written = measure(case, Path(folder))
            halves = (written[:3], written[3:])
            print(
                f"{case:20} {times:6d}" + "".join(f"{size:13,d} {cpu:6.2f} {clock:6.2f}" for size, cpu, clock in halves)
            )
