"""Signatures: texts that identify a run, to check that a checkpoint belongs to it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
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
from .fingerprint import fingerprint
from .options import RunOptions

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

    ``probe`` returns the values of all functions of time at a time; ``start`` has values of functions of the state.
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
        "controllers": str([f"{name}: {_controller(own)}" for name, own in options.controllers.items()]),
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
    told = _mark(digits([given.start, *map(dense, matrices)]))
    return f"{dict(given.ports)}, {told}, {fingerprint((system, *laws, *outside))}"


def _frozen(value: Any) -> Any:
    """Memory of a controller at the start of a run, as read-only values that a fingerprint compares."""
    if isinstance(value, Mapping):
        return tuple((key, _frozen(own)) for key, own in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.setflags(write=False)
    return value


def numbers_in(value: Any) -> Iterator[Array]:
    """Yield the numbers of a nested value, texts as their bytes."""
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, list | tuple):
        for entry in value:
            yield from numbers_in(entry)
    elif value is not None:
        own = np.asarray(value)
        yield own if own.dtype.kind in "biuf" else np.frombuffer(own.tobytes(), np.uint8)


def difference(there: Signature, here: Signature) -> str | None:
    """Describe the first difference of two signatures; None if they are equal."""
    for name in {**there, **here}:
        if there.get(name) != here.get(name):
            return f"{name} is {there.get(name)} there, {here.get(name)} here"
    return None


def _event(name: str, given: Event | Callable[[float, Any], Any]) -> tuple[str, int, bool, str]:
    """Name, direction, terminal flag, and fingerprint of the function of an event."""
    event = given if isinstance(given, Event) else Event(given)
    return name, event.direction, event.terminal, fingerprint(event.function)


def _versions() -> str:
    told = [f"python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            told.append(f"no {name}")
    return ", ".join(told)


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
