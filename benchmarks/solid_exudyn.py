"""A bar of tetrahedra beside Exudyn's reduced-order body on the same mesh: assembly, modes, run, in one process.

The bar of `solid-cantilever` on a hinge at its root, under its weight, from rest: 12 modes and 6 static responses of
its end, 1000 steps. Exudyn has its matrices from NGsolve (`ImportMeshFromNGsolve`, nodal functions of degree 2), its
modes from Hurty, Craig and Bampton's method in NGsolve, the quicker of its two routes, and runs
`ObjectFFRFreducedOrder` in C++ by the trapezoidal rule with modified Newton.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import fem
from cases.solid_cantilever import LENGTH, MATERIAL, SIDE
from flexph import GROUND, connect, hinge, integrate
from flexph.bodies import reduce_body

MODES, STEPS, END = 12, 1000, 1.0
MIDDLE = (0.0, 0.5 * SIDE, 0.5 * SIDE)  # of the root
GRAVITY = (0.0, 0.0, -9.81)
TIMES = ("assembly", "modes", "run")


def quickest(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """The result and the shortest of a few times [s]."""
    best = np.inf
    for _ in range(repeats):
        clock = time.perf_counter()
        made = work()
        best = min(best, time.perf_counter() - clock)
    return made, best


def box(across: int) -> Any:
    """The bar in tetrahedra, scikit-fem's mesh."""
    return fem.box_mesh((LENGTH, SIDE, SIDE), (10 * across, across, across), simplices=True)


# --- ours -------------------------------------------------------------------------------------------------------------


def own_body(mesh: Any) -> Any:
    ports = {"root": fem.Tie("left", "rigid"), "tip": fem.Tie("right", "rigid")}
    return fem.solid(mesh, MATERIAL, degree=2, ports=ports, reference="root")


def own_run(small: Any) -> Any:
    """The end of the bar after the last step [m]."""
    joint = hinge("bar.root", GROUND.at(*MIDDLE), axis=(0.0, 1.0, 0.0))
    mechanism = connect({"bar": small}, [joint], gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))}))
    run = integrate(mechanism, start, np.linspace(0.0, END, STEPS + 1), progress=False)
    tip = small.ports["tip"]
    return run.points("bar", tip.position[None], tip.shape)[-1, 0]


def own_row(across: int) -> tuple[list[float], int, Any]:
    """Seconds of each part, coordinates, and where the end of the bar is."""
    mesh = box(across)
    body, assembly = quickest(lambda: own_body(mesh), 3)
    small, modes = quickest(lambda: reduce_body(body, modes=MODES, static=("tip",)), 2)
    own_run(small)
    end, spent = quickest(lambda: own_run(small), 3)
    return [assembly, modes, spent], body.size, end


# --- Exudyn's ---------------------------------------------------------------------------------------------------------


def netgen_mesh(across: int) -> Any:
    """The same tetrahedra as a mesh of NGsolve."""
    import ngsolve
    from netgen.meshing import Element2D, Element3D, FaceDescriptor, Mesh, MeshPoint, Pnt

    given, made = box(across), Mesh(dim=3)
    points = [made.Add(MeshPoint(Pnt(*x))) for x in given.p.T.tolist()]
    skin = made.Add(FaceDescriptor(surfnr=1, domin=1, bc=1))
    made.SetBCName(0, "skin")
    made.SetMaterial(1, "bar")
    for cell in given.t.T.tolist():
        made.Add(Element3D(1, [points[i] for i in cell]))
    for facet in given.facets[:, given.boundary_facets()].T.tolist():
        made.Add(Element2D(skin, [points[i] for i in facet]))
    return ngsolve.Mesh(made)


def imported(mesh: Any) -> tuple[Any, Any]:
    """The finite elements of Exudyn with both matrices, and NGsolve's forms."""
    from exudyn.FEM import FEMinterface

    model = FEMinterface()
    made = model.ImportMeshFromNGsolve(
        mesh,
        density=MATERIAL.density,
        youngsModulus=MATERIAL.young,
        poissonsRatio=MATERIAL.poisson,
        meshOrder=2,
    )
    return model, made


