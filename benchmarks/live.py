"""Cost of a page that follows a run, at up to 30 frames a second.

    python benchmarks/live.py [--repeats 5] [--steps 1.0] [--bars 1 4 16 64]

A planar chain of flexible bars swings, without a page and with one, in turn. The page is another process that asks for
frames as a browser does. Printed are the ratios of the least times by the clock, of processor times (the run and its
server), and the frames per second. ``--steps`` multiplies the number of steps. States are compared to the last bit.
"""

import argparse
import subprocess
import sys
import time
import warnings
from statistics import median

import numpy as np

import fem
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.view import Live

STEP = 1e-3  # [s]
SIZES = {1: 400_000, 4: 160_000, 16: 40_000, 64: 6_000}
"""Numbers of bars, and of steps: some three to four seconds; the longest chain cracks like a whip after 7.8 s."""
PAGE = """
import sys, http.client, json, time
host, _, token = sys.argv[1].removeprefix("http://").partition("/?")
line, number, count = http.client.HTTPConnection(host), -1, 0
print("ready", flush=True)
while True:
    line.request("GET", f"/frame?after={number}&{token}")
    answer = line.getresponse()
    raw = answer.read()
    if answer.status == 204:
        continue
    head = json.loads(raw[4 : 4 + int.from_bytes(raw[:4], "little")])
    if head["state"] == "finished":
        break
    number, count, last = head["number"], count + 1, time.perf_counter()
    first = last if count == 1 else first
print((count - 1) / (last - first))
"""
"""Program of the page: it asks for the next frame until the run is over, and prints the frames per second.

They are counted from the first frame to that of the last steps: what the run does after these has no frames.
"""


def chain(bars):
    """A chain of flexible bars, horizontal and at rest, with a motor at its first hinge."""
    bar = fem.beam(0.5, fem.Material(young=70e9, density=2700.0), fem.Section(width=0.02, height=0.02), elements=2)
    joints = [hinge("bar 1.root", GROUND), torque("bar 1.root", name="motor")]
    joints += [hinge(f"bar {k}.tip", f"bar {k + 1}.root") for k in range(1, bars)]
    made = connect({f"bar {k}": bar for k in range(1, bars + 1)}, joints, gravity=(0.0, -9.81))
    pose = made.assemble({f"bar {k + 1}": (0.5 * k, 0.0, 0.0) for k in range(bars)})
    return made, made.consistent_state(pose)


class Page:
    """Page in another process; ``clock`` and ``processor`` are the seconds of this one when it was ready."""

    def __init__(self, address):
        self.process = subprocess.Popen([sys.executable, "-c", PAGE, address], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.clock, self.processor = time.perf_counter(), time.process_time()

    def frames(self):
        """Frames per second that it has shown, once the run is over."""
        return float(self.process.communicate()[0])


def compared(bars, steps, repeats):
    """Least seconds without a page, ratios of the least times by clock and processor, and frames per second."""
    (mechanism, start), times = chain(bars), STEP * np.arange(steps + 1)
    pages, without, shown_in, rates = [], [], [], []
    live = Live(browser=lambda address: pages.append(Page(address)), sliders={"motor": (-1.0, 1.0)})
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        plain = integrate(mechanism, start, times, progress=False)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        shown = integrate(mechanism, start, times, progress=False, live=live)
        live_clock, live_processor = time.perf_counter() - pages[-1].clock, time.process_time() - pages[-1].processor
        assert np.array_equal(plain.states, shown.states)
        without.append((clock, processor))
        shown_in.append((live_clock, live_processor))
        rates.append(pages[-1].frames())
    least, least_shown = np.min(without, axis=0), np.min(shown_in, axis=0)
    return least[0], *(least_shown / least), median(rates)


def main():
    """Print a line for each chain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=float, default=1.0)
    parser.add_argument("--bars", type=int, nargs="*", choices=SIZES, default=list(SIZES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # the bars spin faster than their model is meant for
    print("bars    steps  without [s]  ratio by the clock  ratio of the processor  frames/s")
    for bars in given.bars:
        count = int(SIZES[bars] * given.steps)
        seconds, clock, processor, rate = compared(bars, count, given.repeats)
        print(f"{bars:4d} {count:8d} {seconds:12.2f} {clock:19.3f} {processor:23.3f} {rate:9.1f}", flush=True)


if __name__ == "__main__":
    main()
