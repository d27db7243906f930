"""Element types of Abaqus: cell types of meshio, faces, and differences of their matrices from those of flexph."""

from __future__ import annotations

import re

VOLUMES = {
    4: "tetra",
    5: "pyramid",
    6: "wedge",
    8: "hexahedron",
    10: "tetra10",
    15: "wedge15",
    20: "hexahedron20",
}
"""Volume cells by their number of nodes."""
SURFACES = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8", 9: "quad9"}
LINES = {2: "line", 3: "line3"}
FAMILIES = (
    (re.compile(r"C3D(\d+)[A-Z]*"), VOLUMES),
    (re.compile(r"(?:CPS|CPE|CPEG|M3D|SFM3D|R3D|S)(\d)[A-Z]*5?"), SURFACES),
    (re.compile(r"(?:T2D|T3D|RB3D|R2D)(\d)[A-Z]*"), LINES),
)
NAMED = {
    "STRI3": "triangle",
    "STRI65": "triangle6",
    **dict.fromkeys(("B21", "B21H", "B31", "B31H", "B31OS", "B33", "B33H", "B23", "B23H"), "line"),
    **dict.fromkeys(("B22", "B22H", "B32", "B32H", "B32OS"), "line3"),
}
FACES = {
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "tetra": ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)),
    "pyramid": ((0, 1, 2, 3), (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)),
    "wedge": ((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)),
    "hexahedron": ((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)),
}
"""Corners of the faces S1, S2, … of each cell shape (Abaqus Elements Guide, solid elements, faces)."""
REDUCED = re.compile(r"(C3D8R|C3D20R|CPS4R|CPS8R|CPE4R|CPE8R)H?")
FEWER = re.compile(r"(C3D6|C3D15)H?")
OTHER = re.compile(r"(C3D8I|CPS4I|CPE4I|C3D10M|C3D10I|C3D10HS|CPS6M|CPE6M)H?")
LINEAR = re.compile(r"(C3D4|C3D6|C3D8|CPS3|CPS4|CPE3|CPE4)[A-Z]*")


POINTS = ("MASS", "ROTARYI")
"""Element types at one node with mass or rotary inertia."""
MASSLESS = re.compile(r"(SPRING|DASHPOT|CONN|GAP|DCOUP|JOINTC|ITSCYL|ITT|ISL|DGAP|DRAG|PSI|SPHERE)\w*")
"""Massless element types for stiffness, damping or contact."""


def cell_type(kind: str) -> str | None:
    """The meshio type of an element type, or None if there is none."""
    name = kind.upper()
    for pattern, counts in FAMILIES:
        match = pattern.fullmatch(name)
        if match is not None:
            return counts.get(int(match[1]))
    return NAMED.get(name)


def differences(kind: str) -> tuple[str, ...]:
    """Texts that say how the stiffness of an element type in Abaqus differs from that in flexph; empty if it does not.

    In flexph elements are fully integrated displacement elements.
    """
    name = kind.upper()
    if REDUCED.fullmatch(name):
        return (f"{name} has reduced integration in Abaqus and is softer there",)
    if FEWER.fullmatch(name):
        points = "two points" if name.startswith("C3D6") else "nine points"
        return (f"{name} is integrated at {points} in Abaqus and is softer there",)
    if OTHER.fullmatch(name):
        return (f"{name} has incompatible modes or another formulation in Abaqus and is softer there",)
    return ()


def lumped(kind: str) -> bool:
    """True if Abaqus lumps the masses of an element type, which holds for linear elements and C3D10M."""
    return LINEAR.fullmatch(kind.upper()) is not None or kind.upper().startswith("C3D10M")
