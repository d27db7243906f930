"""Union of all kinds of circuit elements."""

from __future__ import annotations

from .resistors import Resistor
from .sources import Source
from .storage import Storage
from .switches import Switch
from .terminals import Branch
from .two_ports import TwoPort

Element = Storage | Resistor | Source | Switch | TwoPort


def branches(element: Element) -> tuple[Branch, ...]:
    """Pairs of terminals of an element."""
    return (element.first, element.second) if isinstance(element, TwoPort) else (element.branch,)
