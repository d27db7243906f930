"""Capacitors and inductors: elements that store energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...numerics import checks as check
from ...numerics.arguments import checked
from .energy import Energy, linear_energy
from .terminals import Branch, branch


@dataclass(frozen=True)
class Storage:
    """Capacitor, ``Q̇ = i, v = H′(Q)``, or inductor, ``φ̇ = v, i = H′(φ)`` ([survey] eq. (1.1)-(1.2), (1.9)).

    Attributes
    ----------
    kind : {"capacitor", "inductor"}
        Kind of element.
    branch : tuple of str
        Nodes (plus, minus).
    energy : Energy
        Energy H.
    """

    kind: Literal["capacitor", "inductor"]
    branch: Branch
    energy: Energy


@checked
def capacitor(plus: str, minus: str, law: float | Energy) -> Storage:
    """Capacitor with a capacitance C > 0 [F], H = Q²/(2C), or an energy H(Q) [J].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    law : float or Energy
        Capacitance [F], or the energy H(Q) [J] as a function of the charge [C].

    Returns
    -------
    Storage
        Element for :func:`flexph.circuits.circuit`.
    """
    return Storage("capacitor", branch(plus, minus), _energy("capacitance", law, "F"))


@checked
def inductor(plus: str, minus: str, law: float | Energy) -> Storage:
    """Inductor with an inductance L > 0 [H], H = φ²/(2L), or an energy H(φ) [J].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    law : float or Energy
        Inductance [H], or the energy H(φ) [J] as a function of the flux [V s].

    Returns
    -------
    Storage
        Element for :func:`flexph.circuits.circuit`.
    """
    return Storage("inductor", branch(plus, minus), _energy("inductance", law, "H"))


def _energy(name: str, law: float | Energy, unit: str) -> Energy:
    return law if isinstance(law, Energy) else linear_energy(check.positive(name, law, unit))
