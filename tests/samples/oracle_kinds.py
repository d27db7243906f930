"""Every kind of body, joint, force element and contact in a small mechanism: each is a line of a table."""

import math
from functools import cache

import numpy as np

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    cylindrical,
    distance,
    distributed_load,
    drive,
    force,
    gear,
    hinge,
    planar,
    prismatic,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    universal,
    weld,
)
from flexph.contacts import (
    Box,
    Capsule,
    Cylinder,
    Hertz,
    Hole,
    KelvinVoigt,
    Mesh,
    Plane,
    Rim,
    Skin,
    Sphere,
    contact,
)
from flexph.joints import (
    CoulombFriction,
    Sheave,
    belt,
    bushing,
    cartesian_spring_damper,
    knife_edge,
    point_on_curve,
    rack,
    railway_wheel,
    rolling_disc,
    rope,
    screw,
    slipping_wheel,
    wheel,
)
from flexph.laws import (
    bilinear,
    bouc_wen,
    bristle,
    coulomb,
    creep,
    force_law,
    magic_formula,
    one_sided,
    polynomial,
    potential,
    scheduled,
    viscous,
)

SOFT = fem.Material(young=20.0, density=2.0, poisson=0.3)
STRIP = fem.Section(width=1.0, height=0.8)
DAMPED = fem.Damping(mass=0.3, stiffness=0.02)
A, B = "a.tip", "b.pin"
SKEW, OTHER = (0.6, 0.0, 0.8), (0.0, 0.8, 0.6)


@cache  # bodies keep what is computed from them
def beam(dim, elements=2, **options):
    """A beam whose matrices have entries of order one."""
    thirds = {f"p{i}": i * elements / 12 for i in range(1, 6)}
    return fem.beam(0.5 * elements, SOFT, STRIP, elements=elements, dim=dim, stations=thirds, damping=DAMPED, **options)


@cache
def block(dim):
    """A rigid body with its centre of mass off its origin."""
    inertia = 0.1 if dim == 2 else (0.2, 0.3, 0.42)
    ports = {"pin": (0.1, -0.2, 0.3)[:dim], "rider": (0.6, 0.05, -0.04)[:dim]}
    return rigid.body(0.7, inertia=inertia, ports=ports, centre=(0.05, 0.1, -0.1)[:dim])


def joined(dim, *connections, **bodies):
    """A beam ``a`` and a rigid body ``b`` with connections, under gravity."""
    own = {"a": beam(dim), "b": block(dim)}
    return connect(own | bodies, connections, gravity=(0.4, -9.81, 0.3)[:dim])


def moving(t):
    return 0.3 + 1.5 * t + 0.2 * math.sin(3.0 * t)


def at(*place):
    return GROUND.at(*place)


def swelling(t):
    """Factor of a law."""
    return 2.0 + np.sin(9.0 * t)


