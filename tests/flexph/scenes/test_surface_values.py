"""Values at the points of drawn surfaces: means of equal values, ends of bars, forces of the step that ends."""

from dataclasses import replace

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.bodies.stresses import BodyState, stress_points
from flexph.scenes import motion_scene
from flexph.scenes.stresses import stresses_of
from flexph.scenes.surfaces import surface_of

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)


def test_a_field_that_is_the_same_in_all_cells_is_so_at_all_points():
    """Points belong to one, two or four cells; of fields without points each has the mean of its cells."""
    plate = fem.plate(fem.box_mesh((0.4, 0.2), (3, 2)), STEEL, ports={}, thickness=0.004)
    fields = replace(plate, view=replace(plate.view, tensors={}))
    assert not stress_points(fields)
    for name, field in fields.view.stresses.items():
        sigma = np.linalg.lstsq(np.asarray(field.cells.todense()), np.full(field.cells.shape[0], 7.0), rcond=None)[0]
        values = stresses_of(fields, BodyState(sigma[None], None, None))[name.replace("_", " ")].values
        np.testing.assert_allclose(values, 7.0, rtol=1e-12)


def test_each_point_of_a_bar_moves_with_the_nearer_end():
    """Of a body of nodes each point has weights of these: they give the end that it is around, half a width away."""
    rope, size = fem.cable(2.0, mass_per_length=0.3, axial=1e4, bending=0.1, elements=4), 0.01
    surface = surface_of(rope.view, size)
    assert np.linalg.norm(surface.points - surface.shape @ rope.places, axis=1).max() <= size


def test_arrows_have_the_forces_of_the_steps_that_end_at_their_times():
    """Shapes of arrows are linear in the force: over the force of its step each arrow is as long as the others."""
    mechanism = connect({"bar": rigid.bar(0.5, 2.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.3, 7))
    parts = motion_scene(run, frames=7, forces=True).parts
    arrows = next(part.points for part in parts if part.name.startswith("force of hinge"))
    force = run.reaction(mechanism.connections[0].name).force
    force = np.vstack([force[:1], force])  # at the start that of the first step
    away = arrows - arrows.mean(axis=1, keepdims=True)
    along = np.ptp(np.einsum("kpi,ki->kp", away[:, :, :2], force), axis=1) / np.sum(force**2, axis=1)
    np.testing.assert_allclose(along, along[0], rtol=1e-12)
    assert np.ptp(np.linalg.norm(force, axis=1)) > 0.1 * np.linalg.norm(force, axis=1).max()
