"""Terminals of an element, and the signs of its voltage and current.

The voltage is v = e_plus − e_minus, the current i flows from plus to minus, and v i is the power received; sources
deliver it.
"""

from __future__ import annotations

from typing import Any

Branch = tuple[str, str]
"""Nodes (plus, minus) of a pair of terminals."""


def branch(plus: Any, minus: Any) -> Branch:
    """Pair of two nodes; raises ValueError unless they are different names."""
    for node in (plus, minus):
        if not isinstance(node, str) or not node:
            raise ValueError(f"a node must be a name, got {node!r}")
    if plus == minus:
        raise ValueError(f"an element must stand between two nodes, got {plus!r} twice")
    return plus, minus
