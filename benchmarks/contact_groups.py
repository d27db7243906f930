"""Groups of spheres of which each may touch each other: what connecting them costs (``contact.py --only groups``)."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import rigid
from flexph import connect
from flexph.contacts import KelvinVoigt, Rigid, Sphere, contact, mutual_contact

RADIUS, ROUNDS = 0.05, 3


def grouped(shapes: Sequence[Sphere], law: Any) -> list[Any]:
    """All pairs as one group."""
    return [mutual_contact(shapes, law, name="group")]


def one_by_one(shapes: Sequence[Sphere], law: Any) -> list[Any]:
    """All pairs, each by itself, under as many names as there are spheres."""
    return [contact([a], shapes[k + 1 :], law, name=f"pairs {k}") for k, a in enumerate(shapes[:-1])]


def cost(count: int, touching: Any) -> tuple[float, float]:
    """Seconds of process time, the best of some, and megabytes that are kept."""
    ball = rigid.body(1.0, inertia=0.4 * RADIUS**2 * np.eye(3), ports={"centre": (0.0,) * 3})
    names = [f"ball{i}" for i in range(count)]
    shapes = [Sphere(f"{name}.centre", RADIUS) for name in names]
    seconds = []
    for _ in range(ROUNDS):
        clock = time.process_time()
        mechanism = connect(dict.fromkeys(names, ball), touching(shapes), gravity=(0.0, 0.0, -9.81))
        seconds.append(time.process_time() - clock)
    del mechanism
    tracemalloc.start()
    mechanism = connect(dict.fromkeys(names, ball), touching(shapes), gravity=(0.0, 0.0, -9.81))
    mechanism.layout  # noqa: B018 - what a run asks for
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return min(seconds), kept / 1e6


def groups(console: Console) -> None:
    """Print what 100, 300 and 1000 spheres cost, and ratios: 100 as a group to one by one, 1000 to ten times 100."""
    hard, soft = Rigid(friction=0.3), KelvinVoigt(1e5, damping=40.0, friction=0.3)
    table = Table("spheres", "pairs", "contacts", "connect: ms", "kept: MB", title="groups")
    known = {}
    kinds = {
        "none": lambda shapes: [],
        "rigid group": partial(grouped, law=hard),
        "compliant group": partial(grouped, law=soft),
    }
    for count in (100, 300, 1000):
        own = kinds if count > 100 else kinds | {"one by one": partial(one_by_one, law=hard)}
        for name, touching in own.items():
            seconds, megabytes = known[count, name] = cost(count, touching)
            pairs = str(count * (count - 1) // 2)
            table.add_row(str(count), pairs, name, f"{1e3 * seconds:.3g}", f"{megabytes:.3g}")
    console.print(table)
    print(f"ratio connect-100-group {known[100, 'one by one'][0] / known[100, 'rigid group'][0]:.2g}")
    print(f"ratio connect-1000-linear {10.0 * known[100, 'rigid group'][0] / known[1000, 'rigid group'][0]:.2g}")
