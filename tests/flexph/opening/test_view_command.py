"""The command ``flexph view``."""

import re
import sys
import types
from dataclasses import dataclass
from html import unescape
from importlib.metadata import entry_points
from typing import Annotated, Any

import numpy as np
import pytest
from streams import streams_of
from swing_case import flexph

import rigid
from flexph import GROUND, connect, hinge, integrate
from flexph.case import Case, Option
from flexph.view.looks import as_scene


@dataclass(frozen=True)
class Result:
    solution: Any


def run(*, end: Annotated[float, Option("duration", "s")] = 0.1) -> Result:
    """A bar on a hinge."""
    mechanism = connect({"bar": rigid.bar(1.0, 1.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    return Result(integrate(mechanism, start, np.linspace(0.0, end, 11)))


CASE = Case(run, lambda result, folder: {}, lambda: ())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("view") / "out"
    assert flexph("run", "bar", "--out", out, cases={"bar": CASE}).exit_code == 0
    return out


def test_times_beyond_the_run_are_refused(folder, tmp_path):
    result = flexph("view", folder, "--png", tmp_path / "a.png", "--at", 99)
    assert result.exit_code == 1 and "at must be a time of the run, from 0 s to 0.1 s, got 99 s" in result.stderr


def test_a_folder_becomes_a_page(folder, tmp_path):
    page = tmp_path / "v.html"
    result = flexph("view", folder, "--html", page, "--frames", 4, "--forces")
    assert (result.exit_code, result.output.split()) == (0, [str(page)])
    (scene,) = streams_of(page.read_text(encoding="utf-8"))
    assert len(scene["times"]) == 4 and scene["forces"] and scene["title"] == "bar"
    assert {"weight of bar, at most 9.81 N", "ground"} < {part["name"] for part in scene["parts"]}
    assert flexph("view", folder / "scene.vtkhdf", "--html", page).exit_code == 0


@pytest.mark.parametrize(
    "options, said",
    [
        ((), "there is no display for a window"),
        (("--html", "a.txt"), "--html a.txt must end in .html"),
        (("--scene", "other", "--html", "a.html"), "no scene 'other'"),
        (("--field", "heat", "--html", "a.html"), "no field 'heat'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(folder, monkeypatch, options, said):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    result = flexph("view", folder, *options)
    assert result.exit_code != 0 and said in result.output, result.output


def test_a_folder_without_motion_is_told(tmp_path):
    result = flexph("view", tmp_path, "--html", tmp_path / "a.html")
    assert result.exit_code == 1 and "has no motion" in result.output


def test_the_extra_is_named(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    result = flexph("view", folder, "--png", tmp_path / "a.png")
    assert result.exit_code == 1 and 'pip install "flexph[plot]"' in result.output
    monkeypatch.setitem(sys.modules, "pyvista", None)
    monkeypatch.setenv("DISPLAY", ":0")
    result = flexph("view", folder)
    assert result.exit_code == 1 and 'pip install "flexph[view]"' in result.output


def test_runs_and_poses_open_viewers_that_are_registered(monkeypatch):
    seen = []

    class Entry:
        name = "mine"

        def load(self):
            return lambda shown, **options: seen.append((shown, options))

    monkeypatch.setattr("flexph.drawing.viewers.entry_points", lambda group: [Entry()])
    solution = run().solution
    solution.show(viewer="mine", scale=2.0)
    pose = solution.mechanism.assemble({"bar": (0.0, 0.0, 0.0)})
    solution.mechanism.show(pose, viewer="mine")
    assert seen == [
        (solution, {"field": None, "scale": 2.0, "forces": False}),
        ((solution.mechanism, pose), {}),
    ]
    assert as_scene(seen[1][0], 1).parts[0].name == "bar"
    with pytest.raises(ValueError, match="no viewer 'other': there are 'mine'"):
        solution.show(viewer="other")


def test_windows_and_notebooks_are_viewers(monkeypatch):
    assert {entry.name: entry.value for entry in entry_points(group="flexph.viewers")} == {
        "film": "flexph.view.pictures:write_film",
        "window": "flexph.view.window:show",
        "html": "flexph.view.notebook:live_view",
    }
    solution, displayed = run().solution, []
    live = solution._repr_html_()
    (scene,) = streams_of(unescape(re.search('srcdoc="([^"]*)"', live)[1]))
    assert len(scene["times"]) == 11 and "11 times from 0 to 0.1 s" in live
    display = types.ModuleType("display")
    display.HTML, display.display = str, displayed.append
    shell = type("ZMQInteractiveShell", (), {})()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    solution.show()
    assert displayed == [live]
