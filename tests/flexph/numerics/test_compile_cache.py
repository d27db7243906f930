"""Compiled code on disk: found again, thrown away where it is damaged or foreign, done without where it cannot be."""

import errno
import importlib
import logging
import multiprocessing
import os
import pickle
import shutil
import sys
from logging.handlers import BufferingHandler

import pytest

numba = pytest.importorskip("numba")

from flexph.files.durable import locked  # noqa: E402
from flexph.numerics.compiled import cache, linking  # noqa: E402


@pytest.fixture
def said(monkeypatch):
    """What is told the user."""
    handler = BufferingHandler(10)
    monkeypatch.setattr(logging.getLogger("flexph"), "handlers", [handler])
    return handler.buffer


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for compiled code, of a function of a module in another one."""
    path = tmp_path / "source" / "kept_functions.py"
    path.parent.mkdir()
    path.write_text("def twice(x):\n    return 2.0 * x\n")
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setitem(sys.modules, "kept_functions", None)  # which it is set to when the test ends
    del sys.modules["kept_functions"]
    importlib.import_module("kept_functions")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    for sentence in (cache._say_damaged, cache._say_lost):
        sentence.cache_clear()
    return tmp_path / "cache"


def fresh(place):
    """The function as a process sees it that has compiled nothing yet."""
    function = linking.entry(sys.modules["kept_functions"].twice, error_model="numpy")
    cache.keep_on_disk(function)
    return function


def runs(place):
    """Whether the function, which is right, came from disk."""
    function = fresh(place)
    assert function(1.5) == 3.0
    return sum(function.stats.cache_hits.values()) == 1


def flipped(data, place):
    """The bytes with one of them changed."""
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGE = {
    "halved": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: b"\x93garbage" * 40,
    "foreign": lambda data: pickle.dumps({"what": "another program keeps"}),
    "of a module that is gone": lambda data: b"cno.such.module\nname\n.",
    "digest": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
}


def test_code_is_found_again(place, said):
    assert [runs(place) for _ in range(2)] == [False, True]
    assert not said


@pytest.mark.parametrize("suffix", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_compiled_anew(place, said, suffix, damage):
    runs(place)
    (path,) = place.rglob(suffix)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    harmless = (suffix, damage) in {("*.nbi", "digest"), ("*.nbi", "foreign")}  # nothing of them is read
    assert runs(place) == (harmless and damage == "digest")
    assert len(said) == (not harmless)
    assert all("cannot be read and is compiled anew" in record.getMessage() for record in said)
    assert runs(place)


def test_no_changed_byte_of_code_is_run(place):
    """A few hundred places over a file: what is loaded by pickle without complaint might end the process."""
    runs(place)
    (path,) = place.rglob("*.nbc")
    whole = path.read_bytes()
    kept = fresh(place)._cache
    (name,) = kept._cache_file._load_index().values()
    assert kept._cache_file._load_data(name) is not None
    for at in range(0, len(whole), max(1, len(whole) // 300)):
        path.write_bytes(flipped(whole, at))
        with pytest.raises(pickle.UnpicklingError, match="digest"):
            kept._cache_file._load_data(name)


def test_a_missing_file_is_compiled_anew(place, said):
    runs(place)
    (path,) = place.rglob("*.nbc")
    path.unlink()
    assert [runs(place) for _ in range(2)] == [False, True]
    assert not said


def test_a_folder_that_can_no_longer_be_written(place, said):
    """Here because a file stands in its place, which holds for every user."""
    function = fresh(place)
    shutil.rmtree(place)
    place.write_text("a file")
    assert function(1.5) == 3.0
    (record,) = said
    assert "compiled code cannot be kept" in record.getMessage() and "NUMBA_CACHE_DIR" in record.getMessage()


def test_a_full_disk(place, said, monkeypatch):
    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache._Files, "_open_for_write", full)
    assert [runs(place) for _ in range(2)] == [False, False]
    (record,) = said
    assert "No space left on device" in record.getMessage()


def test_a_folder_that_is_a_file_from_the_start(place, said):
    """Numba then looks for another one: beside the source."""
    place.write_text("a file")
    assert [runs(place) for _ in range(2)] == [False, True]
    assert list((place.parent / "source").rglob("*.nbc"))


def test_without_any_place_functions_are_compiled_all_the_same(place, said, monkeypatch):
    from numba.core.caching import CompileResultCacheImpl

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    function = fresh(place)
    assert not said
    assert function(1.5) == 3.0
    (record,) = said
    assert "no locator available" in record.getMessage()


@pytest.mark.skipif(sys.platform == "win32", reason="locks none")
def test_of_two_processes_one_compiles_and_the_other_waits(place, tmp_path):
    runs(place)  # so that numba itself is warm
    shutil.rmtree(place)
    processes = [multiprocessing.get_context("fork").Process(target=_note, args=(place, tmp_path)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sorted(path.read_text() for path in tmp_path.glob("note-*")) == ["False", "True", "True"]


def _note(place, folder):
    (folder / f"note-{os.getpid()}").write_text(str(runs(place)))


def test_a_process_does_not_wait_for_ever(place, said, monkeypatch):
    monkeypatch.setattr(cache, "PATIENCE", 0.1)
    runs(place)
    (lock,) = place.rglob("*.lock")
    for path in place.rglob("*.nb*"):
        path.unlink()
    with locked(lock):
        assert [runs(place) for _ in range(2)] == [False, True]
