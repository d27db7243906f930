"""Dense and sparse arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]


def dense(a: Any) -> Array:
    """A matrix as a dense array."""
    made: Array = a.toarray() if sparse.issparse(a) else np.asarray(a)
    return made
