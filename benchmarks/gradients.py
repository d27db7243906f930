"""Gradients of runs by the adjoint of their steps, over the run itself and over differences of runs.

A chain of flexible links hangs and swings in the plane. Its parameters are the heights of the sections of the links:
``gradient-over-run`` is the time of the gradient over that of the run, less that of making the mechanism as often as
the gradient does; ``gradient-over-differences`` that of two runs for each parameter over the whole of the gradient. Or
they are the nodes of a torque at the root, and the mechanism is made once: ``gradient-over-run-200`` and
``gradient-over-differences-200`` are the same for 200 nodes, and ``-0`` is the gradient by the torque in each step
alone; ``gradient-over-run-200-checkpoints`` is that with checkpoints. Process times, minima of interleaved rounds.
"""

import argparse
import time
import warnings
from itertools import pairwise

import numpy as np

import fem
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.gradients import Last, gradient
from flexph.sensors import position

STEEL = fem.Material(young=2.1e11, density=7850.0)


def chain(**heights):
    """Links of 0.3 m with two elements each, and their start."""
    links = {
        f"link{k}": fem.beam(0.3, STEEL, fem.Section(width=0.02, height=height), elements=2)
        for k, height in enumerate(heights.values())
    }
    names = list(links)
    joints = [hinge(f"{a}.tip", f"{b}.root") for a, b in pairwise(names)]
    joints += [hinge("link0.root", GROUND), torque("link0.root", name="motor")]
    mechanism = connect(links, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"link0": (0.0, 0.0, -1.0)}, guess={name: -1.2 for name in names[1:]})
    return mechanism, mechanism.consistent_state(pose)


def driven(mechanism, start, end):
    """The same mechanism with a torque that is linear between the values of its nodes."""

    def made(**nodes):
        values = list(nodes.values()) or [1.0, 1.0]
        return mechanism, start, {"motor": (np.linspace(0.0, end, len(values)), values)}

    return made


def timed(function):
    """Process time [s] of a call."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def shares(names, calls, rounds):
    """Print ratios of a gradient of so many parameters: calls that run, take it, and make all that it makes."""
    count = names[1]
    run, whole, builds = np.array([[timed(call) for call in calls] for _ in range(rounds)]).min(axis=0)
    print(f"ratio gradient-over-run-{names[0]} {(whole - builds) / run:.2f}")
    print(f"ratio gradient-over-differences-{names[0]} {2 * count * run / whole:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, nargs="+", default=[1, 3, 6])
    parser.add_argument("--nodes", type=int, nargs="+", default=[0, 200, 1000])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    times = np.linspace(0.0, 1e-4 * given.steps, given.steps + 1)
    for count in given.links:
        heights = {f"h{k}": 0.01 for k in range(count)}
        tip = Last(position(f"link{count - 1}.tip"), component=1)
        made, calls = chain(**heights), 1 + (6 * count if count <= 2 else 2 * count + 6)
        ways = (
            lambda own=made: integrate(*own, times, progress=False),
            lambda h=heights, of=tip: gradient(chain, h, times, of),
            lambda h=heights, many=calls: [chain(**h) for _ in range(many)],
        )
        shares((f"{count}-links", count), ways, given.rounds)
    made, tip = chain(**{f"h{k}": 0.01 for k in range(6)}), Last(position("link5.tip"), component=1)
    for count in given.nodes:
        nodes = {f"n{k}": np.sin(k) for k in range(count)}
        function = driven(*made, times[-1])
        for name, kept in ((f"{count}", False), (f"{count}-checkpoints", True)):
            ways = (
                lambda f=function, n=nodes: (lambda m, x, u: integrate(m, x, times, inputs=u, progress=False))(*f(**n)),
                lambda f=function, n=nodes, few=kept: gradient(f, n, times, tip, checkpoints=few),
                lambda: None,
            )
            shares((name, count), ways, given.rounds)


if __name__ == "__main__":
    main()
