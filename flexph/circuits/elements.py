"""Elements of circuits between nodes, and their laws.

The voltage of an element is v = e_plus − e_minus, its current i flows from plus to minus, and v i is the power that it
receives; sources deliver it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import scipy

from ..laws.resistive_relations import Relation, viscous
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.differences import central
from ..numerics.memo import PickledByCall
from ..systems.inputs import Input

Branch = tuple[str, str]
"""Nodes (plus, minus) of a pair of terminals."""


def branch(plus: Any, minus: Any) -> Branch:
    """Pair of two nodes; raises ValueError unless they are different names."""
    for node in (plus, minus):
        if not isinstance(node, str) or not node:
            raise ValueError(f"a node must be a name, got {node!r}")
    if plus == minus:
        raise ValueError(f"an element must connect two different nodes, got {plus!r} twice")
    return plus, minus


CURVATURE_STEP = 1e-5
"""Step of the differences for a missing H″, relative to a state or its scale."""
AGREES = 1e-6
"""Relative difference of H′ from differences of H up to which it is their derivative; differences resolve about
1e-10."""
WIDEST = 60
"""Largest number of times that the interval is doubled in which the state of a given effort is searched."""


@checked
@dataclass(frozen=True)
class Energy(PickledByCall):
    """Energy ``H(s)`` of a charge Q [C] or flux φ [V s], with ``H′`` (voltage [V] or current [A]) and ``H″``.

    H′ must be increasing, so that each voltage or current has one state.

    Parameters
    ----------
    value : callable
        H as a function of s [J].
    slope : callable
        H′ as a function of s: voltage [V] or current [A].
    curvature : callable, optional
        H″ as a function of s.
    scale : float
        Typical positive state, at which the functions are checked.
    capacity : float, optional
        C [F] or L [H] if ``H = s²/(2 capacity)``.
    """

    value: Callable[[float], float]
    slope: Callable[[float], float]
    curvature: Callable[[float], float] | None = None
    scale: float = 1.0
    capacity: float | None = None

    def __post_init__(self) -> None:
        for name in ("value", "slope"):
            given = getattr(self, name)
            if not callable(given):
                raise ValueError(f"{name} of an energy must be a function of charge or flux, got {given!r}")
        check.positive("scale", self.scale)
        s, step = self.scale, CURVATURE_STEP * self.scale
        slope = check.number("the slope of the energy at its scale", self.slope(s))
        values = [check.number("the energy at its scale", self.value(s + part * step)) for part in (1.0, -1.0)]
        difference = (values[0] - values[1]) / (2.0 * step)
        if abs(difference - slope) > AGREES * max(abs(difference), abs(slope)) + 1e-10 * abs(values[0]) / s:
            raise ValueError(
                f"slope of an energy must be H′: at {s:.6g} it is {slope:.6g}, differences give {difference:.6g}"
            )

    def stiffness(self, s: float) -> float:
        """Second derivative H″(s), given or by central differences."""
        if self.curvature is not None:
            return float(self.curvature(s))
        step = CURVATURE_STEP * max(abs(s), self.scale)
        return float(central(self.slope, s, step) / step)

    def state(self, effort: float) -> float:
        """Charge at a voltage, or flux at a current. Raises ValueError if H′ does not reach this ``effort``."""
        if self.capacity is not None:
            return self.capacity * effort
        if self.slope(0.0) == effort:
            return 0.0
        width, excess = self.scale, lambda s: self.slope(s) - effort
        for _ in range(WIDEST):
            if excess(-width) * excess(width) <= 0.0:
                return float(scipy.optimize.brentq(excess, -width, width, xtol=1e-15 * self.scale))
            width *= 2.0
        raise ValueError(f"no state within {width:.1e} has the voltage or current {effort:.6g}")


@checked
def linear_energy(capacity: float) -> Energy:
    """Quadratic energy ``H = s²/(2 capacity)``.

    Parameters
    ----------
    capacity : float
        C [F] for a charge s, L [H] for a flux s.

    Returns
    -------
    Energy
        Energy with its derivatives.
    """
    c = capacity
    return Energy(lambda s: 0.5 * s * s / c, lambda s: s / c, lambda s: 1.0 / c, scale=c, capacity=c)


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


@dataclass(frozen=True)
class Resistor:
    """Resistor ``i = ρ(v)`` (voltage-controlled) or ``v = ρ(i)`` (current-controlled); ``control`` tells which.

    Attributes
    ----------
    branch : tuple of str
        Nodes (plus, minus).
    relation : Relation
        Function ρ.
    control : {"voltage", "current", "either"}
        Argument of ρ; "either" for linear resistors.
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


