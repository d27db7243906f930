"""What the command line prints for programs, and how much it says: `--json`, `--quiet`, `--verbose`, colours."""

import json
import logging
import re
from pathlib import Path

import numpy as np
import pytest
from swing_case import BAD, GOOD, checks_with, flexph, swing, write

from flexph.case import Case, find_cases
from flexph.console.machine import plain
from flexph.files.durable import TerminationRequest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "machine-output.md").read_text(encoding="utf-8")
NAMED = {"kinds", "modes[].ports", "cells"}
"""Objects whose keys are names of what is described."""


def documented(command):
    """The keys in the table of a command."""
    section = re.search(rf"^## `flexph {command} .*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[0]
    return set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))


def keys(value, path=""):
    """Paths of all values of an object, entries of lists as one."""
    if isinstance(value, dict) and path not in NAMED:
        return {key for name, item in value.items() for key in keys(item, f"{path}.{name}".removeprefix("."))}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {key for item in value for key in keys(item, f"{path}[]")}
    return {path}


def printed(*args, status=0, **options):
    """The object that a command prints, and nothing besides."""
    result = flexph(*args, "--json", **options)
    assert (result.exit_code, result.stderr) == (status, ""), result.output
    return json.loads(result.stdout)


def test_cases_are_listed_as_documented():
    told = printed("list")
    assert told == {"cases": [{"name": "swing", "summary": "Swing in a garden.", "error": None}]}
    assert keys(told) == documented("list")


def test_checks_are_printed_as_documented():
    told = printed("validate")
    assert keys(told) == documented("validate")
    assert told["checks"][0] | {"computed": 2.00607} == told["checks"][0]
    assert told["kinds"]["published"] == {"checks": 2, "passed": 2} and told["failed"] == 0
    result = flexph("validate", "--json", cases={"swing": BAD})
    assert (result.exit_code, json.loads(result.stdout)["failed"]) == (1, 1)
    result = flexph("validate", "--json", cases={"swing": Case(swing, write, checks_with(float("nan")))})
    assert json.loads(result.stdout)["checks"][1]["computed"] is None


ENDS = {"ctrl-c": (KeyboardInterrupt, 130), "sigterm": (TerminationRequest, 143), "error": (RuntimeError("lost"), 1)}


@pytest.mark.parametrize("end", ENDS)
def test_checks_that_are_broken_off_say_so(end):
    """Programs see which cases are missing, and that numbers are not all; a table says it on the standard error."""
    error, status = ENDS[end]

    def checks():
        yield from list(GOOD.checks())[:1]
        raise error

    cases = {"first": GOOD, "second": Case(swing, write, checks), "third": GOOD}
    result = flexph("validate", "--json", cases=cases)
    told = json.loads(result.stdout)
    assert result.exit_code == status and keys(told) == documented("validate")
    assert (told["complete"], told["missing"]) == (False, ["second", "third"])
    assert [check["case"] for check in told["checks"]] == ["first"] * 3 + ["second"]
    table = flexph("validate", cases=cases)
    assert table.exit_code == status and "not compared to the end: second, third" in table.stderr
    whole = printed("validate")
    assert (whole["complete"], whole["missing"]) == (True, [])


@pytest.mark.parametrize("command", ["list", "analyze", "mesh", "check"])
def test_other_commands_that_are_broken_off_print_nothing(command, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "a.yaml").write_text("{}")
    case = Case(swing, write, GOOD.checks, system=interrupted)
    monkeypatch.setattr("fem.mesh_command.mesh_report", interrupted)
    monkeypatch.setattr("flexph.models.commands.loaded", interrupted)
    monkeypatch.setattr("flexph.cli.written_summaries", interrupted)
    subject = {"list": [], "analyze": ["swing"]}.get(command, [tmp_path / "a.yaml"])
    result = flexph(command, *subject, "--json", cases={"swing": case})
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")


def test_a_command_that_ends_before_says_so_for_programs():
    result = flexph("analyze", "swing", "--json")
    assert result.exit_code == 1 and "has no system" in json.loads(result.stdout)["error"]
    assert flexph("analyze", "swing").stdout == ""


