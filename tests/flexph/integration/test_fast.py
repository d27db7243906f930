"""The compiled kernels: runs that are those of the NumPy kernels, their banded solver, the order of the unknowns."""

import math
from functools import partial

import numpy as np
import pytest
from covering import covering
from sample_mechanisms import CASES, chain, crank_slider, doubled, pendulum
from uncompiled import uncompiled

import rigid
from cases import double_four_bar
from flexph import GROUND, Event, InputError, IntegrationError, connect, hinge, integrate
from flexph.mechanisms.arrays import network
from flexph.methods import Decaying, Exact, Exact4, ExactGauss, by_name

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
STEP = 1e-3


@pytest.fixture
def no_help(monkeypatch):
    """Compiled runs without NumPy steps in between."""
    from flexph.integration.blocks import prescribed_steps

    def not_compiled(run, stepper, time, saved):
        raise AssertionError(f"the step to t = {time} s was not solved by the compiled kernels")

    monkeypatch.setattr(prescribed_steps, "not_compiled", not_compiled)


def both(case, steps, method=Exact, *, ways=(True, False), **options):
    """The compiled run and that of the NumPy kernels."""
    mechanism, start, inputs = case
    times, values = STEP * np.arange(steps + 1), [method(compiled=flag) for flag in ways]
    return [integrate(mechanism, start, times, inputs=inputs, method=value, **options) for value in values]


def in_loops(case, steps, **options):
    """The compiled run alone."""
    (run,) = both(case, steps, ways=(True,), **options)
    return run


def agree(fast, slow, tolerance=1e-9, multipliers=1e-6, iterations=0.1):
    """All that two runs have; stresses, rates and multipliers are compared with the largest of their kind."""
    parts = slow.mechanism.layout.parts
    for name, part in parts.items():
        if part.stop <= slow.states.shape[1]:
            size = max(np.abs(slow.states[:, part]).max(), 1e-3)
            assert np.abs(fast.states[:, part] - slow.states[:, part]).max() <= tolerance * size, name
    assert np.array_equal(fast.times, slow.times)
    assert np.array_equal(fast.multiplier_times, slow.multiplier_times)
    for name in ("multipliers", "stage_multipliers"):
        given, wanted = getattr(fast, name), getattr(slow, name)
        assert np.abs(given - wanted).max(initial=0.0) <= multipliers * np.abs(wanted).max(initial=0.0), name
    for kind in ("energy", "work", "joint_work", "dissipation"):
        given, wanted = getattr(fast.ledger, kind), getattr(slow.ledger, kind)
        assert list(given) == list(wanted)
        for name in wanted:
            assert np.abs(given[name] - wanted[name]).max() <= tolerance * slow.ledger.scale, (kind, name)
    assert fast.ledger.largest_residual < 1e-14
    assert fast.ledger.position_residual.max(initial=0.0) < 1e-14
    assert fast.ledger.velocity_residual == pytest.approx(slow.ledger.velocity_residual, rel=1e-6, abs=1e-9)
    assert fast.ledger.iterations.mean() == pytest.approx(slow.ledger.iterations.mean(), rel=iterations)


@pytest.mark.parametrize("name", CASES)
def test_a_compiled_run_is_that_of_the_numpy_kernels(name, no_help):
    agree(*both(CASES[name](), 24))


CONTROLLED = {**CASES, "least norm": doubled}


