"""Marks of functions: the same for the same code and constants in any process, others for others."""

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from flexph.integration.times.signature import fingerprint


@dataclass(frozen=True)
class Level:
    """A function with a field."""

    height: float

    def __call__(self, t, x):
        return x[0] - self.height


def above(height, names=frozenset({"a", "b", "c"})):
    """A function with values in its closure."""
    return lambda t, x: x[0] - height if "a" in names else 0.0


def counting():
    """A function that changes what it holds."""
    calls, seen = 0, []

    def count(t, x):
        nonlocal calls
        calls += 1
        seen.append(t)
        return calls

    return count


def recursive(k):
    """A function that holds itself."""

    def again(t, x):
        return x[k] if t < 1.0 else again(t - 1.0, x)

    return again


FUNCTIONS = {
    "closure": lambda: above(1.0),
    "other value": lambda: above(2.0),
    "other names": lambda: above(1.0, frozenset({"a", "b"})),
    "default": lambda: lambda t, x, height=1.0: x[0] - height,
    "other default": lambda: lambda t, x, height=2.0: x[0] - height,
    "other code": lambda: lambda t, x, height=1.0: x[0] + height,
    "other name": lambda: lambda t, x: np.sin(t),
    "and another": lambda: lambda t, x: np.cos(t),
    "field": lambda: Level(1.0),
    "other field": lambda: Level(2.0),
    "partial": lambda: partial(max, 1.0),
    "other partial": lambda: partial(max, 2.0),
    "method": lambda: Level(3.0).__call__,
    "recursive": lambda: recursive(0),
    "other recursive": lambda: recursive(1),
    "built in": lambda: np.sin,
    "counter": counting,
}


def marks():
    return [fingerprint(make()) for make in FUNCTIONS.values()]


def test_functions_are_told_apart_and_known_again():
    assert len(set(marks())) == len(FUNCTIONS) and marks() == marks()


def test_marks_are_the_same_in_another_process():
    paths = (Path(__file__).parent, Path(__file__).parents[3])
    given = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(map(str, paths))}
    call = [sys.executable, "-c", "import test_fingerprint as t; print(*t.marks())"]
    told = subprocess.run(call, env=given, capture_output=True, text=True, check=True)
    assert told.stdout.split() == marks()


def test_what_a_function_changes_while_it_runs_is_not_compared():
    used = counting()
    before = fingerprint(used)
    used(0.0, None)
    assert fingerprint(used) == before == fingerprint(counting())
