"""Every block of code of the README and of docs/ runs, and says what the text says.

One to two minutes, as some hundred programs run; a page is run once for all of its tests.
"""

import logging
import re
from contextlib import chdir, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from streams import streams_of

from flexph.models import load_model

ROOT = Path(__file__).parent.parent
BUILT = ("measured.md", "validation.md")  # pages that the build of the site writes
README = ROOT / "README.md"
DOCS = ROOT / "docs"
WRITTEN = ("_cache", "api", "gallery", "source")  # by the build of the site
PAGES = sorted(
    page.relative_to(DOCS).as_posix()
    for page in DOCS.rglob("*.md")
    if page.relative_to(DOCS).parts[0] not in WRITTEN
    and re.search(r"^```(python|\{code-cell\})", page.read_text(encoding="utf-8"), re.M)
)

NEEDS = {"how-to/drawings.md": "gmsh", "tutorials/from-a-drawing.md": "gmsh"}
"""Packages of extras that a page needs."""

SLOW = {  # programs of some seconds, most of which the build of the site executes too
    "guide/contact.md",
    "guide/friction.md",
    "guide/linear-systems.md",
    "guide/plates.md",
    "guide/rigid-multibody.md",
    "guide/studies.md",
    "guide/time-integration.md",
    "how-to/gradient-searches.md",
    "how-to/periodic-motions.md",
    "how-to/which-body.md",
    "tutorials/3-crank-slider.md",
    "tutorials/4-own-mesh.md",
    "tutorials/5-reduction.md",
    "tutorials/7-model-file-and-study.md",
    "tutorials/9-contact.md",
    "tutorials/10-geared-robot.md",
    "tutorials/11-rods-and-cables.md",
    "tutorials/from-a-drawing.md",
    "how-to/urdf-robot.md",
}


def python_blocks(page: Path = README) -> list[str]:
    return re.findall(r"^```(?:python|\{code-cell\}[^\n]*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def test_the_readme_has_two_command_lines_one_program_and_few_words():
    text = README.read_text(encoding="utf-8")
    commands = re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M)[:2]
    assert [block.count("\n") for block in commands] == [1, 1]
    assert "flexph run four-bar --out out" in commands[0] and "-m pytest" in commands[1]
    (program,) = python_blocks()
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
    assert len(text.split()) <= 450


def test_the_dockerfile_runs_the_commands_of_the_readme():
    commands = re.findall(r"^```sh\n(.*?)\n```", README.read_text(encoding="utf-8"), re.S | re.M)[:2]
    lines = (ROOT / "docs" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert all(f"RUN {command}" in lines for command in commands)


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)[)#]", README.read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


def test_the_program_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a file
    space: dict = {"__name__": "__main__"}
    exec(compile(python_blocks()[0], "README.md", "exec"), space)
    solution = space["solution"]
    assert solution.ledger.largest_residual < 1e-13  # a few round-offs of the energy, 1 J
    assert solution.ledger.position_residual.max() < 1e-15
    (scene,) = streams_of((tmp_path / "four-bar.html").read_text(encoding="utf-8"))
    assert {"crank", "rod", "rocker"} < {part["name"] for part in scene["parts"]}
    assert scene["account"]["residual"] == solution.ledger.largest_residual


@pytest.mark.slow
def test_the_program_of_the_readme_has_no_error_of_types(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "four_bar.py"
    program.write_text(python_blocks()[0], encoding="utf-8")
    with chdir(ROOT):
        told, _, status = api.run([f"--config-file={ROOT / 'pyproject.toml'}", "--strict", str(program)])
    assert status == 0, told


class Page(NamedTuple):
    """What a page leaves: its names, what it printed, and the folder with its files."""

    space: dict
    printed: list[str]
    folder: Path


@pytest.fixture(scope="module")
def run_page(tmp_path_factory):
    """Pages by name, each of them run once."""

    @cache
    def run(name: str) -> Page:
        space, printed, folder = {"__name__": "__main__"}, StringIO(), tmp_path_factory.mktemp("page")
        try:
            __import__(NEEDS.get(name, "flexph"))
        except (ImportError, OSError) as error:  # OSError: libraries of the system
            pytest.skip(f"{NEEDS[name]} is missing: {error}")
        log = logging.getLogger("flexph")
        level = log.level  # which a page may set
        with chdir(folder), redirect_stdout(printed):
            for number, block in enumerate(python_blocks(DOCS / name)):  # they follow each other
                exec(compile(block, f"{name} block {number}", "exec"), space)
        log.setLevel(level)
        return Page(space, printed.getvalue().splitlines(), folder)

    return run


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PAGES])
def test_the_blocks_of_a_page_run(run_page, name):
    assert run_page(name).space


