"""The names of a linear system as plain data, for files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..systems.linear import LinearPHDAE

CHECKSUM = "sha256"
"""Key of the checksum of all that a file or folder holds."""


def names_of(system: LinearPHDAE) -> dict[str, Any]:
    """Ports and parts as name: [start, stop], causality, constraints, and the places of the velocities (or None)."""
    spans = lambda named: {name: [s.start or 0, s.stop] for name, s in named.items()}  # noqa: E731
    return {
        "ports": spans(system.ports),
        "causality": dict(system.causality),
        "parts": spans(system.parts),
        "constraints": list(system.constraints),
        "kinetic": None if system.kinetic is None else np.flatnonzero(system.kinetic).tolist(),
    }


def arguments_of(names: Mapping[str, Any], *, size: int, lifted: int, inputs: int) -> dict[str, Any]:
    """Arguments of :class:`LinearPHDAE` from such data, of a system of so many states, before constraints, and inputs.

    Raises ValueError for places beyond these.
    """
    kinetic = names.get("kinetic")
    return {
        "ports": _slices("ports", names, inputs),
        "causality": dict(names.get("causality", {})),
        "parts": _slices("parts", names, lifted),
        "constraints": tuple(names.get("constraints", ())),
        "kinetic": None if kinetic is None else np.isin(np.arange(size), kinetic),
    }


def checksum(told: Mapping[str, Any], contents: Iterable[bytes]) -> str:
    """SHA-256 of plain data but for their own checksum, and of the contents that they describe."""
    digest = hashlib.sha256()
    rest = {name: value for name, value in told.items() if name != CHECKSUM}
    for content in (json.dumps(rest, sort_keys=True).encode(), *contents):
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def refuse_changed(told: Mapping[str, Any], contents: Iterable[bytes]) -> None:
    """Raise ValueError where the contents, or what is told of them, are not those that were written."""
    if told.get(CHECKSUM) != checksum(told, contents):
        raise ValueError("it is not what was written: its checksum is another")


def _slices(kind: str, names: Mapping[str, Any], limit: int) -> dict[str, slice]:
    slices = {name: slice(*span) for name, span in names.get(kind, {}).items()}
    for name, span in slices.items():
        if not 0 <= span.start <= span.stop <= limit:
            raise ValueError(f"{kind} must lie within 0 and {limit}, got {name!r} from {span.start} to {span.stop}")
    return slices
