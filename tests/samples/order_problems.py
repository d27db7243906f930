"""Mechanisms on which orders of convergence are measured, and what is measured of a run."""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, drive, hinge, revolute, slider, spherical, universal

PLUMB = (0.0, -9.81)


def four_bar(*more):
    """A rigid loop under gravity that passes near its dead point."""
    bodies = {"crank": rigid.bar(0.4, 0.5), "rod": rigid.bar(0.9, 0.8), "rocker": rigid.bar(0.7, 0.6)}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "rocker.root"),
        hinge("rocker.tip", GROUND.at(1.0, 0.0)),
    ]
    mechanism = connect(bodies, [*joints, *more], gravity=PLUMB)
    guess = {"rod": (0.2, 0.4, 0.3), "rocker": (1.0, 0.6, -1.8)}
    pose = mechanism.assemble({"crank": (0.0, 0.0, 1.2)}, guess=guess)
    return mechanism, mechanism.consistent_state(pose, velocities={"crank": 3.0}), 0.3


def crank_slider(reference="simply_supported"):
    """Driven, with a soft rod that all step sizes resolve."""
    rod = fem.beam(
        0.3,
        fem.Material(young=1e5, density=1000.0),
        fem.Section(width=0.02, height=0.02),
        elements=1,
        reference=reference,
        strain="von_karman",
    )
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 0.5 + 10.0 * t + 5.0 * t**2),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", GROUND.at(0.0, 0.0), turning=True),
    ]
    mechanism = connect({"crank": rigid.bar(0.1, 0.1), "rod": rod, "slider": rigid.point(0.05)}, joints, gravity=PLUMB)
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.5)}, guess={"rod": -0.2})
    return mechanism, mechanism.consistent_state(pose), 0.04


def chain(gravity=(0.0, 0.0, -9.81), held=True):
    """Three boxes in space."""
    ports = {"up": (0.0, 0.0, 0.2), "down": (0.0, 0.01, -0.2)}
    box = rigid.box((0.1, 0.06, 0.4), density=900.0, ports=ports)
    joints = [
        revolute("a.down", "b.up", axis=(0.0, 1.0, 0.0)),
        universal("b.down", "c.up", axis=(1.0, 0.0, 0.0), second_axis=(0.0, 1.0, 0.0)),
    ]
    top = [spherical("a.up", GROUND.at(0.0, 0.0, 0.0))] if held else []
    mechanism = connect({"a": box, "b": box, "c": box}, top + joints, gravity=gravity)
    return (
        mechanism,
        mechanism.consistent_state(mechanism.assemble(), velocities={"a": ((0.5, 0.2, 0.1), (3.0, 1.0, 0.5))}),
        0.1,
    )


def parts(run, *names):
    """The last state by kinds."""
    layout = run.mechanism.layout.parts
    return np.concatenate([run.states[-1, s] for k, s in layout.items() if k.rpartition(".")[2] in names])


MEASURES = {
    "positions": lambda run: parts(run, "centre", "rotation", "deformation"),
    "velocities": lambda run: parts(run, "velocity", "spin", "deformation_rate"),
    "multipliers": lambda run: run.multipliers[len(run.multipliers) // 2],
}
PROBLEMS = {"four bar": (four_bar, 11), "crank-slider": (crank_slider, 7), "chain": (chain, 5)}


def vertical(mechanism):
    return [n for n in mechanism.constraint_names if n.endswith((": y", ": across")) and "GROUND" in n]


def check_work_and_impulses(run):
    """The drive's account is the change of energy; stage multipliers are means: their impulse changes the momentum."""
    mechanism, work = run.mechanism, run.ledger.work["drive crank.root–GROUND"]
    assert run.ledger.total_energy[1:] - run.ledger.total_energy[0] == pytest.approx(np.cumsum(work), abs=1e-14)
    lift = sum(run.stage_multipliers[:, mechanism.constraint_names.index(n)] for n in vertical(mechanism))
    mass = sum(body.mass for body in mechanism.bodies.values())
    change = np.diff(run.linear_momentum()[:, 1]) + 9.81 * mass * np.diff(run.times)
    assert change == pytest.approx(lift * np.diff(run.times), abs=1e-13)
