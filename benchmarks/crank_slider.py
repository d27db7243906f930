"""The rotating crank-slider ([flex] sec. 6.2) at equal error: our methods, Exudyn (C++), SUNDIALS and Radau.

Two turns, von Kármán strain, eight elements. The error is the rms of the midpoint deflection against a fine run of the
same code (Exudyn's beam is another model), relative to its rms; steps or tolerances are the fewest that keep to a
target. From the undeformed start, whose axial vibration nothing resolves, at 1e-3; from the quasi-static one, without
it, at 1e-2 to 1e-6. Process time, the least of rounds in which all take their turn. One thread: OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np
from crank_slider_exudyn import Settings, deflections
from scipy.interpolate import CubicSpline

from cases import crank_slider as case
from flexph import Mechanism, State, integrate
from flexph.integration.loops.workspace import memory
from flexph.methods import Exact, Exact4, ExactGauss, Library, Method, by_name
from flexph.numerics.arrays import Array

ELEMENTS, TURNS = 8, 2.0
END = TURNS * 2.0 * math.pi / case.SPEED  # [s]
TARGETS = {"undeformed": (1e-3,), "quasi_static": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)}
REPEATS = 5
SCAN = 0.99
"""Ratio of the step counts that are tried one after the other until one misses the target."""
SAVED = 400
"""Times at which adaptive methods are compared."""
FINE = {"undeformed": 32000, "quasi_static": 250_000}
"""Steps of a fine run of Exudyn, and of ours from the undeformed start, whose axial modes nothing damps: there its own
error is a third of the target or less."""
FINE_GAUSS = 4000
"""Steps of ours from the quasi-static start."""
EXUDYN = {"trapezoidal": "TrapezoidalIndex2", "generalised-α": "GeneralizedAlpha"}
NEWTON = (1e-6, 1e-3, 1e-4)
"""Tolerances of its Newton iteration; with the first the trapezoidal rule is what all others are compared with."""
LOOSEST = {"radau": 0.02, "ida": 1e-3}
"""Tolerances that are tried first, over the target; each next one is half as large."""
QUICK = {"radau": 1e-3, "ida": 1e-2}
"""Smallest targets of the methods of libraries without ``--long``."""


@dataclass(frozen=True)
class Outcome:
    """Times (k,) [s], midpoint deflection over the length (k,), steps taken, and seconds of process time."""

    times: Array
    deflection: Array
    steps: int
    seconds: float


Run = Callable[[float], Outcome]
"""A run with so many steps, or with such a tolerance."""


@dataclass
class Row:
    """A line of the table: a run that keeps to the target with an argument, and the least of its times."""

    name: str
    run: Run
    argument: float
    error: float
    best: Outcome

    def again(self) -> None:
        """Another round, unless it takes long."""
        if self.best.seconds < 5.0:
            self.best = min(self.best, self.run(self.argument), key=lambda outcome: outcome.seconds)


# --- runs -------------------------------------------------------------------------------------------------------------


def mechanism(elements: int = ELEMENTS, elastic: str = "undeformed") -> tuple[Mechanism, State]:
    """The crank-slider at its stretched pose."""
    built = case.crank_slider(elements, "von_karman")
    pose = built.assemble({"crank": (0.0, 0.0, 0.0)})
    return built, built.consistent_state(pose, elastic="undeformed" if elastic == "undeformed" else "quasi_static")


def ours(start: str, steps: float, method: Method) -> Outcome:
    """A run of ours with equal steps, or saved at equal times."""
    system, state = mechanism(elastic=start)
    times = np.linspace(0.0, END, int(steps) + 1)
    system.once(memory)  # as Exudyn's system is assembled before its clock runs
    clock = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coarse runs say that they are coarse
        solution = integrate(system, state, times, progress=False, method=method)
    seconds = time.process_time() - clock
    shape = system.bodies["rod"].ports["middle"].shape.toarray()[1]
    u = solution.states[:, system.layout.parts["rod.deformation"]]
    taken = int(solution.ledger.iterations.sum()) if isinstance(method, Library) else int(steps)
    return Outcome(solution.times, u @ shape / case.ROD, taken, seconds)


def adaptive(start: str, method: str, tolerance: float) -> Outcome:
    """A run of a method of a library."""
    return ours(start, SAVED, by_name(method, tolerance=tolerance))


def exudyn(settings: Settings, steps: float) -> Outcome:
    """A run of Exudyn."""
    times, deflection, seconds = deflections(ELEMENTS, settings, END, int(steps))
    return Outcome(times, deflection, int(steps), seconds)


# --- equal error ------------------------------------------------------------------------------------------------------


def error(outcome: Outcome, fine: CubicSpline) -> float:
    """Relative rms of the difference of the midpoint deflections."""
    true = fine(outcome.times)
    return float(np.linalg.norm(outcome.deflection - true) / np.linalg.norm(true))


def fewest_steps(run: Run, fine: CubicSpline, target: float, known: tuple[int, float]) -> Row | None:
    """The run with an error just below the target: the order foretells its steps, ever fewer ones correct that.

    ``known`` are steps to begin with and the order; None where an iteration that ends early never comes to the target.
    """
    (steps, order), good = known, 0
    outcome = run(steps)
    for _ in range(10):
        ratio = error(outcome, fine) / target
        if ratio <= 1.0 and (not good or steps < good):
            good, best = steps, outcome
        if 0.95 < ratio <= 1.0 or steps > 4 * FINE["quasi_static"] // 10:
            break
        steps = math.ceil(steps * float(np.clip(ratio / 0.975, 0.1, 10.0)) ** (1.0 / order))
        if good and steps >= good:  # axial modes make the error uneven
            break
        outcome = run(steps)
    if not good:
        return None
    while target >= 1e-3 and int(SCAN * good) < good and error(outcome := run(int(SCAN * good)), fine) <= target:
        good, best = int(SCAN * good), outcome  # elsewhere errors are even
    return Row("", run, good, error(best, fine), best)


def loosest_tolerance(run: Run, fine: CubicSpline, target: float, first: float) -> Row | None:
    """The run with the largest of the tolerances that keeps to the target."""
    for k in range(8):
        tolerance = max(first * 0.5**k, 1e-12)
        outcome = run(tolerance)
        if error(outcome, fine) <= target:
            return Row("", run, tolerance, error(outcome, fine), outcome)
    return None


def named(row: Row | None, name: str) -> Iterator[Row]:
    """A row with its name, unless there is none."""
    if row is not None:
        row.name = name
        yield row


# --- the tables -------------------------------------------------------------------------------------------------------


@dataclass
class Fine:
    """Fine runs from a start, of ours and of Exudyn."""

    start: str

    def __post_init__(self) -> None:
        method = ExactGauss() if self.start == "quasi_static" else Exact()
        own = ours(self.start, FINE_GAUSS if self.start == "quasi_static" else FINE[self.start], method)
        self.own, self.exudyn = CubicSpline(own.times, own.deflection), {}
        if find_spec("exudyn") is not None:
            for solver in EXUDYN.values():
                settings = Settings(solver, 1e-9, self.start == "quasi_static")
                outcome = exudyn(settings, FINE[self.start])
                self.exudyn[solver] = CubicSpline(outcome.times, outcome.deflection)


def exudyn_rows(fine: Fine, target: float) -> Iterator[Row]:
    """Exudyn's methods; the first is what all others are compared with."""
    for label, solver in EXUDYN.items():
        for tolerance in NEWTON:
            run = partial(exudyn, Settings(solver, tolerance, fine.start == "quasi_static"))
            guess = int(2300 * math.sqrt(1e-3 / target))
            row = fewest_steps(run, fine.exudyn[solver], target, (guess, 2))
            yield from named(row, f"Exudyn {label}, Newton {tolerance:.0e}")


