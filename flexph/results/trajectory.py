"""Results of general port-Hamiltonian systems: times, states, outputs, and the energy balance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE, from_linear
from ..systems.nonlinear import PHDAE
from .result import Result
from .state_view import StateView


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SystemResult(Result):
    """Result of a run of a system with named ports: times, states, energy ledger, and outputs of the ports.

    ``outputs`` are by port (l, m) at ``output_times`` (l,) [s]; ``method`` is the name of the integration method.
    """

    system: Any
    output_times: Array
    outputs: Mapping[str, Array]
    method: str

    SYSTEM: ClassVar[str] = "system"

    @property
    def parts(self) -> Mapping[str, slice]:
        """Slices of a state (n,) by name of its parts."""
        parts: Mapping[str, slice] = self.system.parts
        return parts

    @property
    def final(self) -> Array:
        """Last state (n,), from which another run can continue."""
        return self.states[-1]

    @property
    def _size(self) -> int:
        return int(self.system.size)

    @classmethod
    def signature(cls, system: Any) -> list[str]:
        """Lines of text on a system that a file of its run contains: parts of the states, number of states, ports."""
        parts = [f"{name} {part.start} {part.stop}" for name, part in system.parts.items()]
        return [*parts, f"{system.size} states", *sorted(f"port {name} ({m})" for name, m in cls._widths(system))]

    @classmethod
    def _widths(cls, system: Any) -> list[tuple[str, int]]:
        """Names of a system's ports, and the number of outputs of each."""
        return [(name, part.stop - (part.start or 0)) for name, part in system.ports.items()]

    def _view(self, x: Array) -> StateView:
        return StateView(self.parts, x)

    def _described(self) -> str:
        return f"of {self.system.size} states by {self.method!r}"

    def _shapes(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        yield from super()._shapes()
        count = len(self.output_times)
        yield "output_times", self.output_times, (count,)
        for name, width in self._widths(self.system):
            yield f"outputs/{name}", self.outputs[name], (count, width)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trajectory(SystemResult):
    """Result of a :class:`PHDAE`: k + 1 saved times, states (k + 1, n), outputs and the energy ledger.

    With structure-preserving methods algebraic states are stage values: they belong to the middle of the step that ends
    at their time, with an error of second order. ``trajectory["name"]`` is a part of the states. The ledger has the
    single part ``system``.

    Attributes
    ----------
    times : array
        (k + 1,) [s].
    states : array
        (k + 1, n).
    ledger : Ledger
        Energy accounts.
    events : mapping
        Times of each event by name, and the states there; a terminal event is at the last saved time.
    observations : array
        Return values of ``observe``, one row for each saved time.
    system : PHDAE
        Simulated system.
    output_times : array
        Middle of the step that ends at each saved time after the first, (k,) [s].
    outputs : mapping
        Outputs (k, m) by port: B̄ᵀz̄ of these steps; for adaptive methods Bᵀz in the middle between saved times.
    method : str
        Name of the method.
    """

    system: PHDAE

    KIND: ClassVar[str] = "trajectory"

    @classmethod
    def load(cls, path: str | Path, system: PHDAE | LinearPHDAE, *, lazy: bool = False) -> Self:
        """Read a saved run of the system.

        The equations are not stored, so ``system`` must be given again and must match the file.

        Parameters
        ----------
        path : path
            File written by :meth:`save`.
        system : PHDAE or LinearPHDAE
            Simulated system.
        lazy : bool
            True to leave arrays in the file (see :meth:`flexph.Solution.load`).

        Returns
        -------
        Self
            The saved run.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is damaged or of another format, or the system has other states, parts or ports.
        """
        general = from_linear(system) if isinstance(system, LinearPHDAE) else system
        if not isinstance(general, PHDAE):
            raise ValueError(f"system must be a PHDAE or LinearPHDAE, got {type(system).__name__}")
        return super().load(path, general, lazy=lazy)