def test_the_four_bar_tutorial_runs(run_page):
    space, printed, _ = run_page("tutorials/2-four-bar.md")
    assert len(printed) == 8
    at_zero = np.fromstring(printed[0].split("[")[1].rstrip("]"), sep=" ")
    # converged values at 0°; the mesh and the rounded second moments of the program are good for 1e-4
    np.testing.assert_allclose(at_zero, [269.6183, 305.7164, 383.3525], rtol=2e-4)
    assert space["mechanism"].bodies.keys() == {"crank", "coupler", "follower"}


def test_the_pendulum_tutorial_runs(run_page):
    space, _, folder = run_page("tutorials/1-pendulum.md")
    solution, pendulum = space["solution"], space["pendulum"]
    assert solution.ledger.largest_residual < 1e-13  # a few round-offs of the energy
    assert solution.ledger.dissipation["arm"].sum() > 0.0
    again = type(solution).load(folder / "pendulum.h5", pendulum)
    np.testing.assert_array_equal(again.states, solution.states)


@pytest.mark.slow
def test_the_crank_slider_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/3-crank-slider.md")
    assert space["run"].ledger.largest_residual < 1e-13 and space["error"] < 1e-3
    # von Kármán's rod bends by 1.6e-2 of its length (docs/guide/reduced-bodies.md)
    assert abs(space["deflection"][:, 1]).max() == pytest.approx(1.6e-2, rel=0.05)


@pytest.mark.slow
def test_the_mesh_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/4-own-mesh.md")
    assert space["lowest"] == pytest.approx(space["slender"], rel=0.03)  # clamped at a face of a stiff hold
    np.testing.assert_allclose(space["moment"], [0.0, 500.0 * 0.02 * 0.15**2 / 2.0, 0.0], atol=1e-10)
    assert space["deflection"] == pytest.approx(-3.0375e-3, rel=0.05)


@pytest.mark.slow
def test_the_reduction_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/5-reduction.md")
    full, small = space["tip"]
    assert abs(small - full).max() < 0.02 * abs(full).max()
    assert space["seen"].hinf < 1e-4 and space["seen"].certificate.holds


def test_the_control_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/6-control.md")
    for run in (space["run"], space["gentle"]):
        assert run.measured(space["ANGLE"])[-1] == pytest.approx(1.0, abs=5e-3)
        assert run.ledger.largest_residual < 1e-13
    assert space["ratios"][-1] > 0.01  # what injected damping does to the bending modes


@pytest.mark.slow
def test_the_model_file_tutorial_runs(run_page):
    space, printed, folder = run_page("tutorials/7-model-file-and-study.md")
    assert any("sections.blade.width: got '12 kg'" in line for line in printed)
    sway = space["results"]["sway"]
    assert (sway.sel(elements=4).diff("height") < 0.0).all() and (folder / "study" / "study.nc").exists()


def test_the_own_case_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/8-own-case-and-body.md")
    assert all(check.passed for check in space["case"].checks())
    assert space["truss"].mass == pytest.approx(2700.0 * 1e-4 * (12 * 0.2 + 7 * 0.2 + 6 * 0.2 * 2**0.5))
    assert space["fall"].ledger.largest_residual < 1e-13


@pytest.mark.slow
def test_the_contact_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/9-contact.md")
    assert space["height"].min() > -1e-12 and space["height"][-1] == pytest.approx(0.0, abs=1e-12)
    impacts = space["run"].ledger.dissipation["floor: impact"].sum()
    assert impacts == pytest.approx(9.81, abs=1e-9)  # all of the energy of the fall
    assert all(space[run].ledger.largest_residual < 1e-12 for run in ("run", "rock", "fall"))


@pytest.mark.slow
def test_the_gear_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/10-geared-robot.md")
    assert space["turns"][-1] == pytest.approx(-12.5, abs=0.1) and space["run"].ledger.largest_residual < 1e-13
    assert space["run"].ledger.position_residual.max() < 1e-13


@pytest.mark.slow
def test_the_rods_tutorial_runs(run_page):
    space, _, _ = run_page("tutorials/11-rods-and-cables.md")
    closed = space["clamped"].position(space["bent"], "strip.tip")
    assert np.linalg.norm(closed) < 5e-3  # eight elements of degree two
    assert space["run"].ledger.largest_residual < 1e-12 and space["fall"].ledger.largest_residual < 1e-13


def test_the_stresses_page_runs(run_page):
    space, printed, folder = run_page("how-to/stresses-over-time.md")
    assert "'axial_stress_upper': 'Pa'" in printed[0] and (folder / "stresses.png").stat().st_size > 1e4
    assert abs(space["upper"]).max() > 1e5


