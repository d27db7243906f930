"""Ctrl-C and SIGTERM at any moment of a command: a message, status 130 or 143, and nothing half written."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from flexph.files.durable import PREFIX
from flexph.files.results_folder import ResultsFolder

PROGRAM = """
import atexit, os, signal, sys, types
import click

def send():
    os.kill(os.getpid(), {number})

class Command(types.ModuleType):
    def __getattr__(self, name):
        if {moment!r} == "import":
            send()
        return run

@click.command()
def body():
    if {moment!r} == "command":
        send()

def run(prog_name):
    if {moment!r} == "swallowed":
        try:
            send()
        except KeyboardInterrupt:
            pass
    if {moment!r} == "end":
        atexit.register(send)
    body.main([], prog_name=prog_name)

sys.modules["flexph.cli"] = Command("flexph.cli")
from flexph.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["import", "command", "end", "swallowed"])
def test_a_signal_ends_the_process_as_a_shell_expects(moment, number):
    """While modules are imported, in a command, where click calls it an abortion, and when all is done."""
    program = PROGRAM.format(moment=moment, number=int(number))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if moment in ("end", "swallowed"):
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode == 128 + number
        assert done.stderr.strip() in ("interrupted", "Aborted!")


def test_results_come_into_place_together(tmp_path, monkeypatch):
    """A signal that comes while they are moved waits until all are there, the summary too."""
    folder, source = ResultsFolder(tmp_path / "out", {}), tmp_path / "new"
    folder.claim(force=False, resume=False)
    source.mkdir()
    names = ["a.csv", "b.csv", "summary.json"]
    for name in names:
        (source / name).write_text("new")
    replace, sent = os.replace, []

    def replaced(*paths):
        sent.append(signal.raise_signal(signal.SIGINT))
        replace(*paths)

    monkeypatch.setattr(os, "replace", replaced)
    with pytest.raises(KeyboardInterrupt):
        folder.publish(source)
    assert len(sent) == len(names) == len(list(folder.path.iterdir()))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_at_any_time_says_so(number, tmp_path):
    """From the first import to the last write, at moments drawn by lot."""
    command = [sys.executable, "-m", "flexph", "run", "four-bar", "--out"]
    clock = time.perf_counter()
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True)
    length, draw = time.perf_counter() - clock, random.Random(int(number))
    for k in range(8):
        out = tmp_path / f"{k}"
        process = subprocess.Popen([*command, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.3 + draw.uniform(0.0, length))  # Python itself starts in less
        process.send_signal(number)
        _, said = process.communicate()
        assert process.returncode in (0, 128 + number), said
        if process.returncode:
            assert said.strip()
        else:
            assert (out / "summary.json").exists()
        assert not out.exists() or not list(out.glob(f"{PREFIX}*"))
