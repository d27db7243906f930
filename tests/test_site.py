"""The site of documentation, as far as it can be checked without Sphinx."""

import re
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module", autouse=True)
def extension():
    """The modules that write pages."""
    sys.path.insert(0, str(DOCS / "_ext"))
    yield
    sys.path.remove(str(DOCS / "_ext"))


def test_every_public_name_is_described_once():
    import reference

    text = "\n".join(reference.pages().values())
    for name in reference.public_names().values():
        home = reference.homes()[name.real]
        entries = [text.count(f".. auto{kind}:: {home}\n") for kind in ("class", "function", "data")]
        assert sum(entries) == 1, name.full


def test_functions_beside_equations_are_there():
    import sources

    for target in sources.targets(DOCS):
        sources.found(target)


def test_every_case_has_a_page_with_command_numbers_and_checks(tmp_path):
    import gallery_pages
    import validation_page
    from case_runs import CaseRun

    from flexph.case import find_cases

    name = "four-bar"
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.json").write_text('{"case": "x", "drift_m": 1e-16}')
    (tmp_path / "checks.json").write_text(
        '[{"quantity": "ω_1", "kind": "published", "source": "[flex] table 1", "reference": 1.0, "computed": 1.1,'
        ' "difference": 0.1, "tolerance": 0.01, "relative": true, "passed": false}]'
    )
    (tmp_path / "view.html").write_text("<div class='flexph-view'></div>")
    record = {"version": "1", "date": "today", "seconds": 1.0, "machine": "this"}
    run = CaseRun(name, find_cases()[name], tmp_path, record)
    written = gallery_pages.gallery([run], DOCS)
    assert set(written) == {name, "index"}
    page, index = written[name], written["index"]
    assert "1e-16" in page and "1 %" in page and "<strong>fails</strong>" in validation_page.validation([run])
    order = [page.index(part) for part in ("flexph-view", "## Numbers", "## Checks", f"flexph run {name} --out out")]
    assert order == sorted(order)
    assert "## Beams" in index and f"href='{name}.html'" in index
    assert re.search(r"data-words='[^']*\beigenfrequencies\b[^']*\bhinge\b", index)


def test_what_is_in_cases_is_read_from_their_programs():
    from contents import OTHER, contents_of

    from flexph.case import find_cases

    cases = find_cases()
    own = {name: contents_of(cases[name]) for name in cases}
    assert own["four-bar"].parts["joints"] == {"hinge", "weld"} and own["four-bar"].parts["bodies"] == {"beam"}
    assert {"prismatic", "spherical", "universal"} <= own["solid-crank-slider"].parts["joints"]
    assert own["woodpecker-toy"].category == "Contact and impact" and own["robot-arm"].category == "Control"
    assert own["flexible-rope"].category == "Rods and cables" and own["lc-circuit"].category == "Circuits and machines"
    assert sum(one.category == OTHER for one in own.values()) < len(own) // 3
    assert own["solid-crank-slider"].captions["peaks"].startswith("The largest von Mises stress over time")
    assert all(text == "" or text.endswith(".") for one in own.values() for text in one.captions.values())


def test_results_in_detail_belong_to_cases():
    import gallery_pages

    names = {entry.name for entry in entry_points(group="flexph.cases")}
    told = [gallery_pages.stories_of(page) for page in DOCS.glob("cases/*.md") if page.name != "index.md"]
    assert all(told) and {name for names_of in told for name in names_of} <= names


def test_every_page_of_the_guide_is_listed_once():
    listed = re.findall(r"^([a-z-]+)$", (DOCS / "guide" / "index.md").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(page.stem for page in (DOCS / "guide").glob("*.md") if page.stem != "index")


FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<!\$)\$([^$\n]+)\$(?!\$)", re.S)


def test_equations_can_be_drawn():
    pytest.importorskip("docutils", reason="equations need the extra docs")
    from mathematics import converted

    pages = [page for name in ("theory", "guide", "how-to", "tutorials") for page in (DOCS / name).glob("*.md")]
    formulas = [one or other for page in pages for one, other in FORMULA.findall(page.read_text(encoding="utf-8"))]
    assert len(formulas) > 100
    for formula in formulas:
        assert converted(formula, block=True).startswith("<math")  # raises for commands that it does not know


def test_fractions_and_indices_of_accents_are_those_of_tex():
    pytest.importorskip("docutils", reason="equations need the extra docs")
    from mathematics import converted

    plain = re.sub(r"\s+(?=<)", "", converted(r"\tfrac12 \bar p_r", block=False))
    assert "<mn>1</mn><mn>2</mn></mfrac>" in plain
    assert '<msub><mover accent="true"><mi>p</mi>' in plain and plain.endswith("<mi>r</mi></msub></math>")


def test_pages_of_earlier_builds_go(tmp_path):
    from page_parts import write_all

    write_all(tmp_path, ".md", {"one": "1", "two.three": "2"})
    write_all(tmp_path, ".md", {"two.three": "3"})
    assert [(page.name, page.read_text()) for page in tmp_path.iterdir()] == [("two.three.md", "3")]


def test_stored_benchmarks_are_shown_with_date_machine_and_ratios():
    from benchmark_pages import measured, stored_runs

    runs = stored_runs(DOCS / "benchmark-runs")
    page = measured(runs)
    for run in runs:
        assert (DOCS.parent / run["command"].split()[1]).exists()
        assert f"{run['date']}, flexph {run['version']}, {run['machine']}" in page and run["output"] in page
    assert "| `four-bar-over-exudyn` |" in page


def test_links_to_missing_files_and_anchors_are_told(tmp_path):
    from check_links import broken

    (tmp_path / "a.html").write_text('<h1 id="here"><a href="#here"></a><a href="b.html#there"></a><img src="c.png">')
    (tmp_path / "b.html").write_text('<a href="https://example.org/x"></a><a href="a.html#here"></a>')
    assert list(broken(tmp_path)) == ["a.html: b.html#there", "a.html: c.png"]
