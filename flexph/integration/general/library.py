"""Adaptive solvers of scipy_dae (Radau IIA, BDF) and SUNDIALS (IDA through scikit-sundae), step by step.

Equations of fully implicit systems are projected on a moving frame that separates the algebraic ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ...consistency.conditions import Conditions
from ...consistency.start import VaryingConditions
from ...discretisation.descriptor_split import split_of
from ...numerics.arrays import Array, dense
from ...numerics.step_failed import StepFailed
from ...systems.nonlinear import PHDAE
from ..methods.names import call_of


class MovingFrame:
    """Orthogonal matrix Q(x) = (U₁, U₂) that separates the algebraic equations of E(x) ẋ = f.

    U₁ is a basis of the range of E(x), so that the last rows of QᵀE ẋ = Qᵀf have no ẋ. Solvers use a Jacobian for some
    steps. If the range of E turns, an old Jacobian has terms of the rates, divided by the length of a step, in the
    algebraic equations, so that even short steps fail. In this frame the Jacobian has no such terms. U₁ and U₂ are as
    near as possible to those of a reference state, by polar factors, and as smooth as E. The reference is updated as
    the solver proceeds.
    """

    def __init__(self, system: PHDAE, x: Array) -> None:
        self.system = system
        split = split_of(dense(system.E(x)))
        self._reference = split.U1, split.U2

    def at(self, x: Array) -> Array:
        """Matrix Q(x) (n, n) of the frame at the state x; raises StepFailed if the rank of E has changed."""
        return np.hstack(self._bases(x))

    def move(self, x: Array) -> None:
        """Make the bases at the state ``x`` the reference of the frame."""
        self._reference = self._bases(x)

    def _bases(self, x: Array) -> tuple[Array, Array]:
        E = dense(self.system.E(x))
        if not np.all(np.isfinite(E)):
            raise StepFailed("E(x) is not finite", 0, np.inf)
        split, (U1, U2) = split_of(E), self._reference
        if split.U1.shape != U1.shape:
            raise StepFailed(f"the rank of E(x) is {split.U1.shape[1]}, and {U1.shape[1]} before", 0, np.inf)
        return _nearest(split.U1, U1), _nearest(split.U2, U2)


def _nearest(basis: Array, reference: Array) -> Array:
    """Orthonormal basis with the same span as ``basis`` that is nearest to the basis ``reference``."""
    left, _, right = np.linalg.svd(basis.T @ reference)
    return np.asarray(basis @ (left @ right))


EXTRAS = {"radau": ("scipy_dae", "dae"), "bdf": ("scipy_dae", "dae"), "ida": ("sksundae", "ida")}
"""Module and extra of each method."""
SUPPRESSED = 1e8
"""Absolute tolerance of multipliers of index 2, divided by their size: neither error tests nor ends of iterations see
them; they are as accurate as the changes of momentum that they cause in a step."""
ITERATIONS = 8
"""Newton iterations of a step of IDA; its default of 4 is too few and makes it shorten steps."""
RINGING = 100.0
"""Ratio of the fastest hardly damped oscillation to the slowest one above which BDF is held to order 2."""
HARDLY = 0.07
"""Damping ratio below which BDF of order 3 amplifies an oscillation at some step: its wedge opens at 86°."""
RESOLVED = 1e-8
"""Relative tolerance below which steps follow every oscillation and high orders pay (crank-slider, undamped rod)."""
CRAWLING, PATIENCE = 1e-9, 500
"""Length of a negligible step of IDA, relative to the span, and number of such steps in a row that ends a run: at the
end of a solution IDA would continue for hours."""
NEARBY = 0.1
"""Relative change of a state up to which derivatives of the equations are reused: an iteration that fails with them
gets new ones."""


class SolverFailed(ArithmeticError):
    """Failure of a solver of a library in a step."""


class Solver(Protocol):
    """Protocol of a solver in progress, whose last step went from the time ``before`` to ``time`` and ``state``."""

    before: float
    time: float
    state: Array

    def advance(self) -> None:
        """Take one step of a length that the solver chooses; raises SolverFailed."""

    def at(self, time: float) -> Array:
        """State at a time within the last step."""


def require(method: str) -> Any:
    """Import the module of a method; raises ImportError that names the package to install."""
    module, extra = EXTRAS[method]
    try:
        return import_module({"scipy_dae": "scipy_dae.integrate", "sksundae": "sksundae.ida"}[module])
    except ImportError as error:
        raise ImportError(
            f"{call_of(method)} needs the package {module!r}: pip install 'flexph[{extra}]'", name=module
        ) from error


class Problem:
    """Initial value problem for a solver: equations, start, time span, relative tolerance and absolute ones (n,).

    Errors are measured as root mean square over all states except the multipliers of index 2; ``rtol`` and ``atol``
    are rescaled here, since the libraries divide by the number of all states.
    """

    def __init__(
        self,
        conditions: Conditions | VaryingConditions,
        start: Array,
        span: tuple[float, float],
        *,
        rtol: float,
        atol: Array | None,
    ) -> None:
        self.equations, self.start, self.span = conditions.equations, start, span
        self.size = np.maximum(conditions.size, np.abs(start))
        split, left_out = self.equations.split, conditions.multipliers
        self.rate = conditions.rate(start)
        counted = np.sqrt(max(np.sum(~left_out), 1) / max(start.size, 1))
        self.rtol = rtol * counted
        tolerance = rtol * self.size if atol is None else atol
        self.atol = np.where(left_out, SUPPRESSED * self.size, counted * tolerance)
        self.algebraic = np.flatnonzero(np.abs(split.V2).max(axis=1, initial=0.0) > 1.0 - 1e-9)
        self._frame = MovingFrame(self.equations.system, start) if self.equations.varies else None
        self._last: tuple[float, Array, Array, Array] | None = None

    def residual(self, t: float, x: Array, rate: Array) -> Array:
        """Residual F (n,) of the equations at a time, state and ``rate`` ẋ.

        It is multiplied by the transposed frame Qᵀ if the range of E varies (see :class:`MovingFrame`).
        """
        residual = self.equations.residual(t, x, rate)
        return residual if self._frame is None else self._frame.at(x).T @ residual

    def reached(self, x: Array) -> None:
        """Move the reference of the frame to a state that the solver has reached."""
        if self._frame is not None:
            self._frame.move(x)

    @cached_property
    def bdf_order(self) -> int:
        """Largest order of BDF to allow: 2 if hardly damped oscillations at the start differ much in frequency, else 5.

        Orders above 2 amplify such oscillations unless steps resolve the fastest one, as they do at tolerances below
        RESOLVED. (With orders up to 5 and tolerances of 1e-6 and 1e-5, the undamped crank-slider takes 6 to 20 times as
        many steps as with order 2.)
        """
        if self.rtol < RESOLVED:
            return 5
        fast = np.abs(self._hardly_damped())
        return 2 if fast.size and fast.max() > RINGING * fast.min() else 5

    def _hardly_damped(self) -> Array:
        """Eigenvalues λ of the equations linearised at the start, for oscillations that are fast and hardly decay.

        They solve λ E x = −(∂F/∂x) x, with Im λ above 1/span and decay rates far below Im λ. With the eigenvalues μ
        of (−∂F/∂x − sE)⁻¹E at a shift s, λ = s + 1/μ. Multipliers of index 2 have μ = 0, up to the root of round-off.
        """
        of_state, E = self.jacobian(self.span[0], self.start, self.rate)
        shift = 1e4 / (self.span[1] - self.span[0])
        try:
            mu = np.linalg.eigvals(np.linalg.solve(-of_state - shift * E, E))
        except np.linalg.LinAlgError:
            return np.zeros(0)
        eigenvalues: Array = shift + 1.0 / mu[np.abs(mu) > 1e-6 / shift]
        return eigenvalues[(eigenvalues.imag > 1e-4 * shift) & (-eigenvalues.real < HARDLY * eigenvalues.imag)]

    def jacobian(self, t: float, x: Array, rate: Array) -> tuple[Array, Array]:
        """Derivatives ∂F/∂x and ∂F/∂ẋ (n, n) of the residual; raises SolverFailed if they are not finite."""
        derivatives = self.equations.jacobian(t, x, rate, np.maximum(self.size, np.abs(x)))
        if not all(np.all(np.isfinite(part)) for part in derivatives):
            raise SolverFailed(f"the derivatives of the equations are not finite at t = {t:.6g} s")
        if self._frame is None:
            return derivatives
        rows = self._frame.at(x).T  # F is nearly zero: the frame counts as constant
        return rows @ derivatives[0], rows @ derivatives[1]

    def nearby_jacobian(self, t: float, x: Array, rate: Array) -> tuple[Array, Array]:
        """Derivatives ∂F/∂x and ∂F/∂ẋ at a state, or those computed last if the state has hardly moved since.

        IDA requests them whenever its step changes, many times at the start.
        """
        if self._last is not None and t > self._last[0] and not self.equations.varies:  # ranges turn with the state
            moved = np.abs(x - self._last[1]) / np.maximum(self.size, np.abs(x))
            if moved.max(initial=0.0) < NEARBY:
                self._last = t, *self._last[1:]
                return self._last[2], self._last[3]
        self._last = t, x, *self.jacobian(t, x, rate)
        return self._last[2], self._last[3]


class _ScipyDae:
    """Adapter of the solvers RadauDAE and BDFDAE of scipy_dae."""

    def __init__(self, problem: Problem, name: str) -> None:
        make: Callable[..., Any] = getattr(require(name.lower()[:5]), f"{name}DAE")
        self.before, self.time, self.state = problem.span[0], problem.span[0], problem.start
        self._problem = problem
        self._solver = make(
            problem.residual,
            problem.span[0],
            problem.start,
            problem.rate,
            problem.span[1],
            rtol=problem.rtol,
            atol=problem.atol,
            jac=problem.jacobian,
            **({"max_order": problem.bdf_order} if name == "BDF" else {}),
        )

    def advance(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # singular factors: the step is shortened, and fails if that does not help
            try:
                message = self._solver.step()
            except (np.linalg.LinAlgError, StepFailed) as error:
                raise SolverFailed(str(error)) from error
            except ValueError as error:
                if "infs or NaNs" not in str(error):
                    raise
                raise SolverFailed("the equations are not finite") from error
        if self._solver.status == "failed":
            raise SolverFailed(str(message).rstrip(".").lower())
        self.before, self.time, self.state = self._solver.t_old, self._solver.t, self._solver.y
        self._problem.reached(self.state)
        self._dense = self._solver.dense_output()

    def at(self, time: float) -> Array:
        if time == self.time:
            return self.state
        state: Array = np.reshape(self._dense(time)[0], self.state.shape)  # a single state comes without its axis
        return state


class _Ida:
    """Adapter of IDA of SUNDIALS, whose interpolant can be evaluated only at one time per call."""

    def __init__(self, problem: Problem) -> None:
        module, self._problem = require("ida"), problem
        self.before, self.time, self.state = problem.span[0], problem.span[0], problem.start
        self._end, self._crawled = problem.span[1], 0
        self._least = CRAWLING * (problem.span[1] - problem.span[0])
        self._ended: StepFailed | None = None

        def residual(t: float, x: Array, rate: Array, out: Array) -> None:
            try:
                if self._ended and not np.all(np.isfinite(x)):
                    raise self._ended
                out[:] = problem.residual(t, np.array(x), np.array(rate))
            except StepFailed as error:  # IDA tries a shorter step; the last error is the reason if none succeeds
                self._ended, out[:] = self._ended or error, np.nan

        def jacobian(t: float, x: Array, rate: Array, out: Array, cj: float, matrix: Array) -> None:
            try:
                of_state, of_rate = problem.nearby_jacobian(t, np.array(x), np.array(rate))
                matrix[:, :] = of_state + cj * of_rate
            except StepFailed as error:
                self._ended, matrix[:, :] = self._ended or error, np.nan

        self._solver = module.IDA(
            residual,
            jacfn=jacobian,
            rtol=problem.rtol,
            atol=problem.atol,
            algebraic_idx=[int(i) for i in problem.algebraic],
            max_nonlin_iters=ITERATIONS,
            max_order=problem.bdf_order,
        )
        self._solver.init_step(problem.span[0], problem.start, problem.rate)

    def advance(self) -> None:
        for _ in range(2):  # after an interpolation, IDA first returns the end of the last step again
            result = self._solver.step(self._end, "onestep", self._end)
            if not result.success:
                message = f"IDA reports: {result.message.rstrip('.')} (flag {result.status})"
                raise SolverFailed(str(self._ended or message))
            if result.t > self.time:
                self.before, self.time, self.state = self.time, float(result.t), result.y
                self._problem.reached(self.state)
                self._watch(self.time - self.before)
                self._ended = None
                return
        raise SolverFailed("IDA stalled: its step fell below the spacing of floating-point numbers")

    def _watch(self, step: float) -> None:
        self._crawled = self._crawled + 1 if step < self._least else 0
        if self._crawled > PATIENCE:
            raise SolverFailed(f"the last {PATIENCE} steps of IDA were shorter than {self._least:.0e} s")

    def at(self, time: float) -> Array:
        if time == self.time:
            return self.state
        result = self._solver.step(time, "normal", None)
        if not result.success:
            raise SolverFailed(f"IDA reports: {result.message.rstrip('.')} (flag {result.status})")
        state: Array = result.y
        return state


SOLVERS: dict[str, Callable[[Problem], Solver]] = {
    "radau": lambda problem: _ScipyDae(problem, "Radau"),
    "bdf": lambda problem: _ScipyDae(problem, "BDF"),
    "ida": _Ida,
}
