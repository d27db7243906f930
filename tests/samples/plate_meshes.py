"""Meshes of rectangles for plates, and exact frequencies; shared by tests/fem/plates."""

import meshio
import numpy as np
from scipy.linalg import eigh

import fem
from fem.meshes.reading import solid_mesh
from fem.plates.model import plate_model
from fem.solids.model import solid_model

KINDS = ("triangle", "quad")
THEORIES = ("kirchhoff", "reissner_mindlin")
SOFT = fem.Material(young=12.0 * (1.0 - 0.3**2), density=1.0, poisson=0.3)  # D = t³, unit length, ρ = 1


def rectangle(kind, counts, lengths=(1.0, 1.0), moved=0.0):
    """A rectangle with sides left, right, front, back; inner nodes moved at random by a part of a step."""
    mesh = fem.box_mesh(lengths, counts, simplices=kind == "triangle")
    inner = np.all((mesh.p > 1e-12) & (mesh.p < np.array(lengths)[:, None] - 1e-12), axis=0)
    step = np.array(lengths) / np.array(counts)
    points = mesh.p.copy()
    points[:, inner] += moved * step[:, None] * np.random.default_rng(0).uniform(-1.0, 1.0, (2, int(inner.sum())))
    return type(mesh)(points, mesh.t).with_boundaries(
        {
            "left": lambda x: x[0] < 1e-9,
            "right": lambda x: x[0] > lengths[0] - 1e-9,
            "front": lambda x: x[1] < 1e-9,
            "back": lambda x: x[1] > lengths[1] - 1e-9,
        }
    )


def rim(lengths=(1.0, 1.0)):
    """The whole boundary of the rectangle."""
    return lambda x: np.any([x[i] < 1e-9 for i in (0, 1)] + [x[i] > lengths[i] - 1e-9 for i in (0, 1)], axis=0)


def mixed(moved=0.0):
    """Two quadrilaterals and four triangles in one meshio mesh of the unit square."""
    x = np.array([[0, 0], [0.5, 0], [1, 0], [0, 0.5], [0.5, 0.5], [1, 0.5], [0, 1], [0.5, 1], [1, 1]], dtype=float)
    x[4] += moved
    quads, triangles = [[0, 1, 4, 3], [1, 2, 5, 4]], [[3, 4, 7], [3, 7, 6], [4, 5, 8], [4, 8, 7]]
    return meshio.Mesh(np.pad(x, [(0, 0), (0, 1)]), [("quad", quads), ("triangle", triangles)])


def model(mesh, theory="kirchhoff", thickness=0.1, material=SOFT, rotary=True):
    """The model of a plate before ports and references, over all coordinates."""
    read = solid_mesh(mesh, plane=True, degree=None).of_degree_two()
    solid = solid_model(read, material, plane="stress", thickness=1.0)
    return plate_model(solid, thickness, theory, rotary=rotary, correction=5.0 / 6.0)


def mindlin(t, count, k=5.0 / 6.0, nu=0.3):
    """Frequencies of the simply supported unit square with D = t³, ρ = 1: w, β_x, β_y in sines and cosines, exact."""
    young = 12.0 * (1.0 - nu**2)
    bend, shear, spin = t**3, k * young / (2.0 * (1.0 + nu)) * t, t**3 / 12.0
    found = []
    for a, b in np.pi * np.array([(m, n) for m in range(1, 8) for n in range(1, 8)]):
        gamma = np.array([[a, -1.0, 0.0], [b, 0.0, -1.0]])
        xx, yy, xy = np.array([0.0, a, 0.0]), np.array([0.0, 0.0, b]), np.array([0.0, b, a])
        K = shear * gamma.T @ gamma + bend * (np.outer(xx, xx) + np.outer(yy, yy) + nu * np.outer(xx, yy))
        K = K + bend * (nu * np.outer(yy, xx) + 0.5 * (1.0 - nu) * np.outer(xy, xy))
        found.append(np.sqrt(eigh(K, np.diag([t, spin, spin]), eigvals_only=True)[0]))
    return np.sort(found)[:count]
