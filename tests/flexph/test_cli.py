"""The command line: its frame, `flexph list` and `flexph validate`."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
from importlib.metadata import version

import click
import pytest
from swing_case import BAD, GOOD, UNCHECKED, flexph, rows, swing, write

from flexph import cli
from flexph.case import Case, Check, find_cases
from flexph.numerics.loops.built import described


def test_list_shows_every_case_on_one_line():
    result = flexph("list", cases={"swing": GOOD, "bridge": GOOD})
    assert result.exit_code == 0
    assert rows(result.stdout) == [["bridge", "Swing in a garden."], ["swing", "Swing in a garden."]]


class Missing(dict):
    """Cases whose modules import something that is not installed."""

    def __getitem__(self, name):
        raise ModuleNotFoundError("No module named 'blender'", name="blender")


def test_a_case_that_cannot_be_imported_says_what_it_needs(tmp_path):
    cases = Missing(swing=GOOD)
    result = flexph("list", cases=cases)
    assert (result.exit_code, result.stderr) == (1, "Error: none of the installed cases can be loaded\n")
    assert rows(result.stdout) == [["swing", "case 'swing' needs the module 'blender', which is not installed"]]
    for args in (("run", "swing", "--out", tmp_path), ("validate",)):
        result = flexph(*args, cases=cases)
        assert result.exit_code == 1
        assert result.stderr == "Error: case 'swing' needs the module 'blender', which is not installed\n"


def test_validate_prints_every_check_on_one_line():
    result = flexph("validate")
    assert result.exit_code == 0
    assert rows(result.stdout)[:3] == [
        ["swing", "period of 1 m", "published", "[swing] table 1", "2.006", "2.00607", "+0.00349 %", "0.1 %", "ok"],
        [
            *("swing", "period of 2.74 m", "closed form", "[swing] table 1, a source of a rather long name"),
            *("3.32", "3.321", "+0.0301 %", "1 %", "ok"),
        ],
        ["swing", "drift", "published", "[swing] sec. 2", "0", "1e-09", "+1e-09", "1e-06", "ok"],
    ]
    assert result.stderr == ""  # a bar is for a terminal


def test_validate_counts_checks_by_kind():
    result = flexph("validate", cases={"swing": GOOD, "bridge": BAD})
    assert rows(result.stdout)[6:] == [
        ["published", "4", "4"],
        ["closed form", "2", "1"],
        ["independent code", "0", "0"],
        ["theorem", "0", "0"],
        ["bound", "0", "0"],
        ["not comparable", "0", "0"],
        ["all compared", "6", "5"],
    ]


def test_validate_shows_numbers_for_other_data_and_counts_none_of_them():
    other = Check("spin", "[swing] sec. 3", 0.1, 0.0355, kind="not comparable", tolerance=None)
    case = Case(GOOD.run, GOOD.write, lambda: [*GOOD.checks(), other])
    result = flexph("validate", cases={"swing": case})
    assert result.exit_code == 0
    shown = rows(result.stdout)
    assert ["swing", "spin", "not comparable", "[swing] sec. 3", "0.1", "0.0355", "-64.5 %", "", "-"] in shown
    assert shown[-2:] == [["not comparable", "1", "-"], ["all compared", "3", "3"]]
    values = json.loads(flexph("validate", "--json", cases={"swing": case}).stdout)
    assert values["kinds"]["not comparable"] == {"checks": 1, "passed": 0} and values["failed"] == 0
    assert values["checks"][-1]["passed"] is None


def test_validate_fails_with_one_check():
    result = flexph("validate", cases={"swing": GOOD, "bridge": BAD})
    assert result.exit_code == 1
    assert [(row[0], row[-1]) for row in rows(result.stdout)[:6]] == [
        *(("bridge", "ok"), ("bridge", "FAIL"), ("bridge", "ok")),
        *(("swing", "ok"), ("swing", "ok"), ("swing", "ok")),
    ]
    assert "1 of 6 checks failed" in result.stderr
    assert flexph("validate", "swing", cases={"swing": GOOD, "bridge": BAD}).exit_code == 0


@pytest.mark.parametrize("cases", [{"swing": GOOD, "bridge": UNCHECKED}, {}])
def test_validate_fails_where_nothing_is_checked(cases):
    result = flexph("validate", cases=cases)
    assert result.exit_code == 1
    assert "nothing to check in" in result.stderr


def test_validate_shows_what_it_had_when_a_case_breaks():
    def breaks():
        yield Check("period", "[swing] table 1", 2.0, 2.0, kind="published", tolerance=1e-3)
        raise RuntimeError("did not converge")

    result = flexph("validate", cases={"swing": Case(swing, write, breaks)})
    assert isinstance(result.exception, RuntimeError)
    assert [row[1] for row in rows(result.stdout)][:1] == ["period"]


@pytest.mark.parametrize(("before", "after"), [(None, "Agg"), ("svg", "svg")])
def test_pictures_need_no_display(monkeypatch, before, after):
    monkeypatch.delenv("MPLBACKEND", raising=False)
    if before:
        monkeypatch.setenv("MPLBACKEND", before)
    seen = []

    def checks():
        seen.append(os.environ.get("MPLBACKEND"))
        return []

    flexph("validate", cases={"swing": Case(swing, write, checks)})
    assert seen == [after]


def test_the_version_is_printed():
    assert flexph("--version").stdout == f"flexph, version {version('flexph')}\n"


@pytest.mark.parametrize("words", [("--version", "--verbose"), ("-v", "--version")])
def test_version_says_how_loops_were_compiled(words):
    assert flexph(*words).stdout.splitlines() == [f"flexph, version {version('flexph')}", described()]


def test_verbose_before_a_command_is_refused():
    result = flexph("--verbose", "list")
    assert result.exit_code == 2 and "put it behind the command" in result.stderr


@pytest.fixture
def kept_signals():
    """The handlers of signals, which the command line replaces for the rest of its process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("kept_signals")
