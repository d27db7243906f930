"""Gradients of runs by Gauss collocation: against complex steps of the oracle, theorems, and differences of runs."""

from itertools import pairwise

import numpy as np
import pytest
from exact_scheme.energy import energy as energy_of
from exact_scheme.gauss import collocated, term_sums
from exact_scheme.kinematics import arms, cayley, products, vectors
from gradient_samples import CASES, along, crank, direction_of, pendulum, tumbler
from oracle_steps import COMPLEX_STEP, CollocatedStep

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.gradients import Last, MeanSquare, gradient
from flexph.gradients.runs.problems import in_loops, problem_of
from flexph.integration.loops.memory.memory import address_of
from flexph.integration.loops.recorded.backward import BACK_BY_NODES
from flexph.integration.loops.recorded.entry import forget, sweep
from flexph.integration.loops.recorded.nodes import collocated_of
from flexph.joints import Sheave, rope
from flexph.kernels.convergence.tolerances import NEWTON
from flexph.methods import ExactGauss
from flexph.numerics.gauss_tableau import gauss
from flexph.sensors import position
from flexph.systems.inputs import Forcing

pytestmark = [
    pytest.mark.filterwarnings("ignore:bodies without a given velocity:UserWarning"),
    pytest.mark.filterwarnings("ignore::flexph.ValidityWarning"),
]
TIMES = np.linspace(0.0, 0.05, 11)
AGREEMENT = 1e-8
"""Of p dΦ/dp, relative to the largest: what differences of runs know."""
EXACT = 1e-12
"""Of the terms |aᵢ δxᵢ| of a pairing, relative to their sum: round-off of the solutions of some steps."""


class Oracle:
    """The last step of a run by collocation, with its derivatives by complex steps."""

    def __init__(self, run, stages):
        mechanism = run.mechanism
        self.own = CollocatedStep(
            run, mechanism, Forcing(mechanism.network.input_slices, {}, mechanism.layout.dim), stages
        )
        self.y, self.system = self.own.unknowns.ravel(), self.own.system
        self.r_y = np.array([self.at(None, e)[0] for e in np.eye(self.y.size)]).T
        for _ in range(2):  # to the solution
            self.y = self.y - np.linalg.solve(self.r_y, self.at(None, None)[0])

    def at(self, change, dy):
        """Derivatives of residual and end along a change of the start and one of the unknowns; without any, values."""
        start, y, size = self.own.start, self.y + 0j, 1j * COMPLEX_STEP
        if change is not None:
            start = moved(start, change, size)
        if dy is not None:
            y = y + size * dy
        missed, end = collocated(self.system, start, self.own.given, y.reshape(self.own.unknowns.shape))
        before = products(self.system, vectors(self.system, start.r, arms(self.system, start.R, start.u)))
        gap = term_sums(self.system, self.own.given.coefficient[:1], before[None])  # a part of which steps close
        missed = missed + 0.0
        if change is not None:
            missed[:, self.system.velocities :] += NEWTON.forgotten * 1j * gap.imag
        missed, end = missed.ravel(), np.concatenate([np.ravel(part) for part in end])
        if change is None and dy is None:
            return missed.real, end.real
        return missed.imag / COMPLEX_STEP, end.imag / COMPLEX_STEP

    def carried(self, change):
        """Change of the end along that of the start, as a flat vector."""
        missed, end = self.at(change, None)
        dy = np.zeros(self.y.size)
        for _ in range(3):  # the matrix is that of an iterate
            dy -= np.linalg.solve(self.r_y, missed + self.at(None, dy)[0])
        return end + self.at(None, dy)[1]


def moved(state, change, size):
    """A state with a small change, of rotations by spins in body axes."""
    others = {name: part + size * change[name] for name, part in state._asdict().items() if name != "R"}
    turned = [R @ cayley(np.atleast_1d(0.5 * size * a)) for R, a in zip(state.R, change["R"], strict=True)]
    return state._replace(R=np.array(turned), **others)


def as_change(state, flat):
    """A flat tangent as a change, with the spins of rotations."""
    parts, first = {}, 0
    for name, part in state._asdict().items():
        parts[name] = flat[first : first + np.size(part)].reshape(np.shape(part))
        first += np.size(part)
    skew = np.einsum("bji,bjk->bik", state.R, parts["R"])
    parts["R"] = skew[:, 1, :1] if state.R.shape[1] == 2 else np.array([[S[2, 1], S[0, 2], S[1, 0]] for S in skew])
    return parts


def adjoints(problem, states, stages, weights):
    """Adjoints (N + 1, n) of all states, from that of the last one."""
    by_state = np.zeros((len(states), weights.size))
    by_state[-1] = weights
    found = [weights]
    tableau, loops = gauss(stages), in_loops(problem.mechanism, states)
    of, kept = collocated_of(problem.memory, problem.table, tableau, (loops, by_state), np.zeros(0, dtype=np.int64))
    forget()
    for k in reversed(range(len(states) - 1)):
        dim = problem.mechanism.layout.dim
        assert sweep(problem.memory.address, address_of(kept[0]), dim, BACK_BY_NODES, of, (k, k + 1)) == -1
        found.append(of.run.carried.copy())
    assert of.run.audit[0] < 1e-11
    return found[::-1]


