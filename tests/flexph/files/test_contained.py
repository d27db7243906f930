"""What lies in another file, under two names, or is more than a file can hold: refused by every reader of HDF5."""

import io
import json
import zipfile

import h5py
import meshio
import numpy as np
import pytest
from click.testing import CliRunner

from flexph.cli import main
from flexph.exchange import read_urdf
from flexph.export.series import read_series
from flexph.files.hdf5 import open_contained, write_hdf5
from flexph.files.trees import read_tree, write_tree
from flexph.files.vtkhdf import Block, Frames, write_vtkhdf
from flexph.meshes.files import read
from flexph.scenes import Part, Scene, read_scene, write_scene
from flexph.studies.execution.records import read_record

POINTS = np.vstack([np.zeros(3), np.eye(3)])
SECRET = b"the key of somebody else"


def external_link(file, name, secret):
    del file[name]
    file[name] = h5py.ExternalLink(f"{secret}.h5", "secret")


def soft_link(file, name, secret):
    file.move(name, "elsewhere")
    file[name] = h5py.SoftLink("/elsewhere")


def dangling_link(file, name, secret):
    file["more"] = h5py.SoftLink("/nowhere")


def second_name(file, name, secret):
    file["again"] = file[name]


def circle(file, name, secret):
    file.create_group("circle")["round"] = file["/"]


def external_storage(file, name, secret):
    shape, kind = file[name].shape, file[name].dtype
    del file[name]
    file.create_dataset(name, shape=shape, dtype=kind, external=[(str(secret), 0, h5py.h5f.UNLIMITED)])


def virtual(file, name, secret):
    shape, kind = file[name].shape, file[name].dtype
    layout = h5py.VirtualLayout(shape=shape, dtype=kind)
    layout[...] = h5py.VirtualSource(f"{secret}.h5", "secret", shape=shape)
    del file[name]
    file.create_virtual_dataset(name, layout)


def fill(file, name, secret):
    kind = file[name].dtype
    del file[name]
    file.create_dataset(name, shape=(10**9, 3), dtype=kind, chunks=(10**6, 3), compression="gzip")


KINDS = (
    external_link,
    soft_link,
    dangling_link,
    second_name,
    circle,
    external_storage,
    virtual,
    fill,
)


def scene_file(folder):
    part = Part("rod", "body", np.zeros((2, 4, 3)) + POINTS, np.array([[0, 1, 2]]))
    return write_scene(folder / "scene.vtkhdf", Scene(np.arange(2.0), (part,), 1.0, 3)), "VTKHDF/rod/Points"


def series_file(folder):
    frames = [Frames(POINTS[None], {}, {})]
    block = Block("a", "bodies", (("tetra", np.array([[0, 1, 2, 3]])),), frames)
    write_vtkhdf(folder / "s.vtkhdf", np.zeros(1), [block], {})
    return folder / "s.vtkhdf", "VTKHDF/a/Points"


def piece_file(folder):
    write_tree(folder / "1.h5", {"x": POINTS})
    return folder / "1.h5", "0"


def mesh_file(suffix, folder):
    meshio.Mesh(POINTS, [("tetra", [[0, 1, 2, 3]])]).write(folder / f"m.{suffix}")
    names = {"med": "ENS_MAA/mesh/-0000000000000000001-0000000000000000001/NOE/COO", "h5m": "tstt/nodes/coordinates"}
    return folder / f"m.{suffix}", names[suffix]


def xdmf_file(folder):
    meshio.Mesh(POINTS, [("tetra", [[0, 1, 2, 3]])]).write(folder / "m.xdmf")
    return folder / "m.h5", "data0"


READERS = {
    "scene": (scene_file, read_scene),
    "series": (series_file, read_series),
    "piece": (piece_file, read_tree),
    "med": (lambda folder: mesh_file("med", folder), read),
    "h5m": (lambda folder: mesh_file("h5m", folder), read),
    "xdmf": (xdmf_file, lambda path: read(path.with_suffix(".xdmf"))),
}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRET * 100)
    with h5py.File(f"{path}.h5", "w") as file:
        file["secret"] = np.ones((4, 3))
    return path


