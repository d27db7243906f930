"""Names of a linear system as plain data for files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..systems.linear import LinearPHDAE

CHECKSUM = "sha256"
"""Key of the checksum over a file or folder."""


def names_of(system: LinearPHDAE) -> dict[str, Any]:
    """Plain data of a system: ports and parts as name: [start, stop], causality, constraints, indices of velocities.

    These are None if they are not known.
    """
    spans = lambda named: {name: [s.start or 0, s.stop] for name, s in named.items()}  # noqa: E731
    return {
        "ports": spans(system.ports),
        "causality": dict(system.causality),
        "parts": spans(system.parts),
        "constraints": list(system.constraints),
        "kinetic": None if system.kinetic is None else np.flatnonzero(system.kinetic).tolist(),
    }


def arguments_of(names: Mapping[str, Any], *, size: int, lifted: int, inputs: int) -> dict[str, Any]:
    """Arguments of :class:`LinearPHDAE` from the data of :func:`names_of`, for given numbers of states and inputs.

    ``lifted`` is the number of states before constraints. Raises ValueError for slices beyond these numbers.
    """
    kinetic = names.get("kinetic")
    return {
        "ports": _slices("ports", names, inputs),
        "causality": dict(names.get("causality", {})),
        "parts": _slices("parts", names, lifted),
        "constraints": tuple(names.get("constraints", ())),
        "kinetic": None if kinetic is None else np.isin(np.arange(size), kinetic),
    }


def checksum(header: Mapping[str, Any], contents: Iterable[bytes]) -> str:
    """SHA-256 checksum of plain data, except their own checksum entry, and of the described contents."""
    digest = hashlib.sha256()
    rest = {name: value for name, value in header.items() if name != CHECKSUM}
    for content in (json.dumps(rest, sort_keys=True).encode(), *contents):
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def refuse_changed(header: Mapping[str, Any], contents: Iterable[bytes]) -> None:
    """Raise ValueError if the contents or their description have changed since writing."""
    if header.get(CHECKSUM) != checksum(header, contents):
        raise ValueError("it was changed after writing: its checksum differs")


def _slices(kind: str, names: Mapping[str, Any], limit: int) -> dict[str, slice]:
    slices = {name: slice(*span) for name, span in names.get(kind, {}).items()}
    for name, span in slices.items():
        if not 0 <= span.start <= span.stop <= limit:
            raise ValueError(f"{kind} must lie within 0 and {limit}, got {name!r} from {span.start} to {span.stop}")
    return slices
