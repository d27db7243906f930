"""Arrays of controllers, their laws and feedback for compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import LowLevelCallable
from scipy.linalg import block_diag

from ..numerics.arrays import Array
from ..numerics.loops.callbacks import WHOLE, Callback, Struct, c_function
from ..sensors.panel import Panel
from .continuous import LinearSteps
from .laws import DryFriction, Law, Limit
from .loops.data import DRY, LIMIT, OTHER, Feedback, Laws, Linear, no_linear
from .loops.functions import SIGNATURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .continuous_loop import ContinuousLoop
    from .coupled_controllers import CoupledControllers
    from .state_feedback import FeedbackLoop


def linear_arrays(controllers: list[ContinuousLoop], states: list[Array], times: Array) -> Linear:
    """Arrays of all linear controllers for compiled loops, with block-diagonal matrices.

    ``states`` are those at the start, ``times`` those of the steps.
    """
    if not controllers:
        return no_linear(len(times) - 1)
    steps: list[Any] = [c.steps for c in controllers]
    sizes = np.array([s.B.shape for s in steps])
    firsts = np.cumsum(np.vstack([[0, 0], sizes]), axis=0)[:-1].tolist()
    whole = list(zip(controllers, steps, firsts, strict=True))
    state = np.concatenate([first + np.arange(c.given.system.size) for c, _, (first, _) in whole])
    stored = np.concatenate([s.moving[: c.given.system.size] for c, s, _ in whole])
    rows = [
        first + i for c, _, (_, first) in whole for _, part, _, _ in c.coupled for i in range(part.start, part.stop)
    ]
    (N, M), n = sizes.sum(axis=0).tolist(), state.size
    return Linear(
        E=block_diag(*(s.E for s in steps)),
        flow=block_diag(*(s.flow for s in steps)),
        B=block_diag(*(s.B for s in steps)),
        state=state.astype(np.int64),
        stored=stored.astype(np.int64),
        x=np.concatenate(states),
        end=np.zeros(n),
        begun=np.zeros(n),
        acting=np.hstack([np.pad(c.acting_over(times), ((0, 0), (0, len(c.steps.laws)))) for c in controllers]),
        own=np.array(rows, dtype=np.int64),
        output_index=np.concatenate([c.entries for c in controllers]).astype(np.int64),
        u=np.zeros(M),
        mean=np.zeros(N),
        solved=np.zeros((N, N + n + M)),
        solved_length=np.zeros(1),
    )


class LawFunctions:
    """Callback with which compiled loops evaluate laws that exist in Python only.

    The loops call ``address`` with the index of the law.
    """

    def __init__(self, laws: Sequence[Law]) -> None:
        self._laws = laws
        self.arguments, self.results = np.zeros(3), np.zeros(3)
        self._callback = Callback(self._intersect, WHOLE, 0)
        self.address = self._callback.address

    def _intersect(self, k: int) -> int:
        law = self._laws[k]
        rate, force = law.intersection(*self.arguments.tolist())
        self.results[:] = rate, force, law.stiffness(rate, force)
        return 1

    @property
    def error(self) -> BaseException | None:
        """Exception raised by a law, or None."""
        return self._callback.error


def law_arrays(
    coupled: CoupledControllers, forces: Array, steps: int, speed: float, functions: LawFunctions | None
) -> Laws:
    """Arrays for compiled loops of all laws that close ports of controllers.

    ``forces`` are those of the laws at the start, ``speed`` is the largest rate so far, ``steps`` the number of steps.
    """
    laws, q = coupled.laws, coupled.entries.size
    m, first, column, z = len(laws), 0, list[int](), np.zeros
    for c in coupled.controllers if m else ():
        assert isinstance(c.steps, LinearSteps)
        first += c.steps.B.shape[1]
        column += list(range(first - len(c.steps.laws), first))
    kinds, parameters = zip(*map(_kind, laws), strict=True) if m else ((), ())
    return Laws(
        column=np.array(column, dtype=np.int64),
        kind=np.array(kinds, dtype=np.int64),
        parameter=np.array(parameters, dtype=float).reshape(m, 2),
        function=np.array([0 if functions is None else functions.address], dtype=np.int64),
        arguments=z(3) if functions is None else functions.arguments,
        results=z(3) if functions is None else functions.results,
        force=forces.copy(),
        before=z(m),
        rest=z(m),
        by=z((q + m, m)),
        both=z((q, 1 + m)),
        free=z(m),
        slopes=z((m, m)),
        rate=z(m),
        alone=z(m),
        stiffness=z(m),
        power=z(m),
        off=z(m),
        met=z(m),
        next=z(m),
        step=z(m),
        space=z((m, m + 1)),
        speed=np.array([speed]),
        lost=z((steps, m)),
    )


def _kind(law: Law) -> tuple[int, tuple[float, float]]:
    """Code by which compiled loops know the kind of a law, and its two parameters."""
    if isinstance(law, DryFriction):
        return DRY, (law.level, 0.0)
    if isinstance(law, Limit):
        return LIMIT, (law.limit, law.resistance)
    return OTHER, (0.0, 0.0)


class Call(NamedTuple):
    """Function that compiled loops call for a feedback, with the arrays that it reads and writes.

    The function has the address ``function`` and returns 1 if it has set the inputs. A Python function receives the
    number ``given``; a C function receives time, readings, inputs and its user data, whose address is ``given``. Keep a
    reference to ``keeper`` as long as loops may call the function.
    """

    function: int
    given: int
    in_c: bool
    time: Array  # (1,)
    readings: Array  # (p,)
    inputs: Array
    keeper: Any


class FeedbackArrays:
    """Arrays of one feedback for compiled loops, which receive their ``address``."""

    def __init__(self, panel: Panel, seen: tuple[Array, list[float]], ports: np.ndarray, call: Call) -> None:
        assert panel.arrays is not None
        (start, near), self.call = seen, call
        self._struct = Struct(
            Feedback(
                arrays=panel.arrays,
                entries=panel.entries.astype(np.int64),
                part=np.zeros(panel.entries.size),
                out=np.zeros((2, panel.size)),
                angles=np.array([panel.angles], dtype=np.int64),
                which=np.array([i for numbers in panel.places.values() for i in numbers], dtype=np.int64),
                near=np.array(near, dtype=float),
                start=start,
                begun_near=np.array(near, dtype=float),
                begun_start=start.copy(),
                end=start.copy(),
                time=call.time,
                readings=call.readings,
                inputs=call.inputs,
                function=np.array([call.function], dtype=np.int64),
                given=np.array([call.given], dtype=np.int64),
                in_c=np.array([call.in_c], dtype=np.int64),
                ports=ports.astype(np.int64),
            )
        )
        self.address = self._struct.address

    @property
    def near(self) -> list[float]:
        """Sensor values at the last reading, from which angle unwrapping continues."""
        near: list[float] = self._struct.value.near.tolist()
        return near

    @property
    def error(self) -> BaseException | None:
        """Exception raised by the Python function, or None."""
        return self.call.keeper.error if isinstance(self.call.keeper, Callback) else None


def feedback_arrays(c: FeedbackLoop, x: Array, near: list[float] | None) -> FeedbackArrays:
    """Arrays of a feedback at the flat state x for compiled loops.

    ``near`` are the sensor values from which angle unwrapping continues; None at the start of a run.
    """
    return FeedbackArrays(c.panel, c.read(x, near), c.entries, _call_of(c))


def _call_of(c: FeedbackLoop) -> Call:
    time, readings, inputs = np.zeros(1), np.zeros(c.size), np.zeros(c.entries.size)
    if isinstance(c.given.function, LowLevelCallable):
        address, user_data = c_function(c.given.function, SIGNATURE)
        return Call(address, user_data, True, time, readings, inputs, c.given.function)

    def answer(_: int) -> int:
        inputs[:] = c.answer(time.item(), readings.copy())  # a copy, as the function may keep it
        return 1

    callback = Callback(answer, WHOLE, 0)
    return Call(callback.address, 0, False, time, readings, inputs, callback)