BILINEAR = bilinear(2.0, second=5.0, beyond=0.05)
HARDENING = potential(
    lambda x: math.cosh(x) - 1.0 + 0.5 * x**2, lambda x: math.sinh(x) + x, lambda x: math.cosh(x) + 1.0
)
PUMPED = scheduled(HARDENING, lambda t: 1.0 + 3.0 * t)
MUSCLE = force_law(lambda x, v, t: 2.0 * np.sin(5.0 * t) + np.tanh(x) + 0.3 * v)
YIELDING = bouc_wen(3.0, yield_force=0.6)
SOFTENING = bouc_wen(3.0, yield_force=0.6, shape=0.8)
SHARP = bouc_wen(3.0, yield_force=0.6, exponent=2.5, shape=0.7)
BRISTLES = bristle(0.5, stiffness=4.0, damping=0.05, static=0.8, stribeck=0.6, viscous=0.1)
STIFF_BRISTLES = bristle(0.5, stiffness=4.0, damping=9.0, static=0.8, stribeck=0.6)
TYRE = {"longitudinal": 3.0, "lateral": 2.0}
SPIN = {"lateral_spin": 1.2, "spin": 0.7}
MAGIC = {"limit": 1.5, "shape": 1.6, "curvature": -0.5}
GRIP = creep(**TYRE, friction=0.4)
HYPERBOLIC = creep(**TYRE, limit=1.0, saturation="hyperbolic")
PLANE = {
    "no joint": lambda: [],
    "hinge": lambda: [hinge(A, B)],
    "hinge to the ground": lambda: [hinge(A, at(0.3, 0.1))],
    "hinge with friction": lambda: [hinge(A, B, friction=coulomb(0.5, speed=0.3))],
    "weld": lambda: [weld(A, B, angle=0.3)],
    "slider": lambda: [slider(B, A, direction=(0.6, 0.8))],
    "slider that turns": lambda: [slider(B, A, direction=(0.6, 0.8), turning=True)],
    "distance": lambda: [distance(A, B)],
    "drive of an angle": lambda: [drive("a.root", angle=moving)],
    "drive of an angle between bodies": lambda: [hinge(A, B), drive(A, B, angle=moving)],
    "drive of a displacement": lambda: [drive(A, B, displacement=moving, direction=(0.6, 0.8))],
    "drive of a position": lambda: [drive(A, position=lambda t: (moving(t), 0.2 * t))],
    "drive of an angle by a law": lambda: [hinge(A, B), drive(A, B, angle=moving, law=HARDENING, damping=0.3)],
    "drive of a displacement by a law": lambda: [
        drive(A, B, displacement=moving, direction=(0.6, 0.8), law=YIELDING, damping=coulomb(0.5, speed=0.3))
    ],
    "slipping tyre by its load": lambda: [slipping_wheel(B, radius=0.3, friction=GRIP, ground=at(0.1, -0.2))],
    "spring": lambda: [spring_damper(A, B, stiffness=3.0, damping=0.4, length=0.5)],
    "spring with a free length that moves": lambda: [spring_damper(A, B, stiffness=3.0, length=moving)],
    "spring along a direction": lambda: [spring_damper(A, B, stiffness=3.0, damping=0.4, direction=(0.6, 0.8))],
    "damper with a law": lambda: [spring_damper(A, B, damping=coulomb(0.5, speed=0.3))],
    "damper with a law by a schedule": lambda: [
        spring_damper(A, B, damping=scheduled(coulomb(0.5, speed=0.3), lambda t: 1.0 + t))
    ],
    "torsion spring": lambda: [torsion_spring(A, B, stiffness=1.5, damping=0.2, angle=0.1)],
    "spring with a law in pieces": lambda: [spring_damper(A, B, law=BILINEAR, damping=0.4, length=0.5)],
    "spring with an energy": lambda: [spring_damper(A, B, law=HARDENING, length=0.5)],
    "torsion spring with an energy": lambda: [torsion_spring(A, B, law=HARDENING)],
    "spring by a schedule": lambda: [spring_damper(A, B, law=PUMPED, damping=0.4, length=0.5)],
    "torsion spring by a schedule": lambda: [torsion_spring(A, B, law=scheduled(1.5, swelling))],
    "spring by a function of the rate": lambda: [spring_damper(A, B, law=MUSCLE, length=0.5)],
    "spring with hysteresis": lambda: [spring_damper(A, B, law=YIELDING, damping=0.1, length=0.5)],
    "spring with hysteresis along a direction": lambda: [spring_damper(A, B, law=SOFTENING, direction=(0.6, 0.8))],
    "torsion spring with sharp hysteresis": lambda: [torsion_spring(A, B, law=SHARP)],
    "torsion spring with bristles": lambda: [torsion_spring(A, B, law=BRISTLES)],
    "spring with bristles of limited damping": lambda: [spring_damper(A, B, law=STIFF_BRISTLES, length=0.5)],
    "cartesian spring": lambda: [cartesian_spring_damper(A, B, stiffness=(2.0, 3.0), damping=0.1, axes=0.3)],
    "bushing": lambda: [bushing(A, B, stiffness=(2.0, 3.0), damping=0.1, torsional_stiffness=0.5)],
    "rope through eyes": lambda: [rope([at(0.3, 2.0), A, "a.p2", B], stiffness=3.0, length=moving)],
    "rope over sheaves": lambda: [reeved(2, law=HARDENING)],
    "rope with damping": lambda: [reeved(2, stiffness=3.0, damping=0.4)],
    "rope between bodies": lambda: [looped(2)],
    "rope from disc to disc": lambda: [gripped(2)],
    "force": lambda: [force(A), force(B)],
    "force that follows": lambda: [force(A, axes="section"), force(B, axes="section")],
    "torque": lambda: [torque(A), torque(A, against=B, name="motor")],
    "distributed load": lambda: [distributed_load("a.load")],
    "distributed load that follows": lambda: [distributed_load("a.load", axes="body")],
    "gear": lambda: [gear(A, B, ratio=-1.7)],
    "belt": lambda: [belt(A, B, radii=(0.3, 0.5))],
    "rack": lambda: [rack(A, B, radius=0.2)],
    "wheel from above": lambda: [wheel(B, axis=(0.6, 0.8))],
    "rolling disc": lambda: [rolling_disc(B, radius=0.3, normal=(0.0, 1.0))],
    "rolling disc on a body": lambda: [rolling_disc(B, "a.root", radius=0.3, normal=(0.6, 0.8))],
    "knife edge": lambda: [knife_edge(A, axis=(0.6, 0.8))],
    "slipping wheel": lambda: [slipping_wheel(B, radius=0.3, friction=viscous(0.4))],
    "slipping tyre from the side": lambda: [slipping_wheel(B, radius=0.3, friction=creep(longitudinal=3.0, limit=0.4))],
    "point on a curve": lambda: [on_beam()],
    "point on a curve with friction": lambda: [on_beam(friction=coulomb(0.5, speed=0.3))],
    "point on a curve with a motor": lambda: [on_beam(motor=True)],
    "point on a curve, driven": lambda: [on_beam(place=moving)],
}
SPACE = {
    "no joint": lambda: [],
    "spherical": lambda: [spherical(A, B)],
    "hinge": lambda: [hinge(A, B, axis=SKEW)],
    "revolute": lambda: [revolute(A, B, axis=SKEW, second_axis=OTHER)],
    "revolute with friction": lambda: [revolute(A, B, axis=SKEW, friction=coulomb(0.5, speed=0.3))],
    "weld": lambda: [weld(A, B)],
    "cylindrical": lambda: [cylindrical(A, B, axis=SKEW, turning_friction=viscous(0.1), sliding_friction=viscous(0.2))],
    "prismatic": lambda: [prismatic(A, B, direction=SKEW)],
    "slider that turns": lambda: [slider(A, B, direction=SKEW, turning=True)],
    "planar": lambda: [planar(A, B, normal=SKEW)],
    "universal": lambda: [universal(A, B, axis=SKEW, second_axis=OTHER)],
    "distance": lambda: [distance(A, B)],
    "screw": lambda: [screw(A, B, lead=0.3, axis=SKEW)],
    "drive of an angle": lambda: [revolute(A, B, axis=SKEW), drive(A, B, angle=moving, axis=SKEW)],
    "drive of a displacement": lambda: [drive(A, B, displacement=moving, direction=SKEW)],
    "drive of a position": lambda: [drive(A, position=lambda t: (moving(t), 0.2 * t, 0.1))],
    "spring": lambda: [spring_damper(A, B, stiffness=3.0, damping=0.4, length=0.5)],
    "torsion spring": lambda: [torsion_spring(A, B, stiffness=1.5, damping=0.2, angle=0.1, axis=SKEW)],
    "cartesian spring": lambda: [cartesian_spring_damper(A, B, stiffness=(2.0, 3.0, 1.0), damping=0.1)],
    "rope through eyes": lambda: [rope([at(0.3, 2.0, 0.1), A, "a.p2", B], law=HARDENING, length=moving)],
    "rope over sheaves": lambda: [reeved(3, law=HARDENING)],
    "rope with damping": lambda: [reeved(3, stiffness=3.0, damping=0.4)],
    "rope between bodies": lambda: [looped(3)],
    "rope from disc to disc": lambda: [gripped(3)],
    "spring with a law in pieces": lambda: [spring_damper(A, B, law=BILINEAR, length=0.5)],
    "spring by a schedule": lambda: [spring_damper(A, B, law=PUMPED, length=0.5), spring_damper(B, A, law=BILINEAR)],
    "spring with hysteresis": lambda: [spring_damper(A, B, law=SOFTENING, length=0.5)],
    "torsion spring with bristles": lambda: [torsion_spring(A, B, law=BRISTLES, axis=SKEW)],
    "bushing with hysteresis": lambda: [bushing(A, B, law=(YIELDING, SHARP, BRISTLES), torsional_stiffness=0.5)],
    "bushing with laws": lambda: [bushing(A, B, stiffness=(0.0, 1.0, 1.0), law=(HARDENING, None, None))],
    "bushing": lambda: [bushing(A, B, stiffness=2.0, damping=0.1, torsional_stiffness=0.5, torsional_damping=0.1)],
    "force": lambda: [force(A), force(B)],
    "force that follows": lambda: [force(A, axes="section"), force(B, axes="section")],
    "torque": lambda: [torque(A), torque(A, against=B, name="motor")],
    "torque that follows": lambda: [torque(A, axes="section"), torque(B, axes="section")],
    "distributed load": lambda: [distributed_load("a.load")],
    "gear": lambda: [gear(A, B, ratio=-1.7, axis=SKEW, second_axis=OTHER)],
    "belt": lambda: [belt(A, B, radii=(0.3, 0.5), axis=SKEW)],
    "rack": lambda: [rack(A, B, radius=0.2, direction=SKEW, axis=OTHER)],
    "wheel": lambda: [wheel(B, radius=0.3)],
    "wheel on a body": lambda: [wheel(B, "a.root", radius=0.3)],
    "rolling disc": lambda: [rolling_disc(B, radius=0.3, axis=(0.0, 1.0, 0.0))],
    "knife edge": lambda: [knife_edge(A, axis=SKEW)],
    "slipping wheel": lambda: [slipping_wheel(B, A, radius=0.3, friction=coulomb(0.4, speed=0.3))],
    "slipping tyre": lambda: [slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE, limit=0.1))],
    "slipping tyre by its load": lambda: [slipping_wheel(B, A, radius=0.3, friction=GRIP, ground=at(0.1, 0.2, -0.3))],
    "slipping tyre with spin by its load": lambda: [
        slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE, **SPIN, friction=2.0), ground=at(0.1, 0.2, -0.3))
    ],
    "slipping tyre by the Magic Formula and its load": lambda: [
        slipping_wheel(B, A, radius=0.3, friction=magic_formula(**TYRE, friction=0.5), ground=at(0.1, 0.2, -0.3))
    ],
    "slipping tyre that grips": lambda: [slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE, limit=50.0))],
    "slipping tyre with spin": lambda: [slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE, **SPIN, limit=2.0))],
    "slipping railway wheel with spin": lambda: [
        railway_wheel(B, A, at(0.1, 0.2, 0.3), radius=0.3, conicity=0.4, creep=creep(**TYRE, **SPIN))
    ],
    "slipping tyre without limit": lambda: [slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE))],
    "slipping tyre at rest": lambda: [
        slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE, limit=9.0, least_speed=40.0))
    ],
    "slipping tyre by the Magic Formula": lambda: [
        slipping_wheel(B, A, radius=0.3, friction=magic_formula(**TYRE, **MAGIC))
    ],
    "slipping railway wheel": lambda: [
        railway_wheel(B, A, at(0.1, 0.2, 0.3), radius=0.3, conicity=0.4, creep=HYPERBOLIC)
    ],
    "slipping roller": lambda: [slipping_wheel(B, A, radius=0.3, friction=viscous(0.4), roller=0.7)],
    "point on a curve": lambda: [on_beam()],
    "point on a curve with friction": lambda: [on_beam(friction=coulomb(0.5, speed=0.3))],
    "point on a curve with a motor": lambda: [on_beam(motor=True)],
    "point on a curve, driven": lambda: [on_beam(place=moving)],
}


