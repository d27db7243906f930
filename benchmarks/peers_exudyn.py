"""Exudyn's side of ``peers.py``: springs by functions, user loads, gravitation, states of friction, ropes, a wheel."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array

SAMPLES = 50
"""Times at which motions are compared."""


class Run(NamedTuple):
    """Seconds of process time, sampled times, and places there (times, coordinates)."""

    seconds: float
    times: Array
    places: Array


def oscillator(
    mass: float, force: Callable[[float, float], float], load: Callable[[float], float], start: tuple[float, float]
) -> tuple[Any, Any]:
    """A mass on a spring-damper by a function of place and speed, under a load by a function of time."""
    import exudyn.itemInterface as items

    system = _system()
    node = system.AddNode(
        items.Node1D(referenceCoordinates=[0.0], initialCoordinates=[start[0]], initialVelocities=[start[1]])
    )
    system.AddObject(items.Mass1D(mass=mass, nodeNumber=node))
    moves, rests = _coordinate(system, node), _coordinate(system, system.AddNode(items.NodePointGround()))
    _spring(system, rests, moves, force)
    system.AddLoad(items.LoadCoordinate(markerNumber=moves, load=1.0, loadUserFunction=lambda mbs, t, own: load(t)))
    return _sensed(system, [node])


def shaft(
    inertias: tuple[float, float], torque: Callable[[float, float], float], load: Callable[[float], float]
) -> tuple[Any, Any]:
    """Two discs with a torsion spring by a function of twist and rate, the first under a torque of time."""
    import exudyn.itemInterface as items

    system, nodes, moves = _system(), [], []
    for inertia in inertias:
        nodes.append(system.AddNode(items.Node1D(referenceCoordinates=[0.0])))
        system.AddObject(items.Rotor1D(physicsInertia=inertia, nodeNumber=nodes[-1]))
        moves.append(_coordinate(system, nodes[-1]))
    _spring(system, moves[0], moves[1], torque)
    system.AddLoad(items.LoadCoordinate(markerNumber=moves[0], load=1.0, loadUserFunction=lambda mbs, t, own: load(t)))
    return _sensed(system, nodes)


def attraction(constant: float, masses: Sequence[float], places: Array, speeds: Array) -> tuple[Any, Any]:
    """Points in the plane that attract each other, by Exudyn's connector in C++."""
    import exudyn.itemInterface as items

    system, nodes, marks = _system(), [], []
    for mass, place, speed in zip(masses, places, speeds, strict=True):
        reference, velocity = [*place, 0.0], [*speed, 0.0]
        nodes.append(system.AddNode(items.NodePoint(referenceCoordinates=reference, initialVelocities=velocity)))
        body = system.AddObject(items.MassPoint(physicsMass=mass, nodeNumber=nodes[-1]))
        marks.append(system.AddMarker(items.MarkerBodyPosition(bodyNumber=body)))
    for i, first in enumerate(marks):
        for j in range(i):
            pair = {"mass0": masses[i], "mass1": masses[j]}
            system.AddObject(
                items.ObjectConnectorGravity(markerNumbers=[first, marks[j]], gravitationalConstant=constant, **pair)
            )
    return _sensed(system, nodes, position=True)


def states(start: Sequence[float], rates: Callable[[float, Sequence[float]], Sequence[float]]) -> tuple[Any, Any]:
    """A system of first order by a function, as Exudyn's test of LuGre friction."""
    import exudyn.itemInterface as items

    system, size = _system(), len(start)
    node = system.AddNode(
        items.NodeGenericODE1(
            referenceCoordinates=[0.0] * size, initialCoordinates=list(start), numberOfODE1Coordinates=size
        )
    )
    system.AddObject(items.ObjectGenericODE1(nodeNumbers=[node], rhsUserFunction=lambda mbs, t, own, q: rates(t, q)))
    return _sensed(system, [node])


def reeved(
    axial: float,
    free: float,
    fixed: tuple[Array, Array],
    radius: float,
    masses: Sequence[float],
    places: Array,
    speeds: Array,
    weight: float,
) -> tuple[Any, Any]:
    """A block on a rope over its sheave and one of the ground, with a counterweight, by Exudyn's reeving system."""
    import exudyn
    import exudyn.itemInterface as items

    system, nodes, marks = _system(), [], []
    ground = system.AddObject(items.ObjectGround())
    for place in fixed:
        marks.append(system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=[*place, 0.0])))
    for mass, place, speed in zip(masses, places, speeds, strict=True):
        start = {"initialCoordinates": [*place, 0.0], "initialVelocities": [*speed, 0.0]}
        nodes.append(system.AddNode(items.NodeRigidBody2D(**start)))
        body = system.AddObject(items.RigidBody2D(physicsMass=mass, physicsInertia=mass, nodeNumber=nodes[-1]))
        marks.append(system.AddMarker(items.MarkerBodyRigid(bodyNumber=body)))
        system.AddLoad(items.Force(markerNumber=marks[-1], loadVector=[0.0, -mass * weight, 0.0]))
    axes = exudyn.Vector3DList()
    for way in (1.0, 1.0, -1.0, 1.0):
        axes.Append([0.0, 0.0, way])
    system.AddObject(
        items.ReevingSystemSprings(
            markerNumbers=[marks[0], marks[2], marks[1], marks[3]],
            stiffnessPerLength=axial,
            referenceLength=free,
            sheavesAxes=axes,
            sheavesRadii=[0.0, radius, radius, 0.0],
            regularizationForce=-1.0,
        )
    )
    return _sensed(system, nodes)


