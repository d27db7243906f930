"""Entry function of time integration, for mechanisms, general systems and switching systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ..changes.change import Change
from ..control.control_loops import Controller, check_known
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arguments import computing
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..results.trajectory import Trajectory
from ..switching.run import integrate_switching
from ..switching.system import SwitchingPHDAE
from ..switching.trajectory import SwitchingTrajectory
from ..systems.inputs import Input
from ..systems.linear import LinearPHDAE, from_linear
from ..systems.nonlinear import PHDAE
from .changed_run import continue_run, run_with_changes
from .general.run import integrate_mechanism, integrate_system
from .mechanism_run import run_mechanism
from .methods.exact import Exact
from .methods.general import DiscreteGradient, Library
from .methods.method import GeneralMethod, MechanismMethod, Method
from .methods.names import NAMES, call_of
from .times.options import Checkpoint, Events, Observe, RunOptions, as_checkpoint, ascending, next_checkpoint
from .times.signature import signature_of
from .whole_results import flat_start, layout_of, load_or_run, load_result

if TYPE_CHECKING:
    from ..view.live.live import Live

_DEFAULT = Exact()
"""Default method of mechanisms."""


def _unknowns(system: Any) -> int:
    if isinstance(system, Model):
        return system.largest_body
    return system.size if isinstance(system, PHDAE | LinearPHDAE | SwitchingPHDAE) else 0


@overload
def integrate(
    system: Mechanism,
    start: State | Solution,
    times: Sequence[float] | Array,
    *,
    method: MechanismMethod | None = None,
    inputs: Mapping[str, Input] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    changes: Sequence[Change] | None = None,
    events: Events | None = None,
    observe: Observe | None = None,
    save_every: int = 1,
    progress: bool = True,
    checkpoint: str | Path | Checkpoint | None = None,
    live: bool | Live = False,
) -> Solution: ...


@overload
def integrate(
    system: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod,
    inputs: Mapping[str, Input] | None = None,
    events: Events | None = None,
    observe: Observe | None = None,
    save_every: int = 1,
    progress: bool = True,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Trajectory: ...


@overload
def integrate(
    system: PHDAE | LinearPHDAE,
    start: Sequence[float] | Array,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod | None = None,
    inputs: Mapping[str, Input] | None = None,
    events: Events | None = None,
    observe: Observe | None = None,
    save_every: int = 1,
    progress: bool = True,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Trajectory: ...


@overload
def integrate(
    system: SwitchingPHDAE,
    start: Sequence[float] | Array,
    times: Sequence[float] | Array,
    *,
    method: GeneralMethod | None = None,
    inputs: Mapping[str, Input] | None = None,
    observe: Observe | None = None,
    save_every: int = 1,
    progress: bool = True,
    checkpoint: str | Path | Checkpoint | None = None,
    mode: str | None = None,
) -> SwitchingTrajectory: ...


@computing(_unknowns)
def integrate(
    system: Any,
    start: Any,
    times: Sequence[float] | Array,
    *,
    method: Any = None,  # the overloads say Method; other values get an error that names the one to write
    inputs: Mapping[str, Input] | None = None,
    controllers: Mapping[str, Controller] | None = None,
    changes: Sequence[Change] | None = None,
    events: Events | None = None,
    observe: Observe | None = None,
    save_every: int = 1,
    progress: bool = True,
    checkpoint: str | Path | Checkpoint | None = None,
    live: Any = False,  # bool or Live, whose module loads a server
    mode: str | None = None,
) -> Solution | Trajectory | SwitchingTrajectory:
    """Integrate a system over the given times, by default one step from each to the next.

    Parameters
    ----------
    system : Mechanism, PHDAE, LinearPHDAE or SwitchingPHDAE
        A mechanism takes all methods. Methods of general systems integrate :meth:`Mechanism.phdae`: position
        constraints then hold to the tolerance or order of the method, drives act by their rates, and every step is much
        slower than one of the exact scheme.
    start : State, Solution or array
        State of a mechanism, or array (n,) of another system. With a Solution the run goes on from its end, with the
        joints of ``system`` (see :meth:`Mechanism.replace`), and the result covers both runs.
    times : array
        Ascending times [s]; of a mechanism the first is ``start.time``. With a tolerance they are only the saved times.
    method : Method, optional
        :class:`Exact` (default of mechanisms), :class:`Exact4`, :class:`ExactGauss`, :class:`Decaying` of mechanisms;
        :class:`DiscreteGradient` (default of all others, with the system's own pair if it has one),
        :class:`DiracDissipative`, :class:`Gauss`, :class:`Radau`, :class:`BDF`, :class:`IDA` of general systems. A
        switching system takes those that need no library, without options.
    inputs : dict, optional
        By the name of the external port: constant values, functions of time, or tables ``(times, values)`` that are
        interpolated linearly (:class:`flexph.systems.inputs.Table`), taken at the middle of each step (at the Gauss
        points of :class:`ExactGauss`). Ports not named get zero.
    controllers : dict, optional
        Controllers by name, of mechanisms: :class:`flexph.control.Sampled` reads sensors at a period and holds its
        answer, added to the inputs; steps end at its calls, so that the method must not choose its steps.
        :class:`flexph.control.Continuous` is a port-Hamiltonian system joined at ports, solved within each step, with
        its storage and dissipation in the ledger. :class:`flexph.control.StateFeedback` is a function of readings, also
        solved within each step. :class:`Exact4` takes neither of these two, :class:`ExactGauss` only the latter. A run
        from the ``final`` state of another one resumes the controllers of the same names: states, memories, held
        outputs and the time of the next call.
    changes : list, optional
        Joints of a mechanism that :func:`flexph.changes.lock` and :func:`flexph.changes.release`, each at a time or
        where a condition is met. Steps end there, and ``save_every`` counts from there. The mechanism of the result has
        the joints of all changes, its ``events`` their instants by names such as ``lock hinge``.
    events : dict, optional
        By name, functions of (t, x), x the state with its names, or :class:`Event`. Zeros that a step passes are
        located in time (a zero passed twice within a step is missed) and stored in ``events`` of the result. Except in
        adaptive methods they are found by shorter steps from the same start, so that the event state is as exact as any
        other. A mechanism can continue after an event that ended its run.
    observe : callable, optional
        A function of (t, x) as for events, called once at each saved time, which returns a number, an array or None.
        The values are ``observations`` of the result, an array over ``times``, NaN for None.
    save_every : int
        Save each ``save_every``-th step, and the last one.
    progress : bool
        True to show a bar on a terminal for runs that take longer than a second.
    checkpoint : Checkpoint or path, optional
        Folder in which the run keeps its finished steps, every minute unless a :class:`Checkpoint` says otherwise. The
        same call continues from there after a kill, to the same bits. Not for the solvers of libraries and switching
        systems.
    live : bool or Live
        True to follow the run in a page of the browser while it runs, with pause, step and end; a
        :class:`flexph.view.Live` also has sliders for inputs, a pace, or a window. Only for methods of mechanisms.
    mode : str, optional
        Initial mode of a switching system, by default the first one that is valid.

    Returns
    -------
    Solution, Trajectory or SwitchingTrajectory
        A Solution for the methods of mechanisms, a SwitchingTrajectory for a switching system (whose steps end where
        modes do: at times exactly, at guards to round-off of time), else a Trajectory.

    Raises
    ------
    ValueError
        For methods that do not suit the system, times that do not ascend, unknown ports, an inconsistent start or
        redundant constraints; its subclass InputError if a drive, input, event or observer gives no usable value.
    ImportError
        If the package of a method is missing.
    IntegrationError
        If a step cannot be solved or step control falls below its smallest step.
    IntegrationInterrupted
        On Ctrl-C. This, InputError and IntegrationError have the finished steps as ``solution``.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import PHDAE, integrate
    >>> from flexph.methods import Gauss
    >>> oscillator = PHDAE(
    ...     E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), z=lambda x: x, H=lambda x: x @ x / 2, sample=np.ones(2)
    ... )
    >>> run = integrate(oscillator, (1.0, 0.0), np.linspace(0.0, np.pi, 11), method=Gauss(6))
    >>> run.final.round(6) + 0.0
    array([-1.,  0.])
    """
    if not (method is None or isinstance(method, Method)):
        raise ValueError(_not_a_value(method))
    if not (mode is None or isinstance(system, SwitchingPHDAE)):
        raise ValueError(f"mode needs a SwitchingPHDAE, got mode={mode!r}")
    given = as_checkpoint(checkpoint)
    with next_checkpoint() as of_case:
        kept, whole = given or of_case, _cannot_go_on(system, method)
        if given and whole:
            raise ValueError(f"checkpoint cannot resume a run of {whole}")
        options = RunOptions(
            inputs=inputs or {},
            events=events or {},
            observe=observe,
            save_every=save_every,
            progress=progress,
            checkpoint=None if whole else kept,
            controllers=controllers or {},
        )
        if options.controllers and not (
            isinstance(system, Mechanism) and isinstance(method or _DEFAULT, MechanismMethod)
        ):
            raise ValueError(
                f"controllers need a mechanism and Exact(), Exact4(), ExactGauss() or Decaying(), got {method}"
            )
        if isinstance(start, State) and start.controllers:
            check_known(start, options.controllers)
        by = _run_of(system, method)
        if changes is not None or isinstance(start, Solution):
            by = _changing(system, start, method, changes or [])
        run = partial(by, start, times, options=options)
        if live is not False:
            return _live(live, run, system, method, (start, times, options))
        run = run if mode is None else partial(run, mode=mode)
        if kept is None or not whole:
            return run()
        signature = signature_of(
            layout_of(system), [flat_start(start)], ascending(times), method=method, options=options
        )
        return load_or_run(kept, signature, run, lambda path: load_result(path, system, start))


def _live(live: Any, run: Callable[..., Any], system: Any, method: Method | None, given: Any) -> Solution:
    """Run a mechanism with a live display and return the solution; sliders of the display set inputs.

    ``run`` integrates with its keyword ``options`` and returns the solution; ``given`` are start, times and options.
    """
    from ..view.live.live import Live

    start, times, options = given
    live = Live() if live is True else live
    if not isinstance(live, Live):
        raise ValueError(f"live must be True, False or a flexph.view.Live, got {check.shown(live)}")
    if not (isinstance(system, Mechanism) and isinstance(method or _DEFAULT, MechanismMethod)):
        raise ValueError(f"live runs need a mechanism and Exact(), Exact4(), ExactGauss() or Decaying(), got {method}")
    if (live.sliders or live.dials) and options.checkpoint is not None:
        raise ValueError("sliders cannot be combined with a checkpoint, which would lose their history")
    begin = start.times[-1] if isinstance(start, Solution) else getattr(start, "time", 0.0)
    with live.opened(system, (float(begin), float(ascending(times)[-1])), options.inputs) as session:
        options = replace(options, follower=session, inputs={**options.inputs, **session.sliders.inputs})
        done: Solution = run(options=options)
    return done


def _changing(system: Any, start: Any, method: Method | None, changes: Sequence[Change]) -> Callable[..., Any]:
    """Function (start, times, options=) that integrates with changes of joints, or continues the run ``start``.

    Raises ValueError if the system or the method does not support this.
    """
    scheme = method or _DEFAULT
    if not (isinstance(system, Mechanism) and isinstance(scheme, MechanismMethod)):
        what = "a Solution as start needs" if isinstance(start, Solution) else "changes need"
        raise ValueError(f"{what} a mechanism and Exact(), Exact4(), ExactGauss() or Decaying(), got {method}")
    if isinstance(start, Solution):
        return lambda run, times, options: continue_run(
            run, system, times, method=scheme, options=options, changes=changes
        )
    return partial(run_with_changes, system, method=scheme, changes=changes)


def _cannot_go_on(system: Any, method: Method | None) -> str:
    """Reason why a run cannot be stopped and resumed between its steps; empty if it can."""
    if isinstance(system, SwitchingPHDAE):
        return "a SwitchingPHDAE: its modes store more than a state"
    return f"{method}: its library does not return the steps" if isinstance(method, Library) else ""


def _not_a_value(method: Any) -> str:
    if isinstance(method, str) and method in NAMES:
        return f"method must be a value, not its name: write method={call_of(method)} in place of {method!r}"
    if isinstance(method, type) and issubclass(method, Method):
        return f"method must be a value, not its class: write method={method.__name__}()"
    return (
        f"method must be a value such as Exact(), DiscreteGradient() or Radau(), see flexph.methods, "
        f"got {check.shown(method)}"
    )


@singledispatch
def _run_of(system: Any, method: Method | None) -> Callable[..., Any]:
    """Function (start, times, options=) that integrates a system by a method.

    Raises ValueError for a system of another type, and for a method that does not integrate such a system.
    """
    raise ValueError(
        f"system must be a Mechanism, PHDAE, LinearPHDAE or SwitchingPHDAE, got {type(system).__name__}; of a "
        "rigid.MultibodySystem use system.phdae()"
    )


@_run_of.register
def _of_mechanism(system: Mechanism, method: Method | None) -> Callable[..., Any]:
    if method is None or isinstance(method, MechanismMethod):
        return partial(run_mechanism, system, method=method or _DEFAULT)
    return partial(integrate_mechanism, system, method=_general(method))


@_run_of.register
def _of_general_system(system: PHDAE, method: Method | None) -> Callable[..., Any]:
    default = DiscreteGradient("pair" if "z" in system.means else "gonzalez")
    return partial(integrate_system, system, method=_general(method or default))


@_run_of.register
def _of_linear_system(system: LinearPHDAE, method: Method | None) -> Callable[..., Any]:
    return _of_general_system(from_linear(system), method)


@_run_of.register
def _of_switching_system(system: SwitchingPHDAE, method: Method | None) -> Callable[..., Any]:
    return partial(integrate_switching, system, method=_general(method or DiscreteGradient()))


def _general(method: Method) -> GeneralMethod:
    """Return the method if it is one of general systems; raises ValueError for methods of mechanisms."""
    if not isinstance(method, GeneralMethod):
        raise ValueError(
            f"{method} is for mechanisms: of other systems use DiscreteGradient(), DiracDissipative(), Gauss(4), "
            "Radau(), BDF() or IDA()"
        )
    return method
