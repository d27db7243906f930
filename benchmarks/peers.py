"""Models in flexph and in Exudyn at equal error: laws of springs, ropes over sheaves, a belt, a wheel, a planar cable.

Each is run with more and more steps until its places at 50 times are within an error of a reference by SciPy. The
quickest method of flexph counts, in second runs of a mechanism. ``ratio NAME VALUE`` is the time of Exudyn's quickest
implicit solver, which its own models take, over that of flexph; ``ratio NAME-explicit VALUE`` that of its
explicit ones, which take systems without constraints; by steps of one size, as its step control
stalls at the orbit.

    python benchmarks/peers.py [NAME ...]
"""

from __future__ import annotations

import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import large_deformation as lines
import numpy as np
import peers_exudyn as theirs
from peers_exudyn import SAMPLES, Run
from scipy.integrate import solve_ivp

import rigid
from flexph import (
    GROUND,
    Mechanism,
    State,
    connect,
    force,
    hinge,
    integrate,
    slider,
    spring_damper,
    torque,
    torsion_spring,
)
from flexph.joints import Sheave, rope, slipping_wheel
from flexph.laws import backlash, bouc_wen, bristle, coulomb, force_law, gravitation, polynomial
from flexph.methods import Exact, Exact4, ExactGauss
from flexph.numerics.arrays import Array
from flexph.sensors import joint_angle

