"""What takes the steps of a run of a mechanism: compiled loops, or NumPy and why."""

from __future__ import annotations

import os
from collections.abc import Set
from typing import TYPE_CHECKING, Any

from ...bodies.nodal_body import NodalBody
from ...numerics.compiling import AVAILABLE, is_one_of_many
from ..methods.exact import Exact
from ..methods.method import MechanismMethod
from .near import LISTED, NearPairs

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism
    from ...mechanisms.model.model import Model

LOOPS = "compiled loops"
SHORT = "NumPy, as the run is short and its loops are not compiled yet"
WAIT = "FLEXPH_COMPILE"
"""Variable of the environment that, being 1, lets short runs wait for the compiler, too."""
PATIENCE = 10.0
"""Estimated duration of NumPy steps [s] up to which they are taken where loops would have to be compiled first."""
STEP, UNKNOWN = 1e-3, 2e-5
"""Estimated duration of a NumPy step, and what each unknown adds to it [s]."""


def numpy_because(mechanism: Mechanism, method: MechanismMethod) -> str | None:
    """Why there are no compiled loops for a run, or None; ValueError where they are asked for and cannot be had."""
    refused = mechanism.once(_refused) or _refused_by(mechanism, method)
    if method.compiled and refused:
        raise ValueError(f"compiled=True cannot be had: {refused}")
    if not method.may_compile:
        return "compiled=False" if method.compiled is False else f"there are no loops of {method.name}"
    if refused:
        return refused
    from .limits import has_full_matrices, has_many_loops, is_wide
    from .loops.relations import compile_relations

    try:
        compile_relations(mechanism)
    except ValueError as error:
        if method.compiled:
            raise
        return str(error)
    if method.redundant == "least_norm" and mechanism.once(has_many_loops):
        return "closed loops have too many constraints"
    if method.name == "decaying" and not method.compiled and mechanism.once(has_full_matrices):
        return "the full matrices of a body, which Decaying() has, are too large for loops"
    return "bands of the Jacobian are too wide" if not method.compiled and mechanism.once(is_wide) else None


def left_to_numpy(times: Set[float]) -> str:
    """What to add to LOOPS where steps that begin at some times [s] were left to NumPy; nothing where none was."""
    if not times:
        return ""
    count = f"{len(times)} steps" if len(times) > 1 else "one step"
    first = f"the first from t = {min(times):.6g} s" if len(times) > 1 else f"from t = {min(times):.6g} s"
    return f", but {count} by NumPy ({first}), which the loops did not solve: shorter steps avoid it"


def _refused(mechanism: Model) -> str | None:
    arrays = mechanism.network.arrays
    reasons = {
        "numba is not installed (pip install 'flexph[fast]')": not AVAILABLE,
        "a large body about mean axes is not: reduce it": any(b.unshifted for b in mechanism.frames.values()),
        "a solid of finite strain is not yet": any(map(_is_solid, mechanism.bodies.values())),
        "a point on a curve is not yet": bool(arrays.curves),
        "a wheel that slips is not yet": bool(arrays.slips.slip.size),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _refused_by(mechanism: Model, method: MechanismMethod) -> str | None:
    rolls_in_space = mechanism.layout.dim == 3 and mechanism.network.arrays.rolling.spin_row.size > 0
    if method.name == "exact_gauss" and rolls_in_space:
        return "rolling in space by Gauss collocation is not"
    if isinstance(method, Exact) and method.contact == "steps" and _is_rigid(mechanism):
        return None if mechanism.once(NearPairs).strikes else "a rigid contact between more than two bodies is not"
    rigid = [group.number for group in mechanism.network.arrays.contacts.groups if group.law.rigid[0]]
    return f"a group of more than {LISTED} rigid contacts is not by events" if sum(rigid) > LISTED else None


def _is_rigid(mechanism: Model) -> bool:
    """Whether there are rigid contacts."""
    return bool(mechanism.network.arrays.contacts.laws.rigid.any())


def _is_solid(body: Any) -> bool:
    """Whether a body is one of nodes that are no neighbours along a line."""
    return isinstance(body, NodalBody) and body.turning < len(body.frames) and body.coordinates is None


def may_be_short(mechanism: Mechanism, method: MechanismMethod, steps: float) -> bool:
    """Whether NumPy takes so many steps sooner than loops are compiled, which nobody insists on."""
    waits = os.environ.get(WAIT) == "1" or is_one_of_many()
    if waits or method.compiled or method.tolerance is not None:
        return False
    unknowns = mechanism.layout.velocities + mechanism.layout.multipliers
    return steps * (STEP + UNKNOWN * unknowns) < PATIENCE