def test_analyses_are_printed_as_documented(tmp_path):
    pytest.importorskip("matplotlib")
    told = printed("analyze", "lc-circuit", "--picture", tmp_path / "pattern.svg", cases=find_cases())
    # whether the state that is given is consistent is null where there is nothing to violate
    assert keys(told) == documented("analyze") - {"modes[].given_state"}
    assert told["modes"][0]["index"]["index"] == 2 and told["modes"][0]["passivity"]["passive"] == "yes"
    assert told["pictures"] == [str(tmp_path / "pattern.svg")]


def test_reports_of_meshes_are_printed_as_documented():
    told = printed("mesh", ROOT / "cases" / "meshes" / "connecting_rod.msh")
    assert keys(told) == documented("mesh")
    assert told["mass"] is None and told["inertia"] is None  # no density is known
    assert told["worst"]["cell"] == "tetra10" and told["regions"][3]["name"] == "rod"


def test_model_files_for_programs(tmp_path):
    assert flexph("new", tmp_path / "model.yaml").exit_code == 0
    right = printed("check", tmp_path / "model.yaml")
    assert right["right"] and right["runs"] == ["two_turns"] and not right["problems"]
    wrong = printed("check", tmp_path / "model.yaml", "--set", "bodies.rod.elements=-1", status=1)
    assert keys(wrong) == documented("check")
    assert wrong["problems"][0]["path"] == "bodies.rod.elements" and wrong["problems"][0]["line"] > 1


def test_numbers_that_json_lacks():
    assert plain({"a": (1j, np.float64("inf"), np.arange(2))}) == {"a": [[0.0, 1.0], None, [0, 1]]}


# --- how much is said


@pytest.mark.parametrize(
    ("option", "level"), [("--quiet", "ERROR"), ("-v", "INFO"), ("-vv", "DEBUG"), (None, "WARNING")]
)
def test_options_are_levels_of_the_log(option, level):
    log, seen = logging.getLogger("flexph"), []

    def checks():
        seen.append(logging.getLevelName(log.getEffectiveLevel()))
        for name in ("debug", "info", "warning", "error"):
            getattr(log, name)("a%s", name)
        return GOOD.checks()

    result = flexph("validate", *([option] if option else []), cases={"swing": Case(swing, write, checks)})
    levels = ("DEBUG", "INFO", "WARNING", "ERROR")
    assert seen == [level]
    assert result.stderr.split() == [f"a{name.lower()}" for name in levels[levels.index(level) :]]
    assert (log.level, log.handlers) == (logging.NOTSET, [])  # as it was before


def test_a_quiet_run_names_no_files(tmp_path):
    said = flexph("run", "swing", "--no-report", "--out", tmp_path / "a")
    quiet = flexph("run", "swing", "--no-report", "--out", tmp_path / "b", "--quiet")
    verbose = flexph("run", "swing", "--no-report", "--out", tmp_path / "c", "--verbose")
    assert "summary.json" in said.stdout and quiet.output == ""
    assert "swing: computed in" in verbose.stderr and "computed in" not in said.stderr


def test_tags_of_sources_are_explained():
    from flexph.console.output import SOURCES

    helped = flexph("--help").stdout
    assert all(f"[{tag}] {paper}" in helped for tag, paper in SOURCES.items())
    summaries = " ".join(case["summary"] for case in printed("list", cases=find_cases())["cases"])
    assert set(re.findall(r"\[(\w+)\]", summaries)) <= set(SOURCES)
    assert SOURCES["flex"] in flexph("run", "four-bar", "--help", cases=find_cases()).stdout
    assert "Sources" not in flexph("run", "swing", "--help").stdout


@pytest.mark.parametrize("without", ["", "1"])
def test_colours_are_left_out_where_they_are_not_wanted(without, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", without)
    colours = re.findall(r"\x1b\[[\d;]*3\dm", flexph("validate").stdout)
    assert bool(colours) == (not without)
