"""Natural frequencies of the flexible four-bar mechanism from plain displacement finite elements.

An independent reference for the tests, on numpy and scipy alone: two-node Euler-Bernoulli frame elements
in world coordinates (P1 axial, cubic Hermite transverse displacement, consistent mass, no rotary inertia).
The mechanism is that of A. Brugnoli et al., "Port-Hamiltonian flexible multibody dynamics", section 6.1:
the crank is clamped at its root, the three revolute joints share translations but not rotations, and the
two moving joints carry lumped masses.

K and M are never formed but kept as square roots, K = B' B (element by element, in strain modes) and
M = C' C; the singular values of C B^-1 are the 1/omega, the lowest frequencies coming from the largest ones.
Rounding then grows with the square root of the condition number of K: it stays below 1e-11 relative up to
128 elements per link, where eigh(M, K) is at 1e-9 and eigh(K, M) at 1e-7. What remains is the discretization
error, O(h^4) for bending with a small O(h^2) share of the axial strain.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular, svdvals


class FourBar(NamedTuple):
    """Four-bar data in SI units; link properties are ordered crank, coupler, follower."""

    ground: float  # distance of the two ground pivots, (0, 0) and (ground, 0)
    lengths: tuple[float, float, float]
    areas: tuple[float, float, float]
    bending: tuple[float, float, float]  # bending stiffnesses E I
    young: float
    density: float
    pin_mass: float  # lumped mass at each of the two moving joints


SI = FourBar(
    ground=0.254,
    lengths=(0.108, 0.2794, 0.2705),
    areas=(1.0774e-4, 4.0645e-5, 4.0645e-5),
    bending=(11.472, 0.616, 0.616),
    young=7.1e10,
    density=2714.0,
    pin_mass=0.042,
)

_IN = 0.0254
INCH = FourBar(
    ground=10 * _IN,
    lengths=(4.25 * _IN, 11 * _IN, 10.65 * _IN),
    areas=(0.167 * _IN**2, 0.063 * _IN**2, 0.063 * _IN**2),
    bending=tuple(71016000000.0 * second_moment * _IN**4 for second_moment in (3.881e-4, 2.084e-5, 2.084e-5)),
    young=71016000000.0,
    density=2714.4716,
    pin_mass=0.0419430,
)


def closed_angles(crank_angle: float, data: FourBar) -> tuple[float, float]:
    """Absolute angles (coupler, follower) that close the loop, each in (-pi, pi].

    The coupler points from the crank pin to the moving pin, the follower from the moving pin to the ground
    pivot (ground, 0). The moving pin lies to the left of the diagonal from crank pin to ground pivot, which
    is the branch above the ground line, continuous over the whole turn of the crank.
    """
    crank, coupler, follower = data.lengths
    diagonal = data.ground - crank * np.exp(1j * crank_angle)  # crank pin to ground pivot, complex plane
    span = abs(diagonal)
    cosine = (coupler**2 + span**2 - follower**2) / (2 * coupler * span)
    if not abs(cosine) <= 1:
        raise ValueError(f"the loop cannot be closed at crank angle {crank_angle}")
    coupler_vector = coupler * np.exp(1j * (np.angle(diagonal) + np.arccos(cosine)))
    return float(np.angle(coupler_vector)), float(np.angle(diagonal - coupler_vector))


def _element_roots(h: float, axial: float, bending: float, line_mass: float, angle: float):
    """Square roots (B, C) of element stiffness B' B and consistent mass C' C, on world (u, v, theta) x 2."""
    stretch = [-1, 0, 0, 1, 0, 0]  # elongation
    curl = [0, 0, -1, 0, 0, 1]  # constant curvature
    bow = [0, 2 / h, 1, 0, -2 / h, 1]  # linear curvature
    scales = np.sqrt([axial / h, bending / h, 3 * bending / h])
    b = scales[:, None] * np.array([stretch, curl, bow])

    mass = np.zeros((6, 6))
    mass[np.ix_([0, 3], [0, 3])] = line_mass * h / 6 * np.array([[2, 1], [1, 2]])
    mass[np.ix_([1, 2, 4, 5], [1, 2, 4, 5])] = line_mass * h / 420 * np.array([
        [156, 22 * h, 54, -13 * h],
        [22 * h, 4 * h**2, 13 * h, -3 * h**2],
        [54, 13 * h, 156, -22 * h],
        [-13 * h, -3 * h**2, -22 * h, 4 * h**2],
    ])  # fmt: skip
    c = np.linalg.cholesky(mass).T

    cos, sin = np.cos(angle), np.sin(angle)
    to_local = np.kron(np.eye(2), [[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    return b @ to_local, c @ to_local


def four_bar_frequencies(crank_angle_rad: float, elements: int, data: FourBar, count: int = 3) -> np.ndarray:
    """The `count` lowest natural frequencies (rad/s), with `elements` elements per link."""
    # Unknowns: 3 per node, link after link; a joint merges the translations of the two nodes that meet.
    nodes = elements + 1
    dofs = np.arange(9 * nodes).reshape(3, nodes, 3)
    dofs[1, 0, :2] = dofs[0, -1, :2]
    dofs[2, 0, :2] = dofs[1, -1, :2]
    fixed = [*dofs[0, 0], *dofs[2, -1, :2]]  # crank root clamped, follower tip pinned

    rows_b, rows_c = [], []

    def add(rows: list, block: np.ndarray, columns: np.ndarray) -> None:
        wide = np.zeros((len(block), dofs.size))
        wide[:, columns] = block
        rows.append(wide)

    for link, angle in enumerate((crank_angle_rad, *closed_angles(crank_angle_rad, data))):
        area = data.areas[link]
        b, c = _element_roots(
            data.lengths[link] / elements, data.young * area, data.bending[link], data.density * area, angle
        )
        for e in range(elements):
            columns = dofs[link, e : e + 2].ravel()
            add(rows_b, b, columns)
            add(rows_c, c, columns)
    for pin in (dofs[0, -1, :2], dofs[1, -1, :2]):
        add(rows_c, np.sqrt(data.pin_mass) * np.eye(2), pin)

    free = np.setdiff1d(dofs, fixed)
    r = qr(np.vstack(rows_b)[:, free], mode="r")[0][: len(free)]  # B = Q R, so K = R' R
    return 1 / svdvals(solve_triangular(r, np.vstack(rows_c)[:, free].T, trans="T"))[:count]  # of (C R^-1)'
