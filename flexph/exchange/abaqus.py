"""Reduced bodies as substructures of Abaqus: mass and stiffness matrices over nodes at their ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ..bodies.body import Body
from ..bodies.held_body import HeldBody
from ..bodies.inertia import contract
from ..files.durable import staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.ranks import null_space
from ..numerics.rotations import skew

INDEPENDENT = 1e-9
"""Singular value of the motions of ports, relative to the largest one, below which they depend on each other."""
NAME = re.compile(r"[A-Za-z]\w{0,79}")


class Substructure(NamedTuple):
    """Mass and stiffness matrices of a body for the motions of its ports and the modes with these ports fixed.

    Attributes
    ----------
    ports : tuple of str
        Ports; each has three displacements [m] and three rotations [rad].
    positions : array
        Positions (p, 3) of the ports in body axes [m].
    frequencies : array
        Frequencies (k,) of the modes with all ports fixed [rad/s].
    mass, stiffness : array
        Matrices (6p + k, 6p + k); modes have unit mass.
    """

    ports: tuple[str, ...]
    positions: Array
    frequencies: Array
    mass: Array
    stiffness: Array

    def __repr__(self) -> str:
        lowest = f", the lowest at {self.frequencies[0]:.6g} rad/s" if len(self.frequencies) else ""
        return f"<Substructure: ports {', '.join(self.ports)}, {len(self.frequencies)} modes with them held{lowest}>"


@checked
def to_abaqus(
    path: str | Path, body: Body, *, ports: Sequence[str] | None = None, name: str = "BODY", first_node: int = 1
) -> Substructure:
    """Write mass and stiffness of a reduced body, linearised at the undeformed body, as ``*MATRIX INPUT`` of Abaqus.

    Motions p of the ports and modal coordinates η replace the rigid motion r and the deformation u of the body, z = (r,
    u):

        z = T₀ p + N Φ η,   T z = p,   T N = 0,   NᵀK T₀ = 0

    with the matrix T from z to the motions of the ports, the stiffness K over z, motions N that leave the ports at
    rest, modes N Φ with the ports fixed, and static motions T₀ at unit motions of the ports. This is the method of R.
    R. Craig, M. C. C. Bampton, Coupling of substructures for dynamic analyses, AIAA J. 6 (1968) 1313-1319.

    The file has a node with six degrees of freedom and a set of nodes for each port, a node for each mode, whose first
    degree of freedom is its coordinate, and the matrices; ``*INCLUDE`` it in a model in units of m, kg, s. Damping and
    loads are left out.

    Parameters
    ----------
    path : path
        File to write, ``.inp``; it is replaced.
    body : Body
        A flexible body in space whose ports move independently, such as one of
        ``reduce_body(body, modes=6, static=[…])`` with the names of all ports except that of its reference.
    ports : sequence of str, optional
        Ports with nodes; by default all.
    name : str
        Prefix of the names of both matrices and of the sets of nodes, ``NAME_PORT``.
    first_node : int
        Number of the first node; further nodes have the next numbers. The numbers must not occur in the model or in
        files of other bodies, because nodes of equal number are one node in Abaqus.

    Returns
    -------
    Substructure
        The written matrices.

    Raises
    ------
    ValueError
        For a rigid or planar body, unknown ports and those without a rotation, ports that do not move independently,
        and a name that Abaqus does not take.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import fem
    >>> from flexph.bodies import reduce_body
    >>> from flexph.exchange import to_abaqus
    >>> steel = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
    >>> beam = fem.beam(1.0, steel, fem.Section(diameter=0.02), elements=4, dim=3)
    >>> written = to_abaqus(f"{mkdtemp()}/beam.inp", reduce_body(beam, modes=4, static=["tip"]))
    >>> written.ports, len(written.frequencies)
    (('root', 'tip'), 4)
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"name must begin with a letter, and have letters, digits and _ only, got {name!r}")
    check.count("first_node", first_node)
    found = substructure(body, tuple(body.ports) if ports is None else tuple(ports))
    with staged(Path(path)) as part:
        part.write_text("\n".join(_lines(found, name, first_node)) + "\n", encoding="ascii")
    return found


