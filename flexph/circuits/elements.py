"""Elements of circuits between nodes, and their laws.

The voltage is v = e_plus − e_minus, the current i flows from plus to minus, v i is the power taken; sources deliver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from scipy.optimize import brentq

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.differences import central
from ..numerics.memo import Remade
from ..systems.inputs import Input
from ..systems.resistive_relations import Relation, viscous

Branch = tuple[str, str]
"""Nodes plus and minus of a pair of terminals."""
CURVATURE_STEP = 1e-5
"""Step of the differences that give H″ where it is not given, relative to a state or its scale."""
AGREES = 1e-6
"""Relative difference of H′ from differences of H: they resolve it to about 1e-10."""
WIDEST = 60
"""Doublings by which the state of an effort is looked for, from the scale of an energy."""


@checked
@dataclass(frozen=True)
class Energy(Remade):
    """``H(s)`` of a charge Q [C] or flux φ [V s], its slope ``H′`` (the voltage [V] or the current [A]) and ``H″``.

    H′ must ascend for a voltage or a current to have one state.

    Parameters
    ----------
    value : callable
        H of s [J].
    slope : callable
        H′ of s, the voltage [V] or the current [A].
    curvature : callable, optional
        H″ of s.
    scale : float
        A typical state, positive, where the system is checked.
    capacity : float, optional
        C [F] or L [H] where ``H = s²/(2 capacity)``.
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
        """H″(s), given or by central differences."""
        if self.curvature is not None:
            return float(self.curvature(s))
        step = CURVATURE_STEP * max(abs(s), self.scale)
        return float(central(self.slope, s, step) / step)

    def state(self, effort: float) -> float:
        """The charge of a voltage, the flux of a current. Raises ValueError where H′ does not reach it."""
        if self.capacity is not None:
            return self.capacity * effort
        if self.slope(0.0) == effort:
            return 0.0
        width, excess = self.scale, lambda s: self.slope(s) - effort
        for _ in range(WIDEST):
            if excess(-width) * excess(width) <= 0.0:
                return float(brentq(excess, -width, width, xtol=1e-15 * self.scale))
            width *= 2.0
        raise ValueError(f"no state within {width:.1e} has the voltage or current {effort:.6g}")


@checked
def linear_energy(capacity: float) -> Energy:
    """``H = s²/(2 capacity)``.

    Parameters
    ----------
    capacity : float
        C [F] of a charge s, L [H] of a flux.

    Returns
    -------
    Energy
        The energy, its derivative and its mean slope.
    """
    c = capacity
    return Energy(lambda s: 0.5 * s * s / c, lambda s: s / c, lambda s: 1.0 / c, scale=c, capacity=c)


@dataclass(frozen=True)
class Storage:
    """A capacitor, ``Q̇ = i, v = H′(Q)``, or an inductor, ``φ̇ = v, i = H′(φ)`` ([survey] eq. (1.1)-(1.2), (1.9)).

    Attributes
    ----------
    kind : {"capacitor", "inductor"}
        Its kind.
    branch : tuple of str
        Nodes (plus, minus).
    energy : Energy
        H.
    """

    kind: Literal["capacitor", "inductor"]
    branch: Branch
    energy: Energy


@dataclass(frozen=True)
class Resistor:
    """``i = ρ(v)`` (voltage-controlled) or ``v = ρ(i)`` (current-controlled); linear ones are both ("either").

    Attributes
    ----------
    branch : tuple of str
        Nodes (plus, minus).
    relation : Relation
        ρ.
    control : {"voltage", "current", "either"}
        What it is a function of.
    kind : {"resistor"}
        Its kind.
    """

    branch: Branch
    relation: Relation
    control: Literal["voltage", "current", "either"]
    kind: Literal["resistor"] = "resistor"


@dataclass(frozen=True)
class Source:
    """A port: ``u`` = v with y the current delivered out of plus, or ``u`` = that current with y = v; power in is yu.

    Attributes
    ----------
    kind : {"voltage source", "current source"}
        Its kind.
    branch : tuple of str
        Nodes (plus, minus).
    value : float or callable, optional
        What :attr:`flexph.circuits.Circuit.inputs` gives on; a source without one gets its input with a run.
    """

    kind: Literal["voltage source", "current source"]
    branch: Branch
    value: Input | None = None


