"""The rotating crank-slider ([flex] sec. 6.2) at equal error: our methods, SUNDIALS, Radau, and Exudyn (C++).

Two turns, von Kármán strain, eight elements. The error is the rms of the midpoint deflection against a fine run of the
same code (Exudyn's beam is another model), relative to its rms; steps or tolerances are those that bring it to 1e-3.
Peers that are not installed are left out, with a word on how to get them. One thread: OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from cases import crank_slider as case
from flexph import Mechanism, State, integrate
from flexph.integration.exact.newton import solve_step
from flexph.kernels.jacobians.factor import factor
from flexph.kernels.state import derive
from flexph.kernels.step import residual
from flexph.kernels.values import Means, Point, Step
from flexph.mechanisms.model.accounts import Accounts
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable, schedule
from flexph.methods import Exact, Library, Method, by_name
from flexph.numerics.arrays import Array

ELEMENTS, TURNS = 8, 2.0
END = TURNS * 2.0 * math.pi / case.SPEED  # [s]
TARGET = 1e-3
REPEATS = 3
SCAN = 0.99
"""Ratio of the step counts that are tried one after the other until one misses the target."""
SAVED = 400
"""Times at which adaptive methods are compared."""
FINE = 32000
"""Steps of a fine run: its own error, of axial modes that nothing damps, is a third of the target or less."""
TOLERANCES = {"radau": (1e-5, 5e-6, 3e-6, 2e-6, 1e-6), "ida": (3e-6, 1e-6, 3e-7)}
PATHS = {"compiled": Exact(compiled=True), "NumPy": Exact(compiled=False)}
if find_spec("numba") is None:
    del PATHS["compiled"]


@dataclass(frozen=True)
class Outcome:
    """Times (k,) [s], midpoint deflection over the length (k,), steps taken, and seconds of process time."""

    times: Array
    deflection: Array
    steps: int
    seconds: float


Run = Callable[[float], Outcome]
"""A run with so many steps, or with such a tolerance."""


# --- our methods ------------------------------------------------------------------------------------------------------


def mechanism(elements: int = ELEMENTS) -> tuple[Mechanism, State]:
    """The crank-slider at its stretched pose, the rod undeformed."""
    made = case.crank_slider(elements, "von_karman")
    return made, made.consistent_state(made.assemble({"crank": (0.0, 0.0, 0.0)}))


def ours(steps: int, method: Method) -> Outcome:
    """A run of ours with equal steps, or saved at equal times."""
    system, start = mechanism()
    times = np.linspace(0.0, END, steps + 1)
    if "compiled" in PATHS:
        from flexph.integration.compiled.build import constants

        system.once(constants)  # as Exudyn's system is assembled before its clock runs
    clock = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coarse runs say that they are coarse
        found = integrate(system, start, times, progress=False, method=method)
    seconds = time.process_time() - clock
    shape = system.bodies["rod"].ports["middle"].shape.toarray()[1]
    u = found.states[:, system.layout.parts["rod.deformation"]]
    taken = int(found.balance.iterations.sum()) if isinstance(method, Library) else steps
    return Outcome(found.times, u @ shape / case.ROD, taken, seconds)


# --- Exudyn -----------------------------------------------------------------------------------------------------------


def exudyn_system() -> tuple[Any, Any, list[int]]:
    """Crank, rod of ANCF cables and slider; the crank's speed is a constraint on its velocity: nothing calls Python."""
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
    along = np.linspace(0.0, case.ROD, ELEMENTS + 1)
    nodes = [
        system.AddNode(
            items.NodePoint2DSlope1(
                referenceCoordinates=[case.CRANK + s, 0.0, 1.0, 0.0],
                initialVelocities=[0.0, turn * (s - case.ROD), 0.0, turn],
            )
        )
        for s in along
    ]
    for i in range(ELEMENTS):
        system.AddObject(
            items.Cable2D(
                length=case.ROD / ELEMENTS,
                massPerLength=case.STEEL.density * area,
                bendingStiffness=case.STEEL.young * second,
                axialStiffness=case.STEEL.young * area,
                nodeNumbers=nodes[i : i + 2],
            )
        )
    slider = system.AddNode(items.NodePoint2D(referenceCoordinates=[case.CRANK + case.ROD, 0.0]))
    system.AddObject(items.MassPoint2D(mass=case.SLIDER, nodeNumber=slider))
    _exudyn_joints(system, items, body, (crank, nodes[0], nodes[-1], slider))
    kind = exudyn.OutputVariableType.Position
    sensors = [
        system.AddSensor(items.SensorNode(nodeNumber=n, storeInternal=True, writeToFile=False, outputVariableType=kind))
        for n in (nodes[0], nodes[ELEMENTS // 2], nodes[-1])
    ]
    system.Assemble()
    return container, system, sensors


def _exudyn_joints(system: Any, items: Any, crank_body: int, nodes: tuple[int, int, int, int]) -> None:
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


def exudyn_run(steps: int, solver: str, tolerance: float) -> Outcome:
    """A run with modified Newton at a relative tolerance."""
    import exudyn

    container, system, sensors = exudyn_system()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = END
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = tolerance
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = 0.5 * END / steps
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, solver))
    seconds = time.process_time() - clock
    found = [system.GetSensorStoredData(sensor) for sensor in sensors]
    root, middle, tip = (rows[:, 1:3] for rows in found)
    chord = tip - root
    normal = np.stack([-chord[:, 1], chord[:, 0]], axis=1) / np.linalg.norm(chord, axis=1)[:, None]
    deflection = np.einsum("kd,kd->k", middle - 0.5 * (root + tip), normal) / case.ROD
    del container  # owns the system
    return Outcome(found[0][:, 0], deflection, steps, seconds)


