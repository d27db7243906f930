"""Steps of multibody systems by their own pairs: derivatives that their terms know against differences.

A rolling coin, a heavy body that tumbles, the gyroscope of [rigid] sec. 7.2, a slider-crank of two systems, the
pendulum of point masses and a chain. Process time, minima of several rounds of both kinds in turn.
"""

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import rigid
from cases import gyroscope_motions, point_masses, rigid_slider_crank
from cases import rolling_coin_motions as motions
from flexph import GROUND, PHDAE, Trajectory, integrate
from flexph.numerics.arrays import Array

STEPS, ROUNDS, LINKS = 100, 4, 6
Start = tuple[PHDAE, Array, float]


def coin() -> Start:
    system = motions.constrained()
    start = system.state(motions.START, motions.basis(motions.START) @ motions.RATES)
    return system.phdae(start), start, 0.025


def tumbling() -> Start:
    about = {"inertia": (0.2, 0.3, 0.4), "centre": (0.1, 0.0, 0.3), "gravity": (0.0, 0.0, -9.81)}
    system = rigid.free_body(2.0, **about)
    zeta = rigid.rotation_matrix().pose((0.0, 0.0, 0.0), Rotation.from_rotvec((0.5, 0.3, 0.1)))
    start = system.state(zeta, (1.0, 0.0, 0.0, 1.0, 0.5, 20.0))
    return system.phdae(start), start, 0.01


def gyro() -> Start:
    system = gyroscope_motions.gyroscope(rigid.quaternion())
    start = system.state(rigid.quaternion().coordinates(Rotation.from_euler("xyz", (0.0, 0.4, 0.0))), (30.0, 1.0, 0.5))
    return system.phdae(start), start, 0.005


def crank() -> Start:
    system = rigid_slider_crank.slider_crank()
    reach = math.sqrt(rigid_slider_crank.ROD**2 - rigid_slider_crank.CRANK**2)
    turned = math.pi - math.asin(rigid_slider_crank.CRANK / rigid_slider_crank.ROD)
    near = system.nearest((0.5 * math.pi, reach, 0.0, turned), (rigid_slider_crank.SPEED, 0.0, 0.0, 0.0))
    start = system.state(*near)
    return system.phdae(start), start, 0.01


def masses() -> Start:
    system = point_masses.pendulum(0.2)
    start = system.state(*(part.ravel() for part in point_masses.begin()))
    return system.phdae(start), start, 0.01


def chain() -> Start:
    """Bodies of the plane, coupled at their ends, that fall from a straight line."""
    ends = {"left": (-0.5, 0.0), "right": (0.5, 0.0)}
    link = rigid.free_body(1.0, inertia=0.1, centre=(0.0, 0.0), gravity=(0.0, -9.81), ports=ends)
    pins = [(f"{k}.right", f"{k + 1}.left") for k in range(LINKS - 1)]
    places = np.concatenate([(k + 0.5, 0.0, 0.0) for k in range(LINKS)])
    links = {f"{k}": link for k in range(LINKS)}
    system = rigid.interconnect(links, [*pins, ("0.left", GROUND.at(0.0, 0.0))], sample=places)
    start = system.state(places, np.zeros(3 * LINKS))
    return system.phdae(start), start, 0.005


SYSTEMS: dict[str, Callable[[], Start]] = {
    "coin": coin,
    "body": tumbling,
    "gyroscope": gyro,
    "slider-crank": crank,
    "point-masses": masses,
    "chain": chain,
}


def timed(system: PHDAE, start: Array, step: float) -> tuple[float, Trajectory]:
    """Process time of a step [s], and the run."""
    clock = time.process_time()
    run = integrate(system, start, step * np.arange(STEPS + 1), progress=False)
    return (time.process_time() - clock) / STEPS, run


def main() -> None:
    """One row a system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    print("ms a step: differences, derivatives; iterations a step; largest difference of states; energy drifts")
    ratios = {}
    for name in parser.parse_args().systems:
        system, start, step = SYSTEMS[name]()
        kinds = (replace(system, mean_slope=None), system)
        rounds = [[timed(of, start, step) for of in kinds] for _ in range(ROUNDS)]
        plain, given = (min(each[k][0] for each in rounds) for k in range(2))
        a, b = (run for _, run in rounds[-1])
        means, apart = [run.ledger.iterations.mean() for run in (a, b)], np.abs(a.states - b.states).max()
        row = f"{name:14s} {1e3 * plain:5.2f} {1e3 * given:5.2f}   {means[0]:5.2f} {means[1]:5.2f}   {apart:.1e}"
        print(row, f"  {a.energy_drift():.1e} {b.energy_drift():.1e}")
        ratios[name] = plain / given
    for name, ratio in ratios.items():
        print(f"ratio pair-derivatives-{name} {ratio:.2f}")


if __name__ == "__main__":
    main()
