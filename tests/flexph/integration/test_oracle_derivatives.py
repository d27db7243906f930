"""Complex steps of the oracle (tests/samples/exact_scheme) by all that a step depends on, against differences."""

import numpy as np
import pytest
from exact_scheme.kinematics import cayley
from exact_scheme.step import step
from oracle_kinds import BODIES, PLANE, SPACE, joined
from oracle_steps import COMPLEX_STEP, random_step

pytestmark = pytest.mark.filterwarnings("ignore:.* free to move:UserWarning")
CASES = {
    f"plane: {name}": (2, dict, PLANE[name]) for name in ("hinge with friction", "point on a curve, driven", "gear")
}
CASES |= {
    f"space: {name}": (3, dict, SPACE[name]) for name in ("screw", "bushing", "rolling disc", "torque that follows")
}
CASES |= {name: BODIES[name] for name in ("von Kármán beam of space", "rod", "cable", "rubber")}


def moved(start, direction, size):
    """A state along a direction, whose rotations are half turns: rotations stay rotations."""
    fields = {name: getattr(start, name) + size * getattr(direction, name) for name in start._fields if name != "R"}
    turned = [R @ cayley(size * a) for R, a in zip(start.R, direction.R, strict=True)]
    return start._replace(**fields, R=np.array(turned))


def along(function, size):
    """Derivative by a difference of eighth order."""
    weights = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
    changes = (w * (function(k * size) - function(-k * size)) for k, w in enumerate(weights, start=1))
    return sum(changes) / size


@pytest.mark.parametrize("dim, bodies, connections", CASES.values(), ids=CASES)
def test_the_start_and_parameters_of_a_step_may_be_complex(dim, bodies, connections):
    """Of the residual and the end together, by the state at the start, and by the masses of all bodies."""
    own, y = random_step(joined(dim, *connections(), **bodies()), size=0.05, radius=1.0)
    rng, spins = np.random.default_rng(1), own.start.omega
    direction = own.start._replace(R=rng.standard_normal(spins.shape) * (spins != 0.0))
    direction = direction._replace(
        **{name: 0.1 * rng.standard_normal(getattr(own.start, name).shape) for name in ("r", "u", "v", "du", "sigma")}
    )

    def by_start(size):
        return flat(step(own.system, moved(own.start, direction, size), own.given, y + 0.0 * size))

    def by_mass(size):
        heavier = tuple(
            body._replace(mass=body.mass * (1.0 + size), J=body.J * (1.0 + size)) for body in own.system.bodies
        )
        return flat(step(own.system._replace(bodies=heavier), own.start, own.given, y + 0.0 * size))

    for function in (by_start, by_mass):
        exact, difference = function(1j * COMPLEX_STEP).imag / COMPLEX_STEP, along(function, 1e-2)
        np.testing.assert_allclose(exact, difference, rtol=0, atol=1e-9 * np.abs(exact).max())


def flat(result):
    """The residual and the end of a step as one vector."""
    residual, end = result
    return np.concatenate([residual, *(value.ravel() for value in end)])
