"""Mechanisms of every kind, with their starts and inputs: two ways of taking steps must agree on them."""

import math
from itertools import pairwise

from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distributed_load,
    drive,
    force,
    hinge,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)

SOFT = fem.Material(young=1e5, density=1000.0)
SQUARE = fem.Section(width=0.02, height=0.02)
RUBBER = fem.Material(young=1e6, density=1000.0, poisson=0.4)


def crank_slider(strain="von_karman", damping=None, elements=3, reference="simply_supported", pair="compatible"):
    """A driven crank-slider with a soft rod that a force at its slider and a spring hold back."""
    options = {"pair": pair} | ({} if damping is None else {"damping": fem.Damping(stiffness=damping)})
    rod = fem.beam(0.3, SOFT, SQUARE, elements=elements, reference=reference, strain=strain, **options)
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 0.5 + 10.0 * t + 5.0 * t**2),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
        spring_damper("slider.point", GROUND.at(0.8, 0.0), stiffness=20.0, damping=damping or 0.0),
        force("slider.point"),
    ]
    bodies = {"crank": rigid.bar(0.1, 0.1), "rod": rod, "slider": rigid.point(0.05)}
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.5)}, guess={"rod": -0.2}))
    return mechanism, start, {"force slider.point": lambda t: (math.sin(9.0 * t), 0.0)}


def chain(bodies, elements=2, pair="compatible", damping=0.0):
    """Flexible links in space on spherical joints, hanging from the ground, thrown."""
    section = fem.Section(width=0.02, height=0.01)
    options = {"strain": "von_karman", "pair": pair, "damping": fem.Damping(stiffness=damping)}
    link = fem.beam(0.2, RUBBER, section, elements=elements, dim=3, **options)
    names = [f"link{k}" for k in range(bodies)]
    joints = [spherical("link0.root", GROUND.at(0.0, 0.0, 0.0))]
    joints += [spherical(f"{b}.root", f"{a}.tip") for a, b in pairwise(names)]
    mechanism = connect(dict.fromkeys(names, link), joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({name: (0.2 * k, 0.0, 0.0) for k, name in enumerate(names)})
    return mechanism, mechanism.consistent_state(pose, velocities={names[-1]: (0.3, 2.0, -1.0)}), {}


def pendulum():
    """Two rigid bars with a torsion spring between them: no flexible coordinate at all."""
    bodies = {"upper": rigid.bar(0.5, 1.0), "lower": rigid.bar(0.4, 0.7)}
    joints = [
        hinge("upper.root", GROUND.at(0.0, 0.0)),
        hinge("lower.root", "upper.tip"),
        torsion_spring("lower.root", "upper.tip", stiffness=0.8),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"upper": (0.0, 0.0, 0.4), "lower": 1.0})), {}


def loaded():
    """Flexible links in space under every kind of load, driven by position and by rotation."""
    section = fem.Section(width=0.02, height=0.01)
    link = fem.beam(0.2, RUBBER, section, elements=2, dim=3, strain="von_karman")
    block = rigid.box((0.05, 0.04, 0.03), density=800.0)
    joints = [
        spherical("first.root", GROUND.at(0.0, 0.0, 0.0)),
        drive("box.centre", position=lambda t: (0.5, 0.1 * math.sin(5.0 * t), 0.02 * t)),
        drive("first.root", GROUND, rotation=lambda t: Rotation.from_rotvec((0.4 * t, 0.0, 2.0 * t))),
        spherical("second.root", "first.tip"),
        spring_damper("second.tip", "box.centre", stiffness=30.0, damping=0.1, length=0.1),
        force("second.tip", axes="section"),
        torque("box.centre"),
        distributed_load("first.load"),
    ]
    mechanism = connect({"first": link, "second": link, "box": block}, joints, gravity=(0.0, 0.0, -9.81))
    guess = {"second": (0.2, 0.0, 0.0), "box": (0.4, 0.05, 0.1)}
    start = mechanism.consistent_state(mechanism.assemble({"first": (0.0, 0.0, 0.0)}, guess=guess))
    inputs = {
        "force second.tip": lambda t: (0.05, math.sin(20.0 * t), -0.1),
        "torque box.centre": (1e-4, -2e-4, 1e-4),
        "load first.load": (0.3, 0.2, -0.4),
    }
    return mechanism, start, inputs


def doubled():
    """Flexible links in space and a box on both a hinge and a ball joint at one place: three constraints too many."""
    section = fem.Section(width=0.02, height=0.01)
    link = fem.beam(0.2, RUBBER, section, elements=2, dim=3, strain="von_karman")
    across = (0.0, 1.0, 0.0)
    joints = [
        revolute("arm.root", GROUND.at(0.0, 0.0, 0.0), axis=across),
        revolute("box.centre", "arm.tip", axis=across),
        spherical("box.centre", "arm.tip"),
        spherical("link.root", "box.centre"),
    ]
    bodies = {"arm": link, "box": rigid.box((0.05, 0.04, 0.03), density=800.0), "link": link}
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -9.81))
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.0)}, guess={name: (0.2, 0.0, 0.0) for name in ("box", "link")})
    return mechanism, mechanism.consistent_state(pose, velocities={"link": (0.0, 2.0, -1.0)}), {}


def stub():
    """A rod of one element whose coordinates all are at its ports: nothing is left to eliminate."""
    from flexph.integration.loops.build import constants

    rod = fem.beam(0.3, SOFT, SQUARE, elements=1, strain="von_karman")
    joints = [hinge("rod.root", GROUND.at(0.0, 0.0)), weld("end.root", "rod.tip")]
    mechanism = connect({"rod": rod, "end": rigid.bar(0.1, 0.1)}, joints, gravity=(0.0, -9.81))
    assert not mechanism.once(constants).border.inners.any()
    return mechanism, mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.0)})), {}


CASES = {
    "crank-slider": lambda: crank_slider(),
    "damped": lambda: crank_slider("linear", damping=1e-3),
    "mean axis": lambda: crank_slider(reference="mean_axis"),
    "chain in space": lambda: chain(3),
    "rigid": pendulum,
    "no inner coordinate": stub,
    "loaded": loaded,
}
