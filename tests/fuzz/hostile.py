"""Calls with an argument that is wrong, and what may come of them: a sentence, or numbers that are numbers."""

from __future__ import annotations

import dis
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any

import numpy as np
from patience import Hanging, patience
from public_calls import Call, calls
from scipy import sparse

UNDETERMINED = ("observations", "variation", "distance", "growth", "run")
"""Fields that are NaN by their documentation: of observers that return None, of stability where nothing rests, and what
joints keep as assembled in a run with drives (of inverse dynamics, whose forces are looked at)."""
ROOMS = tuple(str(Path(__file__).parents[2] / room) for room in ("flexph", "fem", "rigid"))
ERRORS = (ValueError, ArithmeticError, OSError, ImportError, MemoryError)
"""What the documentation says is raised."""


class Frame:
    """What a table of pandas looks like, without pandas."""

    values, columns, index, iloc = np.ones((2, 2)), ["a", "b"], [0, 1], None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("a frame of texts is no array")

    def __len__(self) -> int:
        return 2


def hostile() -> dict[str, Any]:
    """Values that no argument takes, or nearly none, by name."""
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    return {
        "None": None, "empty text": "", "text": "a", "slash": "a/b", "NUL": "a\0b", "surrogate": "a\ud800",
        "digits": "1.5", "bytes": b"x", "nan": float("nan"), "inf": float("inf"), "-1": -1, "zero": 0, "half": 0.5,
        "10**400": 10**400, "-10**400": -(10**400), "1e300": 1e300, "True": True, "False": False, "[]": [], "{}": {},
        "()": (), "set": {1.0}, "object": object(), "class": float, "module": np, "datetime": datetime.now(UTC),
        "timedelta": timedelta(seconds=1), "datetime64": np.datetime64("2020-01-01"),
        "timedelta64": np.timedelta64(1, "s"), "1j": 1j, "complex array": np.array([1j, 1.0]),
        "complex 64": np.complex64(1j), "float32": np.float32(0.1), "numpy text": np.str_("a"),
        "array 0": np.zeros(0), "array (1,)": np.ones(1), "array (7,)": np.ones(7),
        "array (3, 1, 2)": np.ones((3, 1, 2)),
        "array of nan": np.full(2, np.nan), "matrix of nan": np.full((2, 2), np.nan), "0-d array": np.array(1.0),
        "boolean array": np.array([True, False]), "array of texts": np.array(["a", "b"]),
        "array of objects": np.array([object(), None]), "array of dates": np.array(["2020-01-01"], dtype="M8[D]"),
        "masked": masked, "ragged": [[1.0], [1.0, 2.0]], "texts": ["a", "b"], "digits in a list": ["1", "2"],
        "None in a list": [None, None], "complex in a list": [1j, 2.0], "generator": (k for k in ()),
        "range": range(2), "frame": Frame(), "sparse": sparse.eye_array(2, format="csr"),
        "sparse of nan": sparse.csr_array(np.full((2, 2), np.nan)), "dict of 1": {1: 1.0}, "dict of None": {"a": None},
        "dict of texts": {"a": "b"}, "dict of dicts": {"a": {}}, "slice": slice(0, 1), "no arguments": lambda: 1.0,
        "many arguments": lambda a, b, c, d: 1.0, "returns None": lambda *a: None, "returns nan": lambda *a: np.nan,
        "returns text": lambda *a: "a", "returns complex": lambda *a: 1j, "returns objects": lambda *a: [object()],
        "returns much": lambda *a: np.ones((5, 4, 3)), "raises": _raises, "str": str, "path": Path("/"),
    }  # fmt: skip


def _raises(*arguments: Any) -> Any:
    raise KeyError("user")


def mutant(value: Any, random: Random) -> Any:
    """A hostile value in place of a whole argument, or of one entry of it."""
    name = random.choice(sorted(POOL))
    if random.random() < 0.35 and isinstance(value, dict) and value:
        key = random.choice(list(value))
        if random.random() < 0.3 and _hashable(POOL[name]):
            return f"key {name}", {(POOL[name] if k == key else k): v for k, v in value.items()}
        return f"{name} at {key!r}", value | {key: POOL[name]}
    if random.random() < 0.35 and type(value) in (tuple, list) and value:
        place = random.randrange(len(value))
        changed = [POOL[name] if k == place else entry for k, entry in enumerate(value)]
        return f"{name} in [{place}]", type(value)(changed)
    return name, POOL[name]


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


POOL = hostile()


def outcome(call: Call, changed: Mapping[str, Any]) -> str:
    """ "refused" or "accepted"; else a sentence that begins with "raw", "silent" or "hangs"."""
    try:
        with warnings.catch_warnings(), patience():
            warnings.simplefilter("ignore")
            result = call(**changed)
    except Hanging as hanging:
        return str(hanging)
    except ERRORS as error:
        return "refused" if deliberate(error) else f"raw {type(error).__name__}: {error}"
    except Exception as error:
        return f"raw {type(error).__name__}: {error}"
    return "silent NaN" if any(map(_is_nan, numbers(result))) else "accepted"


def deliberate(error: BaseException) -> bool:
    """Whether an error was raised by a statement of ours with a sentence, not by numpy or the interpreter."""
    last: TracebackType | None = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not last.tb_frame.f_code.co_filename.startswith(ROOMS) or not str(error):
        return False
    operations = {i.offset: i.opname for i in dis.get_instructions(last.tb_frame.f_code)}
    return operations[last.tb_lasti] in ("RAISE_VARARGS", "RERAISE")


def _is_nan(values: Any) -> bool:
    return bool(np.isnan(np.asarray(values)).any())


def numbers(value: Any, depth: int = 4) -> Iterator[Any]:
    """The arrays of numbers that a result holds; observations may be NaN where an observer returns None."""
    if isinstance(value, float | complex | np.floating | np.complexfloating) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "fc"
    ):
        yield value
    elif sparse.issparse(value):
        yield value.data
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name not in UNDETERMINED:
                yield from numbers(getattr(value, field.name), depth - 1)
    elif depth and isinstance(value, Mapping):
        for entry in value.values():
            yield from numbers(entry, depth - 1)
    elif depth and isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for entry in value:
            yield from numbers(entry, depth - 1)


def fuzz(count: int, seed: int = 0) -> dict[str, Counter[str]]:
    """Outcomes of random calls: by outcome (its first word), how often each public name had it."""
    random, table, outcomes = Random(seed), calls(), dict[str, Counter[str]]()
    names = [(name, argument) for name, call in table.items() for argument in call.arguments]
    for _ in range(count):
        name, argument = random.choice(names)
        what, value = mutant(table[name].arguments[argument], random)
        said = outcome(table[name], {argument: value})
        outcomes.setdefault(said.split()[0], Counter())[f"{name}({argument}={what}): {said}"] += 1
    return outcomes
