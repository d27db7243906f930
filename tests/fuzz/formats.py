"""Every format that is read: a small sample of it, its reader, and what the reader gives as plain data."""

import contextlib
import gzip
import io
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial

import matrix_texts
import meshio
import numpy as np
from decks_of import deck
from scipy import sparse
from scipy.io import mmwrite, savemat

import fem
import rigid
from flexph import PHDAE, LinearPHDAE, Solution, Trajectory, connect, integrate
from flexph.bodies import load_reduced, reduce_body, save_reduced
from flexph.bodies.foreign.matrix_files import given_matrix
from flexph.bodies.foreign.matrix_labels import nodal_order
from flexph.exchange import read_mat, read_matrix_market, write_mat, write_matrix_market
from flexph.export.series import read_series, write_pvd, write_xdmf
from flexph.files.reading import reading
from flexph.files.trees import read_tree, write_tree
from flexph.files.vtkhdf import Block, Frames, write_vtkhdf
from flexph.meshes.files.reading import read_contents
from flexph.scenes import Field, Part, Scene, read_scene, write_scene
from flexph.studies.execution.records import Record, read_record, record_path, write_record
from flexph.switching import At, SwitchingPHDAE, SwitchingTrajectory, Transition

TIMES = np.linspace(0.0, 0.4, 5)
POINTS = np.vstack([np.zeros(3), np.eye(3), np.ones(3)])
TETRA = meshio.Mesh(POINTS, [("tetra", np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))], point_data={"v": POINTS})
DECKED = meshio.Mesh(POINTS, TETRA.cells)
SURFACE = meshio.Mesh(POINTS, [("triangle", np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]]))])
MATRIX = sparse.csr_array(np.array([[2.0, -1, 0, 0], [-1, 2.25, -1, 0], [0, -1, 2, -1 / 3], [0, 0, -1 / 3, 1]]))


@dataclass(frozen=True)
class Format:
    """``write`` makes a sample in a folder and returns its path; the files to damage are all that it makes.

    ``checksummed``: damage is seen, whatever it is. ``safe``: read without compiled parsers that could end the process.
    """

    write: object
    read: object
    checksummed: bool = False
    safe: bool = True


def plain(value):
    """A value as lists, texts and numbers, NaN as a text: equal where the bits are."""
    if sparse.issparse(value):
        return ["sparse", plain(value.toarray())]
    if isinstance(value, np.ndarray):
        return [value.shape, repr(value.tolist())]
    if isinstance(value, Mapping):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, meshio.Mesh):
        left_out = ("mechanism", "system", "mesh")
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name not in left_out}
    return repr(value)


def _of_mesh(contents):
    mesh = contents.mesh
    return plain([mesh.points, [(block.type, block.data) for block in mesh.cells], mesh.point_data])


@cache
def _linear(is_sparse):
    E, J, R = np.diag([2.0, 3.0, 1.0]), np.array([[0.0, 1, 0], [-1, 0, 0.3], [0, -0.3, 0]]), np.diag([0.0, 1 / 3, 0])
    B, G = np.eye(3)[:, 1:], np.array([[1.0, 0.5, 0.0]])
    if is_sparse:
        E, J, R, B, G = map(sparse.csr_array, (E, J, R, B, G))
    ports = {"push": slice(0, 1), "pull": slice(1, 2)}
    return LinearPHDAE(E=E, J=J, R=R, B=B, G=G, constraints=("c",), ports=ports, parts={"q": slice(0, 1)})


@cache
def _oscillator():
    return LinearPHDAE(E=np.eye(2), J=np.array([[0.0, 1], [-1, 0]]), B=np.eye(2)[:, 1:], ports={"push": slice(0, 1)})


@cache
def _switching():
    mode = PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        B=np.eye(2)[:, 1:],
        z=lambda x: x,
        H=lambda x: 0.5 * float(x @ x),
        sample=np.ones(2),
        ports={"push": slice(0, 1)},
    )
    return SwitchingPHDAE({"off": mode, "on": mode}, [Transition(source="off", target="on", when=At(0.15))])


@cache
def _mechanism():
    return connect({"bob": rigid.point(1.0)}, [])


