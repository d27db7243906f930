"""Base of systems with named ports."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self

from ..numerics import spans
from ..numerics.arguments import checked


class NamedPorts:
    """Base of dataclasses whose ``ports`` are slices of the columns of B by name."""

    ports: Mapping[str, slice]

    @checked
    def split_port(self, port: str, parts: Mapping[str, int]) -> Self:
        """Split one port into several, given by name with their numbers of columns in order.

        Parameters
        ----------
        port : str
            Name of a port, e.g. of a force and a torque together.
        parts : mapping
            Numbers of columns by name, e.g. ``{"force": 3, "torque": 3}``.

        Returns
        -------
        LinearPHDAE or PHDAE
            System with the new ports.
        """
        changed: dict[str, Any] = {"ports": spans.divided(self.ports, port, parts), **self._split_too(port, parts)}
        return dataclasses.replace(self, **changed)  # type: ignore[type-var]

    def _split_too(self, port: str, parts: Mapping[str, int]) -> dict[str, Any]:
        """Further fields, by name, that change when a port is split, as they name ports; none here."""
        return {}
