"""What a compiled step of the crank-slider ([flex] sec. 6.2) spends its time on. One thread, an idle machine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from cases import crank_slider as case
from flexph import integrate
from flexph.integration.blocks.block_stepper import BlockStepper
from flexph.integration.compiled.loops import arrow, ledger_rows, residual
from flexph.integration.compiled.memory.entry import entry
from flexph.integration.compiled.steps import step
from flexph.integration.exact.step import ExactStepper, InitialValueProblem
from flexph.methods import Exact
from flexph.systems.inputs import Forcing

ELEMENTS, STEPS = 8, 2400
STEP = 4.0 * math.pi / case.SPEED / STEPS  # two turns
REPEATS, BEST = 2000, 9


@entry
def residuals(m, axes, h, before, after, offset, inputs, count):
    for _ in range(count):
        residual.residual(m, axes, (), (), h, before, after, offset, inputs)


@entry
def factorisations(m, axes, h, before, after, offset, inputs, count):
    for _ in range(count):
        arrow.factor(m, axes, (), (), h, before, after)


@entry
def solutions(m, axes, h, before, after, offset, inputs, count):
    for _ in range(count):
        arrow.solve(m, axes, (), h)


@entry
def ends(m, axes, h, before, after, offset, inputs, count):
    for _ in range(count):
        residual.trial(m, axes, (), (), h, before, after, offset, inputs)
        step._finish(m, axes)


@entry
def accounts(m, axes, h, before, after, offset, inputs, count):
    for _ in range(count):
        ledger_rows.flows(m, axes, h, before, after)
        ledger_rows.energies(m, axes, m.run_new_energy)
        ledger_rows.velocity_defect(m, axes, after, before, offset)
        arrow.solve_border(m)


def microseconds(function: Callable[..., None], *given: Any) -> float:
    """The best of several."""
    function(*given, 1)
    best = math.inf
    for _ in range(BEST):
        clock = time.process_time()
        function(*given, REPEATS)
        best = min(best, time.process_time() - clock)
    return 1e6 * best / REPEATS


def main() -> None:
    mechanism = case.crank_slider(ELEMENTS, "von_karman")
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    times = STEP * np.arange(STEPS + 1)
    whole = math.inf
    for _ in range(4):  # the first one compiles
        clock = time.process_time()
        run = integrate(mechanism, start, times, progress=False, method=Exact(compiled=True))
        whole = min(whole, 1e6 * (time.process_time() - clock) / STEPS)
    iterations = float(run.ledger.iterations.mean())

    middle = ExactStepper(InitialValueProblem(mechanism, run.final, Forcing(mechanism.network.input_slices, {}, 2)))
    blocks = BlockStepper(mechanism, middle)
    blocks.put(middle.start(run.final))
    stepper = blocks.compiled
    coefficient, offset, _, _ = middle.table.over(np.array([0.0, STEP]))
    given = (stepper.memory, stepper.axes, STEP, *coefficient, offset[1], np.zeros(0))
    microseconds(residuals, *given)
    microseconds(factorisations, *given)
    rows = {
        "residuals": iterations * microseconds(residuals, *given),
        "factorisation": microseconds(factorisations, *given),
        "solutions": iterations * microseconds(solutions, *given),
        "end of the step": microseconds(ends, *given),
        "accounts": microseconds(accounts, *given),
    }
    rows["drives, rows, the rest"] = whole - sum(rows.values())
    print(f"{whole:.1f} µs per step, {iterations:.1f} iterations with one Jacobian")
    for name, spent in rows.items():
        print(f"  {name:24s} {spent:5.1f} µs {spent / whole:5.0%}")


if __name__ == "__main__":
    main()
