"""Places in what impulses of rigid contacts leave in the accounts."""

from __future__ import annotations

NORMAL, FRICTION, IMPACT, ARRIVAL, RUBBED, SETTLED = range(6)
"""Columns of ``contacts_struck``."""
MISSED, SCALE, BALANCE, KNOWN, FREE, CLOSED, TOLD, CROWDED = range(8)
"""Entries of ``strike_audit``; what gaps miss at the end of a way, and a velocity that positions tell, are apart.

``CROWDED`` is set where many impacts of a group are found in a step.
"""
