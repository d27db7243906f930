"""Exudyn's side of ``contact.py``: a ball over a floor, and discs on a plane or in a box."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cases.disc_pile import RADIUS
from flexph.numerics.arrays import Array

GRAVITY, HEIGHT, SAMPLES, FRICTION = 9.81, 1.0, 20, 0.3
PENALTY, DAMPING = 2e5, 20.0
"""Of each of two discs or walls that touch, in series [N/m] and side by side [N s/m]."""


class Run(NamedTuple):
    """Times and heights of a ball, and seconds of process time."""

    times: Array
    heights: Array
    seconds: float


class Discs(NamedTuple):
    """Radii (n,) and places (n, 2) of discs over a floor, in a box of a half width where there is one [m]."""

    radii: Array
    places: Array
    width: float | None

    @property
    def masses(self) -> Array:
        """Masses (n,) [kg]."""
        return 1000.0 * math.pi * self.radii**2 * 0.01

    @property
    def sides(self) -> tuple[float, float]:
        """Where the walls are, or beyond all discs [m]."""
        if self.width is not None:
            return -self.width, self.width
        x = self.places[:, 0]
        return float(x.min()) - 2.0 * RADIUS, float(x.max()) + 2.0 * RADIUS


def ball_run(solver: str, given: float, *, end: float, stiffness: float, restitution: float | None) -> Run:
    """A ball of 1 kg that falls from 1 m for an end [s]: by steps of a size [s], or with DOPRI5 by a tolerance.

    On a floor of Hertz of a stiffness [N/m^{3/2}], with a restitution by the model of Gonthier.
    """
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(items.Node1D(referenceCoordinates=[0.0], initialCoordinates=[HEIGHT]))
    system.AddObject(items.Mass1D(mass=1.0, nodeNumber=node))
    moves, rests = (
        system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=number, coordinate=0))
        for number in (node, system.AddNode(items.NodePointGround()))
    )
    system.AddLoad(items.LoadCoordinate(markerNumber=moves, load=-GRAVITY))
    model = {"impactModel": 2, "restitutionCoefficient": restitution} if restitution is not None else {}
    memory = [HEIGHT, 0.0] if model else [HEIGHT]
    data = system.AddNode(items.NodeGenericData(numberOfDataCoordinates=len(memory), initialCoordinates=memory))
    law = {"contactStiffness": stiffness, "contactStiffnessExponent": 1.5} | model
    system.AddObject(items.ObjectContactCoordinate(markerNumbers=[rests, moves], nodeNumber=data, **law))
    kind = exudyn.OutputVariableType.Coordinates
    sensor = system.AddSensor(
        items.SensorNode(nodeNumber=node, storeInternal=True, writeToFile=False, outputVariableType=kind)
    )
    system.Assemble()
    settings = exudyn.SimulationSettings()
    controlled, own = solver == "DOPRI5", settings.timeIntegration
    own.endTime, own.verboseMode, own.automaticStepSize = end, 0, controlled
    own.minimumStepSize = 1e-10
    own.numberOfSteps = SAMPLES if controlled else round(end / given)
    if controlled:
        own.relativeTolerance = own.absoluteTolerance = given
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = end / SAMPLES
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, solver))
    seconds = time.process_time() - clock
    rows = np.asarray(system.GetSensorStoredData(sensor))
    del container  # owns the system
    return Run(rows[:, 0], rows[:, 1], seconds)


def discs_run(discs: Discs, step: float, steps: int) -> tuple[Array, float]:
    """Places (n, 2) of discs [m] after some explicit steps with penalties, and seconds of process time."""
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    touch = system.AddGeneralContact()
    touch.SetFrictionPairings(np.array([[FRICTION]]))
    touch.SetFrictionProportionalZone(1e-3)
    law: Any = {"contactStiffness": PENALTY, "contactDamping": DAMPING, "frictionMaterialIndex": 0}
    ground = system.AddMarker(items.MarkerBodyRigid(bodyNumber=system.AddObject(items.ObjectGround())))
    left, right = discs.sides
    top = float(discs.places[:, 1].max()) + 2.0 * RADIUS
    corners = [(left, top), (left, 0.0), (right, 0.0), (right, top)]
    for (x, y), (u, v) in pairwise(corners):
        points = [[x, y, -0.1], [u, v, -0.1], [u, v, 0.1], [x, y, 0.1]]
        touch.AddTrianglesRigidBodyBased(
            rigidBodyMarkerIndex=ground, pointList=points, triangleList=[[0, 2, 1], [0, 3, 2]], **law
        )
    nodes = []
    for (x, y), radius, mass in zip(discs.places, discs.radii, discs.masses, strict=True):
        nodes.append(system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, y, 0.0])))
        inertia = 0.5 * mass * radius**2
        system.AddObject(items.RigidBody2D(mass=mass, inertia=inertia, nodeNumber=nodes[-1]))
        marker = system.AddMarker(items.MarkerNodeRigid(nodeNumber=nodes[-1]))
        system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=[0.0, -GRAVITY * mass, 0.0]))
        touch.AddSphereWithMarker(markerIndex=marker, radius=radius, **law)
    high = max(1, math.ceil(top / (2.2 * RADIUS)))
    touch.SetSearchTreeCellSize([max(1, math.ceil((right - left) / (2.2 * RADIUS))), high, 1])
    touch.SetSearchTreeBox([left - RADIUS, -RADIUS, -0.1], [right + RADIUS, top, 0.1])
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.parallel.numberOfThreads, settings.solution.file.write = 1, False
    own = settings.timeIntegration
    own.numberOfSteps, own.endTime, own.verboseMode = steps, steps * step, 0
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse  # ten times faster for 1000 discs
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.VelocityVerlet)
    seconds = time.process_time() - clock
    kind = exudyn.OutputVariableType.Position
    places = np.array([system.GetNodeOutput(node, kind)[:2] for node in nodes])
    del container  # owns the system
    return places, seconds
