"""Random mechanisms of laws, ropes, drums, rods and cables of the plane, wheels, schedules, locks and releases.

Masses of time, dampers by a controller and wheels on soft ground are drawn from a second stream of random numbers.
"""

import math

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, hinge, spherical, spring_damper, torsion_spring, weld
from flexph.changes import lock, release
from flexph.contacts import KelvinVoigt, Plane, Sphere, contact
from flexph.control import Sampled
from flexph.joints import (
    Sheave,
    bushing,
    knife_edge,
    railway_wheel,
    rolling_disc,
    rope,
    slipping_wheel,
    wheel,
)
from flexph.laws import (
    backlash,
    bilinear,
    bouc_wen,
    bristle,
    controlled,
    coulomb,
    creep,
    force_law,
    magic_formula,
    one_sided,
    polynomial,
    potential,
    quadratic,
    scheduled,
    table,
    viscous,
)

ROD = fem.RodSection(
    axial=200.0, shear=(100.0, 120.0), torsion=5.0, bending=(4.0, 6.0), mass=1.0, inertia=(0.4, 0.2, 0.3)
)
"""Section of a soft rod with entries of order one."""
DAMPED = fem.Damping(stiffness=0.01)


def elastic(rng):
    """Random elastic law."""
    k = float(10.0 ** rng.uniform(0.5, 2.0))
    return [
        lambda: polynomial(k, 0.0, 5.0 * k),
        lambda: backlash(k, play=0.1),
        lambda: bilinear(k, second=4.0 * k, beyond=0.05),
        lambda: one_sided(k, side="tension"),
        lambda: table([-0.5, 0.0, 0.2, 0.6], [-0.7 * k, 0.0, 0.1 * k, k], shape="monotone"),
        lambda: potential(lambda x: k * (math.cosh(x) - 1.0), lambda x: k * math.sinh(x), lambda x: k * math.cosh(x)),
    ][rng.integers(6)]()


def any_law(rng):
    """Random law: elastic, by a schedule, with hysteresis, with bristles, or a dissipative force of the rate."""
    law, w = elastic(rng), float(rng.uniform(1.0, 20.0))
    return [
        lambda: law,
        lambda: scheduled(law, lambda t: 1.0 + 0.8 * math.sin(w * t)),
        lambda: scheduled(law, lambda t: 1.0 if t < 0.1 else 3.0),
        lambda: bouc_wen(20.0, yield_force=float(rng.uniform(0.5, 4.0)), shape=float(rng.uniform(0.5, 1.0))),
        lambda: bristle(0.5, stiffness=40.0, damping=0.5, static=0.8, stribeck=0.6, viscous=0.1),
        lambda: force_law(lambda x, v, t: 0.8 * v * abs(v) + 0.2 * v),
    ][rng.integers(6)]()


def damping(rng):
    """Random damping, a number or a relation."""
    return [0.0, 0.4, viscous(0.5), coulomb(0.5, speed=0.2), quadratic(0.6)][rng.integers(5)]


def tyre(rng):
    """Random law of a wheel that slips."""
    own = {"longitudinal": 30.0, "lateral": 20.0}
    return [
        lambda: viscous(0.4),
        lambda: coulomb(0.8, speed=0.3),
        lambda: creep(**own, limit=float(rng.uniform(0.5, 5.0))),
        lambda: creep(**own, limit=2.0, saturation="hyperbolic"),
        lambda: creep(**own, limit=3.0, lateral_spin=float(rng.uniform(0.5, 5.0)), spin=float(rng.uniform(0.1, 2.0))),
        lambda: magic_formula(**own, limit=1.5, shape=1.6, curvature=-0.5),
    ][rng.integers(6)]()


def block(rng, dim):
    """Rigid body with four ports about its centre."""
    mass = float(10.0 ** rng.uniform(-0.5, 0.5))
    inertia = 0.1 * mass if dim == 2 else (0.1 * mass, 0.13 * mass, 0.16 * mass)
    around = {f"p{i}": tuple(rng.uniform(-0.3, 0.3, dim)) for i in range(3)}
    return rigid.body(mass, inertia=inertia, ports={"centre": (0.0,) * dim, **around})


