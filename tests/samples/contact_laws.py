"""Laws of rigid contacts in the results of runs, by the plain equations of the scheme (exact_scheme)."""

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from exact_scheme.constraints import constraint_forces, spin_forces
from exact_scheme.inertia import momenta
from exact_scheme.kinematics import Ends, way_of
from exact_scheme.rigid_contacts import closed_contacts
from exact_scheme.sliding import bearing_forces, law_defect
from exact_scheme.springs import measured
from exact_scheme.step import slips_of_bearings, step
from oracle_steps import OracleStep, state_of
from scipy.optimize import least_squares, nnls

from flexph.systems.inputs import Forcing

TOUCHES = 1e-11
"""Gap of closed contacts, over the largest coordinate."""
RESTS = 1e-9
"""Rate of what sticks or stays closed, over the largest velocity in the run."""
EDGES = 64
"""Edges of the pyramid around a cone of friction of space: what sticks may have 0.12 % more friction in it."""
ALIKE = 0.75
"""Cosine between the first tangents of a step and of its end, below which they have jumped."""


def unexplained(run, inputs=None):
    """Momenta of each step that no lawful impulses explain, over the largest momentum in the run, (k,).

    Of a run by ``Exact(contact="steps")``. Positions tell which contacts are closed at the end of a step and how they
    slid in it, velocities how they slide there. By Coulomb's law all impulses but those of what sticks have then a
    direction, and those of what sticks a cone. The momenta that a step gains must be a sum of such impulses, and of
    those of joints, with friction of any size in them. ``inputs`` are those of the run.
    """
    left, sizes = np.array([step_.unexplained() for step_ in _steps(run, inputs)]).T
    return left / sizes.max()


def friction_missed(run, inputs=None):
    """Defect of Coulomb's law of dry friction in joints in each step beside contacts, over the largest friction, (k,).

    Of a run as in :func:`unexplained`, without restitution. Where the momenta do not determine all impulses, those are
    taken that obey all laws, near the multipliers of the run.
    """
    return np.array([step_.friction_missed() for step_ in _steps(run, inputs)])


def _steps(run, inputs):
    """All steps of a run."""
    mechanism = run.mechanism
    forcing = Forcing(mechanism.network.input_slices, inputs or {}, mechanism.layout.dim)
    speed = max(np.abs(own).max() for x in run.states for own in state_of(mechanism, x)[3:6] if own.size)
    for k, (begin, end) in enumerate(pairwise(run.times)):
        yield _Momenta(run, k, forcing.at(0.5 * (begin + end)).copy(), RESTS * speed)


class Impact(NamedTuple):
    """Impact between two states: momenta that Newton's law, and cones of friction alone, leave unexplained.

    ``rebound`` has the rates of gaps with those before it by restitution added, (k,), ``gain`` of the kinetic energy.
    """

    by_newton: float
    by_cones: float
    rebound: Any
    gain: float


def impact_between(run):
    """Impact of the contacts that touch at the start of the one step of a run, after which bodies fly without forces.

    By Newton's law 0 ≤ ẏ + eẏ⁻ ⟂ Λ_N ≥ 0 with the rates ẏ of gaps, by Coulomb's friction is against the slips after it.
    """
    (momenta_,) = _steps(run, None)
    system, start, end = momenta_.system, momenta_.start, momenta_.end
    way, after = still(system, start), velocity_of(system, end)
    closed, coefficient = closed_contacts(system, way, momenta_.reach), momenta_.given.coefficient.before
    restitution = system.contacts.restitution[closed.number]
    rebound = closed.normal @ after + restitution * np.minimum(closed.normal @ way.velocity, 0.0)
    wanted = gained(system, start, start._replace(v=end.v, omega=end.omega, du=end.du))
    of_joints, size, left = held(system, way, Ends(coefficient, coefficient)), np.abs(wanted).max(), []
    for slip, leaves in ((after, rebound), (0.0 * after, None)):
        edges = pushed(closed, edges_of(closed, slip, momenta_.rests, leaves=leaves))
        left.append(left_over(np.hstack([edges, of_joints]), wanted)[0] / max(size, 1e-300))
    kinetic = run.ledger.kind("kinetic")
    return Impact(*left, rebound, kinetic[1] / kinetic[0] - 1.0)