STEPS = [round(SAMPLES * 2 ** (0.5 * k)) // SAMPLES * SAMPLES for k in range(1, 30)]
"""Numbers of steps that are tried, and tolerances of methods that choose their steps."""
TOLERANCES = [10.0 ** (-0.5 * k) for k in range(4, 21)]
SOLVERS = {"": ("TrapezoidalIndex2", "GeneralizedAlpha"), "-explicit": ("RK44", "RK67")}
"""Solvers of Exudyn by the ends of the names of their ratios."""
REPEATS, SPENT = 3, 0.1
"""Least number of runs of which the least time counts, and time [s] for which short ones are repeated."""
CABLE_ERROR = 1e-2
"""Error of the tip of the cable over its length."""
COLLOCATION = {"ExactGauss": ExactGauss(), "ExactGauss(2)": ExactGauss(2)}
PLACE = GROUND.at(0.0, 0.0)
X = (1.0, 0.0)
ANGLES = [joint_angle("a.c", PLACE), joint_angle("b.c", PLACE)]


@dataclass
class Model:
    """A model in both programs, with the error at which they are compared, relative to the largest place."""

    end: float
    error: float
    rates: Callable[[float, Array], Sequence[float]]  # of the reference
    start: Sequence[float]
    shown: Sequence[int]  # entries of the reference that both show
    own: Callable[[], tuple[Mechanism, State, Mapping[str, Any]]]
    places: Callable[[Any], Array]
    methods: Mapping[str, Any]
    peer: Callable[[], tuple[Any, Any]]
    columns: Sequence[int] | None = None
    their_rates: Callable[[float, Array], Sequence[float]] | None = None  # where Exudyn's law differs a little

    def reference(self, rates: Callable[[float, Array], Sequence[float]] | None = None) -> Callable[[Array], Array]:
        """Places (times, n) at times by SciPy."""
        own, span = rates or self.rates, (0.0, self.end)
        found = solve_ivp(own, span, self.start, "LSODA", dense_output=True, rtol=1e-12, atol=1e-14)
        return lambda times: found.sol(times)[list(self.shown)].T

    @cached_property
    def made(self) -> tuple[Mechanism, State, Mapping[str, Any]]:
        """Mechanism, start and inputs of all runs."""
        return self.own()

    def run(self, method: Any, given: float) -> Run:
        """Run in flexph with a number of steps, or below 1 a tolerance."""
        mechanism, start, inputs = self.made
        steps, per = (SAMPLES, 1) if given < 1 else (int(given), int(given) // SAMPLES)
        method = Exact(tolerance=given) if given < 1 else method
        clock = time.process_time()
        found = integrate(
            mechanism,
            start,
            np.linspace(0.0, self.end, steps + 1),
            method=method,
            inputs=inputs,
            save_every=per,
            progress=False,
        )
        return Run(time.process_time() - clock, found.times, self.places(found))

    def theirs(self, solver: str, given: float) -> Run:
        """Run in Exudyn with a number of steps."""
        found = theirs.run(self.peer, solver, self.end, given)
        return found if self.columns is None else found._replace(places=found.places[:, list(self.columns)])


def of_time(load: Callable[[float], float]) -> Callable[[float], tuple[float, float]]:
    """A load along x."""
    return lambda t: (load(t), 0.0)


def on_a_line(law: Any, mass: float, start: tuple[float, float], load: Callable[[float], float]) -> Any:
    """A mass on a line with a spring, under a load."""
    spring = spring_damper("mass.point", PLACE, law=law, direction=X, length=0.0)
    mechanism = connect(
        {"mass": rigid.point(mass)},
        [slider("mass.point", PLACE, turning=True), spring, force("mass.point", name="load")],
    )
    pose = mechanism.assemble({"mass": (start[0], 0.0, 0.0)})
    state = mechanism.consistent_state(pose, velocities={"mass": (start[1], 0.0, 0.0)})
    return mechanism, state, {"load": of_time(load)}


def along_x(run: Any) -> Array:
    """Places of the mass."""
    places: Array = run.position("mass.point")[:, :1]
    return places


def spring_by_function() -> Model:
    """Exudyn's springDamperUserFunctionTest: F = 0.1 k u + k u³ + 1e-3 k u⁵ + d v in Python, under a load in Python."""
    mass, k, d, f = 1.6, 4000.0, 8.0, 80.0
    force_of = lambda u, v: 0.1 * k * u + k * u**3 + 1e-3 * k * u**5 + d * v  # noqa: E731
    load = lambda t: f * math.sin(10.0 * t)  # noqa: E731
    return Model(
        end=5.0,
        error=1e-4,
        rates=lambda t, y: (y[1], (load(t) - force_of(y[0], y[1])) / mass),
        start=(0.1, 0.0),
        shown=(0,),
        own=lambda: on_a_line(force_law(lambda x, v, t: force_of(x, v)), mass, (0.1, 0.0), load),
        places=along_x,
        methods={"Exact": Exact()} | COLLOCATION,
        peer=lambda: theirs.oscillator(mass, force_of, load, (0.1, 0.0)),
    )


def duffing() -> Model:
    """A Duffing oscillator by its potential; in Exudyn a function of Python."""
    mass, k, cubic = 2.0, 100.0, 4e3
    force_of = lambda u, v: k * u + cubic * u**3  # noqa: E731
    return Model(
        end=20.0,
        error=1e-3,
        rates=lambda t, y: (y[1], -force_of(y[0], y[1]) / mass),
        start=(0.3, 0.0),
        shown=(0,),
        own=lambda: (*on_a_line(polynomial(k, 0.0, cubic), mass, (0.3, 0.0), lambda t: 0.0)[:2], {}),
        places=along_x,
        methods={"Exact": Exact(), "Exact4": Exact4()} | COLLOCATION,
        peer=lambda: theirs.oscillator(mass, force_of, lambda t: 0.0, (0.3, 0.0)),
    )


def torsion_backlash() -> Model:
    """Two discs coupled with play, the first driven by a torque of time."""
    inertias, k, play = (0.02, 0.05), 40.0, 0.1
    load = lambda t: 2.0 * math.sin(3.0 * t)  # noqa: E731

    def torque_of(u: float, v: float) -> float:
        return k * (u - math.copysign(0.5 * play, u)) if abs(u) > 0.5 * play else 0.0

    def own() -> tuple[Mechanism, State, Mapping[str, Any]]:
        bodies = {
            name: rigid.body(1.0, inertia=J, ports={"c": (0.0, 0.0)}) for name, J in zip("ab", inertias, strict=True)
        }
        joints = [hinge("a.c", PLACE), hinge("b.c", PLACE), torque("a.c", name="motor")]
        spring = torsion_spring("b.c", "a.c", law=backlash(k, play=play), angle=0.0)
        mechanism = connect(bodies, [*joints, spring])
        return mechanism, mechanism.consistent_state(mechanism.assemble()), {"motor": load}

    def rates(t: float, y: Array) -> Sequence[float]:
        twist = torque_of(y[1] - y[0], 0.0)
        return y[2], y[3], (load(t) + twist) / inertias[0], -twist / inertias[1]

    return Model(
        end=5.0,
        error=1e-3,
        rates=rates,
        start=(0.0, 0.0, 0.0, 0.0),
        shown=(0, 1),
        own=own,
        places=lambda run: np.column_stack([run.measured(angle) for angle in ANGLES]),
        methods={"Exact": Exact(), "Exact4": Exact4()} | COLLOCATION,
        peer=lambda: theirs.shaft(inertias, torque_of, load),
    )


def orbit() -> Model:
    """Two points that attract each other, ten times round an ellipse; both programs have the law."""
    masses, constant = (2.0, 3.0), 4.0
    places, speeds = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, -3.0], [0.0, 2.0]])
    total = sum(masses)
    axis = 1.0 / (2.0 - 25.0 / (constant * total))
    end = 10.0 * 2.0 * math.pi * math.sqrt(axis**3 / (constant * total))

    def own() -> tuple[Mechanism, State, Mapping[str, Any]]:
        law = gravitation(constant * masses[0] * masses[1])
        bodies = {name: rigid.point(m) for name, m in zip("ab", masses, strict=True)}
        mechanism = connect(bodies, [spring_damper("a.point", "b.point", law=law, length=0.0)])
        pose = mechanism.assemble({name: (*place, 0.0) for name, place in zip("ab", places, strict=True)})
        given = {name: (*speed, 0.0) for name, speed in zip("ab", speeds, strict=True)}
        return mechanism, mechanism.consistent_state(pose, velocities=given), {}

    def rates(t: float, y: Array) -> Sequence[float]:
        between = y[2:4] - y[:2]
        pull = constant * between / np.linalg.norm(between) ** 3
        return [*y[4:], *(masses[1] * pull), *(-masses[0] * pull)]

    return Model(
        end=end,
        error=1e-3,
        rates=rates,
        start=[*places.ravel(), *speeds.ravel()],
        shown=(0, 1, 2, 3),
        own=own,
        places=lambda run: np.hstack([run.position("a.point"), run.position("b.point")]),
        methods={"Exact": Exact(), "Exact4": Exact4()} | COLLOCATION,
        peer=lambda: theirs.attraction(constant, masses, places, speeds),
        columns=(0, 1, 3, 4),
    )


