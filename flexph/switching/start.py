"""Start of a switching run."""

from __future__ import annotations

import numpy as np

from ..consistency.equations import with_algebraic
from ..numerics import checks as check
from ..numerics.arrays import Array
from .arrival import Arrival, DrivenSystem, Instant, violated
from .trajectory import ModeChange


def start_of(driven: DrivenSystem, time: float, x0: Array, *, mode: str | None, step: float) -> Instant:
    """Start in a mode, or in the first mode that is consistent and still valid after a small step.

    ``step`` [s] is the usual step length. Raises ValueError if there is no such mode.
    """
    names = list(driven.system.modes) if mode is None else [check.choice("mode", mode, driven.system.modes)]
    reasons = []
    for name in names:
        system = driven.system.system(name)
        system.check(x0)
        try:
            branch = driven.branch(name, time, x0)
        except ArithmeticError as error:
            reasons.append(str(error))
            continue
        size = with_algebraic(system, branch.state, np.maximum(np.abs(branch.state), system.floor(branch.state)))
        start = Instant(time, name, branch.state, size)
        if mode is not None:
            return start
        reason = violated(driven, Arrival(_no_change(driven, start), branch), size, step)
        if not reason:
            return start
        reasons.append(f"{name!r}: {reason}")
    raise ValueError(f"no consistent start at t = {time} s. {'; '.join(reasons)}; see flexph.consistency.consistent")


def _no_change(driven: DrivenSystem, at: Instant) -> ModeChange:
    """Switch without effect, for testing whether the mode is valid."""
    energy, zero = float(driven.system.H(at.state)), np.zeros(driven.system.size)
    return ModeChange(
        time=at.time,
        source=at.mode,
        target=at.mode,
        cause="",
        before=at.state,
        after=at.state,
        energy=(energy, energy),
        work={},
        lost=0.0,
        impulse=zero,
        free=zero[None, :0],
        kept={},
    )
