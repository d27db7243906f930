"""The same results are the same bytes, whenever they are written: no file has a time stamp or a number drawn by lot."""

import time

import h5py
import numpy as np
import pytest

import rigid
from flexph import GROUND, LinearPHDAE, connect, hinge, integrate
from flexph.exchange import read_mat, write_mat, write_matrix_market
from flexph.export import write_series
from flexph.export.tables import write_ledger
from flexph.files.trees import write_tree
from flexph.scenes import motion_scene, write_scene
from flexph.studies.execution.records import Record, write_record
from flexph.view.html import write_html

SYSTEM = LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1], [-1, 0]]), B=np.eye(2)[:, 1:], ports={"push": slice(0, 1)})


@pytest.fixture(scope="module")
def run():
    mechanism = connect({"bar": rigid.bar(0.5, 2.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))
    return integrate(mechanism, start, np.linspace(0.0, 0.1, 6), progress=False)


def write_all(folder, run):
    folder.mkdir()
    run.save(folder / "run.h5")
    write_ledger(folder / "ledger.csv", run)
    scene = motion_scene(run)
    write_scene(folder / "scene.vtkhdf", scene)
    write_html(folder / "view.html", scene)
    for suffix in ("vtkhdf", "pvd", "xdmf"):
        write_series(folder / f"series.{suffix}", run)
    write_tree(folder / "00000001.h5", {"x": np.ones(3)})
    write_record(folder, Record({"a": 1.5}, {"q": np.arange(4.0)}, seconds=0.5))
    write_mat(folder / "system.mat", SYSTEM)
    write_matrix_market(folder / "system", SYSTEM)
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_files_of_two_seconds_are_the_same(run, tmp_path):
    first = write_all(tmp_path / "a", run)
    time.sleep(1.05)  # time stamps count seconds
    second = write_all(tmp_path / "b", run)
    assert len(first) > 10
    assert [path for path in first if first[path] != second[path]] == []
    assert read_mat(tmp_path / "a" / "system.mat").ports == SYSTEM.ports


def test_no_object_of_hdf5_has_a_time(run, tmp_path):
    write_all(tmp_path / "a", run)
    for path in (tmp_path / "a").glob("*.*h*5*"):
        with h5py.File(path) as file:
            names = ["/"]
            file.visit(names.append)
            assert [name for name in names if h5py.h5o.get_info(file[name].id).mtime] == [], path.name


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_pictures_of_two_seconds_are_the_same(suffix, run, tmp_path):
    plot = pytest.importorskip("flexph.plot")
    pytest.importorskip("matplotlib")
    contents = []
    for name in "ab":
        path = tmp_path / f"{name}.{suffix}"
        axes = plot.ledger(run)
        for other in axes[1:]:
            other.remove()  # a third of the time
        plot.save(axes[:1], path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert b"CreationDate" not in contents[0] and b"dc:date" not in contents[0]