def substructure(body: Body, ports: tuple[str, ...]) -> Substructure:
    """Mass and stiffness matrices of a flexible body over the motions of its ports and the modes with fixed ports.

    Raises ValueError for a rigid or planar body, and for ports that do not move independently.
    """
    if body.dim != 3 or not body.size:
        raise ValueError(f"body must be flexible and in space, got {body!r}")
    if not ports:
        raise ValueError("ports must name a port or more, got none")
    motions = np.vstack([_motion(body, name) for name in ports])
    values = np.linalg.svd(motions / np.linalg.norm(motions, axis=1)[:, None], compute_uv=False)
    if len(values) < len(motions) or values[-1] < INDEPENDENT * values[0]:
        raise ValueError(
            f"ports must move independently, got {', '.join(ports)} on {body.size} deformations: "
            f"reduce the body with static=[…], the names of all ports but the one that it is held at"
        )
    M, K = _matrices(body)
    free = null_space(motions).toarray()
    squares, shapes = eigh(free.T @ K @ free, free.T @ M @ free)
    modes = free @ shapes
    held = np.linalg.pinv(motions)
    static = held - modes @ ((modes.T @ K @ held) / squares[:, None])
    basis = np.hstack([static, modes])
    positions = np.array([body.ports[name].position for name in ports])
    both = [0.5 * (A + A.T) for A in (basis.T @ M @ basis, basis.T @ K @ basis)]
    return Substructure(ports, positions, np.sqrt(squares), *both)


def _motion(body: Body, name: str) -> Array:
    """Matrix (6, 6 + n) from rigid motion and deformation of a body to displacement and rotation of a port."""
    port = check.lookup("port", name, body.ports)
    if port.rotation is None:
        raise ValueError(f"ports must have a rotation, got {name!r}, a point without one")
    turned = -skew(np.asarray(port.position)[None], 3)[0]  # θ × X = −X × θ
    moved = np.hstack([np.eye(3), turned, port.shape.toarray()])
    return np.vstack([moved, np.hstack([np.zeros((3, 3)), np.eye(3), port.rotation.toarray()])])


def _matrices(body: Body) -> tuple[Array, Array]:
    """Mass and stiffness matrices (6 + n, 6 + n) for displacement of the body's origin, small rotation, deformation."""
    inertia, held = body.inertia, HeldBody(body)
    about = contract(inertia, about_centre=False)
    turned = -skew(np.asarray(inertia.first)[None], 3)[0]
    moved, spun = inertia.shape_first, about.n
    M = np.block(
        [
            [inertia.mass * np.eye(3), turned, moved],
            [turned.T, about.J, spun],
            [moved.T, spun.T, _dense(held.mass)],
        ]
    )
    strain, compliance = _dense(held.strain), _dense(held.elastic.compliance)
    K = np.zeros_like(M)
    K[6:, 6:] = strain.T @ np.linalg.solve(compliance, strain)
    return M, K


def _dense(matrix: object) -> Array:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def _lines(found: Substructure, name: str, first: int) -> Iterator[str]:
    """Yield the lines of the file for a substructure.

    ``name`` is the prefix of the names of its matrices and sets of nodes, ``first`` the number of its first node.
    """
    count, modes = len(found.ports), len(found.frequencies)
    yield f"** {name}: a reduced body with {count} ports and {modes} modes with the ports held, in m, kg, s"
    yield "*NODE"
    middle = found.positions.mean(axis=0)
    for number, place in enumerate([*found.positions, *[middle] * modes], first):
        yield f"{number}, " + ", ".join(f"{x:.16e}" for x in place)
    for number, port in enumerate(found.ports, first):
        yield f"*NSET, NSET={name}_{re.sub(r'[^A-Za-z0-9_]', '_', port)}"
        yield f"{number},"
    labels = [(node, freedom) for node in range(first, first + count) for freedom in range(1, 7)]
    labels += [(first + count + k, 1) for k in range(modes)]
    for kind, matrix in (("STIFFNESS", found.stiffness), ("MASS", found.mass)):
        yield f"*MATRIX INPUT, NAME={name}_{kind}"
        for j, (node, freedom) in enumerate(labels):
            for i in np.flatnonzero(matrix[: j + 1, j]).tolist():
                yield f"{labels[i][0]}, {labels[i][1]}, {node}, {freedom}, {matrix[i, j]:.16e}"
    yield f"*MATRIX ASSEMBLE, STIFFNESS={name}_STIFFNESS, MASS={name}_MASS"
