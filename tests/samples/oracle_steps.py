"""Steps as the oracle takes them: from random states, which no joint needs to allow, and those of runs."""

import copy

import numpy as np
from exact_scheme.curves import foot, shapes
from exact_scheme.gauss import AtNodes, collocated, tableau_of, turned
from exact_scheme.kinematics import Ends, State, arms, cayley, products, vectors
from exact_scheme.sliding import law_defect
from exact_scheme.step import Given, slips_of_bearings, step
from exact_scheme.system import system_of

from flexph import connect
from flexph.kernels.state import mass_factors
from flexph.mechanisms.model.state import configuration, initial_stresses
from flexph.mechanisms.model.time_table import TimeTable, anchor
from flexph.numerics.gauss_tableau import gauss

COMPLEX_STEP = 1e-30
POSES = {}


class OracleStep:
    """A step of a mechanism from a state, over what is given."""

    def __init__(self, mechanism, start, *, times, anchors=None, inputs=None, friction=None, radius=1.0):
        self.mechanism, self.start, self.system = mechanism, start, mechanism.once(system_of)
        product = products(self.system, vectors(self.system, start.r, arms(self.system, start.R, start.u)))
        table = TimeTable(mechanism, anchors or anchor(mechanism, product))
        (before, _), (after, offset) = (table.at(t) for t in times)
        none, count = np.zeros(self.system.bearings.spring.shape), self.system.springs.stiffness.size
        factors = [np.ones(count) * (own if own.size else 1.0) for own in map(table.references.factors, times)]
        parts = self.system.strain_rows.laws
        strain_factors = [np.array([part.factor_at(t) for part in parts]) for t in times]
        rubbing = np.ones((2, count))
        for i, factor in self.system.springs.relation_factors:
            rubbing[:, i] = [factor(t) for t in times]
        masses = [mass_factors(mechanism.network.arrays, t) for t in times]
        speeds = [np.array([flow.speed(t) for flow in self.system.flows]) for t in times]
        self.given = Given(
            h=times[1] - times[0],
            coefficient=Ends(before, after),
            offset=offset,
            time=0.5 * (times[0] + times[1]),
            inputs=np.zeros(self.system.loads.on_node.shape[2]) if inputs is None else inputs,
            moved=table.references.moved(*times)[:count] + np.zeros(count),
            places=[nearest(curve, product) for curve in self.system.curves],
            friction=none if friction is None else friction,
            factor=Ends(*factors),
            strain_factor=Ends(*strain_factors),
            speed=Ends(*speeds),
            rubbing=Ends(*rubbing),
            mass=Ends(*masses),
            radius=radius,
        )

    @property
    def unknowns(self):
        """Number of mean velocities and multipliers."""
        return self.system.velocities + self.system.rows

    def residual(self, y):
        """What the step misses with mean velocities and multipliers y."""
        return step(self.system, self.start, self.given, y)[0]

    def end(self, y):
        """The state that it comes to."""
        return step(self.system, self.start, self.given, y)[1]

    def rubs(self, y):
        """The dry friction with which the step misses least, of forces that act linearly; and what its law misses."""
        size, system = self.system.bearings.spring.shape, self.system
        by = lambda forces: step(system, self.start, self.given._replace(friction=forces), y)[0]  # noqa: E731
        free = by(np.zeros(size))
        columns = np.array([by(e.reshape(size)) - free for e in np.eye(np.prod(size))]).T
        forces = np.linalg.lstsq(columns, -free)[0].reshape(size)
        slips = slips_of_bearings(system, self.start, self.given, y)
        defect = law_defect(system.bearings, slips, forces, y[system.velocities :])
        return replace_friction(self, forces), np.abs(defect).max() / np.abs(forces).max()

    def jacobian(self, y, directions=None):
        """∂r/∂y, or its products with the columns of ``directions``, by complex steps."""
        along = np.eye(y.size) if directions is None else directions
        columns = [self.residual(y + 1j * COMPLEX_STEP * e).imag / COMPLEX_STEP for e in along.T]
        return np.array(columns).T


def replace_friction(own, forces):
    """The same step with other forces of dry friction."""
    other = copy.copy(own)
    other.given = own.given._replace(friction=forces)
    return other


def nearest(curve, product):
    """The place on a curve that is nearest to its point."""
    own = product[curve.products]
    apart = lambda s: float(np.linalg.norm(own @ shapes(curve, s)))  # noqa: E731
    return foot(curve, own, min(np.linspace(curve.knots[0], curve.knots[-1], 401), key=apart))


def random_step(mechanism, *, seed=0, size=0.1, radius=1.0):
    """A step of 0.1 s from a random state under random inputs and friction, and a random iterate y."""
    rng = np.random.default_rng(seed)
    start, arrays = random_state(mechanism, rng, size), mechanism.network.arrays
    inputs = rng.standard_normal(arrays.input_node.shape[1])
    friction = rng.standard_normal(arrays.bearings.spring.shape)
    own = OracleStep(mechanism, start, times=(0.3, 0.4), inputs=inputs, friction=friction, radius=radius)
    return own, rng.standard_normal(own.unknowns)


