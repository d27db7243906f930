"""Microseconds a step of a bead that slides along a rod, and of a robot on four wheels that slip.

Beside Exudyn where it is installed (a bead on ANCF cables in the plane, rolling discs with penalty contacts): process
time, the least of some runs. Beam and planar rod are in the plane as those cables; Exudyn has no such joint in space.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, integrate, planar, revolute
from flexph.joints import point_on_curve, slipping_wheel
from flexph.laws import coulomb

SOFT, STRIP = fem.Material(young=1e8, density=1000.0, poisson=0.3), fem.Section(width=0.02, height=0.03)
SIDES = (("left", 0.15), ("right", -0.15))
STEP = 1e-3


def rod(elements: int, dim: int = 3) -> tuple[Any, Any]:
    """A bead of 0.3 kg on a rod of 1 m that flies and turns, and a start."""
    names = [f"p{i}" for i in range(1, 2 * elements)]
    ports = {name: (i + 1) / (2 * elements) for i, name in enumerate(names)}
    body = fem.rod(1.0, SOFT, STRIP, elements=elements, ports=ports, dim=dim)
    axis = ["rod.root", *(f"rod.{name}" for name in names), "rod.tip"]
    mechanism = connect({"rod": body, "bead": rigid.point(0.3, dim)}, [point_on_curve("bead.point", axis, degree=2)])
    pose = mechanism.assemble({"rod": (0.0, 0.0, 0.0)}, guess={"bead": (0.3, 0.0, 0.0)})
    flying: Any = (0.1, 0.2, 3.0) if dim == 2 else ((0.1, 0.2, 0.0), (0.0, 0.0, 3.0))
    thrown = {"rod": flying, "bead": (0.6, 1.0, -0.2)[:dim]}
    return mechanism, mechanism.consistent_state(pose, velocities=thrown)


def beam(elements: int) -> tuple[Any, Any]:
    """The same on a beam in the plane, along the cubics of its elements."""
    thirds = {f"p{i}": i / (3 * elements) for i in range(1, 3 * elements)}
    body = fem.beam(1.0, SOFT, STRIP, elements=elements, stations=thirds)
    axis = ["beam.root", *(f"beam.{name}" for name in thirds), "beam.tip"]
    mechanism = connect({"beam": body, "bead": rigid.point(0.3)}, [point_on_curve("bead.point", axis, degree=3)])
    pose = mechanism.assemble({"beam": (0.0, 0.0, 0.0)}, guess={"bead": (0.3, 0.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose, velocities={"beam": (0.1, 0.2, 3.0), "bead": (0.6, 1.0)})


def wheels() -> tuple[Any, Any]:
    """A robot that is thrown and turns, so that its four wheels slip, and a start."""
    corners = {f"{front} {side}": (x, y, 0.0) for front, x in (("front", 0.15), ("rear", -0.15)) for side, y in SIDES}
    ports = {"centre": (0.0, 0.0, 0.0), **corners}
    chassis = rigid.body(6.0, inertia=(0.05, 0.09, 0.13), ports=ports)
    tyre = rigid.body(0.6, inertia=(5e-4, 8e-4, 5e-4), ports={"centre": (0.0, 0.0, 0.0)})
    joints = [planar("chassis.centre", GROUND.at(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0))]
    for name in corners:
        centre, place = f"{name}.centre", f"chassis.{name}"
        joints.append(revolute(centre, place, axis=(0.0, 1.0, 0.0)))
        joints.append(slipping_wheel(centre, place, radius=0.05, friction=coulomb(10.0, speed=1e-2)))
    mechanism = connect({"chassis": chassis, **dict.fromkeys(corners, tyre)}, joints)
    guess = {name: (place, np.eye(3)) for name, place in corners.items()}
    pose = mechanism.assemble({"chassis": ((0.0, 0.0, 0.0), np.eye(3))}, guess=guess)
    spins = {name: ((0.5 - y, 0.2 + x, 0.0), (0.0, 10.0, 1.0)) for name, (x, y, _) in corners.items()}
    moved = {"chassis": ((0.5, 0.2, 0.0), (0.0, 0.0, 1.0)), **spins}
    return mechanism, mechanism.consistent_state(pose, velocities=moved)


def exudyn_rod(elements: int, steps: int) -> float:
    """Seconds of a run of the bead on ANCF cables in the plane."""
    import exudyn
    from exudyn import itemInterface as items

    container = exudyn.SystemContainer()
    system, length, line = container.AddSystem(), 1.0 / elements, SOFT.density * STRIP.area
    nodes = [
        system.AddNode(
            items.NodePoint2DSlope1(
                referenceCoordinates=[i * length, 0.0, 1.0, 0.0],
                initialVelocities=[0.1, 0.2 + 3.0 * (i * length - 0.5), 0.0, 3.0],
            )
        )
        for i in range(elements + 1)
    ]
    cables = [
        system.AddObject(
            items.ObjectANCFCable2D(
                length=length,
                massPerLength=line,
                bendingStiffness=SOFT.young * 0.02 * 0.03**3 / 12.0,
                axialStiffness=SOFT.young * STRIP.area,
                nodeNumbers=list(pair),
            )
        )
        for pair in pairwise(nodes)
    ]
    point = system.AddNode(items.NodePoint2D(referenceCoordinates=[0.3, 0.0], initialVelocities=[0.6, 1.0]))
    bead = system.AddMarker(
        items.MarkerBodyPosition(bodyNumber=system.AddObject(items.MassPoint2D(mass=0.3, nodeNumber=point)))
    )
    markers = [system.AddMarker(items.MarkerBodyCable2DCoordinates(bodyNumber=cable)) for cable in cables]
    own = int(0.3 / length)
    data = system.AddNode(items.NodeGenericData(initialCoordinates=[own, 0.3], numberOfDataCoordinates=2))
    system.AddObject(
        items.ObjectJointSliding2D(
            markerNumbers=[bead, markers[own]],
            slidingMarkerNumbers=markers,
            slidingMarkerOffsets=[i * length for i in range(elements)],
            nodeNumber=data,
        )
    )
    seconds = _solved(exudyn, system, steps)
    del container  # owns the system
    return seconds


def exudyn_wheels(steps: int) -> float:
    """Seconds of a run of a chassis on four rolling discs with dry friction."""
    import exudyn
    from exudyn import itemInterface as items
    from exudyn.utilities import InertiaCuboid, InertiaCylinder

    container, weight, radius = exudyn.SystemContainer(), [0.0, 0.0, -9.81], 0.05
    system = container.AddSystem()
    ground = system.AddMarker(items.MarkerBodyRigid(bodyNumber=system.AddObject(items.ObjectGround())))
    chassis = system.CreateRigidBody(
        inertia=InertiaCuboid(density=500.0, sideLengths=[0.4, 0.3, 0.1]),
        referencePosition=[0.0, 0.0, radius],
        initialVelocity=[0.5, 0.2, 0.0],
        initialAngularVelocity=[0.0, 0.0, 1.0],
        gravity=weight,
    )
    for x, y in ((-0.15, -0.15), (-0.15, 0.15), (0.15, -0.15), (0.15, 0.15)):
        wheel = system.CreateRigidBody(
            inertia=InertiaCylinder(density=2000.0, length=0.04, outerRadius=radius, axis=1),
            referencePosition=[x, y, radius],
            initialVelocity=[0.5 - y, 0.2 + x, 0.0],
            initialAngularVelocity=[0.0, 10.0, 1.0],
            gravity=weight,
        )
        system.CreateRevoluteJoint(bodyNumbers=[chassis, wheel], position=[x, y, radius], axis=[0.0, 1.0, 0.0])
        marker = system.AddMarker(items.MarkerBodyRigid(bodyNumber=wheel))
        data = system.AddNode(items.NodeGenericData(initialCoordinates=[0.0, 0.0, 0.0], numberOfDataCoordinates=3))
        system.AddObject(
            items.ObjectConnectorRollingDiscPenalty(
                markerNumbers=[ground, marker],
                nodeNumber=data,
                discRadius=radius,
                discAxis=[0.0, 1.0, 0.0],
                contactStiffness=1e5,
                contactDamping=1e3,
                dryFriction=[0.5, 0.5],
                dryFrictionProportionalZone=1e-2,
            )
        )
    seconds = _solved(exudyn, system, steps)
    del container  # owns the system
    return seconds


def _solved(exudyn: Any, system: Any, steps: int) -> float:
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * STEP
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    clock = time.process_time()
    system.SolveDynamic(settings)
    return time.process_time() - clock


def ours(given: tuple[Any, Any], steps: int) -> Callable[[], float]:
    """A run of steps that returns its seconds."""
    (mechanism, start), times = given, STEP * np.arange(steps + 1)

    def run() -> float:
        clock = time.process_time()
        integrate(mechanism, start, times, progress=False)
        return time.process_time() - clock

    return run


def least(run: Callable[[], float], steps: int, runs: int) -> float:
    """The least time of a step of some runs [µs]."""
    return 1e6 * min(run() for _ in range(runs + 1)) / steps


def main() -> None:
    """Print a line for each system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # nearest velocities that the joints allow
    systems: dict[str, tuple[tuple[Any, Any], Callable[[], float]]] = {
        f"{name} of {n} elements": (make(n), lambda n=n: exudyn_rod(n, given.steps))
        for name, make in (("beam", beam), ("planar rod", partial(rod, dim=2)), ("rod", rod))
        for n in (4, 8)
    }
    systems["four wheels"] = wheels(), lambda: exudyn_wheels(given.steps)
    for name, (made, peer) in systems.items():
        own = least(ours(made, given.steps), given.steps, given.runs)
        line = f"{name}: flexph {own:.0f} µs a step"
        try:
            beside = least(peer, given.steps, given.runs)
        except ImportError:
            print(line)
            continue
        print(f"{line}, Exudyn {beside:.0f} µs; ratio {own / beside:.2f}")


if __name__ == "__main__":
    main()
