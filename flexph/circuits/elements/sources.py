"""Ports of a circuit: voltage sources, current sources, open terminals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...numerics.arguments import checked
from ...systems.inputs import Input
from .terminals import Branch, branch


@dataclass(frozen=True)
class Source:
    """Port with ``u`` = v and y the current delivered out of plus, or ``u`` = that current and y = v; power in is yu.

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
