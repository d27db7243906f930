"""A study on ranks of MPI, where there is an MPI."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

xarray = pytest.importorskip("xarray")
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mpi4py") is None or MPIEXEC is None, reason="needs mpi4py and mpiexec")
def test_ranks_compute_what_one_process_does(tmp_path):
    own = ["study", "crank-slider", "--set", "elements=2,4,0", "--set", "steps=100", "--no-pictures", "--out"]
    on_ranks = [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", "-m", "flexph", *own]
    alone = [sys.executable, "-m", "flexph", *own]
    for command, out in (([*on_ranks, tmp_path / "mpi", "--executor", "mpi"], "mpi"),
                         ([*alone, tmp_path / "one", "--jobs", "1"], "one")):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "3 samples: 2 done, 1 failed" in done.stdout, out
    mpi, one = (
        xarray.load_dataset(tmp_path / name / "study.nc").drop_vars("sample_seconds") for name in ("mpi", "one")
    )
    assert mpi.identical(one)
