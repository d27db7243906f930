"""Number of inertia products, K = 1 + s + s², padded to whole lanes (see numerics.loops.views)."""

from __future__ import annotations

from ....numerics.loops.views import LANES


def kinds(dim: int) -> int:
    """Padded number of inertia products of a coordinate, 1 + s + s²."""
    return LANES if dim == 2 else 4 * LANES