def flexible(rng):
    """Rod or cable of the plane, damped or not; none of every second mechanism."""
    own = [
        lambda: fem.rod(1.0, None, ROD, elements=2, dim=2, order=int(rng.integers(1, 3)), damping=DAMPED),
        lambda: fem.rod(1.0, None, ROD, elements=2, dim=2),
        lambda: fem.cable(1.0, mass_per_length=1.0, axial=200.0, bending=0.5, elements=2, dim=2),
    ]
    return {} if rng.random() < 0.5 else {"rod": own[rng.integers(3)]()}


def random_mechanism(rng):
    """A mechanism, a state at which it moves, changes of its joints within 0.3 s, and controllers of its dampers."""
    more = rng.spawn(1)[0]
    dim = 2 if rng.random() < 0.7 else 3
    count = int(rng.integers(2, 4))
    bodies = {f"b{i}": weighed(more, block(rng, dim)) for i in range(count)}
    places = {f"b{i}": np.append(2.0 * i, rng.uniform(-0.2, 0.2, dim - 1)) for i in range(count)}
    flex = flexible(rng) if dim == 2 else {}
    joints = _joints(rng, dim, count, bool(flex))
    connections = joints + [force for _ in range(int(rng.integers(1, 4))) for force in _forces(rng, dim, count)]
    connections += [weld("rod.root", "b0.p1", name="clamp")] if flex else []
    connections += added(more, dim, count)
    mechanism = connect(bodies | flex, connections, gravity=(0.3, -9.81, 0.2)[:dim])
    guess = {name: (*place, 0.0) if dim == 2 else (place, np.eye(3)) for name, place in places.items()}
    moving = {
        name: (*rng.normal(size=2), rng.normal()) if dim == 2 else (rng.normal(size=3), rng.normal(size=3))
        for name in bodies
    }
    start = mechanism.consistent_state(mechanism.assemble(guess=guess), velocities=moving)
    names = list(mechanism.input_names)
    press = Sampled(function=lambda t, seen: {name: more.uniform(-1.0, 3.0) for name in names}, period=0.03, sensors={})
    changes = _changes(rng, joints)
    return (mechanism, start, [], {"brakes": press}) if names else (mechanism, start, changes, {})


def weighed(rng, body):
    """The body with a mass that grows, swings or jumps, or as it is."""
    if rng.random() < 0.6:
        return body
    w, jump = float(rng.uniform(1.0, 20.0)), float(rng.uniform(0.05, 0.25))
    factors = [lambda t: 1.0 + 3.0 * t, lambda t: 1.0 + 0.5 * math.sin(w * t), lambda t: 1.0 if t < jump else 0.6]
    return body.with_mass_factor(factors[rng.integers(3)])


def added(rng, dim, count):
    """A damper that a controller sets, and a wheel on soft ground whose friction is limited by its load."""
    law = controlled([viscous(0.5), coulomb(0.5, speed=0.2), quadratic(0.6)][rng.integers(3)])
    parts = [spring_damper("b0.centre", "b1.centre", damping=law, name="brake")] if rng.random() < 0.3 else []
    if rng.random() < 0.5:
        return parts
    last, up = f"b{count - 1}.p2", (*(0.0,) * (dim - 1), 1.0)
    ground = Plane(GROUND.at(*(-x for x in up)), up)
    chassis = GROUND if dim == 2 else "b0.centre"
    tyre = creep(longitudinal=30.0, lateral=20.0, friction=float(rng.uniform(0.2, 1.0)))
    soft = KelvinVoigt(float(10.0 ** rng.uniform(2.0, 4.0)), damping=float(rng.uniform(0.0, 5.0)))
    parts.append(contact(Sphere(last, 0.3), ground, soft, name="soft ground"))
    return [*parts, slipping_wheel(last, chassis, radius=0.3, friction=tyre, contact="soft ground", name="soft tyre")]


