"""Files appear whole or not at all: full disks, kills, signals, symbolic links, and what others have in the folder."""

import os
import signal
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest

from flexph.files.durable import deferred_signals, leftovers, place, publish, staged, staging
from flexph.files.hdf5 import DiskFile, write_hdf5

resource = pytest.importorskip("resource", reason="limits of the size of files, in place of full disks")

FULL_DISKS = """
import resource, sys
import numpy as np
import h5py
from flexph.files.hdf5 import write_hdf5

VALUES = np.random.default_rng(0).random((4000, 10))

def write(file):
    file.create_dataset("values", data=VALUES, chunks=True, fletcher32=True)
    for k in range(50):
        file.create_group(f"group {k}").create_dataset("small", data=VALUES[k])

path, refused = sys.argv[1], 0
whole = int(sys.argv[2])
for limit in np.linspace(0, whole - 1, 12).astype(int).tolist():
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write_hdf5(path, write)
    except OSError as error:
        assert error.errno == 27 and error.filename == path, error
        refused += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with h5py.File(path) as file:
    assert list(file.attrs) == ["older"]
write_hdf5(path, write)
with h5py.File(path) as file:
    assert np.array_equal(file["values"], VALUES)
print(refused)
"""


def marked(name):
    def write(file):
        file.attrs[name] = 1

    return write


def marks(path):
    with h5py.File(path) as file:
        return list(file.attrs)


def test_full_disks_raise_and_leave_the_older_file(tmp_path):
    """12 limits from nothing to all but one byte; HDF5 by itself crashes at each of them."""
    path = tmp_path / "run.h5"
    write_hdf5(path, marked("older"))
    command = [sys.executable, "-c", FULL_DISKS, str(path), str(8 * 40_000)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "12\n"), done.stderr[-2000:]
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_else_in_the_folder_is_touched(tmp_path):
    path, other = tmp_path / "x.h5", tmp_path / "x.h5.part"
    other.write_text("somebody's")
    write_hdf5(path, marked("first"))
    with h5py.File(path) as reader:  # whatever the locks that a reader holds
        write_hdf5(path, marked("second"))
        assert list(reader.attrs) == ["first"]
    assert (marks(path), other.read_text()) == (["second"], "somebody's")
    assert path.stat().st_mode == other.stat().st_mode
    with pytest.raises(ZeroDivisionError):
        write_hdf5(path, lambda file: 1 // 0)
    assert sorted(tmp_path.iterdir()) == [path, other]
    assert marks(path) == ["second"]


def test_a_symbolic_link_keeps_pointing(tmp_path):
    link, target = tmp_path / "latest.txt", tmp_path / "runs" / "1.dat"
    target.parent.mkdir()
    link.symlink_to("runs/1.dat")
    for text in ("new", "newer"):  # first it leads nowhere
        with staged(link) as part:
            assert part.suffix == ".txt"
            part.write_text(text)
        assert link.is_symlink()
        assert target.read_text() == text
    with pytest.raises(FileExistsError):
        DiskFile(link)
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links"):
        place(link)


@pytest.mark.parametrize("kind", ["folder", "fifo", "absent folder"])
def test_places_that_cannot_be_replaced_are_named(tmp_path, kind):
    path = tmp_path / "there" / "x" if kind == "absent folder" else tmp_path / "there"
    {"folder": path.mkdir, "fifo": lambda: os.mkfifo(path), "absent folder": lambda: None}[kind]()
    with pytest.raises(OSError, match="there"), staged(path) as part:
        part.write_text("")
    assert not leftovers(tmp_path)


def test_signals_wait_until_a_file_is_whole(tmp_path):
    def write(file):
        signal.raise_signal(signal.SIGINT)
        file.attrs["whole"] = 1

    with pytest.raises(KeyboardInterrupt):
        write_hdf5(tmp_path / "x.h5", write)
    assert not list(tmp_path.iterdir())  # interrupted before it is in its place
    handler = signal.getsignal(signal.SIGINT)
    other = threading.Thread(target=lambda: deferred_signals().__enter__())
    other.start()
    other.join()
    assert signal.getsignal(signal.SIGINT) is handler


def test_what_a_killed_process_left_is_told_from_what_is_used(tmp_path):
    text = "import sys, time; from flexph.files.durable import staged\n"
    text += "with staged(sys.argv[1]) as part: part.write_text('half'); print('here', flush=True); time.sleep(60)"
    path = tmp_path / "x.csv"
    with subprocess.Popen([sys.executable, "-c", text, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "here\n"
        assert not leftovers(tmp_path)
        writer.kill()
    assert [(folder / "x.csv").read_text() for folder in leftovers(tmp_path)] == ["half"]
    assert not path.exists()


def test_a_folder_of_files_is_published_with_the_last_ones_last(tmp_path, monkeypatch):
    with staging(tmp_path) as folder:
        (folder / "frames").mkdir()
        for name in ("a.json", "frames/1", "z"):
            (folder / name).write_text(name)
        order, replace = [], os.replace
        monkeypatch.setattr(os, "replace", lambda a, b: (order.append(b.name), replace(a, b)))
        assert publish(folder, tmp_path, last=["a.json"]) == [tmp_path / n for n in ("a.json", "frames/1", "z")]
    assert order == ["1", "z", "a.json"]
    assert (tmp_path / "frames" / "1").read_text() == "frames/1"


def test_what_was_written_can_be_read_back_while_the_disk_is_full(tmp_path):
    """HDF5 reads again what it wrote before; of a full disk it gets zeros, and no crash."""
    with DiskFile(tmp_path / "x") as file:
        file.write(b"abc")
        file.seek(5)
        file.write(np.arange(2, dtype=np.uint8))
        read = bytearray(9)
        file.seek(0)
        assert file.readinto(read) == 9
        assert bytes(read) == b"abc\0\0\0\1\0\0"
        file.check()


def test_a_folder_that_is_not_there_is_said_in_a_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere', make it first"):
        write_hdf5(tmp_path / "nowhere" / "run.h5", marked("new"))
