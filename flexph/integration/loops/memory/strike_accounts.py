"""Indices into the accounts of rigid contacts: columns of flows, and entries of the audit."""

from __future__ import annotations

NORMAL, FRICTION, IMPACT, ARRIVAL, RUBBED, SETTLED = range(6)
"""Columns of ``contacts_struck``."""
MISSED, SCALE, BALANCE, KNOWN, FREE, CLOSED, TOLD, CROWDED = range(8)
"""Entries of ``strike_audit``; gap defects (``CLOSED``) and the resolution of their rates (``TOLD``) are separate.

``CROWDED`` is set if many contacts of a step have separate impacts.
"""