def hysteresis() -> Model:
    """A mass on a spring of Bouc and Wen under a load of time; in Exudyn a system of first order in Python."""
    mass, k, bound = 1.0, 200.0, 20.0
    load = lambda t: 15.0 * math.sin(9.0 * t)  # noqa: E731
    c = k / bound

    def rates(t: float, y: Sequence[float]) -> Sequence[float]:
        x, v, z = y
        del x
        return v, (load(t) - k * z) / mass, v * (1.0 - 0.5 * c * (math.copysign(1.0, z * v) + 1.0) * abs(z))

    return Model(
        end=5.0,
        error=1e-3,
        rates=rates,
        start=(0.0, 0.0, 0.0),
        shown=(0,),
        own=lambda: on_a_line(bouc_wen(k, yield_force=bound), mass, (0.0, 0.0), load),
        places=along_x,
        methods={"Exact": Exact()},
        peer=lambda: theirs.states((0.0, 0.0, 0.0), rates),
        columns=(0,),
    )


def stick_slip() -> Model:
    """Exudyn's test of LuGre friction, data of Canudas de Wit et al. (1995): a mass that a slow spring pulls."""
    mass, pull, speed = 1.0, 2.0, 0.1
    sliding, static, stribeck, stiffness, viscous = 1.0, 1.5, 0.001, 1e5, 0.4
    damping = math.sqrt(stiffness)

    def rates(t: float, y: Sequence[float]) -> Sequence[float]:
        x, v, z = y
        bound = sliding + (static - sliding) * math.exp(-((v / stribeck) ** 2))
        bend = v - stiffness * abs(v) * z / bound
        limited = damping if damping * abs(v) <= 4.0 * bound else 4.0 * bound / abs(v)
        rub = stiffness * z + limited * bend + viscous * v
        return v, (pull * (speed * t - x) - rub) / mass, bend

    def own() -> tuple[Mechanism, State, Mapping[str, Any]]:
        rough = bristle(
            sliding, stiffness=stiffness, damping=damping, static=static, stribeck=stribeck, viscous=viscous
        )
        mechanism = connect(
            {"mass": rigid.point(mass)},
            [
                slider("mass.point", PLACE, turning=True),
                spring_damper("mass.point", PLACE, law=rough, direction=X, length=0.0, name="rough"),
                spring_damper(
                    "mass.point", PLACE, stiffness=pull, direction=X, length=lambda t: speed * t, name="pull"
                ),
            ],
        )
        return mechanism, mechanism.consistent_state(mechanism.assemble({"mass": (0.0, 0.0, 0.0)})), {}

    return Model(
        end=20.0,
        error=3e-3,
        rates=rates,
        start=(0.0, 0.0, 0.0),
        shown=(0,),
        own=own,
        places=along_x,
        methods={"Exact": Exact()},
        peer=lambda: theirs.states((0.0, 0.0, 0.0), rates),
        columns=(0,),
    )


