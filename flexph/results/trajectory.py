"""Runs of general port-Hamiltonian systems: times, states, and the balance of their energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from ..numerics.arrays import Array
from ..systems.as_nonlinear import from_linear
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .ledger import Ledger
from .result import Result
from .state_view import StateView


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SystemResult(Result):
    """A run of a system with named ports.

    ``outputs`` by port (l, m) at ``output_times`` (l,) [s]; ``method`` by its name.
    """

    system: Any
    output_times: Array
    outputs: Mapping[str, Array]
    method: str

    SYSTEM: ClassVar[str] = "system"

    @property
    def balance(self) -> Ledger:
        """The energy ledger."""
        return self.ledger

    @property
    def parts(self) -> Mapping[str, slice]:
        """Entries of the states by name."""
        parts: Mapping[str, slice] = self.system.parts
        return parts

    @property
    def final(self) -> Array:
        """The last state, from which a run can be continued."""
        return self.states[-1]

    @property
    def _size(self) -> int:
        return int(self.system.size)

    @classmethod
    def signature(cls, system: Any) -> list[str]:
        """Parts of the states with their places, their number, and the ports."""
        parts = [f"{name} {part.start} {part.stop}" for name, part in system.parts.items()]
        return [*parts, f"{system.size} states", *sorted(f"port {name} ({m})" for name, m in cls._widths(system))]

    @classmethod
    def _widths(cls, system: Any) -> list[tuple[str, int]]:
        """Ports with the numbers of their entries."""
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
    """A run of a :class:`PHDAE`: k + 1 saved times, states (k + 1, n), outputs and the energy balance.

    Of structure-preserving methods, algebraic states are stage values too: they belong to the middle of the step that
    ends at their time, where they are of second order. ``trajectory["name"]`` is a part of the states. ``balance`` is
    the ledger, of the one part ``system``.

    Attributes
    ----------
    times : array
        (k + 1,) [s].
    states : array
        (k + 1, n).
    ledger : Ledger
        Energy accounts.
    events : mapping
        By name when each event occurred, and where; a terminal one is the last saved time.
    observations : array
        What ``observe`` returned, a row for each saved time.
    system : PHDAE
        What ran.
    output_times : array
        (k,) [s], the middle of the step that ends at each saved time after the first.
    outputs : mapping
        By port (k, m): B̄ᵀz̄ of that step; of adaptive methods Bᵀz in the middle between saved times.
    method : str
        Name of the method.
    """

    system: PHDAE

    KIND: ClassVar[str] = "trajectory"

    @classmethod
    def load(cls, path: str | Path, system: PHDAE | LinearPHDAE, *, lazy: bool = False) -> Self:
        """Read a run back. The system is given again, since its equations are not stored; it must fit.

        The system is given again, since its equations are not stored; it must fit.

        Parameters
        ----------
        path : path
            A file of :meth:`save`.
        system : PHDAE or LinearPHDAE
            The system that ran.
        lazy : bool
            Leave arrays in the file (see :meth:`flexph.Solution.load`).

        Returns
        -------
        Self
            The run.

        Raises
        ------
        ValueError
            For a file that is missing, damaged, of another format, or of a system with other states, parts or ports.
        """
        own = from_linear(system) if isinstance(system, LinearPHDAE) else system
        if not isinstance(own, PHDAE):
            raise ValueError(f"system must be a PHDAE or LinearPHDAE, got {type(system).__name__}")
        return super().load(path, own, lazy=lazy)
