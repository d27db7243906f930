"""Element types of Ansys by number, and the cells of degenerate (collapsed) hexahedra and quadrilaterals."""

from __future__ import annotations

from ..cell_types import NODES

FAMILIES = {
    **dict.fromkeys((5, 45, 62, 64, 65, 69, 70, 73, 80, 185), "hexahedron"),
    **dict.fromkeys((90, 95, 96, 97, 186, 191, 226, 231), "hexahedron20"),
    **dict.fromkeys((87, 92, 98, 187, 227, 232), "tetra10"),
    285: "tetra",
    **dict.fromkeys((41, 43, 63, 181, 131, 57), "quad"),
    **dict.fromkeys((42, 182, 55, 13, 25), "quad"),
    **dict.fromkeys((93, 281, 132, 82, 183, 77, 152, 154), "quad8"),
    **dict.fromkeys((3, 4, 8, 180, 188, 16), "line"),
    189: "line3",
}
"""Cell type of element types by number, if no nodes coincide: solids, shells, plane elements, bars and beams."""
LOADS = (151, 152, 153, 154, 155, 156, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 200, 201)
"""Elements without mass and stiffness: surface effects, contact, follower loads, and MESH200."""
STIFFNESS = (14, 37, 39, 40, 179, 184, 250)
"""Massless elements of stiffness or constraints: springs, joints, pretension."""
COLLAPSED: dict[str, dict[tuple[tuple[int, ...], ...], tuple[str, tuple[int, ...]]]] = {
    "hexahedron": {
        ((2, 3), (6, 7)): ("wedge", (0, 1, 2, 4, 5, 6)),
        ((4, 5, 6, 7),): ("pyramid", (0, 1, 2, 3, 4)),
        ((2, 3), (4, 5, 6, 7)): ("tetra", (0, 1, 2, 4)),
    },
    "hexahedron20": {
        ((2, 3), (6, 7)): ("wedge15", (0, 1, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 17, 18)),
        ((4, 5, 6, 7),): ("pyramid13", (0, 1, 2, 3, 4, 8, 9, 10, 11, 16, 17, 18, 19)),
        ((2, 3), (4, 5, 6, 7)): ("tetra10", (0, 1, 2, 4, 8, 9, 11, 16, 17, 18)),
    },
    "quad": {((2, 3),): ("triangle", (0, 1, 2))},
    "quad8": {((2, 3),): ("triangle6", (0, 1, 2, 4, 5, 7))},
}
"""Cell type and nodes of degenerate elements, by the groups of corners that coincide."""
CORNERS = {"hexahedron": 8, "hexahedron20": 8, "quad": 4, "quad8": 4}
SECOND = {
    **{"hexahedron20": "hexahedron", "tetra10": "tetra", "quad8": "quad", "line3": "line"},
    **{"wedge15": "wedge", "pyramid13": "pyramid", "triangle6": "triangle"},
}
"""Cells of degree 1 of those of degree 2 whose nodes on edges are all missing."""


def cell_of(family: str, nodes: list[int]) -> tuple[str, list[int]]:
    """Cell type and nodes of an element of a family such as hexahedra, with coinciding corners merged.

    Without any of its midside nodes (0), a second-order element is one of first order. Raises ValueError if merged
    corners make no wedge, pyramid, tetrahedron or triangle, or if other nodes are missing.
    """
    count = len(NODES[family])
    if len(nodes) < count:
        nodes = [*nodes, *[0] * (count - len(nodes))]
    kind, corner_nodes = family, nodes[:count]
    corners = CORNERS.get(family)
    if corners is not None:
        groups = tuple(_coinciding(corner_nodes[:corners]))
        if groups:
            known = COLLAPSED[family].get(groups)
            if known is None:
                raise ValueError(
                    f"has corners that coincide as in no wedge, pyramid or tetrahedron: {corner_nodes[:corners]}"
                )
            kind, corner_nodes = known[0], [corner_nodes[i] for i in known[1]]
    first = SECOND.get(kind)
    if first is not None:
        middle = corner_nodes[len(NODES[first]) :]
        if not any(middle):
            return first, corner_nodes[: len(NODES[first])]
        if 0 in middle:
            raise ValueError(f"has nodes on some edges only, {corner_nodes}: give all of them, or none")
    if 0 in corner_nodes:
        raise ValueError(f"must have {len(NODES[kind])} nodes, got {corner_nodes}")
    return kind, corner_nodes


def _coinciding(corners: list[int]) -> list[tuple[int, ...]]:
    """Groups of indices of corners that have the same node, in ascending order."""
    places: dict[int, list[int]] = {}
    for i, node in enumerate(corners):
        places.setdefault(node, []).append(i)
    return sorted(tuple(group) for group in places.values() if len(group) > 1)
