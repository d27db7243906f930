"""Compiled loops over steps: the same runs as in Python, what is kept when they end early, functions numba refuses."""

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from covering import covering
from four_particles import START, constraints, four_particles, momenta

from flexph import PHDAE, InputError, IntegrationError, IntegrationInterrupted
from flexph.integration.general import run as loops
from flexph.integration.general.run import integrate_system
from flexph.integration.times.options import RunOptions
from flexph.methods import DiracDissipative, DiscreteGradient, Gauss, by_name
from flexph.numerics import compiling
from flexph.systems import Derivatives

GONZALEZ = DiscreteGradient()
numba = pytest.mark.skipif(not compiling.AVAILABLE, reason="needs numba")


def integrate(system, start, times, *, method=GONZALEZ, inputs=None, **options):
    options = RunOptions(inputs=inputs or {}, progress=False, **options)
    return integrate_system(system, start, times, method=method, options=options)


def both(system, start, times, *, method=GONZALEZ, inputs=None):
    values = [replace(method, compiled=fast) for fast in (True, False)]
    return [integrate(system, start, times, method=value, inputs=inputs) for value in values]


def assert_same(fast, plain, algebraic=()):
    """States to 1e-12 of the largest, but multipliers: they are differences of velocities over a step."""
    known = np.setdiff1d(np.arange(fast.system.size), algebraic)
    scale = np.abs(plain.states).max()
    np.testing.assert_allclose(fast.states[:, known], plain.states[:, known], rtol=0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(fast.states, plain.states, rtol=0.0, atol=1e-10 * scale)
    np.testing.assert_array_equal(fast.times, plain.times)
    np.testing.assert_array_equal(fast.output_times, plain.output_times)
    np.testing.assert_allclose(fast.balance.total_energy, plain.balance.total_energy, atol=1e-12 * plain.balance.scale)
    np.testing.assert_allclose(
        fast.balance.total_dissipation, plain.balance.total_dissipation, atol=1e-12 * plain.balance.scale
    )
    for port, work in plain.balance.work.items():
        np.testing.assert_allclose(fast.balance.work[port], work, atol=1e-12 * plain.balance.scale)
        np.testing.assert_allclose(fast.outputs[port], plain.outputs[port], atol=1e-11 * scale)


def pendulum(**changes):
    """x = (θ, p), H = p²/2 − cos θ, a torque, and air that brakes with the square root of 1 + p²."""

    def resistance(x):
        made = np.zeros((2, 2))
        made[1, 1] = 0.1 * math.sqrt(1.0 + x[1] ** 2)
        return made

    made = {
        "E": np.eye(2),
        "J": np.array([[0.0, 1.0], [-1.0, 0.0]]),
        "R": resistance,
        "B": np.array([[0.0], [1.0]]),
        "z": lambda x: np.array([np.sin(x[0]), x[1]]),
        "H": lambda x: 0.5 * x[1] ** 2 - np.cos(x[0]),
        "sample": np.array([1.0, 0.3]),
        "ports": {"torque": slice(0, 1)},
        "compiled": True,
    }
    return PHDAE(**made | changes)


# --- the same as in Python ------------------------------------------------------------------------------------


@numba
@covering("derivatives, method", (True, False), ("gonzalez", "mean_value", "invariants", "midpoint"))
def test_four_particles_agree(method, derivatives):
    system = four_particles(1.0) if derivatives else replace(four_particles(1.0), derivatives=None)
    push = {"push": lambda t: (math.sin(9.0 * t), 0.5, -0.2)}
    fast, plain = both(system, START, np.linspace(0.0, 1.0, 101), method=by_name(method), inputs=push)
    assert_same(fast, plain, algebraic=(24, 25))
    for found in (fast, plain):
        assert np.abs(constraints(found["q"])).max() < 1e-13
        assert (found.balance.residual.max() < 1e-13) == (method != "midpoint")  # V is of degree four


@numba
@pytest.mark.parametrize("method", ["gonzalez", "mean_value", "midpoint"])
def test_every_kind_of_matrix_agrees(method):
    """E, J and B that vary, one by a mean of its own over the step, an algebraic state, and all derivatives.

    E = diag(1 + x₂², 1, 0): H = cosh x₁ − 1 + x₂²/2, the third row says 0 = x₁ − x₃.
    """

    def descriptor(x):
        return np.diag(np.array([1.0 + x[1] ** 2, 1.0, 0.0]))

    def structure(x):
        made = np.zeros((3, 3))
        made[0, 1], made[1, 0] = 1.0 + 0.1 * x[0], -1.0 - 0.1 * x[0]
        return made

    def inputs(x):
        return np.array([[0.0], [1.0 + 0.5 * x[0]], [0.0]])

    def costate(x):
        return np.array([math.sinh(x[0]) / (1.0 + x[1] ** 2), x[1], x[2] - x[0]])

    def of_costate(x):
        s = 1.0 + x[1] ** 2
        row = np.array([[math.cosh(x[0]) / s, -2.0 * x[1] * math.sinh(x[0]) / s**2, 0.0]])
        return np.concatenate((row, np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])))

    def of_descriptor(x, w):
        made = np.zeros((3, 3))
        made[0, 1] = 2.0 * x[1] * w[0]
        return made

    def of_structure(x, w):
        made = np.zeros((3, 3))
        made[0, 0], made[1, 0] = 0.1 * w[1], -0.1 * w[0]
        return made

    def of_inputs(x, u):
        made = np.zeros((3, 3))
        made[1, 0] = 0.5 * u[0]
        return made

    whole = PHDAE(
        E=descriptor,
        J=structure,
        R=np.diag([0.0, 0.2, 1.0]),
        B=inputs,
        z=costate,
        H=lambda x: math.cosh(x[0]) - 1.0 + 0.5 * x[1] ** 2,
        sample=np.array([0.4, 0.3, 0.4]),
        ports={"u": slice(0, 1)},
        means={"J": lambda x0, x1: 0.5 * (structure(x0) + structure(x1))},
        derivatives=Derivatives(costate=of_costate, descriptor=of_descriptor, structure=of_structure, inputs=of_inputs),
        compiled=True,
    )
    times = np.linspace(0.0, 5.0, 101)
    for system in (whole, replace(whole, derivatives=None)):
        fast, plain = both(system, (0.4, 0.3, 0.4), times, method=by_name(method), inputs={"u": np.cos})
        assert_same(fast, plain)
        assert (fast.balance.largest_residual < 1e-14) == (method != "midpoint")  # H is no polynomial
        np.testing.assert_allclose(fast.states[1:, 2], 0.5 * (fast.states[1:, 0] + fast.states[:-1, 0]), atol=1e-13)