# --- equal error ------------------------------------------------------------------------------------------------------


def error(found: Outcome, fine: Outcome) -> float:
    """Relative rms of the difference of the midpoint deflections."""
    true = CubicSpline(fine.times, fine.deflection)(found.times)
    return float(np.linalg.norm(found.deflection - true) / np.linalg.norm(true))


def fewest_steps(run: Run, fine: Outcome, order: int, guess: int) -> int:
    """Steps with an error just below the target: the order foretells them, runs with ever fewer steps correct that."""
    steps, good = guess, FINE
    for _ in range(8):
        ratio = error(run(steps), fine) / TARGET
        if ratio <= 1.0:
            good = min(good, steps)
        if 0.95 < ratio <= 1.0:
            break
        steps = math.ceil(steps * float(np.clip(ratio / 0.975, 0.1, 10.0)) ** (1.0 / order))
        if steps >= good:  # axial modes make the error uneven
            break
    fewer = int(SCAN * good)
    while error(run(fewer), fine) <= TARGET:
        good, fewer = fewer, int(SCAN * fewer)
    return good


def loosest_tolerance(run: Run, fine: Outcome, method: str) -> float:
    """The largest of the tolerances with an error below the target, or the smallest one."""
    for tolerance in TOLERANCES[method]:
        if error(run(tolerance), fine) <= TARGET:
            return tolerance
    return TOLERANCES[method][-1]


def quickest(run: Run, argument: float, repeats: int = REPEATS) -> Outcome:
    """The run with the shortest of a few times."""
    return min((run(argument) for _ in range(repeats)), key=lambda found: found.seconds)


# --- the table --------------------------------------------------------------------------------------------------------


def exudyn_rows() -> Iterator[tuple[str, Outcome, float]]:
    """(name, run, error) of Exudyn's methods; the first is what all others are compared with."""
    for solver, label in (("TrapezoidalIndex2", "trapezoidal"), ("GeneralizedAlpha", "generalised-α")):
        fine = exudyn_run(FINE, solver, 1e-8)
        for tolerance in (1e-6, 1e-8, 1e-3):
            run = lambda n, solver=solver, tolerance=tolerance: exudyn_run(int(n), solver, tolerance)  # noqa: E731
            best = quickest(run, fewest_steps(run, fine, 2, 2000))
            yield f"Exudyn {label}, Newton {tolerance:.0e}", best, error(best, fine)


def own_rows(fine: Outcome) -> Iterator[tuple[str, Outcome, float]]:
    """(name, run, error) of the exact scheme and its composition on each path."""
    for method, order, guess in (("exact", 2, 2300), ("exact4", 4, 700), ("exact_gauss", 4, 150)):
        for path, exact in PATHS.items():
            if method == "exact_gauss" and path == "compiled":  # has no compiled loop
                continue
            options = {} if method == "exact_gauss" else {"compiled": exact.compiled}
            value = by_name(method, **options)
            run = lambda n, method=value: ours(int(n), method)  # noqa: E731
            run(200)  # compiles
            best = quickest(run, fewest_steps(run, fine, order, guess), 2 if path == "NumPy" else REPEATS)
            yield f"flexph {method}, {path}", best, error(best, fine)


