"""What a release says of itself, and that its tests run from the sources that it packs."""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import flexph
from flexph.plot import axes

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def long_description(repository):
    """What setup.py makes of the README."""
    spec = importlib.util.spec_from_file_location("setup_of_flexph", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.long_description(README, repository)


def test_one_version_is_everywhere():
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    (newest, *_) = re.findall(r"^## \[(\S+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert (citation, newest) == (flexph.__version__, flexph.__version__)
    assert "version" not in PROJECT and "version" in PROJECT["dynamic"]


def test_versions_of_python_are_said():
    versions = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert versions[0] == PROJECT["requires-python"].removeprefix(">=") and len(versions) > 1
    assert PROJECT["urls"]


def test_the_description_leads_nowhere_that_an_index_lacks():
    relative = re.compile(r"\]\((?!https?:|#)")
    assert relative.search(README)
    alone, linked = long_description(None), long_description("https://example.org/flexph")
    assert not relative.search(alone) and not relative.search(linked) and "![" not in alone
    assert "https://example.org/flexph/blob/main/docs/start.md" in linked
    assert re.search(r"!\[[^]]+\]\(https://example.org/flexph/raw/main/docs/[\w-]+\.gif\)", linked)
    assert re.findall(r"```.*?```", alone, re.DOTALL) == re.findall(r"```.*?```", README, re.DOTALL)


def test_pictures_name_the_extra_that_they_need(monkeypatch):
    monkeypatch.setattr(axes, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=re.escape('pip install "flexph[plot]"')):
        axes.new_figure(8.0, 5.0)


@pytest.mark.slow
def test_the_tests_run_from_the_packed_sources(tmp_path):
    """Sources and wheel are built from a copy, pass twine's strict check, and tests run where they are unpacked."""
    for module in ("build", "twine"):
        pytest.importorskip(module)
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if tracked.returncode:
        pytest.skip("needs a checkout")
    for name in tracked.stdout.decode().split("\0")[:-1]:
        target = tmp_path / "copy" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())

    def python(*words, cwd):
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    python("build", "--no-isolation", "--outdir", str(tmp_path / "dist"), cwd=tmp_path / "copy")
    wheel, sources = sorted((tmp_path / "dist").iterdir(), key=lambda path: path.suffix, reverse=True)
    assert "PASSED" in python("twine", "check", "--strict", str(wheel), str(sources), cwd=tmp_path)
    with tarfile.open(sources) as file:
        file.extractall(tmp_path, filter="data")
    unpacked = tmp_path / sources.name.removesuffix(".tar.gz")
    packed = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert set(tracked.stdout.decode().split("\0")[:-1]) <= packed
    some = ("tests/test_rooms.py", "tests/test_public_names.py", "tests/flexph/test_machine_output.py")
    python("pytest", "-q", "-x", "-p", "no:cacheprovider", *some, cwd=unpacked)
