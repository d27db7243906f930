"""Loads on the nodes of a body, and their input file for Abaqus and CalculiX with mesh and supports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..bodies.body import Body
from ..bodies.nodal_mesh import MeshMaterial, NodalMesh
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..numerics.ranks import pivots
from ..numerics.rotations import rigid_motions

TYPES = {
    "tetra": "C3D4",
    "tetra10": "C3D10",
    "hexahedron": "C3D8",
    "hexahedron20": "C3D20",
    "hexahedron27": "C3D27",
    "wedge": "C3D6",
    "wedge15": "C3D15",
    "pyramid": "C3D5",
}
"""Element types by the meshio type of their cells."""
ORDER = {"hexahedron27": [*range(20), 26, 24, 25, 22, 21, 23, 20]}
"""Nodes in the order of a deck where it is another one: the centre, and the middles of the faces S1 to S6."""
PLACES = (0, 1, 2, 5, 4, 3)
"""Components 11, 22, 33, 12, 13, 23 of a deck among (xx, yy, zz, yz, xz, xy)."""
WIDTH = 12
"""Largest number of values in a line of a deck."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LoadSteps:
    """Loads on the N nodes of a body at k times, in body axes, in equilibrium with inertia forces.

    Attributes
    ----------
    body : str
        Name of the body.
    times : array
        Times (k,) [s].
    points : array
        Nodes (N, 3) of the undeformed mesh [m].
    ports : mapping
        Force, and moment about the port, (k, 6) [N, N m], by port.
    forces : array
        Sum (k, N, 3) of the nodal forces of ports, load ports and inertia [N].
    acceleration : array
        Acceleration of the centre of mass minus gravity, (k, 3) [m/s²].
    spin : array
        Angular velocity of the body (k, 3) [rad/s].
    spin_rate : array
        Angular acceleration (k, 3) [rad/s²] of the undeformed body under these loads.
    """

    body: str
    times: Array
    points: Array
    ports: Mapping[str, Array]
    forces: Array
    acceleration: Array
    spin: Array
    spin_rate: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "ports", read_only(self.ports))

    def __repr__(self) -> str:
        count = f"{len(self.times)} times, {len(self.points)} nodes"
        return f"<LoadSteps of {self.body}: {count}, ports {', '.join(self.ports)}>"

    @property
    def resultant(self) -> Array:
        """Resultant force and moment about the origin, (k, 6) [N, N m], which are zero up to round-off."""
        motions = rigid_motions(self.points).reshape(self.points.size, -1)
        return np.asarray(self.forces.reshape(len(self.times), -1) @ motions)


def deck_lines(found: LoadSteps, body: Body, mesh: NodalMesh) -> Iterator[str]:
    """Yield the lines of the input file of Abaqus: mesh, couplings of rigid ports, supports, a step for each time."""
    count = len(found.points)
    yield "*HEADING"
    yield f"{found.body}: loads of a run at {len(found.times)} times, in body axes, m, kg, s"
    yield "*NODE, NSET=NALL"
    for number, x in enumerate(found.points, 1):
        yield f"{number}, " + _numbers(x)
    yield from _cells(mesh)
    ports = {name: mesh.ports[name] for name in mesh.ports if mesh.ports[name].rigid}
    for number, (name, port) in enumerate(ports.items(), 1):
        yield "*NODE"
        yield f"{count + number}, " + _numbers(body.ports[name].position)
        yield f"*SURFACE, TYPE=NODE, NAME=PORT_{number}"
        yield from (f"{node + 1}," for node in port.nodes)
        yield f"** port {_ascii(name)}"
        yield f"*COUPLING, CONSTRAINT NAME=RIGID_{number}, REF NODE={count + number}, SURFACE=PORT_{number}"
        yield from ("*KINEMATIC", "1, 3")
    yield "** six supports against rigid motion; they carry nothing"
    yield "*BOUNDARY"
    held = np.concatenate([port.nodes for port in ports.values()]) if ports else np.zeros(0, dtype=int)
    for node, direction in supports(found.points, held):
        yield f"{node + 1}, {direction + 1}"
    for row in range(len(found.times)):
        yield from _step(found, row)


