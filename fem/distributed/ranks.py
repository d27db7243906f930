"""Ranks of an MPI job: detection of the launcher, sums over ranks, memory, termination of all ranks after an error."""

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
"""Environment variables with the number of ranks: Open MPI, MPICH and relatives, MVAPICH, srun of Slurm."""


def launched() -> int:
    """Number of ranks that this process was started with, 1 without an MPI launcher."""
    return max((int(os.environ[name]) for name in SIZES if os.environ.get(name, "").isdigit()), default=1)


def world() -> Any:
    """MPI communicator of all ranks. Raises ValueError with installation advice if packages are missing."""
    try:
        from mpi4py import MPI
        from slepc4py import SLEPc
    except ImportError as error:
        raise ValueError(
            f"a reduction under MPI needs mpi4py, petsc4py and slepc4py ({error}): docs/how-to/cluster.md shows how to "
            "install them; without mpiexec and --petsc it needs none of them"
        ) from error
    if SLEPc.COMM_WORLD.size != MPI.COMM_WORLD.size:
        raise ValueError(
            f"mpi4py and slepc4py must use one MPI, they see {MPI.COMM_WORLD.size} and {SLEPc.COMM_WORLD.size} ranks"
        )
    return MPI.COMM_WORLD


@contextmanager
def ending_all(comm: Any) -> Iterator[None]:
    """Context that ends the whole MPI job if an exception is raised in it, with the error message of this rank.

    Otherwise the other ranks would wait forever.
    """
    try:
        yield
    except BaseException as error:
        text = " ".join(str(error).split()) or type(error).__name__
        kind = "Error" if isinstance(error, ValueError | ArithmeticError) else type(error).__name__
        print(f"{kind}: {text} (rank {comm.rank} of {comm.size})", file=sys.stderr, flush=True)
        comm.Abort(1)
        raise


def total(comm: Any, own: Array) -> Array:
    """Element-wise sum of the arrays ``own`` of all ranks, returned on every rank."""
    given = np.asarray(own, dtype=float, order="C")
    result = np.empty_like(given)
    comm.Allreduce(given, result)
    return result


def return_free_memory() -> None:
    """Return free heap memory of this process to the system, if its C library is glibc.

    After assembly the heap has unused gaps of half a gigabyte for 175 000 coordinates of a rank.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none, and no holes of that size
        if trim is not None:
            trim(0)
