"""Every public constructor and verb with arguments that are right: the table that fuzzing starts from."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import meshio
import numpy as np

import fem
import flexph
import rigid
from flexph import (
    GROUND,
    PHDAE,
    LinearPHDAE,
    analysis,
    bodies,
    changes,
    circuits,
    consistency,
    contacts,
    control,
    descriptor,
    dirac,
    discrete_gradients,
    drawing,
    exchange,
    export,
    fmu,
    gradients,
    interconnection,
    laws,
    linear,
    methods,
    models,
    results,
    robots,
    scenes,
    sensors,
    studies,
    switching,
    systems,
    view,
)
from flexph.discretisation import with_pair
from flexph.models.commands import FOLDER


def along_x(s: float) -> tuple[tuple[float, float, float], np.ndarray]:
    """A straight curve by its length."""
    return (s, 0.0, 0.0), np.eye(3)


PLANT = control.Plant(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0], [0.0]]), np.array([[0.0, 1.0]]))
"""A mass from its force to its place."""
LOOP = control.Sampled(
    function=lambda time, see: {"push": 0.0}, period=0.1, sensors={"angle": flexph.sensors.joint_angle("arm.root")}
)


def quadratic(C: np.ndarray) -> np.ndarray:
    """ψ = ½μ|E|² with C = 1 + 2E."""
    return 1e5 * np.square(C - np.eye(3)).sum(axis=(1, 2))


def by_quadratic(C: np.ndarray) -> np.ndarray:
    """∂ψ/∂C."""
    return 2e5 * (C - np.eye(3))


class Call(NamedTuple):
    """A public callable with arguments by name that it accepts, those of ``*others`` by place."""

    function: Callable[..., Any]
    arguments: dict[str, Any]
    places: tuple[Any, ...] = ()

    def __call__(self, **changed: Any) -> Any:
        """The call with some arguments changed."""
        return self.function(*self.places, **self.arguments | changed)


SKEW = np.array([[0.0, 1.0], [-1.0, 0.0]])
STEEL = fem.Material(young=2e11, density=7800.0, poisson=0.3)
SQUARE = fem.Section(width=0.01, height=0.01)
TIMES = np.linspace(0.0, 0.02, 3)


def scratch(name: str) -> Path:
    """A path for a file that a call writes."""
    return _folder() / name


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="flexph-fuzz-"))


@cache
def calls() -> dict[str, Call]:
    """All of them by name."""
    table: dict[str, Call] = {}
    for group in (
        _bodies,
        _joints,
        _contacts,
        _mechanism,
        _general,
        _linear,
        _laws,
        _sensors,
        _analysis,
        _circuits,
        _dirac,
        _descriptor,
        _switching,
        _studies,
        _models,
    ):
        table |= group()
    return table | _robots() | _rigid() | _rigid_constraints() | _results() | _exchange()


def tetrahedron() -> meshio.Mesh:
    """A mesh of one element."""
    return meshio.Mesh(np.vstack([np.zeros(3), np.eye(3)]), [("tetra", np.array([[0, 1, 2, 3]]))])


def oscillator() -> PHDAE:
    """A general system of two states with a port."""
    return PHDAE(E=np.eye(2), J=SKEW, B=np.eye(2)[:, 1:], z=lambda x: x, H=lambda x: x @ x / 2, sample=np.ones(2),
                 ports={"force": slice(0, 1)}, parts={"q": slice(0, 1), "p": slice(1, 2)})  # fmt: skip


def masses(names: tuple[str, str] = ("left", "right"), rows: int = 0) -> LinearPHDAE:
    """A linear system of four states with two ports."""
    D = np.array([[1.0, 0.0], [-1.0, 1.0]])
    J = np.block([[np.zeros((2, 2)), -D.T], [D, np.zeros((2, 2))]])
    return LinearPHDAE(E=np.eye(4), J=J, R=np.diag([0.1, 0.1, 0.0, 0.0]), B=np.eye(4)[:, :2], G=np.eye(4)[:rows],
                       ports={name: slice(k, k + 1) for k, name in enumerate(names)},
                       kinetic=np.arange(4) < 2)  # fmt: skip


@cache
def beam() -> flexph.Body:
    """A plane beam of two elements."""
    return fem.beam(0.3, STEEL, SQUARE, elements=2)


PUSH = {"push": [-1.0, 0.0]}


@cache
def column() -> tuple[flexph.Mechanism, flexph.State]:
    """A clamped beam under a force along its axis."""
    body = fem.beam(0.3, STEEL, SQUARE, elements=1, strain="von_karman")
    made = flexph.connect({"a": body}, [flexph.weld("a.root", GROUND), flexph.force("a.tip", name="push")])
    return made, made.equilibrium(made.assemble(), inputs=PUSH)


@cache
def swung(length: float) -> tuple[flexph.Mechanism, flexph.State]:
    """A pendulum of a bar."""
    made = flexph.connect({"bar": rigid.bar(length, 1.0)}, [flexph.hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    return made, made.consistent_state(made.assemble({"bar": (0.0, 0.0, 0.0)}))


@cache
def motorised(length: float) -> tuple[flexph.Mechanism, flexph.State]:
    """A bar with a motor in its hinge."""
    joints = [flexph.hinge("bar.root", GROUND), flexph.torque("bar.root", name="motor")]
    made = flexph.connect({"bar": rigid.bar(length, 1.0)}, joints)
    return made, made.consistent_state(made.assemble({"bar": (0.0, 0.0, 0.0)}))


@cache
def hanging(length: float) -> tuple[flexph.Mechanism, flexph.State, float]:
    """A pendulum of a bar at rest, and a time."""
    made = swung(length)[0]
    return made, made.consistent_state(made.assemble({"bar": (0.0, 0.0, -np.pi / 2)})), 0.1


def pressed(factor: float) -> tuple[flexph.Mechanism, flexph.State, dict[str, Any]]:
    """A clamped beam under a force along its axis."""
    return *column(), {"push": [-factor, 0.0]}


def damped(damping: float) -> flexph.LinearPHDAE:
    """A damped oscillator with an input."""
    J, R = np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([damping, 0.0])
    return flexph.LinearPHDAE(E=np.diag([2.0, 0.1]), J=J, R=R, B=np.array([[1.0], [0.0]]))


def mechanism() -> tuple[flexph.Mechanism, flexph.Pose, flexph.State]:
    """A pendulum with a flexible arm, a drive in between and a load."""
    joints = [flexph.hinge("arm.root", GROUND), flexph.hinge("bob.root", "arm.tip"), flexph.force("bob.tip"),
              flexph.torsion_spring("bob.root", "arm.tip", stiffness=1.0, name="spring")]  # fmt: skip
    made = flexph.connect({"arm": beam(), "bob": rigid.bar(0.2, 0.1)}, joints, gravity=(0.0, -9.81))
    pose = made.assemble({"arm": (0.0, 0.0, -1.5)}, guess={"bob": -1.5})
    return made, pose, made.consistent_state(pose)


@cache
def swinging() -> flexph.State:
    """The pendulum with a moving bob."""
    made, pose, _ = mechanism()
    return made.consistent_state(pose, velocities={"bob": 1.0})


@cache
def unloaded() -> tuple[flexph.Mechanism, flexph.Pose]:
    """An arm on a hinge without weight."""
    made = flexph.connect({"arm": beam()}, [flexph.hinge("arm.root", GROUND)])
    return made, made.assemble({"arm": (0.0, 0.0, 0.0)})


@cache
def pushed() -> flexph.Mechanism:
    return flexph.connect({"mass": rigid.point(2.0)}, [flexph.force("mass.point", name="hand")])


@cache
def run() -> flexph.Solution:
    """A short run of the mechanism."""
    made, _, start = mechanism()
    return flexph.integrate(made, start, TIMES, progress=False)


def _bodies() -> dict[str, Call]:
    body, box = beam(), fem.box_mesh((1.0, 0.1), (2, 1))
    parts = {"left": lambda x: x[0] < 0.01}
    solid = {"mesh": box, "material": STEEL, "ports": parts, "plane": "stress", "thickness": 0.01}
    K = np.array([[1.0, -1.0], [-1.0, 1.0]]) * 1e3
    K4 = np.kron(K, np.diag([1.0, 0.0]))
    table = {
        "fem.Material": Call(fem.Material, {"young": 2e11, "density": 7800.0, "poisson": 0.3, "shear": None}),
        "fem.Section": Call(fem.Section, {"width": 0.01, "height": 0.02}),
        "fem.Section.pipe": Call(fem.Section, {"diameter": 0.02, "inner_diameter": 0.01}),
        "fem.Section.values": Call(fem.Section, {"area": 1e-4, "second_moment": 1e-9, "second_moment_y": 1e-9,
                                                 "torsion_constant": 1e-9, "polar_moment": 2e-9, "fibre": 0.005,
                                                 "fibre_z": 0.005}),
        "fem.Damping": Call(fem.Damping, {"mass": 0.1, "stiffness": 1e-5, "ratios": ()}),
        "fem.Orthotropic": Call(fem.Orthotropic, {"young": (1e9, 2e9, 3e9), "poisson": (0.1, 0.1, 0.1),
                                                  "shear": (1e9, 1e9, 1e9), "density": 1e3, "axes": np.eye(3)}),
        "fem.Anisotropic": Call(fem.Anisotropic, {"stiffness": np.eye(6) * 1e9, "density": 1e3, "axes": np.eye(3)}),
        "fem.RodSection": Call(fem.RodSection, {"axial": 1e4, "shear": (1e3, 1e3), "torsion": 10.0,
                               "bending": (5.0, 5.0), "mass": 0.1, "inertia": (2e-3, 1e-3, 1e-3)}),
        "fem.cable": Call(fem.cable, {"length": 0.3, "mass_per_length": 0.1, "axial": 1e3, "bending": 0.1,
            "elements": 1, "dim": 3, "curve": None, "ports": {"q": 0.1}, "damping": fem.Damping(),
            "laws": {"N": laws.polynomial(1e3)}, "flow": fem.Flow(0.1, 1.0)}),
        "fem.Flow": Call(fem.Flow, {"mass_per_length": 0.1, "speed": 2.0}),
        "fem.rod": Call(fem.rod, {"length": 0.3, "material": STEEL, "section": SQUARE, "elements": 1, "order": 1,
                        "ports": {"hook": (0.3, (0.0, 0.1, 0.0))}, "shear_factors": (0.8, 0.8),
                        "dim": 3, "damping": fem.Damping(stiffness=1e-4), "curve": along_x,
                        "laws": {"T": laws.polynomial(1.0)}, "flow": fem.Flow(0.1, 1.0)}),
        "NodalBody.with_mass": Call(fem.rod(0.3, STEEL, SQUARE, elements=1).with_mass,
                                    {"port": "tip", "mass": 0.1, "inertia": 1e-4}),
        "fem.beam": Call(fem.beam, {"length": 0.3, "material": STEEL, "section": SQUARE, "elements": 2, "dim": 2,
                                    "reference": "cantilever", "pair": "compatible", "strain": "linear",
                                    "momenta": "full", "stations": {"middle": 0.15}, "damping": fem.Damping()}),
        "fem.bending": Call(fem.bending, {"length": 0.3, "material": STEEL, "section": SQUARE, "elements": 2,
                                          "causality": "force", "clamped": (), "damping": fem.Damping(), "load": 1}),
        "fem.box_mesh": Call(fem.box_mesh, {"lengths": (1.0, 0.1), "counts": (2, 1), "simplices": False}),
        "fem.surface_ports": Call(fem.surface_ports, {"mesh": fem.box_mesh((1.0, 0.1), (2, 1)), "surface": "left",
                                                      "name": "side", "plane": True}),
        "fem.Cut": Call(fem.Cut, {"region": parts["left"], "normal": (1.0, 0.0)}),
        "fem.Load": Call(fem.Load, {"region": parts["left"], "on": None, "uniform": True}),
        "fem.Tie": Call(fem.Tie, {"region": parts["left"], "how": None, "at": (0.0, 0.05),
                                    "weights": None}),
        "fem.Support": Call(fem.Support, {"region": parts["left"], "how": "hinged"}),
        "fem.solid": Call(fem.solid, solid | {"reference": "mean_axis", "degree": 1, "loads": {}, "sections": {},
                                              "momenta": "full", "damping": fem.Damping(), "strain": "linear",
                                              "law": None, "omit": (), "size": None, "select": None, "unit": None,
                                              "max_cells": None, "temperature": None, "refine": None}),
        "fem.Refinement": Call(fem.Refinement, {"tolerance": 0.01, "modes": 2, "ports": ("tip",), "max_cells": 1000,
                                                "share": 0.5, "watch": None}),
        "fem.solid.finite": Call(fem.solid, solid | {"degree": 1, "loads": {}, "damping": fem.Damping(),
                                                     "strain": "finite", "law": fem.NeoHooke(1e6, 1e6)}),
        "fem.NeoHooke": Call(fem.NeoHooke, {"mu": 1e6, "lam": 1e6}),
        "fem.MooneyRivlin": Call(fem.MooneyRivlin, {"c1": 2e5, "c2": 1e5, "bulk": 1e6}),
        "fem.StoredEnergy": Call(fem.StoredEnergy, {"energy": quadratic, "derivative": by_quadratic, "second": None}),
        "fem.plate": Call(fem.plate, {"mesh": fem.box_mesh((1.0, 1.0), (1, 1)), "material": STEEL, "thickness": 0.01,
                                      "theory": "kirchhoff", "ports": {"edge": lambda x: x[0] < 0.01}, "supports": (),
                                      "strain": "linear", "loads": {}, "sections": {}, "omit": (), "select": None,
                                      "unit": None, "size": None, "max_cells": None, "temperature": None,
                                      "refine": None}),
        "fem.LinkSolid": Call(fem.LinkSolid, {"material": STEEL, "size": 0.01, "use": "visual", "modes": 6,
                                              "reach": None, "damping": fem.Damping()}),
        "rigid.bar": Call(rigid.bar, {"length": 1.0, "mass": 1.0, "inertia": 0.1}),
        "rigid.body": Call(rigid.body, {"mass": 1.0, "inertia": 0.1, "ports": {"root": (0.0, 0.0)},
                                        "centre": (0.1, 0.0), "about": (0.1, 0.0)}),
        "rigid.box": Call(rigid.box, {"size": (0.1, 0.2, 0.3), "density": 1e3, "ports": {"a": (0.0, 0.0, 0.0)}}),
        "rigid.cylinder": Call(rigid.cylinder, {"length": 0.1, "radius": 0.1, "density": 1e3, "inner_radius": 0.05,
                                                "ports": {"a": (0.0, 0.0, 0.0)}}),
        "rigid.sphere": Call(rigid.sphere, {"radius": 0.1, "density": 1e3, "ports": {"a": (0.0, 0.0, 0.0)}}),
        "rigid.point": Call(rigid.point, {"mass": 1.0, "dim": 2}),
        "rigid.solid": Call(rigid.solid, {"mesh": tetrahedron(), "density": 1e3, "ports": {"a": (0.0, 0.0, 0.0)},
                                          "omit": (), "select": None, "unit": None}),
        "Body.with_mass": Call(body.with_mass, {"port": "tip", "mass": 0.1, "inertia": 0.0}),
        "Body.with_mass_factor": Call(rigid.point(1.0).with_mass_factor, {"factor": lambda t: 1.0 + t}),
        "bodies.body_basis": Call(bodies.body_basis, {"body": body, "modes": 1, "derivatives": 0, "static": ("tip",),
                                                      "inertia": False}),
        "bodies.reduce_body": Call(bodies.reduce_body, {"body": body, "modes": 1, "derivatives": 0,
                                                        "static": ("tip",), "inertia": False}),
        "bodies.reduce_body.basis": Call(bodies.reduce_body, {"body": body, "basis": np.eye(body.size)[:, :2]}),
        "bodies.save_reduced": Call(bodies.save_reduced, {"body": body, "path": scratch("body.h5"), "fields": "none"}),
        "bodies.linear_body": Call(bodies.linear_body, {"body": body, "name": "arm"}),
        "bodies.floating_body": Call(bodies.floating_body, {"body": body, "gravity": (0.0, -9.81), "form": "paper",
                                                            "loads": (), "name": "arm"}),
        "bodies.relative_axes": Call(bodies.relative_axes, {
            "first": bodies.floating_body(body, name="a"), "second": bodies.floating_body(body, name="b"),
            "torques": True}),
        "bodies.body_from_matrices": Call(bodies.body_from_matrices, {
            "mass": np.eye(4), "stiffness": K4, "nodes": np.array([[0.0, 0.0], [1.0, 0.0]]), "ports": {"a": 0, "b": 1},
            "fixed": (), "modes": 0, "static": (), "unit": 1.0}),
        "bodies.body_from_modes": Call(bodies.body_from_modes, {
            "shapes": np.array([[-1.0], [0.0], [1.0], [0.0]]), "frequencies": [30.0],
            "nodes": np.array([[0.0, 0.0], [1.0, 0.0]]), "masses": [1.0, 1.0], "ports": {"a": 0, "b": 1},
            "ratios": 0.01}),
        "bodies.rigid_inertia": Call(bodies.rigid_inertia, {"mass": 1.0, "first": np.zeros(2),
                                                            "second": np.eye(2) * 0.1, "spin": np.zeros((1, 1))}),
        "bodies.von_mises": Call(bodies.von_mises, {"stress": np.ones((2, 6))}),
        "bodies.principal_stresses": Call(bodies.principal_stresses, {"stress": np.ones((2, 6))}),
    }  # fmt: skip
    return table


def from_signatures(
    room: ModuleType, examples: dict[str, Any], special: dict[str, dict[str, Any]], *, prefix: str = "", skip: set[str]
) -> dict[str, Call]:
    """Calls of all public names of a room, with examples by the names of arguments, or ``special`` ones by function."""
    table = {}
    for name in sorted(set(room.__all__) - skip):
        made = getattr(room, name)
        given, arguments = examples | special.get(name, {}), list(inspect.signature(made).parameters)
        missing = [argument for argument in arguments if argument not in given]
        assert not missing, f"{name} of {room.__name__} has new arguments: give {missing} an example"
        table[prefix + name] = Call(made, {argument: given[argument] for argument in arguments})
    return table


def _joints() -> dict[str, Call]:
    axis, friction = (0.0, 0.0, 1.0), laws.viscous(0.1)
    examples = {
        "first": "a.tip", "second": "b.root", "port": "a.tip", "rail": "b.root", "reference": GROUND, "ground": GROUND,
        "carrier": GROUND, "rack": "a.tip", "pinion": "b.tip", "housing": GROUND, "wheel": "a.tip", "chassis": GROUND,
        "curve": ["b.root", "b.tip"], "against": "b.root", "name": "joint",
        "axis": axis, "second_axis": axis, "carrier_axes": (axis, axis), "direction": axis, "normal": axis,
        "second_normal": axis, "axes": "world", "rotation": None, "angle": 0.0, "zero": 0.2, "offset": (0.0, 0.0),
        "length": 1.0, "radius": 0.1, "radii": (0.1, 0.2), "crossed": True, "ratio": 2.0, "lead": 0.1, "roller": 0.8,
        "degree": 1, "at": (0.0, 1.0), "motor": True, "place": None, "turning": True, "height": True,
        "stiffness": 1.0, "damping": 0.1, "torsional_stiffness": 1.0, "torsional_damping": 0.1,
        "law": None, "torsional_law": None, "factor": None, "ground_normal": None,
        "friction": friction, "turning_friction": friction, "sliding_friction": None, "coefficient": 0.1,
        "conicity": 0.05, "creep": laws.creep(longitudinal=1.0), "across": axis, "displacement": None, "position": None,
        "contact": None, "path": ["a.tip", flexph.joints.Sheave("b.root", 0.1), "b.tip"], "turns": 1, "grips": False,
    }  # fmt: skip
    plane = {"stiffness": (1.0, 1.0)}
    special: dict[str, dict[str, Any]] = {
        "belt": {"second": "b.tip"},
        "bushing": plane,
        "cartesian_spring_damper": plane | {"axes": np.eye(2)},
        "cylindrical": {"friction": None},
        "distributed_load": {"port": "a.span"},
        "drive": {"port": "a.root", "angle": lambda t: t, "direction": None, "zero": 0.0},
        "gear": {"second": "b.tip"},
        "hinge": {"axis": None, "second_axis": None},
        "knife_edge": {"axis": (0.0, 1.0)},
        "point_on_curve": {"friction": None},
        "Sheave": {"port": "b.root", "axis": (0.0, 0.0, 1.0)},
        "slider": {"rail": GROUND, "direction": (1.0, 0.0)},
        "railway_wheel": {"chassis": "b.root", "rail": GROUND.at(0.0, 0.0, 0.0), "normal": (1.0, 0.0, 0.0)},
        "slipping_wheel": {"axis": None},
        "spring_damper": {"direction": (1.0, 0.0)},
        "universal": {"axis": (1.0, 0.0, 0.0), "second_axis": (0.0, 1.0, 0.0)},
    }
    table = from_signatures(flexph.joints, examples, special, skip={"GROUND", "Connection", "Ground"})
    table["Ground.at"] = Call(lambda x, y: GROUND.at(x, y), {"x": 0.0, "y": 1.0})
    table["laws.coulomb"] = Call(laws.coulomb, {
        "force": 1.0, "speed": 0.1, "static": 1.2, "stribeck": 0.2, "viscous": 0.1})  # fmt: skip
    table["laws.viscous"] = Call(laws.viscous, {"coefficient": 0.1})
    table["laws.quadratic"] = Call(laws.quadratic, {"coefficient": 0.1})
    table["laws.resistive"] = Call(laws.resistive, {"function": lambda v: v, "derivative": lambda v: 1.0})

    # joints in a mechanism: what only shows there
    def fixed(**joint: Any) -> Any:
        return flexph.connect({"a": rigid.bar(1.0, 1.0)}, [flexph.hinge("a.root", GROUND, **joint)])

    def driven(angle: Any) -> Any:
        made = flexph.connect({"a": rigid.bar(1.0, 1.0)}, [flexph.hinge("a.root", GROUND),
                                                          flexph.drive("a.root", angle=angle)])  # fmt: skip
        return made.consistent_state(made.assemble(guess={"a": 0.0}))

    table["hinge in a mechanism"] = Call(fixed, {"friction": friction})
    table["drive in a mechanism"] = Call(driven, {"angle": lambda t: t})
    return table


def _contacts() -> dict[str, Call]:
    ball, law = contacts.Sphere("a.tip", 0.1), contacts.Hertz(1e6)
    ground, (x, y) = GROUND.at(0.0, 0.0), ((1.0, 0.0), (0.0, 1.0))
    slides = {"friction": 0.3, "slip_velocity": 1e-3}
    shapes = {
        "port": ground,
        "radius": 0.1,
        "normal": y,
        "axis": None,
        "crown": 0.02,
        "speed": 1.0,
        "direction": x,
        "size": (1.0, 0.5),
        "axes": None,
        "length": 1.0,
        "mesh": ([(0.0, 0.0), (1.0, 0.0)], [(0, 1)]),
        "scale": 1.0,
        "closed": None,
        "round": 0.1,
        "restitution": 0.5,
        "formula": "exact",
        "ports": ["a.tip", "a.root", "b.tip"],
        "cells": [(0, 1), (1, 2)],
        "stiffness": 1e5,
        "mass": 1.0,
        "driven": False,
    }
    flat = {"contact", "mutual_contact", "stop", "Hertz", "KelvinVoigt", "Rigid"}
    special = {"Rim": {"port": "a.tip", "axis": (0.0, 0.0, 1.0)}, "Capsule": {"axis": x}}
    return from_signatures(contacts, shapes, special, prefix="contacts.", skip=flat) | {
        "contacts.contact": Call(contacts.contact, {"first": ball, "second": contacts.Plane(ground, y), "law": law,
                                                    "name": "touch"}),
        "contacts.mutual_contact": Call(contacts.mutual_contact, {"shapes": [ball, contacts.Sphere("b.tip", 0.1)],
                                                                  "law": law, "name": "group"}),
        "contacts.stop": Call(contacts.stop, {"first": "a.root", "second": GROUND, "law": law, "lower": -1.0,
                                              "upper": 1.0, "along_axis": x, "axis": None, "name": "stop"}),
        "contacts.Hertz": Call(contacts.Hertz, {"stiffness": 1e6, "loss": 0.1, "friction_factor": None} | slides),
        "contacts.KelvinVoigt": Call(contacts.KelvinVoigt, {"stiffness": 1e6, "damping": 0.1} | slides),
        "Hertz by restitution": Call(contacts.Hertz, {"stiffness": 1e6, "restitution": 0.6, "speed": 1.0}),
        "KelvinVoigt by restitution": Call(contacts.KelvinVoigt, {"stiffness": 1e6, "restitution": 0.6, "mass": 1.0}),
        "contacts.Rigid": Call(contacts.Rigid, {"restitution": 0.5, "friction": 0.3}),
    }  # fmt: skip


def _mechanism() -> dict[str, Call]:
    made, pose, state = mechanism()
    rest = made.equilibrium(pose)
    inputs = {"force bob.tip": (1.0, 0.0)}
    options = {"times": TIMES, "inputs": inputs, "progress": False}
    return {
        "connect": Call(flexph.connect, {"bodies": {"a": rigid.bar(1.0, 1.0)},
                                         "connections": [flexph.hinge("a.root", GROUND)], "gravity": (0.0, -9.81)}),
        "Mechanism.assemble": Call(made.assemble, {"fixed": {"arm": (0.0, 0.0, -1.5)}, "guess": {"bob": -1.5},
                                                   "time": 0.0}),
        "Mechanism.consistent_state": Call(made.consistent_state, {"pose": pose, "velocities": {"arm": 1.0},
                                                                   "elastic": "undeformed", "time": 0.0}),
        "Mechanism.impact": Call(made.impact, {"state": state, "port": "bob.tip", "impulse": (0.1, 0.2)}),
        "Mechanism.impact with restitution": Call(made.impact, {"state": swinging(), "port": "bob.tip",
                                                                "restitution": 0.5, "direction": (-1.0, 0.0)}),
        "Mechanism.equilibrium": Call(made.equilibrium, {"pose": pose, "inputs": inputs, "time": 0.0,
                                                         "redundant": "refuse"}),
        "Mechanism.with_closed_contacts": Call(made.with_closed_contacts, {"state": rest, "inputs": inputs}),
        "Mechanism.linearize": Call(made.linearize, {"about": rest, "inputs": None}),
        "Mechanism.sweep": Call(unloaded()[0].sweep, {"poses": [unloaded()[1]] * 2, "values": [0.0, 1.0], "count": 1,
                                                      "name": "angle", "follow": True}),
        "Mechanism.spectrum": Call(made.spectrum, {"state": rest, "inputs": None}),
        "Mechanism.buckling": Call(column()[0].buckling, {"state": column()[1], "inputs": PUSH}),
        "Mechanism.position": Call(made.position, {"state": state, "port": "bob.tip"}),
        "Mechanism.reaction": Call(made.reaction, {"state": rest, "joint": "hinge arm.root–GROUND", "on": "first",
                                                   "frame": "world"}),
        "Mechanism.consistent_multipliers": Call(made.consistent_multipliers, {"state": state, "inputs": inputs}),
        "Mechanism.phdae": Call(made.phdae, {"state": state}),
        "Mechanism.describe": Call(made.describe, {"pose": pose}),
        "Simulator": Call(flexph.Simulator, {"mechanism": made, "start": state, "method": methods.Exact(),
                                              "sensors": {}, "controllers": {}}),
        "Simulator.restore": Call(flexph.Simulator(made, state, method=methods.Exact()).restore, {
            "state": state}),
        "fmu.CoSimulation": Call(fmu.CoSimulation, {"mechanism": made, "start": state, "method": methods.Exact(),
                                                    "inputs": None, "outputs": {}, "controllers": {}, "step": 1e-3,
                                                    "end": 1.0}),
        "Simulator.advance": Call(flexph.Simulator(made, state, method=methods.Exact()).advance, {
            "h": 1e-3, "inputs": {}}),
        "inverse_dynamics": Call(flexph.inverse_dynamics, {
            "mechanism": pushed(), "motion": {"hand": lambda t: (t**2, 0.0)}, "start": pushed().assemble(),
            "times": TIMES, "inputs": None, "elastic": "undeformed", "method": methods.Exact()}),
        "changes.Change": Call(changes.Change, {"kind": "lock", "joint": "hinge", "at": 0.1, "when": None}),
        "changes.lock": Call(changes.lock, {"joint": "hinge", "at": 0.1}),
        "changes.release": Call(changes.release, {"joint": "hinge", "at": 0.1}),
        "changes.rupture": Call(changes.rupture, {"part": "rope", "s": 0.1, "tension": 5.0}),
        "changes.with_changes": Call(changes.with_changes, {
            "mechanism": made, "changes": [changes.lock("hinge bob.root–arm.tip", at=0.1)]}),
        "Mechanism.with_masses_at": Call(made.with_masses_at, {"time": 0.5}),
        "Mechanism.replace": Call(made.replace, {"joints": made.connections, "gravity": (0.0, -9.81)}),
        "integrate": Call(flexph.integrate, options | {
            "system": made, "start": state, "method": methods.Exact(), "events": {"low": lambda t, x: t - 0.01},
            "observe": lambda t, x: t, "save_every": 1, "live": False,
            "changes": [changes.lock("hinge bob.root–arm.tip", at=float(TIMES[0]))]}),
        "integrate a general system": Call(flexph.integrate, {
            "system": oscillator(), "start": (1.0, 0.0), "times": TIMES, "method": methods.Gauss(4),
            "inputs": {"force": lambda t: 1.0}, "events": {"q": lambda t, x: x["q"][0]},
            "observe": lambda t, x: x["q"], "save_every": 1, "progress": False}),
        "systems.PiecewiseConstant": Call(systems.PiecewiseConstant, {"times": [0.0, 1.0], "values": [1.0, 2.0]}),
        "view.Dial": Call(view.Dial, {"value": 0.5, "low": 0.0, "high": 1.0, "ramp": 0.1}),
        "view.Live": Call(view.Live, {
            "sliders": {"motor": (0.0, 1.0)}, "dials": {"grip": view.Dial(0.5, low=0.0, high=1.0)},
            "pace": 1.0, "paused": False, "rate": 30.0, "field": None, "title": "run",
            "display": "page", "port": 0, "browser": False, "wait": 0.0}),
        "Checkpoint": Call(flexph.Checkpoint, {"path": scratch("kept"), "every": 1.0, "resume": False}),
        "Event": Call(flexph.Event, {"function": lambda t, x: 1.0, "direction": 0, "terminal": False}),
        "methods.Exact": Call(methods.Exact, {"tolerance": 1e-6, "redundant": "refuse"}),
        "methods.Exact4": Call(methods.Exact4, {"redundant": "refuse"}),
        "methods.ExactGauss": Call(methods.ExactGauss, {"stages": 3}),
        "methods.Decaying": Call(methods.Decaying, {"radius": 0.5, "tolerance": 1e-6, "redundant": "refuse"}),
        "methods.Gauss": Call(methods.Gauss, {"order": 2, "tolerance": 1e-6, "completion": None}),
        "methods.DiscreteGradient": Call(methods.DiscreteGradient, {"gradient": "gonzalez", "tolerance": 1e-6,
                                                                    "completion": None}),
        "methods.DiracDissipative": Call(methods.DiracDissipative, {"tolerance": 1e-6, "completion": None}),
        "methods.Radau": Call(methods.Radau, {"rtol": 1e-6, "atol": 1e-9}),
        "methods.BDF": Call(methods.BDF, {"rtol": 1e-6, "atol": 1e-9}),
        "methods.IDA": Call(methods.IDA, {"rtol": 1e-6, "atol": 1e-9}),
        "methods.by_name": Call(methods.by_name, {"name": "exact"}),
    }  # fmt: skip


ANGLES = {"arm": flexph.sensors.joint_angle("arm.root"), "bob": flexph.sensors.joint_angle("bob.root", "arm.tip")}


@cache
def arm_kinematics() -> robots.Kinematics:
    """Kinematics of the pendulum."""
    made, pose, _ = mechanism()
    return robots.Kinematics(made, ANGLES, pose)


@cache
def driven_kinematics() -> robots.Kinematics:
    """Kinematics of an arm with a motor."""
    joints = [flexph.hinge("arm.root", GROUND), flexph.torque("arm.root", name="motor")]
    made = flexph.connect({"arm": rigid.bar(1.0, 2.0)}, joints)
    return robots.Kinematics(made, {"turn": flexph.sensors.joint_angle("arm.root")}, made.assemble())


def _robots() -> dict[str, Call]:
    made, pose, _ = mechanism()
    return {
        "robots.Kinematics": Call(
            robots.Kinematics, {"mechanism": made, "coordinates": ANGLES, "home": pose, "limits": {"bob": (-3.0, 3.0)}}
        ),
        "robots.Kinematics.inverse": Call(
            arm_kinematics().inverse,
            {
                "port": "bob.tip",
                "position": arm_kinematics().place("bob.tip", (0.1, 0.2)).position,
                "rotation": None,
                "near": (0.0, 0.1),
                "attempts": 2,
            },
        ),
        "robots.Kinematics.efforts": Call(
            arm_kinematics().efforts, {"q": (0.1, 0.2), "rates": {"arm": 1.0}, "accelerations": None}
        ),
        "robots.Kinematics.inputs": Call(
            driven_kinematics().inputs, {"q": [0.1], "efforts": [1.0], "ports": ["motor"]}
        ),
        "robots.Link": Call(
            robots.Link,
            {
                "a": 1.0,
                "alpha": 0.1,
                "d": 0.0,
                "theta": 0.0,
                "kind": "revolute",
                "mass": 1.0,
                "centre": (0.0, 0.0, 0.0),
                "moments": (0.1, 0.1, 0.1),
                "limits": (-1.0, 1.0),
            },
        ),
        "robots.denavit_hartenberg": Call(
            robots.denavit_hartenberg,
            {
                "links": {"turn": robots.Link(a=1.0, mass=1.0, moments=(0.1, 0.1, 0.1))},
                "convention": "standard",
                "flexible": None,
            },
        ),
        "robots.Motion": Call(
            robots.Motion,
            {"times": np.array([0.0, 1.0]), "coefficients": np.zeros((1, 1, 4)), "names": ("turn",), "scalar": False},
        ),
        "robots.polynomial": Call(
            robots.polynomial,
            {
                "start": 0.0,
                "end": 1.0,
                "duration": 1.0,
                "begin": 0.0,
                "rates": (0.0, 0.0),
                "accelerations": None,
                "degree": 5,
            },
        ),
        "robots.trapezoid": Call(
            robots.trapezoid,
            {"start": {"turn": 0.0}, "end": {"turn": 1.0}, "velocity": 1.0, "acceleration": 2.0, "begin": 0.0},
        ),
        "robots.spline": Call(
            robots.spline, {"times": [0.0, 1.0, 2.0], "points": [0.0, 1.0, 0.0], "rates": None, "ends": "clamped"}
        ),
        "robots.sequence": Call(robots.sequence, {}, (robots.polynomial(0.0, 1.0, duration=1.0),)),
        "robots.computed_torque": Call(
            robots.computed_torque,
            {
                "kinematics": driven_kinematics(),
                "reference": robots.polynomial({"turn": 0.0}, {"turn": 1.0}, duration=1.0),
                "period": 1e-3,
                "ports": ["motor"],
                "stiffness": 100.0,
                "damping": {"turn": 20.0},
            },
        ),
    }


def _general() -> dict[str, Call]:
    system = oscillator()
    H, z = (lambda x: float(x @ x) / 2), (lambda x: x)
    x0, x1 = np.array([1.0, 0.0]), np.array([0.5, 0.2])
    gradient = {"function": H, "gradient": z, "x0": x0, "x1": x1, "states": None}
    identity = {"phi": lambda x: x, "jacobian": np.eye(2), "frame": np.eye(2), "sample": np.ones(2), "parts": None}
    return {
        "PHDAE": Call(PHDAE, {"E": np.eye(2), "J": SKEW, "R": np.zeros((2, 2)), "B": np.eye(2)[:, 1:], "z": z, "H": H,
                              "sample": np.ones(2), "ports": {"force": slice(0, 1)}, "parts": {"q": slice(0, 1)},
                              "means": {}, "invariants": None, "derivatives": None, "terms": None, "cautions": ()}),
        "PHDAE of functions": Call(PHDAE, {"E": lambda x: np.eye(2), "J": lambda x: SKEW, "R": lambda x: np.eye(2),
                                           "B": lambda x: np.eye(2)[:, :1], "ports": {"u": slice(0, 1)}, "z": z, "H": H,
                                           "sample": np.ones(2)}),
        "PHDAE.check": Call(system.check, {"x": x0}),
        "PHDAE.inputs": Call(system.inputs, {"x": x0, "port": "force"}),
        "PHDAE.output": Call(system.output, {"x": x0, "u": np.zeros(1)}),
        "PHDAE.power_balance": Call(system.power_balance, {"x": x0, "u": np.zeros(1)}),
        "systems.Derivatives": Call(systems.Derivatives, {"costate": lambda x: np.eye(2)}),
        "systems.Invariants": Call(systems.Invariants, {"values": lambda x: np.array([x @ x]),
                                                        "jacobian": lambda x: 2 * x[None], "energy": lambda p: p[0] / 2,
                                                        "gradient": lambda p: np.array([0.5])}),
        "systems.from_linear": Call(systems.from_linear, {"system": masses()}),
        "systems.with_multipliers": Call(systems.with_multipliers, {"system": masses(rows=1)}),
        "systems.transform": Call(systems.transform, {"system": system} | identity),
        "consistency.consistent": Call(consistency.consistent, {"system": system, "state": x0, "time": 0.0,
                                                                "inputs": {"force": 1.0}, "keep": ()}),
        "consistency.inconsistency": Call(consistency.inconsistency, {"system": system, "state": x0, "time": 0.0,
                                                                      "inputs": {"force": 1.0}}),
        "discretisation.with_pair": Call(with_pair, {"system": system, "method": "gonzalez"}),
        "discrete_gradients.gonzalez": Call(discrete_gradients.gonzalez, gradient),
        "discrete_gradients.mean_value": Call(discrete_gradients.mean_value, gradient | {"points": 4}),
        "discrete_gradients.coordinate_increments": Call(discrete_gradients.coordinate_increments, gradient),
        "discrete_gradients.midpoint": Call(discrete_gradients.midpoint, {"gradient": z, "x0": x0, "x1": x1}),
        "discrete_gradients.jacobian": Call(discrete_gradients.jacobian, {
            "function": z, "slope": lambda x: np.eye(2), "x0": x0, "x1": x1}),
        "interconnection.interchange": Call(interconnection.interchange, {"system": system, "port": "force"}),
        "interconnection.without_feedthrough": Call(interconnection.without_feedthrough, {"system": system}),
    }  # fmt: skip


def _linear() -> dict[str, Call]:
    system, held = masses(), masses(rows=1)
    lossless = replace(system, R=None)
    response = {"system": system, "inputs": "left", "outputs": ["right"], "method": "auto", "progress": False}
    blocks = {"a": masses(), "b": masses()}
    return {
        "LinearPHDAE": Call(LinearPHDAE, {"E": np.eye(2), "J": SKEW, "R": np.zeros((2, 2)), "B": np.eye(2)[:, :1],
                                          "G": np.eye(2)[:1], "ports": {"u": slice(0, 1)}, "causality": {},
                                          "parts": {"x": slice(0, 2)}, "constraints": ("row",),
                                          "kinetic": np.array([True, False]), "lift": None}),
        "LinearPHDAE.energy": Call(system.energy, {"x": np.ones(4)}),
        "LinearPHDAE.inputs": Call(system.inputs, {"port": "left"}),
        "LinearPHDAE.expand": Call(system.expand, {"x": np.ones(4)}),
        "eigenfrequencies": Call(flexph.eigenfrequencies, {"system": lossless, "count": 2}),
        "modes": Call(flexph.modes, {"system": lossless, "count": 2}),
        "poles": Call(flexph.poles, {"system": system}),
        "eliminate": Call(flexph.eliminate, {"system": held}),
        "reduce": Call(flexph.reduce, {"system": system, "method": "krylov", "points": [0.0],
                                       "ports": ["left"]}),
        "reduce by modes": Call(flexph.reduce, {"system": system, "order": 2, "method": "modal", "band": None}),
        "frequency_response": Call(flexph.frequency_response, response | {"omega": [0.5, 1.5]}),
        "linear.step_response": Call(linear.step_response, response | {"times": TIMES, "tolerance": 1e-3,
                                                                       "substeps": None}),
        "linear.impulse_response": Call(linear.impulse_response, response | {"times": TIMES, "tolerance": 1e-3,
                                                                             "substeps": None}),
        "linear.zeros": Call(linear.zeros, {"system": system, "output": "left", "input": "left", "progress": False}),
        "linear.damping_ratios": Call(linear.damping_ratios, {"system": system, "count": 1}),
        "linear.recover_multipliers": Call(linear.recover_multipliers, {"system": held,
                                                                        "x": np.array([0.0, 1.0, 1.0, 1.0]),
                                                                        "u": np.zeros(2)}),
        "linear.standard_form": Call(linear.standard_form, {"system": system, "coordinates": "energy"}),
        "linear.sweep": Call(linear.sweep, {"make": lambda v: masses(), "values": [1.0, 2.0], "count": 2,
                                            "name": "v", "follow": True, "failures": "raise", "progress": False}),
        "linear.assess": Call(linear.assess, {"full": system, "reduced": system, "omega": [0.5, 1.5], "times": None}),
        "linear.certify": Call(linear.certify, {"reduced": system, "omega": [0.5, 1.5], "full": system}),
        "linear.craig_bampton": Call(linear.craig_bampton, {"system": system, "ports": ["left"], "modes": 1}),
        "control.feedback": Call(control.feedback, {"plant": system, "controller": control.port_spring(1.0, name="c"),
                                                    "port": "left", "controller_port": "c"}),
        "control.inject_damping": Call(control.inject_damping, {"system": system, "port": "left", "gain": 1.0}),
        "control.passive_observer": Call(control.passive_observer, {"system": system, "port": "left", "gain": 1.0,
                                                                    "name": "observer"}),
        "control.Compensator": Call(control.Compensator, dict(zip("ABCD", np.ones((4, 1, 1)), strict=True))),
        "control.Compensator.discrete": Call(control.pid(1.0, integral=1.0).discrete, {"period": 0.1}),
        "control.Compensator.sampled": Call(control.pid(1.0).sampled, {
            "period": 0.1, "sensors": {"angle": flexph.sensors.joint_angle("arm.root")}, "ports": ["push"],
            "reference": lambda t: 0.0}),
        "control.Compensator.continuous": Call(control.pid(1.0).continuous, {"ports": ["push"], "references": {}}),
        "control.gearbox": Call(control.gearbox, {
            "ratio": 20.0, "inertia": 1e-5, "friction": 1e-6, "dry_friction": 0.1, "axis": (0.0, 0.0, 1.0),
            "stiffness": 1e3, "damping": 0.1}),
        "control.hydraulic_cylinder": Call(control.hydraulic_cylinder, {
            "vector": (0.0, 0.9), "areas": (2e-3, 1e-3), "length": 0.7, "stroke": 0.5, "rated_flow": 5e-4,
            "relief": 1.5e7, "rated_drop": 3.5e6, "pressures": (1e6, 0.0), "bulk_modulus": 1.4e9, "dead_volume": 2e-5,
            "line_volume": 1e-3, "leakage": 0.0, "transition": 1e4, "overload": 1e-9, "lag": 0.01, "coil": 10.0}),
        "control.DryFriction": Call(control.DryFriction, {"level": 0.1}),
        "control.Terminated": Call(control.Terminated, {
            "system": control.port_spring(1.0, name="c"), "laws": {"c": control.DryFriction(0.1)}}),
        "control.motor": Call(control.motor, {
            "constant": 0.05, "resistance": 1.0, "inductance": 1e-3, "inertia": 1e-5, "friction": 1e-6, "ratio": 20.0,
            "dry_friction": 0.1, "torque_limit": 0.4, "axis": (0.0, 0.0, 1.0), "stiffness": 1e3, "damping": 0.1}),
        "control.Continuous": Call(control.Continuous, {"system": control.port_spring(1.0, name="c"),
                                                        "ports": {"c": "push"}, "references": {}, "inputs": {},
                                                        "start": [0.0]}),
        "control.StateFeedback": Call(control.StateFeedback, {
            "function": lambda time, y: 0.0, "sensors": {"angle": flexph.sensors.joint_angle("arm.root")},
            "ports": ["push"], "period": 0.1}),
        "control.append": Call(control.append, {}, (control.pid(1.0), control.pid(2.0))),
        "control.notch": Call(control.notch, {"frequency": 1.0, "damping": 1.0, "depth": 0.0}),
        "control.passive": Call(control.passive, {"system": system}),
        "control.pid": Call(control.pid, {"proportional": 1.0, "integral": 1.0, "derivative": 1.0, "lag": 0.1}),
        "control.angles_of": Call(control.angles_of, {"system": system, "ports": ["left"]}),
        "control.Plant.response": Call(PLANT.response, {"omega": [0.5, 1.5]}),
        "control.plant_of": Call(control.plant_of, {
            "mechanism": mechanism()[0], "about": mechanism()[0].equilibrium(mechanism()[1]),
            "ports": ["force bob.tip"], "inputs": None, "sensors": {"angle": flexph.sensors.joint_angle("arm.root")}}),
        "control.closed_loop": Call(control.closed_loop, {"plant": PLANT, "compensator": control.pid(1.0),
                                                          "period": 0.1, "delay": 1}),
        "control.lqr": Call(control.lqr, {"plant": PLANT, "stiffness": [1.0], "effort": [1.0], "load": [1.0],
                                          "noise": [1.0], "energy": 0.0, "drift": None}),
        "control.margins": Call(control.margins, {"plant": PLANT,
                                                  "compensator": control.pid(1.0, derivative=1.0, lag=0.1)}),
        "control.delayed": Call(control.delayed, {"controller": LOOP, "calls": 1}),
        "control.quantised": Call(control.quantised, {"controller": LOOP, "steps": {"angle": 0.1}}),
        "control.rate_limited": Call(control.rate_limited, {"controller": LOOP, "rates": {"push": 1.0}}),
        "control.saturated": Call(control.saturated, {"controller": LOOP, "limits": {"push": 1.0}}),
        "control.Sampled": Call(control.Sampled, {"function": lambda time, see: {}, "period": 0.1, "sensors": {}}),
        "control.port_spring": Call(control.port_spring, {"stiffness": 1.0, "damping": 0.1, "width": 1, "name": "s"}),
        "interconnection.clamp": Call(interconnection.clamp, {"port": "a.left", "components": [0]}),
        "interconnection.tie": Call(interconnection.tie, {"components": None, "turn": None}, ("a.left", "b.left")),
        "interconnection.couple": Call(interconnection.couple, {"first": "a.left", "second": "b.left", "gain": 1.0,
                                                                "components": None, "gyroscopic": False}),
        "interconnection.substructure": Call(interconnection.substructure, {
            "blocks": blocks, "connections": [interconnection.tie("a.right", "b.left")], "keep": ("a.left",),
            "disconnected": False}),
        "interconnection.constrain": Call(interconnection.constrain, {"system": system, "rows": np.eye(4)[:1],
                                                                      "names": ("wall",)}),
        "interconnection.join": Call(interconnection.join, {}, (masses(), masses(("c", "d")))),
        "interconnection.transformer": Call(interconnection.transformer, {
            "first": masses(), "second": masses(("c", "d")), "ports": ("left", "c"), "coupling": [[2.0]]}),
        "interconnection.gyrator": Call(interconnection.gyrator, {
            "first": masses(), "second": masses(("c", "d")), "ports": ("left", "c"), "coupling": [[2.0]]}),
    }  # fmt: skip


def _laws() -> dict[str, Call]:
    examples = {
        "stiffness": 100.0, "second": 200.0, "beyond": 0.1, "play": 0.1, "side": "tension", "force": 50.0,
        "column": 0.2, "exponent": 1.4, "yield_force": 20.0, "damping": 5.0,
        "static": 60.0, "stribeck": 0.05, "viscous": 0.3,
        "longitudinal": 3e4, "lateral": 2e4, "limit": 500.0, "friction": None, "saturation": "cubic", "curvature": 0.5,
        "least_speed": 0.01, "lateral_spin": 30.0, "spin": 0.2,
        "strength": 10.0, "extension": [0.0, 0.1, 0.2], "shape": "linear",
    }  # fmt: skip
    special = {
        "table": {"force": [0.0, 1.0, 3.0]},
        "potential": {"energy": lambda x: x**4, "force": lambda x: 4.0 * x**3, "stiffness": lambda x: 12.0 * x**2},
        "force_law": {"function": lambda x, v, t: v},
        "scheduled": {"law": 100.0, "factor": lambda t: 1.0 + t},
        "controlled": {"law": 100.0},
        "bouc_wen": {"shape": 0.5},
        "magic_formula": {"shape": 1.3},
    }
    made = {"CreepLaw", "ElasticLaw", "ForceLaw", "HysteresisLaw", "Relation", "ScheduledRelation", "polynomial"}
    made |= {"coulomb", "viscous", "quadratic", "resistive"}  # among those of systems
    return from_signatures(flexph.laws, examples, special, prefix="laws.", skip=made) | {
        "laws.polynomial": Call(flexph.laws.polynomial, {}, (100.0, 0.0, 20.0)),
    }


def _sensors() -> dict[str, Call]:
    examples = {
        "port": "arm.root", "first": "arm.root", "second": GROUND, "origin": GROUND, "axis": None, "second_axis": None,
        "zero": 0.0, "direction": (1.0, 0.0), "body": "arm", "field": "stress", "at": (0.0, 0.0), "section": "root",
        "contact": "wall", "joint": "hinge", "on": "first", "frame": "world", "part": "total",
        "quantity": flexph.sensors.position("arm.root"),
    }  # fmt: skip
    special = {
        "distance": {"second": GROUND.at(0.0, 1.0)},
        "place_on_curve": {"joint": "point_on_curve bead.point–arm.root"},
    }
    return from_signatures(flexph.sensors, examples, special, prefix="sensors.", skip={"Quantity"})


def _analysis() -> dict[str, Call]:
    rolling = {"mass": np.eye(3), "constraints": lambda q: np.array([[-np.sin(q[2])], [np.cos(q[2])], [0.0]]),
               "potential": lambda q: 0.0, "gradient": lambda q: np.zeros(3),
               "sample": np.array([0.0, 0.0, 0.3])}  # fmt: skip
    structure = dirac.DiracStructure.from_skew(SKEW)
    return {
        "analyze": Call(flexph.analyze, {"system": oscillator(), "state": [1.0, 0.0], "inputs": {"force": 0.0},
                                         "time": 0.0}),
        "analysis.equilibrium": Call(analysis.equilibrium, {"system": oscillator(), "guess": [0.1, 0.0],
                                                            "inputs": None, "keep_casimirs": True}),
        "analysis.floquet": Call(analysis.floquet, {
            "mechanism": mechanism()[0], "about": mechanism()[0].equilibrium(mechanism()[1]), "period": 0.01,
            "steps": 1, "method": methods.Exact(), "inputs": {}}),
        "analysis.load_cycles": Call(analysis.load_cycles, {"values": [0.0, 2.0, -1.0], "times": [0.0, 1.0, 2.0],
                                                            "unit": "Pa"}),
        "analysis.limit_load": Call(analysis.limit_load, {
            "mechanism": mechanism()[0], "pose": mechanism()[1], "inputs": {}, "time": 0.0, "largest": 4.0}),
        "analysis.eliminate_index_one": Call(analysis.eliminate_index_one, {
            "J": SKEW, "Q": np.eye(2), "G": np.eye(2)[:, :1], "R": np.zeros((2, 2)), "g": np.eye(2)[:, :1]}),
        "analysis.KinematicSystem": Call(analysis.KinematicSystem, rolling),
        "analysis.change_chart": Call(analysis.change_chart, {
            "system": analysis.KinematicSystem(mass=np.eye(2), constraints=np.eye(2)[:, :1], potential=lambda q: 0.0,
                                               gradient=lambda q: np.zeros(2), sample=np.zeros(2)),
            "x": np.zeros(3)}),
        "analysis.eliminate_kinematics": Call(analysis.eliminate_kinematics, {
            "system": analysis.KinematicSystem(**rolling)}),
        "analysis.impasse_points": Call(analysis.impasse_points, {"system": oscillator(),
                                                                  "path": [[1.0, 0.0], [0.5, 0.0]], "inputs": None,
                                                                  "time": 0.0}),
        "analysis.turning_points": Call(analysis.turning_points, {"characteristic": lambda v: v**3 - v,
                                                                  "interval": (-1.0, 1.0), "count": 50}),
        "analysis.hidden_constraints": Call(analysis.hidden_constraints, {
            "J": SKEW, "gradient": lambda x: x, "slopes": lambda x: np.eye(2)[:1], "x": np.ones(2)}),
        "analysis.structure_of": Call(analysis.structure_of, {"system": oscillator(), "state": None,
                                                              "algebraic": False}),
        "analysis.sparsity_text": Call(analysis.sparsity_text, {"structure": structure}),
    }  # fmt: skip


def _studies() -> dict[str, Call]:
    """Studies in this process: executors and folders have tests of their own."""
    bounds = {"x": (1.0, 2.0), "y": (-1.0, 1.0)}
    return {
        "study": Call(flexph.study, {"function": product, "samples": {"x": [1.0, 2.0]}, "retries": 1,
                                     "units": {"z": "m"}, "jobs": 1, "progress": False}),
        "studies.optimise": Call(studies.optimise, {
            "function": product, "objective": "z", "bounds": {"x": (1.0, 2.0)}, "constraints": {"z": (1.5, None)},
            "start": {"x": 1.4}, "method": "SLSQP", "step": 1e-3, "most": 30, "tolerance": 0.01,
            "jobs": 1, "progress": False}),
        "studies.pole_sensitivities": Call(studies.pole_sensitivities, {
            "system": damped, "at": {"damping": 0.5}, "count": 2, "steps": {"damping": 1e-3}}),
        "studies.h2_sensitivities": Call(studies.h2_sensitivities, {
            "system": damped, "at": {"damping": 0.5}, "steps": {"damping": 1e-3}}),
        "studies.hinf_sensitivities": Call(studies.hinf_sensitivities, {
            "system": damped, "at": {"damping": 0.5}, "steps": {"damping": 1e-3}}),
        "studies.multiplier_sensitivities": Call(studies.multiplier_sensitivities, {
            "motion": hanging, "at": {"length": 0.5}, "count": 1, "per_period": 1, "method": methods.Exact(),
            "steps": {"length": 1e-3}}),
        "studies.buckling_sensitivities": Call(studies.buckling_sensitivities, {
            "loaded": pressed, "at": {"factor": 1.0}, "steps": {"factor": 1e-3}}),
        "studies.fit": Call(studies.fit, {
            "function": product, "measured": {"z": 1.5, "w": [1.4, 1.6]}, "start": {"x": 1.0},
            "bounds": {"x": (0.5, 2.5)}, "deviations": {"z": 0.1, "w": 0.2}, "step": 1e-4, "tolerance": 1e-6,
            "most": 20}),
        "studies.sensitivities": Call(studies.sensitivities, {
            "function": product, "at": {"x": 1.0, "y": 2.0}, "steps": {"x": 1e-3, "y": 1e-3}}),
        "studies.frequency_sensitivities": Call(studies.frequency_sensitivities, {
            "system": stiffened, "at": {"stiffness": 2.0}, "count": 2, "steps": 1e-3}),
        "gradients.gradient": Call(gradients.gradient, {
            "make": swung, "parameters": {"length": 0.5}, "times": [0.0, 0.01, 0.02],
            "functional": gradients.Last(sensors.position("bar.tip"), 1), "progress": False}),
        "gradients.gradients": Call(gradients.gradients, {
            "make": swung, "parameters": {"length": 0.5}, "times": [0.0, 0.01, 0.02],
            "functionals": {"end": gradients.Last(sensors.position("bar.tip"), 1)}, "progress": False}),
        "gradients.forward_sensitivities": Call(gradients.forward_sensitivities, {
            "make": swung, "parameters": {"length": 0.5}, "times": [0.0, 0.01, 0.02],
            "sensors": {"tip": sensors.position("bar.tip")}, "progress": False}),
        "gradients.Responses": Call(gradients.Responses, {
            "make": swung, "times": [0.0, 0.01, 0.02], "values": {"tip": sensors.position("bar.tip")}}),
        "gradients.Increase": Call(gradients.Increase, {"quantity": sensors.position("bar.tip"), "component": 1}),
        "gradients.Peak": Call(gradients.Peak, {
            "quantity": sensors.position("bar.tip"), "component": 1, "margin": 0.1, "side": "size"}),
        "gradients.optimal_control": Call(gradients.optimal_control, {
            "make": motorised, "times": [0.0, 0.05, 0.1], "inputs": {"motor": ([0.0, 0.1], [0.0, 0.0])},
            "cost": gradients.MeanSquare(sensors.joint_angle("bar.root")), "effort": {"motor": 1.0},
            "ends": {"angle": (sensors.joint_angle("bar.root"), 0.01)},
            "limits": {"high": (gradients.Last(sensors.joint_angle("bar.root")), None, 1.0)},
            "bounds": {"motor": (-10.0, 10.0)}, "parameters": {"length": 0.5},
            "duration": gradients.Duration(0.05, 0.2), "shooting": None, "method": None, "tolerance": 1e-4,
            "most": 20}),
        "gradients.InteriorPoint": Call(gradients.InteriorPoint, {
            "tolerance": 1e-6, "memory": 10, "barrier": 0.1, "most": 100}),
        "gradients.Duration": Call(gradients.Duration, {"shortest": 0.5, "longest": 2.0, "weight": 1.0}),
        "gradients.MultipleShooting": Call(gradients.MultipleShooting, {"segments": 4, "guess": None}),
        "gradients.Last": Call(gradients.Last, {"quantity": sensors.position("bar.tip"), "component": 1}),
        "gradients.Integral": Call(gradients.Integral, {"quantity": sensors.position("bar.tip"), "component": 1}),
        "gradients.MeanSquare": Call(gradients.MeanSquare, {
            "quantity": sensors.position("bar.tip"), "component": 1, "target": 0.1}),
        "studies.Samples": Call(studies.Samples, {"columns": {"x": [1.0, 2.0]}, "is_grid": True}),
        "studies.grid": Call(studies.grid, {"values": {"x": [1.0, 2.0]}}),
        "studies.table": Call(studies.table, {"rows": [{"x": 1.0}, {"x": 2.0}]}),
        "studies.latin_hypercube": Call(studies.latin_hypercube, {"count": 2, "bounds": bounds, "seed": 1}),
        "studies.sobol": Call(studies.sobol, {"count": 2, "bounds": bounds, "seed": 1}),
    }  # fmt: skip


def _models() -> dict[str, Call]:
    """Model files; what may stand in them has fuzzing of its own."""
    file = models.load_model(FOLDER / "four-bar.yaml")
    setting = {"bodies.crank.elements": 2}
    return {
        "models.load_model": Call(models.load_model, {"trust": False, "settings": setting},
                                  (FOLDER / "four-bar.yaml",)),
        "models.to_model": Call(models.to_model, {"mechanism": file.mechanism, "folder": None}),
        "models.write_model": Call(models.write_model, {"mechanism": file.mechanism}, (scratch("model.yaml"),)),
        "ModelFile.with_settings": Call(file.with_settings, {"settings": setting}),
        "ModelFile.run": Call(file.run, {"name": "frequencies", "progress": False}),
    }  # fmt: skip


def product(x: float, y: float = 1.0) -> dict[str, float]:
    """A function that studies take."""
    return {"z": x * y, "w": [x * y, x + y - 1.0]}


def stiffened(stiffness: float) -> LinearPHDAE:
    """Masses on springs, one of them of this stiffness."""
    plain = masses()
    return LinearPHDAE(E=np.diag([1.0, 1.0, 1.0, 1.0 / stiffness]), J=plain.J, kinetic=plain.kinetic)


def _circuits() -> dict[str, Call]:
    elements = {"V": circuits.voltage_source("a", "gnd"), "R": circuits.resistor("a", "b", 1.0),
                "C": circuits.capacitor("b", "gnd", 1e-3), "L": circuits.inductor("b", "gnd", 1e-3)}  # fmt: skip
    rc = circuits.circuit(elements)
    ends = {"plus": "a", "minus": "gnd"}
    pairs = {"first": ("a", "gnd"), "second": ("b", "gnd")}
    diodes = circuits.circuit({"L": circuits.inductor("a", "gnd", 1.0), "C": circuits.capacitor("b", "gnd", 1.0),
                               "D": circuits.diode("a", "b")})  # fmt: skip
    state = {"voltages": {"C": 1.0}, "currents": {"L": 0.0}}
    return {
        "circuits.capacitor": Call(circuits.capacitor, ends | {"law": 1e-3}),
        "circuits.inductor": Call(circuits.inductor, ends | {"law": 1e-3}),
        "circuits.resistor": Call(circuits.resistor, ends | {"law": 1.0, "control": None}),
        "circuits.voltage_source": Call(circuits.voltage_source, ends | {"value": lambda t: 1.0}),
        "circuits.current_source": Call(circuits.current_source, ends | {"value": 1.0}),
        "circuits.terminals": Call(circuits.terminals, ends),
        "circuits.diode": Call(circuits.diode, {"anode": "a", "cathode": "b"}),
        "circuits.switch": Call(circuits.switch, ends | {"closed": circuits.Pulse(1.0, 0.5)}),
        "circuits.transformer": Call(circuits.transformer, pairs | {"ratio": 2.0}),
        "circuits.gyrator": Call(circuits.gyrator, pairs | {"resistance": 2.0}),
        "circuits.linear_energy": Call(circuits.linear_energy, {"capacity": 1.0}),
        "circuits.Energy": Call(circuits.Energy, {"value": lambda s: s**2 / 2, "slope": lambda s: s,
                                                  "curvature": lambda s: 1.0, "scale": 1.0, "capacity": None}),
        "circuits.Pulse": Call(circuits.Pulse, {"period": 1.0, "duty": 0.5, "start": 0.0}),
        "circuits.circuit": Call(circuits.circuit, {"elements": elements, "ground": "gnd"}),
        "circuits.Circuit": Call(circuits.Circuit, {"elements": elements, "ground": "gnd", "positions": {}}),
        "Circuit.phdae": Call(rc.phdae, {"form": "tree"}),
        "Circuit.state": Call(rc.state, state | {"time": 0.0, "inputs": {"V": 1.0}}),
        "Circuit.stored": Call(rc.stored, state | {"system": rc.phdae()}),
        "Circuit.switching": Call(diodes.switching, {"inputs": None, "positions": None}),
        "Circuit.voltages": Call(rc.voltages, {"states": rc.state(**state, inputs={"V": 1.0}), "inputs": {"V": 1.0}}),
        "Circuit.currents": Call(rc.currents, {"states": rc.state(**state, inputs={"V": 1.0}), "inputs": {"V": 1.0}}),
        "Circuit.potentials": Call(rc.potentials, {"states": rc.state(**state, inputs={"V": 1.0}),
                                                   "inputs": {"V": 1.0}}),
    }  # fmt: skip


def _dirac() -> dict[str, Call]:
    D = dirac.DiracStructure.from_skew(SKEW, {"a": slice(0, 1), "b": slice(1, 2)})
    other = dirac.DiracStructure.from_skew(SKEW, {"b": slice(0, 1), "c": slice(1, 2)})
    ports = {"a": slice(0, 1), "b": slice(1, 2)}
    given = {"structure": D, "H": lambda x: float(x @ x) / 2, "gradient": lambda x: x, "sample": np.ones(1),
             "hessian": lambda x: np.eye(1), "storage": ("a",), "resistive": {"b": 1.0}}  # fmt: skip
    system = dirac.PortHamiltonian(**given | {"resistive": {}})
    regular = dirac.PortHamiltonian(**given | {"resistive": {}, "sample": np.ones(2), "storage": ("s",),
                                               "hessian": None, "structure": dirac.DiracStructure.from_hybrid(
        np.array([[0.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]), [False, False, True],
        {"s": slice(0, 2), "u": slice(2, 3)})})  # fmt: skip
    twin = dirac.PortHamiltonian(**given | {"resistive": {}, "structure": dirac.DiracStructure.from_skew(
        SKEW, {"s": slice(0, 1), "b": slice(1, 2)}), "storage": ("s",)})  # fmt: skip
    iso = {"J": SKEW, "g": np.eye(2)[:, :1], "H": lambda x: float(x @ x) / 2, "gradient": lambda x: x,
           "sample": np.ones(2), "R": np.eye(2)}  # fmt: skip
    modulated = dirac.ModulatedDirac(
        at=lambda x: dirac.DiracStructure.from_skew(SKEW, {"s": slice(0, 2)}), sample=np.ones(2)
    )
    S = dirac.DiracStructure
    relations = (flexph.laws.viscous(1.0), flexph.laws.viscous(2.0))
    function = lambda x: x  # noqa: E731
    return {
        "dirac.DiracStructure": Call(S, {"F": np.eye(2), "E": SKEW, "ports": ports}),
        "DiracStructure.from_skew": Call(S.from_skew, {"J": SKEW, "ports": ports}),
        "DiracStructure.from_image": Call(S.from_image, {"flows": SKEW, "efforts": np.eye(2), "ports": ports}),
        "DiracStructure.from_presymplectic": Call(S.from_presymplectic, {"omega": SKEW, "ports": ports}),
        "DiracStructure.from_constrained": Call(S.from_constrained, {"J": SKEW, "G": np.eye(2)[:, :1],
                                                                     "ports": ports}),
        "DiracStructure.from_hybrid": Call(S.from_hybrid, {"J": SKEW, "flow_inputs": [True, False], "ports": ports}),
        "DiracStructure.contains": Call(D.contains, {"flows": np.zeros(2), "efforts": np.zeros(2),
                                                     "tolerance": 1e-10}),
        "DiracStructure.defect": Call(D.defect, {"flows": np.zeros(2), "efforts": np.zeros(2)}),
        "DiracStructure.constrained": Call(D.constrained, {"rows": np.eye(2)[:1]}),
        "DiracStructure.closed": Call(D.closed, {"flows": ("a",), "efforts": ()}),
        "DiracStructure.hybrid": Call(D.hybrid, {"flow_inputs": ("a", "b")}),
        "DiracStructure.distance": Call(D.distance, {"other": D}),
        "DiracStructure.equals": Call(D.equals, {"other": D, "tolerance": 1e-10}),
        "dirac.compose": Call(dirac.compose, {"first": D, "second": other, "ports": None, "gyrative": False}),
        "dirac.product": Call(dirac.product, {}, (D,)),
        "dirac.common_effort": Call(dirac.common_effort, {"ports": ("a", "b"), "size": 1}),
        "dirac.common_flow": Call(dirac.common_flow, {"ports": ("a", "b"), "size": 1}),
        "dirac.feedback_structure": Call(dirac.feedback_structure, {
            "ports": (("a", "b")), "size": 1}),
        "dirac.gyrator_structure": Call(dirac.gyrator_structure, {"ports": ("a", "b"), "coupling": [[2.0]]}),
        "dirac.symplectic_gyrator": Call(dirac.symplectic_gyrator, {"ports": ("a", "b"), "size": 1}),
        "dirac.transformer_structure": Call(dirac.transformer_structure, {"ports": ("a", "b"), "coupling": [[2.0]]}),
        "dirac.kirchhoff": Call(dirac.kirchhoff, {"incidence": [[1.0, -1.0], [-1.0, 1.0]], "names": ("a", "b")}),
        "dirac.regularity": Call(dirac.regularity, {"structure": lambda x: D, "points": [[0.0], [1.0]]}),
        "dirac.PortHamiltonian": Call(dirac.PortHamiltonian, given),
        "PortHamiltonian.kernel_form": Call(system.kernel_form, {"x": np.ones(1)}),
        "PortHamiltonian.constrained_form": Call(regular.constrained_form, {"x": np.ones(2)}),
        "dirac.interconnect": Call(dirac.interconnect, {"first": system, "second": twin, "ports": None,
                                                        "gyrative": False}),
        "dirac.input_state_output": Call(dirac.input_state_output, {"system": regular}),
        "dirac.InputStateOutput": Call(dirac.InputStateOutput, iso),
        "dirac.ModulatedDirac": Call(dirac.ModulatedDirac, {"at": lambda x: D, "sample": np.ones(2), "storage": ()}),
        "dirac.integrability": Call(dirac.integrability, {"structure": modulated, "x": np.ones(2), "slopes": None}),
        "dirac.closedness": Call(dirac.closedness, {"omega": lambda x: SKEW, "x": np.ones(2), "slopes": None}),
        "dirac.jacobi_identity": Call(dirac.jacobi_identity, {"J": lambda x: SKEW, "x": np.ones(2), "slopes": None}),
        "dirac.Characteristic": Call(dirac.Characteristic, {"relations": relations, "controlled": "effort"}),
        "dirac.MultiportCharacteristic": Call(dirac.MultiportCharacteristic, {
            "entries": 2, "function": function, "slope": lambda e: np.eye(2), "scale": 1.0, "controlled": "effort"}),
        "dirac.LinearResistance": Call(dirac.LinearResistance, {"flow": np.eye(2), "effort": np.eye(2)}),
        "LinearResistance.of_efforts": Call(dirac.LinearResistance.of_efforts, {"resistance": np.eye(2)}),
        "LinearResistance.of_flows": Call(dirac.LinearResistance.of_flows, {"resistance": np.eye(2)}),
        "dirac.ModulatedResistance": Call(dirac.ModulatedResistance, {
            "at": lambda x: dirac.LinearResistance.of_efforts(np.eye(2)), "sample": np.ones(2)}),
        "dirac.LagrangianSubspace": Call(dirac.LagrangianSubspace, {"P": np.eye(2), "S": np.eye(2)}),
        "dirac.LagrangianStorage": Call(dirac.LagrangianStorage, {
            "states": function, "descriptor": np.eye(2), "efforts": function, "H": lambda x: float(x @ x) / 2}),
        "LagrangianStorage.of_energy": Call(dirac.LagrangianStorage.of_energy, {
            "H": lambda x: float(x @ x) / 2, "gradient": function, "size": 2}),
        "dirac.CanonicalCoordinates": Call(dirac.CanonicalCoordinates, {
            "map": function, "inverse": function, "pairs": 1, "fixed": 0, "free": 0}),
        "dirac.CanonicalForm": Call(dirac.CanonicalForm, {"basis": np.eye(2), "pairs": 1, "fixed": 0, "free": 0}),
        "dirac.holonomic_coordinates": Call(dirac.holonomic_coordinates, {
            "constraints": lambda q: q[:1], "jacobian": lambda q: np.eye(2)[:1], "sample": np.array([0.0, 1.0])}),
    }  # fmt: skip


def _descriptor() -> dict[str, Call]:
    E = lambda x: np.diag([1.0, 0.0])  # noqa: E731
    system = PHDAE(E=np.diag([1.0, 0.0]), J=SKEW, R=np.eye(2), z=lambda x: x, H=lambda x: x[0] ** 2 / 2,
                   sample=np.array([1.0, -1.0]))  # fmt: skip
    return {
        "descriptor.decompose": Call(descriptor.decompose, {"matrix": E, "reference": np.ones(2)}),
        "descriptor.echelon": Call(descriptor.echelon, {"matrix": E, "reference": np.ones(2)}),
        "descriptor.canonical_form": Call(descriptor.canonical_form, {
            "system": system, "functions": lambda x: x[:1], "jacobian": lambda x: np.eye(2)[:1]}),
    }  # fmt: skip


def _switching() -> dict[str, Call]:
    function = lambda t, x: x[0] - 10.0  # noqa: E731
    two = {"modes": {"on": oscillator(), "off": oscillator()}, "limit": 100,
           "transitions": [switching.Transition(source="on", target="off", when=switching.Every(0.01))]}  # fmt: skip
    system = switching.SwitchingPHDAE(**two)
    return {
        "switching.At": Call(switching.At, {"times": [0.1, 0.2]}),
        "switching.Every": Call(switching.Every, {"period": 0.1, "first": 0.0}),
        "switching.Guard": Call(switching.Guard, {"function": function, "direction": 1}),
        "switching.Reset": Call(switching.Reset, {"function": lambda t, x: x, "keeps": {"q": lambda x: x[0]}}),
        "switching.Mode": Call(switching.Mode, {"system": oscillator(), "valid": {"v": function}, "candidates": ()}),
        "switching.Transition": Call(switching.Transition, {"source": "on", "target": "off", "when": function,
                                                            "reset": None, "condition": None, "name": "t"}),
        "switching.SwitchingPHDAE": Call(switching.SwitchingPHDAE, two),
        "SwitchingPHDAE.system": Call(system.system, {"mode": "on"}),
        "SwitchingPHDAE.following": Call(system.following, {"mode": "on"}),
        "integrate a switching system": Call(flexph.integrate, {
            "system": system, "start": (1.0, 0.0), "times": TIMES, "method": None, "inputs": {"force": 1.0},
            "observe": None, "save_every": 1, "progress": False, "mode": "on"}),
    }  # fmt: skip


def _rigid() -> dict[str, Call]:
    matrix, map_ = np.array([[1.0], [0.0]]), rigid.PositionMap(lambda z: z[:1], lambda z: np.array([[1.0, 0.0]]))
    plain = {"mass": np.eye(2), "sample": np.zeros(2), "ports": {"push": rigid.ExternalPort(matrix, map_)}}
    system = rigid.MultibodySystem(**plain)
    motion = {"positions": [0.0, 0.0], "velocities": [1.0, 0.0]}
    ends = {"first": "a", "second": "b"}
    free = {"mass": 1.0, "inertia": 0.1, "centre": (0.1, 0.0), "about": (0.1, 0.0), "orientation": rigid.angle(),
            "gravity": (0.0, -9.81), "ports": {"tip": (0.5, 0.0)}, "constraints": {}, "dampers": {}}  # fmt: skip
    return {
        "rigid.MultibodySystem": Call(rigid.MultibodySystem, plain | {
            "kinematics": None, "gyroscopic": None, "potential": None, "constraints": (), "velocity_constraints": (),
            "dissipation": (), "parts": {"x": slice(0, 2)}, "velocity_parts": {}}),
        "MultibodySystem.phdae": Call(system.phdae, {"start": None}),
        "MultibodySystem.state": Call(system.state, motion | {"inputs": {"push": 1.0}, "time": 0.0}),
        "MultibodySystem.nearest": Call(system.nearest, motion),
        "MultibodySystem.accelerations": Call(system.accelerations, motion | {"inputs": {"push": 1.0}, "time": 0.0}),
        "MultibodySystem.split": Call(system.split, {"x": np.zeros(4)}),
        "rigid.free_body": Call(rigid.free_body, free),
        "rigid.pivoted_body": Call(rigid.pivoted_body, {"inertia": 0.1, "mass": 1.0, "centre": (0.1, 0.0),
                                                        "gravity": (0.0, -9.81), "ports": {"tip": (0.5, 0.0)}}),
        "rigid.point_masses": Call(rigid.point_masses, {
            "masses": {"a": 1.0, "b": 1.0}, "positions": [[0.0, 0.0], [1.0, 0.0]], "gravity": (0.0, -9.81),
            "rods": [rigid.Rod("a", "b", 1.0)], "springs": (), "dashpots": ()}),
        "rigid.particle_system": Call(rigid.particle_system, {
            "masses": {"a": 1.0, "b": 2.0}, "positions": np.array([[1.0, 0.0], [2.0, 0.0]]),
            "velocities": np.zeros((2, 2)), "gravity": np.array([0.0, -9.81]), "rods": [rigid.Rod("a", "b", 1.0)],
            "springs": [], "dashpots": [], "ports": {"push": "a"}}),
        "rigid.Rod": Call(rigid.Rod, ends | {"length": 1.0, "name": "rod"}),
        "rigid.Spring": Call(rigid.Spring, ends | {"energy": lambda r: r**2, "force": lambda r: 2 * r, "name": "s"}),
        "Spring.linear": Call(rigid.Spring.linear, ends | {"stiffness": 1.0, "length": 1.0, "hardening": 1.0,
                                                           "name": "s"}),
        "Spring.of_square": Call(rigid.Spring.of_square, ends | {"stiffness": 1.0, "length": 1.0, "name": "s"}),
        "rigid.Drag": Call(rigid.Drag, ends | {"coefficient": 0.1, "growth": 0.5, "name": "d"}),
        "rigid.Dashpot": Call(rigid.Dashpot, ends | {"relation": flexph.laws.viscous(0.1), "name": "d"}),
        "rigid.Damper": Call(rigid.Damper, {"name": "d", "directions": matrix, "relation": laws.viscous(0.1)}),
        "rigid.Differentiable": Call(rigid.Differentiable, {"value": lambda z: z, "slopes": lambda z: np.eye(2)}),
        "rigid.Dissipation": Call(rigid.Dissipation, {"name": "d", "force": lambda z, w: w}),
        "rigid.ExternalPort": Call(rigid.ExternalPort, {"matrix": matrix, "position": map_}),
        "rigid.Potential": Call(rigid.Potential, {"energy": lambda z: 0.0, "gradient": lambda z: 0 * z}),
        "rigid.PositionMap": Call(rigid.PositionMap, {"value": lambda z: z, "jacobian": lambda z: np.eye(2),
                                                      "terms": ()}),
        "rigid.interconnect": Call(rigid.interconnect, {"systems": {"a": system, "b": system},
                                                        "couplings": [("a.push", "b.push")], "sample": None}),
        "rigid.resolve": Call(rigid.resolve, {"system": system, "basis": np.eye(2), "derivative": None,
                                              "velocity_parts": None}),
        "rigid.dirac_structure": Call(rigid.dirac_structure, {"system": system, "zeta": np.zeros(2),
                                                              "momenta": np.zeros(2)}),
        "rigid.port_hamiltonian": Call(rigid.port_hamiltonian, {"system": system, "zeta": None, "momenta": None}),
        "rigid.lagrangian_submanifold": Call(rigid.lagrangian_submanifold, {"system": system}),
        "rigid.resistive_relation": Call(rigid.resistive_relation, {"system": system, "zeta": np.zeros(2)}),
    }  # fmt: skip


def _rigid_constraints() -> dict[str, Call]:
    point, axis, three = (0.1, 0.0), (1.0, 0.0), (0.0, 0.0, 1.0)
    quaternion = rigid.quaternion()
    return {
        "rigid.Force": Call(rigid.Force, {"at": point, "along": axis, "axes": "world"}),
        "rigid.Torque": Call(rigid.Torque, {"about": None, "axes": "world"}),
        "rigid.Frame": Call(rigid.Frame, {"at": point}),
        "rigid.Gimbal": Call(rigid.Gimbal, {"angle": 0, "sequence": "xyz"}),
        "rigid.KnifeEdge": Call(rigid.KnifeEdge, {"at": point, "across": axis}),
        "rigid.OnLine": Call(rigid.OnLine, {"at": point, "along": axis, "through": None}),
        "rigid.OnPlane": Call(rigid.OnPlane, {"at": three, "normal": three, "through": None}),
        "rigid.Pinned": Call(rigid.Pinned, {"at": point, "to": axis}),
        "rigid.Rolling": Call(rigid.Rolling, {"radius": 0.1, "at": three, "normal": three, "axis": None,
                                              "through": None}),
        "rigid.PositionConstraint": Call(rigid.PositionConstraint, {"name": "c", "map": rigid.PositionMap(
            lambda z: z, lambda z: np.eye(2))}),
        "rigid.VelocityConstraint": Call(rigid.VelocityConstraint, {"name": "c", "matrix": np.eye(2)[:1],
                                                                    "position": None, "closed": False}),
        "rigid.angles": Call(rigid.angles, {"sequence": "xyz"}),
        "Orientation.coordinates": Call(quaternion.coordinates, {"rotation": np.eye(3)}),
        "Orientation.pose": Call(quaternion.pose, {"position": np.zeros(3), "rotation": np.eye(3)}),
    }  # fmt: skip


def _results() -> dict[str, Call]:
    made, pose, state = mechanism()
    solution, modes = run(), flexph.modes(flexph.eliminate(made.linearize(made.equilibrium(pose))), 2)
    return {
        "Solution.measured": Call(solution.measured, {"quantity": flexph.sensors.velocity("arm.root")}),
        "Solution.reaction": Call(solution.reaction, {"joint": "hinge arm.root–GROUND", "on": "first",
                                                        "frame": "world"}),
        "Solution.item": Call(lambda name: solution[name], {"name": "arm.centre"}),
        "results.static_solution": Call(results.static_solution, {"mechanism": made, "state": state}),
        "export.write_series": Call(export.write_series, {"path": scratch("run.pvd"), "solution": solution,
                                                          "bodies": ("arm",), "frames": 2, "discontinuous": False,
                                                          "smoothed": False}),
        "export.write_modes": Call(export.write_modes, {"path": scratch("modes.vtu"), "mechanism": made, "about": pose,
                                                        "modes": modes}),
        "scenes.motion_scene": Call(scenes.motion_scene, {"solution": solution, "frames": 3, "scale": 2.0,
                                                          "forces": True}),
        "scenes.mode_scene": Call(scenes.mode_scene, {"mechanism": made, "about": pose, "modes": modes, "frames": 4,
                                                      "scale": 0.1}),
        "scenes.write_scene": Call(scenes.write_scene, {"path": scratch("scene.vtkhdf"),
                                                        "scene": scenes.pose_scene(made, pose)}),
        "scenes.pose_scene": Call(scenes.pose_scene, {"mechanism": made, "about": pose}),
        "drawing.box_shape": Call(drawing.box_shape, {"size": (1.0, 2.0, 3.0), "centre": (0.0, 0.0, 0.0)}),
        "drawing.sphere_shape": Call(drawing.sphere_shape, {"radius": 1.0, "centre": (0.0, 0.0, 0.0)}),
        "Ledger.kind": Call(solution.ledger.kind, {"word": "elastic"}),
    }  # fmt: skip


def _exchange() -> dict[str, Call]:
    from scipy import signal

    system = masses()
    model = signal.StateSpace(np.array([[0.0, 1.0], [-1.0, -1.0]]), np.eye(2)[:, 1:], np.eye(2)[1:], np.zeros((1, 1)))
    return {
        "exchange.from_general": Call(exchange.from_general, {
            "E": np.eye(2), "J": SKEW, "R": np.zeros((2, 2)), "B": np.eye(2)[:, :1], "Q": np.eye(2)}),
        "exchange.from_scipy": Call(exchange.from_scipy, {"model": model, "energy": None, "ports": None}),
        "exchange.to_scipy": Call(exchange.to_scipy, {"system": system}),
        "exchange.from_control": Call(exchange.from_control, {"model": exchange.to_control(system), "energy": None,
                                                              "ports": None}),
        "exchange.to_control": Call(exchange.to_control, {"system": system}),
        "exchange.to_abaqus": Call(exchange.to_abaqus, {
            "path": scratch("rod.inp"), "body": fem.beam(0.3, STEEL, SQUARE, elements=1, dim=3), "ports": ("root",),
            "name": "ROD"}),
        "exchange.write_mat": Call(exchange.write_mat, {"path": scratch("system.mat"), "system": system,
                                                        "multipliers": False}),
        "exchange.write_matrix_market": Call(exchange.write_matrix_market, {"folder": scratch("system"),
                                                                            "system": system}),
    }  # fmt: skip
