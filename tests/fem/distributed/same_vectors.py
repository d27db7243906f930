"""On ranks of MPI: mass integrals of a distributed reduction against those of one process for the same vectors."""

import sys

import numpy as np

import fem
from fem.distributed.ranks import ending_all, world
from fem.distributed.reduction import ReductionOptions, reduce_distributed
from flexph.bodies import reduce_body

SHAPE = {"reference": "hinge", "degree": 2, "plane": None, "thickness": None}


def main() -> None:
    """Raise AssertionError on rank 0 where they differ."""
    material, ports = fem.Material(young=2e9, density=1200.0, poisson=0.35), {"hinge": "fixed", "end": "end"}
    comm = world()
    with ending_all(comm):
        choices = ReductionOptions(6, ("end",), inertia=True)
        result = reduce_distributed(comm, sys.argv[1], material, ports=ports, choices=choices, **SHAPE)
        if result is None:
            return
        full = fem.solid(sys.argv[1], material, ports=ports, **SHAPE)
        nodal = result.body.view.shape.toarray()  # over the nodes; over the coordinates of the full body:
        vectors = np.linalg.lstsq(full.view.shape.toarray(), nodal)[0]
        twin, body = reduce_body(full, basis=vectors).inertia, result.body.inertia
        for name in ("mass", "first", "second", "shape_first", "shape_lever"):
            given, own = np.asarray(getattr(twin, name)), np.asarray(getattr(body, name))
            assert np.abs(given - own).max() < 1e-12 * np.abs(given).max(), name
        size = max(abs(twin.shape_pair[i][i]).max() for i in range(3))
        for i, j in np.ndindex(3, 3):
            assert abs(twin.shape_pair[i][j] - body.shape_pair[i][j]).max() < 1e-12 * size, (i, j)
        print("same integrals")


if __name__ == "__main__":
    main()