def reeved(dim, **pull):
    """A rope over a sheave of the ground and one of each body."""
    axes = [None] * 3 if dim == 2 else [SKEW, (0.1, 0.2, 1.0), OTHER]
    upper, first, second = zip((at(*(1.0, 2.0, 0.2)[:dim]), A, B), (0.08, -0.05, 0.06), axes, strict=True)
    sheaves = [Sheave(port, radius, axis=axis) for port, radius, axis in (upper, first, second)]
    ends = at(*(-1.0, -2.0, 0.1)[:dim]), at(*(2.0, 0.4, -0.3)[:dim])
    return rope([ends[0], *sheaves, "a.p2", ends[1]], length=1.0, **pull)


def looped(dim):
    """A rope from one body over sheaves and an eye of both."""
    axes = [None] * 2 if dim == 2 else [SKEW, OTHER]
    sheaves = [
        Sheave(port, radius, axis=axis) for port, radius, axis in zip((B, "a.root"), (0.03, -0.02), axes, strict=True)
    ]
    return rope([A, sheaves[0], sheaves[1], "b.rider"], law=HARDENING, damping=0.3, length=1.0)


def gripped(dim):
    """A rope from a disc that it grips, over a sheave, to another one."""
    axes = [None] * 3 if dim == 2 else [SKEW, (0.1, 0.2, 1.0), OTHER]
    radii, grips = (0.03, -0.02, 0.04), (True, False, True)
    over = at(*(1.0, 2.0, 0.2)[:dim])
    points = zip(("b.rider", over, "a.root"), radii, axes, grips, strict=True)
    discs = [Sheave(port, radius, axis=axis, grips=grip) for port, radius, axis, grip in points]
    return rope(discs, law=HARDENING, damping=0.3, length=1.0)