def test_python_m_flexph_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["anything", "--help"])
    with pytest.raises(SystemExit) as exit_:
        runpy.run_module("flexph", run_name="__main__")
    assert exit_.value.code == 0
    assert capsys.readouterr().out.startswith("Usage: flexph [OPTIONS] COMMAND")


def test_commands_are_documented():
    commands = cli.main.commands
    assert set(commands) == {"list", "run", "validate", "analyze"}
    assert all(isinstance(command, click.Command) and command.help for command in commands.values())


# --- where it runs


def python_m(*args, cwd, **environment):
    """The command line in a process of its own."""
    words = [sys.executable, "-m", "flexph", *map(str, args)]
    return subprocess.run(words, cwd=cwd, env=os.environ | environment, capture_output=True, check=False)


def test_the_working_directory_is_not_taken_for_ours(tmp_path):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "__init__.py").touch()
    (tmp_path / "fem.py").touch()
    result = python_m("run", "four-bar", "--help", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert b"--elements" in result.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_output_survives_consoles_that_lack_characters(encoding, tmp_path):
    result = python_m("list", cwd=tmp_path, PYTHONIOENCODING=encoding)
    assert result.returncode == 0, result.stderr
    assert "four-bar" in result.stdout.decode(encoding) and b"?" in result.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux that is always full")
def test_output_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        result = subprocess.run([sys.executable, "-m", "flexph", "list"], stdout=full, stderr=-1, check=False)
    assert (result.returncode, result.stderr) == (1, b"Error: No space left on device\n")


@pytest.mark.skipif(sys.platform == "win32", reason="shells of POSIX close the output so")
def test_without_an_output_what_is_printed_is_dropped():
    result = subprocess.run([f"{sys.executable} -m flexph list >&-"], shell=True, stderr=-1, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        ("x.xyz", r"--picture x.xyz must end in .*\.png"),
        ("x", "--picture x must end in "),
        ("none/x.png", "none/x.png: there is no folder 'none', make it first"),
        ("file/x.png", "file.*: Not a directory"),
    ],
)
def test_a_picture_that_cannot_be_written_is_one_line(picture, message, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    result = flexph("analyze", "levitated-ball", "--picture", picture, cases=find_cases())
    assert result.exit_code == 1
    assert re.fullmatch(f"Error: {message}.*\n", result.stderr)


def test_a_typo_is_answered_with_the_nearest_name():
    assert "no case 'swong': did you mean 'swing'? there are " in flexph("run", "swong").stderr
    assert "did you mean" not in flexph("run", "bridge").stderr


def test_many_cases_are_not_listed_in_an_error():
    cases = {f"case-{letter}": Case(swing, dict, list) for letter in "abcdefghijklmnop"}
    told = flexph("run", "case-bb", cases=cases).stderr
    assert "no case 'case-bb': did you mean 'case-b' or " in told and told.endswith("there are 16, see flexph list\n")


def test_a_mistyped_command_is_answered_with_the_nearest():
    assert "No such command 'viw'. Did you mean 'view'?" in " ".join(flexph("viw", "out").stderr.split())


def test_help_opens_with_examples_and_ends_with_sources():
    lines = [line.strip() for line in flexph("--help").output.splitlines() if line.strip()]
    assert [line.split()[:2] for line in lines[2:5]] == [["flexph", "run"], ["flexph", "view"], ["flexph", "new"]]
    sources = lines.index("Sources:")
    assert all(line.startswith("[") for line in lines[sources + 1 :])