@pytest.mark.parametrize("name", CONTROLLED)
def test_so_are_steps_chosen_by_their_error(name):
    """The same steps, accepted and rejected, and the same impulses between them."""
    options = {"tolerance": 1e-3, "redundant": "least_norm" if name == "least norm" else "refuse"}
    steps = 40 if name == "least norm" else 16  # after which its vibrations have a size
    fast, slow = both(CONTROLLED[name](), steps, method=partial(Exact, **options), save_every=steps // 2)
    np.testing.assert_array_equal(fast.ledger.steps, slow.ledger.steps)
    np.testing.assert_array_equal(fast.ledger.rejected, slow.ledger.rejected)
    agree(fast, slow)


DECAYING = [name for name in CONTROLLED if name not in ("damped", "mean axis")]


@covering("name, tolerance, matrices", DECAYING, (None, 1e-3), ("full", "banded"), strength=1)
def test_so_are_steps_that_lose_energy(name, tolerance, matrices, no_help, monkeypatch):
    """With the impulses after them, and what is lost; by full and by banded matrices of bodies."""
    from flexph.integration.loops import filters

    monkeypatch.setattr(filters, "NARROW", 0 if matrices == "banded" else 1000)
    options = {"tolerance": tolerance, "redundant": "least_norm" if name == "least norm" else "refuse"}
    case = {**CASES, "least norm": doubled}[name]()
    fast, slow = both(case, 16, method=partial(Decaying, 0.4, **options), save_every=8 if tolerance else 1)
    np.testing.assert_array_equal(fast.ledger.steps, slow.ledger.steps)
    assert slow.ledger.dissipation["numerical"].sum() > 0.0
    agree(fast, slow)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_loops_that_lose_energy_take_mechanisms_of_any_size(tolerance, monkeypatch):
    """Full matrices are those of single bodies there: the same bits as where all are dense."""
    runs, method = [], Decaying(0.4, tolerance=tolerance, compiled=True)
    for limit in (network.DENSE_LIMIT, 0):
        monkeypatch.setattr(network, "DENSE_LIMIT", limit)
        mechanism, start, _ = chain(3)
        runs.append(integrate(mechanism, start, STEP * np.arange(41), method=method))
    np.testing.assert_array_equal(*(run.states for run in runs))
    assert runs[1].ledger.largest_residual < 1e-14
    with pytest.raises(ValueError, match="keeps dense matrices"):
        integrate(mechanism, start, STEP * np.arange(3), method=Decaying(0.4, compiled=False))


def test_events_are_found_in_blocks_of_steps(no_help, monkeypatch):
    """Passed ones, one on a time of the run, and one that ends it: times, states and rows are those of single steps."""
    case = crank_slider()
    events = {
        "turns": lambda t, x: x.spin("rod"),
        "clock": lambda t, x: t - 0.037,
        "end": Event(lambda t, x: t - 0.1234, terminal=True),
    }
    fast, slow = both(case, 125, events=events, save_every=7)
    agree(fast, slow)
    assert fast.times[-1] == pytest.approx(0.1234, abs=1e-15)
    assert len(fast.events["turns"].times) > 0
    for name in events:
        assert fast.events[name].times == pytest.approx(slow.events[name].times, abs=1e-12)
        np.testing.assert_allclose(fast.events[name].states, slow.events[name].states, rtol=1e-9, atol=1e-9)
    from flexph.integration.blocks import sizes

    monkeypatch.setattr(sizes, "FIRST", 1)
    monkeypatch.setattr(sizes, "SLOW", math.inf)
    monkeypatch.setattr(sizes, "GROWTH", 1)
    singly = in_loops(case, 125, events=events, save_every=7)
    assert np.array_equal(singly.states, fast.states)


def test_an_event_that_raises_keeps_the_steps_before():
    def raises(t, x):
        return 1.0 if t < 0.0495 else math.inf

    with pytest.raises(InputError, match="event 'raises' must be finite") as caught:
        both(pendulum(), 100, events={"raises": raises})
    assert len(caught.value.solution.times) == 50


@pytest.mark.parametrize("method", [Exact, Exact4])
def test_so_is_one_with_multipliers_of_least_norm(method, no_help):
    agree(*both(doubled(), 12, method=partial(method, redundant="least_norm")))


def test_what_is_perpendicular_to_dependent_columns():
    """Of a matrix of rank 5 up to a part of 1e-9; with a part at the limit itself nothing is decided."""
    perpendicular, rng = callable_from_python("perpendicular", "dense"), np.random.default_rng(3)
    left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (8, 11))
    for weak, expected in ((0.0, 3), (1e-9, 3), (1e-3, 2), (1e-6, -1)):
        values = np.array([3.0, 2.0, 1.0, 0.5, 0.1, 3.0 * weak, 0.0, 0.0])
        A, out = (left * values) @ right[:8], np.zeros((8, 8))
        count = perpendicular(A.copy(), 1e-6, np.zeros(8), np.zeros(11), out)
        assert count == expected
        if count > 0:
            np.testing.assert_allclose(out[:count] @ out[:count].T, np.eye(count), atol=1e-14)
            np.testing.assert_allclose(out[:count] @ A, 0.0, atol=max(3.0 * weak if weak < 1e-6 else 0.0, 1e-14))