def on_beam(**options):
    """The rigid body on a curve along the beam, of two cubics."""
    axis = ["a.root", *(f"a.p{i}" for i in range(1, 6)), "a.tip"]
    return point_on_curve("b.rider", axis, degree=3, **options)


ROD = fem.RodSection(axial=20.0, shear=(10.0, 12.0), torsion=5.0, bending=(4.0, 6.0), mass=1.0, inertia=(0.4, 0.2, 0.3))
HARD_MOMENT = polynomial(4.0, 0.0, 9.0)
PUMPED_MOMENT = scheduled(HARD_MOMENT, lambda t: 1.0 + 3.0 * t)
SLACK = one_sided(20.0, side="tension")
"""Laws of the cross-section."""
WATER, FASTER = fem.Flow(0.6, 1.5), fem.Flow(0.4, lambda t: -1.0 + 8.0 * t)
ROPE = {"mass_per_length": 1.0, "axial": 20.0, "bending": 2.0}
RUBBER = fem.NeoHooke(8.0, 10.0)


@cache
def solid(dim, strain, *, degree=1, law=None):
    """A block of one cell under its own name for its faces."""
    plane = {"plane": "strain", "thickness": 0.5} if dim == 2 else {}
    options = plane | ({"law": law} if law else {})
    mesh = fem.box_mesh((1.0, 0.8, 0.9)[:dim], (1,) * dim)
    ports, loads = {"root": "left", "tip": "right"}, {"face": "back"}
    return fem.solid(
        mesh, SOFT, ports=ports, loads=loads, degree=degree, strain=strain, damping=DAMPED_BY_STRAIN, **options
    )


