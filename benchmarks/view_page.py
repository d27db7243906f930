"""Size of the page of a run, and processor time that takes to write it.

    python benchmarks/view_page.py [CASE …]

Runs cases (crank-slider and robot-arm) and writes the pages of their scenes.
"""

import sys
import tempfile
import time
from pathlib import Path

from click.testing import CliRunner

from flexph.cli import main
from flexph.scenes import read_scene
from flexph.view import write_html

CASES = ("crank-slider", "robot-arm")
REPEATED = 3


def measure(case, folder):
    """Bytes of the page, times that it has, and the least processor time of several [s]."""
    result = CliRunner().invoke(main, ["run", case, "--out", str(folder / case)])
    if result.exit_code != 0:
        raise RuntimeError(result.output)
    scene, seconds = read_scene(folder / case / "scene.vtkhdf"), []
    for _ in range(REPEATED):
        start = time.process_time()
        page = write_html(folder / f"{case}.html", scene)
        seconds.append(time.process_time() - start)
    return page.stat().st_size, len(scene.times), min(seconds)


if __name__ == "__main__":
    print(f"{'case':20} {'times':>6} {'bytes':>10} {'CPU s':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for case in sys.argv[1:] or CASES:
            size, times, seconds = measure(case, Path(folder))
            print(f"{case:20} {times:6d} {size:10,d} {seconds:7.2f}")