def reeving() -> Model:
    """A block with a sheave and a counterweight on one elastic rope over a second sheave; the block swings.

    In Exudyn ``ReevingSystemSprings``, whose stiffness is EA over the present length of the rope.
    """
    r, top, masses, axial, weight = 0.1, 3.0, (20.0, 9.6), 1e5, 9.81
    fixed, over = np.array([0.0, top]), np.array([3.0 * r, top])
    begins, speeds = np.array([[r, 0.0], [4.0 * r, 1.0]]), np.array([[0.4, 0.0], [0.0, 0.0]])
    radii = (0.0, r, -r, 0.0)

    def spans(block: Array, other: Array) -> tuple[float, list[Array]]:
        """Length of the rope, and the directions of its spans."""
        length, tangents, before = 0.0, [], None
        for k, (a, b) in enumerate(pairwise((fixed, block, over, other))):
            way, apart = b - a, radii[k] - radii[k + 1]
            straight = math.sqrt(way @ way - apart * apart)
            length += straight + apart * math.atan2(apart, straight)
            tangents.append((straight * way + apart * np.array([-way[1], way[0]])) / (way @ way))
            if before is not None:
                angle = math.atan2(before[0] * way[1] - before[1] * way[0], before @ way)
                length += abs(radii[k]) * (math.copysign(1.0, radii[k]) * angle % (2.0 * math.pi))
            before = way
        return length, tangents

    free = spans(*begins)[0] * (1.0 - masses[1] * weight / axial)

    def moved(tension: Callable[[float], float]) -> Callable[[float, Array], Sequence[float]]:
        def rates(t: float, y: Array) -> Sequence[float]:
            length, (first, second, third) = spans(y[:2], y[2:4])
            pull = tension(length)
            pulls = np.array([second - first, -third]) * pull / np.array(masses)[:, None] - [0.0, weight]
            return [*y[4:], *pulls.ravel()]

        return rates

    def own() -> tuple[Mechanism, State, Mapping[str, Any]]:
        names = ("block", "weight")
        bodies = {
            name: rigid.body(m, inertia=m, ports={"c": (0.0, 0.0)}) for name, m in zip(names, masses, strict=True)
        }
        path = [GROUND.at(*fixed), Sheave("block.c", r), Sheave(GROUND.at(*over), -r), "weight.c"]
        mechanism = connect(bodies, [rope(path, stiffness=axial / free, length=free)], gravity=(0.0, -weight))
        pose = mechanism.assemble({name: (*place, 0.0) for name, place in zip(names, begins, strict=True)})
        given = {name: (*speed, 0.0) for name, speed in zip(names, speeds, strict=True)}
        return mechanism, mechanism.consistent_state(pose, velocities=given), {}

    return Model(
        end=3.0,
        error=1e-3,
        rates=moved(lambda length: axial * (length - free) / free),
        their_rates=moved(lambda length: axial * (length - free) / length),
        start=[*begins.ravel(), *speeds.ravel()],
        shown=(0, 1, 2, 3),
        own=own,
        places=lambda run: np.hstack([run.position("block.c"), run.position("weight.c")]),
        methods={"Exact": Exact(), "Exact4": Exact4()} | COLLOCATION,
        peer=lambda: theirs.reeved(axial, free, (fixed, over), r, masses, begins, speeds, weight),
        columns=(0, 1, 3, 4),
    )


