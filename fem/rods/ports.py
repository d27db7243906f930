"""Positions of the ports of rods and cables along their length."""

from __future__ import annotations

from collections.abc import Mapping

from flexph.numerics import checks as check


def ports_along(body: str, length: float, ports: Mapping[str, float]) -> dict[str, float]:
    """Positions s [m] of all ports of a rod or cable by name, from ``root`` over the given ones to ``tip``.

    ``body`` is the word for it in messages. Raises ValueError for a port off the body, or named root or tip.
    """
    along = {"root": 0.0}
    for name, given in ports.items():
        if name in ("root", "tip"):
            raise ValueError("ports must not be named 'root' or 'tip': these exist")
        along[name] = s = check.number(f"port {name!r}", given)
        if not 0.0 <= s <= length:
            raise ValueError(f"port {name!r} must be on the {body}, 0 to {length} m, got {s} m")
    return {**along, "tip": length}
