"""Steps of runs solve the equations of the oracle (tests/samples/exact_scheme), and come to its ends."""

import math
from dataclasses import replace

import numpy as np
import pytest
from bit_samples import SAMPLES, Sample, run
from exact_scheme.energy import energy, work_of_inputs
from oracle_steps import CollocatedStep, steps_of

import rigid
from flexph import GROUND, connect, hinge, spring_damper, torsion_spring
from flexph.laws import force_law, polynomial, potential, scheduled
from flexph.methods import Exact, ExactGauss
from flexph.systems.inputs import Forcing

pytestmark = [
    pytest.mark.filterwarnings("ignore::flexph.ValidityWarning"),
    pytest.mark.filterwarnings("ignore:.* velocit.*:UserWarning"),  # starts that no test here looks at
]
ROUND_OFF = 1e-13
"""What a step misses of its momenta, over the largest term of them, and of its constraints, over what they measure."""
ENDS = 1e-11
"""Round-off of stresses: of strains, times their stiffness."""
EXACT = (
    "plane",
    "loads in space",
    "rods",
    "cable",
    "least norm",
    "resistive laws",
    "laws of springs",
    "compliant contacts",
    "point on a curve",
    "slipping wheels",
)


def solves(step, y):
    """The step misses round-off of the terms of its equations, which are those of its Jacobian."""
    terms, missed, n = np.abs(step.jacobian(y)) @ np.abs(y), np.abs(step.residual(y)), step.system.velocities
    assert missed[:n].max() <= ROUND_OFF * terms[:n].max()
    assert missed[n:].max(initial=0.0) <= ROUND_OFF


def arrives(end, expected, *, but=()):
    """The end of a step is the one that is expected."""
    for name, value, own in zip(end._fields, end, expected, strict=True):
        if name not in but:
            atol = ENDS * max(1.0, np.abs(own).max(initial=0.0))
            np.testing.assert_allclose(value, own, rtol=0, atol=atol, err_msg=name)


def last_steps(name, *, radius=1.0):
    """The last steps of a sample under its inputs and feedback."""
    sample = SAMPLES[name]
    mechanism, _, inputs = made = sample.make()
    solution, slices = run(name, made=made), mechanism.network.input_slices
    forcing = Forcing(slices, inputs, mechanism.layout.dim)

    def given(k):
        middle = 0.5 * (solution.times[k] + solution.times[k + 1])
        u = forcing.at(middle).copy()
        if sample.feedback is not None:  # of the means of time and readings over the step
            readings = [solution.measured(sensor)[k : k + 2].mean() for sensor in sample.feedback.sensors.values()]
            u[slices[sample.feedback.ports[0]]] += sample.feedback.function(middle, readings)
        return u

    return steps_of(solution, mechanism, given, radius=radius)


@pytest.mark.parametrize("name", EXACT)
def test_steps_solve_the_equations_of_the_scheme(name):
    for step, y, end in last_steps(name):
        solves(step, y)
        arrives(end, step.end(y))


@pytest.mark.parametrize("name", EXACT)
def test_the_ledger_has_the_energies_and_works_of_the_oracle(name):
    """Of all inputs together; with the balance of the ledger, losses and the work of drives follow."""
    mechanism, _, inputs = made = SAMPLES[name].make()
    solution, slices = run(name, made=made), mechanism.network.input_slices
    forcing, ledger = Forcing(slices, inputs, mechanism.layout.dim), solution.ledger
    given = lambda k: forcing.at(0.5 * (solution.times[k] + solution.times[k + 1]))  # noqa: E731
    for back, (step, y, end) in enumerate(steps_of(solution, mechanism, given), start=1):
        scale = 1e-12 * ledger.scale
        given_there = step.given.factor.after, step.given.strain_factor.after, step.given.speed.after
        assert energy(step.system, end, *given_there) == pytest.approx(ledger.total_energy[-back], rel=0, abs=scale)
        worked = sum(values[-back] for port, values in ledger.work.items() if port in slices)
        assert work_of_inputs(step.system, step.start, step.given, y) == pytest.approx(worked, rel=0, abs=scale)


