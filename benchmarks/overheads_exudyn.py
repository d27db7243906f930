"""Exudyn's side of ``overheads.py``: a pendulum and a chain of rigid links, a tree, a point on a spring."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array


class Model(NamedTuple):
    """A system of Exudyn, and its sensor if there is one."""

    system: Any
    sensor: Any = None


class Links(NamedTuple):
    """Equal links of a chain or tree: length [m], mass [kg], inertia [kg m²] about the centre, gravity [m/s²].

    ``turns`` are the rotations of a link in the axes of the one before; a chain hangs on spherical joints, a tree turns
    about the z-axis of each link.
    """

    length: float
    mass: float
    inertia: Array
    gravity: Sequence[float]
    turns: Sequence[Array]


def chain(links: Links) -> Model:
    """Links that hang on spherical joints, straight along x, with multipliers."""
    import exudyn.itemInterface as items
    from exudyn.utilities import RigidBodyInertia

    system, half = _system(), 0.5 * links.length
    before = system.AddMarker(items.MarkerBodyRigid(bodyNumber=system.CreateGround(), localPosition=[0.0, 0.0, 0.0]))
    for k in range(len(links.turns)):
        body = system.CreateRigidBody(
            inertia=RigidBodyInertia(mass=links.mass, inertiaTensor=np.diag(links.inertia)),
            referencePosition=[k * links.length + half, 0.0, 0.0],
            gravity=list(links.gravity),
        )
        root = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[-half, 0.0, 0.0]))
        system.AddObject(items.SphericalJoint(markerNumbers=[before, root]))
        before = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[half, 0.0, 0.0]))
    system.Assemble()
    return Model(system)


def tree(links: Links) -> Model:
    """Links in joint angles, without constraints, as in Exudyn's test kinematicTreeTest; all angles are sensed."""
    import exudyn
    import exudyn.itemInterface as items

    system, n = _system(), len(links.turns)
    turns, inertias = exudyn.Matrix3DList(), exudyn.Matrix3DList()
    offsets, centres = exudyn.Vector3DList(), exudyn.Vector3DList()
    for k, turn in enumerate(links.turns):
        turns.Append(turn)
        inertias.Append(np.diag(links.inertia))
        offsets.Append([links.length if k else 0.0, 0.0, 0.0])
        centres.Append([0.5 * links.length, 0.0, 0.0])
    zeros = [0.0] * n
    starts = {"referenceCoordinates": zeros, "initialCoordinates": zeros, "initialCoordinates_t": zeros}
    node = system.AddNode(items.NodeGenericODE2(**starts, numberOfODE2Coordinates=n))
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exudyn.JointType.RevoluteZ] * n,
            linkParents=np.arange(n) - 1,
            jointTransformations=turns,
            jointOffsets=offsets,
            linkInertiasCOM=inertias,
            linkCOMs=centres,
            linkMasses=[links.mass] * n,
            baseOffset=[0.0, 0.0, 0.0],
            gravity=list(links.gravity),
        )
    )
    return _sensed(system, node)


def point_on_spring(mass: float, stiffness: float, load: Callable[[float], float]) -> Model:
    """A mass on a spring under a load, a function of time in Python."""
    import exudyn.itemInterface as items

    system = _system()
    node, ground = system.AddNode(items.Node1D(referenceCoordinates=[0.0])), system.AddNode(items.NodePointGround())
    system.AddObject(items.Mass1D(mass=mass, nodeNumber=node))
    moves, rests = (system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=n, coordinate=0)) for n in (node, ground))
    system.AddObject(items.CoordinateSpringDamper(markerNumbers=[rests, moves], stiffness=stiffness, damping=0.0))
    system.AddLoad(items.LoadCoordinate(markerNumber=moves, load=1.0, loadUserFunction=lambda mbs, t, own: load(t)))
    return _sensed(system, node)


def run(model: Model, solver: str, end: float, given: float) -> tuple[float, Array, Array]:
    """Seconds of process time of one run, times of its sensor, values there; ``given`` steps, below 1 a tolerance."""
    import exudyn

    settings, controlled = exudyn.SimulationSettings(), given < 1
    settings.timeIntegration.endTime, settings.timeIntegration.verboseMode = end, 0
    settings.timeIntegration.numberOfSteps = 10 if controlled else int(given)
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = end / 50
    if controlled:
        settings.timeIntegration.automaticStepSize = True
        settings.timeIntegration.relativeTolerance = settings.timeIntegration.absoluteTolerance = given
    clock = time.process_time()
    model.system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, solver))
    seconds = time.process_time() - clock
    if model.sensor is None:
        return seconds, np.zeros(0), np.zeros((0, 0))
    table = model.system.GetSensorStoredData(model.sensor)
    return seconds, table[:, 0], table[:, 1:]


def _system() -> Any:
    import exudyn

    return exudyn.SystemContainer().AddSystem()


def _sensed(system: Any, node: int) -> Model:
    """The assembled system with a sensor of the coordinates of a node."""
    import exudyn
    import exudyn.itemInterface as items

    kind = exudyn.OutputVariableType.Coordinates
    sensor = items.SensorNode(nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=kind)
    number = system.AddSensor(sensor)
    system.Assemble()
    return Model(system, number)
