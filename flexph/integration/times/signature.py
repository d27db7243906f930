"""Signatures: texts that identify a run, to check that a checkpoint belongs to it.

Functions are identified by their code and constants.
"""

from __future__ import annotations

import dis
import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from ...control.control_loops import Controller
from ...control.laws import Terminated
from ...control.sampled import Sampled
from ...control.state_feedback import StateFeedback
from ...numerics.arrays import Array, dense
from ...results.signature import digits
from ...systems.linear import LinearPHDAE
from .events import Event
from .options import RunOptions


def fingerprint(function: Any) -> str:
    """Hash of a function: its code, its defaults, the values in its closure, and those of wrapped or bound objects.

    Functions, numbers, texts, read-only arrays and mappings, and tuples and frozen dataclasses of them count by value;
    all other objects by their type, as the function may change them while it runs. Global names do not count.
    """
    return hashlib.sha256("\0".join(_text_parts(function, set())).encode("utf-8", "replace")).hexdigest()[:12]


def _text_parts(value: Any, seen: set[int]) -> Iterator[str]:
    """Texts that identify a value, the same in all processes; ``seen`` has the objects visited so far."""
    yield type(value).__qualname__
    match value:
        case None | bool() | int() | str() | bytes():
            yield repr(value)
        case float() | complex() | np.generic():
            yield from digits([[np.real(value), np.imag(value)]])
        case np.ndarray():
            yield f"{value.dtype} {value.shape}"
            if value.dtype.kind in "fiub" and not value.flags.writeable:
                yield from digits([value])
        case type() | BuiltinFunctionType() | np.ufunc():
            yield value.__name__
        case tuple():
            yield from _all(value, seen)
        case MappingProxyType():
            yield from _all(value.items(), seen)
        case frozenset():
            yield from sorted("\0".join(_text_parts(entry, set())) for entry in value)
        case _ if id(value) not in seen:
            seen.add(id(value))
            yield from _of_function(value, seen)


def _of_function(value: Any, seen: set[int]) -> Iterator[str]:
    """Texts that identify a function or an object with functions; ``seen`` stops at objects that contain themselves."""
    match value:
        case FunctionType():
            yield from _code(value.__code__, seen)
            variables = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
            written = _written(value.__code__)
            cells = [_content(cell) for name, cell in variables if name not in written]
            defaults = (value.__kwdefaults__ or {}).items()
            yield from _all((value.__defaults__, *defaults, *cells), seen)
        case MethodType():
            yield from _all((value.__func__, value.__self__), seen)
        case partial():
            yield from _all((value.func, value.args, *value.keywords.items()), seen)
        case _:
            calls = [vars(kind).get("__call__") for kind in type(value).__mro__]
            yield from _all([call for call in calls if isinstance(call, FunctionType)], seen)
            if is_dataclass(value) and value.__dataclass_params__.frozen:  # type: ignore[union-attr]
                yield from _all([getattr(value, field.name) for field in fields(value)], seen)


def _all(values: Iterable[Any], seen: set[int]) -> Iterator[str]:
    for value in values:
        yield from _text_parts(value, seen)


def _code(code: CodeType, seen: set[int]) -> Iterator[str]:
    """Texts of the instructions, names and constants of a function's code, without its place in the source."""
    yield code.co_code.hex()
    yield " ".join((*code.co_names, *code.co_freevars, *code.co_varnames))
    for constant in code.co_consts:
        yield from _code(constant, seen) if isinstance(constant, CodeType) else _text_parts(constant, seen)


def _written(code: CodeType) -> set[str]:
    """Names of the closure variables to which a function writes, such as counters.

    Their values differ from call to call, so that they do not count in a fingerprint.
    """
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_DEREF"}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return names.union(*map(_written, inner))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name without a value so far
        return None


PACKAGES = ("flexph", "numpy", "scipy")
"""Packages on whose versions the bits of a run depend."""
PROBES = 5
"""Number of times at which functions of time are sampled for the signature."""


Signature = Mapping[str, str]
"""Texts by topic that identify a run."""


def signature_of(
    layout: Iterable[str],
    start: Sequence[Any],
    grid: Array,
    *,
    method: Any,
    options: RunOptions,
    probe: Callable[[float], Sequence[Any]] = lambda time: (),
) -> Signature:
    """Signature of a run: the texts of its system, numbers of its start, its times, method and options.

    ``start`` has the numbers of the start and the values there of the system's functions of the state; ``probe``
    returns the values of its functions of time at a time.
    """
    events = [_event(name, event) for name, event in options.events.items()]
    pick = np.unique(np.linspace(0, grid.size - 1, PROBES).round().astype(int))
    return {
        "system": _mark(layout),
        "start": _mark(digits(start)),
        "times": f"{grid.size} from {grid[0]} s to {grid[-1]} s, {_mark(x.hex() for x in grid.tolist())}",
        "method": str(method),
        "save_every": str(options.save_every),
        "inputs": f"{sorted(options.inputs)}, {_mark(_asked(probe, time) for time in grid[pick].tolist())}",
        "events": str(events),
        "controllers": str([f"{name}: {_controller(controller)}" for name, controller in options.controllers.items()]),
        "observe": "none" if options.observe is None else f"a function, {fingerprint(options.observe)}",
        "versions": _versions(),
    }


def _controller(given: Controller) -> str:
    if isinstance(given, Sampled):
        held = given.function, *given.sensors.items(), _frozen(given.memory)
        return f"every {given.period} s, {fingerprint(held)}"
    if isinstance(given, StateFeedback):
        when = "in the step" if given.period is None else f"every {given.period} s"
        return f"{when}, {given.ports}, {fingerprint((given.function, *given.sensors.items()))}"
    system, outside = given.system, (*given.references.items(), *given.inputs.items())
    laws: tuple[Any, ...] = ()
    if isinstance(system, Terminated):
        laws, system = tuple(system.laws.items()), system.system
    matrices = [getattr(system, name) for name in "EJRB"] if isinstance(system, LinearPHDAE) else []
    mark = _mark(digits([given.start, *map(dense, matrices)]))
    return f"{dict(given.ports)}, {mark}, {fingerprint((system, *laws, *outside))}"


def _frozen(value: Any) -> Any:
    """Memory of a controller at the start of a run, as nested read-only values that fingerprints compare."""
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.setflags(write=False)
    return value


def numbers_in(value: Any) -> Iterator[Array]:
    """Yield the arrays of numbers in a nested value; texts as their bytes."""
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, list | tuple):
        for entry in value:
            yield from numbers_in(entry)
    elif value is not None:
        array = np.asarray(value)
        yield array if array.dtype.kind in "biuf" else np.frombuffer(array.tobytes(), np.uint8)


def difference(there: Signature, here: Signature) -> str | None:
    """Text on the first difference of two signatures; None if they are equal."""
    for name in {**there, **here}:
        if there.get(name) != here.get(name):
            return f"{name} is {there.get(name)} there, {here.get(name)} here"
    return None


def _event(name: str, given: Event | Callable[[float, Any], Any]) -> tuple[str, int, bool, str]:
    """Name, direction, terminal flag and function fingerprint that identify an event."""
    event = given if isinstance(given, Event) else Event(given)
    return name, event.direction, event.terminal, fingerprint(event.function)


def _versions() -> str:
    versions = [f"python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    return ", ".join(versions)


def _asked(probe: Callable[[float], Sequence[Any]], time: float) -> str:
    try:
        return " ".join(digits(probe(time)))
    except Exception as error:  # functions of the user may raise anything, and the run may end before
        return type(error).__name__


def _mark(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:12]
