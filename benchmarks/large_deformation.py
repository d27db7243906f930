"""A rod and a rope that swing, in space and in the plane, beside Exudyn's exact beams and ANCF cables, at equal error.

Each code against its own fine run: the largest error of the tip over the run, over the length. Of all meshes and steps
in a grid that meet the target the one that takes least process time counts; Exudyn by its trapezoidal rule and its
generalised-α method, with modified Newton. Both fall from the horizontal about a spherical joint; all loads are
constant, so that nothing calls Python from Exudyn. Times are those of runs of a mechanism whose arrays exist, as
Exudyn's assembly is not in its time either; the best runs of all codes are repeated in turn, and their minima count.
Motions in space stay in a plane, so that rods and ropes of the plane make the same ones with fewer unknowns: the last
line of a pair of tables compares their times of a step on equal meshes.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import fem
from flexph import GROUND, connect, hinge, integrate, spherical
from flexph.numerics.arrays import Array

GRAVITY = 9.81
ROUNDS = 5
SAMPLES = 60
"""Times at which errors are looked at: all counts of steps are multiples of it."""


class Line(NamedTuple):
    """A rod or rope: length [m], EA = GA [N], EI = GJ [N m²], ρA [kg/m], ρI [kg m], end of the run [s]."""

    length: float
    axial: float
    bending: float
    mass: float
    inertia: float
    end: float


ROD = Line(10.0, 1e4, 500.0, 1.0, 0.1, 6.0)
ROPE = Line(2.0, 1e4, 0.05, 0.3, 0.0, 1.0)
MESH, STEPS = 8, 480
"""Elements and steps of the runs whose times of a step in space and in the plane are compared."""
Run = Callable[[int, int], tuple[Array, float]]
"""Tip at the samples (k, dim) [m] and process time [s], by elements and steps."""


# --- ours -------------------------------------------------------------------------------------------------------------


def own(body: Callable[[int], Any], line: Line, dim: int) -> Run:
    """Runs of a rod or a cable by its elements; it falls along the last axis."""

    @cache
    def prepared(elements: int) -> tuple[Any, Any]:
        origin, pull = np.zeros(dim), -GRAVITY * np.eye(dim)[-1]
        joint = (spherical if dim == 3 else hinge)("line.root", GROUND.at(*origin))
        mechanism = connect({"line": body(elements)}, [joint], gravity=tuple(pull))
        laid = (origin, np.eye(3)) if dim == 3 else (0.0, 0.0, 0.0)
        start = mechanism.consistent_state(mechanism.assemble({"line": laid}))
        integrate(mechanism, start, [0.0, 1e-6], progress=False)
        return mechanism, start

    def run(elements: int, steps: int) -> tuple[Array, float]:
        mechanism, start = prepared(elements)
        clock = time.process_time()
        times = np.linspace(0.0, line.end, steps + 1)
        solution = integrate(mechanism, start, times, progress=False)
        spent = time.process_time() - clock
        return solution.position("line.tip")[:: steps // SAMPLES], spent

    return run


def rod_of(order: int, dim: int) -> Callable[[int], Any]:
    """The rod of an order by its elements."""
    section = fem.RodSection(
        axial=ROD.axial,
        shear=(ROD.axial,) * 2,
        torsion=ROD.bending,
        bending=(ROD.bending,) * 2,
        mass=ROD.mass,
        inertia=(2.0 * ROD.inertia, ROD.inertia, ROD.inertia),
    )
    return lambda elements: fem.rod(ROD.length, None, section, elements=elements, order=order, dim=dim)


def rope_of(dim: int) -> Callable[[int], Any]:
    """The rope by its elements."""
    values = {"mass_per_length": ROPE.mass, "axial": ROPE.axial, "bending": ROPE.bending, "dim": dim}
    return lambda elements: fem.cable(ROPE.length, **values, elements=elements)


# --- Exudyn's ---------------------------------------------------------------------------------------------------------


def elements_of(line: Line, system: Any, places: Array, *, beams: bool, dim: int) -> tuple[list[Any], list[Any]]:
    """Nodes and elements of beams or cables along x, whose last axis is the vertical one."""
    import exudyn
    import exudyn.itemInterface as items

    length = line.length / (len(places) - 1)
    inertia = {"massPerLength": line.mass, "axialStiffness": line.axial}
    inertia |= {"bendingStiffness": line.bending}
    if beams and dim == 3:
        section = exudyn.BeamSection()
        section.stiffnessMatrix = np.diag([line.axial] * 3 + [line.bending] * 3)
        section.inertia = np.diag([2.0 * line.inertia, line.inertia, line.inertia])
        section.massPerLength = line.mass
        kind, start = items.NodeRigidBodyRotVecLG, [0.0] * 5
        element, values = items.ObjectBeamGeometricallyExact, {"length": length, "sectionData": section}
    elif beams:
        kind, start, element = items.NodeRigidBody2D, [0.0] * 2, items.ObjectBeamGeometricallyExact2D
        shear = {"shearStiffness": line.axial, "crossSectionInertia": line.inertia}
        values = {"length": length, **inertia, **shear}
    elif dim == 3:
        kind, start, element = items.NodePointSlope1, [0.0, 0.0, 1.0, 0.0, 0.0], items.ObjectANCFCable
        values = {"length": length, **inertia, "useReducedOrderIntegration": 1}
    else:
        kind, start, element = items.NodePoint2DSlope1, [0.0, 1.0, 0.0], items.ObjectANCFCable2D
        values = {"length": length, **inertia, "useReducedOrderIntegration": 1}
    nodes = [system.AddNode(kind(referenceCoordinates=[x, *start])) for x in places]
    return nodes, [system.AddObject(element(nodeNumbers=list(pair), **values)) for pair in pairwise(nodes)]


def exudyn_system(line: Line, elements: int, *, beams: bool, dim: int) -> tuple[Any, Any, int]:
    """A container, its system of beams or cables, and the sensor of the tip."""
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    places = np.linspace(0.0, line.length, elements + 1)
    nodes, objects = elements_of(line, system, places, beams=beams, dim=dim)
    pull = [0.0, 0.0, -GRAVITY] if dim == 3 else [0.0, -GRAVITY, 0.0]
    if beams and dim == 2:  # its exact planar beams take no load by their mass
        for node, share in zip(nodes, np.convolve(np.ones(elements), [0.5, 0.5]), strict=True):
            marker = system.AddMarker(items.MarkerNodePosition(nodeNumber=node))
            own = share * line.mass * line.length / elements
            system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=[own * x for x in pull]))
    else:
        for element in objects:
            marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=element))
            system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=pull))
    fixed = system.AddMarker(
        items.MarkerNodeCoordinate(nodeNumber=system.AddNode(items.NodePointGround()), coordinate=0)
    )
    for k in range(dim):
        held = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=k))
        system.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, held]))
    kind = exudyn.OutputVariableType.Position
    tip = system.AddSensor(
        items.SensorNode(nodeNumber=nodes[-1], storeInternal=True, writeToFile=False, outputVariableType=kind)
    )
    system.Assemble()
    return container, system, tip


def peer(line: Line, *, beams: bool, dim: int, solver: str) -> Run:
    """Runs of Exudyn by the name of a solver."""

    def run(elements: int, steps: int) -> tuple[Array, float]:
        import exudyn

        container, system, tip = exudyn_system(line, elements, beams=beams, dim=dim)
        given = exudyn.SimulationSettings()
        given.timeIntegration.numberOfSteps, given.timeIntegration.endTime = steps, line.end
        given.timeIntegration.newton.useModifiedNewton = True
        given.solution.file.write = False
        given.solution.sensors.writePeriod = line.end / SAMPLES
        given.timeIntegration.verboseMode = 0
        clock = time.process_time()
        system.SolveDynamic(given, solverType=getattr(exudyn.DynamicSolverType, solver))
        spent = time.process_time() - clock
        rows = np.asarray(system.GetSensorStoredData(tip))
        del container  # owns the system
        at = np.searchsorted(rows[:, 0], np.linspace(0.0, line.end, SAMPLES + 1) - 1e-9)
        return rows[np.minimum(at, len(rows) - 1), 1 : 1 + dim], spent

    return run


# --- at equal error ---------------------------------------------------------------------------------------------------


class Best(NamedTuple):
    """The quickest run that meets a target: seconds, elements, steps, error; and the time of a step [s]."""

    seconds: float
    elements: int
    steps: int
    error: float


def quickest(run: Run, fine: Array, line: Line, grid: Iterator[tuple[int, int]], target: float) -> Best | None:
    """The quickest of a grid of elements and steps whose error is below the target; None where none is."""
    best = None
    for elements, steps in grid:
        try:
            tip, seconds = run(elements, steps)
        except Exception as error:  # a solver that fails is out of the comparison
            print(f"  {elements} elements, {steps} steps: {str(error).splitlines()[0][:80]}")
            continue
        off = float(np.linalg.norm(tip - fine, axis=1).max()) / line.length
        if off <= target and (best is None or seconds < best.seconds):
            best = Best(seconds, elements, steps, off)
    return best


def compared(line: Line, candidates: dict[str, tuple[Run, tuple[int, ...]]], target: float) -> dict[str, Best | None]:
    """The best of each candidate; its fine run has twice the elements and four times the steps of the finest other."""
    bests = {}
    for name, (run, meshes) in candidates.items():
        steps = [SAMPLES * k for k in (1, 2, 4, 8)]
        fine = run(2 * meshes[-1], 4 * steps[-1])[0]
        bests[name] = quickest(run, fine, line, iter([(n, k) for n in meshes for k in steps]), target)
    for _ in range(ROUNDS):
        for name, best in bests.items():
            if best is not None:
                again = candidates[name][0](best.elements, best.steps)[1]
                bests[name] = best._replace(seconds=min(best.seconds, again))
    return bests


def main() -> None:
    """Print tables and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=float, default=1e-2, help="error of the tip over the length")
    parser.add_argument("--only", choices=("rod", "cable"), help="one of both")
    given = parser.parse_args()
    for label, line in (("rod", ROD), ("cable", ROPE)):
        if given.only in (None, label):
            for dim in (3, 2):
                print_table(label, line, dim, given.target)
            seconds = {dim: least_of(mine(label, line, dim)[1]) for dim in (2, 3)}
            plane, space = (1e6 * seconds[dim] / STEPS for dim in (2, 3))
            print(f"{label}, {MESH} elements: {plane:.0f} µs a step in the plane, {space:.0f} µs in space")
            print(f"ratio {label}-space-plane {space / plane:.3g}")