DAMPED_BY_STRAIN = fem.Damping(stiffness=0.02)
PUSHED = lambda: [force("a.tip"), distributed_load("a.face", axes="face")]  # noqa: E731
BODIES = {
    "rigid body of the plane whose mass changes": (
        2,
        lambda: {"b": block(2).with_mass_factor(swelling)},
        lambda: [hinge(A, B), spring_damper(A, B, stiffness=3.0)],
    ),
    "rigid body whose mass changes": (
        3,
        lambda: {"b": block(3).with_mass_factor(swelling)},
        lambda: [spherical(A, B), force(B)],
    ),
    "von Kármán beam": (2, lambda: {"a": beam(2, strain="von_karman")}, lambda: [force(A)]),
    "von Kármán beam of space": (3, lambda: {"a": beam(3, strain="von_karman")}, lambda: [torque(A)]),
    "quadratic axial displacements": (
        2,
        lambda: {"a": beam(2, strain="von_karman", pair="quadratic")},
        lambda: [hinge(A, B)],
    ),
    "quadratic axial displacements of space": (
        3,
        lambda: {"a": beam(3, strain="von_karman", pair="quadratic")},
        lambda: [spherical(A, B)],
    ),
    "simply supported": (3, lambda: {"a": beam(3, strain="von_karman", reference="simply_supported")}, list),
    "beam about mean axes": (2, lambda: {"a": beam(2, reference="mean_axis")}, lambda: [hinge(A, "b.pin")]),
    "beam with constant momenta": (2, lambda: {"a": beam(2, momenta="constant")}, list),
    "two beams": (
        3,
        lambda: {"a": beam(3), "c": beam(3, strain="von_karman")},
        lambda: [universal_of("a.tip", "c.root")],
    ),
    "point mass": (2, lambda: {"c": rigid.point(0.4)}, lambda: [distance("c.point", A), hinge("c.point", B)]),
    "point mass of space": (3, lambda: {"c": rigid.point(0.4, 3)}, lambda: [spherical("c.point", A)]),
    "linear solid": (2, lambda: {"a": solid(2, "linear")}, lambda: [hinge("a.tip", B)]),
    "linear solid of space": (3, lambda: {"a": solid(3, "linear")}, lambda: [revolute("a.tip", B, axis=SKEW)]),
    "rod": (3, lambda: {"a": rod(1)}, lambda: [force(A), torque(A, axes="section")]),
    "rod of order 2": (3, lambda: {"a": rod(2)}, lambda: [revolute(A, B, axis=SKEW)]),
    "cable": (3, lambda: {"a": cable()}, lambda: [spherical(A, B), force("a.within")]),
    "rod of the plane": (2, lambda: {"a": rod(1, dim=2)}, lambda: [force(A), torque(A)]),
    "rod of order 2 of the plane": (2, lambda: {"a": rod(2, dim=2)}, lambda: [weld(A, B, angle=0.3)]),
    "rod of the plane with laws": (
        2,
        lambda: {"a": rod(2, dim=2, laws={"N": SLACK, "M3": PUMPED_MOMENT})},
        lambda: [weld(A, B, angle=0.3), spring_damper(A, B, law=PUMPED, length=0.5)],
    ),
    "rod with laws": (3, lambda: {"a": rod(2, laws={"T": PUMPED_MOMENT, "M2": HARD_MOMENT, "N": SLACK})}, list),
    "cable with a law": (3, lambda: {"a": cable(laws={"N": SLACK})}, lambda: [spherical(A, B)]),
    "hose": (3, lambda: {"a": cable(flow=FASTER, laws={"N": SLACK})}, lambda: [spherical(A, B), force("a.within")]),
    "hose of the plane": (2, lambda: {"a": cable(dim=2, flow=WATER)}, lambda: [hinge(A, B)]),
    "hose as a rod": (3, lambda: {"a": rod(2, flow=WATER)}, lambda: [revolute(A, B, axis=SKEW)]),
    "hoses as rods of the plane": (
        2,
        lambda: {"a": rod(1, dim=2, flow=FASTER, laws={"M3": PUMPED_MOMENT}), "c": rod(2, dim=2, flow=WATER)},
        lambda: [hinge("a.tip", "c.root"), spring_damper(A, B, law=PUMPED, length=0.5)],
    ),
    "curved rod of the plane": (2, lambda: {"a": bow()}, lambda: [hinge(A, B), distributed_load("a.load")]),
    "cable of the plane": (2, lambda: {"a": cable(dim=2)}, lambda: [hinge(A, B), force("a.within")]),
    "cable of the plane with a law of bending": (
        2,
        lambda: {"a": cable(dim=2, laws={"M3": BILINEAR})},
        lambda: [hinge(A, B), force("a.within")],
    ),
    "cable of the plane with laws": (
        2,
        lambda: {"a": cable(dim=2, laws={"M3": scheduled(BILINEAR, swelling), "N": SLACK})},
        lambda: [hinge(A, B)],
    ),
    "finite strain": (2, lambda: {"a": solid(2, "finite")}, lambda: [*PUSHED(), hinge("a.root", B)]),
    "finite strain of space": (3, lambda: {"a": solid(3, "finite")}, lambda: [*PUSHED(), spherical("a.root", B)]),
    "quadratic cell": (2, lambda: {"a": solid(2, "finite", degree=2)}, PUSHED),
    "rubber": (2, lambda: {"a": solid(2, "finite", law=RUBBER)}, PUSHED),
    "rubber of space": (3, lambda: {"a": solid(3, "finite", law=RUBBER)}, PUSHED),
}


