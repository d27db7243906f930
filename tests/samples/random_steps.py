"""Steps of mechanisms from random states, which no joint needs to allow, for the oracle and for compiled loops."""

import numpy as np
from exact_scheme.curves import foot, shapes
from exact_scheme.kinematics import Ends, State, arms, cayley, products, vectors
from exact_scheme.step import Given, step
from exact_scheme.system import system_of

from flexph import connect
from flexph.mechanisms.model.state import initial_stresses
from flexph.mechanisms.model.time_table import TimeTable, anchor

COMPLEX_STEP = 1e-30


def random_state(mechanism, rng, *, size=0.1):
    """Bodies near where they are placed without joints, turned, bent and moving; stresses and springs with force."""
    system, layout = system_of(mechanism), mechanism.layout
    pose = connect(dict(mechanism.bodies), [], gravity=mechanism.gravity).assemble()
    b, d, s = len(system.bodies), system.dim, system.spins
    turns = np.array([body.turns for body in system.bodies])[:, None]
    turned = np.array([cayley(a) for a in size * rng.standard_normal((b, s)) * turns])
    n, m = layout.flexible, system.elasticity.beta.size
    return State(
        r=pose.centres + size * rng.standard_normal((b, d)),
        R=pose.rotations @ turned,
        u=size * rng.standard_normal(n),
        v=rng.standard_normal((b, d)),
        omega=rng.standard_normal((b, s)) * turns,
        du=rng.standard_normal(n),
        sigma=initial_stresses(mechanism.bodies) + size * rng.standard_normal(m),
        spring=size * rng.standard_normal(layout.springs),
    )


class RandomStep:
    """A step of length h from a random state, with random inputs and a random iterate y."""

    def __init__(self, mechanism, *, seed=0, h=0.1, size=0.1):
        rng = np.random.default_rng(seed)
        self.mechanism, self.system = mechanism, system_of(mechanism)
        self.start = random_state(mechanism, rng, size=size)
        product = self.products(self.start)
        table = TimeTable(mechanism, anchor(mechanism, product))
        (before, _), (after, offset) = table.at(0.3), table.at(0.3 + h)
        moved = table.references.moved(0.3, 0.3 + h) + np.zeros(self.system.springs.stiffness.size)
        inputs = rng.standard_normal(self.system.loads.on_node.shape[2])
        places = [nearest(curve, product) for curve in self.system.curves]
        friction = rng.standard_normal(self.system.bearings.spring.shape)
        self.given = Given(h, Ends(before, after), offset, inputs, moved, places, friction)
        self.y = rng.standard_normal(self.system.velocities + self.system.rows)

    def products(self, state):
        """Products of all vectors at a state."""
        return products(self.system, vectors(self.system, state.r, arms(self.system, state.R, state.u)))

    def residual(self, y):
        """What the oracle says that the step misses."""
        return step(self.system, self.start, self.given, y)[0]

    def end(self, y):
        """The state to which the oracle comes."""
        return step(self.system, self.start, self.given, y)[1]

    def jacobian(self, y):
        """Its derivatives, by complex steps."""
        columns = [self.residual(y + 1j * COMPLEX_STEP * e).imag / COMPLEX_STEP for e in np.eye(y.size)]
        return np.array(columns).T


def nearest(curve, product):
    """The place on a curve that is nearest to its point."""
    own = product[curve.products]
    apart = lambda s: float(np.linalg.norm(own @ shapes(curve, s)))  # noqa: E731
    return foot(curve, own, min(np.linspace(curve.knots[0], curve.knots[-1], 401), key=apart))