class _Momenta:
    """Momenta that the bodies gain over a step and while their velocities settle at its end, by impulses."""

    def __init__(self, run, k, inputs, rests):
        times, (start, end) = run.times[k : k + 2], (state_of(run.mechanism, x) for x in run.states[k : k + 2])
        own = OracleStep(run.mechanism, start, times=times, anchors=run.final.anchors, inputs=inputs)
        self.system, self.given, self.start, self.end, self.rests = own.system, own.given, start, end, rests
        self.reach = TOUCHES * max(np.abs(start.r).max(), np.abs(end.r).max(), np.ptp(own.system.nodes.position))
        self.multipliers = run.multipliers[k]
        c = self.system.contacts
        self.bounces = bool((c.restitution[c.rigid] > 0.0).any())

    def unexplained(self):
        """Residual of the best impulses, and the largest momentum or impulse."""
        velocity = mean_velocity(self.system, self.start, self.end, self.given.h)
        y = np.append(velocity, np.zeros(self.system.rows))
        missed, plain = step(self.system, self.start, self.given, y)
        wanted = np.concatenate([missed[: velocity.size], gained(self.system, plain, self.end)])
        way = way_of(self.system, self.start, self.given.h, velocity)
        matrix = np.hstack([*self._of_step(way), *self._at_end(), *(self._at_start() if self.bounces else ())])
        left, largest = left_over(matrix, wanted)
        rest = self.end._replace(v=0.0 * self.end.v, omega=0.0 * self.end.omega, du=0.0 * self.end.du)
        return left, max(np.abs(gained(self.system, rest, self.end)).max(), largest)

    def friction_missed(self):
        """See the function of this name."""
        system, h, friction = self.system, self.given.h, self.given.friction
        velocity = mean_velocity(system, self.start, self.end, h)
        y = np.append(velocity, np.zeros(system.rows))
        missed, _ = step(system, self.start, self.given, y)
        way, slips = way_of(system, self.start, h, velocity), slips_of_bearings(system, self.start, self.given, y)
        closed = closed_contacts(system, way, self.reach)
        edges = pushed(closed, edges_of(closed, velocity, self.rests))
        joints = system.rows + friction.size
        matrix = np.hstack([h * held(system, way, self.given.coefficient)[:, :joints], edges])
        size = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
        found, _, rank, _ = np.linalg.lstsq(matrix / size, missed[: velocity.size])
        free = np.linalg.svd(matrix / size)[2][rank:].T

        def laws(z):
            lam, forces, of_contacts = np.split((found + free @ z) / size, [system.rows, joints])
            forces = forces.reshape(friction.shape)
            bearings = law_defect(system.bearings, slips / h, forces, lam).ravel()
            return np.concatenate([bearings, np.minimum(of_contacts, 0.0) / h]) / np.abs(forces).max()

        loads = self.multipliers * size[: system.rows] - found[: system.rows]
        z0 = np.linalg.lstsq(free[: system.rows], loads)[0]
        solved = least_squares(laws, z0, method="dogbox", xtol=1e-15, ftol=1e-15, gtol=1e-15)
        return np.abs(solved.fun).max()

    def _of_step(self, way):
        """Impulses over the step: at its end they are what settling adds others to."""
        closed, (_, at_end) = closed_contacts(self.system, way, self.reach), self._closed_at_end
        assert closed.number.tolist() == at_end.number.tolist()
        edges = edges_of(closed, way.velocity, self.rests)
        yield np.vstack([pushed(closed, edges), -pushed(at_end, turned(closed, at_end, edges))])
        of_joints = held(self.system, way, self.given.coefficient)
        yield np.vstack([of_joints, 0.0 * of_joints])

    @cached_property
    def _closed_at_end(self):
        """Rates at the end of the step, and its closed contacts."""
        way = still(self.system, self.end)
        return way, closed_contacts(self.system, way, self.reach)

    def _at_end(self):
        """All impulses, those of the step among them, by which the velocities at its end obey the laws."""
        (way, closed), coefficient = self._closed_at_end, self.given.coefficient.after
        settled = pushed(closed, edges_of(closed, way.velocity, self.rests, leaves=closed.normal @ way.velocity))
        settled = np.hstack([settled, held(self.system, way, Ends(coefficient, coefficient))])
        yield np.vstack([0.0 * settled, settled])

    def _at_start(self):
        """Impulses of impacts, which strike at the start: of contacts as near as a step goes at twice its speeds.

        They change the mean velocities by as much, of which a step takes twice to its end.
        """
        way, coefficient = still(self.system, self.start), self.given.coefficient.before
        closed = closed_contacts(self.system, way, self.reach + 2.0 * self.given.h * np.abs(way.velocity).max())
        struck = pushed(closed, edges_of(closed, 0.0 * way.velocity, self.rests))
        struck = np.hstack([struck, held(self.system, way, Ends(coefficient, coefficient))])
        yield np.vstack([2.0 * struck, -struck])