@pytest.mark.parametrize("name", ["decaying", "feedback, decaying", "laws of springs, decaying"])
def test_decaying_steps_solve_their_equations(name):
    """Velocities at their ends lose the velocity defect besides."""
    for step, y, end in last_steps(name, radius=SAMPLES[name].method.radius):
        solves(step, y)
        arrives(end, step.end(y), but=("v", "omega", "du"))


def test_feedback_within_steps_satisfies_the_oracle(monkeypatch):
    name = "feedback, decaying"
    monkeypatch.setitem(SAMPLES, name, replace(SAMPLES[name], method=Exact()))
    for step, y, end in last_steps(name):
        solves(step, y)
        arrives(end, step.end(y))


def test_dry_friction_of_joints():
    """Forces that solve the equations of a step obey Coulomb's law."""
    for step, y, end in last_steps("friction of joints"):
        rubbing, defect = step.rubs(y)
        assert defect < 1e-9
        solves(rubbing, y)
        arrives(end, rubbing.end(y))


COLLOCATED = ("collocation", 3), ("collocation in space", 2), ("loads in space", 2), ("plane", 1), ("plane", 4)
COLLOCATED += ("collocation in space", 5), ("laws of springs by collocation", 3), ("laws of springs by collocation", 2)
COLLOCATED += ("ropes by collocation", 1), ("ropes by collocation", 2), ("ropes by collocation", 3)


def changing():
    """Two bars with springs of all measures whose references and factors are functions of time."""
    ground = GROUND.at(0.0, 0.0)
    hard = scheduled(polynomial(3.0, 0.0, 9.0), lambda t: 1.0 + 0.4 * t)
    soft = scheduled(potential(math.cosh, math.sinh, math.cosh), lambda t: 2.0 + math.sin(9.0 * t))
    joints = [
        hinge("upper.root", ground),
        hinge("lower.root", "upper.tip"),
        torsion_spring("lower.root", "upper.tip", stiffness=4.0, damping=0.1, angle=lambda t: 0.2 * math.sin(7.0 * t)),
        torsion_spring("upper.root", ground, law=soft, angle=lambda t: 0.3 * t, name="soft"),
        spring_damper("lower.tip", GROUND.at(2.0, 0.0), law=hard, length=lambda t: 1.0 + t * t),
        spring_damper("upper.tip", GROUND.at(0.0, 1.0), law=force_law(lambda x, v, t: x + v + t), length=math.cos),
        spring_damper("lower.tip", ground, stiffness=9.0, length=lambda t: 0.1 * t, direction=(0.6, 0.8), name="along"),
    ]
    mechanism = connect({"upper": rigid.bar(0.5, 1.0), "lower": rigid.bar(0.4, 0.7)}, joints, gravity=(0.0, -9.81))
    pose = mechanism.assemble({"upper": (0.0, 0.0, 0.0), "lower": (0.5, 0.0, 0.2)})
    return mechanism, mechanism.consistent_state(pose, velocities={"lower": (0.0, 0.0, 3.0)}), {}


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_collocation_solves_its_equations_with_values_that_change(monkeypatch, stages):
    name = "changing by collocation"
    monkeypatch.setitem(SAMPLES, name, Sample(changing, step=1e-2, steps=10))
    test_collocation_solves_its_equations(monkeypatch, name, stages)


@pytest.mark.parametrize("name, stages", COLLOCATED)
def test_collocation_solves_its_equations(monkeypatch, name, stages):
    monkeypatch.setitem(SAMPLES, name, replace(SAMPLES[name], method=ExactGauss(stages)))
    mechanism, _, inputs = made = SAMPLES[name].make()
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    step = CollocatedStep(run(name, made=made, steps=10), mechanism, forcing, stages)
    missed, end = step.missed(step.unknowns)
    moved, _ = step.missed(1.001 * step.unknowns)
    assert np.abs(missed).max() <= 1e-10 * np.abs(moved).max()  # round-off: a thousandth of its terms is a change
    arrives(step.end, end)
