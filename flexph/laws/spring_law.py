"""Laws that springs take."""

from __future__ import annotations

from typing import Any

from ..numerics import checks as check
from .elastic_laws import ElasticLaw
from .force_laws import ForceLaw
from .hysteresis import HysteresisLaw

SpringLaw = ElasticLaw | ForceLaw | HysteresisLaw


def check_law(name: str, given: Any) -> SpringLaw | None:
    """Check for a law or None; raises ValueError for anything else."""
    if given is None or isinstance(given, SpringLaw):
        return given
    raise ValueError(f"{name} must be a law of flexph.laws, e.g. polynomial(k, 0, k3), got {check.shown(given)}")
