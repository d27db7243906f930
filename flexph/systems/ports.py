"""Ports of a system: their names, and the matrices B, P, S, N at a state or over a step."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array


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
        """New values, by name, of other fields of the dataclass that refer to ports, if a port is split; here empty."""
        return {}


class PortMatrices(NamedTuple):
    """Port matrices of ``(B − P) u`` in the equations and ``y = (B + P)ᵀz + (S − N) u``.

    B, P (n, m), S = Sᵀ, N = −Nᵀ (m, m), with [[R, P], [Pᵀ, S]] ⪰ 0; P, S, N are None without feed-through. The power
    is yᵀu = zᵀ(B − P)u + 2 zᵀP u + uᵀS u ([dg] remark 2).
    """

    B: Any
    P: Any = None
    S: Any = None
    N: Any = None

    @property
    def of_inputs(self) -> Any:
        """Input matrix B − P (n, m)."""
        return self.B if self.P is None else self.B - self.P

    def flow(self, u: Array) -> Array:
        """Flow of the inputs ``(B − P) u`` (n,)."""
        return self.of_inputs @ u

    def output(self, z: Array, u: Array) -> Array:
        """Outputs ``y = (B + P)ᵀz + (S − N) u`` (m,)."""
        if self.P is None:
            return self.B.T @ z
        return np.asarray((self.B + self.P).T @ z + (self.S - self.N) @ u)

    def dissipated(self, R: Any, z: Array, u: Array) -> float:
        """Dissipated power ``(z, u)ᵀ [[R, P], [Pᵀ, S]] (z, u)`` [W]."""
        power = float(z @ (R @ z))
        return power if self.P is None else power + float(2.0 * (z @ (self.P @ u)) + u @ (self.S @ u))