def left_over(matrix, wanted):
    """Residual of the best sum of columns with positive factors, and the largest entry of its terms."""
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0, initial=0.0), 1e-300)
    if not matrix.size:  # on which nnls of SciPy 1.17 ends the process
        return np.linalg.norm(wanted), 0.0
    impulses, left = nnls(matrix, wanted, maxiter=100 * sum(matrix.shape))
    return left, np.abs(matrix * impulses).max()


def mean_velocity(system, start, end, h):
    """Mean velocities (n_v,) from the positions at both ends: of rotations by the inverse of Cayley's map."""
    omega = []
    for b, body in enumerate(system.bodies):
        if body.turns:
            Q = start.R[b].T @ end.R[b]
            A = np.linalg.solve(np.eye(len(Q)) + Q, Q - np.eye(len(Q)))
            omega.append(2.0 / h * (A[[1], [0]] if len(Q) == 2 else A[[2, 0, 1], [1, 2, 0]]))
    return np.concatenate([((end.r - start.r) / h).ravel(), *omega, (end.u - start.u) / h])


def velocity_of(system, state):
    """Velocities (n_v,) of a state."""
    turning = [state.omega[b] for b, body in enumerate(system.bodies) if body.turns]
    return np.concatenate([state.v.ravel(), *turning, state.du])


def still(system, state):
    """Step of no length from a state: its maps are those of rates there."""
    return way_of(system, state, 0.0, velocity_of(system, state))


def gained(system, before, after):
    """Changes of the momenta (n_v,) between two states that differ in their velocities."""
    changes = np.zeros(system.velocities)
    for b, body in enumerate(system.bodies):
        own = system.columns[b]
        changes[own[0]] = body.mass * (after.v[b] - before.v[b])
        p = [momenta(body, c.omega[b], after.u[body.own], c.du[body.own]) for c in (before, after)]
        changes[own[1]], changes[own[2]] = p[1][0][: own[1].size] - p[0][0][: own[1].size], p[1][1] - p[0][1]
    return changes


def edges_of(closed, velocity, rests, *, leaves=None):
    """Edges of the cones that impulses may be in: contacts, and components (k, d) by unit normal impulses.

    With a slip up to ``rests`` [m/s] contacts stick; those that ``leaves`` by a larger rate have no impulse.
    """
    contacts, components = [], []
    for k, (tangent, mu) in enumerate(zip(closed.tangent, closed.friction, strict=True)):
        if leaves is None or leaves[k] <= rests:
            around = cone(tangent @ velocity, rests) if mu > 0.0 else np.zeros((1, len(tangent)))
            contacts += [k] * len(around)
            components += [[1.0, *(mu * along)] for along in around]
    return np.array(contacts, dtype=int), np.reshape(components, (len(contacts), 1 + closed.tangent.shape[1]))


def cone(slip, rests):
    """Friction of the largest size against a slip; all around where the slip is not larger than ``rests`` [m/s]."""
    length = np.linalg.norm(slip)
    if length > rests:
        return [-slip / length]
    if slip.size == 1:
        return np.array([[1.0], [-1.0]])
    angle = 2.0 * np.pi / EDGES * np.arange(EDGES)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) / np.cos(np.pi / EDGES)


def turned(closed, at_end, edges):
    """Edges of the cones of a step by the tangents at its end: the same components, but where tangents jump."""
    contacts, components = edges
    if components.shape[1] < 3:
        return edges
    units = [c.along / np.maximum(np.linalg.norm(c.along, axis=-1, keepdims=True), 1e-300) for c in (at_end, closed)]
    turns = np.einsum("kti,kui->ktu", *units)
    components = components.copy()
    for along, turn in zip(components[:, 1:], turns[contacts], strict=True):
        if along.any() and turn[0, 0] < ALIKE:
            now = turn @ along
            along[:] = np.linalg.norm(along) / np.linalg.norm(now) * now
    return contacts, components


def pushed(closed, edges):
    """Momenta (n_v, k) by impulses of contacts along edges of their cones."""
    contacts, components = edges
    rates = np.concatenate([closed.normal[:, None], closed.tangent], axis=1)[contacts]
    return np.einsum("ki,kin->nk", components, rates)


def held(system, way, coefficient):
    """Momenta (n_v, k) by impulses of joints and of dry friction in them, in both senses."""
    none, gradient = np.zeros(system.bearings.spring.shape), measured(system.springs, way.product).gradient
    by_product = [constraint_forces(system, way, coefficient, lam) for lam in np.eye(system.rows)]
    by_product += [bearing_forces(system, gradient, [], unit.reshape(none.shape)) for unit in np.eye(none.size)]
    momenta_ = np.reshape(by_product, (len(by_product), way.product.after.size)) @ way.product_rate
    for own, lam in zip(momenta_, np.eye(system.rows), strict=False):
        own += spin_forces(system, way, lam)
    return np.vstack([momenta_, -momenta_]).T
