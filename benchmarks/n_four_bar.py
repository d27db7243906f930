"""Two mechanisms of the IFToMM library: four-bars in a row, through singular poses, and Bricard's, of six revolutes.

The rods of 40 four-bars (1 m, 1 kg) stand upright, their tops move at 1 m/s; they turn over and over, and pass ten
poses in which all links lie on one line. Process time of 10 s in 10 000 steps, by one and by two threads of the
libraries, and the largest error of the energy. Exudyn's trapezoidal rule on the same planar bodies (extra ``bench``)
ends at the first of these poses: beside it stand the 700 steps before.

Bricard's mechanism of five rods moves though counting says that it does not: one of its 30 constraints follows from the
others. It runs with all of them (``least_norm``) beside itself with one freed.

M. González, D. Dopico, U. Lugrís, J. Cuadrado, A benchmarking system for MBS simulation software, Multibody System
Dynamics 16 (2006), problems A02 and A03.
"""

import argparse
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import numpy as np

import rigid
from flexph import GROUND, Mechanism, State, connect, hinge, integrate, revolute, universal
from flexph.methods import Exact

LOOPS, STEP, STEPS, REGULAR, SAVE_EVERY = 40, 1e-3, 10_000, 700, 10
GRAVITY, SPEED = 9.81, 1.0
ROUNDS = 3
CORNERS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]], dtype=float)
AXES = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=float)
"""Corners of a cube, and the axes of the revolutes of Bricard's mechanism there."""


def four_bars(count: int) -> tuple[Mechanism, State]:
    """So many four-bars in a row, upright, their tops moving at 1 m/s."""
    link = rigid.bar(1.0, 1.0)
    places = {f"rod{k}": (float(k), 0.0, 0.5 * math.pi) for k in range(count + 1)}
    places |= {f"bar{k}": (float(k), 1.0, 0.0) for k in range(count)}
    joints = [hinge(f"rod{k}.root", GROUND.at(float(k), 0.0)) for k in range(count + 1)]
    for k in range(count):
        joints += [hinge(f"bar{k}.root", f"rod{k}.tip"), hinge(f"bar{k}.tip", f"rod{k + 1}.tip")]
    mechanism = connect(dict.fromkeys(places, link), joints, gravity=(0.0, -GRAVITY))
    pose = mechanism.assemble({"rod0": places.pop("rod0")}, guess=places)
    return mechanism, mechanism.consistent_state(pose, velocities={"rod0": -SPEED})


def bricard(*, freed: bool) -> tuple[Mechanism, State]:
    """Bricard's mechanism at rest on the edges of a cube; with one constraint ``freed`` the last joint is universal."""
    rod = rigid.body(
        1.0, inertia=(1e-4, 1.0 / 12.0, 1.0 / 12.0), centre=(0.5, 0, 0), ports={"root": (0, 0, 0), "tip": (1, 0, 0)}
    )
    frames = [np.column_stack([x, np.cross(z, x), z]) for x, z in zip(np.diff(CORNERS, axis=0), AXES[:5], strict=True)]
    joints = [revolute("rod0.root", GROUND.at(*CORNERS[0]), axis=frames[0].T @ AXES[0], second_axis=AXES[0])]
    for k in range(1, 5):
        axes = {"axis": frames[k].T @ AXES[k], "second_axis": frames[k - 1].T @ AXES[k]}
        joints.append(revolute(f"rod{k}.root", f"rod{k - 1}.tip", **axes))
    last, across = frames[4].T @ AXES[5], np.cross(AXES[5], frames[4][:, 0])
    if freed:
        joints.append(universal("rod4.tip", GROUND.at(*CORNERS[5]), axis=last, second_axis=across))
    else:
        joints.append(revolute("rod4.tip", GROUND.at(*CORNERS[5]), axis=last, second_axis=AXES[5]))
    mechanism = connect({f"rod{k}": rod for k in range(5)}, joints, gravity=(0.0, -GRAVITY, 0.0))
    places = {f"rod{k}": (CORNERS[k], frame) for k, frame in enumerate(frames)}
    pose = mechanism.assemble({"rod0": places.pop("rod0")}, guess=places)
    return mechanism, mechanism.consistent_state(pose)


