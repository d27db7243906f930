"""Decks of one mesh in the forms of Abaqus, Nastran, Ansys and I-DEAS, as their programs order nodes."""

import numpy as np

E, NU, RHO = 2.1e11, 0.3, 7800.0
INP = {
    **{"tetra": "C3D4", "tetra10": "C3D10", "hexahedron": "C3D8", "hexahedron20": "C3D20"},
    **{"wedge": "C3D6", "wedge15": "C3D15", "pyramid": "C3D5"},
}
BDF = {
    **{"tetra": "CTETRA", "tetra10": "CTETRA", "hexahedron": "CHEXA", "hexahedron20": "CHEXA"},
    **{"wedge": "CPENTA", "wedge15": "CPENTA", "pyramid": "CPYRAM", "pyramid13": "CPYRAM"},
}
VERTICAL = {"hexahedron20": (*range(12), *range(16, 20), *range(12, 16)), "wedge15": (*range(9), 12, 13, 14, 9, 10, 11)}
"""Nastran has the nodes of vertical edges before those at the top."""
CDB = {
    **{"tetra": (285, (0, 1, 2, 3)), "tetra10": (187, tuple(range(10))), "hexahedron": (185, tuple(range(8)))},
    **{"hexahedron20": (186, tuple(range(20))), "wedge": (185, (0, 1, 2, 2, 3, 4, 5, 5))},
    **{"pyramid": (185, (0, 1, 2, 3, 4, 4, 4, 4))},
    "wedge15": (186, (0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 2, 8, 9, 10, 5, 11, 12, 13, 14, 14)),
    "pyramid13": (186, (0, 1, 2, 3, 4, 4, 4, 4, 5, 6, 7, 8, 4, 4, 4, 4, 9, 10, 11, 12)),
}
"""Element type, and nodes of a hexahedron whose corners coincide (Ansys Element Reference, SOLID186)."""
UNV = {
    **{"tetra": (111, range(4)), "hexahedron": (115, range(8)), "wedge": (112, range(6))},
    "tetra10": (118, (0, 4, 1, 5, 2, 6, 7, 8, 9, 3)),
    "hexahedron20": (116, (0, 8, 1, 9, 2, 10, 3, 11, 16, 17, 18, 19, 4, 12, 5, 13, 6, 14, 7, 15)),
    "wedge15": (113, (0, 6, 1, 7, 2, 8, 12, 13, 14, 3, 9, 4, 10, 5, 11)),
}
"""Element number of data set 2412, and its nodes: around the bottom, up the edges, around the top."""
FORMS = {"inp": INP, "bdf": BDF, "cdb": CDB, "unv": UNV}


def root(mesh):
    """Numbers of the nodes at x = 0."""
    return 1 + np.flatnonzero(np.abs(mesh.points[:, 0]) < 1e-9)


def deck(form, mesh):
    """Text of a deck: the cells with a material, and the nodes at x = 0 as ROOT."""
    (block,) = mesh.cells
    return {"inp": _inp, "bdf": _bdf, "cdb": _cdb, "unv": _unv}[form](mesh, block.type, 1 + np.asarray(block.data))


