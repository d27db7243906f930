"""Runs of switching systems: what happened between and at the switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..numerics.arrays import Array
from ..results.trajectory import SystemResult
from .system import SwitchingPHDAE


@dataclass(frozen=True, eq=False)
class ModeChange:
    """One switch: when [s], between which modes, by what, and what it did.

    ``cause`` is the name of the transition, or ``not valid: NAME``. States ``before`` and ``after`` (n,), each with the
    algebraic states of its mode; ``energy`` before and after [J]; ``work`` by port [J], what sources give in impulses;
    ``lost`` [J] with H⁺ − H⁻ = work − lost. ``impulse`` (n,) is ∫(J − R)z dt of the algebraic costates, Eₛ(x⁺ − x⁻)
    where the constraints of the new mode moved the state. ``free`` (k, n) are the linear quantities that they cannot
    change, orthonormal rows a with a·x⁺ = a·x⁻; ``kept`` those that the reset names, with their values.
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
        """x⁺ − x⁻ (n,)."""
        jump: Array = self.after - self.before
        return jump


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SwitchingTrajectory(SystemResult):
    """A run of a :class:`SwitchingPHDAE`: k + 1 saved instants, the mode in each, the switches, and the energy balance.

    ``times`` (k + 1,) ascend but for switches, which are two instants of one time, before and after, in the modes
    ``modes`` (k + 1,) of names; ``states`` (k + 1, n) belong to them. Several switches at one time follow each other
    so. ``balance`` has a row for each pair of instants that follow each other: at a switch ``dissipation`` is the
    energy lost there, and work what sources give in impulses, so that ΔH = work − dissipation + residual throughout.

    ``outputs`` by port (l, m), at ``output_times`` (l,), are those of the steps as in :class:`flexph.Trajectory`,
    NaN in modes that lack the port. ``states`` at switches have algebraic states that solve the equations at that time,
    others, but for the last one, are stage values.
    """

    system: SwitchingPHDAE
    modes: Array
    switches: Sequence[ModeChange]

    KIND: ClassVar[str] = "switching trajectory"
    LACKING = ("observations", "outputs/")  # of ports that a mode lacks
    DISTINCT = False  # a switch is two instants of one time

    @classmethod
    def signature(cls, system: SwitchingPHDAE) -> list[str]:
        """Modes, parts of the states with their places, their number, and the ports."""
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
        """What all switches lose together [J]; the rest of the dissipation is that of the modes."""
        return float(sum(switch.lost for switch in self.switches))

    def _check_values(self) -> None:
        super()._check_values()
        if strange := set(self.modes.tolist()) - set(self.system.modes):
            raise OSError(f"modes must be of the system, got {sorted(strange)}")

    def _shapes(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        yield from super()._shapes()
        yield "modes", self.modes, (len(self.times),)
        for i, switch in enumerate(self.switches):
            for name in ("before", "after", "impulse"):
                yield f"switches/{i}/{name}", getattr(switch, name), (self._size,)
            yield f"switches/{i}/free", switch.free, (len(switch.free), self._size)
