"""What goes by around the steps: of a run, of a process, of threads, of a design loop, of checkpoints.

``around``: a second run of the same mechanism, less its steps, by the default method, and of Exudyn's chain of rigid
links; ``exudyn``: whole second runs at equal error, of a tree of five bodies (Exudyn's test kinematicTreeTest, in joint
angles; ours with multipliers), and of a point on a spring under a fast load. ``process``: the README's program, imports
and first run in new processes. ``pair``: two runs in two threads of a process over one run.

``building``: the crank-slider of [flex] sec. 6.2 with eight elements, another rod each time. Times are process times
but where processes or threads are compared, minima of several rounds, in which all take their turn. A ratio above one
says that a part takes less than it may.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import overheads_exudyn as peer
from chain import EDGES, MASS, MOMENTS, hanging
from crank_slider import ELEMENTS, END, mechanism
from scipy.spatial.transform import Rotation
from scipy.stats import binom

import rigid
from cases import crank_slider as case
from flexph import (
    GROUND,
    Mechanism,
    Simulator,
    State,
    connect,
    eigenfrequencies,
    eliminate,
    force,
    hinge,
    integrate,
    revolute,
)
from flexph.joints import cartesian_spring_damper
from flexph.linear import poles
from flexph.methods import DiscreteGradient, Exact, ExactGauss, MechanismMethod
from flexph.numerics.arrays import Array

BARS = 40
ALLOWED = {"building": 8.0, "start and ends": 5.0, "stepper": 0.03}
"""Milliseconds that each part of an evaluation may take."""
AROUND = {"pendulum": 0.3, "chain in the plane": 1.0, "chain": 1.0, "rigid chain": 1.0}
"""Milliseconds that a second run may take around its steps."""
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


# --- around a run and beside Exudyn -----------------------------------------------------------------------------------

FEW, MANY, STEP = 10, 1010, 1e-3
IN_A_ROW = 5
"""Calls of a turn: the first ones find what the others before them left in the caches, which costs twice as much."""
FIVE = peer.Links(EDGES[0], MASS, MOMENTS, (0.0, 0.0, -9.81), [np.eye(3)] * 5)


def pendulum() -> tuple[Mechanism, State]:
    bar = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND)], gravity=(0.0, -9.81))
    return bar, bar.consistent_state(bar.assemble({"bar": 0.0}))


def least(runs: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """Shortest process times [s] of runs that take their turn, each of some calls one after the other."""
    times = dict.fromkeys(runs, math.inf)
    for _ in range(rounds):
        for (name, run_), _ in product(runs.items(), range(IN_A_ROW)):
            clock = time.process_time()
            run_()
            times[name] = min(times[name], time.process_time() - clock)
    return times


def around(rounds: int) -> None:
    """Milliseconds of a run before and after its steps, from runs of few and of many steps."""
    kinds = {
        "pendulum": pendulum(),
        "chain in the plane": hanging(5, 2, True),
        "chain": hanging(5, 3, True),
        "rigid chain": hanging(5, 3, False),
    }
    runs: dict[Any, Callable[[], Any]] = {
        (name, steps): partial(integrate, *given, given[1].time + STEP * np.arange(steps + 1), progress=False)
        for name, given in kinds.items()
        for steps in (FEW, MANY)
    }
    if find_spec("exudyn") is not None:
        model = peer.chain(FIVE)
        solve = partial(peer.run, model, "TrapezoidalIndex2")
        runs |= {("Exudyn, rigid chain", n): partial(solve, n * STEP, n) for n in (FEW, MANY)}
    times = least(runs, rounds)
    print(f"\n{'second run':24s}{'around [ms]':>12s}{'a step [µs]':>14s}")
    for name in dict.fromkeys(name for name, _ in runs):
        few, many = times[name, FEW], times[name, MANY]
        step = (many - few) / (MANY - FEW)
        rest = 1e3 * (few - FEW * step)
        print(f"{name:24s}{rest:12.3f}{1e6 * step:14.2f}")
        if name in AROUND:
            print(f"ratio overhead-around-{name.replace(' ', '-')} {AROUND[name] / rest:.2f}")


LENGTH, WIDTH, DENSITY, FORCES = 2.0, 0.1, 1000.0, (0.0, -10.0, 0.0)
COUNTS = sorted({round(10 * 1.12**k) for k in range(55)})
"""Numbers of steps that are tried."""


def tree() -> tuple[peer.Links, Mechanism, State]:
    """Five square bars of 2 m, each with its joint axis and the next joint turned against the one before."""
    mass = DENSITY * LENGTH * WIDTH**2
    moments = mass / 12.0 * np.array([2.0 * WIDTH**2, LENGTH**2 + WIDTH**2, LENGTH**2 + WIDTH**2])
    angles = [(0.5 * math.pi if k % 3 else 0.0, 0.25 * math.pi if k % 2 or k % 3 else 0.0, 0.0) for k in range(5)]
    turns = [Rotation.from_euler("XYZ", own).as_matrix() for own in angles]
    ends = {"root": (0.0, 0.0, 0.0), "tip": (LENGTH, 0.0, 0.0)}
    bar = rigid.body(mass, inertia=moments, centre=(0.5 * LENGTH, 0.0, 0.0), ports=ends)
    joints, pose, place, turn = [], {}, np.zeros(3), np.eye(3)
    for k, own in enumerate(turns):
        after = GROUND if k == 0 else f"link{k - 1}.tip"
        joints.append(revolute(f"link{k}.root", after, axis=(0.0, 0.0, 1.0), second_axis=own[:, 2]))
        place = place + turn @ (LENGTH if k else 0.0, 0.0, 0.0)
        turn = turn @ own
        pose[f"link{k}"] = (place, turn)
    arm = connect({f"link{k}": bar for k in range(5)}, joints, gravity=FORCES)
    return peer.Links(LENGTH, mass, moments, FORCES, turns), arm, arm.consistent_state(arm.assemble(pose))


def tips(links: peer.Links, angles: Array) -> Array:
    """Where the last link ends at joint angles (k, 5), (k, 3)."""
    place, turn = np.zeros((len(angles), 3)), np.broadcast_to(np.eye(3), (len(angles), 3, 3))
    for k, own in enumerate(links.turns):
        place = place + turn @ (links.length if k else 0.0, 0.0, 0.0)
        turn = turn @ own @ Rotation.from_rotvec(np.outer(angles[:, k], (0.0, 0.0, 1.0))).as_matrix()
    return place + turn @ (links.length, 0.0, 0.0)


def fewest(error_of: Callable[[float], float], given: Sequence[float], target: float) -> float | None:
    """The first of given step counts or tolerances with an error up to the target, which falls along them."""
    first = bisect_left(given, True, key=lambda value: error_of(value) <= target)
    return given[first] if first < len(given) else None


def beside(name: str, target: float, ours: Any, theirs: Any, rounds: int) -> None:
    """Second runs at equal error: functions of (method or solver, steps or tolerance), and of these an error."""
    (run_, error, methods), (solve, peer_error, solvers) = ours, theirs
    given = {kind: fewest(partial(error, kind), COUNTS, target) for kind in methods}
    runs = {(kind, n): partial(run_, kind, n) for kind, n in given.items() if n is not None}
    tolerances = [10.0 ** (-0.25 * k) for k in range(12, 41)]
    for kind in solvers:
        best = fewest(partial(peer_error, kind), tolerances if kind == "DOPRI5" else COUNTS, target)
        if best is not None:
            runs[kind, best] = partial(solve, kind, best)
    times = least(runs, rounds)
    for (kind, n), seconds_ in times.items():
        print(f"{name:18s}{target:8.0e}  {kind!s:22s}{n:10.4g}{1e3 * seconds_:10.3f} ms")
    mine = min(own for (kind, _), own in times.items() if isinstance(kind, MechanismMethod))
    for (kind, _), own in times.items():
        if isinstance(kind, str):
            print(f"ratio {name.replace(' ', '-')}-{target:.0e}-over-{kind} {mine / own:.2f}")


def exudyn(rounds: int) -> None:
    """A tree of five bodies, and a point on a spring under a load of ten times its frequency."""
    links, arm, start_ = tree()
    model = peer.tree(links)

    def swing(method: MechanismMethod, steps: float) -> Any:
        return integrate(arm, start_, np.linspace(0.0, 1.0, round(steps) + 1), method=method, progress=False)

    fine = swing(ExactGauss(5), 100).position("link4.tip")[-1]
    swung = (
        swing,
        lambda method, n: float(np.linalg.norm(swing(method, n).position("link4.tip")[-1] - fine)),
        (ExactGauss(), ExactGauss(4)),
    )
    theirs = (
        lambda solver, n: peer.run(model, solver, 1.0, n),
        lambda solver, n: float(np.linalg.norm(tips(links, peer.run(model, solver, 1.0, n)[2][-1:])[0] - fine)),
        ("RK44", "RK67", "DOPRI5"),
    )
    for target in (1e-5, 1e-7):
        beside("tree", target, swung, theirs, rounds)

    mass, stiffness, amplitude, rate, end = 1.0, 100.0, 10.0, 100.0, 2.0
    own = math.sqrt(stiffness / mass)
    exact = lambda t: amplitude / mass / (own**2 - rate**2) * (np.sin(rate * t) - rate / own * np.sin(own * t))  # noqa: E731
    size = float(np.abs(exact(np.linspace(0.0, end, 10001))).max())
    load = lambda t: amplitude * math.sin(rate * t)  # noqa: E731
    spring = cartesian_spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=stiffness)
    point = connect({"mass": rigid.point(mass)}, [spring, force("mass.point", name="load")])
    rests, sprung = point.consistent_state(point.assemble()), peer.point_on_spring(mass, stiffness, load)

    def shake(method: MechanismMethod, steps: float) -> Any:
        times, pushed = np.linspace(0.0, end, round(steps) + 1), {"load": lambda t: (load(t), 0.0)}
        return integrate(point, rests, times, method=method, inputs=pushed, progress=False)

    def off(times: Array, values: Array) -> float:
        return float(np.abs(values - exact(times)).max()) / size

    def error(method: MechanismMethod, steps: float) -> float:
        run_ = shake(method, steps)
        return off(run_.times, run_["mass.centre"][:, 0])

    shaken = (
        lambda solver, n: peer.run(sprung, solver, end, n),
        lambda solver, n: off(*(part.ravel() for part in peer.run(sprung, solver, end, n)[1:])),
        ("TrapezoidalIndex2", "GeneralizedAlpha", "RK44", "DOPRI5"),
    )
    beside("point on a spring", 1e-3, (shake, error, (Exact(), ExactGauss())), shaken, rounds)


# --- processes --------------------------------------------------------------------------------------------------------


def process(rounds: int) -> None:
    """The first program of the README in new processes, by the clock, with its imports and its ``integrate``."""
    text = (Path(__file__).parents[1] / "README.md").read_text()
    program = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0]
    imports, rest = program.split("\n\n", 1)
    before, run_ = rest.split("solution = ")
    called, after = run_.split("\n", 1)
    start_ = called.replace("fourbar.consistent_state(pose)", "start")
    lines = [
        "import time; clock = time.perf_counter()",
        imports,
        "imported = time.perf_counter() - clock",
        before + "start = fourbar.consistent_state(pose); clock = time.perf_counter()",
        f"solution = {start_}\nran = time.perf_counter() - clock; clock = time.perf_counter()",
        f"{start_}\nagain = time.perf_counter() - clock",
        after + "print(imported, ran, again)",
    ]
    times: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder:
        # A user's second call finds bytecode, which a shell for tools may forbid to write.
        own = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        own.pop("PYTHONDONTWRITEBYTECODE", None)
        called_in = partial(subprocess.run, cwd=folder, env=own, check=True, capture_output=True, text=True)
        called_in([sys.executable, "-c", program])
        for _ in range(rounds):
            clock = time.perf_counter()
            called_in([sys.executable, "-c", program])
            whole = time.perf_counter() - clock
            told = called_in([sys.executable, "-c", "\n".join(lines)]).stdout
            times.append([whole, *map(float, told.splitlines()[-1].split())])
    whole, imported, ran, again = np.min(times, axis=0)
    print(f"\nREADME's program {whole:.2f} s by the clock, of which imports {imported:.2f} s; ", end="")
    print(f"integrate {1e3 * ran:.0f} ms, again {1e3 * again:.0f} ms")
    print(f"ratio readme-program {2.0 / whole:.2f}\nratio readme-integrate {0.15 / ran:.2f}")
    print(f"ratio overhead-first-run {0.1 / max(ran - again, 1e-9):.2f}")


def pair(rounds: int) -> None:
    """Two runs in two threads of this process over one run, and over two runs in two processes, by the clock.

    Loops let the GIL go. Processors of a virtual machine may be two threads of one core: then two processes, which
    share nothing, take more than the time of one, too.
    """
    given = hanging(5, 3, True)
    run_ = partial(integrate, *given, given[1].time + 1e-4 * np.arange(5001), progress=False, save_every=100)
    run_()
    kinds: dict[str, tuple[Any, int]] = {
        "one": (threading.Thread, 1),
        "two threads": (threading.Thread, 2),
        "two processes": (get_context("fork").Process, 2),
    }
    times = dict.fromkeys(kinds, math.inf)
    for _ in range(rounds):
        for name, (kind, count) in kinds.items():
            several = [kind(target=run_) for _ in range(count)]
            clock = time.perf_counter()
            for each in several:
                each.start()
            for each in several:
                each.join()
            times[name] = min(times[name], time.perf_counter() - clock)
    print("\n" + ", ".join(f"{name} {own:.3f} s" for name, own in times.items()) + " by the clock")
    print(f"ratio two-threads {1.15 * times['one'] / times['two threads']:.2f}")
    print(f"ratio two-threads-over-processes {1.15 * times['two processes'] / times['two threads']:.2f}")


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


def row_of_squares() -> Callable[[], Any]:
    squares, state = n_four_bar()
    return partial(integrate, squares, state, 1e-3 * np.arange(201), method=Exact(), progress=False)


def three_stages() -> Callable[[], Any]:
    slider, state = mechanism()
    return partial(
        integrate,
        slider,
        state,
        np.linspace(0.0, END, 125)[:21],
        method=ExactGauss(stages=3),
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
CASES = (row_of_squares, three_stages, general_equations, fine_rod)


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
    parts = {"around": around, "exudyn": exudyn, "process": process, "pair": pair}
    words.add_argument("--parts", nargs="*", default=[*parts, "building", "threads", "checkpoint"])
    given = words.parse_args()
    for name, part in parts.items():
        if name in given.parts and (name != "exudyn" or find_spec("exudyn") is not None):
            part(given.rounds)
    if "building" in given.parts:
        building(given.rounds)
    if "threads" in given.parts:
        threads(given.rounds)
    if "checkpoint" in given.parts:
        checkpoint(given.pairs, given.minutes)


if __name__ == "__main__":
    main()