@dataclass(frozen=True)
class Source:
    """Voltage or current source: a port with input u and output y, whose power y u flows into the circuit.

    A voltage source has its voltage as u, and as y the current that it delivers out of its plus node. A current source
    has this current as u, and its voltage as y.

    Attributes
    ----------
    kind : {"voltage source", "current source"}
        Kind of element.
    branch : tuple of str
        Nodes (plus, minus).
    value : float or callable, optional
        Value returned by :attr:`flexph.circuits.Circuit.inputs`; a source without one gets its input with a run.
    """

    kind: Literal["voltage source", "current source"]
    branch: Branch
    value: Input | None = None


@checked
def voltage_source(plus: str, minus: str, value: Input | None = None) -> Source:
    """Voltage source: a port with u = e_plus − e_minus [V] and y [A] the current that it delivers out of plus.

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    value : float or callable, optional
        Voltage [V], or a function of time; by default it is an input of the run.

    Returns
    -------
    Source
        Element for :func:`flexph.circuits.circuit`.
    """
    return Source("voltage source", branch(plus, minus), value)


@checked
def current_source(plus: str, minus: str, value: Input | None = None) -> Source:
    """Current source: a port with u the current [A] that it delivers out of plus and y = e_plus − e_minus [V].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    value : float or callable, optional
        Current [A], or a function of time; by default it is an input of the run.

    Returns
    -------
    Source
        Element for :func:`flexph.circuits.circuit`.
    """
    return Source("current source", branch(plus, minus), value)


@checked
def terminals(plus: str, minus: str) -> Source:
    """Open terminals as a port: u is the current into plus [A] (zero if open), y = e_plus − e_minus [V].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.

    Returns
    -------
    Source
        Port for :func:`flexph.circuits.circuit`.
    """
    return Source("current source", branch(plus, minus))


@dataclass(frozen=True)
class TwoPort:
    """Ideal transformer, ``v₁ = n v₂, i₂ = −n i₁``, or gyrator, ``v₁ = −r i₂, v₂ = r i₁``; ``ratio`` is n or r.

    Attributes
    ----------
    kind : {"transformer", "gyrator"}
        Kind of element.
    first : tuple of str
        Nodes of the first pair.
    second : tuple of str
        Nodes of the second pair.
    ratio : float
        n, or r [Ω].
    """

    kind: Literal["transformer", "gyrator"]
    first: Branch
    second: Branch
    ratio: float


@checked
def transformer(first: Branch, second: Branch, ratio: float) -> TwoPort:
    """Ideal transformer between two pairs of nodes: v₁ = n v₂, i₂ = −n i₁, with the turns ratio n ≠ 0.

    Parameters
    ----------
    first : Branch
        Nodes (plus, minus) of the first pair.
    second : Branch
        Nodes (plus, minus) of the second pair.
    ratio : float
        Turns ratio n.

    Returns
    -------
    TwoPort
        Element for :func:`flexph.circuits.circuit`.
    """
    return _two_port("transformer", first, second, ratio)


@checked
def gyrator(first: Branch, second: Branch, resistance: float) -> TwoPort:
    """Ideal gyrator between two pairs of nodes: v₁ = −r i₂, v₂ = r i₁, r ≠ 0 [Ω].

    Parameters
    ----------
    first : Branch
        Nodes (plus, minus) of the first pair.
    second : Branch
        Nodes (plus, minus) of the second pair.
    resistance : float
        Resistance r [Ω].

    Returns
    -------
    TwoPort
        Element for :func:`flexph.circuits.circuit`.
    """
    return _two_port("gyrator", first, second, resistance)


def _two_port(kind: Any, first: Any, second: Any, ratio: float) -> TwoPort:
    pairs = []
    for name, pair in (("first", first), ("second", second)):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"{name} of a {kind} must be a pair of nodes (plus, minus), got {pair!r}")
        pairs.append(branch(*pair))
    if check.number("ratio", ratio) == 0.0:
        raise ValueError(f"the ratio of a {kind} must not be zero")
    return TwoPort(kind, pairs[0], pairs[1], float(ratio))


@checked
@dataclass(frozen=True)
class Pulse:
    """Pulse width modulation: closed in the first part ``duty`` (0 to 1) of every ``period`` [s] from ``start`` [s] on.

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
        """True if the switch is closed at a time [s]."""
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


Element = Storage | Resistor | Source | Switch | TwoPort


def branches(element: Element) -> tuple[Branch, ...]:
    """Pairs of terminals of an element."""
    return (element.first, element.second) if isinstance(element, TwoPort) else (element.branch,)
