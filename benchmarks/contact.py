"""Contacts beside Exudyn's: a ball that bounces, at equal error, and many discs, by step and by contact.

The ball falls from 1 m and is judged by its largest error of the height over that fall: on a floor of Hertz without
loss over 5 s (parabolas, and the impact by quadrature), and with a restitution of 0.8 over 3 s (parabolas). Of several
settings of a code the quickest that meets a target counts; those are then repeated in turn, and their minima count.
Exudyn has ObjectContactCoordinate by steps under control (DOPRI5), without loss by given ones, too; for restitution
its model of Gonthier up to 1e9 N/m^{3/2}: its solver fails from 1e10 on.

Groups: what connecting many spheres costs, of which each may touch each other, beside the same without contacts, and
as pairs one by one.

Many discs: a row on a plane, each a contact of its own, and the pile of the case ``disc-pile`` in a box, both with
friction; rigid in steps, compliant with an anchor, and Exudyn's GeneralContact of spheres and triangles by explicit
steps. Its stiffness lets discs 0.3 % of their radius into each other, its steps are a twentieth of an impact. Ours
rigid lets them nowhere, with steps 20 to 50 times longer: a step and a simulated second are both compared. Process time
without building, one thread: ``OMP_NUM_THREADS=1``. Chrono is not compared: ``pip install pychrono`` gives a package of
timers that has only its name.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from contact_discs import discs
from contact_exudyn import GRAVITY, HEIGHT, SAMPLES, Run, ball_run
from contact_groups import groups
from rich.console import Console
from rich.table import Table
from scipy.integrate import solve_ivp

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Hertz, Plane, Rigid, Sphere, contact
from flexph.methods import Exact
from flexph.numerics.arrays import Array

STIFFNESS, RESTITUTION, ROUNDS = 1e7, 0.8, 3
Try = Callable[[], Run]


class Ball(NamedTuple):
    """What a ball falls on, the end of its run [s], and its height at times."""

    name: str
    end: float
    exact: Callable[[Array], Array]
    law: Any


# --- a ball -----------------------------------------------------------------------------------------------------------


@cache
def impact() -> Any:
    """Solution of an impact on the floor of Hertz from its first touch [s] on, to its end."""
    leaves = lambda t, y: y[0] + (t <= 0.0)  # noqa: E731
    leaves.terminal, leaves.direction = True, 1.0  # type: ignore[attr-defined]
    force = lambda t, y: (y[1], STIFFNESS * max(-y[0], 0.0) ** 1.5 - GRAVITY)  # noqa: E731
    start = (-1e-300, -math.sqrt(2.0 * GRAVITY * HEIGHT))
    return solve_ivp(force, (0.0, 1.0), start, "DOP853", events=leaves, dense_output=True, rtol=1e-13, atol=1e-15)


def on_hertz(times: Array) -> Array:
    """Heights over the floor of Hertz."""
    fall, lasts = math.sqrt(2.0 * HEIGHT / GRAVITY), float(impact().t[-1])
    phase = (times + fall) % (2.0 * fall + lasts)
    flight = GRAVITY * phase * (fall - 0.5 * phase)
    touching = impact().sol(np.clip(phase - 2.0 * fall, 0.0, lasts))[0]
    return np.where(phase < 2.0 * fall, flight, touching)


def with_restitution(times: Array) -> Array:
    """Heights where each impact leaves a share of the velocity."""
    fall = math.sqrt(2.0 * HEIGHT / GRAVITY)
    heights, begins, half = np.zeros_like(times), -fall, fall
    while half > 1e-12:
        phase = times - begins
        own = (phase >= 0.0) & (phase < 2.0 * half)
        heights[own] = GRAVITY * phase[own] * (half - 0.5 * phase[own])
        begins, half = begins + 2.0 * half, RESTITUTION * half
    return heights


def own_ball(ball: Ball, method: Exact, steps: int) -> Run:
    """A run of ours, with so many steps where they are given."""
    mechanism, start = falling(ball.law)
    times = np.linspace(0.0, ball.end, steps + 1)
    clock = time.process_time()
    solution = integrate(mechanism, start, times, method=method, save_every=steps // SAMPLES, progress=False)
    return Run(solution.times, solution["ball.centre"][:, 1] - 0.1, time.process_time() - clock)


@cache
def falling(law: Any) -> tuple[Any, Any]:
    """A ball of 1 kg over a floor, and its start."""
    body = rigid.body(1.0, inertia=0.004, ports={"centre": (0.0, 0.0)})
    floor = contact(Sphere("ball.centre", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="floor")
    mechanism = connect({"ball": body}, [floor], gravity=(0.0, -GRAVITY))
    return mechanism, mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.1 + HEIGHT, 0.0)}))


def candidates(ball: Ball) -> dict[str, dict[str, Try]]:
    """Settings of both codes, by their names."""
    if isinstance(ball.law, Rigid):
        ours: dict[str, Try] = {"by events": partial(own_ball, ball, Exact(), SAMPLES)}
        stiffnesses: Iterable[float] = (1e7, 1e8, 1e9)
    else:
        ours = {
            f"tolerance {t:g}": partial(own_ball, ball, Exact(tolerance=t), SAMPLES) for t in (3e-3, 1e-3, 3e-4, 1e-4)
        }
        given = {f"{ball.end / n:g} s": partial(own_ball, ball, Exact(), n) for n in (5000, 10000, 40000)}
        ours |= given
        stiffnesses = (STIFFNESS,)
    run = partial(ball_run, end=ball.end, restitution=RESTITUTION if isinstance(ball.law, Rigid) else None)
    steps: dict[str, tuple[float, ...]] = {"DOPRI5": (1e-4, 1e-6, 1e-8)}
    if not isinstance(ball.law, Rigid):
        steps |= {"RK44": (1e-3, 1e-4), "TrapezoidalIndex2": (1e-3, 1e-4)}
    theirs: dict[str, Try] = {
        f"{solver} {given:g}, K = {k:g}": partial(run, solver, given, stiffness=k)
        for solver, all_given in steps.items()
        for given in all_given
        for k in stiffnesses
    }
    return {"flexph": ours, "Exudyn": theirs}


def balls(console: Console) -> None:
    """Print the quickest runs of the ball at some errors, and ratios."""
    for ball in (
        Ball("hertz", 5.0, on_hertz, Hertz(STIFFNESS)),
        Ball("restitution", 3.0, with_restitution, Rigid(restitution=RESTITUTION)),
    ):
        for call in candidates(ball)["flexph"].values():
            call()  # imports, compiled loops, and what is computed once
        runs = {(code, name): call for code, own in candidates(ball).items() for name, call in own.items()}
        judged = {key: judgement for key, call in runs.items() if (judgement := judge(ball, call)) is not None}
        table = Table("error at most", "code", "settings", "error", "ms", title=f"ball, {ball.name}")
        ratios = []
        for target in (1e-2, 3e-3, 1e-4):
            best = {code: quickest(judged, code, target) for code in ("flexph", "Exudyn")}
            seconds = {code: math.nan if key is None else judged[key][0] for code, key in best.items()}
            for _ in range(ROUNDS):
                seconds |= {code: min(seconds[code], runs[key]().seconds) for code, key in best.items() if key}
            for code, key in best.items():
                cells = ("–",) * 3 if key is None else (key[1], f"{judged[key][1]:.1e}", f"{1e3 * seconds[code]:.2f}")
                table.add_row(f"{target:g}", code, *cells)
            if None not in best.values():
                ratios.append(f"ratio ball-{ball.name}-{target:.0e} {seconds['Exudyn'] / seconds['flexph']:.2g}")
        console.print(table)
        print("\n".join(ratios))


def judge(ball: Ball, call: Try) -> tuple[float, float] | None:
    """Seconds and error of a run; None where its solver fails, which takes it out of the comparison."""
    try:
        run = call()
    except Exception as error:
        print(f"  {ball.name}: {str(error).splitlines()[0][:80]}")
        return None
    return run.seconds, float(np.abs(run.heights - ball.exact(run.times)).max()) / HEIGHT


def quickest(judged: dict[tuple[str, str], tuple[float, float]], code: str, target: float) -> tuple[str, str] | None:
    """The quickest setting of a code that meets a target."""
    met = [key for key, (_, error) in judged.items() if key[0] == code and error <= target]
    return min(met, key=lambda key: judged[key][0], default=None)


def main() -> None:
    """Print all tables and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="piles of 400 discs, too")
    parser.add_argument("--only", choices=("ball", "discs", "groups"), help="one of these")
    given = parser.parse_args()
    console = Console(width=110)
    if given.only in (None, "groups"):
        groups(console)
    if given.only == "groups":
        return
    if find_spec("exudyn") is None:
        parser.error("the peer is missing: pip install 'flexph[bench]'")
    if given.only != "discs":
        balls(console)
    if given.only != "ball":
        discs(console, long=given.long)


if __name__ == "__main__":
    main()