def test_the_pd_drive_page_runs(run_page):
    space = run_page("how-to/pd-drive.md").space
    run, sag = space["run"], 2.0 * 9.81 * 0.25 * np.cos(0.8) / 400.0
    assert run.measured(space["joint_angle"]("arm.root"))[-1] == pytest.approx(0.8 - sag, abs=2e-4)
    assert run.ledger.work["servo"].sum() == pytest.approx(
        run.ledger.total_energy[-1]
        - run.ledger.total_energy[0]
        + sum(loss.sum() for loss in run.ledger.dissipation.values())
    )


def test_the_resume_page_runs(run_page):
    _, printed, folder = run_page("how-to/resume.md")
    assert float(printed[-1]) < 1e-9 and (folder / "kept").is_dir()


@pytest.mark.slow
def test_the_bodies_page_runs(run_page):
    _, printed, _ = run_page("how-to/which-body.md")
    down = {line.split()[0]: float(line.split("[")[1].strip(" ]").split()[1]) for line in printed}
    assert abs(down["4"] / down["rod"] - 1.0) < 0.02 < abs(down["1"] / down["rod"] - 1.0) < 0.1


def test_the_spatial_page_runs(run_page):
    space = run_page("guide/spatial.md").space
    assert space["solution"].ledger.largest_residual < 1e-13  # a few round-offs of the energy
    assert space["solution"].ledger.position_residual.max() < 1e-14
    weight = space["rope"].bodies["b"].mass * 9.81
    np.testing.assert_allclose(
        space["rope"].reaction(space["hanging"], "spherical a.tip–b.root").force[0], [0.0, 0.0, -weight], atol=1e-9
    )
    # a double pendulum of two equal thin rods: ω² = (g/l)(3 ± 6/√7), here with a radius of a fiftieth of the length
    expected = np.sqrt(9.81 / 0.5 * (3.0 + np.array([-6.0, 6.0]) / np.sqrt(7.0)))
    np.testing.assert_allclose(
        space["eigenfrequencies"](space["rope"].linearize(space["hanging"]))[::2], expected, rtol=1e-3
    )


def test_the_redundant_constraints_page_runs(run_page):
    ledger = run_page("how-to/redundant-constraints.md").space["swing"].ledger
    assert ledger.largest_residual < 1e-13 and ledger.position_residual.max() < 1e-14


def test_the_rotors_page_runs(run_page):
    space = run_page("how-to/rotors.md").space
    assert "steady rotation with 100 rad/s" in space["spinning"].message
    assert "periodic motion" in space["whirl"].about


def test_the_rods_page_runs(run_page):
    _, printed, _ = run_page("guide/rods.md")
    place = np.fromstring(printed[0].strip("[]"), sep=" ")
    np.testing.assert_allclose(place, [0.0, 2.0 / np.pi, 0.0], atol=5e-3)  # of four elements
    assert printed[1] == "True True"


@pytest.mark.slow
def test_the_rigid_multibody_page_runs(run_page):
    space, printed, _ = run_page("guide/rigid-multibody.md")
    for name in ("run", "motion"):
        assert space[name].ledger.largest_residual < 1e-11  # an iteration may end with a correction of 3e-12
    assert np.abs(0.5 * (space["omega"][1:, 1] + space["omega"][:-1, 1])).max() < 1e-12  # no slip in the middle
    np.testing.assert_array_equal(space["built"].phdae().J(space["start"]), space["robot"].phdae().J(space["start"]))
    assert space["turn"].defect(space["motion"].final[:9]) < 1e-13
    assert any(line.startswith("mass must be positive semi-definite, got the eigenvalue -1") for line in printed)


def test_the_coupled_rigid_systems_page_runs(run_page):
    space = run_page("how-to/couple-rigid-systems.md").space
    for name in ("turning", "stopping", "swing"):
        assert space[name].ledger.largest_residual < 1e-11  # an iteration may end with a correction of 3e-12
    assert np.abs(space["gap"]).max() < 1e-13


def test_the_nonholonomic_page_runs(run_page):
    space = run_page("how-to/nonholonomic.md").space
    assert space["again"].ledger.largest_residual < 1e-11  # an iteration may end with a correction of 3e-12
    np.testing.assert_allclose(space["again"]["positions"], space["run"]["positions"], atol=1e-12)
    assert space["ride"].ledger.nonholonomic_residual.max() < 1e-12
    assert 0.01 < np.abs(space["ride"].displacement("boom.tip")[:, 1]).max() < 0.03


def test_the_rigid_dirac_structure_page_runs(run_page):
    assert run_page("how-to/rigid-dirac-structure.md").printed[0] == "11 True True"


