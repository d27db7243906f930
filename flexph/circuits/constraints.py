"""Constraints of circuits: what ties charges and fluxes to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..numerics.memo import read_only


@dataclass(frozen=True, eq=False)
class Constraint:
    """A loop of capacitors and voltage sources, a cutset of inductors and current sources, or what a gyrator ties.

    ``0 = Σ ± v`` of the loop or ``0 = Σ ± i`` of the cutset ties charges or fluxes to each other and to inputs; its
    multiplier, of index 2, is the current of the capacitor or the voltage of the inductor that is too many. Of the kind
    "gyrator" it is the sum of algebraic equations in which no algebraic state is left: ``v₁ = −r i₂`` where v₁ is that
    of a capacitor and i₂ that of an inductor.

    Attributes
    ----------
    kind : str
        Which of these.
    state : str
        Name of the multiplier.
    elements : tuple of str
        Whose charges or fluxes it ties.
    sources : tuple of str
        Whose inputs it ties them to.
    switches : tuple of str
        Closed ones in the loop, open ones in the cutset.
    gyrators : tuple of str
        Those that tie.
    weights : mapping
        Of the equations by their states, of the kind "gyrator".
    """

    kind: str
    state: str
    elements: tuple[str, ...]
    sources: tuple[str, ...]
    switches: tuple[str, ...]
    gyrators: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_only(dict(self.weights) or {self.state: 1.0}))

    def __str__(self) -> str:
        if self.kind == "gyrator":
            given = f", given by {', '.join(self.sources)}" if self.sources else ""
            tied = f"charges and fluxes of {', '.join(self.elements)} depend on each other{given}"
            return f"gyrator {', '.join(self.gyrators)}: {tied}"
        others = [*self.sources, *self.switches]
        with_others = f" with {', '.join(others)}" if others else ""
        tied = "charges" if self.kind == "loop" else "fluxes"
        given = f", given by {', '.join(self.sources)}" if self.sources else ""
        return f"{self.kind} of {', '.join(self.elements)}{with_others}: {tied} depend on each other{given}"
