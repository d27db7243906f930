"""Displacements of modes against a turn of everything as one rigid body, for each kind of body there is."""

from types import SimpleNamespace

import numpy as np

import fem
from flexph import connect
from flexph.bodies import NodalBody
from flexph.bodies.split_body import SplitBody
from flexph.export.modes import mode_displacements

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
FLAT = fem.Section(width=0.02, height=0.01)
TURN = np.array([0.3, -0.7, 0.5])


def rates_of(body, origin, R):
    """Velocities of a straight body in its axes, in the order of its states, when everything turns about 0 by TURN."""
    places = body.places if isinstance(body, NodalBody | SplitBody) else np.zeros((1, 3))
    moving = [R.T @ np.cross(TURN, origin + R @ place) for place in places]
    turning = [R.T @ TURN for _ in places]
    if isinstance(body, NodalBody):
        both = [np.append(v, w) for v, w in zip(moving, turning, strict=True)]
        return [*both[: body.turning], *(R @ v for v in moving[body.turning :])]  # the others keep the world's axes
    frames = body.frames if isinstance(body, SplitBody) else [body]
    return [
        np.concatenate([v, w, np.zeros(frame.size + frame.stress_size)])
        for v, w, frame in zip(moving, turning, frames, strict=True)
    ]


def test_a_turn_of_everything_is_the_cross_product_with_the_places():
    bodies = {
        "beam": fem.beam(0.3, STEEL, FLAT, elements=2, dim=3),
        "split": fem.beam(0.4, STEEL, FLAT, elements=4, dim=3, split=2),
        "rod": fem.rod(0.3, STEEL, FLAT, elements=2),
        "rope": fem.cable(0.5, mass_per_length=0.3, axial=1e4, bending=0.1, elements=2),
    }
    mechanism, (q, _) = connect(bodies, []), np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))
    R = q * np.linalg.det(q)
    origins = {name: np.array([0.1 * k, 0.2, -0.3]) for k, name in enumerate(bodies)}
    pose = mechanism.assemble({name: (origin, R) for name, origin in origins.items()})
    shape = [rates for name, body in bodies.items() for rates in rates_of(body, origins[name], R)]
    modes = SimpleNamespace(shapes=np.concatenate(shape)[:, None].astype(complex), frequencies=np.zeros(1))
    found = mode_displacements(mechanism, pose, modes)
    moved = np.vstack(found.displacements[0])
    expected = np.cross(TURN, np.vstack(found.points))
    np.testing.assert_allclose(moved, expected / np.linalg.norm(expected, axis=1).max(), atol=1e-12)