def belted(
    axial: float,
    free: float,
    straight: float,
    radii: Sequence[float],
    inertias: Sequence[float],
    brake: float,
    load: Callable[[float], float],
) -> tuple[Any, Any]:
    """Two pulleys joined by two spans, each a rope whose ends the coordinates of the pulleys move."""
    import exudyn
    import exudyn.itemInterface as items

    system, nodes, moves = _system(), [], []
    ground = system.AddObject(items.ObjectGround())
    ends = [
        system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=[x, 0.0, 0.0])) for x in (0.0, straight)
    ]
    for inertia in inertias:
        nodes.append(system.AddNode(items.Node1D(referenceCoordinates=[0.0])))
        system.AddObject(items.Rotor1D(physicsInertia=inertia, nodeNumber=nodes[-1]))
        moves.append(_coordinate(system, nodes[-1]))
    for way in (1.0, -1.0):
        axes = exudyn.Vector3DList()
        for _ in range(2):
            axes.Append([0.0, 0.0, 1.0])
        system.AddObject(
            items.ReevingSystemSprings(
                markerNumbers=[*ends, *moves],
                hasCoordinateMarkers=True,
                coordinateFactors=[way * radii[0], -way * radii[1]],
                stiffnessPerLength=axial,
                referenceLength=free,
                sheavesAxes=axes,
                sheavesRadii=[0.0, 0.0],
                regularizationForce=-1.0,
            )
        )
    rests = _coordinate(system, system.AddNode(items.NodePointGround()))
    system.AddObject(items.CoordinateSpringDamper(markerNumbers=[rests, moves[1]], stiffness=0.0, damping=brake))
    system.AddLoad(items.LoadCoordinate(markerNumber=moves[0], load=1.0, loadUserFunction=lambda mbs, t, own: load(t)))
    return _sensed(system, nodes)


def rolled(
    mass: float,
    radius: float,
    inertia: float,
    weight: float,
    friction: float,
    slow: float,
    load: Callable[[float], float],
) -> tuple[Any, Any]:
    """A disc that a torque drives on the ground, by Exudyn's rolling disc with penalty contact."""
    import exudyn.itemInterface as items
    from exudyn.utilities import RigidBodyInertia

    system, stiffness = _system(), 1e5
    ground = system.AddMarker(items.MarkerBodyRigid(bodyNumber=system.AddObject(items.ObjectGround())))
    body = system.CreateRigidBody(
        inertia=RigidBodyInertia(mass=mass, inertiaTensor=np.diag([0.5 * inertia, inertia, 0.5 * inertia])),
        referencePosition=[0.0, 0.0, radius - mass * weight / stiffness],
        initialVelocity=[1.0, 0.0, 0.0],
        gravity=[0.0, 0.0, -weight],
    )
    marker = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body))
    data = system.AddNode(items.NodeGenericData(initialCoordinates=[0.0, 0.0, 0.0], numberOfDataCoordinates=3))
    system.AddObject(
        items.ObjectConnectorRollingDiscPenalty(
            markerNumbers=[ground, marker],
            nodeNumber=data,
            discRadius=radius,
            discAxis=[0.0, 1.0, 0.0],
            contactStiffness=stiffness,
            contactDamping=1e3,
            dryFriction=[friction, friction],
            dryFrictionProportionalZone=slow,
            useLinearProportionalZone=True,
        )
    )
    system.AddLoad(
        items.LoadTorqueVector(
            markerNumber=marker,
            loadVector=[0.0, 1.0, 0.0],
            loadVectorUserFunction=lambda mbs, t, own: [0.0, load(t), 0.0],
        )
    )
    return _sensed(system, [system.GetObject(body)["nodeNumber"]], position=True)


def run(make: Callable[[], tuple[Any, Any]], solver: str, end: float, given: float) -> Run:
    """Run a new system by a solver with a number of steps."""
    import exudyn

    (system, sensors), settings = make(), exudyn.SimulationSettings()
    own = settings.timeIntegration
    own.endTime, own.verboseMode = end, 0
    own.numberOfSteps = int(given)
    own.newton.useModifiedNewton = True
    own.automaticStepSize = False
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = end / SAMPLES
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, solver))
    seconds = time.process_time() - clock
    tables = [system.GetSensorStoredData(sensor) for sensor in sensors]
    return Run(seconds, tables[0][:, 0], np.hstack([table[:, 1:] for table in tables]))


def _system() -> Any:
    import sys

    sys.exudynFast = True  # type: ignore[attr-defined]  # its version without checks
    import exudyn

    return exudyn.SystemContainer().AddSystem()


def _coordinate(system: Any, node: int) -> int:
    import exudyn.itemInterface as items

    marker: int = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))
    return marker


def _spring(system: Any, first: int, second: int, force: Callable[[float, float], float]) -> None:
    import exudyn.itemInterface as items

    system.AddObject(
        items.CoordinateSpringDamper(
            markerNumbers=[first, second],
            springForceUserFunction=lambda mbs, t, own, u, v, *rest: force(u, v),
        )
    )


def _sensed(system: Any, nodes: Sequence[int], *, position: bool = False) -> tuple[Any, list[int]]:
    """The assembled system, and sensors of its nodes."""
    import exudyn
    import exudyn.itemInterface as items

    kinds = exudyn.OutputVariableType
    kind = kinds.Position if position else kinds.Coordinates
    sensors = [
        system.AddSensor(
            items.SensorNode(nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=kind)
        )
        for node in nodes
    ]
    system.Assemble()
    return system, sensors