def without_joints(mechanism):
    """Pose of the bodies of a mechanism without joints, computed once for the same bodies."""
    key = tuple((name, id(body)) for name, body in mechanism.bodies.items())
    if key not in POSES:
        bodies = dict(mechanism.bodies)  # kept: another body could have the same address later
        POSES[key] = bodies, connect(bodies, [], gravity=mechanism.gravity).assemble()
    return POSES[key][1]


def random_state(mechanism, rng, size):
    """Bodies near where they are placed without joints, turned, bent and moving; stresses and springs with force."""
    layout, turning = mechanism.layout, mechanism.network.arrays.turning
    pose = without_joints(mechanism)
    b, d = pose.centres.shape
    turns = np.isin(np.arange(b), turning)[:, None]
    spins = (b, 1 if d == 2 else 3)
    return State(
        r=pose.centres + size * rng.standard_normal((b, d)),
        R=pose.rotations @ np.array([cayley(a) for a in size * rng.standard_normal(spins) * turns]),
        u=size * rng.standard_normal(layout.flexible),
        v=rng.standard_normal((b, d)),
        omega=rng.standard_normal(spins) * turns,
        du=rng.standard_normal(layout.flexible),
        sigma=(stresses := initial_stresses(mechanism.bodies)) + size * rng.standard_normal(stresses.size),
        spring=size * rng.standard_normal(layout.springs),
    )


def state_of(mechanism, x):
    """A flat state as arrays."""
    c = configuration(mechanism, x)
    return State(*(getattr(c, name) for name in State._fields))


def steps_of(run, mechanism, inputs, *, count=2, radius=1.0):
    """The last steps of a run, latest first, with their mean velocities and multipliers, and the states they came to.

    ``inputs`` gives those (i,) of the step from state number k.
    """
    a = mechanism.network.arrays
    for back in range(1, count + 1):
        k = len(run.times) - 1 - back
        start, end = (state_of(mechanism, x) for x in run.states[k : k + 2])
        own = OracleStep(
            mechanism, start, times=run.times[k : k + 2], anchors=run.final.anchors, inputs=inputs(k), radius=radius
        )
        v, w, rest = np.split(run.memory[-back], np.cumsum([a.weight.size, a.columns.omega.size]))
        w = w.reshape(a.columns.omega.shape)[a.turning].ravel()
        yield own, np.concatenate([v, w, rest[: a.body_u.size + own.system.rows]]), end


class CollocatedStep:
    """The last step of a run by Gauss collocation, with what was found at its nodes."""

    def __init__(self, run, mechanism, inputs, stages):
        self.system, arrays = mechanism.once(system_of), mechanism.network.arrays
        self.start, self.end = (state_of(mechanism, x) for x in run.states[-2:])
        t0, t1 = run.times[-2:]
        h, rk = t1 - t0, gauss(stages)
        table = TimeTable(mechanism, run.final.anchors)
        coefficient, offset = zip(*(table.at(t) for t in t0 + h * rk.given), strict=True)
        coefficient, offset = np.array(coefficient), np.array(offset)
        given = np.array([inputs.at(t) for t in t0 + h * rk.nodes])
        values, rates, offsets = rk.value @ coefficient, rk.rate @ coefficient, rk.rate @ offset
        reference = np.array([table.references.at(t) for t in t0 + h * rk.given])
        moved = rk.rate @ np.nan_to_num(reference - reference[0]) / h
        factor = np.array([table.references.factors(t) for t in t0 + h * rk.given])
        factor = factor if factor.size else np.ones(reference.shape)
        factors = rk.point_value @ factor, rk.point_rate @ factor, factor[[0, -1]]
        self.given = AtNodes(h, values, rates, offsets, given, t0 + h * rk.nodes, moved, *factors)
        v, w, rest = np.split(run.memory[-stages:], np.cumsum([arrays.weight.size, arrays.columns.omega.size]), axis=1)
        omega, rest = w.reshape(stages, *arrays.columns.omega.shape), rest[:, : arrays.body_u.size + self.system.rows]
        spins = self._world_spins(omega, rest[:, : arrays.body_u.size])[:, arrays.turning].reshape(stages, -1)
        self.unknowns = np.hstack([v, spins, rest])

    def _world_spins(self, omega, du):
        """Ω = Rω at the nodes, where R follows from Ω."""
        spin = omega
        for _ in range(40 if omega.shape[2] == 3 else 0):
            R, _ = turned(self.system, self.start, tableau_of(len(omega)), self.given.h, (spin, du))
            spin = np.einsum("sbij,sbj->sbi", R, omega)
        return spin

    def missed(self, unknowns):
        """What the step misses at its nodes, and the state that it comes to."""
        missed, end = collocated(self.system, self.start, self.given, unknowns.reshape(self.unknowns.shape))
        return missed, end
