"""Linear systems assembled from substructures with named ports ([flex] sec. 5.1, 5.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..bodies.floating.linear_system import DENSE_LIMIT
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..systems.linear import LinearPHDAE
from .direct_sum import block_diagonal, lifted_size
from .wiring import Clamp, Couple, Link, Tie, Wiring


@checked
def substructure(
    blocks: Mapping[str, LinearPHDAE],
    connections: Sequence[Link],
    *,
    keep: Collection[str] = (),
    disconnected: bool = False,
) -> LinearPHDAE:
    """Join blocks at their ports: ``E = diag(Eᵢ), J = diag(Jᵢ) + B K Bᵀ, G = [diag(Gᵢ); S Bᵀ]``, K = −Kᵀ.

    See [flex] eq. (39), (45). Ports and parts become ``block.port`` and ``block.part``; a block without parts is the
    part ``block``. Blocks may have been eliminated or reduced before. The result is sparse if a block is, or above 500
    states. G has the rows of the blocks and of the ties; :func:`flexph.eliminate` removes them.

    Parameters
    ----------
    blocks : mapping
        Systems by name; one system may be used under several names.
    connections : sequence of Link
        Results of :func:`tie` (rows of S), :func:`clamp` (rows of S) and :func:`couple` (K).
    keep : sequence of str
        Ports that remain external although connections use them, e.g. for loads. Ports that no connection uses always
        remain.
    disconnected : bool
        True allows blocks without a connection to the others.

    Returns
    -------
    LinearPHDAE
        The blocks as one system.

    Raises
    ------
    ValueError
        For an unknown block or port, widths that do not match, a component connected twice, ports of conflicting
        causality, equal names of parts or ports, and blocks without a connection to the others.
    """
    _check_blocks(blocks)
    lean = any(b.is_sparse for b in blocks.values()) or sum(b.size for b in blocks.values()) > DENSE_LIMIT
    wiring = Wiring(blocks)
    for link in connections:
        if not isinstance(link, Tie | Clamp | Couple):
            raise ValueError(f"connections must be results of tie, clamp and couple, got {check.shown(link)}")
        wiring.connect(link)
    if not disconnected:
        wiring.check_connected()
    matrices = block_diagonal(list(blocks.values()), lean=lean)
    B = matrices["B"]
    coupling, rows = wiring.coupling(), wiring.rows()
    if coupling.nnz:
        matrices["J"] = _as(matrices["J"] + B @ coupling @ B.T, lean)
    tied = _as(rows @ B.T, lean)
    matrices["G"] = sparse.vstack([matrices["G"], tied]).tocsr() if lean else np.vstack([matrices["G"], tied])
    names = [f"{name}: {c}" for name, b in blocks.items() for c in b.constraints]
    ports, columns = wiring.external(keep)
    matrices["B"] = B[:, columns]
    kinds = {full: kind for full, kind in wiring.causality.items() if full in ports}
    return LinearPHDAE(
        **matrices, ports=ports, causality=kinds, parts=_parts(blocks), constraints=(*names, *wiring.row_names)
    )


def _as(matrix: Any, lean: bool) -> Any:
    if lean:
        return sparse.csr_array(matrix)
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _check_blocks(blocks: Mapping[str, LinearPHDAE]) -> None:
    if not blocks:
        raise ValueError("blocks must have at least one entry, got none")
    for name, block in blocks.items():
        if not isinstance(block, LinearPHDAE):
            raise ValueError(f"blocks[{name!r}] must be a LinearPHDAE, got {type(block).__name__}")


def _parts(blocks: Mapping[str, LinearPHDAE]) -> dict[str, slice]:
    parts: dict[str, slice] = {}
    at = 0
    for name, block in blocks.items():
        size = lifted_size(block)
        part_spans = {f"{name}.{part}": s for part, s in block.parts.items()} or {name: slice(0, size)}
        for full, s in part_spans.items():
            if full in parts:
                raise ValueError(f"two blocks have a part {full!r}: rename block {name!r} or the other")
            start, stop, _ = s.indices(size)
            parts[full] = slice(at + start, at + stop)
        at += size
    return parts
