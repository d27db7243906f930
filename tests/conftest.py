"""One thread for linear algebra, an order of tests, and only methods that are installed.

On matrices as small as those of the tests more threads only wait for each other.
"""

import gc
import importlib.metadata
import os
import signal
import sys
from collections import Counter, defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from covering import covering_part
from hypothesis import settings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
# Processes share the bytecode of what one has read, even where the environment forbids it: a third of collecting.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["FLEXPH_REPORT"] = "0"  # a second for each run; those of reports ask for them

# What is installed stays so: each command would search all distributions for 8 ms.
importlib.metadata.entry_points = cache(importlib.metadata.entry_points)

gc.disable()  # until all is collected, of which nothing goes: a seventh of the time of collecting

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell: tests interrupt themselves
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fixed", derandomize=True, deadline=None, database=None, max_examples=20)
settings.register_profile("long", deadline=None, max_examples=20_000)  # --hypothesis-profile=long
settings.load_profile("fixed")  # the same examples in every run

PACKAGES = {"radau": "scipy_dae", "bdf": "scipy_dae", "ida": "sksundae"}
"""What methods of the extras dae and ida need."""


SEEDS = 2
"""How many random states or structures a test takes that is repeated with ``seed`` 0, 1, …; others are slow."""

TESTS = Path(__file__).parent
ROOMS = ("bodies", "integration", "joints", "kernels", "mechanisms", "models", "studies")
RUNS = ("cases", "test_docs.py", *(f"flexph/{room}" for room in ROOMS))
"""Tests that run mechanisms throughout: the long ones come first."""
SOME_RUNS = ("fem", "rigid/bodies", "rigid/test_joined_with_mechanisms.py", "flexph/results", "flexph/export")
"""Tests that do so now and then."""


def pytest_configure(config):
    """Let every process of xdist begin to collect at another file.

    Rewriting assertions takes half of the time of collecting: what one process has rewritten the others find on disk.
    """
    process = getattr(config, "workerinput", None)
    if process and [Path(given).resolve() for given in config.args] == [TESTS]:
        files = sorted(TESTS.rglob("test_*.py"))
        first = len(files) * int(process["workerid"].removeprefix("gw")) // process["workercount"]
        config.args = [str(path) for path in files[first:] + files[:first]]


def pytest_collection_modifyitems(items):
    """Begin with tests that run mechanisms, mark repetitions, and skip methods whose package is missing."""
    turns = {path: (_turn(path.relative_to(TESTS)), path) for path in {item.path for item in items}}
    items.sort(key=lambda item: turns[item.path])
    _mark_repetitions(items)
    _mark_combinations([item for item in items if item.get_closest_marker("covering")])
    missing = {method: package for method, package in PACKAGES.items() if find_spec(package) is None}
    for item in items:
        given = item.callspec.params if _has_parameters(item) else {}
        words = {
            value for name, value in given.items() if name != "form" and isinstance(value, str)
        }  # bdf: Nastran, too
        for method in words & missing.keys():
            item.add_marker(pytest.mark.skip(reason=f"method {method!r} needs {missing[method]}"))


def pytest_collection_finish():
    """Leave what was collected and imported out of the search for cycles of objects: 4 % of the time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)  # a search for each 700 new objects takes some per cent more
    gc.enable()


def _mark_repetitions(items):
    """Mark as slow what takes further random states or structures, all else being equal."""
    seen = Counter()
    for item in items:
        if _has_parameters(item) and "seed" in item.callspec.params and not item.get_closest_marker("slow"):
            others = tuple(id(value) for name, value in item.callspec.params.items() if name != "seed")
            seen[case := (item.path, item.originalname, others)] += 1
            if seen[case] > SEEDS:
                item.add_marker(pytest.mark.slow)


def _mark_combinations(items):
    """Mark as slow the combinations of stacked parameters beyond some in which each value, or so many, are taken."""
    tests = defaultdict(list)
    for item in items:
        tests[item.path, item.cls, item.originalname].append(item)
    for same in tests.values():
        choices = [_choice(item) for item in same]
        part = covering_part(choices, *(same[0].get_closest_marker("covering").args or (1,)))
        for item in (item for item, choice in zip(same, choices, strict=True) if choice not in part):
            item.add_marker(pytest.mark.slow)


def _choice(item):
    """Values of each parametrize mark of a test, by their identities."""
    given = item.callspec.params
    names = [mark.args[0] for mark in item.iter_markers("parametrize")]
    marks = [own.split(",") if isinstance(own, str) else own for own in names]
    return tuple(tuple(id(given[name.strip()]) for name in own) for own in marks)


def _turn(path):
    if any(path.is_relative_to(room) for room in RUNS):
        return 0
    return 2 if any(path.is_relative_to(room) for room in SOME_RUNS) else 1


def _has_parameters(item):
    return getattr(item, "callspec", None) is not None
