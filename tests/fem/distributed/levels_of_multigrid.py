"""On ranks of MPI: linear cells have the rigid motions of quadratic ones, responses take few steps, twice the same."""

import sys

import numpy as np

import fem
from fem.distributed.multigrid import prolongation
from fem.distributed.ranks import ending_all, world
from fem.distributed.reduction import ReductionOptions, _shares
from fem.distributed.solvers import lowest_modes, prepared, responses
from fem.distributed.system import assembled


def main() -> None:
    """Raise AssertionError on the rank where it is not so; the reference is the argument."""
    material, reference = fem.Material(young=2e9, density=1200.0, poisson=0.35), sys.argv[1]
    comm = world()
    with ending_all(comm):
        for count, simplices in ((2, True), (4, True), (2, False)):
            mesh = fem.box_mesh((0.4, 0.1, 0.1), (4 * count, count, count), simplices=simplices)
            ports, shape = {"root": "left", "tip": "right"}, {"degree": 2, "plane": None, "thickness": None}
            shares = _shares(comm.size, mesh, material, (ports, reference), ReductionOptions(2, ("tip",)), shape)[1]
            share = shares[comm.rank]  # all ranks read the mesh here
            loose = assembled(comm, share._replace(held=np.zeros_like(share.held)), mean=False)
            lift = prolongation(loose)
            x, y = lift.createVecs()
            for motion in share.rigid.T:
                x.array[:] = motion[share.linear]
                lift.mult(x, y)
                assert np.abs(y.array - motion).max() < 1e-12 * np.abs(share.rigid).max()
            system = assembled(comm, share, mean=reference == "mean_axis")
            search = prepared(system, "multigrid")
            before = responses(search, share.loads)
            assert search.ksp.getIterationNumber() <= 35  # 60 by aggregates of quadratic cells
            if count == 2 and simplices:
                lowest_modes(search, 2)
                assert np.array_equal(responses(search, share.loads), before)
        if not comm.rank:
            print("few steps")


if __name__ == "__main__":
    main()
