"""Time integration of mechanisms with the exact polynomial scheme."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from tqdm import tqdm

from . import checks as check
from .assembly import extent
from .initial import check_consistent, refuse_redundant, row_sizes
from .inputs import Forcing, Input
from .joints.laws import Angle
from .kernels.gradient import constraint_matrix, world_spin_levers
from .kernels.state import Configuration, Derived, constraint_sums, derive, node_displacement
from .kernels.step import Means, Schedule
from .ledger import Accounts, balance, make_ledger
from .linear import LinearPHDAE
from .methods.events import Event
from .methods.library import SOLVERS
from .methods.mechanisms import integrate_mechanism
from .methods.run import METHODS, ascending, integrate_system
from .newton import Converged, NoConvergence, solve_step
from .phdae import PHDAE, from_linear
from .redundancy import independent
from .solution import Solution
from .space import Array
from .state import State, TimeTable, configuration, flat, law_products, laws, schedule
from .trajectory import Trajectory
from .unfinished import InputError, IntegrationError, IntegrationInterrupted

if TYPE_CHECKING:
    from .mechanism import Mechanism

GeneralMethod = Literal[
    "gonzalez", "mean_value", "invariants", "dirac", "midpoint", "gauss4", "gauss6", "radau", "bdf", "ida"
]

SMALL_ROTATION = 0.3
"""Section rotation [rad] up to which linearised rotations are kept: their error is of second order, 4 % at 0.3."""


CLOSED = 1e-9
"""Gap over the size of the mechanism beyond which redundant constraints contradict each other: far above round-off."""
UNBALANCED = 1e-9
"""Balance residual over the energy above which a run warns: far above round-off, nothing should reach it."""
RESTING = 1e-9
"""Way over the size of the mechanism, at the largest speed of a run, up to which it counts as a run at rest."""
LONG_TURN = 1.0
"""Turn of a body in a step [rad] beyond which a run warns: its phase is then off by 8 %."""
SAMPLES = 50
HELD = 0.9
"""s² + c² of a driven angle below which its axis is not held: a tilt of 0.3 rad, as flexible sections may have."""
JUMP = 0.1
"""Velocity defect over the largest speed above which a run warns: a resolved motion leaves the square of hω."""


class ValidityWarning(UserWarning):
    """A result has left the range in which the model is valid."""


@overload
def integrate(
    system: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: Literal["exact"] | None = None,
    inputs: Mapping[str, Input] | None = None,
    save_every: int = 1,
    progress: bool = True,
    redundant: Literal["refuse", "least_norm"] = "refuse",
) -> Solution: ...


@overload
def integrate(
    system: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    tolerance: Any = None,
    inputs: Mapping[str, Input] | None = None,
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
) -> Trajectory: ...


@overload
def integrate(
    system: PHDAE | LinearPHDAE,
    start: Sequence[float] | Array,
    times: Sequence[float] | Array,
    *,
    method: str | None = None,
    tolerance: Any = None,
    inputs: Mapping[str, Input] | None = None,
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
) -> Trajectory: ...


def integrate(
    system: Any,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: str | None = None,
    tolerance: Any = None,
    inputs: Mapping[str, Input] | None = None,
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
    redundant: Literal["refuse", "least_norm"] = "refuse",
) -> Solution | Trajectory:
    """Integrate a mechanism or a general system over the given times, one step from each to the next.

    Of a mechanism, from a :class:`State`, with ``method="exact"`` (the default), the scheme is a discrete gradient pair
    ([dg] eq. (18)) that is exact for these polynomial equations at any step:
    ΔH = work − dissipation, RᵀR = 1, position constraints and both momenta hold to round-off. It is symmetric, of
    second order in positions, velocities and midpoint multipliers, and adds no damping of its own.
    Velocities keep the constraints in the mean of each step, and at its ends to second order; what that adds to the
    multipliers, to one side and the other in turn, is taken from those returned and left in the ``stage_multipliers``.
    Equal steps keep that order; where long and short steps alternate, velocities and multipliers fall to first order.

    Of a :class:`PHDAE` or :class:`LinearPHDAE`, from an array (n,), the methods are

    - ``gonzalez`` (default), ``mean_value``, ``invariants``: discrete gradient pairs ([dg] eq. (18)-(21)) by the
      gradient they take, for systems with a constant E (proposition 2) or semi-explicit ones: ΔH = work − dissipation
      to round-off, order 2; ``dirac``: the same with the costates as unknowns ([dg] eq. (25)-(26)), for any E;
    - ``midpoint``, ``gauss4``, ``gauss6``: Gauss collocation of order 2, 4 and 6: balanced where H is quadratic.

    - ``radau`` (Radau IIA of order 5), ``bdf`` (orders 1 to 5) of scipy_dae (extra ``dae``), ``ida`` (BDF of
      SUNDIALS, extra ``ida``): adaptive, on ``F(t, x, ẋ) = E(x)ẋ − (J − R)z − Bu`` of index 1 or 2, with ``times``
      only those that are saved. The errors of the states are kept below ``tolerance=(rtol, atol)``, atol a number or
      (n,), or just rtol (1e-6); without an atol it is rtol times a size that each state has from the start and its
      energy. Multipliers of index 2 take no part in the error test: they are accurate to the tolerance of the momenta
      over the step. Algebraic states of the start are replaced by consistent ones. Work and dissipation are integrals
      of power along the interpolant: the balance holds to the tolerance only, at drives to that of their multipliers.

    A mechanism takes the methods of general systems too, through :meth:`Mechanism.phdae`, and returns a
    :class:`Trajectory`: position constraints then hold to the tolerance or order of the method, drives act by their
    rates (see flexph.methods.mechanisms), and every step is much slower than one of the exact scheme.

    ``times`` ascending [s], beginning at ``start.time``. ``inputs`` by the name of the external port: constant values,
    functions of time, or tables ``(times, values)`` that are interpolated linearly (:class:`flexph.inputs.Table`),
    taken at the middle of each step; ports not named get zero. ``events`` of general systems by name, functions of
    (t, x) or :class:`Event`: zeros that a step passes are found in time (a zero passed twice within a step is missed)
    and kept in ``Trajectory.events``; steps that prescribed times make are cut short at them, so that the event state
    is as exact as any other. Every ``save_every``-th step is kept (and the last). A progress bar appears on a terminal
    for runs that take longer than a second.

    ``redundant="least_norm"`` allows constraints that follow from others (the parallel hinges of a closed loop in
    space): the motion does not depend on them, and of all multipliers that hold it those of least norm are returned,
    torques counting as forces at the lever of the mechanism's size. By default they are refused, with their names.

    Raises ValueError for times that do not ascend, unknown ports, an inconsistent start or redundant constraints,
    ImportError where the package of a method is missing; IntegrationError where a step cannot be solved, InputError (a
    ValueError) where a drive or input gives no usable value, and IntegrationInterrupted on Ctrl-C, all three with the
    finished steps as ``solution``.
    """
    if isinstance(system, LinearPHDAE):
        system = from_linear(system)
    general = {"tolerance": tolerance, "events": events, "save_every": save_every, "progress": progress}
    if isinstance(system, PHDAE):
        return integrate_system(system, start, times, method=method or "gonzalez", inputs=inputs or {}, **general)
    if method not in (None, "exact"):
        check.choice("method of a mechanism", method, ("exact", *METHODS, *SOLVERS))
        if redundant != "refuse":
            raise ValueError(f"redundant={redundant!r} is for method 'exact', got {method!r}")
        return integrate_mechanism(system, start, times, method=method, inputs=inputs or {}, **general)
    if tolerance is not None or events:
        raise ValueError("method 'exact' of a mechanism takes neither tolerance nor events: choose another method")
    return _integrate_mechanism(system, start, times, inputs or {}, save_every, progress, redundant)


def _integrate_mechanism(
    mechanism: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    inputs: Mapping[str, Input],
    save_every: int,
    progress: bool,
    redundant: str,
) -> Solution:
    """See :func:`integrate`."""
    if not isinstance(start, State):
        raise ValueError(f"start must be a State, see mechanism.consistent_state(pose), got {type(start).__name__}")
    grid = _grid(times, start)
    check.count("save_every", save_every)
    forcing = Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim)
    check.choice("redundant", redundant, ("refuse", "least_norm"))
    matrix = check_consistent(mechanism, start)
    if redundant == "refuse":
        refuse_redundant(mechanism, matrix)
    run = _Run(mechanism, start, save_every, redundant == "least_norm")
    try:
        for t0, t1 in zip(
            tqdm(grid[:-1], delay=1.0, disable=None if progress else True, unit="step"), grid[1:], strict=True
        ):
            run.step(float(t0), float(t1), forcing.at(0.5 * (t0 + t1)))
    except NoConvergence as error:
        raise IntegrationError(_explain(run, t0, t1, error), run.solution()) from error
    except KeyboardInterrupt:
        done = run.solution()
        message = f"interrupted at t = {done.times[-1]:.6g} s; the finished steps are in .solution"
        raise IntegrationInterrupted(message, done) from None
    except Exception as error:  # drives and inputs may raise anything: the finished steps are kept
        raise InputError(f"between t = {t0:.6g} s and {t1:.6g} s: {error}", run.solution()) from error
    solution = run.solution()
    _warn_of_rotation(solution)
    _warn_of_defects(solution)
    _warn_of_long_steps(solution, float(np.diff(grid).max()))
    _warn_of_axes(solution)
    return solution


def _grid(times: Sequence[float] | Array, start: State) -> Array:
    grid = ascending(times)
    if grid[0] != start.time:
        raise ValueError(f"times must begin at the time of the start, {start.time} s, got {grid[0]} s")
    return grid


def _explain(run: _Run, t0: float, t1: float, error: NoConvergence) -> str:
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved: {error} after "
        f"{error.iterations} iterations, last correction {error.defect:.1e} of the motion; try a smaller step, check "
        "the drives and loads at this time, and look for a singular pose or redundant joints. "
        f"{run.count} steps before it are finished and kept in .solution"
    )


@dataclass
class _Saved:
    """One saved row of a run."""

    time: float
    state: Array
    energy: Array
    middle: float
    stage: Array
    multipliers: Array
    flows: Array
    audit: Array
    memory: Array


class _Run:
    """The loop's working memory: the current state, what the next step starts from, and the rows kept so far."""

    def __init__(self, mechanism: Mechanism, start: State, save_every: int, least_norm: bool) -> None:
        self.mechanism, self.a, self.save_every = mechanism, mechanism.network.arrays, save_every
        self.least_norm = least_norm
        self.accounts, self.table = Accounts(mechanism), TimeTable(mechanism, start.anchors)
        self.anchors = start.anchors
        self.sizes = np.cumsum([mechanism.layout.bodies * self.a.dim, mechanism.layout.bodies * self.a.n.shape[0]])
        self.rows_of_g = mechanism.layout.multipliers
        width = int(self.sizes[-1]) + self.a.body_u.size + 2 * self.rows_of_g
        self.memory = start.memory.reshape(-1, width)
        self.c = configuration(mechanism, start.x)
        self.d = derive(self.a, self.c)
        self.energy = self.accounts.energies(self.c, self.d)
        self.first = (start.time, start.x, self.energy)
        self.rows: list[_Saved] = []
        self.pending: _Saved | None = None
        self.count = 0
        self.defect = self._first_defect(start)  # G v − ∂g/∂t at the end of the last step

    def step(self, t0: float, t1: float, inputs: Array) -> None:
        """Advance by one step and book it; the run changes only when the step is solved."""
        h, a = t1 - t0, self.a
        prescribed = self._schedule(t0, t1, inputs)
        found = solve_step(a, self.c, self.d, h, prescribed, self._guess(prescribed))
        means = found.means._replace(lam=prescribed.multipliers(found.means.lam))
        x = flat(self.mechanism, found.trial.end)
        c = configuration(self.mechanism, x)
        d = derive(a, c)
        energy = self.accounts.energies(c, d)
        flows = self.accounts.step(self.c, h, means, found.trial, prescribed)
        defect = self._rate(c, d, prescribed.coefficient_1, self.table.rates(t1, h))
        gap = constraint_sums(a, d.product, prescribed.coefficient_1, prescribed.offset_1)
        self._check_followers(gap, prescribed, found)
        residual = abs(balance(self.accounts, self.energy, energy, flows))
        largest = [float(np.abs(part).max(initial=0.0)) for part in (gap, defect)]
        audit = np.array([residual, *largest, found.iterations])
        memory = np.vstack([self.memory[-1:], np.concatenate([*map(np.ravel, means), defect])])
        lam = means.lam - self._alternating(found, h, defect, prescribed)
        self._keep(_Saved(t1, x, energy, 0.5 * (t0 + t1), means.lam, lam, flows, audit, memory))
        self.c, self.d, self.energy, self.memory, self.defect = c, d, energy, memory, defect

    def _schedule(self, t0: float, t1: float, inputs: Array) -> Schedule:
        prescribed = schedule(self.table, t0, t1, inputs)
        if not (self.least_norm and self.rows_of_g):
            return prescribed
        coefficient, d = prescribed.coefficient_0, self.d
        matrix = constraint_matrix(self.a, self.c.R, d.arm, d.vector, coefficient, self.rows_of_g)
        return prescribed._replace(independent=independent(self.mechanism, matrix))

    def _check_followers(self, gap: Array, prescribed: Schedule, found: Converged) -> None:
        """Constraints that followed from others at the start of the step must still hold at its end."""
        if prescribed.independent is None:
            return
        open_by = np.abs(gap) / row_sizes(self.mechanism, found.trial.vector)
        if open_by.max() > CLOSED:
            worst = int(np.argmax(open_by))
            name, most = self.mechanism.constraint_names[worst], abs(gap[worst])
            reason = f"a constraint that followed from others no longer does: {name!r} opens by {most:.1e}"
            raise NoConvergence(reason, found.iterations, 0.0)

    def _alternating(self, found: Converged, h: float, defect: Array, prescribed: Schedule) -> Array:
        """What the change of the velocity defect over the step adds to the multipliers: S⁻¹(e₁ − e₀)/h, S = G M⁻¹Gᵀ.

        The factored Jacobian of the step gives it as the answer to a gap of ½h(e₁ − e₀).
        """
        if not self.rows_of_g:
            return found.means.lam
        v, omega, du = (np.zeros_like(part) for part in found.means[:3])
        nothing = Means(v, omega, du, prescribed.combined(0.5 * h * (defect - self.defect)))
        return prescribed.multipliers(found.solve(nothing).lam)

    def _first_defect(self, start: State) -> Array:
        if len(self.memory):
            return self.memory[-1, self.memory.shape[1] - self.rows_of_g :]
        coefficient, _ = self.table.at(start.time)
        return self._rate(self.c, self.d, coefficient, self.table.rates(start.time))

    def _guess(self, prescribed: Schedule) -> Means:
        """Mean velocities extrapolated from the last two steps, or the present ones; the last multipliers."""
        size = self.memory.shape[1] - 2 * self.rows_of_g
        lam = self.memory[-1:, size : size + self.rows_of_g].sum(axis=0)
        lam = lam if prescribed.independent is None else prescribed.independent.gather @ lam
        if len(self.memory) < 2:
            return Means(self.c.v, self.c.omega, self.c.du, lam)
        ahead = 2.0 * self.memory[-1, :size] - self.memory[-2, :size]
        v, omega, du = np.split(ahead, self.sizes)
        return Means(v.reshape(self.c.v.shape), omega.reshape(self.c.omega.shape), du, lam)

    def _rate(self, c: Configuration, d: Derived, coefficient: Array, prescribed: tuple[Array, Array]) -> Array:
        """G v − ∂g/∂t at a state, with the rates of what time prescribes."""
        a = self.a
        local = node_displacement(a, c.du)
        moved = np.matmul(c.R[a.node_body], local[:, :, None])[:, :, 0]
        moved += np.einsum("ks,ksd->kd", c.omega[a.node_body], world_spin_levers(a, c.R, d.arm))
        speed = a.incidence @ (a.node_moves[:, None] * c.v[a.node_body] + moved)
        rate = np.einsum("pd,pd->p", speed[a.first], d.vector[a.second])
        rate += np.einsum("pd,pd->p", speed[a.second], d.vector[a.first])
        own_c, own_o = prescribed
        return constraint_sums(a, rate, coefficient, own_o) + constraint_sums(a, d.product, own_c, np.zeros_like(own_o))

    def _keep(self, row: _Saved) -> None:
        """Merge the step into the row under way: flows and iterations add up, residuals keep the largest."""
        if self.pending is not None:
            row.flows = self.pending.flows + row.flows
            worst = np.maximum(self.pending.audit, row.audit)
            row.audit = np.append(worst[:3], self.pending.audit[3] + row.audit[3])
        self.count += 1
        if self.count % self.save_every == 0:
            self.rows.append(row)
            self.pending = None
            if len(self.rows) > 1:  # only the last row is ever continued from
                self.rows[-2].memory = row.memory[:0]
        else:
            self.pending = row

    def solution(self) -> Solution:
        """The finished steps as a Solution; the last one is always kept."""
        rows = self.rows + ([self.pending] if self.pending is not None else [])
        memory = rows[-1].memory if rows else self.memory
        time, x, energy = self.first
        stack = lambda name, width: np.array([getattr(r, name) for r in rows]).reshape(len(rows), width)  # noqa: E731
        flows = len(self.accounts.work) + len(self.accounts.joint_work) + len(self.accounts.dissipation)
        return Solution(
            mechanism=self.mechanism,
            times=np.array([time, *(r.time for r in rows)]),
            states=np.vstack([x, *(r.state for r in rows)]),
            multiplier_times=np.array([r.middle for r in rows]),
            multipliers=stack("multipliers", self.mechanism.layout.multipliers),
            stage_multipliers=stack("stage", self.mechanism.layout.multipliers),
            ledger=make_ledger(
                self.accounts,
                np.vstack([energy, *(r.energy for r in rows)]),
                stack("flows", flows),
                stack("audit", 4),
            ),
            anchors=self.anchors,
            memory=memory,
        )


