"""The arrays of controllers, their laws and feedback, as compiled loops take them; needs numba."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import block_diag

from ..numerics.arrays import Array
from ..numerics.compiled.announcing import announced
from ..numerics.compiled.by_address import Laid, address_of
from ..numerics.compiled.functions import function_at
from ..sensors.panel import Panel
from .compiled.data import DRY, LIMIT, Feedback, Laws, Linear, no_laws, no_linear
from .compiled.laws import law
from .continuous import LinearSteps
from .laws.laws import DryFriction

if TYPE_CHECKING:
    from .continuous_loop import ContinuousLoop
    from .joined import Joined
    from .state_feedback import FeedbackLoop


def linear_arrays(controllers: list[ContinuousLoop], states: list[Array], times: Array) -> Linear:
    """All linear controllers side by side."""
    if not controllers:
        return no_linear(len(times) - 1)
    steps: list[Any] = [c.steps for c in controllers]
    sizes = np.array([s.B.shape for s in steps])
    firsts = np.cumsum(np.vstack([[0, 0], sizes]), axis=0)[:-1].tolist()
    whole = list(zip(controllers, steps, firsts, strict=True))
    state = np.concatenate([first + np.arange(c.given.system.size) for c, _, (first, _) in whole])
    stored = np.concatenate([s.moving[: c.given.system.size] for c, s, _ in whole])
    own = [first + i for c, _, (_, first) in whole for _, part, _, _ in c.joined for i in range(part.start, part.stop)]
    (N, M), n = sizes.sum(axis=0).tolist(), state.size
    return Linear(
        E=block_diag(*(s.E for s in steps)),
        flow=block_diag(*(s.flow for s in steps)),
        B=block_diag(*(s.B for s in steps)),
        state=state.astype(np.int64),
        stored=stored.astype(np.int64),
        x=np.concatenate(states),
        end=np.zeros(n),
        acting=np.hstack([np.pad(c.acting_over(times), ((0, 0), (0, len(c.steps.laws)))) for c in controllers]),
        own=np.array(own, dtype=np.int64),
        seen=np.concatenate([c.entries for c in controllers]).astype(np.int64),
        u=np.zeros(M),
        mean=np.zeros(N),
        solved=np.zeros((N, N + n + M)),
    )


def law_arrays(joined: Joined, forces: Array, q: int, steps: int) -> Laws:
    """All laws of the controllers, with forces that go on."""
    laws: list[Any] = list(joined.laws)
    m, first, column, z = len(laws), 0, list[int](), np.zeros
    if not m:
        return no_laws(steps, q)
    for c in joined.controllers:
        assert isinstance(c.steps, LinearSteps)
        first += c.steps.B.shape[1]
        column += list(range(first - len(c.steps.laws), first))
    dry = [isinstance(own, DryFriction) for own in laws]
    values = [[own.level, 0.0] if isinstance(own, DryFriction) else [own.most, own.resistance] for own in laws]
    line = z(m), z((m, m)), *(z(m) for _ in range(7)), z((m, m + 1)), z((steps, m))
    with announced():
        entry = np.array([address_of(law, (0, 0))])
    return Laws(
        entry,
        *(np.array(column, dtype=np.int64), np.where(dry, DRY, LIMIT).astype(np.int64), np.array(values)),
        *(forces.copy(), z(m), z(m), z((q + m, m)), z((q, 1 + m))),
        *line,
    )


def feedback_arrays(panel: Panel, seen: tuple[Array, list[float]], call: Laid, to: tuple[int, int, Array]) -> Feedback:
    """What reads all sensors of a panel, where ``seen`` was read, and calls a function with it.

    ``to`` are the address of the function, what it is given, and the inputs that it sets.
    """
    (start, near), (function, given, ports) = seen, to
    return Feedback(
        seen=panel.seen,
        entries=panel.entries.astype(np.int64),
        part=np.zeros(panel.entries.size),
        out=np.zeros((2, panel.size)),
        angles=np.array([panel.angles]),
        which=np.array([i for own in panel.places.values() for i in own], dtype=np.int64),
        near=np.array(near),
        start=start,
        end=start.copy(),
        call=call.value,
        addresses=np.array([function, given]),
        ports=ports.astype(np.int64),
    )


class LaidFeedback(Laid):
    """A feedback in compiled code, with the tuple that its function is called with."""

    def __init__(self, given: Array, arrays: Feedback, call: Laid) -> None:
        super().__init__(arrays)
        self.given, self._call = given, call

    @property
    def near(self) -> list[float]:
        """What angles are next to."""
        near: list[float] = self.value[Feedback._fields.index("near")].tolist()
        return near


def laid_feedback(c: FeedbackLoop, x: Array, time: float, near: list[float] | None) -> LaidFeedback:
    """A feedback at a state and time, with what its angles are next to."""
    seen = c.read(x, near)
    c.answer(time, seen[0])  # compiled code does not look where it reads: Python says what is wrong
    given = np.zeros(c.size)
    call = Laid((np.zeros(1), given, np.zeros(c.entries.size)))
    to = function_of(c), call.address, c.entries
    return LaidFeedback(given, feedback_arrays(c.panel, seen, call, to), call)


def function_of(c: FeedbackLoop) -> int:
    """The address of its function, compiled; raises ValueError where numba cannot compile it."""
    with announced():
        return function_at(f"controller {c.name!r}", c.given.function)
