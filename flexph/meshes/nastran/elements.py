"""Elements of Nastran: cell types of meshio, and the effect on a body of cards that are not supported."""

from __future__ import annotations

from typing import NamedTuple

from ..contents import Change
from .cards import Card


class Form(NamedTuple):
    """A type of element: its cell types by their number of nodes, and the index of its first node in its fields."""

    cells: dict[int, str]
    first: int = 2


_TRIANGLE, _QUAD, _LINE = Form({3: "triangle"}), Form({4: "quad"}), Form({2: "line"})
_PYRAMID = Form({5: "pyramid"})
ELEMENTS = {
    "CTETRA": Form({4: "tetra", 10: "tetra10"}),
    "CHEXA": Form({8: "hexahedron", 20: "hexahedron20"}),
    "CPENTA": Form({6: "wedge"}),
    **dict.fromkeys(("CPYRAM", "CPYRA"), _PYRAMID),
    **dict.fromkeys(("CTRIA3", "CTRIAR"), _TRIANGLE),
    "CTRIA6": Form({3: "triangle", 6: "triangle6"}),
    **dict.fromkeys(("CQUAD4", "CQUADR", "CSHEAR"), _QUAD),
    "CQUAD8": Form({4: "quad", 8: "quad8"}),
    **dict.fromkeys(("CBAR", "CBEAM", "CROD", "CTUBE"), _LINE),
    "CONROD": Form({2: "line"}, 1),
}
ORDER = {
    "hexahedron20": (*range(12), *range(16, 20), *range(12, 16)),
}
"""Nastran indices of the nodes in meshio order; Nastran has the nodes of vertical edges before those of the top."""
STIFFNESS = (
    *("RBE1", "RBE2", "RBE3", "RBAR", "RBAR1", "RROD", "RTRPLT", "RTRPLT1", "RSPLINE", "RSSCON", "RJOINT", "RBODY"),
    *("MPC", "MPCAX", "CELAS1", "CELAS2", "CELAS3", "CELAS4", "CBUSH", "CBUSH1D", "CBUSH2D", "CGAP", "CWELD", "CFAST"),
    *("CSEAM", "CJOINT", "GENEL", "CDAMP1", "CDAMP2", "CDAMP3", "CDAMP4", "CVISC", "BGSET", "BCTSET", "TIE"),
)
MASS = (
    *("CMASS1", "CMASS2", "CMASS3", "CMASS4", "CONM1", "NSM", "NSM1", "NSML", "NSML1", "NSMADD", "DMIG", "DMIAX"),
    *("SEBULK", "CSUPER", "CSUPEXT", "EXTRN"),
)
SECTIONS = (
    *("PSHELL", "PCOMP", "PCOMPG", "PSHEAR", "PROD", "PBAR", "PBARL", "PBEAM", "PBEAML", "PBCOMP", "PTUBE", "PBEND"),
    *("PSOLID", "PLSOLID", "PCOMPS", "PLPLANE", "PRAC2D", "PRAC3D"),
)
"""Property cards of elements with stiffness and mass."""
OTHER = (
    *(
        "CORD1R",
        "CORD2R",
        "CAMPBELL",
        "CSSCHD",
        "CYAX",
        "CYJOIN",
        "CYSUP",
        "CYSYM",
        "CONV",
        "CONVM",
        "CHBDYE",
        "CHBDYG",
    ),
    *("CHBDYP", "CAERO1", "CAERO2", "CAERO3", "CAERO4", "CAERO5", "CREEP", "CLOAD", "CSET", "CSET1"),
)
"""Cards that begin with C and are not elements."""


MOST = {"CPENTA": 15, "CPYRAM": 13, "CPYRA": 13}
"""Number of nodes of elements of second degree that are not supported."""


def cell_of(card: Card) -> tuple[str, list[str]]:
    """Cell type and node numbers of an element. Raises ValueError, with the card, for missing nodes."""
    cells, first = ELEMENTS[card.name]
    words = card.fields[first : first + max(MOST.get(card.name, 0), *cells)]
    while words and words[-1] in ("", "0"):
        words.pop()
    kind = cells.get(len(words))
    if kind is None or "" in words or "0" in words:
        counts, got = " or ".join(map(str, cells)), " ".join(word or "-" for word in words)
        raise ValueError(f"{card} must have {counts} nodes, got {got or 'none'}")
    return kind, words


def change_of(name: str) -> Change | None:
    """Effect on a body of ignoring a card other than elements and grid points; None for loads, output and the like."""
    if name in STIFFNESS:
        return "stiffness"
    unknown = name.startswith("C") and name not in OTHER and not name.startswith("CORD")
    return "mass" if name in MASS or unknown else None