def test_quadratic_axial_displacements_with_damping(no_help):
    agree(*both(crank_slider(damping=1e-3, elements=2, pair="quadratic"), 20))
    agree(*both(chain(1, pair="quadratic", damping=1e-3), 20))


@pytest.mark.parametrize("name", ["crank-slider", "chain in space"])
def test_so_is_one_of_fourth_order(name, no_help):
    mechanism, start, _ = CASES[name]()
    agree(*both((mechanism, start, {}), 12, method=Exact4))


@pytest.mark.parametrize("name", CASES)
def test_so_is_one_of_gauss_collocation(name):
    """Which converges more slowly: its Jacobian is that of one state for all nodes."""
    rough = {"tolerance": 1e-8} if name == "loaded" else {}
    agree(*both(CASES[name](), 12, method=ExactGauss), iterations=9.0, **rough)


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, 2, 4, 5])
def test_so_are_those_of_other_numbers_of_nodes(stages, no_help):
    """Real and complex systems for odd numbers of nodes, complex ones alone for even; steps of different lengths."""
    mechanism, start, inputs = crank_slider(damping=1e-3)
    times = np.cumsum([0.0, *np.random.default_rng(stages).uniform(0.3, 2.0, 20)]) * STEP
    methods = (ExactGauss(stages, compiled=flag) for flag in (True, False))
    agree(*(integrate(mechanism, start, times, inputs=inputs, method=method) for method in methods), iterations=9.0)


def test_rows_between_saved_ones_are_merged(no_help):
    fast, slow = both(CASES["damped"](), 75, save_every=7)
    assert len(fast.times) == 12
    agree(fast, slow)


def test_steps_of_different_lengths(no_help):
    mechanism, start, inputs = crank_slider()
    times = np.cumsum([0.0, *np.random.default_rng(0).uniform(0.3, 2.0, 30)]) * STEP
    agree(*(integrate(mechanism, start, times, inputs=inputs, method=Exact(compiled=flag)) for flag in (True, False)))


def test_a_run_goes_on_where_it_ended_to_the_last_bit(no_help):
    mechanism, start, inputs = crank_slider()
    times = STEP * np.arange(91)
    whole = integrate(mechanism, start, times, inputs=inputs, method=Exact(compiled=True))
    first = integrate(mechanism, start, times[:31], inputs=inputs, method=Exact(compiled=True))
    second = integrate(mechanism, first.final, times[30:], inputs=inputs, method=Exact(compiled=True))
    assert np.array_equal(np.vstack([first.states, second.states[1:]]), whole.states)
    assert np.array_equal(np.vstack([first.multipliers, second.multipliers]), whole.multipliers)


def test_the_round_off_of_a_long_chain_is_no_reason_to_stop(no_help):
    """Corrections of 200 hinged bars stagnate at 1e-12 to 1e-10 of the motion, while the balance holds to round-off."""
    bars = {f"b{i}": rigid.bar(0.1, 0.2) for i in range(200)}
    ends = [GROUND.at(0.0, 0.0), *(f"b{i}.tip" for i in range(199))]
    joints = [hinge(f"b{i}.root", end) for i, end in enumerate(ends)]
    mechanism = connect(bars, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"b0": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, STEP * np.arange(41), method=Exact(compiled=True))
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.position_residual.max() < 1e-13


@pytest.mark.parametrize("steps", [137, 1234])
def test_singular_poses_are_passed_in_the_loops(steps, no_help):
    """Ten of them, by the balance of each step, where corrections stagnate far above round-off."""
    mechanism = double_four_bar.double_four_bar()
    times = np.linspace(0.0, 10.0, steps + 1)
    run = integrate(mechanism, double_four_bar.start(mechanism), times, method=Exact(compiled=True))
    assert run.ledger.largest_residual < 1e-13
    assert run.ledger.position_residual.max() < 1e-14