def test_the_switching_page_runs(run_page):
    run = run_page("guide/switching.md").space["run"]
    first = np.sqrt(2.0 / 9.81)
    np.testing.assert_allclose([s.time for s in run.switches], first * np.array([1.0, 2.6, 3.88]), rtol=1e-12)
    assert run.lost_at_switches == pytest.approx(9.81 * (1.0 - 0.8**6), rel=1e-12)
    assert run.energy_drift() < 1e-14


def test_the_discrete_gradients_page_runs(run_page):
    space, printed, _ = run_page("guide/discrete-gradients.md")
    for name in ("charged", "turned", "swung"):
        assert space[name].ledger.largest_residual < 1e-13
    q, v = space["q"], space["v"]
    assert np.abs(np.sum(q * q, axis=1) - 1.0).max() < 1e-13
    assert np.abs(np.sum(q * v, axis=1)).max() < 1e-12
    assert space["turned"].method == "pair"
    number = dict(line.split(" ", 1) for line in printed if line[:3] in ("new", "old"))
    np.testing.assert_allclose([float(number[name]) for name in ("new", "old")], [0.11, 0.09], atol=5e-3)


def test_the_descriptor_matrices_page_runs(run_page):
    space = run_page("how-to/descriptor-matrices.md").space
    assert space["slid"].ledger.largest_residual < 1e-13
    np.testing.assert_allclose(space["form"].phi(space["slid"].final), 0.6603, atol=1e-4)


def test_the_solids_page_runs(run_page):
    space, printed, folder = run_page("guide/solids.md")
    assert space["run"].ledger.largest_residual < 1e-12 and len(printed) == 1
    np.testing.assert_allclose(space["moment"], [0.0, 0.0, -1.0], atol=1e-12)  # 8 N/m beyond the middle
    np.testing.assert_allclose(space["reaction"].force[0], [0.0, 8.0, 0.0], atol=1e-12)
    assert space["peaks"].shape == (251, 48) and space["peaks"].max() > 1e4
    assert (folder / "door.pvd").exists() and len(list((folder / "door").iterdir())) == 26


def test_the_finite_strain_page_runs(run_page):
    assert run_page("how-to/finite-strain.md").space["run"].ledger.largest_residual < 1e-12


def test_the_single_steps_page_runs(run_page):
    spin = run_page("how-to/co-simulation.md").space["simulator"].outputs["motor"]
    # of the controller without delay; that of each step is late by half of one
    assert spin == pytest.approx(4.0 * (1.0 - np.exp(-0.75 * 0.5)), rel=1e-3)


def test_guides_are_short_and_have_pictures():
    for page in sorted((DOCS / "guide").glob("[!i]*.md")):
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 150, page.name
        assert "```python" in text and re.search(r"!\[[^]]+\]\([\w-]+\.(png|svg)\)", text), page.name


@pytest.mark.parametrize("page", [*sorted(DOCS.rglob("*.md")), README], ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    if page.is_relative_to(DOCS) and page.relative_to(DOCS).parts[0] in WRITTEN:
        return
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        other = page.parent / target if target else page
        if re.match(r"https?:", link) or other.name in BUILT or "gallery" in other.parts or "api" in other.parts:
            continue
        assert other.exists(), link
        if anchor and other.suffix == ".md":
            assert anchor in anchors(other), link


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as MyST makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return {re.sub(r"[^\w\- …]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.slow
def test_the_studies_page_runs(run_page):
    space, printed, folder = run_page("guide/studies.md")
    assert {path.name for path in (folder / "blades").iterdir()} == {"study.nc", "study.json", "samples"}
    assert printed[:2] == ["[ 9.14 18.28 27.42]", "failed ValueError: height must be positive, got 0.0 m"]
    # the first frequency of a clamped beam: 1.8751² √(E h²/12ρ)/l²
    assert space["results"]["first"].values[1, 1] == pytest.approx(18.28, abs=0.02)
    assert space["best"].parameters["thickness"] == pytest.approx(2e-3 * 20.0 / 18.28, rel=1e-3)
    for name, value in space["truth"].items():
        fitted = space["fitted"]
        assert abs(fitted.parameters[name] - value) < 3.0 * fitted.deviations[name] < 0.05 * value
    assert printed[-2:] == ["[1. 1.]"] * 2


def test_the_model_files_page_runs(run_page):
    space, printed, _ = run_page("guide/model-files.md")
    assert space["run"].solution.ledger.largest_residual < 1e-13
    assert [line.partition(" got")[0] for line in printed if line.startswith("broken.yaml:6:")] == [
        "broken.yaml:6:39: materials.aluminium.density:"
    ]


def test_the_studies_in_files_page_runs(run_page):
    space, _, folder = run_page("how-to/studies-in-files.md")
    assert load_model(folder / "rod.yaml").mechanism.bodies["rod"].size == space["rod"].size
