"""Time integration of mechanisms with the exact polynomial scheme."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .integration.exact.run import Options, run_mechanism
from .integration.general.completion import Completion
from .integration.general.library import SOLVERS
from .integration.general.of_mechanisms import integrate_mechanism
from .integration.general.run import METHODS, integrate_system
from .integration.times.events import Event
from .mechanisms.model.state import State
from .numerics import checks as check
from .numerics.arrays import Array
from .results.solution import Solution
from .results.trajectory import Trajectory
from .switching.run import integrate_switching
from .switching.system import SwitchingPHDAE
from .switching.trajectory import SwitchingTrajectory
from .systems.inputs import Input
from .systems.linear import LinearPHDAE
from .systems.nonlinear import PHDAE, from_linear
from .systems.validity import ValidityWarning

if TYPE_CHECKING:
    from .mechanisms.mechanism import Mechanism

GeneralMethod = Literal[
    "gonzalez", "mean_value", "invariants", "pair", "dirac", "midpoint", "gauss4", "gauss6", "radau", "bdf", "ida"
]


EXACT = ("exact", "exact4", "exact_gauss", "decaying")
"""Methods of mechanisms that keep their structure at every step."""


@overload
def integrate(
    system: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: Literal["exact", "exact4", "exact_gauss", "decaying"] | None = None,
    tolerance: float | tuple[float, float] | None = None,
    inputs: Mapping[str, Input] | None = None,
    events: Mapping[str, Event | Callable[[float, Array], Any]] | None = None,
    save_every: int = 1,
    progress: bool = True,
    compiled: bool | None = None,
    redundant: Literal["refuse", "least_norm"] = "refuse",
    spectral_radius: float | None = None,
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
    compiled: bool | None = None,
    completion: Completion | None = None,
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
    compiled: bool | None = None,
    completion: Completion | None = None,
) -> Trajectory: ...


@overload
def integrate(
    system: SwitchingPHDAE,
    start: Sequence[float] | Array,
    times: Sequence[float] | Array,
    *,
    mode: str | None = None,
    method: str | None = None,
    inputs: Mapping[str, Input] | None = None,
    save_every: int = 1,
    progress: bool = True,
) -> SwitchingTrajectory: ...


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
    compiled: bool | None = None,
    redundant: Literal["refuse", "least_norm"] = "refuse",
    spectral_radius: float | None = None,
    completion: Completion | None = None,
    mode: str | None = None,
) -> Solution | Trajectory | SwitchingTrajectory:
    """Integrate a mechanism or a general system over the given times, one step from each to the next.

    Of a mechanism, from a :class:`State`, the methods that return a :class:`Solution` are (docs/time-integration.md)

    - ``exact`` (default): a discrete gradient pair ([dg] eq. (18)) that is exact for these polynomial equations at any
      step: ΔH = work − dissipation, RᵀR = 1, position constraints and both momenta hold to round-off. It is symmetric,
      of second order in positions, velocities and midpoint multipliers, and adds no damping of its own. Velocities keep
      the constraints in the mean of each step, and at its ends to second order; what that adds to the multipliers, to
      one side and the other in turn, is taken from those returned and left in the ``stage_multipliers``. Equal steps
      keep that order; where long and short steps alternate, velocities and multipliers fall to first order.
    - ``exact4``: six such substeps in each step, in three pairs, Ψ(γ₁h) Ψ(γ₂h) Ψ(γ₁h) with γ₁ = 1/(2 − 2^⅓) and
      γ₂ = 1 − 2γ₁: exact in the same sense, of fourth order in positions and velocities, of third in multipliers. For
      mechanisms without damping, since two substeps go back in time. Drives are asked for times up to 0.352 h before
      and after each step, inputs (at the middles of the substeps) up to 0.0135 h.
    - ``exact_gauss``: Gauss collocation in three stages, exact in the same sense (docs/time-integration.md), with and
      without damping. Of sixth order in positions, of fourth in velocities at equal steps, of third in multipliers;
      without constraints of sixth in all. For mechanisms of up to some 300 velocities without friction laws and
      redundant constraints; its step costs as much as two to four of ``exact`` by NumPy.
    - ``decaying``: exact in positions and momenta, with a loss for what a step h does not resolve: vibrations of a body
      with hω ≫ 1 and velocities against the constraints, such as a jump of a drive leaves, are reduced to
      ``spectral_radius`` (0 to 1, 0.5 by default) at each step, those with hω ≪ 1 lose (hω)⁴/4 (1 − ρ)/(1 + ρ) of their
      energy. Of second order. What is lost is ``ledger.dissipation["numerical"]``: the balance closes to round-off.

    With a ``tolerance``, rtol or (rtol, atol), ``times`` of ``exact`` and ``decaying`` are only those that are saved,
    and are met exactly. Steps between them come in pairs of equal length that are accepted or rejected as one; their
    error is that of velocities in the norm of kinetic energy, relative to the largest one of the run or atol [J] if
    that is larger, and modes that a step does not resolve count by 4/(hω)². Errors of positions, velocities and
    multipliers go with rtol. ``ledger.steps`` and ``ledger.rejected`` count.

    Of a :class:`PHDAE` or :class:`LinearPHDAE`, from an array (n,), the methods are

    - ``pair`` (default of systems that have one): the discrete gradient pair among the system's own ``means``
      (:class:`PHDAE`, :func:`with_pair`);
    - ``gonzalez`` (default of all others), ``mean_value``, ``invariants``: discrete gradient pairs ([dg] eq. (18)-(21))
      by the gradient they take, for systems with a constant E (proposition 2) or semi-explicit ones: ΔH = work −
      dissipation to round-off, order 2; ``dirac``: the Dirac-dissipative form ([dg] eq. (25)-(26)),
      for any E of constant rank: Gonzalez' gradient in the range of Ēᵀ;
    - ``midpoint``, ``gauss4``, ``gauss6``: Gauss collocation of order 2, 4 and 6: balanced where H is quadratic;
    - ``radau`` (Radau IIA of order 5), ``bdf`` (orders 1 to 5) of scipy_dae (extra ``dae``), ``ida`` (BDF of
      SUNDIALS, extra ``ida``): adaptive, on ``F(t, x, ẋ) = E(x)ẋ − (J − R)z − Bu`` of index 1 or 2, with ``times``
      only those that are saved. The errors of the states are kept below ``tolerance=(rtol, atol)``, atol a number or
      (n,), or just rtol (1e-6); without an atol it is rtol times a size that each state has from the start and its
      energy. Multipliers of index 2 take no part in the error test: they are accurate to the tolerance of the momenta
      over the step. Algebraic states of the start are replaced by consistent ones. Work and dissipation are integrals
      of power along the interpolant: the balance holds to the tolerance only, at drives to that of their multipliers.

    A step of gonzalez, mean_value, invariants, midpoint and dirac finds the algebraic states in its middle.
    ``completion`` says what becomes of them at its ends ([dg] examples 5 and 6): ``"new"`` (default) keeps them as the
    states at its end; ``"old"`` as those at its start, the last state keeps what its step had; both of first order;
    ``"mean"`` has them as means of both ends, of second order on index 1, from a start whose algebraic states are
    consistent (:func:`consistent`): what they are off goes to and fro. The differential states and the energy do not
    depend on it.

    With a ``tolerance``, those of order 2 (all but gauss4, gauss6) choose pairs of equal steps between the times that
    are saved, by the error of their differential states over rtol·|x| + atol; ``balance.steps`` and ``rejected`` count.

    A mechanism takes the methods of general systems too, through :meth:`Mechanism.phdae`, and returns a
    :class:`Trajectory`: position constraints then hold to the tolerance or order of the method, drives act by their
    rates (see flexph.integration.general.of_mechanisms), and every step is much slower than one of the exact scheme.

    ``times`` ascending [s], beginning at ``start.time``. ``inputs`` by the name of the external port: constant values,
    functions of time, or tables ``(times, values)`` that are interpolated linearly
    (:class:`flexph.systems.inputs.Table`), taken at the middle of each step (at the Gauss points of ``exact_gauss``);
    ports not named get zero. ``events`` by name, functions of (t, x), x the flat state in the layout of the mechanism
    or system, or :class:`Event`: zeros that a step passes are found in time (a zero passed twice within a step is
    missed) and kept in ``events`` of what is returned; but for adaptive methods they are found by shorter steps from
    the same start, so that the event state is as exact as any other. A mechanism may go on where an event ended its
    run. Every ``save_every``-th step is kept (and the last). A progress bar appears on a terminal for runs that take
    longer than a second.

    ``redundant="least_norm"`` allows constraints that follow from others (the parallel hinges of a closed loop in
    space): the motion does not depend on them, and of all multipliers that hold it those of least norm are returned,
    torques counting as forces at the lever of the mechanism's size. By default they are refused, with their names.

    A :class:`SwitchingPHDAE` starts in ``mode``, by default the first that is valid, and takes the methods above that
    need no library, with the steps that ``times`` prescribe. Steps end where modes do: at times exactly, at guards to
    round-off of time. What it returns is a :class:`SwitchingTrajectory`, with the energy lost at each switch.

    Where numba is installed (extra ``fast``), the steps of ``exact`` and ``exact4`` run in compiled loops, several
    dozen times faster and equal to round-off, unless there are events, step control or least-norm multipliers; so do
    those of a ``PHDAE(compiled=True)``. The first run on a machine takes half a minute more, and says so. Drives and
    inputs must be functions of time alone: they are asked for many steps ahead, drives that take arrays for all times
    at once. ``compiled=False`` keeps to NumPy, ``True`` raises ValueError where there is no compiled loop.

    Raises ValueError for times that do not ascend, unknown ports, an inconsistent start or redundant constraints,
    ImportError where the package of a method is missing; IntegrationError where a step cannot be solved or step control
    falls below its smallest step, InputError (a ValueError) where a drive or input gives no usable value, and
    IntegrationInterrupted on Ctrl-C, all three with the finished steps as ``solution``.
    """
    if not (compiled is None or isinstance(compiled, bool)):
        raise ValueError(f"compiled must be None, True or False, got {compiled!r}")
    if isinstance(system, SwitchingPHDAE):
        _refuse_redundant(redundant, "a switching system")
        others = {"tolerance": tolerance, "events": events, "compiled": compiled, "spectral_radius": spectral_radius}
        others["completion"] = completion
        for name, value in others.items():
            if value:
                raise ValueError(f"a switching system takes no {name}, got {value!r}")
        own: dict[str, Any] = {"mode": mode, "inputs": inputs, "save_every": save_every, "progress": progress}
        return integrate_switching(system, start, times, method=method or "gonzalez", **own)
    if mode is not None:
        raise ValueError(f"mode is for a SwitchingPHDAE, got mode={mode!r}")
    if isinstance(system, LinearPHDAE):
        system = from_linear(system)
    general = {"tolerance": tolerance, "events": events, "save_every": save_every, "progress": progress}
    general |= {"compiled": compiled, "completion": completion}
    if isinstance(system, PHDAE):
        _refuse_redundant(redundant, "a general system")
        if spectral_radius is not None:
            raise ValueError("spectral_radius is for method 'decaying' of mechanisms")
        method = method or ("pair" if "z" in system.means else "gonzalez")
        return integrate_system(system, start, times, method=method, inputs=inputs or {}, **general)
    _refuse_unknown(system)
    if method not in (None, *EXACT):
        check.choice("method of a mechanism", method, (*EXACT, *METHODS, *SOLVERS))
        if spectral_radius is not None:
            raise ValueError(f"spectral_radius is for method 'decaying', got method {method!r}")
        if redundant != "refuse":
            raise ValueError(f"redundant={redundant!r} is for method 'exact', got {method!r}")
        if compiled:
            raise ValueError(f"compiled=True of a mechanism is for methods 'exact' and 'exact4', got {method!r}")
        return integrate_mechanism(system, start, times, method=method, inputs=inputs or {}, **general)
    if completion is not None:
        raise ValueError(f"completion={completion!r} is for general methods, got {method or 'exact'!r} of a mechanism")
    options = Options(
        method=method or "exact",
        tolerance=tolerance,
        spectral_radius=spectral_radius,
        inputs=inputs or {},
        events=events or {},
        save_every=save_every,
        progress=progress,
        redundant=redundant,
        compiled=compiled,
    )
    return run_mechanism(system, start, times, options)


def _refuse_unknown(system: Any) -> None:
    from .mechanisms.mechanism import Mechanism

    if not isinstance(system, Mechanism):
        raise ValueError(
            f"system must be a Mechanism, PHDAE, LinearPHDAE or SwitchingPHDAE, got {type(system).__name__}; of a "
            "rigid.MultibodySystem take system.phdae()"
        )


def _refuse_redundant(redundant: str, what: str) -> None:
    if redundant != "refuse":
        raise ValueError(f"redundant={redundant!r} is for mechanisms, not for {what}")


__all__ = ["ValidityWarning", "integrate"]
