"""Cost of one step of a chain of flexible beams against the number of bodies; rigid links beside Exudyn.

A chain of strips of 0.25 m, two elements each, hangs on hinges in the plane or on spherical joints in space, and falls
from the horizontal. The rigid chain is the same one of rigid links; where Exudyn is installed (extra ``bench``), it
steps that of space too, with its implicit trapezoidal rule and sparse solver.
"""

import argparse
import time
from importlib.util import find_spec

import numpy as np
from cost_per_step import exponent, per_step

import fem
import rigid
from cases import free_flight as case
from flexph import GROUND, Body, Mechanism, State, connect, hinge, integrate, spherical
from flexph.methods import Exact

SIZES = (1, 2, 5, 10, 25, 50, 100, 200)
STEP = 1e-3  # [s]
STEPS = 50
KINDS = "flexible", "rigid"
MASS = case.DENSITY * case.LINK_SECTION.area * case.LINK  # of a link [kg]
EDGES = np.array([case.LINK, case.LINK_SECTION.height, case.LINK_SECTION.width])  # of a link [m]
MOMENTS = MASS * (EDGES @ EDGES - EDGES**2) / 12.0  # of a rigid link [kg m²]


def link_of(dim: int, flexible: bool) -> Body:
    """A strip of two elements, or the same one rigid."""
    if dim == 2:
        if not flexible:
            return rigid.bar(case.LINK, MASS)
        return fem.beam(case.LINK, case.plastic(), case.LINK_SECTION, elements=2, strain="von_karman")
    if flexible:
        return next(iter(case.chain(2, "von_karman").bodies.values()))
    ends = {"root": (0.0, 0.0, 0.0), "tip": (case.LINK, 0.0, 0.0)}
    return rigid.body(MASS, inertia=MOMENTS, centre=(0.5 * case.LINK, 0.0, 0.0), ports=ends)


def hanging(bodies: int, dim: int, flexible: bool, *, first: int = 1) -> tuple[Mechanism, State]:
    """The chain and its state at rest, straight along x; its first joint stands there once or twice."""
    link, join = link_of(dim, flexible), hinge if dim == 2 else spherical
    names = [f"link{k}" for k in range(bodies)]
    joints = [join("link0.root", place) for place in (GROUND.at(*np.zeros(dim)), GROUND)[:first]]
    joints += [join(f"link{k}.root", f"link{k - 1}.tip") for k in range(1, bodies)]
    gravity = (0.0, -9.81) if dim == 2 else (0.0, 0.0, -9.81)
    mechanism = connect(dict.fromkeys(names, link), joints, gravity=gravity)
    pose = mechanism.assemble({name: (k * case.LINK, 0.0, 0.0) for k, name in enumerate(names)})
    return mechanism, mechanism.consistent_state(pose)


def time_per_step(bodies: int, dim: int, flexible: bool) -> tuple[int, float, float]:
    """Velocities, milliseconds and Newton iterations per step."""
    (mechanism, state), method = hanging(bodies, dim, flexible), Exact()
    warm = integrate(mechanism, state, STEP * np.arange(4), progress=False, method=method).final
    return mechanism.layout.velocities, *per_step(
        mechanism, warm, STEP, max(20, min(STEPS, 500 // bodies)), method=method
    )


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
    settings.timeIntegration.numberOfSteps = 20 * STEPS
    settings.timeIntegration.endTime = 20 * STEPS * STEP
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    clock = time.process_time()
    system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.TrapezoidalIndex2)
    return 1e3 * (time.process_time() - clock) / (20 * STEPS)


def table(dim: int, largest: int) -> None:
    """Cost per step for all sizes, flexible and rigid."""
    peer = dim == 3 and find_spec("exudyn") is not None
    print(f"\nchain in {'the plane' if dim == 2 else 'space'}, von Kármán strain, steps of {STEP} s; ", end="")
    print("ms per step and µs per body")
    heads = "".join(f"{kind:>12s} {'µs/body':>8s}" for kind in KINDS)
    print(f"bodies  velocities  iterations{heads}" + "  Exudyn, rigid  µs/body" * peer)
    sizes, costs = [n for n in SIZES if n <= largest], {kind: [] for kind in KINDS}  # type: ignore[var-annotated]
    for bodies in sizes:
        row, unknowns, iterations = "", 0, 0.0
        for kind, own in costs.items():
            velocities, cost, taken = time_per_step(bodies, dim, kind == "flexible")
            unknowns, iterations = (velocities, taken) if kind == "flexible" else (unknowns, iterations)
            own.append(cost)
            row += f"{cost:12.3f} {1e3 * cost / bodies:8.0f}"
        if peer:
            cost = exudyn_time_per_step(bodies)
            row += f"  {cost:13.3f}  {1e3 * cost / bodies:7.0f}"
        print(f"{bodies:6d}  {unknowns:10d}  {iterations:10.1f}{row}", flush=True)
    print(f"{'exponent, larger half':30s}" + "".join(f"{exponent(sizes, own):12.2f} {'':8s}" for own in costs.values()))


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
    words.add_argument("--largest", type=int, default=SIZES[-1], metavar="BODIES")
    given = words.parse_args()
    if given.long:
        long_run(given.long)
    else:
        for dim in (2, 3):
            table(dim, given.largest)


if __name__ == "__main__":
    main()
