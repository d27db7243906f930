"""What a design loop pays beside its steps: building, consistent start, a run of one step, a simulator, threads.
And what checkpoints cost the command line.

The crank-slider of [flex] sec. 6.2 with eight elements. Times are process times, minima of several rounds; threads are
compared by the clock and by process time, each case in new processes with all threads of the machine and with one. A
ratio above one says that a part takes less than it may: building 8 ms, the undeformed start with the first run of one
step, which gathers the arrays of the loops, 5 ms, a step of a simulator 30 µs beyond that of a run.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from crank_slider import ELEMENTS, END, mechanism
from scipy.stats import binom

import rigid
from cases import crank_slider as case
from flexph import GROUND, Mechanism, Simulator, State, connect, eigenfrequencies, eliminate, hinge, integrate
from flexph.linear import poles
from flexph.methods import DiscreteGradient, Exact, ExactGauss

BARS = 40
ALLOWED = {"building": 8.0, "start and ends": 5.0, "stepper": 0.03}
"""Milliseconds that each may take."""
H, STEPS = 1e-5, 2000


def seconds(function: Callable[..., Any], given: Any) -> float:
    """Process time of a call [s]."""
    clock = time.process_time()
    function(given)
    return time.process_time() - clock


def design(number: int) -> Mechanism:
    """The mechanism of one evaluation: another rod each time, so that nothing of an earlier one is known."""
    section = case.fem.Section(diameter=case.DIAMETER * (1.0 + 1e-6 * number))
    return case.around(case.beam(ELEMENTS, "von_karman", section))


def start(slider: Mechanism, elastic: str = "undeformed") -> State:
    return slider.consistent_state(slider.assemble({"crank": (0.0, 0.0, 0.0)}), elastic=elastic)


def run(given: tuple[Mechanism, State], steps: int = 1) -> None:
    integrate(*given, given[1].time + H * np.arange(steps + 1), progress=False, save_every=steps)


def advances(given: tuple[Mechanism, State]) -> float:
    """Process time of a step of a simulator beyond that of a run [s]."""
    simulator = Simulator(*given)
    for _ in range(STEPS // 10):
        simulator.advance(H)
    on = seconds(lambda _: [simulator.advance(H) for _ in range(STEPS)], None)
    return (on - seconds(lambda state: run((given[0], state), STEPS), simulator.state)) / STEPS


def building(rounds: int) -> None:
    """The table of one evaluation, each of its parts on a mechanism of which nothing is known yet."""
    run((made := design(0), start(made)))  # fills what beams of equal meshes share
    times: dict[str, list[float]] = {name: [] for name in ("building", "start", "quasi-static", "first run", "stepper")}
    for k in range(1, rounds + 1):
        clock = time.process_time()
        slider = design(k)
        times["building"].append(time.process_time() - clock)
        times["start"].append(seconds(start, slider))
        times["quasi-static"].append(seconds(partial(start, elastic="quasi_static"), design(-k)))
        state = start(slider)
        times["first run"].append(seconds(run, (slider, state)))
        times["stepper"].append(advances((slider, state)))
    least = {name: 1e3 * min(own) for name, own in times.items()}
    for name, own in least.items():
        print(f"{name:14s}{own:10.3f} ms")
    least["start and ends"] = least["start"] + least["first run"]
    for name, allowed in ALLOWED.items():
        print(f"ratio overhead-{name.replace(' ', '-')} {allowed / least[name]:.2f}")


# --- threads ----------------------------------------------------------------------------------------------------------


def n_four_bar(count: int = BARS) -> tuple[Mechanism, State]:
    """``count`` squares of bars of 1 m and 1 kg that share their sides, the tops at 1 m/s (the IFToMM benchmark)."""
    bar = rigid.bar(1.0, 1.0)
    ground = [hinge(f"side{k}.root", GROUND.at(float(k), 0.0)) for k in range(count + 1)]
    tops = [hinge(f"side{k}.tip", f"top{k}.root") for k in range(count)]
    tops += [hinge(f"top{k}.tip", f"side{k + 1}.tip") for k in range(count)]
    names = [f"side{k}" for k in range(count + 1)] + [f"top{k}" for k in range(count)]
    squares = connect(dict.fromkeys(names, bar), ground + tops, gravity=(0.0, -9.81))
    guess = {f"side{k}": (float(k), 0.0, 0.5 * np.pi) for k in range(count + 1)}
    pose = squares.assemble(guess | {f"top{k}": (float(k), 1.0, 0.0) for k in range(count)})
    return squares, squares.consistent_state(pose, velocities={f"side{k}": -1.0 for k in range(count + 1)})


def squares_by_numpy() -> Callable[[], Any]:
    squares, state = n_four_bar()
    return partial(integrate, squares, state, 1e-3 * np.arange(21), method=Exact(compiled=False), progress=False)


def squares_compiled() -> Callable[[], Any]:
    squares, state = n_four_bar()
    return partial(integrate, squares, state, 1e-3 * np.arange(201), method=Exact(), progress=False)


def three_stages() -> Callable[[], Any]:
    slider, state = mechanism()
    return partial(
        integrate,
        slider,
        state,
        np.linspace(0.0, END, 125)[:21],
        method=ExactGauss(stages=3, compiled=False),
        progress=False,
    )


def general_equations() -> Callable[[], Any]:
    slider, state = mechanism()
    state = slider.consistent_multipliers(state)
    return partial(integrate, slider, state, 1e-5 * np.arange(21), method=DiscreteGradient(), progress=False)


def fine_rod() -> Callable[[], Any]:
    """Start, linearization, poles and modes of a rod of many elements."""
    slider = case.crank_slider(64, "von_karman")
    pose = slider.assemble({"crank": (0.0, 0.0, 0.0)})

    def evaluation() -> None:
        system = slider.linearize(pose)
        slider.consistent_state(pose, elastic="quasi_static")
        eigenfrequencies(system, 3)
        poles(eliminate(system))

    return evaluation


LONGEST = 10.0
"""Seconds by the clock after which a case begins no other round: a busy machine took twelve times the process time."""
CASES = (squares_by_numpy, squares_compiled, three_stages, general_equations, fine_rod)


def least_times(name: str, rounds: int) -> tuple[float, float]:
    """Shortest times of a case in this process [s]: by the clock, and of all its threads."""
    evaluate = globals()[name]()
    evaluate()
    times: list[tuple[float, float]] = []
    began = time.monotonic()
    while len(times) < rounds and time.monotonic() - began < LONGEST:
        before = time.perf_counter(), time.process_time()
        evaluate()
        times.append((time.perf_counter() - before[0], time.process_time() - before[1]))
    clock, process = np.min(times, axis=0)
    return float(clock), float(process)


def with_threads(name: str, count: int | None, rounds: int) -> tuple[float, float]:
    """The same in a new process whose libraries take so many threads, or as many as they find."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.pop(variable, None)
        if count is not None:
            os.environ[variable] = str(count)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(least_times, name, rounds).result()


