"""Large solids: peak memory and time of their reduction by stage, assembly beside NGsolve's, Lanczos beside ARPACK's.

Process time of one thread: start it with OMP_NUM_THREADS=1. Each reduction runs in a process of its own. NGsolve (`pip
install ngsolve`) assembles both matrices of the same mesh, in turn with fem; the minimum of several rounds counts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse.linalg import LinearOperator, eigsh

import fem
from cases.solid_cantilever import LENGTH, MATERIAL, SIDE, bar
from fem.meshes.reading import solid_mesh
from fem.solids.elasticity import nodal_stiffness
from fem.solids.model import solid_model
from flexph.bodies import reduce_body
from flexph.bodies.held_body import AtRest, HeldBody
from flexph.linear.eigenmodes.lanczos import Complement, lanczos
from flexph.numerics.factors.positive_definite import PARDISO

MODES, SEARCHED, ROUNDS = 12, 18, 5
LIMIT, LARGEST = 5e9, 349_140
"""Memory that the reduction of so many coordinates may take [bytes]."""


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """A result and the seconds of process time it took."""
    clock = time.process_time()
    result = work()
    return result, time.process_time() - clock


def peak() -> float:
    """Peak memory of this process [bytes]."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def reduction(across: int) -> tuple[int, list[tuple[float, float]]]:
    """Coordinates, and seconds and peak memory of: the body, the factor with static responses, modes, the whole."""
    body, seconds = timed(lambda: bar("tetra", 2, across))
    stages = [(seconds, peak()), *vectors(HeldBody(body))]
    stages.append((timed(lambda: reduce_body(body, modes=MODES, static=("tip",)))[1], peak()))
    return body.size, stages


def vectors(held: HeldBody) -> list[tuple[float, float]]:
    """Seconds and peak memory of the static responses, with the factor, and of the modes."""
    work = (lambda: held.static(("tip",)), lambda: held.modes(MODES))
    return [(timed(each)[1], peak()) for each in work]


def searches(across: int) -> tuple[int, float, float]:
    """Coordinates, and seconds of the lowest modes by ARPACK and by blocks, on one factor."""
    body = bar("tetra", 2, across)
    pencil, n = AtRest(HeldBody(body)), body.size
    mass, none = pencil.m, Complement(pencil.m, np.zeros((body.size, 0)))
    inverse = LinearOperator((n, n), matvec=lambda b: pencil.velocities(b.reshape(n, 1)).ravel(), dtype=float)
    pencil.velocities(np.ones((n, 1)))  # factors
    start = np.random.default_rng(0).standard_normal(n)
    rounds = [
        (
            timed(lambda: eigsh(mass, k=SEARCHED, M=mass, sigma=0.0, OPinv=inverse, v0=start))[1],
            timed(lambda: lanczos(pencil, SEARCHED, none))[1],
        )
        for _ in range(2)
    ]
    arpack, blocks = np.min(rounds, axis=0)
    return n, arpack, blocks


def assembly(across: int) -> tuple[int, float, float | None]:
    """Nodal displacements, and seconds of mass and stiffness by fem and by NGsolve, None where it is missing."""
    mesh = fem.box_mesh((LENGTH, SIDE, SIDE), (10 * across, across, across), simplices=True)
    read, peer = solid_mesh(mesh, plane=False, degree=2), ngsolve_assembly(mesh) if find_spec("ngsolve") else None

    def both() -> None:
        model = solid_model(read, MATERIAL, plane=None, thickness=None)  # a new one, which has no matrices yet
        assert model.mass.nnz and nodal_stiffness(model).nnz

    rounds = [(timed(both)[1], timed(peer)[1] if peer else np.nan) for _ in range(ROUNDS)]
    own, theirs = np.min(rounds, axis=0)
    return read.points.size, own, None if peer is None else theirs


def ngsolve_assembly(mesh: Any) -> Callable[[], None]:
    """What assembles both matrices by NGsolve."""
    import ngsolve as ng
    from netgen.meshing import FaceDescriptor, Mesh

    ng.SetNumThreads(1)
    own = Mesh(dim=3)
    own.AddPoints(np.ascontiguousarray(mesh.p.T))
    own.Add(FaceDescriptor(surfnr=1, domin=1, bc=1))
    own.AddElements(dim=3, index=1, data=np.ascontiguousarray(mesh.t.T[:, [0, 1, 3, 2]], dtype=np.int32), base=0)
    space = ng.VectorH1(ng.Mesh(own), order=2)
    u, v = space.TnT()
    shear = MATERIAL.shear_modulus
    nu = MATERIAL.young / (2.0 * shear) - 1.0
    first = 2.0 * shear * nu / (1.0 - 2.0 * nu)
    strain = lambda w: ng.Sym(ng.Grad(w))  # noqa: E731 - one formula

    def both() -> None:
        stiffness, mass = ng.BilinearForm(space), ng.BilinearForm(space)
        stiffness += (2.0 * shear * ng.InnerProduct(strain(u), strain(v)) + first * ng.div(u) * ng.div(v)) * ng.dx
        mass += MATERIAL.density * u * v * ng.dx
        stiffness.Assemble()
        mass.Assemble()

    return both


def apart(work: Callable[[int], Any], across: int) -> Any:
    """The result of a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, across).result()


def print_reductions(given: list[int]) -> float:
    """The table of stages; returns the memory allowed over that taken at the largest mesh, 0 for a smaller one."""
    table = Table(title=f"P2 tetrahedra; {MODES} modes and 6 static responses; {'PARDISO' if PARDISO else 'SuperLU'}")
    for column in (
        "coordinates",
        "body s",
        "GB",
        "factor, statics s",
        "GB",
        "modes s",
        "GB",
        "all of it again s",
        "GB",
    ):
        table.add_column(column, justify="right")
    ratio = 0.0
    for across in given:
        size, stages = apart(reduction, across)
        table.add_row(str(size), *(text for s, m in stages for text in (f"{s:.1f}", f"{1e-9 * m:.2f}")))
        ratio = LIMIT / stages[-1][1] if size >= LARGEST else ratio
    Console(width=130).print(table)
    return ratio


def main() -> None:
    """Print the tables and the ratios."""
    words = argparse.ArgumentParser(description=__doc__)
    sizes = [5, 8, 11] if PARDISO else [3, 5]
    words.add_argument("--across", type=int, nargs="+", default=sizes, help="cells over the height of each mesh")
    given = words.parse_args().across
    memory = print_reductions(given)
    ratios = {"large-body-memory-5GB": memory} if memory else {}
    for across in given[:-1] or given:
        size, own, theirs = apart(assembly, across)
        peer = f"NGsolve {theirs:.2f} s" if theirs else "NGsolve is not installed"
        print(f"mass and stiffness of {size} displacements: {own:.2f} s; {peer}")
        size, arpack, blocks = apart(searches, across)
        print(f"{SEARCHED} modes of {size} coordinates on one factor: ARPACK {arpack:.2f} s, blocks {blocks:.2f} s")
        ratios |= {"solid-assembly-ngsolve": theirs / own} if theirs else {}
        ratios["block-lanczos-arpack"] = arpack / blocks
    for name, value in ratios.items():
        print(f"ratio {name} {value:.3g}")


if __name__ == "__main__":
    main()