def faces(model: Any) -> list[Any]:
    """The nodes of the root and of the end."""
    return [model.GetNodesInPlane([x, 0.0, 0.0], [1.0, 0.0, 0.0]) for x in (0.0, LENGTH)]


def exudyn_modes(model: Any, forms: Any) -> Any:
    """The modes and what the reduced-order body needs of them."""
    from exudyn.FEM import ObjectFFRFreducedOrderInterface

    mass, stiffness, _ = forms
    model.ComputeHurtyCraigBamptonModesNGsolve(mass, stiffness, faces(model), MODES)
    return ObjectFFRFreducedOrderInterface(model)


def exudyn_system(model: Any, reduced: Any) -> tuple[Any, Any, Any]:
    """The bar on its hinge: container, system, and the sensor of its end."""
    import exudyn
    from exudyn import itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    bar = reduced.AddObjectFFRFreducedOrder(system, gravity=list(GRAVITY))["oFFRFreducedOrder"]
    root, tip = (
        system.AddMarker(
            items.MarkerSuperElementRigid(
                bodyNumber=bar, meshNodeNumbers=np.array(nodes), weightingFactors=np.full(len(nodes), 1.0 / len(nodes))
            )
        )
        for nodes in faces(model)
    )
    ground = system.AddObject(items.ObjectGround())
    held = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=list(MIDDLE)))
    system.AddObject(items.GenericJoint(markerNumbers=[held, root], constrainedAxes=[1, 1, 1, 1, 0, 1]))
    kind = exudyn.OutputVariableType.Position
    sensor = system.AddSensor(items.SensorMarker(markerNumber=tip, outputVariableType=kind, storeInternal=True))
    system.Assemble()
    return container, system, sensor


def exudyn_run(model: Any, reduced: Any) -> tuple[Any, float]:
    """Where the end of the bar is, and the seconds of the steps alone."""
    import exudyn

    container, system, sensor = exudyn_system(model, reduced)
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = STEPS, END
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = END
    clock = time.perf_counter()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
    spent = time.perf_counter() - clock
    end = system.GetSensorStoredData(sensor)[-1, 1:]
    del container  # owns the system
    return end, spent


def exudyn_row(across: int) -> tuple[list[float], int, Any, float]:
    """Seconds of each part, coordinates, where the end of the bar is, and NGsolve's own assembly without the import."""
    import ngsolve

    ngsolve.SetNumThreads(1)
    meshes = [netgen_mesh(across) for _ in range(3)]  # each import changes its mesh
    (model, forms), assembly = quickest(lambda: imported(meshes.pop()), 3)
    _, bare = quickest(lambda: [form.Assemble() for form in forms[:2]], 3)
    reduced, modes = quickest(lambda: exudyn_modes(model, forms), 1)
    runs = [exudyn_run(model, reduced) for _ in range(3)]
    return [assembly, modes, min(spent for _, spent in runs)], model.NumberOfCoordinates(), runs[0][0], bare


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    words.add_argument("--across", type=int, default=5, help="cells over the height: 5 are 36 300 coordinates")
    across = words.parse_args().across
    own, size, end = own_row(across)
    console = Console(width=100)
    table = Table(title=f"bar of tetrahedra of degree 2: {MODES} modes, 6 static responses; {STEPS} steps; seconds")
    for column in ("", "coordinates", *TIMES, "end of the bar [m]"):
        table.add_column(column, justify="right")
    write = lambda name, row, n, at: table.add_row(  # noqa: E731
        name, str(n), *(f"{x:.3g}" for x in row), "  ".join(f"{x:.5f}" for x in np.asarray(at))
    )
    write("flexph", own, size, end)
    try:
        peer, count, at, bare = exudyn_row(across)
    except ImportError as missing:
        console.print(table)
        console.print(f"Exudyn is left out: {missing}; pip install 'flexph[bench]'", markup=False)
        return
    write("Exudyn", peer, count, at)
    table.add_row("Exudyn/flexph", "", *(f"{b / a:.2g}" for a, b in zip(own, peer, strict=True)), "")
    console.print(table)
    console.print(f"NGsolve's assembly of both matrices alone, without the import: {bare:.2g} s")


if __name__ == "__main__":
    main()
