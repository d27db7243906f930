"""Sparsity patterns of Dirac structures with named ports."""

from __future__ import annotations

import numpy as np

from ..dirac.structure import DiracStructure
from ..numerics.arguments import checked
from ..numerics.arrays import Array

NOTHING = 1e-12
"""Entry, relative to the largest of its row, below which it is shown as zero."""
WIDEST = 64
"""Largest structure drawn with one character for each entry; larger ones are shown by pairs of ports."""


def sparsity(structure: DiracStructure) -> tuple[Array, list[str], list[str]]:
    """Pattern (n, n) of ``w = J v`` (−1, 0, 1 by sign), and the names of w and v: ``f`` or ``e``, and the port."""
    J, G = structure.graph.J, structure.graph.flow_inputs
    size = np.abs(J).max(axis=1, keepdims=True, initial=0.0)
    pattern = np.where(np.abs(J) > NOTHING * size, np.sign(J), 0.0)
    names = [f"{i}" for i in range(structure.size)]
    for port, span in structure.ports.items():
        inside = range(*span.indices(structure.size))
        for i in inside:
            names[i] = port if len(inside) == 1 else f"{port}[{i - inside[0]}]"
    outputs = [f"{'e' if swapped else 'f'} {name}" for swapped, name in zip(G, names, strict=True)]
    inputs = [f"{'f' if swapped else 'e'} {name}" for swapped, name in zip(G, names, strict=True)]
    return pattern, outputs, inputs


@checked
def sparsity_text(structure: DiracStructure) -> str:
    """Sparsity pattern as text: rows are outputs, columns inputs, ``+`` and ``-`` signs of J, ``.`` zeros.

    Structures of more than WIDEST entries are shown by blocks of ports, with the number of entries of each block.

    Parameters
    ----------
    structure : DiracStructure
        A Dirac structure, as ``analyze(...).whole``.

    Returns
    -------
    str
        The pattern, one row per line.
    """
    if structure.size > WIDEST:
        return _blocks(structure)
    pattern, outputs, inputs = sparsity(structure)
    width = max(map(len, outputs), default=0)
    signs = {0.0: ".", 1.0: "+", -1.0: "-"}
    rows = [
        f"{name:<{width}} = {' '.join(signs[float(v)] for v in row)}"
        for name, row in zip(outputs, pattern, strict=True)
    ]
    spans = [f"{inputs[i]}" for i in range(len(inputs))]
    lines = [f"w = J v, v in the order {', '.join(_ranges(spans))}", *rows]
    return "\n".join(lines)


def _ranges(names: list[str]) -> list[str]:
    """Names of entries, with consecutive entries of one port merged into a range."""
    ranges: list[str] = []
    for name in names:
        head, bracket, rest = name.partition("[")
        index = rest.rstrip("]")
        last = ranges[-1] if ranges else ""
        if bracket and last.startswith(head + "[") and index != "0":
            first = last.partition("[")[2].rstrip("]").partition("..")[0]
            ranges[-1] = f"{head}[{first}..{index}]"
        else:
            ranges.append(name)
    return ranges


def _blocks(structure: DiracStructure) -> str:
    pattern, _, _ = sparsity(structure)
    lines = ["entries of J by ports (rows: outputs, columns: inputs)"]
    width = max((len(name) for name in structure.ports), default=0)
    for name, row in structure.ports.items():
        counts = [f"{other}: {int(np.abs(pattern[row, column]).sum())}" for other, column in structure.ports.items()
                  if np.any(pattern[row, column])]  # fmt: skip
        exchanged = int(structure.graph.flow_inputs[row].sum())
        swapped = f" ({exchanged} flows as inputs)" if exchanged else ""
        lines.append(f"{name:<{width}}{swapped}  {', '.join(counts) or 'nothing'}")
    return "\n".join(lines)
