"""What takes the steps of a run of a mechanism: compiled loops, or NumPy and why."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from scipy import sparse

from ..bodies.body import Body
from .loops.build import WIDEST, bandwidth, cost_of_band, couples_in_bands
from .loops.filters import NARROW, UNKNOWNS
from .loops.flexible.strain_operator import count_products
from .methods.method import MechanismMethod

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism
    from ..mechanisms.model.model import Model

LOOPS = "compiled loops"
BANDED = "decaying", "exact_gauss"
"""Methods whose loops have banded matrices alone."""
FULL = 100
"""Coordinates beyond which LAPACK is faster than loops over full matrices, which the decaying scheme has of bodies that
are not banded."""
MANY, MANY_OF_FULL, FEW = 5e7, 1e7, 30
"""Products of slopes in the strains beyond which loops over them are no faster, or their arrays take many seconds to
make: of slopes by FEW coordinates each, on the average, and of those about mean axes, which are of many."""


def numpy_because(mechanism: Mechanism, method: MechanismMethod) -> str | None:
    """Why there are no compiled loops for a run, or None; ValueError where they are asked for and cannot be had."""
    refused = None
    if method.name in BANDED and any(body.unshifted for body in mechanism.frames.values()):
        refused = "loops of this method take no large body about mean axes: reduce it"
    if method.compiled and refused:
        raise ValueError(f"compiled=True cannot be had: {refused}")
    if not method.may_compile:
        return "compiled=False" if method.compiled is False else f"there are no loops of {method.name}"
    if refused:
        return refused
    if method.name == "decaying" and not method.compiled and mechanism.once(_has_full_matrices):
        return "the full matrices of a body, which Decaying() has, are too large for loops"
    if method.compiled:
        return None
    if mechanism.once(_has_many_products):
        return "strains are sums of too many products"
    if mechanism.once(cost_of_band) <= WIDEST:
        return None
    in_bands = method.name in BANDED or couples_in_bands(mechanism)
    return "bands of the Jacobian are too wide" if in_bands else None


def left_to_numpy(times: Set[float]) -> str:
    """What to add to LOOPS where steps that begin at some times [s] were left to NumPy; nothing where none was."""
    if not times:
        return ""
    count = f"{len(times)} steps" if len(times) > 1 else "one step"
    first = f"the first from t = {min(times):.6g} s" if len(times) > 1 else f"from t = {min(times):.6g} s"
    return f", but {count} by NumPy ({first}), which the loops did not solve: shorter steps avoid it"


def _has_many_products(mechanism: Model) -> bool:
    """Whether strains are sums of very many products."""
    a = mechanism.network.arrays
    slopes = sparse.csr_array(a.slopes)
    limit = MANY if slopes.nnz <= FEW * slopes.shape[0] else MANY_OF_FULL
    return count_products(slopes, a.weights) > limit


def _has_full_matrices(mechanism: Model) -> bool:
    """Whether a body is too large for loops over full matrices, and has no band or a wide one."""
    return any(body.size > FULL and not _is_narrow(body) for body in mechanism.frames.values())


def _is_narrow(body: Body) -> bool:
    """Whether loops over banded matrices of a large body in steps that lose energy cost little."""
    if body.elasticity is None:
        return False
    width = bandwidth(body) + 1.0
    return body.size > NARROW * width and UNKNOWNS**3 * body.size * width**2 <= WIDEST
