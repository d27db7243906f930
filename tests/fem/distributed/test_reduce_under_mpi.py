"""``mpiexec -n 2 flexph reduce``: the body of one process; a rank that fails ends the job. Needs PETSc and SLEPc."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fem.reduce_command import command
from flexph import GROUND, connect, integrate, revolute
from flexph.bodies import load_reduced, tensors
from flexph.bodies.held_body import HeldBody, principal
from flexph.models.commands import FOLDER

MESH = FOLDER / "bar.msh"
GIVEN = (
    "--material",
    "2e9,1200,0.35",
    "--ports",
    "hinge=fixed,end",
    "--degree",
    "2",
    "--modes",
    "6",
    "--static",
    "end",
)
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
MISSING = [name for name in ("mpi4py", "petsc4py", "slepc4py") if find_spec(name) is None]
under_mpi = pytest.mark.skipif(
    bool(MISSING) or MPIEXEC is None, reason="needs PETSc, SLEPc and mpiexec: docs/how-to/cluster.md"
)
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def start(*words, ranks=2):
    launch = [MPIEXEC, "-n", str(ranks)] if ranks else []
    return subprocess.run([*launch, sys.executable, *map(str, words)], capture_output=True, text=True, timeout=900,
                          check=False, env={**os.environ, **ROOT, "OMP_NUM_THREADS": "1"})  # fmt: skip


def reduced(path, *options, ranks=2):
    done = start("-m", "flexph", "reduce", MESH, *GIVEN, *options, "--out", path, ranks=ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    return load_reduced(path), done.stdout


def frequencies(body):
    held = HeldBody(body)
    lower = np.linalg.cholesky(held.mass.toarray())
    unit = np.linalg.inv(lower).T
    shapes = unit @ principal(held.elastic.energies(unit))
    return np.sqrt(held.elastic.energies(shapes).diagonal())


def stresses_of_a_run(body):
    """Stress tensors at the points of a swing under the weight, (times, points, 6)."""
    pendulum = connect({"bar": body}, [revolute("bar.hinge", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    begin = pendulum.consistent_state(pendulum.assemble({"bar": np.eye(3)}))
    run = integrate(pendulum, begin, np.linspace(0.0, 0.02, 21), progress=False)
    return tensors(body.view.tensors["stress"].at, run.states[:, pendulum.layout.parts["bar.stress"]])


@under_mpi
@pytest.mark.slow
@pytest.mark.parametrize("reference", ["hinge", "mean_axis"])
@pytest.mark.parametrize("solver", ["factor", "multigrid"])
def test_two_ranks_make_the_body_of_one_process(reference, solver, tmp_path):
    options = ("--reference", reference, "--fields", "stresses")
    body, words = reduced(tmp_path / "two.h5", *options, "--solver", solver)
    twin, alone = reduced(tmp_path / "one.h5", *options, ranks=0)
    assert words.splitlines()[1] == alone.splitlines()[1]  # mass and ports, in nine digits
    assert words.split("reduced from ")[1].split()[0] == alone.split("reduced from ")[1].split()[0]
    assert " MB on 2 ranks" in words
    np.testing.assert_allclose(frequencies(body), frequencies(twin), rtol=1e-9)
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(getattr(body.inertia, name), getattr(twin.inertia, name), rtol=1e-12, atol=1e-15)
    one, two = stresses_of_a_run(twin), stresses_of_a_run(body)
    assert np.abs(one - two).max() < 1e-6 * np.abs(one).max()  # of the file, in single precision


@under_mpi
@pytest.mark.slow
def test_mass_integrals_are_those_of_one_process_for_the_same_vectors(tmp_path):
    """In a script on two ranks: it reduces the solid again by the vectors that the ranks found."""
    done = start(Path(__file__).with_name("same_vectors.py"), MESH)
    assert done.returncode == 0 and "same integrals" in done.stdout, done.stdout + done.stderr


@under_mpi
@pytest.mark.slow
@pytest.mark.parametrize("reference", ["root", "mean_axis"])
def test_linear_cells_correct_quadratic_ones(reference):
    done = start(Path(__file__).with_name("levels_of_multigrid.py"), reference)
    assert done.returncode == 0 and "few steps" in done.stdout, done.stdout + done.stderr


@under_mpi
@pytest.mark.slow
def test_one_rank_by_petsc_keeps_inertia_relief(tmp_path):
    body, _ = reduced(tmp_path / "one.h5", "--petsc", "--inertia", ranks=0)
    twin, _ = reduced(tmp_path / "twin.h5", "--inertia", ranks=0)
    assert body.size == twin.size
    np.testing.assert_allclose(frequencies(body)[:6], frequencies(twin)[:6], rtol=1e-9)
    np.testing.assert_allclose(
        frequencies(body), frequencies(twin), rtol=1e-6
    )  # some responses nearly follow from others


@under_mpi
@pytest.mark.slow
def test_a_rank_that_raises_ends_the_job_with_its_message(tmp_path):
    done = start("-m", "flexph", "reduce", MESH, *GIVEN[:3], "nd", "--out", tmp_path / "rod.h5")
    assert done.returncode != 0 and "no region 'nd': port 'nd': the mesh has" in done.stderr
    assert not list(tmp_path.iterdir())
    waiting = (
        "from fem.distributed.ranks import ending_all, world\ncomm = world()\nwith ending_all(comm):\n"
        "    if comm.rank == 1:\n        raise ArithmeticError('the second half is full')\n    comm.Barrier()\n"
    )
    done = start("-c", waiting)
    assert done.returncode != 0 and "Error: the second half is full (rank 1 of 2)" in done.stderr


def test_a_solver_is_of_jobs_of_mpi(tmp_path):
    result = CliRunner().invoke(command, [str(MESH), *GIVEN, "--solver", "factor", "--out", str(tmp_path / "rod.h5")])
    assert result.exit_code == 2 and "start it with mpiexec, or add --petsc" in result.output


def test_ranks_without_the_packages_are_told_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    result = CliRunner().invoke(command, [str(MESH), *GIVEN, "--out", str(tmp_path / "rod.h5")])
    assert result.exit_code == 1 and "a reduction under MPI needs mpi4py, petsc4py and slepc4py" in result.output