def threads(rounds: int) -> None:
    """Each case with all threads and with one; where others are at work, time by the clock says little."""
    print(f"\n{'case':20s}{'all threads: clock':>20s}{'process [ms]':>14s}{'one: clock':>12s}{'process [ms]':>14s}")
    for case_ in CASES:
        name = case_.__name__
        least = {count: np.full(2, np.inf) for count in (None, 1)}
        for _ in range(2):
            for count in least:
                least[count] = np.minimum(least[count], with_threads(name, count, rounds))
        every, one = 1e3 * least[None], 1e3 * least[1]
        print(f"{name:20s}{every[0]:20.1f}{every[1]:14.1f}{one[0]:12.1f}{one[1]:14.1f}", flush=True)
        for kind, ratio in zip(("clock", "process"), one / every, strict=True):
            print(f"ratio threads-{name.replace('_', '-')}-{kind} {ratio:.2f}")


# --- checkpoints ------------------------------------------------------------------------------------------------------

COMMAND = (sys.executable, "-m", "flexph", "run", "crank-slider", "--quiet", "--out")
MOST = 1.05
"""What the command may take with checkpoints, over what it takes without."""


def of_process(words: Sequence[str]) -> float:
    """Process time of a command, from its start to its end [s]."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([*COMMAND, f"{folder}/out", *words])
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"the command ended with status {status}")
    return used.ru_utime + used.ru_stime


def checkpoint(pairs: int, minutes: float) -> None:
    """``flexph run crank-slider --checkpoint 1`` and the same without in turn, each in a process of its own.

    Which one comes first changes from pair to pair. The number of pairs is even, and less than what was asked where the
    minutes are over before; the bounds are those of the median of pairs with 95 % confidence, by their order.
    """
    with_, without = ("--checkpoint", "1"), ()
    began = time.monotonic()
    of_process(with_)  # brings files into memory
    times: list[tuple[float, float]] = []
    while len(times) < pairs and time.monotonic() - began < 60.0 * minutes:
        times.append((of_process(without), of_process(with_)))
        times.append((of_process(with_), of_process(without))[::-1])
    plain, kept = np.transpose(times)
    ratios, count = np.sort(kept / plain), len(times)
    below = int(binom.ppf(0.025, count, 0.5))
    low, high = ratios[max(below - 1, 0)], ratios[min(count - below, count - 1)]
    print(f"flexph run crank-slider: medians of {count} pairs {np.median(plain):.3f} s of processor time,")
    print(f"with --checkpoint 1 {np.median(kept):.3f} s; shortest {plain.min():.3f} s and {kept.min():.3f} s")
    print(
        f"median of the pairs {100.0 * (np.median(ratios) - 1.0):+.2f} %, within {100.0 * (low - 1.0):+.2f} % and ",
        end="",
    )
    print(f"{100.0 * (high - 1.0):+.2f} %")
    print(f"ratio overhead-checkpoint {MOST / np.median(ratios):.3f}")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rounds", type=int, default=10, help="of which the shortest counts")
    words.add_argument("--pairs", type=int, default=20, help="of commands with and without checkpoints")
    words.add_argument("--minutes", type=float, default=10.0, help="after which no other pair begins")
    words.add_argument("--parts", nargs="*", default=["building", "threads", "checkpoint"])
    given = words.parse_args()
    if "building" in given.parts:
        building(given.rounds)
    if "threads" in given.parts:
        threads(given.rounds)
    if "checkpoint" in given.parts:
        checkpoint(given.pairs, given.minutes)


if __name__ == "__main__":
    main()