def mine(label: str, line: Line, dim: int) -> tuple[dict[str, tuple[Run, tuple[int, ...]]], Run]:
    """Our candidates with their meshes, and the one whose time of a step is compared."""
    if label == "cable":
        run = own(rope_of(dim), line, dim)
        return {"flexph": (run, (2, 4, 8))}, run
    runs = {order: own(rod_of(order, dim), line, dim) for order in (2, 3)}
    return {f"flexph, order {order}": (run, (1, 2, 4)) for order, run in runs.items()}, runs[2]


def least_of(run: Run) -> float:
    """The least time of runs on the mesh of the comparison [s]."""
    return min(run(MESH, STEPS)[1] for _ in range(ROUNDS))


def print_table(label: str, line: Line, dim: int, target: float) -> None:
    """Print the best runs of all candidates, and the ratio of Exudyn's best time to ours."""
    solvers = {"trapezoidal": "TrapezoidalIndex2", "generalised-α": "GeneralizedAlpha"}
    ours = mine(label, line, dim)[0]
    theirs = {
        f"Exudyn {name}": (peer(line, beams=label == "rod", dim=dim, solver=solver), (4, 8, 16))
        for name, solver in solvers.items()
    }
    bests = compared(line, ours | theirs, target)
    space = "in space" if dim == 3 else "in the plane"
    table = Table("code", "elements", "steps", "error", "ms", "µs a step", title=f"{label} {space}, error {target:g}")
    for name, best in bests.items():
        cells = (
            ("–",) * 5
            if best is None
            else (
                str(best.elements),
                str(best.steps),
                f"{best.error:.1e}",
                f"{1e3 * best.seconds:.1f}",
                f"{1e6 * best.seconds / best.steps:.0f}",
            )
        )
        table.add_row(name, *cells)
    Console().print(table)
    name = f"{label}-exudyn" if dim == 3 else f"planar-{label}-exudyn"
    print(f"ratio {name} {least(bests, theirs) / least(bests, ours):.3g}")


def least(bests: dict[str, Best | None], names: Iterable[str]) -> float:
    """The least time of some candidates [s]."""
    return min((best.seconds for name in names if (best := bests[name]) is not None), default=float("nan"))


if __name__ == "__main__":
    main()
