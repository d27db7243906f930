"""Resistors: relations of voltage and current that dissipate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...laws.resistive_relations import Relation, viscous
from ...numerics import checks as check
from ...numerics.arguments import checked
from .terminals import Branch, branch


@dataclass(frozen=True)
class Resistor:
    """Resistor ``i = ρ(v)`` (voltage-controlled) or ``v = ρ(i)`` (current-controlled); linear ones are "either".

    Attributes
    ----------
    branch : tuple of str
        Nodes (plus, minus).
    relation : Relation
        Function ρ.
    control : {"voltage", "current", "either"}
        Argument of ρ.
    kind : {"resistor"}
        Kind of element.
    """

    branch: Branch
    relation: Relation
    control: Literal["voltage", "current", "either"]
    kind: Literal["resistor"] = "resistor"


@checked
def resistor(
    plus: str, minus: str, law: float | Relation, control: Literal["voltage", "current"] | None = None
) -> Resistor:
    """Resistor with a resistance R > 0 [Ω], or with a relation (:func:`flexph.laws.resistive`, …) and its control.

    ``control="voltage"`` means i = ρ(v), ``"current"`` means v = ρ(i). In either case v i ≥ 0.

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    law : float or Relation
        Resistance [Ω], or a relation.
    control : {"voltage", "current"}, optional
        Argument of the relation.

    Returns
    -------
    Resistor
        Element for :func:`flexph.circuits.circuit`.
    """
    if not isinstance(law, Relation):
        if control is not None:
            raise ValueError(f"control={control!r} is for a relation, a resistance needs none")
        return Resistor(branch(plus, minus), viscous(check.positive("resistance", law, "Ω")), "either")
    if control is None:
        raise ValueError("a relation needs control='voltage', i = ρ(v), or control='current', v = ρ(i)")
    check.choice("control", control, ("voltage", "current"))
    return Resistor(branch(plus, minus), law, control)