def test_so_is_one_that_a_step_ends_on(no_help):
    """5e-7 rad from the pose, where multipliers reach 1e9 N: constraints are taken by their increments."""
    mechanism = double_four_bar.double_four_bar()
    start, times = double_four_bar.start(mechanism), 0.014286449985976 * np.arange(51)
    fast, slow = (integrate(mechanism, start, times, method=Exact(compiled=flag)) for flag in (True, False))
    energy = fast.ledger.total_energy
    assert np.abs(energy - energy[0]).max() <= 1e-11
    np.testing.assert_allclose(fast.states, slow.states, atol=1e-6)  # spins of bars are undetermined by round-off there


def test_so_does_one_of_fourth_order(no_help):
    mechanism, start, _ = CASES["chain in space"]()
    times = STEP * np.arange(25)
    whole = integrate(mechanism, start, times, method=Exact4(compiled=True))
    first = integrate(mechanism, start, times[:9], method=Exact4(compiled=True))
    second = integrate(mechanism, first.final, times[8:], method=Exact4(compiled=True))
    assert np.array_equal(np.vstack([first.states, second.states[1:]]), whole.states)
    assert np.array_equal(np.vstack([first.multipliers, second.multipliers]), whole.multipliers)


@pytest.mark.parametrize("save_every", [1, 4])
def test_sizes_of_pieces_change_nothing(monkeypatch, save_every):
    """Rows are kept in pieces, here of a few rows, and blocks of steps end within them."""
    from flexph.integration.blocks import sizes
    from flexph.integration.times import recorder

    whole = in_loops(CASES["damped"](), 75, save_every=save_every)
    monkeypatch.setattr(sizes, "FIRST", 5)
    monkeypatch.setattr(sizes, "SHORTEST", 0.0)
    monkeypatch.setattr(recorder, "LARGEST_PIECE", 1)
    pieces = in_loops(CASES["damped"](), 75, save_every=save_every)
    for part in ("times", "states", "multiplier_times", "multipliers", "stage_multipliers"):
        assert np.array_equal(getattr(pieces, part), getattr(whole, part))
    assert np.array_equal(pieces.ledger.residual, whole.ledger.residual)
    assert np.array_equal(pieces.ledger.total_energy, whole.ledger.total_energy)


def test_sizes_of_blocks_change_nothing(monkeypatch):
    from flexph.integration.blocks import sizes

    whole = in_loops(CASES["damped"](), 75, save_every=4)
    monkeypatch.setattr(sizes, "FIRST", 5)
    monkeypatch.setattr(sizes, "SHORTEST", 0.0)
    pieces = in_loops(CASES["damped"](), 75, save_every=4)
    assert np.array_equal(pieces.states, whole.states)
    assert np.array_equal(pieces.ledger.residual, whole.ledger.residual)
    assert np.array_equal(pieces.multipliers, whole.multipliers)


@pytest.mark.parametrize("flag", [True, False])
def test_a_step_that_cannot_be_solved_keeps_the_finished_ones(flag):
    mechanism, start, _ = crank_slider()
    times = np.append(STEP * np.arange(21), 5.0)
    with pytest.raises(IntegrationError, match=r"from t = 0\.02 s to 5 s .* 20 steps before it are finished") as caught:
        integrate(mechanism, start, times, method=Exact(compiled=flag))
    assert len(caught.value.solution.times) == 21


def test_a_step_of_fourth_order_that_fails_leaves_the_row_under_way_as_it_was():
    mechanism, start, _ = crank_slider()
    times = np.append(STEP * np.arange(10), 5.0)
    whole = integrate(mechanism, start, times[:-1], method=Exact4(), save_every=4)
    with pytest.raises(IntegrationError) as caught:
        integrate(mechanism, start, times, method=Exact4(), save_every=4)
    kept = caught.value.solution
    assert np.array_equal(kept.times, whole.times)
    assert np.array_equal(kept.states, whole.states)
    assert np.array_equal(kept.multipliers, whole.multipliers)
    assert np.array_equal(kept.ledger.iterations, whole.ledger.iterations)
    assert np.array_equal(kept.ledger.total_energy, whole.ledger.total_energy)


