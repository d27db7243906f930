"""Elements of universal files: cell types, and the order of their nodes."""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """Cell type of a kind of element; ``order``: positions in the file of its nodes, in the order of meshio.

    ``order`` is None if the file has the same order.
    """

    cell: str
    order: tuple[int, ...] | None = None


_TRIANGLE6 = Form("triangle6", (0, 2, 4, 1, 3, 5))
_QUAD8 = Form("quad8", (0, 2, 4, 6, 1, 3, 5, 7))
_SURFACES = (Form("triangle"), _TRIANGLE6, Form("quad"), _QUAD8)
BEAMS = (11, 21, 22, 23, 24)
"""Elements with a further line: rods and beams."""
BEAM_OF_THREE = Form("line3", (0, 2, 1))
"""Beams of any number with three nodes, the middle one second."""
FORMS = {
    **{11: Form("line"), 21: Form("line"), 22: Form("line"), 24: BEAM_OF_THREE},
    **{
        number + ten: form for ten in (40, 50, 60, 70, 90) for number, form in zip((1, 2, 4, 5), _SURFACES, strict=True)
    },
    **{111: Form("tetra"), 112: Form("wedge"), 115: Form("hexahedron")},
    113: Form("wedge15", (0, 2, 4, 9, 11, 13, 1, 3, 5, 10, 12, 14, 6, 7, 8)),
    116: Form("hexahedron20", (0, 2, 4, 6, 12, 14, 16, 18, 1, 3, 5, 7, 13, 15, 17, 19, 8, 9, 10, 11)),
    118: Form("tetra10", (0, 2, 4, 9, 1, 3, 5, 6, 7, 8)),
}
"""Elements by their number in data set 2412 (FE descriptor id): bars, plane, shell and solid elements."""
MASSLESS = range(121, 161)
"""Rigid elements, springs and dampers."""
