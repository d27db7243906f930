"""Ideal switches with their schedules, and ideal diodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...numerics import checks as check
from ...numerics.arguments import checked
from .terminals import Branch, branch


@checked
@dataclass(frozen=True)
class Pulse:
    """Pulse width modulation: closed during the first ``duty`` (0 to 1) of every ``period`` [s] after ``start`` [s].

    Parameters
    ----------
    period : float
        Period [s].
    duty : float
        Share of the period, 0 to 1.
    start : float
        Start [s].
    """

    period: float
    duty: float
    start: float = 0.0

    def __post_init__(self) -> None:
        check.positive("period", self.period, "s")
        check.number("start", self.start)
        if not 0.0 < check.number("duty", self.duty) < 1.0:
            raise ValueError(f"duty must be between 0 and 1, got {self.duty}")

    def __call__(self, time: float) -> bool:
        """True if it is closed at a time [s]."""
        return bool((time - self.start) % self.period < self.duty * self.period)


@dataclass(frozen=True)
class Switch:
    """Switch, closed with ``v = 0`` or open with ``i = 0``; a diode is closed while i ≥ 0 and open while v ≤ 0.

    Attributes
    ----------
    kind : {"switch", "diode"}
        Kind of element.
    branch : tuple of str
        Nodes (plus, minus).
    schedule : Pulse, optional
        Schedule of a switch.
    """

    kind: Literal["switch", "diode"]
    branch: Branch
    schedule: Pulse | None = None


@checked
def switch(plus: str, minus: str, closed: Pulse | None = None) -> Switch:
    """Ideal switch; ``closed`` is a :class:`Pulse`, or None if its position is fixed or given to the run.

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    closed : Pulse, optional
        Schedule; by default the position is fixed or given to the run.

    Returns
    -------
    Switch
        Element for :func:`flexph.circuits.circuit`.
    """
    if closed is not None and not isinstance(closed, Pulse):
        raise ValueError(f"closed must be a Pulse(period, duty) or None, got {closed!r}")
    return Switch("switch", branch(plus, minus), closed)


@checked
def diode(anode: str, cathode: str) -> Switch:
    """Ideal diode: v i = 0, v ≤ 0, i ≥ 0 with v from anode to cathode ([survey] example 5.1).

    Parameters
    ----------
    anode : str
        Node from which it conducts.
    cathode : str
        Node to which it conducts.

    Returns
    -------
    Switch
        Element for :func:`flexph.circuits.circuit`.
    """
    return Switch("diode", branch(anode, cathode))