@pytest.mark.parametrize("first, second", [("exact4", "exact"), ("exact", "exact4"), ("control", "exact")])
def test_a_run_goes_on_by_another_method(first, second):
    mechanism, start, _ = crank_slider()
    method = Exact(tolerance=1e-2) if first == "control" else by_name(first)
    before = integrate(mechanism, start, STEP * np.arange(9), method=method)
    runs = [
        integrate(mechanism, before.final, STEP * np.arange(8, 20), method=by_name(second, compiled=flag))
        for flag in (True, False)
    ]
    agree(*runs)


@pytest.mark.parametrize("flag", [True, False])
def test_an_input_without_a_value_keeps_the_finished_steps(flag):
    mechanism, start, _ = crank_slider()

    def push(t):
        return (0.0, 0.0) if t < 0.0305 else (math.nan, 0.0)

    with pytest.raises(InputError, match="must be finite") as caught:
        integrate(
            mechanism, start, STEP * np.arange(61), inputs={"force slider.point": push}, method=Exact(compiled=flag)
        )
    assert len(caught.value.solution.times) == 31


def test_compiled_is_a_truth_value():
    with pytest.raises(ValueError, match="compiled must be True or False, got 1"):
        Exact(compiled=1)


def test_the_border_of_a_chain_stays_narrow():
    """The cost of a body does not grow with the number of bodies."""
    from flexph.integration.loops.build import constants

    widths = [int(chain(bodies)[0].once(constants).border.size[1]) for bodies in (3, 6, 12)]
    assert widths[2] <= widths[1] + 3 <= 40