def _joints(rng, dim, count, clamped):
    """A hinge between some neighbours, or one to the ground, and a wheel or a knife edge of the last body."""
    pin = lambda a, b, name: hinge(a, b, name=name) if dim == 2 else spherical(a, b, name=name)  # noqa: E731
    joints = [pin(f"b{i}.p0", f"b{i + 1}.p1", f"pin {i}") for i in range(count - 1) if rng.random() < 0.4]
    if rng.random() < 0.3:
        joints.append(pin("b0.p2", GROUND.at(*(-0.5, 0.0, 0.0)[:dim]), "pivot"))
    last, kind = f"b{count - 1}.centre", rng.random()
    if dim == 2 and kind < 0.5 and not joints and not clamped:
        wheels = [
            lambda: rolling_disc(last, radius=0.3, normal=(0.0, 1.0)),
            lambda: slipping_wheel(last, radius=0.3, friction=[viscous(0.4), coulomb(0.6, speed=0.3)][rng.integers(2)]),
            lambda: knife_edge(last, axis=(0.6, 0.8)),
        ]
        joints.append(wheels[rng.integers(3)]())
    if dim == 3 and kind < 0.8:
        plane = ("b0.centre", (0.0, 0.0, 1.0))
        wheels = [
            lambda: wheel(last, radius=0.3),
            lambda: slipping_wheel(last, plane[0], radius=0.3, friction=tyre(rng)),
            lambda: railway_wheel(
                last, plane[0], GROUND.at(0.1, 0.2, -0.3), radius=0.3, conicity=0.2,
                creep=creep(longitudinal=30.0, lateral=20.0, limit=2.0, saturation="hyperbolic"),
            ),
        ]  # fmt: skip
        joints.append(wheels[rng.integers(3)]())
    return joints


def _forces(rng, dim, count):
    """Springs, bushings and ropes between random ports, by random laws."""
    port = lambda i: f"b{i}.{('p2', 'centre')[rng.integers(2)]}"  # noqa: E731  # none that a joint holds to another body
    i, j = rng.choice(count, 2, replace=False)
    ground = GROUND.at(*(1.0, 3.0, 0.1)[:dim])
    axis = {} if dim == 2 else {"axis": (0.0, 0.0, 1.0)}
    name = f"force {rng.integers(10**9)}"
    near, far = GROUND.at(*(-1.0, 4.0, 0.0)[:dim]), GROUND.at(*(6.0, 4.0, 0.0)[:dim])
    over = [near, Sheave(f"b{i}.centre", 0.1, **axis), far]
    drums = [Sheave(f"b{i}.centre", 0.2, grips=True, **axis), Sheave(f"b{j}.centre", -0.1, grips=True, **axis)]
    between, own = (port(i), port(j)), {"damping": damping(rng), "name": name}
    kinds = [
        lambda: spring_damper(*between, law=any_law(rng), length=0.8, **own),
        lambda: spring_damper(port(i), ground, law=elastic(rng), length=1.0, **own),
        lambda: torsion_spring(f"b{i}.centre", f"b{j}.centre", law=any_law(rng), **axis, **own),
        lambda: bushing(*between, stiffness=20.0, damping=0.2, torsional_stiffness=0.5, name=name),
        lambda: rope([near, *between, far], stiffness=30.0, damping=0.3, length=rng.uniform(4.0, 9.0), name=name),
        lambda: rope(over, stiffness=30.0, length=rng.uniform(6.0, 11.0), name=name),
        lambda: rope(drums, law=elastic(rng), length=0.5, name=name),
        lambda: rope([near, port(i)], stiffness=40.0, length=lambda t: 3.0 + 0.5 * math.sin(9.0 * t), name=name),
    ]
    return [kinds[rng.integers(8)]()]


def _changes(rng, joints):
    """A lock of a hinge and its release, a release, or none."""
    pins = [joint.name for joint in joints if joint.kind in ("hinge", "spherical")]
    if not pins or rng.random() < 0.4:
        return []
    own = pins[rng.integers(len(pins))]
    at = float(rng.uniform(0.02, 0.12))
    if rng.random() < 0.3:
        return [release(own, at=at)]
    return [lock(own, at=at), release(own, at=at + 0.11)][: int(rng.integers(1, 3))]
