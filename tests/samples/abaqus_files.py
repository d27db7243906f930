"""Input files and matrix files in the shape in which other programs write them; shared by tests of fem and flexph."""

import itertools

import numpy as np
from solid_meshes import box

CPU = {"hexahedron": "C3D8", "hexahedron20": "C3D20", "tetra": "C3D4", "tetra10": "C3D10"}
MATERIAL = "*Material, name=STEEL\n*Density\n 7.8e+03,\n*Elastic\n 2.1e+11, 0.3\n"


def numbered(values, per_line=8):
    """Numbers with commas, some in each line."""
    values = [str(v) for v in values]
    return "".join(", ".join(values[i : i + per_line]) + "\n" for i in range(0, len(values), per_line))


def nodes_and_elements(mesh, kind, first=1):
    """The blocks *Node and *Element with numbers from ``first``."""
    (block,) = mesh.cells
    rows = [f"{first + i}, " + ", ".join(f"{x:.15g}" for x in at) for i, at in enumerate(mesh.points)]
    cells = [numbered([k + 1, *(first + row)], 11) for k, row in enumerate(block.data)]
    continued = ["".join(c.replace("\n", ",\n", c.count("\n") - 1)) for c in cells]
    return "*Node\n" + "\n".join(rows) + f"\n*Element, type={kind}\n" + "".join(continued)


def cantilever(counts=(4, 4, 3), kind="hexahedron", lengths=(1.0, 0.2, 0.15), element=None, first=1):
    """A box as Abaqus/CAE writes it: a part, an instance, sets and a surface of the assembly, a material."""
    mesh = box(kind, counts, lengths)
    cells = list(itertools.product(*(range(n) for n in counts)))
    at_root = [k + 1 for k, cell in enumerate(cells) if cell[0] == 0]
    at_tip = [k + 1 for k, cell in enumerate(cells) if cell[0] == counts[0] - 1]
    root = first + np.flatnonzero(mesh.points[:, 0] == 0.0)
    return mesh, (
        "*Heading\n** Job name: bar\n*Preprint, echo=NO\n*Part, name=Bar\n"
        + nodes_and_elements(mesh, element or CPU[kind], first)
        + f"*Nset, nset=Set-1, generate\n {first}, {first + len(mesh.points) - 1}, 1\n"
        + f"*Elset, elset=Set-1, generate\n 1, {len(cells)}, 1\n"
        + "** Section: steel\n*Solid Section, elset=Set-1, material=STEEL\n,\n*End Part\n"
        + "*Assembly, name=Assembly\n*Instance, name=Bar-1, part=Bar\n*End Instance\n"
        + "*Nset, nset=ROOT, instance=Bar-1\n"
        + numbered(root)
        + "*Elset, elset=_CLAMP_S6, internal, instance=Bar-1\n"
        + numbered(at_root)
        + "*Surface, type=ELEMENT, name=CLAMP\n_CLAMP_S6, S6\n"
        + "*Elset, elset=_TIP_S4, internal, instance=Bar-1\n"
        + numbered(at_tip)
        + "*Surface, type=ELEMENT, name=TIP\n_TIP_S4, S4\n*End Assembly\n"
        + MATERIAL
        + "*Boundary\nROOT, 1, 3\n*Step, name=Step-1, nlgeom=NO, perturbation\n*Frequency\n10, , , , ,\n*End Step\n"
    )
