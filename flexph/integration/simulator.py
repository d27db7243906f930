"""Simulator: a mechanism that is advanced step by step, for controllers and co-simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ..control.control_loops import Controller, check_known
from ..control.trial_steps import outputs_at
from ..kernels.state import derive
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.consistency import shortest_step
from ..mechanisms.model.references import controlled_factors
from ..mechanisms.model.state import State, configuration
from ..numerics import checks as check
from ..numerics.arguments import HUGE, checked
from ..numerics.arrays import Array, Numbers
from ..numerics.step_failed import StepFailed
from ..results.step_account import StepAccount
from ..sensors.panel import StepPanel
from ..sensors.quantities import Quantity
from .controllers import loops_of
from .methods.exact import Decaying, Exact
from .methods.method import MechanismMethod
from .schemes.failures import explain_step
from .schemes.of_method import scheme_from
from .simulator_steps import ControlledSteps, HeldInputs, OuterInputs, PlainSteps, Steps, forcing_of
from .times.options import SPACINGS


@checked
class Simulator:
    """Mechanism advanced one step at a time, by the steps of :func:`flexph.integrate`.

    Each call costs some microseconds more than the step itself, whereas a run of one step costs a millisecond. No
    results of earlier steps are stored. Drives are functions of time and are evaluated some steps ahead.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to advance.
    start : State
        A consistent state. Two simulators from one state are independent of each other.
    method : MechanismMethod, optional
        :class:`flexph.methods.Exact` (default) or another method of mechanisms, without a tolerance.
    sensors : dict, optional
        Quantities of :mod:`flexph.sensors` by name, read by ``readings``.
    controllers : dict, optional
        Controllers by name, as for :func:`flexph.integrate`; their outputs add to the inputs of each step. A step is
        split where one is called, as in a run. ``state`` includes their memories. Steps take 0.3 ms more with sampled
        controllers, 0.9 ms with those that are solved within the step.

    Raises
    ------
    ValueError
        For an inconsistent start, redundant constraints, a method that chooses its steps, and a start that carries the
        memory of a controller that is not given, which would be lost.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, Simulator, connect, hinge, torque
    >>> pendulum = connect({"rod": rigid.bar(1.0, 2.0)}, [hinge("rod.root", GROUND), torque("rod.tip", name="motor")])
    >>> simulator = Simulator(pendulum, pendulum.consistent_state(pendulum.assemble({"rod": (0.0, 0.0, 0.0)})))
    >>> for _ in range(10):
    ...     simulator.advance(0.01, {"motor": 1.0 - 0.5 * simulator.outputs["motor"][0]})
    >>> simulator.time, simulator.outputs["motor"].round(3)
    (0.1, array([0.145]))
    """

    def __init__(
        self,
        mechanism: Mechanism,
        start: State,
        *,
        method: MechanismMethod | None = None,
        sensors: Mapping[str, Quantity] | None = None,
        controllers: Mapping[str, Controller] | None = None,
    ) -> None:
        self.method = method or Exact()
        if self.method.tolerance is not None:
            raise ValueError(f"method must not choose its steps, got {method}: leave its tolerance out")
        for factor in mechanism.once(controlled_factors):
            raise ValueError(
                f"the {factor.what} of {factor.name!r} is an input, which a Simulator does not support: use integrate()"
            )
        self.mechanism, self.controllers = mechanism, controllers or {}
        self._inputs = OuterInputs(mechanism) if self.controllers else HeldInputs(mechanism)
        self._sensors = StepPanel(mechanism, sensors or {}, start.anchors)
        self._near: list[float] | None = None
        self._accounting: _Accounting | None = None
        self.restore(start)

    @checked
    def restore(self, state: State) -> None:
        """Set the state, such as an earlier one, and continue from there with bitwise equal steps.

        Two simulators that are set to the same state take the same steps. Raises ValueError like :class:`Simulator`.
        """
        check_known(state, self.controllers)
        loops = loops_of(self.mechanism, state, self.method, self.controllers) if self.controllers else None
        scheme, at = scheme_from(self.mechanism, state, self.method, forcing_of(self._inputs, loops))
        self._shortest, self._anchors, self._began = shortest_step(at), state.anchors, bool(state.joint_forces)
        self._steps: Steps = PlainSteps(scheme, state) if loops is None else ControlledSteps(scheme, state, loops)

    @property
    def time(self) -> float:
        """Current time [s]."""
        return self._steps.time

    @property
    def state(self) -> State:
        """Current state, from which another simulator or a run continues with bitwise equal steps."""
        steps = self._steps
        return State(
            steps.time,
            steps.x,
            steps.last.multipliers,
            self._anchors,
            steps.history(),
            steps.controllers,
            joint_forces=self._began or steps.last.length > 0.0,
            bodies=tuple(self.mechanism.bodies),
        )

    @property
    def outputs(self) -> Mapping[str, Array]:
        """By external port, the velocities conjugate to its inputs, in its axes."""
        y = outputs_at(self.mechanism, self._steps.x)
        return {name: y[part] for name, part in self.mechanism.network.input_slices.items()}

    @property
    def readings(self) -> Mapping[str, float | Array]:
        """Sensor readings; angles are unwrapped from the last readings.

        Joint forces and accelerations are those of the last step, as controllers read them. Before the first step, and
        after :meth:`restore`, joint forces are those of the start, and accelerations are zero.
        """
        steps = self._steps
        readings, self._near = self._sensors.read(steps.time, steps.x, steps.last, self._near)
        return readings

    @property
    def account(self) -> StepAccount:
        """Energies at the current state, and works and losses of the last step, of a simulator without controllers.

        Raises
        ------
        ValueError
            With controllers, whose accounts only runs have.
        """
        if self.controllers:
            raise ValueError(
                "account is available without controllers only: use integrate(...), whose ledger includes them"
            )
        steps = self._steps
        if self._accounting is None:
            self._accounting = _Accounting(self.mechanism, decaying=isinstance(self.method, Decaying))
        before = self._accounting.energies(steps.time - steps.last.length, steps.last.before)
        return self._accounting.account(before, self._accounting.energies(steps.time, steps.x), steps.last.flows)

    @checked
    def advance(self, h: float, inputs: Mapping[str, Numbers] | None = None) -> None:
        """Take a step of h > 0 [s] under constant inputs by external port.

        Parameters
        ----------
        h : float
            Length of the step [s], not below what times and positions in double precision resolve.
        inputs : mapping, optional
            Values by external port, the same over the step; those not named are zero.

        Raises
        ------
        ArithmeticError
            If the step cannot be solved; the simulator stays at its start.
        """
        self._advance(check.positive("h", h, "s"), inputs)

    @checked
    def advance_to(self, time: float, inputs: Mapping[str, Numbers] | None = None) -> None:
        """Take a step to a given time [s], as runs do: see :meth:`advance`."""
        h = check.positive(f"time beyond {self.time:.6g} s", time - self.time, "s")
        self._advance(h, inputs, time)

    def _advance(self, h: float, inputs: Mapping[str, Numbers] | None, end: float | None = None) -> None:
        least = max(SPACINGS * math.ulp(self.time), self._shortest)
        if not least <= h <= HUGE:
            raise ValueError(f"h must be {least:.2g} s to {HUGE:.0e} s at t = {self.time:.6g} s, got {h:.3g} s")
        self._inputs.hold(inputs)
        try:
            self._steps.take(h, self._inputs.values, end)
        except StepFailed as error:
            raise ArithmeticError(explain_step(error, error.span or (self.time, self.time + h))) from error

    @checked
    def live(self, live: Any = True, *, until: float) -> AbstractContextManager[Any]:
        """Display of the simulator while it is advanced, in a page of the browser or a window.

        The user of the display can pause, take single steps and set a pace: ``advance`` of the context's value then
        waits. ``ended`` of the value is True if the user has ended the run. Steps are equal to those without a display
        to the last bit. Work and losses are shown only for simulators without controllers.

        Parameters
        ----------
        live : flexph.view.Live or True
            Sliders, dials, pace and kind of the display.
        until : float
            Last time of the bar of the display [s]; steps may go beyond.

        Returns
        -------
        context manager
            Its value has ``advance(h, inputs)`` as the simulator, with the inputs of sliders, and ``ended``.

        Raises
        ------
        ValueError
            For a time that is not after the present one, and sliders as for :class:`flexph.view.Live`.

        Examples
        --------
        >>> import rigid
        >>> from flexph import GROUND, Simulator, connect, hinge, torque
        >>> from flexph.view import Live
        >>> joints = [hinge("rod.root", GROUND), torque("rod.tip", name="motor")]
        >>> pendulum = connect({"rod": rigid.bar(1.0, 2.0)}, joints)
        >>> simulator = Simulator(pendulum, pendulum.consistent_state(pendulum.assemble({"rod": (0.0, 0.0, 0.0)})))
        >>> with simulator.live(Live(sliders={"motor": (-2.0, 2.0)}, browser=False), until=0.1) as steps:
        ...     while simulator.time < 0.1 and not steps.ended:
        ...         steps.advance(0.01)
        >>> simulator.time
        0.1
        """
        from ..view.live.live import Live

        live = Live() if live is True else live
        if not isinstance(live, Live):
            raise ValueError(f"live must be True or a flexph.view.Live, got {check.shown(live)}")
        if not until > self.time:
            raise ValueError(f"until must be after the present time {self.time:.6g} s, got {until:g}")
        return self._displayed(live, until)

    @contextmanager
    def _displayed(self, live: Any, until: float) -> Iterator[Any]:
        from ..view.live.live_steps import LiveSteps

        with live.opened(self.mechanism, (self.time, until), {}) as session:
            yield LiveSteps(self, session)


class _Accounting:
    """Energies of a mechanism at states, and accounts of its steps."""

    def __init__(self, mechanism: Mechanism, *, decaying: bool) -> None:
        self._mechanism = mechanism
        self._rows = Accounts(mechanism, decaying=decaying)

    def energies(self, time: float, x: Array) -> Array:
        """Energies [J] of a flat state at a time, one for each account of the mechanism."""
        c = configuration(self._mechanism, x)
        return self._rows.energies(c, derive(self._mechanism.network.arrays, c), time)

    def account(self, before: Array, after: Array, flows: Array) -> StepAccount:
        """Account of a step: energies at its end, works, losses and balance residual.

        ``before`` and ``after`` are the energies at the ends of the step, ``flows`` its works and losses; empty flows
        are zero.
        """
        accounts, first = self._rows, len(self._rows.work)
        flows = flows if flows.size else np.zeros(accounts.flow_count)
        work = dict(zip(accounts.work, flows[:first].tolist(), strict=True))
        lost = flows[accounts.flow_count - len(accounts.dissipation) :]
        return StepAccount(
            dict(zip(accounts.energy, after.tolist(), strict=True)),
            work,
            dict(zip(accounts.dissipation, lost.tolist(), strict=True)),
            accounts.balance(before, after, flows),
        )
