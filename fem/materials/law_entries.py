"""Finite-strain laws in model files."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from flexph.models.schema.entry import Entry, one_of
from flexph.models.schema.fields import Stress

from .hyperelastic import MooneyRivlin, NeoHooke


class NeoHookeEntry(Entry):
    """A compressible neo-Hooke law, see :func:`fem.NeoHooke`."""

    makes: ClassVar = NeoHooke
    kind: Literal["neo_hooke"]
    mu: Stress
    lam: Stress


class MooneyRivlinEntry(Entry):
    """A compressible Mooney-Rivlin law, see :func:`fem.MooneyRivlin`."""

    makes: ClassVar = MooneyRivlin
    kind: Literal["mooney_rivlin"]
    c1: Stress
    c2: Stress
    bulk: Stress


Law: Any = one_of((NeoHookeEntry, MooneyRivlinEntry))