def supports(points: Array, held: Array) -> list[tuple[int, int]]:
    """Six supports (node, direction 0 to 2) that fix a body, at which rigid motions are as independent as possible.

    ``points`` (N, 3): positions of the nodes. None of the supports is at nodes with indices in ``held``, which are
    coupled to ports, unless almost all nodes are.
    """
    lever = points - points.mean(axis=0)
    rows = rigid_motions(lever / np.abs(lever).max()).reshape(points.size, -1).copy()
    free = np.setdiff1d(np.arange(len(points)), held)
    chosen = (3 * (free if len(free) > 3 else np.arange(len(points)))[:, None] + np.arange(3)).ravel()
    best = chosen[pivots(rows[chosen].T)[:6]]
    return [(int(k) // 3, int(k) % 3) for k in np.sort(best)]


def _cells(mesh: NodalMesh) -> Iterator[str]:
    """Yield the lines of elements by type and material, of materials and of sections."""
    number = 1
    for block in mesh.cells:
        if block.kind not in TYPES:
            raise ValueError(f"cells must be of types that Abaqus has, {', '.join(TYPES)}, got {block.kind}")
        for material in np.unique(block.material):
            yield f"*ELEMENT, TYPE={TYPES[block.kind]}, ELSET=E{material + 1}"
            cells = block.nodes[block.material == material] + 1
            for nodes in cells[:, ORDER.get(block.kind, slice(None))]:
                yield from _listed([number, *nodes.tolist()])
                number += 1
    for k, material in enumerate(mesh.materials, 1):
        yield f"*MATERIAL, NAME=M{k}"
        yield from _elastic(material)
        yield from ("*DENSITY", f"{material.density:.16e}", f"*SOLID SECTION, ELSET=E{k}, MATERIAL=M{k}", ",")


def _elastic(material: MeshMaterial) -> Iterator[str]:
    """Yield the lines of the elastic moduli D_1111, D_1122, D_2222, …: the upper triangle by columns."""
    D = material.moduli[np.ix_(PLACES, PLACES)]
    yield "*ELASTIC, TYPE=ANISO"
    values = [D[i, j] for j in range(6) for i in range(j + 1)]
    yield from (_numbers(values[k : k + 8]) for k in range(0, len(values), 8))


def _step(found: LoadSteps, row: int) -> Iterator[str]:
    """Yield the lines of a static step with the nodal forces at the time of index ``row``.

    Comments contain the motion of the body, and force and moment at its ports.
    """
    yield f"** t = {found.times[row]:.9g} s"
    yield f"** acceleration of the centre of mass minus gravity [m/s2]: {_numbers(found.acceleration[row])}"
    yield f"** angular velocity [rad/s]: {_numbers(found.spin[row])}"
    yield f"** angular acceleration of the undeformed body [rad/s2]: {_numbers(found.spin_rate[row])}"
    for name, wrench in found.ports.items():
        yield f"** force [N] and moment [N m] at port {_ascii(name)}: {_numbers(wrench[row])}"
    yield from ("*STEP", "*STATIC", "1., 1.", "*CLOAD, OP=NEW")
    for node, force in enumerate(found.forces[row], 1):
        for direction in np.flatnonzero(force).tolist():
            yield f"{node}, {direction + 1}, {force[direction]:.16e}"
    yield from ("*NODE FILE", "U", "*EL FILE", "S", "*END STEP")


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{x:.16e}" for x in values)


def _listed(values: list[int]) -> Iterator[str]:
    """Yield lines of integers.

    All lines except the last end with a comma.
    """
    parts = [values[k : k + WIDTH] for k in range(0, len(values), WIDTH)]
    for k, part in enumerate(parts):
        yield ", ".join(map(str, part)) + ("," if k < len(parts) - 1 else "")


def _ascii(name: str) -> str:
    return name.encode("ascii", "replace").decode()