@numba
def test_a_run_from_rest_and_one_of_redundant_masses_agree():
    fast, plain = both(pendulum(), (0.0, 0.0), np.linspace(0.0, 1.0, 51), inputs={"torque": np.sin})
    assert_same(fast, plain)
    E, J, stiff = np.zeros((4, 4)), np.zeros((4, 4)), np.array([3.0, 1.0])
    E[:2, :2], E[2:, 2:] = np.eye(2), np.ones((2, 2))
    J[:2, 2:], J[2:, :2] = np.eye(2), -np.eye(2)
    system = PHDAE(
        E=E,
        J=J,
        z=lambda x: np.concatenate((stiff * x[:2], x[2:])),
        H=lambda x: 0.5 * (stiff @ x[:2] ** 2) + 0.5 * (x[2] + x[3]) ** 2,
        sample=np.array([0.25, 0.75, 0.1, -0.3]),
    )
    # only the sum of both velocities has inertia
    assert_same(*both(system, (0.25, 0.75, 0.0, 0.0), np.linspace(0.0, 2.0, 101)), algebraic=(2, 3))


@pytest.mark.slow
@numba
def test_functions_of_other_layouts_are_copied():
    """Views, constants of the closure, integers and transposes are turned into what the loop takes."""
    constant = np.array([[0, 1], [-1, 0]])
    given = pendulum(J=lambda x: constant, R=lambda x: np.zeros((2, 2)).T)
    assert_same(*both(given, (1.0, 0.0), np.linspace(0.0, 1.0, 21)))


@numba
def test_saving_every_seventh_step_keeps_sums_and_maxima():
    times, push = np.linspace(0.0, 5.0, 501), {"torque": np.cos}
    every = integrate(pendulum(), (2.0, 0.0), times, inputs=push)
    seventh = integrate(pendulum(), (2.0, 0.0), times, inputs=push, save_every=7)
    kept = [*range(0, 501, 7), 500]
    np.testing.assert_array_equal(seventh.states, every.states[kept])
    np.testing.assert_array_equal(seventh.times, times[kept])
    firsts = np.array(kept[:-1])
    for name in ("total_dissipation", "iterations"):
        sums = np.add.reduceat(getattr(every.balance, name), firsts)
        np.testing.assert_allclose(getattr(seventh.balance, name), sums, rtol=1e-13)
    largest = np.maximum.reduceat(every.balance.residual, firsts)
    np.testing.assert_array_equal(seventh.balance.residual, largest)
    np.testing.assert_array_equal(seventh.outputs["torque"], every.outputs["torque"][np.array(kept[1:]) - 1])