def _warn_of_rotation(solution: Solution) -> None:
    for name, body in solution.mechanism.bodies.items():
        if body.section_rotation is None or not body.size:
            continue
        turned = np.abs(body.section_rotation @ solution.deformation(name).T).max(axis=0)
        if turned.max() > SMALL_ROTATION:
            k = int(np.argmax(turned > SMALL_ROTATION))
            warnings.warn(
                f"a section of {name!r} turns by {turned.max():.2f} rad (more than {SMALL_ROTATION} first at "
                f"t = {solution.times[k]:.4g} s): a floating frame is for moderate deflections; "
                "split the body in two, or take strain='von_karman' if it spins",
                ValidityWarning,
                stacklevel=4,
            )


def _warn_of_long_steps(solution: Solution, h: float) -> None:
    """The structure is kept at any step, the accuracy is not: a turn has a phase error of its cube over 12."""
    spins = {n: np.abs(solution[f"{n}.spin"]).max() for n, b in solution.mechanism.bodies.items() if b.turns}
    name = max(spins, key=lambda n: spins[n], default=None)
    if name is not None and h * spins[name] > LONG_TURN:
        warnings.warn(
            f"{name!r} turns by up to {h * spins[name]:.2g} rad in a step of {h:.3g} s: energy and constraints are "
            "kept, but the motion is not accurate, its phase is off by (ωh)²/12; take shorter steps",
            ValidityWarning,
            stacklevel=4,
        )


