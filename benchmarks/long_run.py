"""A million steps of a rigid pendulum: whether memory grows, and what the energy does."""

import argparse
import resource
import time
import tracemalloc

import numpy as np
from crank_slider import PATHS

import rigid
from flexph import GROUND, Mechanism, State, connect, hinge, integrate

STEP = 1e-3  # [s]; a swing takes 1.2 s
SAVE_EVERY = 1000
PARTS = 10


def pendulum() -> tuple[Mechanism, State]:
    """A bar of half a metre on a hinge, from the horizontal."""
    made = connect({"bar": rigid.bar(0.5, 0.8)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    return made, made.consistent_state(made.assemble({"bar": (0.0, 0.0, 0.0)}))


def resident() -> float:
    """Largest memory of the process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def in_parts(steps: int, path: str) -> None:
    """The run in ten parts, each from the end of the last one: time, memory and energy after each."""
    mechanism, state = pendulum()
    start = integrate(mechanism, state, [0.0, STEP], progress=False, method=PATHS[path])
    first, scale = start.ledger.total_energy[0], start.ledger.kind("potential")[0] - 0.8 * 9.81 * 0.25
    state, before = start.final, resident()
    print(f"{path} path, {steps} steps of {STEP} s, one of {SAVE_EVERY} kept")
    print("     steps  µs/step  process [MB]  energy drift / (m g L/2)  joint [m]")
    for part in range(PARTS):
        times = state.time + STEP * np.arange(steps // PARTS + 1)
        clock = time.process_time()
        run = integrate(mechanism, state, times, save_every=SAVE_EVERY, progress=False, method=PATHS[path])
        each = (time.process_time() - clock) / (steps // PARTS)
        state = run.final
        drift = np.abs(run.ledger.total_energy - first).max() / abs(scale)
        gap = run.ledger.position_residual.max()
        done = (part + 1) * (steps // PARTS)
        print(f"{done:10d} {1e6 * each:8.1f} {resident():13.1f} {drift:25.1e} {gap:10.1e}", flush=True)
    print(f"growth of the process: {resident() - before:.1f} MB, {1e3 * (resident() - before) / steps:.4f} kB per step")


def traced(steps: int, path: str) -> None:
    """Peak of Python's memory in one run, beyond what is kept."""
    mechanism, state = pendulum()
    integrate(mechanism, state, [0.0, STEP], progress=False, method=PATHS[path])
    times = STEP * np.arange(steps + 1)
    tracemalloc.start()
    run = integrate(mechanism, state, times, save_every=SAVE_EVERY, progress=False, method=PATHS[path])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"traced, {steps} steps in one run: peak {1e-3 * peak:.0f} kB, of which {1e-3 * kept:.0f} kB are kept", end=""
    )
    print(f" in {len(run.times)} rows; the times alone take {8e-3 * steps:.0f} kB")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--steps", type=int, default=1_000_000)
    steps = words.parse_args().steps
    for path in PATHS:
        in_parts(steps, path)
        traced(min(steps, 5000), path)


if __name__ == "__main__":
    main()