@checked
@dataclass(frozen=True)
class Pulse:
    """Closed during the first ``duty`` (0 to 1) of every ``period`` [s] after ``start`` [s]: pulse width modulation.

    Parameters
    ----------
    period : float
        [s].
    duty : float
        Part of the period, 0 to 1.
    start : float
        [s].
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
        """Whether it is closed at a time [s]."""
        return bool((time - self.start) % self.period < self.duty * self.period)


@dataclass(frozen=True)
class Switch:
    """Closed, ``v = 0``, or open, ``i = 0``; a diode is closed while i ≥ 0 and open while v ≤ 0 ([survey] ex. 5.1).

    Attributes
    ----------
    kind : {"switch", "diode"}
        Its kind.
    branch : tuple of str
        Nodes (plus, minus).
    schedule : Pulse, optional
        When a switch is closed.
    """

    kind: Literal["switch", "diode"]
    branch: Branch
    schedule: Pulse | None = None


@dataclass(frozen=True)
class TwoPort:
    """An ideal transformer, ``v₁ = n v₂, i₂ = −n i₁``, or gyrator, ``v₁ = −r i₂, v₂ = r i₁``; n or r is ``ratio``.

    Attributes
    ----------
    kind : {"transformer", "gyrator"}
        Its kind.
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


Element = Storage | Resistor | Source | Switch | TwoPort


def branches(element: Element) -> tuple[Branch, ...]:
    """The pairs of terminals of an element."""
    return (element.first, element.second) if isinstance(element, TwoPort) else (element.branch,)


@checked
def capacitor(plus: str, minus: str, law: float | Energy) -> Storage:
    """A capacitor by its capacitance C > 0 [F], H = Q²/(2C), or by its energy H(Q) [J].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    law : float or Energy
        Capacitance [F], or the energy H(Q) [J] of the charge [C].

    Returns
    -------
    Storage
        The element, for :func:`flexph.circuits.circuit`.
    """
    return Storage("capacitor", _branch(plus, minus), _energy("capacitance", law, "F"))


@checked
def inductor(plus: str, minus: str, law: float | Energy) -> Storage:
    """An inductor by its inductance L > 0 [H], H = φ²/(2L), or by its energy H(φ) [J].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    law : float or Energy
        Inductance [H], or the energy H(φ) [J] of the flux [V s].

    Returns
    -------
    Storage
        The element, for :func:`flexph.circuits.circuit`.
    """
    return Storage("inductor", _branch(plus, minus), _energy("inductance", law, "H"))


@checked
def resistor(
    plus: str, minus: str, law: float | Relation, control: Literal["voltage", "current"] | None = None
) -> Resistor:
    """A resistor by its resistance R > 0 [Ω], or by a relation (:func:`flexph.systems.resistive`, …) and its control.

    ``control="voltage"``: i = ρ(v); ``"current"``: v = ρ(i). Either way v i ≥ 0.

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    law : float or Relation
        Resistance [Ω], or a relation.
    control : {"voltage", "current"}, optional
        Which of both the relation is a function of.

    Returns
    -------
    Resistor
        The element, for :func:`flexph.circuits.circuit`.
    """
    if not isinstance(law, Relation):
        if control is not None:
            raise ValueError(f"control={control!r} is for a relation, a resistance needs none")
        return Resistor(_branch(plus, minus), viscous(check.positive("resistance", law, "Ω")), "either")
    if control is None:
        raise ValueError("a relation needs control='voltage', i = ρ(v), or control='current', v = ρ(i)")
    check.choice("control", control, ("voltage", "current"))
    return Resistor(_branch(plus, minus), law, control)


@checked
def voltage_source(plus: str, minus: str, value: Input | None = None) -> Source:
    """A port with u = e_plus − e_minus [V]; y [A] is the current that it delivers out of plus.

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    value : float or callable, optional
        Voltage [V], or a function of time; by default it is given to the run as an input.

    Returns
    -------
    Source
        The element, for :func:`flexph.circuits.circuit`.
    """
    return Source("voltage source", _branch(plus, minus), value)