@pytest.mark.parametrize("name", READERS)
def test_no_reader_follows_a_way_out(name, secret, tmp_path):
    make, read_back = READERS[name]
    for kind in KINDS:
        folder = tmp_path / kind.__name__
        folder.mkdir()
        path, dataset = make(folder)
        read_back(path)
        with h5py.File(path, "r+") as file:
            kind(file, dataset, secret)
        words = "link to another place|second name|values in another file|declares"
        with pytest.raises((ValueError, OSError), match=words):
            read_back(path)


def test_a_page_shows_no_other_file(secret, tmp_path):
    path, name = scene_file(tmp_path)
    with h5py.File(path, "r+") as file:
        external_storage(file, name, secret)
    shown = CliRunner().invoke(main, ["view", str(path), "--html", str(tmp_path / "page.html")])
    assert shown.exit_code == 1 and "has its values in another file" in shown.output
    assert not (tmp_path / "page.html").exists()


def test_links_of_the_tree_that_nobody_follows_stay(tmp_path):
    """The assembly of VTKHDF is made of soft links, and may hold no other ones."""
    path, _ = scene_file(tmp_path)
    assert read_scene(path).parts[0].name == "rod"
    with h5py.File(path, "r+") as file:
        file["VTKHDF/Assembly/more"] = h5py.ExternalLink("/etc/passwd", "/")
    with pytest.raises(ValueError, match="/VTKHDF/Assembly/more is a link"):
        read_scene(path)


def test_what_is_refused_is_closed(tmp_path):
    write_hdf5(tmp_path / "a.h5", lambda file: file.__setitem__("x", h5py.SoftLink("/y")))
    with pytest.raises(OSError, match="/x is a link"):
        open_contained(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:  # HDF5 opens no file for writing that is open for reading
        del file["x"]
    open_contained(tmp_path / "a.h5").close()


def test_xdmf_reads_no_binary_file_elsewhere(secret, tmp_path, monkeypatch):
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.chdir(folder)
    meshio.Mesh(POINTS, [("tetra", [[0, 1, 2, 3]])]).write("m.xdmf", data_format="Binary")
    assert len(read(folder / "m.xdmf").points) == 4
    text = (folder / "m.xdmf").read_text()
    name = next(path.name for path in folder.glob("*.bin"))
    (folder / "m.xdmf").write_text(text.replace(name, str(secret)))
    with pytest.raises(ValueError, match="which is not in its folder"):
        read(folder / "m.xdmf")


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
READ = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("kind", [BOMB, READ, "deep"])
@pytest.mark.parametrize("suffix", ["pvd", "xdmf", "vtu", "urdf"])
def test_xml_has_no_entities_and_is_not_nested_deeply(suffix, kind, tmp_path):
    text = "<a>" * 5000 + "</a>" * 5000 if kind == "deep" else f"<?xml version='1.0'?>{kind}<VTKFile>&a;</VTKFile>"
    (tmp_path / f"a.{suffix}").write_text(text)
    with pytest.raises(ValueError, match=r"document type|nested deeper"):
        {"vtu": read, "urdf": read_urdf}.get(suffix, read_series)(tmp_path / f"a.{suffix}")


def record(path, head=None, **arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {"record": np.array(json.dumps(head)), **arrays}.items():
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"{name}.npy", file.getvalue())
    return path


HEAD = {"parameters": {}, "values": {"q": ["f", [1]]}, "error": "", "traceback": "", "seconds": 0.0}


def test_records_of_studies_are_judged_before_they_are_read(tmp_path):
    path = tmp_path / "a.npz"
    assert read_record(record(path, HEAD, **{"value 0": np.ones(3)})).values["q"].sum() == 3.0
    for head, arrays, words in (
        (HEAD, {"value 0": np.array([lambda: 0.0, None][1:], dtype=object)}, "objects, which can run code"),
        (HEAD, {"value 0": np.zeros(10**7)}, "more than 200 times its size"),
        ([1], {}, "must have parameters"),
        ({**HEAD, "seconds": "long"}, {}, "must have parameters"),
        (HEAD, {}, "damaged"),
    ):
        with pytest.raises(OSError, match=words):
            read_record(record(path, head, **arrays))
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(OSError, match="damaged"):
        read_record(path)
