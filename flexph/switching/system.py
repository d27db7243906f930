"""Switching port-Hamiltonian systems as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import PickledByCall, read_only
from ..systems.linear import LinearPHDAE, from_linear
from ..systems.nonlinear import PHDAE
from .transition import Function, Transition

PROBES = 8
"""Number of states near the samples at which the Hamiltonians of the modes are compared."""
SPREAD = 0.1
"""Distance from the samples of the states at which Hamiltonians are compared, relative to the size of each state."""
COMMON = 1e-12
"""Relative difference of Hamiltonians up to which they count as equal."""


@checked
@dataclass(frozen=True, eq=False)
class Mode:
    """One mode: its equations, and functions ``valid`` of (t, x) by name that are ≥ 0 as long as the mode lasts.

    When one of them becomes negative, the next mode is chosen among ``candidates``, by default all other modes, as
    described for :class:`SwitchingPHDAE`. For an ideal diode, the mode in which it blocks is valid while −v ≥ 0, the
    mode in which it conducts while i ≥ 0.
    """

    system: PHDAE
    valid: Mapping[str, Function] = field(default_factory=dict)
    candidates: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.system, LinearPHDAE):
            object.__setattr__(self, "system", from_linear(self.system))
        if not isinstance(self.system, PHDAE):
            raise ValueError(f"the system of a mode must be a PHDAE, got {check.shown(self.system)}")
        if self.system.has_feedthrough:
            raise ValueError(
                "a mode with feed-through cannot switch: give flexph.interconnection.without_feedthrough(system), "
                "the same equations with inputs and outputs as algebraic states"
            )
        for name, function in self.valid.items():
            if not callable(function):
                raise ValueError(f"valid[{name!r}] must be a function of (t, x), got {function!r}")
        object.__setattr__(self, "valid", read_only(self.valid))
        object.__setattr__(self, "candidates", tuple(self.candidates))


@checked
@dataclass(frozen=True, eq=False)
class SwitchingPHDAE(PickledByCall):
    """``E_s(x) ẋ = (J_s(x) − R_s(x)) z_s(x) + B_s(x) u, y = B_sᵀz_s`` with a switching mode s and one common H(x).

    ``modes`` maps names to :class:`PHDAE` or :class:`Mode`, all with the same states and Hamiltonian ([survey] sec. 5);
    E, J, R, B, z and ports may differ. H is compared at random states near the sample states of the modes. A mode ends
    by one of the ``transitions`` (:class:`Transition`), or when one of its functions ``valid`` becomes negative.

    If several modes may follow (candidates of a transition or of a mode), the consistent state of each is computed.
    Candidates are possible if such a state exists and their functions ``valid`` are still ≥ 0 after a small step. Of
    these, the mode that loses the least energy follows, or the first one if losses are equal. Thus an ideal diode
    conducts rather than interrupts a current.

    ``limit`` is the largest number of switches between two given times of a run: more indicate a Zeno point, where
    switches accumulate. A port has the same width in all modes that have it; parts are the same in all modes. A switch
    to a mode without a consistent state, or one that gains energy, ends a run with ArithmeticError (see
    :func:`flexph.integrate`).
    Raises ValueError for unknown modes and for differing Hamiltonians.
    """

    modes: Mapping[str, Any]
    transitions: Sequence[Transition] = ()
    limit: int = 100

    def __post_init__(self) -> None:
        if not isinstance(self.modes, Mapping) or not self.modes:
            raise ValueError(f"modes must map names to systems, got {self.modes!r}")
        modes = {name: given if isinstance(given, Mode) else Mode(given) for name, given in self.modes.items()}
        object.__setattr__(self, "modes", read_only(modes))
        object.__setattr__(self, "transitions", tuple(self.transitions))
        check.count("limit", self.limit)
        for transition in self.transitions:
            if not isinstance(transition, Transition):
                raise ValueError(f"transitions must be of Transition, got {check.shown(transition)}")
            for name in (*transition.source, *transition.target):
                check.lookup("mode", name, self.modes, f"transition {transition.name!r}: the system")
        for name, mode in modes.items():
            check.name("a mode", name)
            for other in mode.candidates:
                check.lookup("mode", other, self.modes, f"candidates of {name!r}: the system")
        self._check_states()
        self._check_energy()

    @property
    def size(self) -> int:
        """Number n of states."""
        return self._first.size

    @property
    def parts(self) -> Mapping[str, slice]:
        """Slices of the states by name."""
        return self._first.parts

    @property
    def ports(self) -> Mapping[str, int]:
        """Widths of all ports, including those that only some modes have."""
        return {name: p.stop - (p.start or 0) for mode in self.modes.values() for name, p in mode.system.ports.items()}

    @property
    def H(self) -> Callable[[Array], float]:
        """Hamiltonian of all modes."""
        return self._first.H

    @property
    def _first(self) -> PHDAE:
        return next(iter(self.modes.values())).system

    def system(self, mode: str) -> PHDAE:
        """Equations of a mode."""
        return check.lookup("mode", mode, self.modes).system

    @checked
    def following(self, mode: str) -> tuple[str, ...]:
        """Modes that may follow a mode that is no longer valid: its candidates, or all others if it names none."""
        from_mode: Mode = check.lookup("mode", mode, self.modes)
        return tuple(from_mode.candidates) or tuple(name for name in self.modes if name != mode)

    def leaving(self, mode: str) -> tuple[Transition, ...]:
        """Transitions out of a mode."""
        return tuple(t for t in self.transitions if mode in t.source)

    def _check_states(self) -> None:
        one, widths = next(iter(self.modes)), self.ports
        for name, mode in self.modes.items():
            if mode.system.size != self.size:
                raise ValueError(f"mode {name!r} has {mode.system.size} states, mode {one!r} has {self.size}")
            if dict(mode.system.parts) != dict(self.parts):
                raise ValueError(f"mode {name!r} has other parts than mode {one!r}: states must be common to all modes")
            for port, part in mode.system.ports.items():
                if part.stop - (part.start or 0) != widths[port]:
                    raise ValueError(f"port {port!r} of mode {name!r} has another width than in other modes")

    def _check_energy(self) -> None:
        rng, samples = np.random.default_rng(0), [mode.system.sample for mode in self.modes.values()]
        one = next(iter(self.modes))
        for k in range(PROBES):
            x = samples[k % len(samples)]
            spread = np.maximum(np.abs(x), self._first.floor(x))
            x = x + SPREAD * np.where(spread > 0.0, spread, 1.0) * rng.standard_normal(self.size)
            first, gradient = float(self.H(x)), self._first.E(x).T @ self._first.z(x)
            terms = float(np.abs(gradient) @ np.abs(x))
            for name, mode in self.modes.items():
                here = float(mode.system.H(x))
                if abs(here - first) > COMMON * (abs(first) + abs(here) + terms):
                    raise ValueError(
                        f"all modes must have the same Hamiltonian: at a state near a sample H of mode {name!r} is "
                        f"{here:.8g}, that of {one!r} is {first:.8g} (difference {here - first:.1e})"
                    )
