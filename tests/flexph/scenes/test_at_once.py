"""Single states are drawn many parts at once: the points and fields of parts that are drawn one by one."""

from itertools import pairwise

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge, spherical, spring_damper
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.numerics.rotations import from_entries
from flexph.scenes.of_motion import Drawing
from flexph.scenes.stresses import Rows

STEEL = fem.Material(young=2e11, density=7800.0, poisson=0.3)


def chain():
    """Bars that share a model, a thinner one, and a rigid one, with hinges between all of them and a spring."""
    bar, thin = (fem.beam(1.0, STEEL, fem.Section(width=0.02, height=height), elements=2) for height in (0.02, 0.01))
    bodies = {"a": bar, "b": bar, "c": bar, "thin": thin, "e": bar, "f": rigid.bar(1.0, 1.0), "g": rigid.bar(1.0, 2.0)}
    names = list(bodies)
    joints = [hinge(f"{one}.tip", f"{two}.root") for one, two in pairwise(names)]
    return connect(
        bodies, [hinge("a.root", GROUND), *joints, spring_damper("g.tip", GROUND.at(7.0, 1.0), stiffness=1.0)]
    )


def rods():
    """Rods that share a model, in space."""
    section = fem.RodSection(
        axial=1e4, shear=(1e4,) * 2, torsion=5.0, bending=(5.0,) * 2, mass=1.0, inertia=(0.2, 0.1, 0.1)
    )
    rod = fem.rod(1.0, None, section, elements=3)
    joints = [spherical("a.root", GROUND), spherical("a.tip", "b.root"), spherical("b.tip", "c.root")]
    return connect({"a": rod, "b": rod, "c": rod}, joints)


def discs():
    """Rigid discs of different sizes above a plane."""
    radii = {"one": 0.1, "two": 0.2, "three": 0.3}
    bodies = {name: rigid.body(1.0, inertia=r, ports={"centre": (0.0, 0.0)}) for name, r in radii.items()}
    spheres = [Sphere(f"{name}.centre", r) for name, r in radii.items()]
    return connect(bodies, [contact(spheres, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(), name="plane")])


def any_state(mechanism, rng):
    """State with random places, rotations, deformations and stresses; joints do not hold."""
    x, dim = np.zeros(mechanism.layout.size), mechanism.layout.dim
    for name, where in mechanism.layout.parts.items():
        x[where] = rng.standard_normal(x[where].size)
        if name.endswith(".rotation"):
            entries = x[where].reshape(-1, 2 if dim == 2 else 9)
            entries[:] = turned(rng, len(entries), dim)
    return x


def turned(rng, count, dim):
    """Entries of random rotations."""
    if dim == 2:
        angles = rng.uniform(0.0, 6.0, count)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.linalg.qr(rng.standard_normal((count, 3, 3)))[0].reshape(count, 9)


@pytest.mark.parametrize("of", [chain, rods, discs], ids=lambda of: of.__name__)
@pytest.mark.parametrize("scalable", [True, False])
def test_parts_at_once_are_those_one_by_one(of, scalable):
    mechanism, rng = of(), np.random.default_rng(4)
    first, second = (any_state(mechanism, rng) for _ in range(2))
    drawing, time = Drawing(Rows(mechanism, first[None])), np.zeros(1)
    drawing.scene(Rows(mechanism, first[None]), time)
    apart = drawing.scene(Rows(mechanism, second[None]), time, scalable=scalable)  # has the plan of those that follow
    scene = drawing.scene(Rows(mechanism, second[None]), time, scalable=scalable)
    assert [part.name for part in scene.parts] == [part.name for part in apart.parts]
    for own, other in zip(scene.parts, apart.parts, strict=True):
        assert own.kind == other.kind
        assert np.array_equal(own.cells, other.cells)
        assert np.abs(own.points[0] - other.points[0]).max() < 1e-13  # round-off of sums of some numbers near 1
        assert own.deformation.shape[1:] == other.deformation.shape[1:]
        assert np.abs(own.deformation[0] - other.deformation[0]).max(initial=0.0) < 1e-13
        assert list(own.point_fields) == list(other.point_fields)
        for name, field in own.point_fields.items():
            values = other.point_fields[name].values[0]
            assert np.abs(field.values[0] - values).max() <= 1e-12 * np.abs(values).max()


def test_rotations_of_the_states_here_are_rotations():
    rng = np.random.default_rng(0)
    for dim in (2, 3):
        R = from_entries(turned(rng, 5, dim), dim)
        np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(dim), R.shape), atol=1e-14)
