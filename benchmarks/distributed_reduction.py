"""Reductions of a bar under MPI: coordinates, seconds of each stage, peak memory of each rank, one row a run.

    mpiexec -n 2 python benchmarks/distributed_reduction.py --across 8 --solver factor

The bar is that of benchmarks/large_body.py: 1 × 0.1 × 0.1 m, tetrahedra with ten nodes, held at one end; 12 modes and
the six static responses of the other end. Wall time; set OMP_NUM_THREADS=1.
"""

import argparse
import resource

import fem
from cases.solid_cantilever import LENGTH, MATERIAL, SIDE
from fem.distributed.ranks import ending_all, world
from fem.distributed.reduction import Choices, reduce_distributed


def main() -> None:
    """Print one row."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--across", type=int, default=5, help="cells over the height, ten times as many along the bar")
    words.add_argument("--solver", choices=["factor", "multigrid"], default="factor")
    words.add_argument("--modes", type=int, default=12)
    given = words.parse_args()
    comm = world()
    with ending_all(comm):
        count, shape = given.across, {"reference": "root", "degree": 2, "plane": None, "thickness": None}
        mesh = fem.box_mesh((LENGTH, SIDE, SIDE), (10 * count, count, count), simplices=True) if not comm.rank else None
        choices = Choices(given.modes, ("tip",), solver=given.solver)
        ports = {"root": "left", "tip": "right"}
        result = reduce_distributed(comm, mesh, MATERIAL, ports=ports, choices=choices, **shape)
        peaks = comm.gather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        if result is not None:
            stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in result.stages.items())
            print(f"{result.size} coordinates, {comm.size} ranks, {given.solver}: {stages} s; {peaks} MB")


if __name__ == "__main__":
    main()
