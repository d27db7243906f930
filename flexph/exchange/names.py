"""The names of a linear system as plain data, for files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..systems.linear import LinearPHDAE


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


def arguments_of(names: dict[str, Any], size: int) -> dict[str, Any]:
    """Arguments of :class:`LinearPHDAE` from such data."""
    kinetic = names.get("kinetic")
    return {
        "ports": {name: slice(*span) for name, span in names.get("ports", {}).items()},
        "causality": dict(names.get("causality", {})),
        "parts": {name: slice(*span) for name, span in names.get("parts", {}).items()},
        "constraints": tuple(names.get("constraints", ())),
        "kinetic": None if kinetic is None else np.isin(np.arange(size), kinetic),
    }