@numba
@pytest.mark.parametrize("steps", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("method", "kept"), [("gonzalez", False), ("invariants", True)])
def test_long_runs_keep_the_energy(method, kept, steps):
    """Steps without dissipation: round-off does not add up in H, nor, by its gradient, in the momenta."""
    times = 0.01 * np.arange(steps + 1)
    found = integrate(four_particles(0.0), START, times, method=by_name(method), save_every=100)
    energy = found.balance.total_energy
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-11
    for values in momenta(found):
        # angular momentum counts from the origin, from which the particles are 250 m away after 1e5 steps
        assert (np.abs(values - values[0]).max() < 1e-10) == kept


# --- what ends early ---------------------------------------------------------------------------------------------


@numba
def test_an_input_that_fails_keeps_the_finished_steps():
    times, torque = np.linspace(0.0, 1.0, 101), {"torque": lambda t: 1.0 if t < 0.5 else None}
    with pytest.raises(InputError, match=r"between t = 0\.5 s and 0\.51 s: input 'torque'") as caught:
        integrate(pendulum(), (1.0, 0.0), times, inputs=torque)
    assert caught.value.solution.times[-1] == pytest.approx(0.5)


@numba
def test_a_step_without_solution_says_so_as_in_python():
    """ẋ = x² with H = x²/2 through a port of its own: it leaves to infinity at t = 1."""
    system = PHDAE(
        E=np.eye(1),
        J=np.zeros((1, 1)),
        B=lambda x: np.array([[x[0] ** 2]]),
        z=lambda x: x,
        H=lambda x: 0.5 * x[0] ** 2,
        sample=np.ones(1),
        ports={"u": slice(0, 1)},
        compiled=True,
    )
    ends = []
    for fast in (True, False):
        with pytest.raises(IntegrationError, match="could not be solved by 'gonzalez'") as caught:
            integrate(
                system, (1.0,), np.linspace(0.0, 2.0, 21), inputs={"u": 1.0}, method=DiscreteGradient(compiled=fast)
            )
        ends.append(caught.value.solution)
    assert_same(*ends)


@numba
def test_what_a_function_raises_keeps_the_finished_steps():
    def energy(x):
        if x[0] > 1.5:
            raise ValueError("the rope is torn")
        return 0.5 * x[1] ** 2 - np.cos(x[0])

    with pytest.raises(InputError, match="the rope is torn") as caught:
        integrate(pendulum(H=energy), (0.0, 1.9), np.linspace(0.0, 5.0, 501))
    found = caught.value.solution
    assert 1.4 < found.states[-1, 0] < 1.5
    assert len(found.balance.residual) == len(found.times) - 1


@numba
def test_an_interrupt_keeps_the_finished_steps(monkeypatch):
    """Ctrl-C counts when a call of the compiled loop returns: its steps are recorded."""
    from flexph.integration.general.compiled_run import CompiledStepper

    taken, advance = [], CompiledStepper._advance

    def interrupted(stepper, times, inputs, rows):
        advance(stepper, times, inputs, rows)
        taken.append(int(rows.end[0]))
        if sum(taken) > 100:
            raise KeyboardInterrupt

    monkeypatch.setattr(CompiledStepper, "_advance", interrupted)
    with pytest.raises(IntegrationInterrupted, match="finished steps") as caught:
        integrate(pendulum(), (1.0, 0.0), np.linspace(0.0, 10.0, 1001))
    assert len(taken) > 1 and len(caught.value.solution.times) == sum(taken) + 1


# --- which loop, and functions that cannot be compiled --------------------------------------------------------------


@numba
def test_a_function_that_numba_refuses_is_named():
    def energy(x):
        return 0.5 * x[1] ** 2 - np.cos(x[0]) + math.fsum(x) - math.fsum(x)

    with pytest.raises(ValueError, match=r"^numba cannot compile H, as compiled=True asks for: .*'fsum'"):
        integrate(pendulum(H=energy), (1.0, 0.0), (0.0, 0.1))
    assert (
        len(integrate(pendulum(H=energy), (1.0, 0.0), (0.0, 0.1), method=DiscreteGradient(compiled=False)).times) == 2
    )
    with pytest.raises(ValueError, match=r"cannot compile z, .*: it must return a float array of 1 dimension, and ret"):
        integrate(pendulum(z=lambda x: (math.sin(x[0]), x[1])), (1.0, 0.0), (0.0, 0.1))


