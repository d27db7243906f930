"""Results of switching runs: states between and at switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..numerics.arrays import Array
from ..results.trajectory import SystemResult
from .system import SwitchingPHDAE


@dataclass(frozen=True, eq=False)
class ModeChange:
    """A switch: its time [s], modes, cause and effects.

    ``cause`` is the name of the transition, or ``not valid: NAME``. States ``before`` and ``after`` (n,) have the
    algebraic states of their modes; ``energy`` is H before and after [J]; ``work`` is the work [J] of sources in
    impulses, by port; ``lost`` [J] satisfies H⁺ − H⁻ = work − lost. ``impulse`` (n,) is ∫(J − R)z dt of the algebraic
    costates, Eₛ(x⁺ − x⁻) if the constraints of the new mode moved the state. ``free`` (k, n) are the linear quantities
    that the impulses cannot change, orthonormal rows a with a·x⁺ = a·x⁻; ``kept`` are the quantities named by the
    reset, with their values.
    """

    time: float
    source: str
    target: str
    cause: str
    before: Array
    after: Array
    energy: tuple[float, float]
    work: Mapping[str, float]
    lost: float
    impulse: Array
    free: Array
    kept: Mapping[str, float]

    @property
    def jump(self) -> Array:
        """Jump x⁺ − x⁻ (n,) of the state."""
        jump: Array = self.after - self.before
        return jump


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SwitchingTrajectory(SystemResult):
    """Result of a :class:`SwitchingPHDAE`: k + 1 saved instants, their modes, the switches, and the energy ledger.

    ``times`` (k + 1,) ascend, except that a switch is two instants of one time, before and after, with the names of
    their modes in ``modes`` (k + 1,); ``states`` (k + 1, n) belong to them. Several switches at one time are
    consecutive. ``ledger`` has a row for each pair of consecutive instants: at a switch ``dissipation`` is the energy
    lost there and ``work`` that of sources in impulses, so that ΔH = work − dissipation + residual throughout.

    ``outputs`` by port (l, m), at ``output_times`` (l,), are those of the steps as in :class:`flexph.Trajectory`, NaN
    in modes that lack the port. ``states`` at switches and the last one have algebraic states that solve the equations
    at that time; all others have stage values.
    """

    system: SwitchingPHDAE
    modes: Array
    switches: Sequence[ModeChange]

    KIND: ClassVar[str] = "switching trajectory"
    LACKING = ("observations", "outputs/")  # fields without values in modes that lack the port
    DISTINCT = False  # at a switch two states are saved for the same time

    @classmethod
    def signature(cls, system: SwitchingPHDAE) -> list[str]:
        """Modes, parts of the states with their slices, the number of states, and the ports."""
        if not isinstance(system, SwitchingPHDAE):
            raise ValueError(f"system must be a SwitchingPHDAE, got {type(system).__name__}")
        return [*(f"mode {name}" for name in system.modes), *super().signature(system)]

    @classmethod
    def _widths(cls, system: SwitchingPHDAE) -> list[tuple[str, int]]:
        return list(system.ports.items())

    def _described(self) -> str:
        return f"by {self.method!r} with {len(self.switches)} switches"

    @property
    def lost_at_switches(self) -> float:
        """Energy lost in all switches together [J]; the rest of the dissipation belongs to the modes."""
        return float(sum(switch.lost for switch in self.switches))

    def _check_values(self) -> None:
        super()._check_values()
        if strange := set(self.modes.tolist()) - set(self.system.modes):
            raise OSError(f"modes must be modes of the system, got {sorted(strange)}")

    def _shapes(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        yield from super()._shapes()
        yield "modes", self.modes, (len(self.times),)
        for i, switch in enumerate(self.switches):
            for name in ("before", "after", "impulse"):
                yield f"switches/{i}/{name}", getattr(switch, name), (self._size,)
            yield f"switches/{i}/free", switch.free, (len(switch.free), self._size)