def adaptive_rows(fine: Outcome, methods: list[str]) -> Iterator[tuple[str, Outcome, float]]:
    """(name, run, error) of the libraries on our equations."""
    for method in methods:
        package, extra = {"radau": ("scipy_dae", "dae"), "ida": ("sksundae", "ida")}[method]
        if find_spec(package) is None:
            print(f"({method} left out: pip install 'flexph[{extra}]')")
            continue
        run = lambda tol, method=method: ours(SAVED, by_name(method, tolerance=tol))  # noqa: E731
        tolerance = loosest_tolerance(run, fine, method)
        best = quickest(run, tolerance, 1)
        yield f"flexph {method}, tolerance {tolerance:.0e}", best, error(best, fine)


def table(methods: list[str]) -> None:
    """Everything at equal error."""
    print(f"crank-slider, {TURNS:.0f} turns, {ELEMENTS} elements, von Kármán; rms error {TARGET:.0e}, process time")
    print(f"{'method':38s} {'steps':>7s} {'rms error':>10s} {'total ms':>9s} {'µs/step':>8s} {'/ Exudyn':>8s}")
    unit = math.nan

    def show(rows: Iterator[tuple[str, Outcome, float]]) -> None:
        nonlocal unit
        for name, best, defect in rows:
            unit = best.seconds if math.isnan(unit) and name.startswith("Exudyn") else unit
            row = f"{name:38s} {best.steps:7d} {defect:10.1e} {1e3 * best.seconds:9.1f} "
            print(f"{row}{1e6 * best.seconds / best.steps:8.1f} {best.seconds / unit:8.2f}", flush=True)

    if find_spec("exudyn") is None:
        print("(Exudyn left out: pip install 'flexph[bench]')")
    else:
        show(exudyn_rows())
    fine = ours(FINE, next(iter(PATHS.values())))
    show(own_rows(fine))
    show(adaptive_rows(fine, methods))


# --- where a step spends its time -------------------------------------------------------------------------------------


def shares(steps: int = 2500) -> None:
    """Time of the NumPy kernels one by one at a state of the run, and what they make of a step."""
    system, start = mechanism()
    a, h = system.network.arrays, END / steps
    method = PATHS["NumPy"]
    middle = integrate(system, start, h * np.arange(101), progress=False, method=method).final
    clock = time.process_time()
    run = integrate(system, middle, middle.time + h * np.arange(301), progress=False, method=method)
    whole = (time.process_time() - clock) / 300
    iterations = float(np.mean(run.ledger.iterations))
    c = configuration(system, middle.x)
    d, accounts = derive(a, c), Accounts(system)
    plan = schedule(TimeTable(system, middle.anchors), middle.time, middle.time + h, np.zeros(0))
    step = Step(c, d, h, plan)
    found = solve_step(a, step, Means(c.v, c.omega, c.du, middle.multipliers))
    point = Point(*step, found.trial)
    defect, _ = residual(a, step, found.means)
    times = {
        "residual": (iterations + 1.0) * once(lambda: residual(a, step, found.means)),
        "Jacobian and factorisation": once(lambda: factor(a, point)),
        "solve": (iterations + 1.0) * once(lambda: found.solve(defect)),
        "ledger": once(lambda: accounts.step(step, found.means, found.trial)),
    }
    times["the rest"] = whole - sum(times.values())
    print(f"\nNumPy path, {1e6 * whole:.0f} µs per step, {iterations:.1f} iterations with one Jacobian:")
    for name, seconds in times.items():
        print(f"  {name:28s} {1e6 * seconds:7.0f} µs {seconds / whole:6.0%}")


def once(function: Callable[[], object], count: int = 200) -> float:
    """Shortest mean time of a call [s]."""
    means = []
    for _ in range(REPEATS):
        clock = time.process_time()
        for _ in range(count):
            function()
        means.append((time.process_time() - clock) / count)
    return min(means)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--methods", nargs="*", default=["radau", "ida"], help="adaptive methods; ida takes minutes")
    table(words.parse_args().methods)
    shares()


if __name__ == "__main__":
    main()
