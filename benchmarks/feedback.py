"""A controller in Python around a flexible robot arm: sampled controllers of flexph beside user functions of Exudyn.

The case ``robot-arm`` under PD control, 2000 steps of 1 ms. Exudyn (C++) has ANCF cables of as many elements, rigid
hubs and its generalised-α method with a modified Newton iteration. Its user functions are those of the loads, which it
calls for every residual, as feedback within the step (our ``port``), and one that it calls once before each step, which
sets the loads (our ``sampled`` at 1 kHz). Both call the function once a step and solve the step with what it gives;
by the tips that are printed, what Exudyn's gives acts later: at the end its tip is about twice as far from that of
feedback within the step. Ours records balance, works and multipliers of every step beside. Process time, the least of
rounds in which all take their turn, from the assembled models to the end of the runs. One thread: OMP_NUM_THREADS=1.

``joined`` is the same law as two port-Hamiltonian controllers (``Continuous``), ``within`` as a ``StateFeedback``: both
are solved within each step by loops, which call the function of Python. ``sampled feedback`` is that function called
once before each step, as ``sampled`` is, whose function has readings by name. Gears are such controllers, too.
``within`` another method is the same feedback in its steps, with a tolerance in both steps of a pair.
The last line is what a call of a sampled controller costs beside a function that does nothing.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

import numpy as np

from cases import robot_arm as case
from cases.robot_arm import profile, profile_rate
from flexph import integrate
from flexph.control import Continuous, Sampled, StateFeedback, gearbox, port_spring
from flexph.methods import Decaying, Exact, ExactGauss
from flexph.numerics.arrays import Array

STEP, END, ELEMENTS = 1e-3, 2.0, 4
METHODS = Decaying(0.8), ExactGauss(2), Exact(tolerance=1e-3)


def ours(kind: str, loops: Any = None, method: Any = None) -> tuple[Array, float]:
    """The tip at the end [m], and seconds of process time."""
    mechanism = case.arm(kind, ELEMENTS)
    start = mechanism.consistent_state(mechanism.assemble(case.placed()))
    times = np.linspace(0.0, END, round(END / STEP) + 1)
    loops = case.controllers(kind, STEP, ELEMENTS) if loops is None else loops
    clock = time.process_time()
    run = integrate(mechanism, start, times, method=method, controllers=loops, progress=False)
    seconds = time.process_time() - clock
    return run.position("fore.tip")[-1], seconds


def joined() -> dict[str, Continuous]:
    """The law as a spring and damper at each motor, joined within the steps."""
    return {
        joint.name: Continuous(
            system=port_spring(joint.stiffness, joint.damping),
            ports={"spring": joint.name},
            references={"spring": lambda t, joint=joint: joint.target * case.profile(t)},
        )
        for joint in case.JOINTS
    }


def law_of(period: float | None = None) -> dict[str, StateFeedback]:
    """The law as a function of readings, within the steps or called before them."""
    gains = np.array([[joint.stiffness, joint.damping, joint.target] for joint in case.JOINTS])

    def law(t: float, y: Array) -> Array:
        part, rate = profile(t), profile_rate(t)
        return gains[:, 0] * (gains[:, 2] * part - y[::2]) + gains[:, 1] * (gains[:, 2] * rate - y[1::2])

    return {
        "law": StateFeedback(
            function=law, sensors=case.SENSORS, ports=[joint.name for joint in case.JOINTS], period=period
        )
    }


def geared(**friction: float) -> tuple[Array, float]:
    """The arm with a gearbox at each motor under given torques, ten times those of their friction."""
    system, given = gearbox(ratio=50.0, inertia=1e-5, **friction), {"drive": lambda t: 0.02 * np.sin(8.0 * t)}
    names = [joint.name for joint in case.JOINTS]
    return ours("sampled", {n: Continuous(system=system, ports={"shaft": n}, inputs=given) for n in names})


def idle(period: float) -> dict[str, Sampled]:
    """A controller that reads all sensors and answers zeros."""
    torques = {joint.name: 0.0 for joint in case.JOINTS}
    return {"idle": Sampled(function=lambda t, see: torques, period=period, sensors=case.SENSORS)}


def exudyn_arm() -> tuple[Any, Any, list[int], list[int], int]:
    """Container, system, nodes of the hubs, loads of the motors and the node of the tip."""
    import exudyn
    import exudyn.itemInterface as items

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    hubs = {name: _hub(system, items, *given) for name, given in HUBS.items()}
    upper, fore = (_link(system, items, x) for x in (0.0, case.LENGTH))
    system.AddObject(items.MassPoint2D(mass=0.5, nodeNumber=_tip_mass(system, items, fore)))
    rigid = lambda body: system.AddMarker(  # noqa: E731
        items.MarkerBodyRigid(bodyNumber=body, localPosition=[0.0, 0.0, 0.0])
    )
    end = lambda link, x: system.AddMarker(  # noqa: E731
        items.MarkerBodyRigid(bodyNumber=link[1][0 if x == 0.0 else -1], localPosition=[x, 0.0, 0.0])
    )
    last = case.LENGTH / ELEMENTS
    for pair in (
        (rigid(hubs["shoulder"][1]), end(upper, 0.0)),
        (rigid(hubs["stator"][1]), end(upper, last)),
        (rigid(hubs["elbow"][1]), end(fore, 0.0)),
    ):
        system.AddObject(items.GenericJoint(markerNumbers=list(pair), constrainedAxes=[1, 1, 0, 0, 0, 1]))
    for first, second in ((ground, hubs["shoulder"][1]), (hubs["stator"][1], hubs["elbow"][1])):
        markers = [
            system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[0.0, 0.0, 0.0]))
            for body in (first, second)
        ]
        system.AddObject(items.RevoluteJoint2D(markerNumbers=markers))
    loads = [
        system.AddLoad(items.LoadTorqueVector(markerNumber=rigid(hubs[name][1]), loadVector=[0.0, 0.0, 0.0]))
        for name in HUBS
    ]
    for body in [*(hub[1] for hub in hubs.values()), *upper[1], *fore[1]]:
        marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0.0, -9.81, 0.0]))
    return container, system, [hub[0] for hub in hubs.values()], loads, fore[0][-1]


HUBS = {"shoulder": (2.0, 0.2, 0.0), "stator": (0.5, 0.02, case.LENGTH), "elbow": (0.5, 0.05, case.LENGTH)}
"""Masses [kg], inertias [kg m²] and places [m]."""


def _hub(system: Any, items: Any, mass: float, inertia: float, x: float) -> tuple[int, int]:
    node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, 0.0, 0.0]))
    return node, system.AddObject(items.RigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))


def _link(system: Any, items: Any, start: float) -> tuple[list[int], list[int]]:
    """Nodes and elements of a cable along x."""
    nodes = [
        system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[start + s, 0.0, 1.0, 0.0]))
        for s in np.linspace(0.0, case.LENGTH, ELEMENTS + 1)
    ]
    bending = case.METAL.young * case.SECTION.second_moment
    bodies = [
        system.AddObject(
            items.Cable2D(
                length=case.LENGTH / ELEMENTS,
                massPerLength=case.METAL.density * case.SECTION.area,
                bendingStiffness=bending,
                axialStiffness=case.METAL.young * case.SECTION.area,
                bendingDamping=case.DAMPING.stiffness * bending,
                nodeNumbers=nodes[i : i + 2],
            )
        )
        for i in range(ELEMENTS)
    ]
    return nodes, bodies


def _tip_mass(system: Any, items: Any, link: tuple[list[int], list[int]]) -> int:
    """The node of the payload, which hangs at the tip of a link."""
    node: int = system.AddNode(items.NodePoint2D(referenceCoordinates=[2.0 * case.LENGTH, 0.0]))
    pair = [system.AddMarker(items.MarkerNodePosition(nodeNumber=n)) for n in (link[0][-1], node)]
    system.AddObject(items.RevoluteJoint2D(markerNumbers=pair))
    load = system.AddMarker(items.MarkerNodePosition(nodeNumber=node))
    system.AddLoad(items.LoadForceVector(markerNumber=load, loadVector=[0.0, -9.81 * 0.5, 0.0]))
    return node


def theirs(once: bool) -> tuple[Array, float]:
    """The same by Exudyn, with a user function that is called ``once`` a step, or those of the loads."""
    import exudyn

    container, system, hubs, loads, tip = exudyn_arm()
    kind, rates = exudyn.OutputVariableType.Coordinates, exudyn.OutputVariableType.Coordinates_t

    def torques(mbs: Any, t: float) -> tuple[float, float, float]:
        q = [mbs.GetNodeOutput(node, kind)[2] for node in hubs]
        v = [mbs.GetNodeOutput(node, rates)[2] for node in hubs]
        see = {"shoulder angle": q[0], "shoulder rate": v[0], "elbow angle": q[2] - q[1], "elbow rate": v[2] - v[1]}
        given = case.held_torques(t, see)
        return given["shoulder"], -given["elbow"], given["elbow"]

    def control(mbs: Any, t: float) -> bool:
        for load, value in zip(loads, torques(mbs, t), strict=True):
            mbs.SetLoadParameter(load, "loadVector", [0.0, 0.0, value])
        return True

    if once:
        system.SetPreStepUserFunction(control)
    else:
        for i, load in enumerate(loads):
            system.SetLoadParameter(
                load, "loadVectorUserFunction", lambda mbs, t, _, i=i: [0.0, 0.0, torques(mbs, t)[i]]
            )
    system.Assemble()
    given = exudyn.SimulationSettings()
    given.timeIntegration.numberOfSteps = round(END / STEP)
    given.timeIntegration.endTime = END
    given.timeIntegration.newton.useModifiedNewton = True
    given.timeIntegration.verboseMode = 0
    given.solution.file.write = False
    clock = time.process_time()
    system.SolveDynamic(given, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
    seconds = time.process_time() - clock
    place = np.array(system.GetNodeOutput(tip, exudyn.OutputVariableType.Position))[:2]
    del container  # owns the system
    return place, seconds


def main() -> None:
    """Tips, times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    runs = {
        "port": lambda: ours("port"),
        "sampled": lambda: ours("sampled"),
        "joined": lambda: ours("sampled", joined()),
        "within": lambda: ours("sampled", law_of()),
        **{f"within {method}": partial(ours, "sampled", law_of(), method) for method in METHODS},
        "sampled feedback": lambda: ours("sampled", law_of(STEP)),
        "viscous gears": lambda: geared(friction=1e-5),
        "dry gears": lambda: geared(dry_friction=2e-3),
        "idle, called each step": lambda: ours("sampled", idle(STEP)),
        "idle, called once": lambda: ours("sampled", idle(END)),
        "exudyn, functions of loads": lambda: theirs(once=False),
        "exudyn, once a step": lambda: theirs(once=True),
    }
    least, tips = dict.fromkeys(runs, np.inf), {}
    for k in range(rounds + 1):  # the first one loads what is compiled
        for name, run in runs.items():
            tips[name], seconds = run()
            least[name] = min(least[name], seconds) if k else np.inf
    for name, seconds in least.items():
        print(f"{name:28s} {1e3 * seconds:8.1f} ms, tip at the end {np.round(tips[name], 4)} m")
    print(f"ratio exudyn_functions_of_loads_over_port {least['exudyn, functions of loads'] / least['port']:.2f}")
    print(f"ratio exudyn_once_a_step_over_sampled {least['exudyn, once a step'] / least['sampled']:.2f}")
    print(
        f"ratio exudyn_once_a_step_over_sampled_feedback {least['exudyn, once a step'] / least['sampled feedback']:.2f}"
    )
    print(f"ratio sampled_over_port {least['sampled'] / least['port']:.2f}")
    print(f"ratio joined_over_port {least['joined'] / least['port']:.2f}")
    print(f"ratio within_over_port {least['within'] / least['port']:.2f}")
    for method in METHODS:
        print(f"within over port, {method}: {least[f'within {method}'] / least['port']:.2f}")
    print(f"ratio dry_over_viscous_gears {least['dry gears'] / least['viscous gears']:.2f}")
    call = (least["idle, called each step"] - least["idle, called once"]) / round(END / STEP)
    print(f"a call of a sampled controller: {1e6 * call:.1f} µs beside its function")


if __name__ == "__main__":
    main()