def universal_of(first, second):
    return universal(first, second, axis=SKEW, second_axis=OTHER)


def rod(order, dim=3, **options):
    """A geometrically exact rod of two elements."""
    return fem.rod(2.0, None, ROD, elements=2, order=order, dim=dim, damping=DAMPED_BY_STRAIN, **options)


def bow():
    """A planar rod of order 3 along an arc."""
    arc = lambda s: ((math.sin(s), 1.0 - math.cos(s)), s)  # noqa: E731
    return fem.rod(1.2, None, ROD, elements=2, order=3, dim=2, curve=arc, damping=DAMPED_BY_STRAIN)


def cable(dim=3, **options):
    """A cable of three elements."""
    return fem.cable(2.0, **ROPE, elements=3, dim=dim, ports={"within": 0.9}, damping=DAMPED_BY_STRAIN, **options)


RADII = np.linspace(0.05, 1.0, 9)
"""Of balls at one point: some touch at both ends of a step, some at one of them, some at none."""
SLIPPERY = {"hertz": Hertz(30.0, loss=0.3), "spring": KelvinVoigt(20.0, damping=0.4)}
ROUGH = {
    "smooth friction": Hertz(3.0, loss=0.1, friction=0.4, slip_velocity=0.2),
    "anchored friction": KelvinVoigt(2.0, damping=0.04, friction=0.4, tangential_stiffness=1.5),
}
D = "c.pin"
STAR = np.array([(0.3, 0.0), (0.1, 0.1), (0.0, 0.3), (-0.1, 0.1), (-0.3, 0.0), (0.0, -0.3)])
RING = [(k, (k + 1) % 6) for k in range(6)]
TETRAHEDRON = (
    np.array([(0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3), (-0.2, -0.1, -0.2)]),
    [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)],
)
RIGID_SHAPES = {
    "plane": (2, lambda r: (Sphere(B, r), Plane(at(0.0, -0.5), (0.1, 1.0)))),
    "plane of a body": (2, lambda r: (Sphere(B, r), Plane(D, (0.0, 1.0)))),
    "belt of a body": (2, lambda r: (Sphere(B, r), Plane(D, (0.0, 1.0), speed=0.7))),
    "discs": (2, lambda r: (Sphere(B, r), Sphere(D, 0.1))),
    "disc in a hole": (2, lambda r: (Sphere(B, 0.01), Hole(D, 0.5 * r))),
    "plane of space": (3, lambda r: (Sphere(B, r), Plane(at(0.0, 0.0, -0.5), (0.1, 0.2, 1.0)))),
    "plane of a body of space": (3, lambda r: (Sphere(B, r), Plane(D, (0.3, 0.0, 1.0)))),
    "belt of space": (3, lambda r: (Sphere(B, r), Plane(D, (0.3, 0.0, 1.0), speed=-0.4, direction=(0.0, 1.0, 0.0)))),
    "balls": (3, lambda r: (Sphere(B, r), Sphere(D, 0.1))),
    "cylinder": (3, lambda r: (Sphere(B, 0.02), Cylinder(D, r, axis=SKEW))),
    "ball in a hole": (3, lambda r: (Sphere(B, 0.01), Hole(D, 0.5 * r, axis=SKEW))),
    "rectangle": (2, lambda r: (Sphere(B, r), Box(D, (0.5, 0.3)))),
    "slot": (2, lambda r: (Sphere(B, 0.5 * r), Capsule(D, 0.4, 0.5 * r, (0.6, 0.8)))),
    "polygon": (2, lambda r: (Sphere(B, r), Mesh(D, (STAR, RING)))),
    "open curve on the ground": (2, lambda r: (Sphere(B, r), Mesh(at(0.0, -0.5), (STAR, RING[:4])))),
    "block": (3, lambda r: (Sphere(B, r), Box(D, (0.5, 0.3, 0.2)))),
    "plate": (3, lambda r: (Sphere(B, r), Box(D, (0.0, 0.3, 0.2)))),
    "capsule": (3, lambda r: (Sphere(B, 0.5 * r), Capsule(D, 0.4, 0.5 * r, SKEW))),
    "tetrahedron": (3, lambda r: (Sphere(B, r), Mesh(D, TETRAHEDRON))),
    "folded sheet": (3, lambda r: (Sphere(B, r), Mesh(D, (TETRAHEDRON[0], TETRAHEDRON[1][:3])))),
    "rectangles": (2, lambda r: (Box(B, (r, 0.3)), Box(D, (0.5, 0.3)))),
    "slots": (2, lambda r: (Capsule(B, 0.5, 0.5 * r, (0.0, 1.0)), Capsule(D, 0.4, 0.5 * r, (0.6, 0.8)))),
    "capsules": (3, lambda r: (Capsule(B, 0.5, 0.5 * r, OTHER), Capsule(D, 0.4, 0.5 * r, SKEW))),
    "capsules, one on the ground": (
        3,
        lambda r: (Capsule(at(0.1, 0.2, -0.4), 0.8, 0.5 * r, OTHER), Capsule(B, 0.4, 0.5 * r, SKEW)),
    ),
    "block on the ground": (3, lambda r: (Sphere(B, r), Box(at(0.0, 0.0, -0.4), (1.5, 1.3, 0.2)))),
    "rim": (3, lambda r: (Rim(B, r, axis=SKEW), Plane(at(0.0, 0.0, -0.5), (0.1, 0.2, 1.0)))),
    "tyre on a body": (3, lambda r: (Rim(B, 0.7 * r, axis=OTHER, crown=0.3 * r), Plane(D, (0.3, 0.0, 1.0)))),
}
C_TWO, D_TWO = ("c.pin", "c.rider"), ("d.rider", "d.pin")
FAN = [(0, 1, 2), (1, 3, 2), (0, 3, 1)]
SKINS = {
    "segments of the plane": (2, lambda r: (Sphere(B, 0.5 * r), Skin([A, *C_TWO], [(0, 1), (1, 2)])), 20),
    "segments": (3, lambda r: (Sphere(B, r), Skin([A, *C_TWO], [(0, 1), (1, 2)], 0.1)), 3),
    "triangles": (3, lambda r: (Sphere(B, r), Skin([A, C_TWO[0], *D_TWO], FAN)), 20),
    "common edges": (3, lambda r: (Sphere(B, r), Skin([A, C_TWO[0], *D_TWO], FAN)), 2),
    "corners on a plane": (3, lambda _: (Skin([A, C_TWO[0], D_TWO[0]], [(0, 1, 2)]), Plane(B, (0.0, 0.6, 0.8))), 0),
}
"""Seeds with which a ball passes from face to face, or stays on an edge that two of them have.

With friction Newton's method with the simplified Jacobian diverges at 2 of 60 such states, where the normal turns far.
"""
FLEXIBLE_SHAPES = {
    "point of a beam": (2, lambda r: (A, Plane(at(0.0, r - 0.5), (0.1, 1.0)))),
    "plane of a beam": (2, lambda r: (Sphere(B, r), Plane(A, (0.0, 1.0)))),
    "disc of a beam": (2, lambda r: (Sphere(B, r), Sphere(A, 0.1))),
    "point of a beam of space": (3, lambda r: (A, Plane(at(0.0, 0.0, r - 0.5), (0.1, 0.2, 1.0)))),
    "plane of a beam of space": (3, lambda r: (Sphere(B, r), Plane(A, (0.3, 0.0, 1.0)))),
    "ball of a beam": (3, lambda r: (Sphere(B, r), Sphere(A, 0.1))),
    "cylinder along a beam": (3, lambda r: (Sphere(B, 0.2), Cylinder(A, r, axis=SKEW))),
    "ball in a hole of a beam": (3, lambda r: (Sphere(B, 0.01), Hole(A, 1.5 * r, axis=SKEW))),
    "tyre on a beam": (3, lambda r: (Rim(B, 0.7 * r, axis=OTHER, crown=0.3 * r), Plane(A, (0.3, 0.0, 1.0)))),
    "point of a beam in a hole": (3, lambda r: (A, Hole(B, r, axis=SKEW))),
}


