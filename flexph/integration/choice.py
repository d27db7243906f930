"""Choice between compiled loops and NumPy for the steps of a run of a mechanism."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from ..bodies.body import Body
from .loops.build import WIDEST, bandwidth, cost_of_band
from .loops.filters import NARROW, UNKNOWNS
from .loops.wide.kept_block import has_many_products
from .methods.method import MechanismMethod

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism
    from ..mechanisms.model.model import Model

LOOPS = "compiled loops"
BANDED = "decaying", "exact_gauss"
"""Methods whose loops need banded matrices in large mechanisms."""
FULL = 100
"""Size of a body, in coordinates, above which loops of the decaying scheme over full matrices are slow; it counts in
mechanisms of more than 300 velocities, for bodies without narrow bands."""


def numpy_because(mechanism: Mechanism, method: MechanismMethod) -> str | None:
    """Reason why a run has no compiled loops, or None. Raises ValueError if springs have laws and there are none."""
    reason = _reason(mechanism, method)
    springs = mechanism.network.arrays.springs
    laws = (*springs.laws, *springs.force_laws, *springs.hysteresis)
    if reason and laws:
        raise ValueError(f"springs with a law, such as {laws[0]}, need compiled loops, but {reason}")
    return reason


def _reason(mechanism: Mechanism, method: MechanismMethod) -> str | None:
    """Reason why a run has no compiled loops, or None.

    ``Exact`` and ``Exact4`` always have them, unless they are forbidden. The other methods leave some mechanisms of
    more than 300 velocities to NumPy. Raises ValueError if loops are demanded and not available.
    """
    if not method.may_compile:
        return "compiled=False" if method.compiled is False else f"there are no loops of {method.name}"
    if method.name not in BANDED:
        return None
    if any(body.unshifted for body in mechanism.frames.values()):
        reason = "loops of this method take no large body about mean axes: reduce it"
        if method.compiled:
            raise ValueError(f"compiled=True cannot be had: {reason}")
        return reason
    if method.compiled:
        return None
    if method.name == "decaying" and mechanism.once(_has_full_matrices):
        return "the full matrices of a body, which Decaying() has, are too large for loops"
    if mechanism.once(has_many_products):
        return "strains are sums of too many products"
    return "bands of the Jacobian are too wide" if mechanism.once(cost_of_band) > WIDEST else None


def left_to_numpy(times: Set[float]) -> str:
    """Addition to LOOPS for steps left to NumPy, from the times [s] at which they begin; empty without any."""
    if not times:
        return ""
    count = f"{len(times)} steps" if len(times) > 1 else "one step"
    first = f"the first from t = {min(times):.6g} s" if len(times) > 1 else f"from t = {min(times):.6g} s"
    return f", but {count} by NumPy ({first}), which the loops did not solve: shorter steps avoid it"


def _has_full_matrices(mechanism: Model) -> bool:
    """True if a large mechanism has a body too large for loops over full matrices, without a narrow band.

    Small mechanisms, of up to 300 velocities, take at most twice the time of LAPACK.
    """
    is_large = mechanism.network.arrays.mean is not None
    return is_large and any(body.size > FULL and not _is_narrow(body) for body in mechanism.frames.values())


def _is_narrow(body: Body) -> bool:
    """True if loops over banded matrices of a large body in steps that lose energy cost little."""
    if body.elasticity is None:
        return False
    width = bandwidth(body) + 1.0
    return body.size > NARROW * width and UNKNOWNS**3 * body.size * width**2 <= WIDEST
