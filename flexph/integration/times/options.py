"""Options of a run that do not depend on its method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...control.control_loops import Controller
from ...numerics import checks as check
from ...systems.inputs import Input
from .checkpoint import Checkpoint
from .events import Event

Events = Mapping[str, Event | Callable[[float, Any], Any]]
"""Functions of (t, state) by name, see :class:`Event`."""
Observe = Callable[[float, Any], Any]
"""Function of (t, state) that returns a number, an array or None."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options shared by all methods, see :func:`flexph.integrate`."""

    inputs: Mapping[str, Input] = field(default_factory=dict)
    events: Events = field(default_factory=dict)
    observe: Observe | None = None
    save_every: int = 1
    progress: bool = True
    checkpoint: Checkpoint | None = None
    controllers: Mapping[str, Controller] = field(default_factory=dict)

    @property
    def folder(self) -> Path | None:
        """Folder of the checkpoint."""
        return None if self.checkpoint is None else Path(self.checkpoint.path)

    def __post_init__(self) -> None:
        check.count("save_every", self.save_every)
        if not isinstance(self.controllers, Mapping):
            raise ValueError(f"controllers must be a mapping of names to values, got {check.shown(self.controllers)}")
        if not (self.observe is None or callable(self.observe)) or isinstance(self.observe, type):
            raise ValueError(f"observe must be a function of (t, state), got {self.observe!r}")
