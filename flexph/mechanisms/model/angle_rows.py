"""Constraint rows of angles with a prescribed value, and their errors within half a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...joints.rows.laws import Angle
from ...numerics.arrays import Array
from .time_table import law_products, law_terms, laws

if TYPE_CHECKING:
    from .model import Model


class AngleRows(NamedTuple):
    """Rows of angles with a prescribed value: their row numbers, their products s and c, and their first terms.

    A row s cos θ − c sin θ is the sine of the error of the angle, which also vanishes half a turn away.
    """

    rows: Array
    sine: Array
    cosine: Array
    term: Array

    def apart(self, product: Array, coefficient: Array) -> Array:
        """Errors (..., k) [rad] of the angles at products (..., p), within half a turn."""
        s, c = product[..., self.sine], product[..., self.cosine]
        cosine, sine = coefficient[self.term], -coefficient[self.term + 1]  # of the prescribed angle
        return np.arctan2(s * cosine - c * sine, c * cosine + s * sine)


def angle_rows(mechanism: Model) -> AngleRows:
    """Rows of a mechanism for angles with a prescribed value."""
    rows = [i for i, law in enumerate(laws(mechanism)) if isinstance(law, Angle) and law.value is not None]
    own = np.array([law_products(mechanism)[i] for i in rows], dtype=int).reshape(-1, 2)
    terms = law_terms(mechanism)
    first = np.array([terms[i].start for i in rows], dtype=int)
    return AngleRows(np.array(rows, dtype=int), own[:, 0], own[:, 1], first)