def noting(taken, name, function):
    def noted(*given, **options):
        taken.append(name)
        return function(*given, **options)

    return noted


@numba
def test_the_loop_is_chosen_as_said(monkeypatch):
    from flexph.integration.general import compiled_run

    taken = []
    for place, name in ((compiled_run, "in_blocks"), (loops, "prescribed")):
        monkeypatch.setattr(place, name, noting(taken, name, getattr(place, name)))
    plain = pendulum(compiled=False)
    for system, options in (
        (pendulum(), {}),
        (pendulum(), {"method": DiscreteGradient(compiled=False)}),
        (plain, {}),
        (plain, {"method": DiscreteGradient(compiled=True)}),
        (pendulum(), {"method": DiracDissipative()}),
        (pendulum(), {"events": {"low": lambda t, x: x[0]}}),
    ):
        integrate(system, (1.0, 0.0), (0.0, 0.1), **options)
    assert taken == ["in_blocks", "prescribed", "prescribed", "in_blocks", "prescribed", "prescribed"]
    with pytest.raises(ValueError, match=r"compiled=True is for Gauss\(2\), got Gauss\(4"):
        Gauss(4, compiled=True)
    with pytest.raises(ValueError, match="compiled=True takes no events"):
        integrate(
            pendulum(),
            (1.0, 0.0),
            (0.0, 0.1),
            events={"low": lambda t, x: x[0]},
            method=DiscreteGradient(compiled=True),
        )


def test_without_numba_the_same_functions_are_called(monkeypatch):
    monkeypatch.setattr(loops, "AVAILABLE", False)
    assert len(integrate(pendulum(), (1.0, 0.0), (0.0, 0.1)).times) == 2
    with pytest.raises(ImportError, match=r"compiled=True needs the package 'numba': pip install 'flexph\[fast\]'"):
        integrate(pendulum(), (1.0, 0.0), (0.0, 0.1), method=DiscreteGradient(compiled=True))


SCRIPT = """
import sys
from flexph.numerics.compiled.functions import compiled_function
from numba import float64
stiffness = float(sys.argv[1])
def spring(q):
    return stiffness * q
def force(mass):
    return lambda x: spring(x) / mass
for mass in map(float, sys.argv[2:]):
    made = compiled_function("z", force(mass), (float64,), float64)
    print(made(1.0), sum(made.stats.cache_hits.values()))
"""


@numba
def test_functions_on_disk_are_told_apart_by_all_that_they_refer_to(tmp_path):
    """Closures, and globals of helpers, with other values are other functions: also where other processes made them."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

    def run(*numbers):
        words = [sys.executable, str(script), *map(str, numbers)]
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
        return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]

    assert run(2.0, 1.0, 4.0) == [(2.0, 0), (0.5, 0)]
    assert run(6.0, 1.0, 4.0) == [(6.0, 0), (1.5, 0)]
    script = script.rename(tmp_path / "other.py")
    assert run(2.0, 1.0, 4.0) == [(2.0, 1), (0.5, 1)]  # both from the cache, whichever file they stand in


# --- what compiled loops have in place of NumPy's ---------------------------------------------------------------------


@numba
@pytest.mark.parametrize("size", [1, 2, 5, 17, 40])
def test_inverses_by_loops_are_those_of_numpy(size):
    from flexph.discretisation.iteration import invert
    from flexph.integration.general.compiled_steps import invert_by_loops

    rng = np.random.default_rng(size)
    matrix = rng.standard_normal((size, size)) * 10.0 ** rng.uniform(-6.0, 6.0, (size, 1))
    ours, plain = np.empty_like(matrix), np.empty_like(matrix)
    assert invert_by_loops(matrix, ours) and invert(matrix, plain)
    scale = np.abs(plain).max(axis=0)
    np.testing.assert_allclose(ours / scale, plain / scale, rtol=0.0, atol=1e-15 * np.linalg.cond(plain / scale))
    for entry in (0.0, np.nan):
        matrix[size // 2] = entry
        assert not invert_by_loops(matrix, ours) and not invert(matrix, plain)


@numba
def test_costates_by_completion_are_those_of_the_split():
    from flexph.discretisation.descriptor_split import split_of
    from flexph.integration.general.compiled_steps import costates_of

    E = np.random.default_rng(3).standard_normal((5, 3)) @ np.random.default_rng(4).standard_normal((3, 5))
    split = split_of(E)
    np.testing.assert_allclose(costates_of(E, split.U2 @ split.V2.T), split.to_costates(E), atol=1e-13)
