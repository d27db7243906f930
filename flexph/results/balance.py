"""Relative error of an energy balance."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..numerics.arrays import Array


def relative_error(error: Array, scale: float, resolution: Array | float = 0.0) -> Array:
    """Errors of balances (k,) over the ``scale`` of the energies, all in [J]: (|error| − resolution)₊/scale, 0/0 = 0.

    What is less than the ``resolution`` of the states is no error of the balance: of a system at rest all its energy
    may be that.
    """
    beyond = np.maximum(np.abs(error) - resolution, 0.0)
    if scale > 0.0:
        return np.asarray(beyond / scale)
    return np.where(beyond > 0.0, np.inf, 0.0)


def sizes(accounts: Iterable[Array]) -> float:
    """The largest sum of the sizes of all accounts, each (k,), in one row [J]."""
    return float(np.abs(np.array(list(accounts))).sum(axis=0).max(initial=0.0))
