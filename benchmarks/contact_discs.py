"""Many discs with friction: what a step, a contact and a simulated second cost, ours and Exudyn's (``contact.py``)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from contact_exudyn import FRICTION, GRAVITY, Discs, discs_run
from rich.console import Console
from rich.table import Table

import rigid
from cases.disc_pile import RADIUS, pile
from flexph import GROUND, connect, integrate
from flexph.contacts import KelvinVoigt, Plane, Rigid, Sphere, contact
from flexph.methods import Exact
from flexph.numerics.arrays import Array

EXPLICIT = 1e-4
"""Step of Exudyn: a twentieth of an impact [s]."""
STIFF = KelvinVoigt(1e5, damping=40.0, friction=FRICTION)
HARD = Rigid(restitution=0.3, friction=FRICTION)


def row(count: int) -> Discs:
    """Discs side by side on a plane, which they touch."""
    radii = np.full(count, RADIUS)
    return Discs(radii, np.stack([2.1 * RADIUS * np.arange(count), radii], axis=1), None)


def heap(count: int) -> Discs:
    """Discs over each other, that fall into a box."""
    radii = RADIUS * (1.0 - 0.1 * np.random.default_rng(1).random(count))
    wide = max(2, round(math.sqrt(count)))
    level, column = np.divmod(np.arange(count), wide)
    x = 2.1 * RADIUS * (column - 0.5 * (wide - 1)) + 0.25 * RADIUS * np.where(level % 2, 1.0, -1.0)
    return Discs(radii, np.stack([x, RADIUS * (1.05 + 2.1 * level)], axis=1), 1.05 * RADIUS * wide + 0.3 * RADIUS)


def touching(discs: Discs, places: Array) -> int:
    """Number of gaps that are closed to a thousandth of a millimetre."""
    i, j = np.triu_indices(len(discs.radii), 1)
    between = np.linalg.norm(places[i] - places[j], axis=1) - discs.radii[i] - discs.radii[j]
    gaps = [between, places[:, 1] - discs.radii]
    if discs.width is not None:
        gaps.append(discs.width - np.abs(places[:, 0]) - discs.radii)
    return int(sum((gap < 1e-6).sum() for gap in gaps))


class Cost(NamedTuple):
    """Seconds of a run, its steps and their size [s], and contacts at its end."""

    seconds: float
    steps: int
    step: float
    contacts: int


def own_discs(discs: Discs, law: Any, step: float, steps: int) -> Cost:
    """What a run of ours costs."""
    if discs.width is None:
        bodies = {
            f"disc{i}": rigid.body(float(m), inertia=float(0.5 * m * r * r), ports={"centre": (0.0, 0.0)})
            for i, (m, r) in enumerate(zip(discs.masses, discs.radii, strict=True))
        }
        shapes = [Sphere(f"disc{i}.centre", float(r)) for i, r in enumerate(discs.radii)]
        on_plane = contact(shapes, Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law, name="plane")
        mechanism = connect(bodies, [on_plane], gravity=(0.0, -GRAVITY))
    else:
        mechanism = pile(discs.radii, discs.width, law)
    placed = {f"disc{i}": (float(x), float(y), 0.0) for i, (x, y) in enumerate(discs.places)}
    start = mechanism.consistent_state(mechanism.assemble(guess=placed))
    times, method = step * np.arange(steps + 1), Exact(contact="steps")
    integrate(mechanism, start, times[:2], method=method, progress=False)  # loops, and what is computed once
    clock = time.process_time()
    solution = integrate(mechanism, start, times, method=method, progress=False)
    seconds = time.process_time() - clock
    places = np.stack([solution[f"disc{i}.centre"][-1] for i in range(len(discs.radii))])
    return Cost(seconds, steps, step, touching(discs, places))


def exudyn_discs(discs: Discs, step: float, steps: int) -> Cost:
    """What a run of Exudyn costs."""
    places, seconds = discs_run(discs, step, steps)
    return Cost(seconds, steps, step, touching(discs, places))


def discs(console: Console, *, long: bool) -> None:
    """Print the costs of rows and heaps, and ratios of those of rigid contacts to Exudyn's."""
    for count in (10, 100, 1000):
        given = row(count)
        compared(
            console,
            f"row-{count}",
            {
                "flexph, rigid": partial(own_discs, given, HARD, 2e-3, 10),
                "flexph, compliant": partial(own_discs, given, STIFF, 5e-4, 200),
                "Exudyn": partial(exudyn_discs, given, EXPLICIT, max(200, 20000 // count)),
            },
        )
    for count in (25, 100, 400) if long else (25, 100):
        given = heap(count)
        runs = {
            "flexph, rigid": partial(own_discs, given, HARD, 5e-3, 50),
            "flexph, compliant": partial(own_discs, given, STIFF, 5e-4, 500),
            "Exudyn": partial(exudyn_discs, given, EXPLICIT, 2500),
        }
        compared(console, f"pile-{count}", runs)


def compared(console: Console, name: str, runs: Mapping[str, Callable[[], Cost]]) -> None:
    """Print what some runs of the same discs cost, and ratios to Exudyn's."""
    costs = {code: run() for code, run in runs.items()}
    costs["Exudyn"] = min(costs["Exudyn"], runs["Exudyn"](), key=lambda cost: cost.seconds)
    head = ("code", "step ms", "steps", "contacts", "µs a step", "µs a step and contact", "s a simulated s")
    table = Table(*head, title=name)
    for code, (seconds, steps, step, contacts) in costs.items():
        each = 1e6 * seconds / steps
        table.add_row(
            code, f"{1e3 * step:g}", str(steps), str(contacts), f"{each:.0f}",
            f"{each / max(contacts, 1):.3g}", f"{seconds / (steps * step):.3g}",
        )  # fmt: skip
    console.print(table)
    peer = costs["Exudyn"]
    for code in costs.keys() - {"Exudyn"}:
        own, kind = costs[code], code.partition(", ")[2]
        print(f"ratio {name}-{kind}-a-step {peer.seconds / peer.steps * own.steps / own.seconds:.2g}")
        lasts = peer.steps * peer.step, own.steps * own.step
        print(f"ratio {name}-{kind}-a-second {peer.seconds / lasts[0] * lasts[1] / own.seconds:.2g}")
