"""``flexph reduce MESH``: the body that Python makes, in a file; bad input is refused in one sentence."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import fem
from fem.reduce_command import command
from flexph.bodies import load_reduced, reduce_body
from flexph.models.commands import FOLDER

MESH = FOLDER / "bar.msh"
STEEL = ("--material", "210e9,7850,0.3")


def run(folder, *options):
    return CliRunner().invoke(command, [str(MESH), *options, "--out", str(folder / "rod.h5")])


def test_the_file_holds_the_body_that_python_makes(tmp_path):
    result = run(tmp_path, *STEEL, "--ports", "hinge=fixed, end", "--modes", "4", "--static", "end", "--inertia")
    assert result.exit_code == 0, result.output
    bar = fem.solid(
        MESH, fem.Material(young=210e9, density=7850.0, poisson=0.3), ports={"hinge": "fixed", "end": "end"}
    )
    twin, body = reduce_body(bar, modes=4, static=["end"], inertia=True), load_reduced(tmp_path / "rod.h5")
    np.testing.assert_array_equal(body.inertia.shape_lever, twin.inertia.shape_lever)
    np.testing.assert_array_equal(body.elasticity.compliance.toarray(), twin.elasticity.compliance.toarray())
    assert list(body.ports) == ["hinge", "end"]
    assert f"a body of {twin.size} coordinates, reduced from {bar.size}" in result.output
    assert f"mass {twin.mass:.9g} kg; ports hinge, end" in result.output
    mass = sum(twin.inertia.shape_pair[i][i] for i in range(3)).toarray()
    D = twin.elasticity.strain.toarray()
    stiffness = D.T @ np.linalg.solve(twin.elasticity.compliance.toarray(), D)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    printed = [float(word) for word in re.search(r"frequencies \[Hz\] ([^…\n]*)", result.output)[1].split()]
    np.testing.assert_allclose(printed, np.sqrt(squares[: len(printed)]) / (2.0 * np.pi), rtol=1e-5)  # six digits
    assert re.search(r"time mesh and matrices \S+ s, reduction \S+ s, file \S+ s\nmemory at most \d+ MB", result.output)


def test_a_mesh_is_refined_for_the_modes_and_responses_that_are_kept(tmp_path):
    options = ("--ports", "hinge=fixed,end", "--reference", "hinge", "--modes", "1")
    coarse = run(tmp_path, *STEEL, *options, "--degree", "2")
    result = run(tmp_path, *STEEL, *options, "--degree", "2", "--tolerance", "1%")
    assert result.exit_code == 0, result.output
    first = lambda own: float(re.search(r"frequencies \[Hz\] (\S+)", own.output)[1])  # noqa: E731
    size = lambda own: int(re.search(r"reduced from (\d+)", own.output)[1])  # noqa: E731
    assert size(result) > size(coarse)
    assert 0.8 * first(coarse) < first(result) < first(coarse)  # frequencies fall with the mesh


MISTAKES = {
    "tolerance": ([*STEEL, "--tolerance", "much"], "--tolerance must be a number such as 0.01 or 1%, got 'much'"),
    "in parallel": ([*STEEL, "--tolerance", "1%", "--petsc"], "--tolerance is for reductions in one process"),
    "no material": ([], "Error: material must be given: the mesh has none of its own"),
    "name": (["--material", "steel"], "--material may be YOUNG,DENSITY,POISSON, and for a name: material 'steel'"),
    "two numbers": (["--material", "1,2"], "must be three numbers YOUNG,DENSITY,POISSON, got '1,2'"),
    "a word": (["--material", "1,2,x"], "must be YOUNG,DENSITY,POISSON in SI units, or a name, got '1,2,x'"),
    "poisson": (["--material", "1e9,1e3,0.9"], "poisson must be above -1 and not above 0.5, got 0.9"),
    "region": ([*STEEL, "--ports", "nd"], "no region 'nd': port 'nd': the mesh has 'bar', 'fixed', 'end'"),
    "no region": ([*STEEL, "--ports", "a=,b"], "--ports must be NAME or NAME=REGION, separated by commas, got 'a=,b'"),
    "twice": ([*STEEL, "--ports", "end,end"], "--ports names 'end' twice"),
    "modes": ([*STEEL, "--modes", "4000"], "modes must be at most the 72 flexible coordinates of the body, got 4000"),
    "static": ([*STEEL, "--static", "foo"], "no port 'foo': there are 'end'"),
    "out": ([*STEEL, "--out", "nowhere/rod.h5"], "--out must lie in an existing folder, got 'nowhere"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input_is_refused_in_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options, words = MISTAKES[name]
    given = ["--ports", "end", "--out", "rod.h5", *options]
    result = CliRunner().invoke(command, [str(MESH), *given])
    assert result.exit_code and isinstance(result.exception, SystemExit)
    (sentence,) = [line for line in result.output.splitlines() if line.startswith("Error")]
    assert words in sentence
    assert not list(tmp_path.iterdir())
