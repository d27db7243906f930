"""A study on a Dask cluster of two processes, of which one is killed in the middle, or the driver."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

import flexph

xarray = pytest.importorskip("xarray")
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra dask")


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler with two workers, each a process with a nanny."""
    commands = (
        ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
        ["worker", "{address}", "--nworkers", "2", "--nthreads", "1", "--no-dashboard"],
    )
    started, address = [], ""
    environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3"}
    for words in commands:
        log = (tmp_path / f"{words[0]}.log").open("w+")
        given = [word.format(address=address) for word in words]
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + given[0], *given[1:]],
                stdout=log, stderr=log, cwd=tmp_path, env=environment, start_new_session=True,
            )
        )  # fmt: skip
        while not address:
            match = re.search(r"Scheduler at: +tcp://(\S+)", (tmp_path / "scheduler.log").read_text())
            address = f"tcp://{match[1]}" if match else ""
            assert started[0].poll() is None
            time.sleep(0.05)
    yield address.removeprefix("tcp://")
    for process in reversed(started):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def slow_square(x, folder, deadly):
    """Notes who calls; the tenth call ends its process, as does one sample each time."""
    with open(f"{folder}/calls", "a") as file:
        file.write(f"{x} {os.getpid()}\n")
    with open(f"{folder}/calls") as file:
        count = sum(1 for _ in file)
    if x == deadly or (count == 10 and not os.path.exists(f"{folder}/killed")):
        open(f"{folder}/killed", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.02)
    return {"y": float(x * x)}


@pytest.mark.slow
def test_a_worker_of_dask_is_killed_in_the_middle(cluster, tmp_path):
    samples = {"x": list(range(40)), "folder": [str(tmp_path)], "deadly": [-1]}
    result = flexph.study(
        slow_square, samples, executor=f"dask://{cluster}", out=tmp_path / "s", progress=False
    ).squeeze()
    assert set(result.sample_status.values) == {"done"}
    assert result.y.values.tolist() == [float(x * x) for x in range(40)]
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    assert len(calls) == 41  # that of the killed process twice, and no finished one again
    assert 2 <= len({pid for _, pid in calls}) <= 3


@pytest.mark.slow
def test_a_sample_that_kills_its_workers_fails_alone(cluster, tmp_path):
    samples = {"x": list(range(8)), "folder": [str(tmp_path)], "deadly": [3]}
    (tmp_path / "killed").touch()
    result = flexph.study(
        slow_square, samples, executor=f"dask://{cluster}", retries=0, out=tmp_path / "s", progress=False
    ).squeeze()
    assert [x for x in range(8) if result.sample_status.values[x] == "failed"] == [3]
    assert "KilledWorker" in result.sample_error.values[3]


DRIVER = """
import os, sys, time
import flexph

def slow_cube(x, folder):
    with open(f"{folder}/calls", "a") as file:
        file.write(f"{x}\\n")
    time.sleep(0.05)
    with open(f"{folder}/finished", "a") as file:
        file.write(f"{x}\\n")
    return {"y": x**3 / 7.0}

executor, folder, out = sys.argv[1:]
flexph.study(slow_cube, {"x": list(range(40)), "folder": [folder]}, executor=executor, out=out, resume=True, jobs=4)
"""


@pytest.mark.slow
def test_a_driver_is_killed_and_goes_on_to_the_same_dataset(cluster, tmp_path):
    driver, out = tmp_path / "driver.py", tmp_path / "s"
    driver.write_text(DRIVER)
    command = [sys.executable, str(driver), f"dask://{cluster}", str(tmp_path)]
    first = subprocess.Popen([*command, str(out)])
    while len(list(out.glob("samples/*.npz"))) < 10:
        assert first.poll() is None
        time.sleep(0.01)
    first.kill()
    first.wait()
    assert not (out / "study.nc").exists()
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("samples/*.npz")}
    assert 10 <= len(kept) < 40
    for given in (out, tmp_path / "undisturbed"):
        subprocess.run([*command, str(given)], check=True, timeout=120)
    assert all((out / "samples" / name).stat().st_mtime_ns == time for name, time in kept.items())
    calls, finished = ((tmp_path / name).read_text().split() for name in ("calls", "finished"))
    assert set(map(int, finished)) == set(range(40))
    assert len(calls) <= 80 + 4  # both studies, and again what was under way as the driver died, `jobs` samples at most
    resumed, undisturbed = (
        xarray.load_dataset(folder / "study.nc").drop_vars("sample_seconds")
        for folder in (out, tmp_path / "undisturbed")
    )
    assert resumed.identical(undisturbed)
    assert set(resumed.sample_status.values.ravel()) == {"done"}