@cache
def _runs(kind):
    """One run for each kind of result."""
    if kind is Solution:
        start = _mechanism().consistent_state(_mechanism().assemble())
        return integrate(_mechanism(), start, TIMES[:3], progress=False, observe=lambda t, state: t)
    if kind is Trajectory:
        return integrate(_oscillator(), (1.0, 0.0), TIMES, progress=False, events={"seen": lambda t, x: x[0] - 0.95})
    return integrate(_switching(), (1.0, 0.0), TIMES, progress=False, mode="off")


def _saved(kind, folder):
    _runs(kind).save(folder / "run.h5")
    return folder / "run.h5"


def _loaded(kind, path):
    systems = {Solution: _mechanism, Trajectory: _oscillator, SwitchingTrajectory: _switching}
    return plain(kind.load(path, systems[kind]()))


def _reduced(folder):
    steel, strip = fem.Material(young=2e11, density=7800.0), fem.Section(width=0.02, height=0.01)
    rod = fem.beam(0.3, steel, strip, elements=4, reference="simply_supported", strain="von_karman")
    save_reduced(reduce_body(rod, modes=2, derivatives=1), folder / "rod.h5", fields="stresses")
    return folder / "rod.h5"


def _system(read, path):
    system = read(path)
    names = ("E", "J", "R", "B", "G", "lift", "ports", "parts", "constraints", "causality", "kinetic")
    return [plain(getattr(system, name)) for name in names]


def _bytes(name, content, folder):
    (folder / name).write_bytes(content)
    return folder / name


def _mat(folder, **options):
    matrices = {name: getattr(_linear(False), name) for name in "EJRB"} | {"G": sparse.csc_array(_linear(True).G)}
    savemat(folder / "other.mat", matrices, **options)
    return folder / "other.mat"


def _matrix(name, write, folder):
    file = io.BytesIO()
    write(file)
    return _bytes(name, file.getvalue(), folder)


def _market(matrix, file):
    mmwrite(file, matrix, precision=17)


def _zipped(file):
    text = io.BytesIO()
    _market(MATRIX, text)
    file.write(gzip.compress(text.getvalue()))


def _mesh(suffix, mesh, form, options, folder):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        meshio.write(folder / f"mesh{suffix}", mesh, file_format=form, **options)
    return folder / f"mesh{suffix}"


def _series(suffix, write, folder):
    write(folder / f"series{suffix}", iter([(0.0, TETRA), (0.5, TETRA)]))
    return folder / f"series{suffix}"


def _scene(folder):
    moving = np.zeros((3, 3, 3)) + np.arange(3.0)[:, None, None]
    fields = {"stress": Field("Pa", moving[..., 0])}
    part = Part("rod", "body", moving, np.array([[0, 1, 2]]), deformation=moving, point_fields=fields)
    return write_scene(folder / "scene.vtkhdf", Scene(np.arange(3.0), (part,), 0.1, 2))


def _named(folder):
    moving = np.zeros((3, 5, 3)) + np.arange(3.0)[:, None, None]
    own = Frames(moving, {"displacement": moving}, {"stress": moving[:, :2, :1]})
    cells = ((TETRA.cells[0].type, TETRA.cells[0].data),)
    write_vtkhdf(folder / "motion.vtkhdf", np.arange(3.0), [Block("rod", "bodies", cells, [own])], {})
    return folder / "motion.vtkhdf"


def _piece(folder):
    write_tree(folder / "00000001.h5", {"rows": {"x": np.arange(40.0).reshape(8, 5)}, "open": True, "restart": None})
    return folder / "00000001.h5"


def _tree(path):
    with reading("piece", path):
        return plain(read_tree(path))


def _record(folder):
    write_record(folder, Record({"a": 1.5}, {"q": np.arange(4.0), "name": np.array("x")}, seconds=0.5))
    return record_path(folder, {"a": 1.5})


_value = lambda path: plain(given_matrix("mass", path))  # noqa: E731
_held = lambda path: _of_mesh(read_contents(path))  # noqa: E731
_told = lambda path: plain(nodal_order(np.arange(2), 2, path).mapping)  # noqa: E731
_frames = lambda path: plain(read_series(path))  # noqa: E731
_text = lambda name, text: partial(_bytes, name, text.encode())  # noqa: E731
_rows = "".join(" ".join(map(repr, row)) + "\n" for row in MATRIX.toarray().tolist())
_labels = [(1, 0), (1, 1), (2, 0), (2, 1)]

