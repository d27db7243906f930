"""Ranks of an MPI job: whether there is one, sums over its ranks, the memory of each, and its end when one fails."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from flexph.numerics.arrays import Array

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
"""Variables by which Open MPI, MPICH and its kin, MVAPICH and Slurm's srun tell a process how many ranks there are."""


def launched() -> int:
    """How many ranks this process was started with, 1 without a launcher of MPI."""
    return max((int(os.environ[name]) for name in SIZES if os.environ.get(name, "").isdigit()), default=1)


def world() -> Any:
    """The communicator of all ranks. Raises ValueError where packages are missing, with what installs them."""
    try:
        from mpi4py import MPI
        from slepc4py import SLEPc
    except ImportError as error:
        raise ValueError(
            f"a reduction under MPI needs mpi4py, petsc4py and slepc4py ({error}): docs/how-to/cluster.md says how to "
            "install them; without mpiexec and --petsc it needs none of them"
        ) from error
    if SLEPc.COMM_WORLD.size != MPI.COMM_WORLD.size:
        raise ValueError(
            f"mpi4py and slepc4py must use one MPI, they see {MPI.COMM_WORLD.size} and {SLEPc.COMM_WORLD.size} ranks"
        )
    return MPI.COMM_WORLD


@contextmanager
def ending_all(comm: Any) -> Iterator[None]:
    """End the whole job with the message of a rank that raises: the others would wait for it for ever."""
    try:
        yield
    except BaseException as error:
        text = " ".join(str(error).split()) or type(error).__name__
        kind = "Error" if isinstance(error, ValueError | ArithmeticError) else type(error).__name__
        print(f"{kind}: {text} (rank {comm.rank} of {comm.size})", file=sys.stderr, flush=True)
        comm.Abort(1)
        raise


def total(comm: Any, own: Array) -> Array:
    """The sum of an array over all ranks."""
    given = np.asarray(own, dtype=float, order="C")
    result = np.empty_like(given)
    comm.Allreduce(given, result)
    return result


def return_free_memory() -> None:
    """Give what is free on the heap of this process back to the system, where its C library is glibc.

    Assembly leaves half a gigabyte of holes for 175 000 coordinates a rank, beside which a factor would lie.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none, and no holes of that size
        if trim is not None:
            trim(0)
