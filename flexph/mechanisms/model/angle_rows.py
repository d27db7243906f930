"""Constraint rows of angles with a stated value: how far they are from it, within half a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...joints.rows.laws import Angle
from ...numerics.arrays import Array
from .time_table import law_products, law_terms, laws

if TYPE_CHECKING:
    from .model import Model


class AngleRows(NamedTuple):
    """Rows of angles with a stated value: which of all, their products s and c, and the first of their terms.

    A row s cos θ − c sin θ is the sine of what an angle lacks, and zero half a turn off, too.
    """

    rows: Array
    sine: Array
    cosine: Array
    term: Array

    def apart(self, product: Array, coefficient: Array) -> Array:
        """How far angles of products (..., p) are from what they must be, (..., k) [rad], within half a turn."""
        s, c = product[..., self.sine], product[..., self.cosine]
        cosine, sine = coefficient[self.term], -coefficient[self.term + 1]  # of what they must be
        return np.arctan2(s * cosine - c * sine, c * cosine + s * sine)


def angle_rows(mechanism: Model) -> AngleRows:
    """Those of a mechanism."""
    rows = [i for i, law in enumerate(laws(mechanism)) if isinstance(law, Angle) and law.value is not None]
    own = np.array([law_products(mechanism)[i] for i in rows], dtype=int).reshape(-1, 2)
    terms = law_terms(mechanism)
    first = np.array([terms[i].start for i in rows], dtype=int)
    return AngleRows(np.array(rows, dtype=int), own[:, 0], own[:, 1], first)
