"""Checks of the laws of springs."""

from __future__ import annotations

from typing import Any

from ..numerics import checks as check
from .elastic_laws import ElasticLaw
from .force_laws import ForceLaw
from .hysteresis import HysteresisLaw

SpringLaw = ElasticLaw | ForceLaw | HysteresisLaw


def check_law(name: str, given: Any, *, by_input: bool = False) -> SpringLaw | None:
    """Return the law from the argument ``name``; raises ValueError unless it is a law of springs or None.

    Laws with a factor set by an input are admitted only if ``by_input``.
    """
    if isinstance(given, ElasticLaw) and given.is_controlled and not by_input:
        raise ValueError(f"{name}: {given} is for spring_damper and torsion_spring, which are external ports with it")
    if given is None or isinstance(given, SpringLaw):
        return given
    raise ValueError(f"{name} must be a law of flexph.laws, e.g. polynomial(k, 0, k3), got {check.shown(given)}")


def check_at_rest(name: str, law: SpringLaw | None, remedy: str) -> None:
    """Raise ValueError if an elastic law is not defined at the extension 0, at which a spring begins by default.

    Laws of a distance such as :func:`flexph.laws.gravitation` are not defined there.
    """
    if not isinstance(law, ElasticLaw):
        return
    try:
        law.force(0.0)
    except ValueError as error:
        text = f"{name} must have a force at the extension 0, which is that of the assembled pose by default"
        raise ValueError(f"{text}, got {law}: {remedy}") from error
