"""Boxes and rectangles in every kind of cell, as meshio meshes; shared by tests/fem/solids."""

import itertools

import meshio
import numpy as np

from flexph.meshes.blocks import cell_blocks

TETS = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
EDGES = {
    "tetra": [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)],
    "hexahedron": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
    "wedge": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "pyramid": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)],
    "triangle": [(0, 1), (1, 2), (2, 0)],
    "quad": [(0, 1), (1, 2), (2, 3), (3, 0)],
}
PRISMS = ["wedge", "wedge15", "pyramid", "pyramid13"]
SOLID = ["tetra", "tetra10", "hexahedron", "hexahedron20", "hexahedron27", *PRISMS]
PLANE = ["triangle", "triangle6", "quad", "quad8", "quad9"]
FIRST = ["tetra", "hexahedron", "wedge", "pyramid", "triangle", "quad"]
DEGREE = dict.fromkeys(SOLID + PLANE, 2) | dict.fromkeys(FIRST, 1)


def grid(counts, lengths, moved=0.0):
    """Points and the corners of the boxes of a grid; inner points moved at random by a part of a step."""
    axes = [np.linspace(0.0, length, n + 1) for length, n in zip(lengths, counts, strict=True)]
    points = np.array(list(itertools.product(*axes)))
    index = np.arange(len(points)).reshape([n + 1 for n in counts])
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    order = square if len(counts) == 2 else [(*ij, k) for k in (0, 1) for ij in square]
    boxes = np.column_stack(
        [index[tuple(slice(i, i + n) for i, n in zip(at, counts, strict=True))].ravel() for at in order]
    )
    inner = np.all((points > 1e-12) & (points < np.array(lengths) - 1e-12), axis=1)
    step = np.array(lengths) / np.array(counts)
    points[inner] += moved * step * np.random.default_rng(0).uniform(-1.0, 1.0, (int(inner.sum()), len(counts)))
    return points, boxes


def with_nodes(points, cells, groups):
    """Cells with nodes at the means of groups of corners."""
    number, made = {}, [cells]
    for group in groups:
        keys = [tuple(key) for key in np.sort(cells[:, list(group)], axis=1).tolist()]
        for key in keys:
            number.setdefault(key, len(points) + len(number))
        made.append(np.array([number[key] for key in keys])[:, None])
    fresh = [points[list(key)].mean(axis=0) for key in number]
    return np.vstack([points, *fresh]), np.hstack(made)


FACES = [(0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)]


def crossed(points, cells):
    """Simplices around the middle of each square, or of each cube and its faces: as symmetric as the grid."""
    if cells.shape[1] == 4:
        points, cells = with_nodes(points, cells, [(0, 1, 2, 3)])
        return points, np.vstack([cells[:, [i, (i + 1) % 4, 4]] for i in range(4)])
    points, cells = with_nodes(points, cells, [*FACES, tuple(range(8))])
    pieces = [(face[i], face[(i + 1) % 4], 8 + k, 14) for k, face in enumerate(FACES) for i in range(4)]
    return points, np.vstack([cells[:, list(piece)] for piece in pieces])


def box(kind, counts, lengths, moved=0.0, *, symmetric=False):
    """A box or a rectangle of one kind of cell, named regions by sets of points: left, right and so on."""
    shape = kind.rstrip("0123456789")
    points, cells = grid(counts, lengths, moved)
    if symmetric and shape in ("tetra", "triangle"):
        points, cells = crossed(points, cells)
    elif shape == "tetra":
        cells = np.vstack([cells[:, piece] for piece in TETS])
    elif symmetric and shape == "wedge":
        points, cells = with_nodes(points, cells, [(0, 1, 2, 3), (4, 5, 6, 7)])
        around = [(i, (i + 1) % 4) for i in range(4)]
        cells = np.vstack([cells[:, [i, j, 8, 4 + i, 4 + j, 9]] for i, j in around])
    elif shape == "wedge":
        cells = np.vstack([cells[:, [0, 1, 2, 4, 5, 6]], cells[:, [0, 2, 3, 4, 6, 7]]])
    elif shape == "pyramid":
        points, cells = with_nodes(points, cells, [tuple(range(8))])
        cells = np.vstack([cells[:, [*face[::-1], 8]] for face in FACES])
    elif shape == "triangle":
        cells = np.vstack([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]])
    groups = [] if kind == shape else list(EDGES[shape])
    if kind == "quad9":
        groups += [(0, 1, 2, 3)]
    if kind == "hexahedron27":  # faces in the order of VTK
        faces = [(0, 3, 4, 7), (1, 2, 5, 6), (0, 1, 4, 5), (2, 3, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7)]
        groups += [*faces, tuple(range(8))]
    points, cells = with_nodes(points, cells, groups)
    names = ("left", "right", "front", "back", "bottom", "top")
    sides = [(i, end) for i in range(len(counts)) for end in (0.0, lengths[i])]
    sets = {
        name: np.flatnonzero(np.abs(points[:, i] - end) < 1e-9) for name, (i, end) in zip(names, sides, strict=False)
    }
    return meshio.Mesh(
        np.pad(points, [(0, 0), (0, 3 - points.shape[1])]), cell_blocks([(kind, cells)]), point_sets=sets
    )


def plane_of(kind):
    """What :func:`fem.solid` needs beside for this kind of cell."""
    return {"plane": "stress", "thickness": 0.3} if kind in PLANE else {}
