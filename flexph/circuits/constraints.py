"""Algebraic constraints between charges and fluxes of a circuit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..numerics.memo import read_only


@dataclass(frozen=True, eq=False)
class Constraint:
    """Constraint by a loop of capacitors and voltage sources, a cutset of inductors and current sources, or gyrators.

    ``0 = Σ ± v`` of the loop or ``0 = Σ ± i`` of the cutset relates charges or fluxes to each other and to inputs; its
    multiplier, of index 2, is the current of the dependent capacitor or the voltage of the dependent inductor. A
    constraint of kind "gyrator" is a sum of algebraic equations without algebraic states: ``v₁ = −r i₂`` with v₁ of a
    capacitor and i₂ of an inductor.

    Attributes
    ----------
    kind : str
        Kind of constraint: "loop", "cutset" or "gyrator".
    state : str
        Name of the multiplier.
    elements : tuple of str
        Elements whose charges or fluxes are related.
    sources : tuple of str
        Sources whose inputs are part of the constraint.
    switches : tuple of str
        Closed switches in the loop, open ones in the cutset.
    gyrators : tuple of str
        Gyrators in the constraint.
    weights : mapping
        Weights of the equations by their states, for the kind "gyrator".
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
            tied = f"charges and fluxes of {', '.join(self.elements)} are dependent{given}"
            return f"gyrator {', '.join(self.gyrators)}: {tied}"
        others = [*self.sources, *self.switches]
        with_others = f" with {', '.join(others)}" if others else ""
        tied = "charges" if self.kind == "loop" else "fluxes"
        given = f", given by {', '.join(self.sources)}" if self.sources else ""
        return f"{self.kind} of {', '.join(self.elements)}{with_others}: {tied} depend on each other{given}"
