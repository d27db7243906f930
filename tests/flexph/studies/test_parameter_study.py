"""Studies: every sample once, failures kept, and what is killed goes on where it was."""

import multiprocessing
import os
import signal
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import flexph
from flexph.files.results_folder import FolderRefused
from flexph.studies import grid, latin_hypercube, sobol, table
from flexph.studies.execution.engines import Engine
from flexph.studies.execution.records import read_record, record_path
from flexph.studies.execution.runs import Schedule
from flexph.studies.execution.tasks import NotStored, Task, perform

xarray = pytest.importorskip("xarray")


def run(function, samples, **options):
    return flexph.study(function, samples, **{"jobs": 1, "progress": False} | options)


def shapes(k, kind="short"):
    return {
        "area": k * k / 2,
        "count": k,
        "even": k % 2 == 0,
        "label": kind * k,
        "kind": kind,  # the parameter again
        "rows": np.arange(k * 2.0).reshape(k, 2),
        "nested": {"deep": [{"a": 1, "b": None}, {"a": 2, "b": 3.0}]},
        "wave": 1.0 + 2.0j,
    }


def test_a_grid_has_its_parameters_as_dimensions(tmp_path):
    result = run(shapes, {"k": [2, 1, 3], "kind": ["u", "vw"]}, out=tmp_path, units={"area": "m²", "k": "m"})
    assert dict(result.sizes) == {
        "k": 3,
        "kind": 2,
        "rows_0": 3,
        "rows_1": 2,
        "nested.deep.a_0": 2,
        "nested.deep.b_0": 2,
    }
    assert result.area.dims == ("k", "kind") and result.k.values.tolist() == [2, 1, 3]
    np.testing.assert_array_equal(result.area.sel(kind="u"), [2.0, 0.5, 4.5])
    assert result["count"].dtype == np.int64 and result.even.values.tolist() == [[True, True], [False] * 2, [False] * 2]
    assert result["kind"].values.tolist() == ["u", "vw"] and result.label.sel(k=2).values.tolist() == ["uu", "vwvw"]
    np.testing.assert_array_equal(result.rows.sel(k=2, kind="u"), [[0.0, 1.0], [2.0, 3.0], [np.nan, np.nan]])
    assert result["nested.deep.b"].sel(k=1, kind="u").values.tolist()[1:] == [3.0]
    assert result["wave.imag"].sel(k=3, kind="vw") == 2.0
    assert result.area.attrs["units"] == "m²" and result.k.attrs["units"] == "m"
    assert result.attrs["flexph_version"] == flexph.__version__ and result.attrs["function"] == "shapes"
    assert set(result.sample_status.values.ravel()) == {"done"}
    assert {path.name for path in tmp_path.iterdir()} == {"samples", "study.nc", "study.json"}


def cube(k):
    return {"volume": k**3}


def test_kinds_that_differ_between_samples_are_joined():
    values = {0: 1, 1: 2.5, 2: True, 3: "text", 4: [1.0, 2.0]}
    result = run(lambda k: {"x": values[k]}, {"k": [0, 1]})
    assert result.x.values.tolist() == [1.0, 2.5]
    result = run(lambda k: {"x": values[k]}, {"k": [0, 3]})
    assert result.x.values.tolist() == ["1", "text"]
    result = run(lambda k: {"x": values[k]} if k else {}, {"k": [0, 2, 4]})
    np.testing.assert_array_equal(result.x, [[np.nan, np.nan], [1.0, np.nan], [1.0, 2.0]])


def reciprocal(x, log=None):
    if log is not None:
        with open(log, "a") as file:
            file.write(f"{x}\n")
    if x == 13:
        raise SystemExit("thirteen")
    return {"y": 1 / x}