def test_the_jacobian_of_collocation_falls_apart():
    """A⁻¹ = Re Σ v μ wᵀ over a real eigenvalue and one of each pair."""
    from flexph.integration.loops.gauss.scheme import spectrum
    from flexph.numerics.gauss_tableau import gauss

    for stages in range(1, 6):
        inverse = gauss(stages).inverse
        eigenvalue, left, right = spectrum(stages)
        assert (eigenvalue.imag == 0.0).tolist() == [k == 0 and stages % 2 == 1 for k in range((stages + 1) // 2)]
        assert ((right * eigenvalue) @ left).real == pytest.approx(inverse, abs=1e-13 * np.abs(inverse).max())
        assert (right @ left).real == pytest.approx(np.eye(stages), abs=1e-13)


def callable_from_python(name, file="band"):
    """A function that only other loops call, from its source."""
    return getattr(uncompiled(f"flexph.numerics.algebra.{file}"), name)


@pytest.mark.parametrize("kind", [float, pytest.param(complex, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size, width", [(1, 0), (7, 2), (30, 5), (12, 11)])
def test_the_banded_solver(size, width, kind):
    from flexph.numerics.loops.views import stored

    factor, solve, solve_many = (callable_from_python(name) for name in ("factor", "solve", "solve_many"))

    rng = np.random.default_rng(size)
    numbers = lambda *shape: rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if kind is complex else 0.0)  # noqa: E731
    dense = np.triu(np.tril(numbers(size, size), width), -width)
    dense[np.arange(size), np.arange(size)] *= 0.1  # rows have to be exchanged
    banded = np.zeros((size, stored(width)), dtype=kind)
    for i in range(size):
        for j in range(max(0, i - width), min(size, i + width + 1)):
            banded[i, j - i + width] = dense[i, j]
    pivot, right = np.zeros(size, dtype=np.int64), numbers(size, 4)
    one, many = right[:, 0].copy(), right.copy()
    assert factor(banded, pivot, width)
    solve(banded, pivot, width, one)
    solve_many(banded, pivot, width, many)
    exact = np.linalg.solve(dense, right)
    bound = 1e-14 * np.linalg.cond(dense)
    assert np.abs(many - exact).max() <= bound * np.abs(exact).max()
    assert np.abs(one - exact[:, 0]).max() <= bound * np.abs(exact).max()


def test_a_dominant_diagonal_is_the_pivot():
    """Rows are exchanged only where they have to be: exchanges double the width."""
    from flexph.numerics.loops.views import stored

    factor, least = (callable_from_python(name) for name in ("factor", "LEAST"))

    banded = np.zeros((2, stored(1)))
    banded[:, 1], banded[0, 2] = 1.0, 0.5
    for below, expected in ((0.9 / least, 0), (1.1 / least, 1)):
        given, pivot = banded.copy(), np.zeros(2, dtype=np.int64)
        given[1, 0] = below
        assert factor(given, pivot, 1)
        assert pivot[0] == expected


def test_fields_of_a_memory_are_views_of_it():
    """Of every kind that there is; a copy has its own."""
    from flexph.integration.loops.workspace import memory

    mechanism, _, _ = crank_slider()
    whole = memory(mechanism)
    m = whole.copy()
    m.at_w[0, 0] = 1.0
    m.x_v[:] = 2.0
    assert m.at_w[0, 0] == 1.0 and (m.x_v == 2.0).all()
    assert not m.x_lam.any() and not m.defect_v.any() and not whole.at_w.any()
    assert m.inertia_mass.dtype == np.float64 and m.nodes_body.dtype == np.int64
    assert m.inertia_mass[0] == 0.1  # kg, of the crank
    with pytest.raises(AttributeError, match="no field 'at_z'"):
        m.at_z  # noqa: B018


@pytest.mark.parametrize("dim", [2, 3])
def test_lanes(dim):
    """Sums over a few numbers at a time, against NumPy; what lies beyond the last lane is left alone."""

    from flexph.integration.loops.memory.products import kinds
    from flexph.numerics.loops import views

    rng, width = np.random.default_rng(0), kinds(dim)
    C = rng.standard_normal((5, 8))
    A, B, x, col = (
        rng.standard_normal(16),
        rng.standard_normal(16),
        rng.standard_normal(6),
        np.array([0, 1, 5, 2, 4, 3]),
    )
    mean, form = rng.standard_normal((3, dim)), rng.standard_normal((dim, width))
    val, out = rng.standard_normal((6, width)), np.zeros((3, width))
    taken, mixed = A.copy(), B.copy()
    taken[1:9] -= 0.5 * B[3:11]
    mixed[8:12] = 2.0 * taken[8:12] - B[8:12]
    rows = C.copy()
    rows[4, :4] -= C[4, 4:] @ C[:4, 1:5]
    views.take(A, 1, B, 3, 0.5, 5)
    views.mix(B, 8, 2.0, A, -1.0, B, 4)
    views.take_rows(C, 32, 36, 1, 8, 3)
    views.combine(dim, out, 1, mean, form, val, 2, 5, -1, x, col)
    np.testing.assert_allclose(A, taken, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(B, mixed, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(C, rows, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(out[1], mean[1] @ form + x[col[2:5]] @ val[1:4], rtol=1e-14, atol=1e-14)
    assert not out[[0, 2]].any()


def test_a_singular_matrix_is_not_factored():
    from flexph.numerics.loops.views import stored

    factor = callable_from_python("factor")
    assert not factor(np.zeros((3, stored(1))), np.zeros(3, dtype=np.int64), 1)


def test_orders_of_unknowns_are_kept_for_mechanisms_that_are_built_the_same_way(monkeypatch):
    """And for no others: the memory of each is that which is made without any other before it."""
    from flexph.integration.loops import border, build, workspace
    from flexph.integration.loops.flexible import kept_indices
    from flexph.integration.loops.memory import packing

    samples = crank_slider, pendulum, partial(crank_slider, elements=2), partial(crank_slider, damping=1e-3)
    made = [sample()[0] for sample in (*samples, crank_slider)]
    memories = [workspace.memory(mechanism) for mechanism in made]
    assert memories[0].table is memories[-1].table
    assert build.constants(made[0]).border is build.constants(made[-1]).border
    for room in (border, kept_indices, packing):
        monkeypatch.setattr(room, "FEW", -1)
    for mechanism, memory in zip(made, memories, strict=True):
        alone = workspace.memory(mechanism.__class__(mechanism.bodies, mechanism.connections, mechanism.gravity))
        for name in ("reals", "wholes", "table"):
            np.testing.assert_array_equal(getattr(memory, name), getattr(alone, name))
