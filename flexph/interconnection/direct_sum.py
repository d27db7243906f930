"""Direct sum of linear systems: block-diagonal matrices with merged names of ports and parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import sparse_block_diag
from ..systems.linear import LinearPHDAE
from .feedthrough import PART as FEEDTHROUGH

MULTIPLIERS = "multipliers"
"""Name of the part of states that are multipliers of an interconnection."""


@checked
def join(*systems: LinearPHDAE) -> LinearPHDAE:
    """Direct sum of linear systems, not yet connected.

    Parameters
    ----------
    *systems : LinearPHDAE
        Systems, all dense or all sparse, with different names of ports and parts.

    Returns
    -------
    LinearPHDAE
        System with block-diagonal E, J, R, B, G and lift.

    Raises
    ------
    ValueError
        For a mixture of dense and sparse systems, and for equal names of ports or parts.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.interconnection import join
    >>> cart = LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), parts={"cart": slice(0, 1)})
    >>> wagon = LinearPHDAE(E=2.0 * np.eye(1), J=np.zeros((1, 1)), parts={"wagon": slice(0, 1)})
    >>> join(cart, wagon).E.diagonal()
    array([1., 2.])
    """
    if len({s.is_sparse for s in systems}) != 1:
        raise ValueError("systems to join must be all dense or all sparse, and at least one")
    return LinearPHDAE(
        **block_diagonal(systems, lean=systems[0].is_sparse),
        ports=merged("port", [s.ports for s in systems], [s.B.shape[1] for s in systems]),
        causality={name: kind for s in systems for name, kind in s.causality.items()},
        parts=merged("part", [s.parts for s in systems], [lifted_size(s) for s in systems]),
        constraints=tuple(name for s in systems for name in s.constraints),
    )


def block_diagonal(systems: Sequence[LinearPHDAE], *, lean: bool) -> dict[str, Any]:
    """Block-diagonal E, J, R, B, G, ``kinetic`` and ``lift`` of systems, sparse if ``lean`` and dense otherwise."""
    matrices = {name: _diagonal([getattr(s, name) for s in systems], lean) for name in "EJRBG"}
    masks = [s.kinetic for s in systems if s.kinetic is not None]
    matrices["kinetic"] = np.concatenate(masks) if len(masks) == len(systems) else None
    if any(s.lift is not None for s in systems):
        matrices["lift"] = _diagonal([sparse.eye_array(s.size) if s.lift is None else s.lift for s in systems], lean)
    return matrices


def lifted_size(system: LinearPHDAE) -> int:
    """Number of states that ``parts`` refers to: rows of the lift, if there is one."""
    return int(system.size if system.lift is None else system.lift.shape[0])


def merged(kind: str, names: Sequence[Mapping[str, slice]], sizes: Sequence[int]) -> dict[str, slice]:
    """Slices by name of several systems as slices of their states or inputs one after the other.

    ``sizes`` are the numbers of states or inputs. Equal names of multipliers or feed-through get numbers; for other
    equal names, of the given kind, ValueError is raised.
    """
    together: dict[str, slice] = {}
    start = 0
    for of_system, size in zip(names, sizes, strict=True):
        of_system = {numbered(name, together): span for name, span in of_system.items()}
        twice = set(of_system) & set(together)
        if twice:
            raise ValueError(f"{kind} names must differ between the systems, but several have {sorted(twice)}")
        together |= spans.moved(of_system, start)
        start += size
    return together


def numbered(name: str, taken: Mapping[str, slice]) -> str:
    """Unique name for a part of multipliers or feed-through, with a number if the name is ``taken``.

    Names of other parts are unchanged.
    """
    if not name.startswith((MULTIPLIERS, FEEDTHROUGH)):
        return name
    number, base = 1, name
    while name in taken:
        number += 1
        name = f"{base} {number}"
    return name


def _diagonal(blocks: list[Any], lean: bool) -> Any:
    matrix = sparse_block_diag(blocks)
    return matrix if lean else matrix.toarray()