def run(system: tuple[Mechanism, State], steps: int, method: Exact) -> tuple[float, float]:
    """Process time [s], and the largest error of the energy over that of the start."""
    mechanism, start = system
    times = STEP * np.arange(steps + 1)
    clock = time.process_time()
    solution = integrate(mechanism, start, times, method=method, save_every=SAVE_EVERY, progress=False)
    seconds, energy = time.process_time() - clock, solution.ledger.total_energy
    return seconds, float(np.abs(energy - energy[0]).max() / abs(energy[0]))


def exudyn_run(count: int) -> float:
    """Process time of Exudyn for the first steps of the four-bars [s]."""
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    ends: dict[str, list[Any]] = {}
    places = {f"rod{k}": (float(k), 0.5, 0.5 * math.pi) for k in range(count + 1)}
    places |= {f"bar{k}": (k + 0.5, 1.0, 0.0) for k in range(count)}
    for name, place in places.items():
        speed = [0.5 * SPEED, 0.0, -SPEED] if name.startswith("rod") else [SPEED, 0.0, 0.0]
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=list(place), initialVelocities=speed))
        body = system.AddObject(items.RigidBody2D(mass=1.0, inertia=1.0 / 12.0, nodeNumber=node))
        ends[name] = [
            system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0.0, 0.0]))
            for x in (-0.5, 0.5)
        ]
        weight = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=weight, loadVector=[0.0, -GRAVITY, 0.0]))
    pairs = []
    for k in range(count + 1):
        pin = items.MarkerBodyPosition(bodyNumber=ground, localPosition=[float(k), 0.0, 0.0])
        pairs.append([system.AddMarker(pin), ends[f"rod{k}"][0]])
    for k in range(count):
        pairs += [[ends[f"bar{k}"][0], ends[f"rod{k}"][1]], [ends[f"bar{k}"][1], ends[f"rod{k + 1}"][1]]]
    for pair in pairs:
        system.AddObject(items.RevoluteJoint2D(markerNumbers=pair))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = REGULAR
    settings.timeIntegration.endTime = STEP * REGULAR
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
    return time.process_time() - clock


def least(function: Callable[[], float]) -> float:
    """The least of several rounds."""
    return min(function() for _ in range(ROUNDS))


def with_threads(count: int, loops: int) -> float:
    """Process time of the four-bars in a process whose libraries may take so many threads [s]."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(count)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(_least_of_four_bars, loops).result()


def _least_of_four_bars(loops: int) -> float:
    system = four_bars(loops)
    run(system, SAVE_EVERY, Exact())  # fills what mechanisms of equal bodies share
    return least(lambda: run(system, STEPS, Exact())[0])


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--loops", type=int, default=LOOPS, metavar="FOUR-BARS")
    loops = words.parse_args().loops
    error = run(four_bars(loops), STEPS, Exact())[1]
    seconds = {count: with_threads(count, loops) for count in (1, 2)}
    print(f"{loops} four-bars, {STEPS} steps: {seconds[1]:.2f} s by one thread, {seconds[2]:.2f} s by two", end="")
    print(f"; energy error {error:.1e} of the energy at the start")
    ratios = {"n-four-bar-threads": seconds[1] / seconds[2]}
    if find_spec("exudyn") is not None:
        exudyn = least(lambda: exudyn_run(loops))
        system = four_bars(loops)
        first = least(lambda: run(system, REGULAR, Exact())[0])
        print(f"the first {REGULAR} steps: {first:.3f} s, Exudyn, trapezoidal, Newton 1e-6: {exudyn:.3f} s")
        ratios["n-four-bar-over-exudyn"] = exudyn / first
    own = {True: (bricard(freed=True), Exact()), False: (bricard(freed=False), Exact(redundant="least_norm"))}
    taken = {True: math.inf, False: math.inf}
    for count in (SAVE_EVERY, *[STEPS] * ROUNDS):
        for freed, (system, method) in own.items():
            clock, error = run(system, count, method)
            if count == STEPS:
                taken[freed] = min(taken[freed], clock)
                print(f"Bricard's mechanism, {'one freed' if freed else 'all six'}: {clock:.2f} s, energy {error:.1e}")
    ratios["bricard-least-norm"] = taken[True] / taken[False]
    for name, ratio in ratios.items():
        print(f"ratio {name} {ratio:.2f}")


if __name__ == "__main__":
    main()