FORMATS = {
    "solution": Format(partial(_saved, Solution), partial(_loaded, Solution), True, False),
    "trajectory": Format(partial(_saved, Trajectory), partial(_loaded, Trajectory), True, False),
    "switching": Format(partial(_saved, SwitchingTrajectory), partial(_loaded, SwitchingTrajectory), True, False),
    "reduced body": Format(_reduced, lambda path: plain(load_reduced(path)), True, False),
    "folder": Format(lambda f: write_matrix_market(f / "s", _linear(True)), partial(_system, read_matrix_market), True),
    "dense folder": Format(
        lambda f: write_matrix_market(f / "s", _linear(False)), partial(_system, read_matrix_market), True
    ),
    "mat": Format(lambda f: write_mat(f / "s.mat", _linear(True)), partial(_system, read_mat), True, False),
    "dense mat": Format(lambda f: write_mat(f / "s.mat", _linear(False)), partial(_system, read_mat), True, False),
    "other mat": Format(_mat, partial(_system, read_mat), False, False),
    "mat 4": Format(partial(_mat, format="4"), partial(_system, read_mat), False, False),
    "npy": Format(partial(_matrix, "m.npy", lambda f: np.save(f, MATRIX.toarray())), _value),
    "npz": Format(partial(_matrix, "m.npz", lambda f: sparse.save_npz(f, MATRIX)), _value, True),
    "npz, plain": Format(
        partial(_matrix, "m.npz", lambda f: sparse.save_npz(f, MATRIX.tocsc(), compressed=False)), _value, True
    ),
    "mtx": Format(partial(_matrix, "m.mtx", partial(_market, MATRIX)), _value, False, False),
    "dense mtx": Format(partial(_matrix, "m.mtx", partial(_market, MATRIX.toarray())), _value, False, False),
    "mtx.gz": Format(partial(_matrix, "m.mtx.gz", _zipped), _value, True, False),
    "harwell-boeing": Format(_text("m.hb", matrix_texts.harwell_boeing_text(MATRIX)), _value),
    "coordinates": Format(_text("m.txt", matrix_texts.coordinate(MATRIX)), _value),
    "labels": Format(_text("m.txt", matrix_texts.matrix_input(MATRIX, [11, 12], dim=2)), _value),
    "rows": Format(_text("m.txt", _rows), _value),
    "mapping": Format(_text("m.mapping", matrix_texts.mapping_text(_labels)), _told),
    "piece": Format(_piece, _tree, True, False),
    "record": Format(_record, lambda path: plain(read_record(path)), True),
    "pvd": Format(partial(_series, ".pvd", write_pvd), _frames),
    "scene": Format(_scene, lambda path: plain(read_scene(path)), False, False),
    "vtkhdf series": Format(_named, _frames, False, False),
    "xdmf series": Format(partial(_series, ".xdmf", write_xdmf), _frames, False, False),
}
# Of Gmsh 4.1 meshio takes memory for as many nodes as the largest number says (SECURITY.md): here version 2.2.
MESHES = {
    ".inp": (TETRA, "abaqus", {}), ".vtu": (TETRA, "vtu", {}), ".vtk": (TETRA, "vtk", {}),
    ".msh": (TETRA, "gmsh22", {}),
    ".bdf": (TETRA, "nastran", {}), ".mesh": (TETRA, "medit", {}), ".su2": (TETRA, "su2", {}),
    ".avs": (TETRA, "avsucd", {}), ".dat": (TETRA, "tecplot", {}),
    ".vol": (TETRA, "netgen", {}), ".mdpa": (TETRA, "mdpa", {}), ".xdmf": (TETRA, "xdmf", {"data_format": "XML"}),
    ".stl": (SURFACE, "stl", {}), ".ply": (SURFACE, "ply", {}), ".off": (SURFACE, "off", {}),
    ".obj": (SURFACE, "obj", {}),
}  # fmt: skip
FORMATS |= {f"mesh {suffix}": Format(partial(_mesh, suffix, *told), _held) for suffix, told in MESHES.items()}
DECKS = ("inp", "bdf", "cdb", "unv")
FORMATS |= {f"deck {form}": Format(_text(f"deck.{form}", deck(form, DECKED)), _held) for form in DECKS}
FORMATS |= {f"mesh {s}": Format(partial(_mesh, s, TETRA, s[1:], {}), _held, False, False) for s in (".med", ".h5m")}