def belt() -> Model:
    """Two pulleys with a taut belt between them, a motor by a function of time and a brake.

    In Exudyn a rope with coordinates of both pulleys for each span, whose stiffness is EA over its present length.
    """
    radii, inertias, apart, brake = (0.06, 0.15), (0.002, 0.05), 0.5, 0.4
    straight = math.sqrt(apart**2 - (radii[1] - radii[0]) ** 2)
    stiffness, pretension = 2e4, 60.0
    free = straight - pretension / stiffness
    axial = stiffness * free
    load = lambda t: 1.5 * math.sin(20.0 * t)  # noqa: E731

    def moved(tension: Callable[[float], float]) -> Callable[[float, Array], Sequence[float]]:
        def rates(t: float, y: Array) -> Sequence[float]:
            passed = radii[0] * y[0] - radii[1] * y[1]
            pull = tension(straight + passed) - tension(straight - passed)
            torques = load(t) - radii[0] * pull, radii[1] * pull - brake * y[3]
            return y[2], y[3], torques[0] / inertias[0], torques[1] / inertias[1]

        return rates

    def own() -> tuple[Mechanism, State, Mapping[str, Any]]:
        bodies = {
            name: rigid.body(1.0, inertia=inertia, ports={"c": (0.0, 0.0)})
            for name, inertia in zip("ab", inertias, strict=True)
        }
        spans = [
            rope(
                [Sheave("a.c", way * radii[0], grips=True), Sheave("b.c", way * radii[1], grips=True)],
                stiffness=stiffness,
                length=free,
                name=name,
            )
            for name, way in (("above", -1.0), ("below", 1.0))
        ]
        axles = [hinge("a.c", PLACE), hinge("b.c", GROUND.at(apart, 0.0)), torque("a.c", name="motor")]
        mechanism = connect(bodies, [*axles, *spans, torsion_spring("b.c", GROUND, damping=brake)])
        pose = mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (apart, 0.0, 0.0)})
        return mechanism, mechanism.consistent_state(pose), {"motor": load}

    angles = [joint_angle("a.c", PLACE), joint_angle("b.c", GROUND.at(apart, 0.0))]
    return Model(
        end=2.0,
        error=1e-3,
        rates=moved(lambda length: stiffness * (length - free)),
        their_rates=moved(lambda length: axial * (length - free) / length),
        start=(0.0, 0.0, 0.0, 0.0),
        shown=(0, 1),
        own=own,
        places=lambda run: np.column_stack([run.measured(angle) for angle in angles]),
        methods={"Exact": Exact()} | COLLOCATION,
        peer=lambda: theirs.belted(axial, free, straight, radii, inertias, brake, load),
    )


def wheel() -> Model:
    """A driven wheel that slips and grips in turn; in Exudyn a rolling disc by penalty, whose friction is bilinear."""
    mass, radius, inertia, weight, friction, slow = 2.0, 0.3, 0.12, 9.81, 0.4, 0.05
    most = friction * mass * weight
    load = lambda t: 6.0 * math.sin(2.0 * t)  # noqa: E731

    def moved(force: Callable[[float], float]) -> Callable[[float, Array], Sequence[float]]:
        def rates(t: float, y: Array) -> Sequence[float]:
            push = force(radius * y[3] - y[2])
            return y[2], y[3], push / mass, (load(t) - radius * push) / inertia

        return rates

    def own() -> tuple[Mechanism, State, Mapping[str, Any]]:
        body = rigid.body(mass, inertia=inertia, ports={"c": (0.0, 0.0)})
        rail = slider("wheel.c", GROUND.at(0.0, radius), turning=True)
        grip = slipping_wheel("wheel.c", radius=radius, friction=coulomb(most, speed=slow))
        mechanism = connect({"wheel": body}, [rail, grip, torque("wheel.c", name="motor")])
        pose = mechanism.assemble({"wheel": (0.0, radius, 0.0)})
        state = mechanism.consistent_state(pose, velocities={"wheel": (1.0, 0.0, 0.0)})
        return mechanism, state, {"motor": lambda t: -load(t)}

    return Model(
        end=6.0,
        error=1e-3,
        rates=moved(lambda slip: most * math.tanh(slip / slow)),
        their_rates=moved(lambda slip: most * max(-1.0, min(1.0, slip / slow))),
        start=(0.0, 0.0, 1.0, 0.0),
        shown=(0,),
        own=own,
        places=lambda run: run.position("wheel.c")[:, :1],
        methods={"Exact": Exact()},
        peer=lambda: theirs.rolled(mass, radius, inertia, weight, friction, slow, load),
        columns=(0,),
    )


