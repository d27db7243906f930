"""Contact forces in a step, on nodes and bodies."""

from __future__ import annotations
