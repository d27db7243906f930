"""Cost of one step of a chain of flexible beams against the number of bodies; rigid links beside Exudyn.

A chain of strips of 0.25 m, two elements each, hangs on spherical joints and falls from the horizontal. The rigid chain
is the same one of rigid links; where Exudyn is installed (`pip install exudyn`), it steps that too, with its implicit
trapezoidal rule and sparse solver.
"""

import argparse
import time
from importlib.util import find_spec

import numpy as np

import rigid
from cases import free_flight as case
from flexph import GROUND, Mechanism, State, connect, integrate, spherical
from flexph.network import DENSE_LIMIT

SIZES = (5, 10, 25, 50)
STEP = 1e-3  # [s]
STEPS = 100
MASS = case.DENSITY * case.LINK_SECTION.area * case.LINK  # of a link [kg]
EDGES = np.array([case.LINK, case.LINK_SECTION.height, case.LINK_SECTION.width])  # of a link [m]
MOMENTS = MASS * (EDGES @ EDGES - EDGES**2) / 12.0  # of a rigid link [kg m²]


def hanging(bodies: int, flexible: bool) -> tuple[Mechanism, State]:
    """The chain and its state at rest, straight along x."""
    if flexible:
        link = next(iter(case.chain(2, "von_karman").bodies.values()))
    else:
        ends = {"root": (0.0, 0.0, 0.0), "tip": (case.LINK, 0.0, 0.0)}
        link = rigid.body(MASS, inertia=MOMENTS, centre=(0.5 * case.LINK, 0.0, 0.0), ports=ends)
    names = [f"link{k}" for k in range(bodies)]
    joints = [spherical("link0.root", GROUND.at(0.0, 0.0, 0.0))]
    joints += [spherical(f"link{k}.root", f"link{k - 1}.tip") for k in range(1, bodies)]
    mechanism = connect(dict.fromkeys(names, link), joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({name: (k * case.LINK, 0.0, 0.0) for k, name in enumerate(names)})
    return mechanism, mechanism.consistent_state(pose)


def time_per_step(bodies: int, flexible: bool) -> tuple[int, float, float]:
    """Velocities, milliseconds and Newton iterations per step."""
    mechanism, state = hanging(bodies, flexible)
    warm = integrate(mechanism, state, STEP * np.arange(4), progress=False)
    times = warm.final.time + STEP * np.arange(STEPS + 1)
    clock = time.process_time()
    solution = integrate(mechanism, warm.final, times, progress=False)
    elapsed = time.process_time() - clock
    return mechanism.layout.velocities, 1e3 * elapsed / STEPS, float(np.mean(solution.ledger.iterations))


def exudyn_time_per_step(bodies: int) -> float:
    """Milliseconds per step of Exudyn for the rigid chain."""
    import exudyn
    import exudyn.itemInterface as items
    from exudyn.utilities import RigidBodyInertia

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    before = system.AddMarker(items.MarkerBodyRigid(bodyNumber=system.CreateGround(), localPosition=[0.0, 0.0, 0.0]))
    half = 0.5 * case.LINK
    for k in range(bodies):
        body = system.CreateRigidBody(
            inertia=RigidBodyInertia(mass=MASS, inertiaTensor=np.diag(MOMENTS)),
            referencePosition=[k * case.LINK + half, 0.0, 0.0],
            gravity=[0.0, 0.0, -9.81],
        )
        root = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[-half, 0.0, 0.0]))
        system.AddObject(items.SphericalJoint(markerNumbers=[before, root]))
        before = system.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localPosition=[half, 0.0, 0.0]))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 10 * STEPS
    settings.timeIntegration.endTime = 10 * STEPS * STEP
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
    return 1e3 * (time.process_time() - clock) / (10 * STEPS)


def table() -> None:
    """Cost per step for all sizes."""
    peer = find_spec("exudyn") is not None
    print(f"hanging chain, von Kármán strain, {STEPS} steps of {STEP} s; dense up to {DENSE_LIMIT} velocities")
    print("        flexible                                        rigid          " + ("Exudyn, rigid" if peer else ""))
    print("bodies  velocities  [ms/step]  per body  iterations     [ms/step]  per body  " + "[ms/step]" * peer)
    for bodies in SIZES:
        velocities, flexible, iterations = time_per_step(bodies, True)
        stiff = time_per_step(bodies, False)[1]
        row = f"{bodies:6d}  {velocities:10d}  {flexible:9.2f}  {flexible / bodies:8.3f}  {iterations:10.1f}"
        row += f"     {stiff:9.2f}  {stiff / bodies:8.3f}"
        print(row + (f"  {exudyn_time_per_step(bodies):9.2f}" if peer else ""), flush=True)


def long_run(steps: int) -> None:
    """What a tumbling chain of 50 keeps (case `free-flight`)."""
    clock = time.process_time()
    solution = case.solve(50, "von_karman", steps, STEP)
    elapsed = time.process_time() - clock
    print(f"tumbling chain of 50, {steps} steps of {STEP} s: {1e3 * elapsed / steps:.1f} ms per step")
    for name, value in case.conserved(solution).items():
        print(f"  {name:26s} {value:.1e}")
    print(f"  {'section_rotation_max_rad':26s} {case.largest_turn(solution):.1e}")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--long", type=int, metavar="STEPS", help="what a tumbling chain of 50 keeps over so many steps")
    steps = words.parse_args().long
    if steps:
        long_run(steps)
    else:
        table()


if __name__ == "__main__":
    main()
