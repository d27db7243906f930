"""Reports: what they say of a run, that they hold all they need, and that browsers show them."""

import re
import shutil
from dataclasses import dataclass

import numpy as np
import pytest
from rubbing_joints import stick_slip
from swing_case import GOOD, flexph

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, torque, weld
from flexph.control import Continuous, Sampled, gearbox
from flexph.plot.stress_extremes import stress_extremes
from flexph.report import write_report
from flexph.report.page import MOST, thinned
from flexph.report.reports import flat
from flexph.results.result import Result
from flexph.results.statics import static_solution
from flexph.scenes.of_results import values_of
from flexph.sensors import joint_angle, joint_rate, sticks, stress

SECTIONS = ("3-D view", "Energy", "Motion", "Forces of joints", "Stresses", "Model", "Run")


@pytest.fixture(scope="module")
def solution():
    beam = fem.beam(0.5, fem.Material(young=1e11, density=1000.0), fem.Section(width=0.02, height=0.01), elements=3)
    joints = [hinge("beam.root", GROUND.at(0.0, 0.0)), hinge("beam.tip", "bar.root"), torque("beam.root", name="motor")]
    mechanism = connect({"beam": beam, "bar": rigid.bar(0.4, 0.2)}, joints, gravity=(0.0, -9.81))
    state = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, -0.3)}))
    return integrate(mechanism, state, np.linspace(0.0, 0.2, 41), inputs={"motor": [1.0]})


@pytest.fixture(scope="module")
def report(solution, tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report") / "report.html", solution, title="two <bodies>")


def test_a_report_tells_of_controllers(solution, tmp_path):
    """What they gave and lost, and what was held at ports; nothing of a run without them."""
    sensors = {"angle": joint_angle("beam.root"), "rate": joint_rate("beam.root")}
    loops = {
        "law": Sampled(
            function=lambda t, see: {"gear: drive": 0.05 - 0.01 * see["rate"]}, period=0.01, sensors=sensors
        ),
        "gear": Continuous(system=gearbox(ratio=10.0, inertia=1e-5, friction=1e-4), ports={"shaft": "motor"}),
    }
    mechanism = solution.mechanism
    start = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, -0.3)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 11), controllers=loops)
    text = page(write_report(tmp_path / "report.html", run))
    words = re.sub(r"<[^>]+>", " ", text)
    assert "Controllers" in words and "gear: drive" in words
    for value in (run.ledger.controllers["law"].sum(), run.ledger.dissipation["gear"].sum()):
        assert f"{value:.6g}" in words
    assert "Controllers" not in page(write_report(tmp_path / "other.html", solution))


def test_a_report_tells_of_joints_that_rub(solution, tmp_path):
    """What pressed them, what friction took, and how long they stuck; nothing of a run without them."""
    mechanism, start = stick_slip()
    run = integrate(mechanism, start, 0.01 * np.arange(101))
    (row,) = (own for own in rows(page(write_report(tmp_path / "report.html", run)), "rub") if own[-1].endswith(" %"))
    assert [float(value) for value in row[1:3]] == pytest.approx([9.81, 0.3 * 9.81], rel=1e-5)  # as written
    assert float(row[3]) == pytest.approx(run.ledger.dissipation["rub"].sum(), rel=1e-5)
    assert row[4] == f"{100.0 * run.measured(sticks('rub'))[1:].mean():.0f} %"
    assert "Dry friction" not in page(write_report(tmp_path / "other.html", solution))


def page(path):
    """The page without its scripts."""
    return re.sub(r"<script.*?</script>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def rows(text, first):
    """The cells of the rows of tables that begin with a word."""
    found = re.findall(r"<tr>(.*?)</tr>", text, flags=re.DOTALL)
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in found]
    return [row for row in cells if row and row[0] == first]


def test_a_report_tells_of_the_run(solution, report):
    text = page(report)
    summary = text[text.index("<h2") : text.index("<h3")]
    assert f"closes to {solution.ledger.largest_residual:.1e}" in summary and "largest stress is" in summary
    assert re.findall(r"<h3>(.*?)</h3>", text) == list(SECTIONS)
    assert "<h1>two &lt;bodies&gt;</h1>" in text
    assert "freedoms: " in text and "0 of them redundant" in text and "3 coordinates" not in text
    reaction = solution.reaction("hinge beam.tip–bar.root")
    sizes = np.linalg.norm(reaction.force, axis=1)
    (row,) = (row for row in rows(text, "hinge beam.tip–bar.root") if len(row) > 2)
    assert [float(row[2]), float(row[3])] == pytest.approx([sizes.max(), reaction.times[sizes.argmax()]], rel=1e-5)
    view = solution.mechanism.bodies["beam"].view
    x = np.sort(np.append(view.points[view.cells, 0].mean(axis=1), view.points[[0, -1], 0]))  # middles, and ends
    moments = np.abs([solution.measured(stress("beam", "bending_moment", (at,))) for at in x])
    (row,) = (row for row in rows(text, "beam") if row[1] == "bending moment")
    cell, k = np.unravel_index(moments.argmax(), moments.shape)
    assert [float(row[2]), float(row[5])] == pytest.approx([moments.max(), solution.times[k]], rel=1e-5)
    assert float(row[4].split(",")[0]) == pytest.approx(x[cell], rel=1e-3)