def _warn_of_axes(solution: Solution) -> None:
    """Driven angles are about an axis that a joint must hold: then s² + c² = 1."""
    m = solution.mechanism
    angles = [i for i, law in enumerate(laws(m)) if isinstance(law, Angle)]
    if m.layout.dim == 2 or not angles:
        return
    pairs = np.array([law_products(m)[i] for i in angles])
    pick = np.unique(np.linspace(0, len(solution.states) - 1, SAMPLES).round().astype(int))
    found = [derive(m.network.arrays, configuration(m, x)).product[pairs] for x in solution.states[pick]]
    short = (np.array(found) ** 2).sum(axis=2).min(axis=0)
    worst = int(np.argmin(short))
    if short[worst] < HELD:
        warnings.warn(
            f"{m.constraint_names[angles[worst]]}: no joint holds its axis, which tilted by up to "
            f"{np.arccos(np.sqrt(max(short[worst], 0.0))):.2g} rad: the angle has no meaning there; add a revolute "
            "joint",
            ValidityWarning,
            stacklevel=4,
        )


def _warn_of_defects(solution: Solution) -> None:
    """What the ledger says about the run itself."""
    ledger, layout = solution.ledger, solution.mechanism.layout
    start = sum(layout.position_sizes)
    speed = float(np.abs(solution.states[:, start : start + layout.velocities]).max(initial=0.0))
    c = configuration(solution.mechanism, solution.states[0])
    if speed * (solution.times[-1] - solution.times[0]) <= RESTING * extent(solution.mechanism, c.r, c.R):
        return
    if ledger.largest_residual > UNBALANCED:
        warnings.warn(f"the energy balance is off by {ledger.largest_residual:.0e}", ValidityWarning, stacklevel=4)
    jump = float(ledger.velocity_residual.max(initial=0.0))
    if jump > JUMP * speed:
        cause = "a drive changes its rate abruptly, or steps are too long; smooth the drive or take shorter steps"
        if not any(c.is_driven for c in solution.mechanism.connections):
            cause = "steps are too long, or forces change abruptly; take shorter steps"
        warnings.warn(
            f"velocities leave the constraints by up to {jump:.2g} at the ends of steps, of speeds up to {speed:.2g}: "
            f"{cause}",
            ValidityWarning,
            stacklevel=4,
        )