@pytest.mark.parametrize(
    "make, by, stages, weigh",
    [(pendulum, ("speed", 2.0, 1.0), 3, "energy"), (tumbler, ("free", 0.2, 0.01), 2, "places")],
)
def test_adjoints_of_steps_are_those_of_the_oracle(make, by, stages, weigh):
    """The pairing ⟨a_k, δx_k⟩ is constant along a run; for the energy at the end a_k is ∇H(x_k) on the tangent.

    The start is linear in the parameter.
    """
    name, value, size = by
    steps, method = 2, ExactGauss(stages)
    problem = problem_of(make, {}, TIMES[: steps + 1], method=method)
    run = integrate(problem.mechanism, problem.start, TIMES[: steps + 1], method=method, progress=False)
    oracles = [
        Oracle(integrate(problem.mechanism, problem.start, TIMES[: k + 2], method=method, progress=False), stages)
        for k in range(steps)
    ]
    rng = np.random.default_rng(0)
    starts = [make(**{name: value + by})[1].x[None] for by in (0.0, size)]
    tangents = [np.diff(in_loops(problem.mechanism, np.concatenate(starts)), axis=0)[0] / size]
    for own in oracles:
        tangents.append(own.carried(as_change(own.own.start, tangents[-1])))
    weights = rng.standard_normal(tangents[0].size)
    weights[problem.mechanism.network.arrays.weight.size :] = 0.0  # places of centres
    if weigh == "energy":
        weights = energy_slopes(oracles[-1].system, oracles[-1].own.end)
    found = adjoints(problem, run.states, stages, weights)
    terms = [a * dx for a, dx in zip(found, tangents, strict=True)]
    for term in terms:
        assert abs(term.sum() - terms[-1].sum()) < EXACT * np.abs(term).sum()
    if weigh == "energy":
        for own, a, dx in zip(oracles, found, tangents, strict=False):
            slopes = energy_slopes(own.system, own.own.start) * dx
            assert abs(slopes.sum() - (a * dx).sum()) < EXACT * np.abs(slopes).sum()


def energy_slopes(system, state):
    """∂H/∂x by complex steps of the energy of the oracle."""
    flat, out = [np.ravel(part) + 0j for part in state], []
    for i, part in enumerate(flat):
        for j in range(part.size):
            part[j] += 1j * COMPLEX_STEP
            own = [values.reshape(np.shape(like)) for values, like in zip(flat, state, strict=True)]
            out.append(energy_of(system, type(state)(*own)).imag / COMPLEX_STEP)
            part[j] = state[i].ravel()[j]
    return np.array(out)


@pytest.mark.parametrize("name, stages", [("pendulum", 3), ("crank", 2), ("tumbler", 3), ("equal links", 3)])
def test_gradients_are_the_differences_of_runs(name, stages):
    make, parameters, quantity = CASES[name]
    functional, direction = Last(quantity, 0 if quantity.scalar else 1), direction_of(parameters)
    found = gradient(make, parameters, TIMES, functional, method=ExactGauss(stages))
    assert found.defect < 1e-11
    expected = along(make, parameters, direction, functional, TIMES, ExactGauss(stages))
    largest = max(abs(parameters[key] * value) for key, value in found.by.items())
    assert abs(sum(change * found.by[key] for key, change in direction.items()) - expected) < AGREEMENT * largest


def hoist(gravity, stiffness, damping):
    """A drum with a rope over a sheave of the ground to a load that swings."""
    bodies = {
        name: rigid.body(2.0, inertia=0.05, ports={"c": (0.0, 0.0), "eye": (0.0, 0.1)}) for name in ("drum", "load")
    }
    line = [Sheave("drum.c", 0.1, grips=True), Sheave(GROUND.at(0.6, 0.9), -0.05), "load.eye"]
    pull = rope(line, stiffness=stiffness, damping=damping, length=1.5)
    mechanism = connect(bodies, [hinge("drum.c", GROUND.at(0.0, 0.0)), pull], gravity=(0.0, -gravity))
    pose = mechanism.assemble({"drum": (0.0, 0.0, 0.0), "load": (0.7, 0.0, 0.2)})
    return mechanism, mechanism.consistent_state(pose, velocities={"drum": (0.0, 0.0, 2.0)})


def test_gradients_of_ropes_are_the_differences_of_runs():
    parameters, functional = {"gravity": 9.81, "stiffness": 400.0, "damping": 3.0}, Last(position("load.eye"), 1)
    found = gradient(hoist, parameters, TIMES, functional, method=ExactGauss(2))
    direction = direction_of(parameters)
    expected = along(hoist, parameters, direction, functional, TIMES, ExactGauss(2))
    largest = max(abs(parameters[key] * value) for key, value in found.by.items())
    assert abs(sum(change * found.by[key] for key, change in direction.items()) - expected) < AGREEMENT * largest


def test_steps_with_too_many_unknowns_are_refused():
    links = {f"b{k}": rigid.bar(0.1, 1.0) for k in range(60)}
    pins = [hinge(f"{a}.tip", f"{b}.root") for a, b in pairwise(links)]

    def chain(gravity):
        mechanism = connect(links, [hinge("b0.root", GROUND), *pins], gravity=(0.0, -gravity))
        return mechanism, mechanism.consistent_state(mechanism.assemble({"b0": (0.0, 0.0, 0.0)}))

    with pytest.raises(ValueError, match="at most 1000 unknowns of all stages, got 1500: use fewer stages"):
        gradient(chain, {"gravity": 9.81}, TIMES[:2], Last(position("b59.tip")), method=ExactGauss(5))


def test_derivatives_by_inputs_are_those_at_the_nodes():
    """A torque in steps, at the Gauss points; its size changes all of them."""
    functional, times = MeanSquare(position("rod.tip"), 0), np.linspace(0.0, 0.11, 23)
    found = gradient(crank, {"torque_size": 0.2}, times, functional, method=ExactGauss(2))
    nodes = (times[:-1, None] + np.diff(times)[:, None] * gauss(2).nodes).ravel()
    shape = np.where(nodes < 0.05, 1.0, np.where(nodes < 0.1, -1.0, 0.5))
    assert shape @ found.by_input["brake"][:, 0] == pytest.approx(found.by["torque_size"], rel=1e-8)
