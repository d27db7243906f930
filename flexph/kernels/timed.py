"""Layout of the row of quantities that change over a step by functions of time or by controllers.

The row has the changes of the free measures of all springs, and then, for each kind of value, those at the beginning of
the step, followed by those at its end: the factors of the laws of springs, those of the laws of strains, the speeds of
flows and of moving surfaces, the factors of the relations of springs, and those of the friction of contacts and joints.
A mechanism without any of these values has
the changes alone.
"""

from __future__ import annotations

import numpy as np

from .arrays import Arrays

FACTORS, STRAINS, SPEEDS, SURFACES, RELATIONS, FRICTIONS = range(6)
"""Kinds of values, in their order."""


def timed_columns(a: Arrays) -> np.ndarray:
    """First column and number of values of each kind, (6, 2); the row ends at the last sum of first and 2·number."""
    springs = a.springs.stiffness.size
    timed = sum(part.factor is not None for part in a.strains.laws)
    surfaces = 1 + int(a.contacts.timed.max(initial=-1))
    relations = springs if a.springs.relation_factors else 0
    frictions = 1 + max(int(own.rubbing.max(initial=-1)) for own in (a.contacts.laws, a.bearings))
    scheduled = springs if a.springs.scheduled else 0
    counts = np.array([scheduled, timed, len(a.flows), surfaces, relations, frictions], dtype=np.int64)
    return np.column_stack([springs + 2 * (np.cumsum(counts) - counts), counts])