def test_the_largest_moment_of_a_clamped_beam_is_at_its_root():
    """Under weight it is ρA g L²/2, of which that in the middle of the first of eight pieces lacks an eighth."""
    section, material = fem.Section(width=0.02, height=0.02), fem.Material(young=1e11, density=1000.0)
    bar = fem.beam(1.0, material, section, elements=4)
    beam = connect({"beam": bar}, [weld("beam.root", GROUND)], gravity=(0.0, -9.81))
    still = static_solution(beam, beam.equilibrium(beam.assemble()))
    found = stress_extremes(still, "beam", "bending_moment")
    assert found.largest[0] == pytest.approx(0.5 * 0.4 * 9.81, rel=0.02)  # linear in elements of quadratic moments
    assert found.places[found.worst, 0] == 0.0
    assert found.places[-1, 0] == 1.0


def test_a_report_needs_no_network(report):
    text = report.read_text(encoding="utf-8")
    assert text.count("contains uPlot (MIT") == 1 and text.count('id="flexph-library"') == 1
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page(report))


def test_runs_are_looked_for(solution, tmp_path):
    @dataclass
    class Both:
        runs: dict
        table: list

    assert [name for name, _ in values_of(Both({"a": solution}, [solution, 1.0]), (Result,))] == ["runs a", "table 1"]
    with pytest.raises(ValueError, match="result must be a run, or hold some, got Both"):
        write_report(tmp_path / "none.html", Both({}, []))
    assert list(flat({"a": {"b": 1.0}, "c": np.arange(2.0)})) == [("a b", 1.0), ("c", "0, 1")]


def test_long_curves_keep_their_extremes():
    x = np.linspace(0.0, 1.0, 100_001)
    y = np.sin(900.0 * x)
    y[[77_777, 3]] = 5.0, -5.0
    short_x, short_y = thinned(x, y)
    assert len(short_x) <= MOST and np.all(np.diff(short_x) > 0.0)
    assert (short_y.max(), short_y.min(), short_x[0], short_x[-1]) == (5.0, -5.0, 0.0, 1.0)
    assert thinned(x[:MOST], y[:MOST])[0] is not None and len(thinned(x[:MOST], y[:MOST])[0]) == MOST


def test_a_case_has_one(tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXPH_REPORT", "1")
    case = {"swing": GOOD}
    out = tmp_path / "out"
    result = flexph("run", "swing", "--out", out, "--length", 2.5, "--no-air-drag", "--checks", cases=case)
    assert result.exit_code == 0, result.output
    assert str(out / "report.html") in result.output.splitlines()
    text = page(out / "report.html")
    assert f"flexph run swing --out {out} --checks --length 2.5 --no-air-drag</p>" in text
    assert rows(text, "length") == [["length", "2.5"]] and "table.csv" in text and "data:image/svg+xml" in text
    count = len(list(GOOD.checks()))
    assert f"{count} of {count} checks passed." in text
    plain = tmp_path / "plain"
    assert flexph("run", "swing", "--out", plain, "--length", 2.5, "--no-air-drag", "--no-report").exit_code == 0
    assert not (plain / "report.html").exists()
    assert (plain / "table.csv").read_bytes() == (out / "table.csv").read_bytes()


@pytest.mark.parametrize(
    "kind, function",
    [("report", "report.reports.write_case_report"), ("scene", "scenes.of_results.write_scenes")],
)
def test_what_cannot_be_written_costs_no_results_and_is_exit_1(kind, function, tmp_path, monkeypatch):
    def fail(*arguments):
        raise KeyError("gone")

    monkeypatch.setattr(f"flexph.{function}", fail)
    result = flexph("run", "swing", "--out", tmp_path, "--report")
    assert result.exit_code == 1 and f"no {kind}: KeyError: 'gone'" in result.stderr
    assert str(tmp_path / "summary.json") in result.output.splitlines()
    assert (tmp_path / "summary.json").exists() and (tmp_path / "report.html").exists() == (kind == "scene")


@pytest.mark.slow
@pytest.mark.view
def test_a_browser_shows_a_report(report):
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or pytest.skip("no chromium")
    errors, asked = [], []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--use-gl=swiftshader", "--no-sandbox"])
        shown = browser.new_context(offline=True).new_page()
        shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        shown.on("pageerror", lambda error: errors.append(str(error)))
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(report.as_uri())
        shown.wait_for_selector(".fx-chart canvas")
        shown.wait_for_function("document.querySelector('.flexph-view').dataset.pictures > 0")
        charts = shown.locator(".fx-chart")
        curves = [charts.nth(k).locator(".uplot").count() for k in range(charts.count())]
        drawn = shown.evaluate(
            "[...document.querySelectorAll('.fx-chart canvas')].map((own) => new Set(new Uint32Array("
            "own.getContext('2d').getImageData(0, 0, own.width, own.height).data.buffer)).size)"
        )
        pdf = shown.pdf()
        browser.close()
    assert len(curves) >= 4 and min(curves) >= 1 and min(drawn) > 10  # energy, motion, forces, stresses
    assert errors == [] and [url for url in asked if url.startswith("http")] == []
    assert pdf.startswith(b"%PDF") and len(pdf) > 50_000
