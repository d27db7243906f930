"""A plate with a hole in tension: the stress at the hole is three times that far away (Kirsch)."""

import meshio
import numpy as np
import pytest

import fem
from flexph import GROUND, connect, distributed_load, weld
from flexph.bodies import energy_norm, peak_von_mises, stress_error, tensors, von_mises
from flexph.results import static_solution

FAR = 20.0  # half a side of the plate over the radius of the hole
STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)


def plate(around, outwards, growth=80.0):
    """Quadrilaterals with curved sides (quad8) from a circle of radius 1 to a square, finer towards the circle."""
    angle = 2.0 * np.pi * np.arange(2 * around) / (2 * around)
    way = (growth ** (np.arange(2 * outwards + 1) / (2 * outwards)) - 1.0) / (growth - 1.0)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    square = FAR * circle / np.abs(circle).max(axis=1, keepdims=True)
    points = circle[None] + way[:, None, None] * (square - circle)[None]
    index = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    take = lambda i, j: np.roll(index, -j, axis=1)[i : 2 * outwards - 1 + i : 2, ::2][:outwards].ravel()  # noqa: E731
    order = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1)]
    cells = np.column_stack([take(i, j) for i, j in order])
    flat = points.reshape(-1, 2)
    ends = {"left": np.flatnonzero(flat[:, 0] < 1e-9 - FAR), "right": np.flatnonzero(flat[:, 0] > FAR - 1e-9)}
    return meshio.Mesh(np.pad(flat, [(0, 0), (0, 1)]), [("quad8", cells)], point_sets=ends)


def pulled(around, outwards):
    """The plate in equilibrium under unit traction at both ends: its body and its stresses."""
    body = fem.solid(
        plate(around, outwards),
        STEEL,
        plane="stress",
        thickness=0.1,
        ports={"held": fem.Tie("left", "mean")},
        reference="held",
        loads={"left": "left", "right": "right"},
    )
    mechanism = connect({"p": body}, [weld("p.held", GROUND), distributed_load("p.left"), distributed_load("p.right")])
    pose = mechanism.assemble({"p": (0.0, 0.0, 0.0)})
    inputs = {"load p.left": np.array([-1.0, 0.0]), "load p.right": np.array([1.0, 0.0])}
    state = mechanism.equilibrium(pose, inputs=inputs)
    return body, static_solution(mechanism, state)["p.stress"][0]


def kirsch(x):
    """Stresses (xx, yy, xy) around a hole of radius 1 in an infinite plate under unit tension along x."""
    r, t = np.linalg.norm(x, axis=1), np.arctan2(x[:, 1], x[:, 0])
    a, b = 1.0 / r**2, 1.0 / r**4
    c2, c4, s2, s4 = np.cos(2 * t), np.cos(4 * t), np.sin(2 * t), np.sin(4 * t)
    xx = 1.0 - a * (1.5 * c2 + c4) + 1.5 * b * c4
    yy = -a * (0.5 * c2 - c4) - 1.5 * b * c4
    xy = -a * (0.5 * s2 + s4) + 1.5 * b * s4
    return np.column_stack([xx, yy, xy])


def test_a_hole_triples_the_stress():
    body, sigma = pulled(24, 10)
    field = body.view.tensors["stress"]
    stress = tensors(field.at, sigma)
    assert stress[:, 0].max() == pytest.approx(3.0, rel=0.03)  # at the point of the stresses next to the hole
    assert stress[:, 1].min() == pytest.approx(-1.0, rel=0.06)  # compression across, ahead of and behind the hole
    top = field.positions[np.argmax(stress[:, 0])]
    assert abs(top[0]) < 0.15 and 1.0 < abs(top[1]) < 1.05
    near = np.linalg.norm(field.positions, axis=1) < 3.0
    exact = kirsch(field.positions[near])
    # the plate is 20 radii wide, which adds (radius/width)² of the stress, and more from its finite length
    assert np.abs(stress[near][:, [0, 1, 3]] - exact).max() < 0.05
    assert peak_von_mises(field, sigma).max() == pytest.approx(von_mises(stress).max())


def test_indicated_error_falls_with_the_mesh():
    """Towards the order of the stresses, two, when the cells are halved."""
    found = []
    for n in (1, 2):
        body, sigma = pulled(12 * n, 5 * n)
        field = body.view.tensors["stress"]
        error = stress_error(field, sigma)
        found.append(np.sqrt(np.sum(error**2)) / energy_norm(field, sigma))
    assert found[1] < 0.012 and np.log2(found[0] / found[1]) > 1.2