def _rows(words, per_line, ends=",\n"):
    words = list(map(str, words))
    return ends.join(", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line))


def _inp(mesh, kind, cells):
    nodes = "".join(f"{k}, {x:.15g}, {y:.15g}, {z:.15g}\n" for k, (x, y, z) in enumerate(mesh.points, 1))
    elements = "".join(f"{_rows([k, *cell], 10)}\n" for k, cell in enumerate(cells, 1))
    return (
        f"*Node\n{nodes}*Element, type={INP[kind]}, elset=ALL\n{elements}*Nset, nset=ROOT\n{_rows(root(mesh), 10)}\n"
        f"*Solid Section, elset=ALL, material=S\n,\n*Material, name=S\n*Density\n{RHO},\n*Elastic\n{E}, {NU}\n"
    )


def _bdf(mesh, kind, cells):
    """Large fields for nodes, free ones for all else."""
    lines = []
    for k, (x, y, z) in enumerate(mesh.points, 1):
        lines += [f"{'GRID*':<8}{k:<16}{'':<16}{x:<16.9g}{y:<16.9g}*", f"{'*':<8}{z:<16.9g}"]
    for k, cell in enumerate(cells, 1):
        words = [BDF[kind], k, 1, *(cell[list(VERTICAL[kind])] if kind in VERTICAL else cell)]
        lines.append(",".join(map(str, words[:9])))
        lines += ["," + ",".join(map(str, words[i : i + 8])) for i in range(9, len(words), 8)]
    return "\n".join(["BEGIN BULK", *lines, "PSOLID,1,7", f"MAT1,7,{E:.3E},,{NU},{RHO}", "ENDDATA"]) + "\n"


def _cdb(mesh, kind, cells):
    number, order = CDB[kind]
    lines = ["/PREP7", "*IF,_CDRDOFF,EQ,1,THEN     !if solid model was read in", "NUMOFF,NODE,  10", "*ENDIF"]
    lines += [f"ET,  1,{number}", f"NBLOCK,6,SOLID,{len(mesh.points):9d},{len(mesh.points):9d}", "(3i9,6e21.13e3)"]
    for k, (x, y, z) in enumerate(mesh.points, 1):
        lines.append(f"{k:9d}{0:9d}{0:9d}{x:21.13E}{y:21.13E}{z:21.13E}".rstrip())
    lines += ["N,R5.3,LOC,       -1,", f"EBLOCK,19,SOLID,{len(cells):9d},{len(cells):9d}", "(19i9)"]
    for k, cell in enumerate(cells, 1):
        nodes = [int(cell[i]) for i in order]
        words = [1, 1, 1, 1, 0, 0, 0, 0, len(nodes), 0, k, *nodes]
        lines += ["".join(f"{word:9d}" for word in part) for part in (words[:19], words[19:]) if part]
    own = root(mesh)
    lines += ["       -1", f"CMBLOCK,ROOT    ,NODE,{len(own):8d}  ! users node component definition", "(8i10)"]
    lines += ["".join(f"{n:10d}" for n in own[i : i + 8]) for i in range(0, len(own), 8)]
    for label, value in (("EX", E), ("NUXY", NU), ("DENS", RHO)):
        lines += ["MPTEMP,R5.0, 1, 1,  0.00000000    ,", f"MPDATA,R5.0, 1,{label:<4},       1, 1, {value:.9E},"]
    return "\n".join([*lines, "/GO", "FINISH"]) + "\n"


def _unv(mesh, kind, cells):
    number, order = UNV[kind]
    wide = lambda *words: "".join(f"{word:10d}" for word in words)  # noqa: E731
    lines = ["    -1", "   164", "         1  SI: Meter (newton)         2", "    1.0000000000000000E+0" * 3]
    lines += ["    2.7314999999999998E+2", "    -1", "    -1", "  2411"]
    for k, (x, y, z) in enumerate(mesh.points, 1):
        lines += [wide(k, 1, 1, 11), f"{x:25.16E}{y:25.16E}{z:25.16E}".replace("E", "D")]
    lines += ["    -1", "    -1", "  2412"]
    for k, cell in enumerate(cells, 1):
        nodes = [int(cell[i]) for i in order]
        lines += [wide(k, number, 2, 1, 7, len(nodes)), *(wide(*nodes[i : i + 8]) for i in range(0, len(nodes), 8))]
    own = root(mesh)
    lines += ["    -1", "    -1", "  2467", wide(1, 0, 0, 0, 0, 0, 0, len(own)), "ROOT"]
    lines += [wide(*(w for n in own[i : i + 2] for w in (7, int(n), 0, 0))) for i in range(0, len(own), 2)]
    return "\n".join([*lines, "    -1"]) + "\n"
