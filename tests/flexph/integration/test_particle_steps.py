"""Loops over steps of particles: the steps that NumPy takes, what they keep, and where they hand over or end early.

Ten seconds, as each step is taken by NumPy, too.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from covering import covering
from four_particles import START, four_particles, momenta
from uncompiled import uncompiled

from flexph import Event, InputError, IntegrationError, IntegrationInterrupted
from flexph.discretisation.descriptor_split import split_of
from flexph.discretisation.discrete_gradient_pairs import KINDS, GradientPair
from flexph.discretisation.pair_equations import StartData, begin, slopes
from flexph.integration.general import particle_run
from flexph.integration.general import run as runs
from flexph.integration.general.particles import arrays
from flexph.integration.general.run import integrate_system
from flexph.integration.times.options import RunOptions
from flexph.laws import coulomb, quadratic, viscous
from flexph.methods import DiracDissipative, DiscreteGradient, Gauss, by_name
from rigid import Dashpot, Drag, Rod, Spring, particle_system, point_masses, resolve

pytestmark = pytest.mark.processor
KIND = tuple(KINDS)


def integrate(system, start, times, *, method="gonzalez", inputs=None, **options):
    options = RunOptions(inputs=inputs or {}, progress=False, **options)
    value = by_name(method) if isinstance(method, str) else method
    return integrate_system(system, np.asarray(start), times, method=value, options=options)


def both(system, start, times, **given):
    return [integrate(each, start, times, **given) for each in (system, replace(system, terms=None))]


def random_system(seed, dim, **changes):
    """Four points with springs, rods and dampers of all kinds, to points and fixed places, and a start on the rods."""
    masses, place, velocity, given = random_points(seed, dim)
    return particle_system(
        masses, place, velocities=velocity, **given | {"ports": {"push": "c", "pull": "a"}} | changes
    )


def random_points(seed, dim):
    """Masses, places, velocities and what stands between."""
    rng = np.random.default_rng(seed)
    place = 1.5 * rng.normal(size=(4, dim))
    fixed, other = rng.normal(size=dim), tuple(rng.normal(size=dim))
    given = {
        "gravity": rng.normal(size=dim),
        "rods": [Rod("a", "b", float(np.linalg.norm(place[1] - place[0])))],
        "springs": [
            Spring.of_square("a", "c", stiffness=3.0, length=1.2),
            Spring.linear(fixed, "d", stiffness=5.0, length=0.7, hardening=2.0),
            Spring.linear("b", "d", stiffness=4.0, length=0.0, hardening=1.0),
        ],
        "dashpots": [
            Drag("b", "c", 0.3, growth=0.4),
            Dashpot("a", "d", viscous(0.2)),
            Dashpot(other, "b", quadratic(0.3)),
            Dashpot("c", "d", coulomb(0.5, speed=0.3, static=0.7, viscous=0.1)),
        ],
    }
    along = place[1] - place[0]
    velocity = rng.normal(size=(4, dim))
    velocity[1] += along * ((velocity[0] - velocity[1]) @ along) / (along @ along)
    masses = dict(zip("abcd", rng.uniform(0.5, 2.0, 4).tolist(), strict=True))
    return masses, place, velocity, given


def assert_same(fast, plain, algebraic):
    """States to 1e-12 of the largest, but multipliers: they are differences of velocities over a step."""
    known = np.setdiff1d(np.arange(fast.system.size), algebraic)
    scale = np.abs(plain.states).max()
    np.testing.assert_allclose(fast.states[:, known], plain.states[:, known], rtol=0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(fast.states, plain.states, rtol=0.0, atol=1e-10 * scale)
    np.testing.assert_array_equal(fast.times, plain.times)
    np.testing.assert_array_equal(fast.output_times, plain.output_times)
    mine, other, size = fast.ledger, plain.ledger, plain.ledger.scale
    np.testing.assert_allclose(mine.total_energy, other.total_energy, atol=1e-12 * size)
    np.testing.assert_allclose(mine.total_dissipation, other.total_dissipation, atol=1e-12 * size)
    for port, work in other.work.items():
        np.testing.assert_allclose(mine.work[port], work, atol=1e-12 * size)
        np.testing.assert_allclose(fast.outputs[port], plain.outputs[port], atol=1e-11 * scale)


# --- the steps of NumPy -------------------------------------------------------------------------------------------


@covering("method, seed, dim", KIND, (0, 1, 2, 3), (2, 3), strength=1)
def test_random_systems_take_the_steps_of_numpy(method, seed, dim):
    """Balanced to round-off, on their rods without drift, by all kinds of springs, dampers and costates."""
    system = random_system(seed, dim)
    push = {"push": lambda t: np.cos(9.0 * t + np.arange(dim)), "pull": np.full(dim, 0.5)}
    fast, plain = both(system, system.sample, np.linspace(0.0, 0.4, 21), method=method, inputs=push)
    assert_same(fast, plain, algebraic=(8 * dim,))
    length = np.linalg.norm(fast["q"][:, dim : 2 * dim] - fast["q"][:, :dim], axis=1)
    np.testing.assert_allclose(length, length[0], rtol=1e-13)
    assert (fast.ledger.largest_residual < 1e-14) == (method != "midpoint")  # V is not quadratic
    assert fast.ledger.total_dissipation.min() > 0.0


@covering("seed, dim", (0, 1, 2, 3), (2, 3))
def test_random_pairs_of_point_masses_take_the_steps_of_numpy(seed, dim):
    """The secants of ``rigid.point_masses``: balanced, on their rods, with the angular momentum of free points."""
    masses, place, velocity, given = random_points(seed, dim)
    built = point_masses(masses, place, **given)
    start, push = built.state(place.ravel(), velocity.ravel()), {"c": lambda t: np.cos(9.0 * t + np.arange(dim))}
    fast, plain = both(built.phdae(), start, np.linspace(0.0, 0.4, 21), method="pair", inputs=push)
    assert_same(fast, plain, algebraic=(8 * dim,))
    length = np.linalg.norm(fast["b"] - fast["a"], axis=1)
    np.testing.assert_allclose(length, length[0], rtol=1e-14)
    assert fast.ledger.largest_residual < 1e-14 and fast.ledger.total_dissipation.min() > 0.0


@pytest.mark.parametrize("mass", [0.0, 0.5])
def test_a_knot_without_mass_takes_the_steps_of_numpy(mass):
    """Its velocities are stage values, as multipliers are: they belong to the middle of the step."""
    built = point_masses(
        {"a": 1.0, "knot": mass},
        [(0.6, -0.8), (0.8, -1.5)],
        gravity=(0.0, -9.81),
        rods=[Rod((0.0, 0.0), "a", 1.0)],
        springs=[
            Spring.linear("a", "knot", stiffness=60.0, length=0.0),
            Spring.linear((1.0, -2.2), "knot", stiffness=60.0, length=0.0, hardening=40.0 * mass),
        ],
        dashpots=[Dashpot((1.0, -2.2), "knot", viscous(0.5))],
    )
    start = built.state([0.6, -0.8, 0.8, -1.5], [0.0, 0.0, 0.0, 0.0])
    fast, plain = both(built.phdae(), start, np.linspace(0.0, 0.5, 51), method="pair")
    assert_same(fast, plain, algebraic=(6, 7, 8) if mass == 0.0 else (8,))
    assert fast.ledger.largest_residual < 1e-14


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", KIND)
def test_the_jacobian_is_that_of_numpy(method, seed):
    """One correction from a state off the solution: the inverse times the residual, by other factors."""
    system, rng = random_system(seed, 3), np.random.default_rng(seed)
    x0, h, u = system.sample, 0.1, rng.normal(size=6)
    x1 = x0 + 0.1 * rng.normal(size=x0.size)
    pair = GradientPair(system, method, split_of(system.E(x0)))
    energy = float(system.H(x0))
    step, _ = begin(pair.pair, StartData(x0, energy, energy, 0.0, 0.0 * x0), u, h)
    residual, terms = pair.equation(step, x1)
    springs, residuals, jacobians, factors = map(uncompiled_part, ("springs", "residual", "jacobian", "factors"))
    space = arrays.space_of(system.terms)._replace(input_values=u[None])
    space.x[:], space.trial[:], space.size[:] = x0, x1, rng.uniform(0.5, 2.0, x0.size)
    springs.set_invariants(space, 3, space.x, space.invariants_before)
    residuals.set_residual(space, 3, KINDS[method], 0, h, energy)
    np.testing.assert_allclose(space.residual, residual, atol=1e-13 * np.abs(terms.z).max())
    assert jacobians.assemble(space, 3, KINDS[method], h, energy)
    factors.set_correction(space, space.correction)
    jacobian = slopes(step, x1)
    expected = np.linalg.solve(jacobian, residual)
    error = np.abs(space.correction * space.size - expected).max()
    assert error < 1e-15 * np.linalg.cond(jacobian) * np.abs(expected).max()


def test_terms_are_the_functions_of_the_system():
    """Derivatives against differences, invariants, and the functions of rods and springs, in plane and space."""
    for dim in (2, 3):
        system = random_system(4, dim)
        rng = np.random.default_rng(5)
        for _ in range(3):
            x = system.sample + rng.normal(size=system.size)
            system.check(x)
            system.derivatives.check(system, x)
            system.terms.check(system, x)
            assert system.invariants.energy(system.invariants.values(x)) == pytest.approx(system.H(x), rel=1e-13)
            held = system.invariants.jacobian(x).T @ system.invariants.gradient(system.invariants.values(x))
            np.testing.assert_allclose(held, system.E(x).T @ system.z(x), atol=1e-11)


def uncompiled_part(name):
    """A part of the loops as the Python that it is written in."""
    return uncompiled(f"flexph.integration.general.particles.{name}")


@pytest.mark.parametrize("method", KIND)
def test_compiled_or_not_the_bits_are_the_same(method, monkeypatch):
    """Of terms without tanh and exp, which differ by library; where nothing is compiled this says nothing."""
    system = random_system(0, 3, dashpots=[Drag("b", "c", 0.3, growth=0.4), Dashpot("a", "d", viscous(0.2))])
    times = np.linspace(0.0, 0.1, 6)
    compiled = integrate(system, system.sample, times, method=method)
    monkeypatch.setattr(particle_run, "take_steps", uncompiled_part("steps").take_steps)
    plain = integrate(system, system.sample, times, method=method)
    np.testing.assert_array_equal(compiled.states, plain.states)
    np.testing.assert_array_equal(compiled.ledger.residual, plain.ledger.residual)


def test_runs_in_threads_are_those_one_after_the_other():
    """Loops let other threads run while they step: no run writes where another one does."""
    systems, times = [random_system(seed, 3) for seed in (0, 1)], np.linspace(0.0, 2.0, 401)
    alone = [integrate(system, system.sample, times) for system in systems]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda system: integrate(system, system.sample, times), systems))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.states, other.states)


def test_views_are_bound_in_the_order_of_the_arrays():
    """One table binds all views: the struct of compiled code has the fields of the tuple of arrays."""
    text = Path(arrays.__file__).with_suffix(".pxd").read_text(encoding="utf-8")
    views = re.findall(r"^    (I?)(Vec|Mat) (\w+)$", text, flags=re.MULTILINE)
    assert [name for _, _, name in views] == list(arrays.Space._fields)
    for (whole, kind, _), array in zip(views, arrays.space_of(four_particles(1.0).terms), strict=True):
        assert (array.dtype == np.int64) == (whole == "I") and array.ndim == {"Vec": 1, "Mat": 2}[kind]


# --- what they keep -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("method", "kept"), [("gonzalez", False), ("invariants", True)])
def test_long_runs_keep_the_energy(method, kept, steps):
    """Steps without dissipation: round-off does not add up in H, nor, by its gradient, in the momenta."""
    found = integrate(four_particles(0.0), START, 0.01 * np.arange(steps + 1), method=method, save_every=100)
    energy = found.ledger.total_energy
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-11
    for values in momenta(found):
        # angular momentum counts from the origin, from which the particles are 250 m away after 1e5 steps
        assert (np.abs(values - values[0]).max() < 1e-10) == kept


def test_a_run_from_rest_agrees():
    """All states are zero, but for what a force and a weight do: each step is scaled by itself."""
    system = particle_system({"a": 2.0}, [(0.0, 0.0)], gravity=(0.0, -9.81))
    push = {"a": lambda t: (np.sin(t), 1.0)}
    assert_same(*both(system, np.zeros(4), np.linspace(0.0, 1.0, 21), inputs=push), algebraic=())


def test_saving_every_seventh_step_keeps_sums_and_maxima():
    times, push = np.linspace(0.0, 5.0, 501), {"push": lambda t: (np.cos(t), 0.0, 0.3)}
    every = integrate(four_particles(1.0), START, times, inputs=push)
    seventh = integrate(four_particles(1.0), START, times, inputs=push, save_every=7)
    kept = [*range(0, 501, 7), 500]
    np.testing.assert_array_equal(seventh.states, every.states[kept])
    np.testing.assert_array_equal(seventh.times, times[kept])
    firsts = np.array(kept[:-1])
    for name in ("total_dissipation", "iterations"):
        sums = np.add.reduceat(getattr(every.ledger, name), firsts)
        np.testing.assert_allclose(getattr(seventh.ledger, name), sums, rtol=1e-13)
    largest = np.maximum.reduceat(every.ledger.residual, firsts)
    np.testing.assert_array_equal(seventh.ledger.residual, largest)
    np.testing.assert_array_equal(seventh.outputs["push"], every.outputs["push"][np.array(kept[1:]) - 1])


# --- what ends early, and what NumPy takes ------------------------------------------------------------------------


def test_steps_that_loops_do_not_solve_are_numpys():
    """A block of 2 kg comes to rest on dry friction within steps of 0.1 s: further resorts of the iteration do it."""
    friction = coulomb(5.0, speed=1e-4, static=8.0, stribeck=0.1)
    system = particle_system({"block": 2.0}, [(1.0, 0.0)], dashpots=[Dashpot((-9.0, 0.0), "block", friction)])
    asked, by_numpy = [], particle_run.ParticleStepper._with_effort
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            particle_run.ParticleStepper, "_with_effort", lambda s, rows, k: (asked.append(k), by_numpy(s, rows, k))
        )
        fast, plain = both(system, (1.0, 0.0, 3.0, 0.0), np.linspace(0.0, 1.4, 15))
    assert asked
    # at rest the state is a rest of friction's stiff layer: known to the speed times round-off of forces over 5 N
    np.testing.assert_allclose(fast.states, plain.states, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(fast.ledger.total_dissipation, plain.ledger.total_dissipation, rtol=0.0, atol=1e-11)
    assert fast.energy_drift() < 1e-14


def test_an_input_that_fails_keeps_the_finished_steps():
    times, push = np.linspace(0.0, 1.0, 101), {"push": lambda t: (1.0, 0.0, 0.0) if t < 0.5 else None}
    with pytest.raises(InputError, match=r"between t = 0\.5 s and 0\.51 s: input 'push'") as caught:
        integrate(four_particles(1.0), START, times, inputs=push)
    assert caught.value.solution.times[-1] == pytest.approx(0.5)


def test_a_step_without_solution_says_so_as_in_numpy():
    """Steps of 1 s, of points that turn around each other in less, with a spring that hardens a hundredfold."""
    spring = Spring.linear("a", "c", stiffness=100.0, length=0.5, hardening=100.0)
    system = particle_system(
        {"a": 1.0, "b": 2.0, "c": 1.0},
        [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)],
        velocities=[(0.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 3.0, 1.0)],
        springs=[spring],
        rods=[Rod("a", "b", 1.0), Rod("b", "c", 1.0)],
    )
    ends = []
    for given in (system, replace(system, terms=None)):
        with pytest.raises(IntegrationError, match="could not be solved by 'gonzalez'") as caught:
            integrate(given, system.sample, np.arange(11.0))
        ends.append(caught.value.solution)
    shared = min(len(end.times) for end in ends)  # which step is the first without a solution is a matter of round-off
    assert shared > 1
    known, scale = np.setdiff1d(np.arange(system.size), (18, 19)), np.abs(ends[1].states).max()
    first, second = (end.states[:2, known] for end in ends)
    np.testing.assert_allclose(first, second, rtol=0.0, atol=1e-12 * scale)


def test_a_spring_that_loses_its_length_is_named():
    """Two points meet in the middle of the first step: the force has no direction there."""
    spring = Spring.linear("a", "b", stiffness=1.0, length=0.5)
    system = particle_system({"a": 1.0, "b": 1.0}, [(-1.0, 0.0), (1.0, 0.0)], springs=[spring])
    start = (-1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"spring a-b has (zero|no) length"):
        integrate(system, np.zeros(8), (0.0, 0.1))
    assert integrate(system, start, (0.0, 0.1)).ledger.largest_residual < 1e-15


def test_an_interrupt_keeps_the_finished_steps(monkeypatch):
    """Ctrl-C counts when a call of the loop returns: its steps are recorded."""
    taken, advance = [], particle_run.ParticleStepper._advance

    def interrupted(stepper, rows, done):
        if sum(taken) > 100:
            raise KeyboardInterrupt
        taken.append(advance(stepper, rows, done))
        return taken[-1]

    monkeypatch.setattr(particle_run.ParticleStepper, "_advance", interrupted)
    with pytest.raises(IntegrationInterrupted, match="finished steps") as caught:
        integrate(four_particles(1.0), START, np.linspace(0.0, 100.0, 10001))
    assert len(taken) > 1 and len(caught.value.solution.times) == sum(taken) + 1


def noting(taken, name, function):
    def noted(*given, **options):
        taken.append(name)
        return function(*given, **options)

    return noted


def test_who_takes_the_steps(monkeypatch):
    """Loops those of terms by prescribed steps; what replaces a function leaves the terms out, or is refused."""
    taken = []
    for name in ("in_blocks", "prescribed", "controlled"):
        monkeypatch.setattr(runs, name, noting(taken, name, getattr(runs, name)))
    system = four_particles(1.0)
    low = {"low": Event(lambda t, x: x["q"][0] + 1.0)}
    invariants = replace(system.invariants)
    for given, options in (
        (system, {}),
        (system, {"method": Gauss(2)}),
        (replace(system, derivatives=None), {}),
        (replace(system, terms=None), {}),
        (system, {"method": DiracDissipative()}),
        (system, {"method": Gauss(4)}),
        (system, {"method": DiscreteGradient(completion="new")}),
        (system, {"events": low}),
        (replace(system, invariants=invariants), {"method": "invariants"}),
        (replace(system, means={"J": lambda x0, x1: system.J(0.5 * (x0 + x1))}), {}),
        (system, {"method": DiscreteGradient(tolerance=1e-2)}),
    ):
        integrate(given, START, (0.0, 0.01), **options)
    assert taken == ["in_blocks"] * 3 + ["prescribed"] * 7 + ["controlled"]
    with pytest.raises(ValueError, match="terms must belong to the system, but its R differs"):
        replace(system, R=np.zeros((26, 26)))
    with pytest.raises(ValueError, match=r"26 states and 0 inputs.* 26 and 3"):
        replace(system, B=None, ports={})


def test_who_takes_the_steps_of_point_masses(monkeypatch):
    """Loops where all laws are known; in other coordinates there are no terms, and other means are refused."""
    taken = []
    for name in ("in_blocks", "prescribed"):
        monkeypatch.setattr(runs, name, noting(taken, name, getattr(runs, name)))
    masses, place, velocity, given = random_points(0, 2)
    built = point_masses(masses, place, **given)
    hard = Spring("a", "c", lambda at: at**2, lambda at: 2.0 * at)
    for system in (built, built.split_port("a", {"x": 1, "y": 1}), point_masses(masses, place, springs=[hard])):
        for method in ("pair", "gonzalez"):
            integrate(system.phdae(), system.state(place.ravel(), 0.0 * velocity.ravel()), (0.0, 0.01), method=method)
    assert taken == ["in_blocks", "prescribed"] * 2 + ["prescribed"] * 2
    assert resolve(built, np.eye(8)).phdae().terms is None
    own = built.phdae()
    for means, message in (
        ({**own.means, "R": lambda x0, x1: 2.0 * own.R(x0)}, "its mean of R differs"),
        ({"z": own.means["z"]}, "terms with a pair must have means of J, R, B and z, got those of z"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(own, means=means)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"springs": [Spring("a", "b", lambda at: at, lambda at: 1.0)]}, r"spring a-b must be one of Spring.linear\("),
        ({"rods": [Rod("a", "z", 1.0)]}, r"no point 'z': there are 'a', 'b'"),
        ({"rods": [Rod("a", "a", 1.0)]}, "rod a-a must have different ends"),
        ({"rods": [Rod("a", "b", -1.0)]}, "length of rod a-b must be positive, got -1"),
        (
            {"dashpots": [Spring.linear("a", "b", stiffness=1.0, length=1.0)]},
            r"dashpots\[0\] must be a Dashpot or a Drag, got Spring",
        ),
        ({"ports": {"push": "z"}}, r"no point 'z': there are 'a', 'b'"),
        ({"gravity": (0.0, 1.0, 2.0)}, r"gravity must have shape \(2,\), got \(3,\)"),
        ({"velocities": [(0.0, 1.0)]}, r"velocities must have shape \(2, 2\), got \(1, 2\)"),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        particle_system({"a": 1.0, "b": 2.0}, [(0.0, 0.0), (1.0, 0.0)], **change)
    with pytest.raises(ValueError, match=r"mass of 'a' must be positive, got 0"):
        particle_system({"a": 0.0}, [(0.0, 0.0)])
    with pytest.raises(ValueError, match="growth must not be negative, got -1"):
        Drag("a", "b", 1.0, growth=-1.0)