def touching(shapes, law):
    return [contact(*shapes(radius), law, name=f"contact {i}") for i, radius in enumerate(RADII)]


NODAL = {
    "point within a cable": (3, lambda: cable(), lambda r: ("a.within", Plane(at(0.0, 0.0, r - 0.6), (0.1, 0.2, 1.0)))),
    "ball on a cable": (3, lambda: cable(), lambda r: (Sphere(B, r), "a.within")),
    "point within a cable of the plane": (
        2,
        lambda: cable(2),
        lambda r: ("a.within", Plane(at(0.0, r - 0.6), (0.1, 1.0))),
    ),
    "disc on a cable": (2, lambda: cable(2), lambda r: (Sphere(B, r), "a.within")),
    "end of a rod of the plane": (2, lambda: rod(1, 2), lambda r: (Sphere(A, r), Plane(at(0.0, -0.5), (0.1, 1.0)))),
    "end of a rod": (3, lambda: rod(1), lambda r: (Sphere(A, r), Plane(at(0.0, 0.0, -0.5), (0.1, 0.2, 1.0)))),
}
LOADED = creep(**TYRE, friction=0.4)
SOFT_GROUND = {
    "wheel of the plane": (2, lambda: slipping_wheel(B, radius=0.3, friction=LOADED, contact="contact 0")),
    "wheel": (3, lambda: slipping_wheel(B, A, radius=0.3, friction=LOADED, contact="contact 0")),
    "tyre": (
        3,
        lambda: slipping_wheel(B, A, radius=0.3, friction=creep(**TYRE, **SPIN, friction=0.4), contact="contact 0"),
    ),
}
"""Wheels whose load is the normal force of a contact of a ball."""


