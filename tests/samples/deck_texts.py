"""Two unit cubes side by side as decks of Abaqus and of Nastran; shared by tests of fem and rigid."""

CORNERS = [(float(x), float(y), float(z)) for x in (0, 1, 2) for y, z in ((0, 0), (1, 0), (1, 1), (0, 1))]
CELLS = [(1, 5, 6, 2, 4, 8, 7, 3), (5, 9, 10, 6, 8, 12, 11, 7)]
SECTOR = [(r, t, z) for z in (0.0, 1.0) for r, t in ((1.0, 0.0), (2.0, 0.0), (2.0, 30.0), (1.0, 30.0))]
"""A sector of 30° of a ring in r, θ [°], z: its prism of straight edges has the area (2² − 1²) sin(30°) / 2."""
NODE_LINES = "".join(f"{k}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(CORNERS, 1))
ELEMENT_LINES = "".join(f"{k}, {', '.join(map(str, cell))}\n" for k, cell in enumerate(CELLS, 1))
SECTION = "*Solid Section, elset=ALL, material=S\n,\n"
MATERIAL = "*Material, name=S\n*Density\n7850.,\n*Elastic\n2.1e11, 0.3\n"
ELEMENTS = f"*Element, type=C3D8, elset=ALL\n{ELEMENT_LINES}"
CUBES = f"*Node\n{NODE_LINES}{ELEMENTS}{SECTION}{MATERIAL}"
"""Of mass 15700 kg."""


def sector(keyword, coordinates=SECTOR):
    """One cell whose eight nodes are given after a keyword *NODE."""
    rows = "".join(f"{k}, {a}, {b}, {c}\n" for k, (a, b, c) in enumerate(coordinates, 1))
    return f"{keyword}\n{rows}*Element, type=C3D8, elset=ALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n{SECTION}{MATERIAL}"


def assembly(of_instance="", of_assembly=""):
    """The cubes as the part of an assembly that has a reference point with a set, and further lines."""
    return (
        f"*Part, name=P\n*Node\n{NODE_LINES}{ELEMENTS}{SECTION}*End Part\n*Assembly, name=A\n"
        f"*Instance, name=P-1, part=P\n{of_instance}*End Instance\n*Node\n 1, 5., .5, .5\n*Nset, nset=m_Set-1\n 1,\n"
        f"{of_assembly}*End Assembly\n{MATERIAL}"
    )


def grid(number, at, system=""):
    """A grid point in small fields."""
    return f"GRID    {number:<8}{system:<8}" + "".join(f"{x:<8.5g}" for x in at) + "\n"


def hexa(number, nodes, mark="+"):
    """An element of eight nodes in small fields on two lines."""
    words = [f"{n:<8}" for n in nodes]
    return f"CHEXA   {number:<8}{1:<8}{''.join(words[:6])}{mark}\n{mark:<8}{''.join(words[6:])}\n"


GRIDS = "".join(grid(k, at) for k, at in enumerate(CORNERS, 1))
HEXAS = "".join(hexa(k, cell) for k, cell in enumerate(CELLS, 1))
CYLINDER = (
    "CORD2C  1       0       0.      0.      0.      0.      0.      1.      +\n+       1.      0.      0.\n"
    + "".join(grid(k, at, 1) for k, at in enumerate(SECTOR, 1))
    + hexa(1, range(1, 9))
)


def bulk(body):
    """A file with executive and case control before its bulk data."""
    return f"SOL 103\nCEND\nTITLE = cubes\nBEGIN BULK\n{body}ENDDATA\n"