def own_rows(fine: Fine, target: float) -> Iterator[Row]:
    """The exact scheme, its composition and collocation."""
    few = {Exact(): (2300, 2), Exact4(): (230, 4), ExactGauss(): (124, 4)}
    for method, (steps, order) in few.items():
        guess = int(steps * (1e-3 / target) ** (1.0 / order))
        run = lambda n, method=method: ours(fine.start, n, method)  # noqa: E731
        yield from named(fewest_steps(run, fine.own, target, (guess, order)), f"flexph {method.name}")


def library_rows(fine: Fine, target: float, *, long: bool) -> Iterator[Row]:
    """Methods of libraries on our equations."""
    for method, (package, extra) in {"radau": ("scipy_dae", "dae"), "ida": ("sksundae", "ida")}.items():
        if find_spec(package) is None:
            print(f"({method} left out: pip install 'flexph[{extra}]')")
        elif long or target >= QUICK[method]:
            run = partial(adaptive, fine.start, method)
            row = loosest_tolerance(run, fine.own, target, LOOSEST[method] * target)
            yield from named(row, f"flexph {method}")


def table(fine: Fine, target: float, *, long: bool) -> dict[str, float]:
    """Everything at equal error; the time of each over that of Exudyn's trapezoidal rule at Newton 1e-6."""
    print(f"\n{fine.start.replace('_', '-')} start, rms error {target:.0e}")
    rows = list(exudyn_rows(fine, target)) if fine.exudyn else []
    rows += [*own_rows(fine, target), *library_rows(fine, target, long=long)]
    for _ in range(REPEATS):
        for row in rows:
            row.again()
    unit = rows[0].best.seconds if fine.exudyn else math.nan
    print(f"{'method':38s} {'steps':>7s} {'rms error':>10s} {'total ms':>9s} {'µs/step':>8s} {'Exudyn /':>8s}")
    for row in rows:
        seconds, steps = row.best.seconds, row.best.steps
        line = f"{row.name:38s} {steps:7d} {row.error:10.1e} {1e3 * seconds:9.1f} "
        print(f"{line}{1e6 * seconds / steps:8.1f} {unit / seconds:8.2f}", flush=True)
    return {row.name: unit / row.best.seconds for row in rows}


def ratios(tables: dict[tuple[str, float], dict[str, float]]) -> Iterator[tuple[str, float]]:
    """Names and values of the last lines: how many times faster than Exudyn at Newton 1e-6."""
    plain = tables["undeformed", 1e-3]
    for method in ("exact", "exact4"):
        yield f"crank-slider-{method}", plain[f"flexph {method}"]
    for target, name in ((1e-3, "crank-slider-best"), (1e-5, "crank-slider-best-1e-5")):
        own = tables["quasi_static", target].items()
        yield name, max(value for method, value in own if method.startswith("flexph"))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--long", action="store_true", help="libraries at all targets: hours")
    given = words.parse_args()
    if find_spec("exudyn") is None:
        print("(Exudyn left out: pip install 'flexph[bench]')")
    print(f"crank-slider, {TURNS:.0f} turns, {ELEMENTS} elements, von Kármán, process time")
    for method in (Exact(), Exact4(), ExactGauss()):  # fills what is kept: searches time the first one
        ours("undeformed", 500, method)
    tables = {}
    for start, targets in TARGETS.items():
        fine = Fine(start)
        for target in targets:
            tables[start, target] = table(fine, target, long=given.long)
    for name, value in ratios(tables):
        print(f"ratio {name} {value:.2f}")


if __name__ == "__main__":
    main()