def grounded(dim):
    """A ball of the rigid body that is pressed on a plane at both ends of a step."""
    plane = Plane(at(*(0.0,) * (dim - 1), -0.6), (*(0.1, 0.2)[: dim - 1], 1.0))
    return lambda r: (Sphere(B, 1.0 + r), plane)


STOPS = {
    "offset": (2, lambda q: {"upper": 2.0 * q - 1.0, "along_axis": (0.6, 0.8)}),
    "offset of space": (3, lambda q: {"lower": 2.0 * q - 1.0, "along_axis": SKEW}),
    "angle": (2, lambda q: {"lower": -q, "upper": q}),
    "angle of space": (3, lambda q: {"lower": -q, "axis": SKEW}),
}

RUB = CoulombFriction(0.3, radius=0.2)
RELATIONS = {
    "hinge": (2, lambda: [hinge(A, B, friction=RUB)]),
    "slider": (2, lambda: [slider(B, A, direction=(0.6, 0.8), friction=CoulombFriction(0.3))]),
    "point on a curve": (2, lambda: [on_beam(friction=CoulombFriction(0.3))]),
    "revolute": (3, lambda: [revolute(A, B, axis=SKEW, friction=RUB)]),
    "cylindrical": (3, lambda: [cylindrical(A, B, axis=SKEW, friction=RUB)]),
    "prismatic": (3, lambda: [prismatic(A, B, direction=SKEW, friction=CoulombFriction(0.3))]),
    "point on a curve of space": (3, lambda: [on_beam(friction=CoulombFriction(0.3))]),
}
DECAYING = {
    "von Kármán beam": (2, lambda: {"a": beam(2, strain="von_karman")}, lambda: [hinge(A, B), torque(A)]),
    "von Kármán beam of space": (3, lambda: {"a": beam(3, strain="von_karman")}, lambda: [revolute(A, B, axis=SKEW)]),
    "two beams": BODIES["two beams"],
    "linear solid": BODIES["linear solid"],
    "rod": (3, lambda: {"c": rod(1)}, lambda: [spherical("c.tip", A)]),
    "rod of the plane": (2, lambda: {"c": rod(1, 2)}, lambda: [hinge("c.tip", A)]),
}