def test_a_failed_sample_is_kept_with_its_error(tmp_path):
    result = run(reciprocal, [{"x": 2}, {"x": 0}, {"x": 13}], out=tmp_path)
    assert result.sample_status.values.tolist() == ["done", "failed", "failed"]
    assert result.sample_error.values.tolist() == ["", "ZeroDivisionError: division by zero", "SystemExit: thirteen"]
    np.testing.assert_array_equal(result.y, [0.5, np.nan, np.nan])
    assert result.y.dims == ("sample",) and result.x.values.tolist() == [2, 0, 13]
    kept = read_record(record_path(tmp_path / "samples", {"x": 0}))
    assert "1 / x" in kept.traceback and kept.parameters == {"x": 0}


def test_a_study_goes_on_with_what_is_missing(tmp_path):
    log = tmp_path / "log"
    samples = [{"x": x, "log": str(log)} for x in (1, 0, 3, 1)]
    first = run(reciprocal, samples[:2], out=tmp_path / "s", resume=True)  # nothing is there yet
    again = run(reciprocal, samples, out=tmp_path / "s", resume=True)
    assert log.read_text().split() == ["1", "0", "3"]  # the fourth is the first
    assert again.isel(sample=slice(2)).drop_attrs().identical(first.drop_attrs())
    assert again.y.values[3] == 1.0
    assert run(reciprocal, samples, out=tmp_path / "s", resume=True).identical(again)
    run(reciprocal, samples, out=tmp_path / "s", resume=True, retry_failed=True)
    assert log.read_text().split() == ["1", "0", "3", "0"]