MODELS = {
    "spring-by-function": spring_by_function,
    "duffing": duffing,
    "torsion-backlash": torsion_backlash,
    "orbit": orbit,
    "bouc-wen": hysteresis,
    "stick-slip": stick_slip,
    "reeving": reeving,
    "belt": belt,
    "wheel": wheel,
}
CABLE = "planar-cable"
"""Model of large_deformation.py: each program against its own fine mesh."""


def quickest(
    runs: Mapping[str, tuple[Callable[[float], Run], Sequence[float]]], exact: Any, end: float, error: float
) -> Any:
    """Name, steps or tolerance, and seconds of the quickest run within an error."""
    best = None
    for name, (run, given) in runs.items():
        for value in given:
            try:
                first = run(value)
            except Exception:  # steps that are too long, of either program
                continue
            if len(first.times) < SAMPLES // 2 or first.times[-1] < 0.999 * end:
                continue
            right = exact(first.times)
            missed = np.abs(first.places - right).max() / np.abs(right).max()
            if not missed <= error:
                if first.seconds > 2.0:
                    break
                continue
            repeats = max(REPEATS, int(SPENT / first.seconds))
            seconds = min([first.seconds, *(run(value).seconds for _ in range(repeats - 1))])
            if best is None or seconds < best[2]:
                best = name, value, seconds, missed
            break
    return best


def compare(name: str, with_peer: bool) -> float | None:
    """Print a line for each program, and the ratios."""
    if name == CABLE:
        return compare_cables(with_peer)
    model = MODELS[name]()
    exact = model.reference()
    steps = {kind: (lambda n, m=method: model.run(m, n), STEPS) for kind, method in model.methods.items()}
    steps["Exact(tolerance)"] = (lambda given: model.run(None, given), TOLERANCES)
    mine = quickest(steps, exact, model.end, model.error)
    print(f"{name:20} flexph {_told(mine)}", flush=True)
    if not with_peer:
        return None
    first, exact = None, exact if model.their_rates is None else model.reference(model.their_rates)
    for kind, solvers in SOLVERS.items():
        by = {s: (partial(model.theirs, s), STEPS) for s in solvers}
        peer = quickest(by, exact, model.end, model.error)
        none = "explicit solvers take no constraints" if kind else _told(None)
        print(f"{name:20} Exudyn {none if peer is None else _told(peer)}", flush=True)
        ratio = None if mine is None or peer is None else float(peer[2] / mine[2])
        if ratio is not None:
            print(f"ratio {name}{kind} {ratio:.3g}", flush=True)
        first = ratio if kind == "" else first
    return first


def compare_cables(with_peer: bool) -> float | None:
    """Print a line for each program about the cable of the plane that swings, and the ratio."""
    solvers = SOLVERS[""] if with_peer else ()
    ours, peers = lines.mine("cable", lines.ROPE, 2)[0], {}
    for solver in solvers:
        peers[f"Exudyn {solver}"] = lines.peer(lines.ROPE, beams=False, dim=2, solver=solver), (4, 8, 16)
    bests = lines.compared(lines.ROPE, ours | peers, CABLE_ERROR)
    for kind, best in bests.items():
        told = "did not come within the error" if best is None else f"{best.elements} elements, {best.steps} steps"
        print(f"{CABLE:20} {kind:25} {told}, {1e3 * best.seconds if best else math.nan:.2f} ms", flush=True)
    if not with_peer:
        return None
    ratio = lines.least(bests, peers) / lines.least(bests, ours)
    print(f"ratio {CABLE} {ratio:.3g}", flush=True)
    return ratio


def _told(best: Any) -> str:
    if best is None:
        return "did not come within the error"
    kind, given, seconds, missed = best
    return f"{kind:18} {given:8.3g} {'steps' if given >= 1 else 'tol.'}  {1e3 * seconds:9.2f} ms  error {missed:.1e}"


def main() -> None:
    """Compare the named models, or all."""
    with_peer = importlib.util.find_spec("exudyn") is not None
    if not with_peer:
        print("Exudyn is not installed: its columns are left out")
    ratios = [compare(name, with_peer) for name in sys.argv[1:] or (*MODELS, CABLE)]
    known = [ratio for ratio in ratios if ratio is not None]
    if known:
        print(f"ratio median {statistics.median(known):.3g}")


if __name__ == "__main__":
    main()
