"""The rotating crank-slider in Exudyn (C++): a rod of ANCF cables, all joints as constraints, nothing calls Python."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from cases import crank_slider as case
from flexph.numerics.arrays import Array


class Settings(NamedTuple):
    """How a run is made: a solver of Exudyn, the relative tolerance of its modified Newton iteration, and its start."""

    solver: str
    tolerance: float
    stretched: bool


def system_of(elements: int, *, stretched: bool) -> tuple[Any, Any, list[int]]:
    """Crank, rod and slider; the crank's speed is a constraint on its velocity.

    The rod begins undeformed, or ``stretched`` as its own inertia and the slider's hold it: no axial vibration then.
    """
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    area, second = 0.25 * math.pi * case.DIAMETER**2, math.pi * case.DIAMETER**4 / 64.0
    turn = -case.CRANK * case.SPEED / case.ROD  # of the rod at the start [rad/s]
    crank = system.AddNode(
        items.NodeRigidBody2D(
            referenceCoordinates=[0.5 * case.CRANK, 0.0, 0.0],
            initialVelocities=[0.0, 0.5 * case.CRANK * case.SPEED, case.SPEED],
        )
    )
    spin = case.CRANK_MASS * case.CRANK**2 / 12.0
    body = system.AddObject(items.RigidBody2D(mass=case.CRANK_MASS, inertia=spin, nodeNumber=crank))
    along = np.linspace(0.0, case.ROD, elements + 1)
    moved, strain = stretch(along, area) if stretched else np.zeros((2, along.size))
    nodes = [
        system.AddNode(
            items.NodePoint2DSlope1(
                referenceCoordinates=[case.CRANK + s, 0.0, 1.0, 0.0],
                initialCoordinates=[u, 0.0, e, 0.0],
                initialVelocities=[0.0, turn * (s - case.ROD), 0.0, turn],
            )
        )
        for s, u, e in zip(along, moved, strain, strict=True)
    ]
    for i in range(elements):
        system.AddObject(
            items.Cable2D(
                length=case.ROD / elements,
                massPerLength=case.STEEL.density * area,
                bendingStiffness=case.STEEL.young * second,
                axialStiffness=case.STEEL.young * area,
                nodeNumbers=nodes[i : i + 2],
            )
        )
    slider = system.AddNode(
        items.NodePoint2D(referenceCoordinates=[case.CRANK + case.ROD, 0.0], initialCoordinates=[moved[-1], 0.0])
    )
    system.AddObject(items.MassPoint2D(mass=case.SLIDER, nodeNumber=slider))
    _join(system, items, body, (crank, nodes[0], nodes[-1], slider))
    kind = exudyn.OutputVariableType.Position
    sensors = [
        system.AddSensor(items.SensorNode(nodeNumber=n, storeInternal=True, writeToFile=False, outputVariableType=kind))
        for n in (nodes[0], nodes[elements // 2], nodes[-1])
    ]
    system.Assemble()
    return container, system, sensors


def _join(system: Any, items: Any, crank_body: int, nodes: tuple[int, int, int, int]) -> None:
    """Three hinges, the driven speed and the slider's line; nodes of crank, both ends of the rod, and slider."""
    crank, root, tip, slider = nodes
    ground = system.AddObject(items.ObjectGround())
    half = 0.5 * case.CRANK
    on_body = lambda number, x: system.AddMarker(  # noqa: E731
        items.MarkerBodyPosition(bodyNumber=number, localPosition=[x, 0.0, 0.0])
    )
    on_node = lambda number: system.AddMarker(items.MarkerNodePosition(nodeNumber=number))  # noqa: E731
    for pair in (
        [on_body(ground, 0.0), on_body(crank_body, -half)],
        [on_body(crank_body, half), on_node(root)],
        [on_node(tip), on_node(slider)],
    ):
        system.AddObject(items.RevoluteJoint2D(markerNumbers=pair))
    fixed = system.AddNode(items.NodePointGround())
    coordinate = lambda node, i: system.AddMarker(  # noqa: E731
        items.MarkerNodeCoordinate(nodeNumber=node, coordinate=i)
    )
    turning = [coordinate(fixed, 0), coordinate(crank, 2)]
    system.AddObject(items.CoordinateConstraint(markerNumbers=turning, velocityLevel=True, offset=case.SPEED))
    system.AddObject(items.CoordinateConstraint(markerNumbers=[coordinate(fixed, 0), coordinate(slider, 1)]))


def stretch(along: Array, area: float) -> tuple[Array, Array]:
    """Axial displacement [m] and strain of the rod, whose points are accelerated by rω² + (rω/l)²s towards its root."""
    start, rise = case.CRANK * case.SPEED**2, (case.CRANK * case.SPEED / case.ROD) ** 2
    line, end = case.STEEL.density * area, case.ROD
    force = case.SLIDER * (start + rise * end) + line * (start * (end - along) + 0.5 * rise * (end**2 - along**2))
    work = case.SLIDER * (start + rise * end) * along
    work += line * (start * (end * along - 0.5 * along**2) + 0.5 * rise * (end**2 * along - along**3 / 3.0))
    return work / (case.STEEL.young * area), force / (case.STEEL.young * area)


def deflections(elements: int, settings: Settings, end: float, steps: int) -> tuple[Array, Array, float]:
    """Times [s], midpoint deflection over the length, and seconds of process time of a run."""
    import exudyn

    container, system, sensors = system_of(elements, stretched=settings.stretched)
    given = exudyn.SimulationSettings()
    given.timeIntegration.numberOfSteps = steps
    given.timeIntegration.endTime = end
    given.timeIntegration.newton.useModifiedNewton = True
    given.timeIntegration.newton.relativeTolerance = settings.tolerance
    given.solution.file.write = False
    given.solution.sensors.writePeriod = 0.5 * end / steps
    clock = time.process_time()
    system.SolveDynamic(given, solverType=getattr(exudyn.DynamicSolverType, settings.solver))
    seconds = time.process_time() - clock
    found = [system.GetSensorStoredData(sensor) for sensor in sensors]
    root, middle, tip = (rows[:, 1:3] for rows in found)
    chord = tip - root
    normal = np.stack([-chord[:, 1], chord[:, 0]], axis=1) / np.linalg.norm(chord, axis=1)[:, None]
    deflection = np.einsum("kd,kd->k", middle - 0.5 * (root + tip), normal) / case.ROD
    del container  # owns the system
    return found[0][:, 0], deflection, seconds