def test_a_damaged_record_is_computed_again(tmp_path):
    first = run(reciprocal, {"x": [1, 2, 4]}, out=tmp_path).drop_vars("sample_seconds").load()
    path = record_path(tmp_path / "samples", {"x": 2})
    data = path.read_bytes()
    for damaged in (b"", data[: len(data) // 2], data.replace(b"seconds", b"sekunde")):
        path.write_bytes(damaged)
        assert run(reciprocal, {"x": [1, 2, 4]}, out=tmp_path, resume=True).drop_vars("sample_seconds").identical(first)


def deadly(x, folder):
    """Ends its process at 3 always, and at 5 once."""
    with open(f"{folder}/calls", "a") as file:
        file.write(f"{x}\n")
    if x == 3 or (x == 5 and not os.path.exists(f"{folder}/died")):
        open(f"{folder}/died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"y": float(x)}


def test_a_killed_driver_goes_on_where_it_was(tmp_path):
    samples = [{"x": x, "folder": str(tmp_path)} for x in (1, 2, 5, 7)]
    driver = multiprocessing.get_context("fork").Process(
        target=run, args=(deadly, samples), kwargs={"out": tmp_path / "s"}
    )
    driver.start()
    driver.join()
    assert driver.exitcode == -signal.SIGKILL
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FolderRefused, match=r"out must be a folder, got .*file"):
            run(deadly, samples, out=path)
    with pytest.raises(FolderRefused, match="continue with --resume"):
        run(deadly, samples, out=tmp_path / "s")
    result = run(deadly, samples, out=tmp_path / "s", resume=True)
    assert result.y.values.tolist() == [1.0, 2.0, 5.0, 7.0]
    assert (tmp_path / "calls").read_text().split() == ["1", "2", "5", "5", "7"]


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(tmp_path):
    result = run(deadly, {"x": [1, 2, 3, 4, 5, 6], "folder": [str(tmp_path)]}, jobs=2, retries=1).isel(folder=0)
    assert result.sample_status.values.tolist() == ["done"] * 2 + ["failed"] + ["done"] * 3
    assert result.sample_error.values[2].startswith("WorkerDied: its worker died 2 times")
    calls = (tmp_path / "calls").read_text().split()
    assert 2 <= calls.count("3") <= 3  # once perhaps in company, and then alone
    assert result.sel(x=5).y == 5.0


class Pool(Executor):
    """Two workers, of which both are lost as soon as a deadly sample is at one, as those of a pool of processes."""

    def __init__(self, calls):
        self.calls, self.waiting = calls, []

    def submit(self, function, task):
        future = Future()
        self.waiting.append((future, function, task))
        if len(self.waiting) == 2 or len(self.calls) >= 4:  # then each is alone
            self.turn()
        return future

    def turn(self):
        waiting, self.waiting = self.waiting, []
        broken = any(task.parameters["x"] == 3 for _, _, task in waiting)
        for future, function, task in waiting:
            self.calls.append(task.parameters["x"])
            if broken:
                future.set_exception(BrokenExecutor("a process died"))
            else:
                future.set_result(function(task))


def test_the_sample_that_kills_its_workers_is_found_and_no_other_fails(tmp_path):
    calls, pools, ends = [], [], {}
    engine = Engine(Pool(calls), 2, lambda: pools.append(Pool(calls)) or pools[-1])
    tasks = [Task(reciprocal, {"x": x}, tmp_path, "none") for x in (1, 2, 4, 3, 5, 6)]
    Schedule(engine, 2, lambda task, outcome: ends.update({task.parameters["x"]: outcome.error})).follow(tasks)
    assert ends.pop(3).startswith("WorkerDied: its worker died 3 times, at last by BrokenExecutor: a process died")
    assert ends == dict.fromkeys((1, 2, 4, 5, 6), "")
    assert calls == [1, 2, 4, 3, 4, 3, 3, 3, 5, 6] and len(pools) == 4  # once in company, and then each by itself


class Breaking(Executor):
    """Breaks at a sample, as a pool of processes where one of them is killed."""

    def submit(self, function, task):
        future = Future()
        if task.parameters["x"] == 3:
            future.set_exception(BrokenExecutor("a process died"))
        else:
            future.set_result(function(task))
        return future


def test_an_executor_that_was_given_and_breaks_ends_the_study(tmp_path):
    with pytest.raises(BrokenExecutor, match="finished samples are kept"):
        run(reciprocal, {"x": [1, 2, 3, 4]}, out=tmp_path, executor=Breaking())
    assert len(list(tmp_path.rglob("*.npz"))) == 2
    assert run(reciprocal, {"x": [1, 2, 3, 4]}, out=tmp_path, resume=True).y.values.tolist() == [1, 1 / 2, 1 / 3, 1 / 4]


def test_any_executor_of_futures_serves(tmp_path):
    with ThreadPoolExecutor(3) as executor:
        threads = run(reciprocal, {"x": [1, 2, 4, 0]}, executor=executor)
    assert threads.y.values[:3].tolist() == [1.0, 0.5, 0.25]


class Elsewhere(Executor):
    """Workers of another machine, which do not see the folder of the study."""

    def submit(self, function, task):
        future = Future()
        future.set_result(function(Task(task.function, task.parameters, task.folder / "mounted elsewhere", task.token)))
        return future


def test_workers_without_the_folder_send_their_records(tmp_path):
    result = run(reciprocal, {"x": [1, 2, 0]}, executor=Elsewhere(), out=tmp_path)
    assert result.sample_status.values.tolist() == ["done", "done", "failed"]


class Losing(Executor):
    """Computes, and loses the answer of an even sample the first time, as Dask where a worker is lost."""

    def __init__(self):
        self.lost = set()

    def submit(self, function, task):
        future, outcome = Future(), function(task)
        if task.parameters["x"] % 2 == 0 and task.attempt == 0:
            future.set_exception(RuntimeError("lost"))
        else:
            future.set_result(outcome)
        return future


def test_what_is_finished_is_not_computed_again_whatever_the_engine_runs_again(tmp_path):
    log = tmp_path / "log"
    result = run(reciprocal, {"x": [1, 2, 3, 4], "log": [str(log)]}, executor=Losing())
    assert log.read_text().split() == ["1", "2", "3", "4"]
    assert set(result.sample_status.values.ravel()) == {"done"}


def test_a_record_that_cannot_be_written_ends_the_study(tmp_path, monkeypatch):
    def full(folder, record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flexph.studies.execution.tasks.write_record", full)
    with pytest.raises(NotStored, match="No space left"):
        run(reciprocal, {"x": [1, 2]}, out=tmp_path)


def test_a_study_of_something_else_is_refused(tmp_path):
    run(reciprocal, {"x": [1]}, out=tmp_path)
    with pytest.raises(FolderRefused, match="its function was 'reciprocal', and is 'cube' now"):
        run(cube, {"k": [1]}, out=tmp_path, resume=True)
    with pytest.raises(FolderRefused, match="is not empty: continue with --resume"):
        run(reciprocal, {"x": [1]}, out=tmp_path)
    (tmp_path / "study.json").unlink()
    with pytest.raises(FolderRefused, match=r"is not the folder of a study \(study.nc\)"):
        run(reciprocal, {"x": [1]}, out=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ({"z": [1]}, "no parameter 'z'"),
        ({"log": ["a"]}, "samples must have the parameter 'x', which reciprocal needs"),
        ({"x": []}, "columns must have at least one value"),
        ({"x": [1, 1]}, "values of 'x' must differ"),
        ([{"x": 1}, {"y": 1}], r"rows\[1\] must have the parameters \['x'\]"),
        ({"x": [np.nan]}, "must be a finite number"),
        ({"x": [[1, 2]]}, "must be a finite number, a text or a truth value"),
        ({"x": 3}, r"samples\['x'\] must be a list of values"),
    ],
)
def test_samples_are_checked_before_anything_runs(samples, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        run(reciprocal, samples, out=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_other_arguments_are_checked():
    with pytest.raises(ValueError, match="no case 'crank-slidr'"):
        run("crank-slidr", {"x": [1]})
    with pytest.raises(ValueError, match="strain must be one of 'linear', 'von_karman', got 'cubic'"):
        run("crank-slider", {"strain": ["cubic"]})
    with pytest.raises(ValueError, match=r"elements must be int, got 2\.5"):
        run("crank-slider", {"elements": [2.5]})
    with pytest.raises(ValueError, match="executor must be 'dask://host:port', 'mpi' or an executor"):
        run(reciprocal, {"x": [1]}, executor="slurm")
    lock = multiprocessing.Lock()
    with pytest.raises(ValueError, match="function must be picklable"):
        run(lambda x: {"y": lock}, {"x": [1]}, jobs=2)
    assert run(lambda x: lock.acquire(False) and {"y": x}, {"x": [1]}).y == 1  # in this process it may


def test_random_samples_fill_their_box():
    bounds = {"a": (1.0, 3.0), "b": (-1e9, 1e9)}
    for samples in (latin_hypercube(16, bounds, seed=1), sobol(16, bounds, seed=1)):
        a, b = np.array(samples.columns["a"]), np.array(samples.columns["b"])
        assert len(samples) == 16 and dict(samples.sizes) == {"sample": 16}
        # one in each slice of a sixteenth
        assert sorted(np.floor(8 * (a - 1.0))) == sorted(np.floor((b + 1e9) / 1.25e8)) == list(range(16))
    assert latin_hypercube(4, bounds, seed=1) == latin_hypercube(4, bounds, seed=1)
    with pytest.raises(ValueError, match="power of two"):
        sobol(10, bounds)
    with pytest.raises(ValueError, match=r"bounds of 'a' must be \(lower, upper\)"):
        sobol(8, {"a": (1.0, 1.0)})


def test_samples_are_in_order_of_the_grid():
    samples = grid({"a": [1, 2], "b": ["x", "y"]})
    assert list(samples) == [{"a": a, "b": b} for a in (1, 2) for b in "xy"]
    assert list(table(list(samples))) == list(samples)


def test_an_engine_gets_a_bounded_number_of_samples(tmp_path):
    most = []

    class Counting(ThreadPoolExecutor):
        under_way = 0

        def submit(self, function, *arguments):
            self.under_way += 1
            most.append(self.under_way)
            future = super().submit(function, *arguments)
            future.add_done_callback(lambda _: setattr(self, "under_way", self.under_way - 1))
            return future

    with Counting(2) as executor:
        run(lambda x: time.sleep(0.001) or {}, {"x": list(range(40))}, executor=executor, jobs=5)
    assert max(most) <= 6 and len(most) == 40


def test_perform_stores_where_the_folder_is_seen(tmp_path):
    assert perform(Task(b"cos\ngetcwd\n.", {}, tmp_path, "token")).record is not None