@checked
def current_source(plus: str, minus: str, value: Input | None = None) -> Source:
    """A port with u the current [A] that it delivers out of plus; y = e_plus − e_minus [V].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    value : float or callable, optional
        Current [A], or a function of time; by default it is given to the run as an input.

    Returns
    -------
    Source
        The element, for :func:`flexph.circuits.circuit`.
    """
    return Source("current source", _branch(plus, minus), value)


@checked
def terminals(plus: str, minus: str) -> Source:
    """Open terminals as a port: u the current fed into plus [A] (zero if open), y = e_plus − e_minus [V].

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.

    Returns
    -------
    Source
        The port, for :func:`flexph.circuits.circuit`.
    """
    return Source("current source", _branch(plus, minus))


@checked
def switch(plus: str, minus: str, closed: Pulse | None = None) -> Switch:
    """An ideal switch; ``closed`` is a :class:`Pulse`, None for one that stays or whose positions are given.

    Parameters
    ----------
    plus : str
        Node of the positive end.
    minus : str
        Node of the negative end.
    closed : Pulse, optional
        When it is closed; by default it stays as it is, or its positions are given to the run.

    Returns
    -------
    Switch
        The element, for :func:`flexph.circuits.circuit`.
    """
    if closed is not None and not isinstance(closed, Pulse):
        raise ValueError(f"closed must be a Pulse(period, duty) or None, got {closed!r}")
    return Switch("switch", _branch(plus, minus), closed)


@checked
def diode(anode: str, cathode: str) -> Switch:
    """An ideal diode: v i = 0, v ≤ 0, i ≥ 0 with v from anode to cathode ([survey] example 5.1).

    Parameters
    ----------
    anode : str
        Node from which it conducts.
    cathode : str
        Node to which it conducts.

    Returns
    -------
    Switch
        The element, for :func:`flexph.circuits.circuit`.
    """
    return Switch("diode", _branch(anode, cathode))


@checked
def transformer(first: Branch, second: Branch, ratio: float) -> TwoPort:
    """An ideal transformer between two pairs of nodes: v₁ = n v₂, i₂ = −n i₁, n ≠ 0 the ratio of turns.

    Parameters
    ----------
    first : Branch
        Nodes (plus, minus) of the first pair.
    second : Branch
        Nodes (plus, minus) of the second pair.
    ratio : float
        n.

    Returns
    -------
    TwoPort
        The element, for :func:`flexph.circuits.circuit`.
    """
    return _two_port("transformer", first, second, ratio)


@checked
def gyrator(first: Branch, second: Branch, resistance: float) -> TwoPort:
    """An ideal gyrator between two pairs of nodes: v₁ = −r i₂, v₂ = r i₁, r ≠ 0 [Ω].

    Parameters
    ----------
    first : Branch
        Nodes (plus, minus) of the first pair.
    second : Branch
        Nodes (plus, minus) of the second pair.
    resistance : float
        r [Ω].

    Returns
    -------
    TwoPort
        The element, for :func:`flexph.circuits.circuit`.
    """
    return _two_port("gyrator", first, second, resistance)


def _two_port(kind: Any, first: Any, second: Any, ratio: float) -> TwoPort:
    pairs = []
    for name, pair in (("first", first), ("second", second)):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"{name} of a {kind} must be a pair of nodes (plus, minus), got {pair!r}")
        pairs.append(_branch(*pair))
    if check.number("ratio", ratio) == 0.0:
        raise ValueError(f"the ratio of a {kind} must not be zero")
    return TwoPort(kind, pairs[0], pairs[1], float(ratio))


def _branch(plus: Any, minus: Any) -> Branch:
    for node in (plus, minus):
        if not isinstance(node, str) or not node:
            raise ValueError(f"a node must be a text, got {node!r}")
    if plus == minus:
        raise ValueError(f"an element must stand between two nodes, got {plus!r} twice")
    return plus, minus


def _energy(name: str, law: float | Energy, unit: str) -> Energy:
    return law if isinstance(law, Energy) else linear_energy(check.positive(name, law, unit))
