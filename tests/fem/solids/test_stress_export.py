"""Stresses of solids and plates as they are shown: at own points, smoothed, over time; files read back."""

import csv

import meshio
import numpy as np
import pytest
from covering import covering
from plate_meshes import KINDS, SOFT, THEORIES, mixed, rectangle, rim
from scipy.sparse.linalg import spsolve
from solid_meshes import PLANE, SOLID, box, plane_of

import fem
import rigid
from fem.mesh_report import mesh_report
from fem.solids import elasticity
from flexph import GROUND, connect, integrate, weld
from flexph.bodies import at_nodes, peak_von_mises, principal_stresses, reduce_body, stress_error, tensors, von_mises
from flexph.bodies.elasticity import StressRows
from flexph.export import frames, read_series, stress_envelope, write_envelope, write_series

RUBBER = fem.Material(young=2e5, density=200.0, poisson=0.3)
STIFF = fem.Material(young=2e6, density=200.0, poisson=0.3)
LENGTHS = (1.0, 0.2, 0.15)


# --- at the nodes of each cell


@pytest.mark.parametrize("kind", SOLID + PLANE)
def test_nodes_have_the_polynomial_through_the_points_of_their_cell(kind):
    """Of a linear field these values are its own, but on cells of degree 1 with one point, which have a constant."""
    dim = 3 if kind in SOLID else 2
    body = fem.solid(box(kind, (2, 1, 1)[:dim], LENGTHS[:dim]), RUBBER, **plane_of(kind))
    field = body.view.tensors["stress"]
    rng = np.random.default_rng(0)
    slopes = rng.standard_normal((dim, 6)) * ([1, 1, 0, 1, 0, 0] if dim == 2 else 1)  # σ_zz = 0 in plane stress
    sigma = spsolve((field.at.T @ field.at).tocsc(), field.at.T @ (field.positions @ slopes).ravel())
    nodes = body.view.points[body.view.cells]
    if kind in ("tetra", "triangle"):
        nodes = np.broadcast_to(nodes.mean(axis=1, keepdims=True), nodes.shape)
    assert at_nodes(field, sigma) == pytest.approx(nodes @ slopes, abs=1e-12)
    many = rng.standard_normal((4, body.stress_size))
    assert at_nodes(field, many)[2] == pytest.approx(at_nodes(field, many[2]), abs=1e-12)


@covering(
    "theory, mesh", tuple(THEORIES), (rectangle("triangle", (2, 2)), rectangle("quad", (2, 2), moved=0.1), mixed(0.05))
)
def test_faces_of_plates_at_their_nodes(mesh, theory):
    """A linear field of moments is linear on every piece of a cell: the mean of the pieces is exact."""
    body = fem.plate(mesh, SOFT, thickness=0.1, theory=theory)
    field = body.view.tensors["stress_top"]
    slopes = np.random.default_rng(1).standard_normal((2, 6)) * [1, 1, 0, 1, 0, 0]
    wanted = (field.positions[:, :2] @ slopes).ravel()
    sigma = np.linalg.lstsq(field.at.toarray(), wanted, rcond=None)[0]  # forces and moments give one stress
    assert tensors(field.at, sigma) == pytest.approx(field.positions[:, :2] @ slopes, abs=1e-9)
    nodes = body.view.points[body.view.cells][..., :2]
    assert at_nodes(field, sigma) == pytest.approx(nodes @ slopes, abs=1e-8)


@pytest.mark.parametrize("kind", SOLID)
def test_the_smooth_field_of_a_linear_field_is_this(kind):
    """Also at the boundary: no error is indicated where stresses are linear and cells hold them."""
    body = fem.solid(box(kind, (3, 2, 2), LENGTHS), RUBBER, ports={"a": "left"}, reference="a")
    field = body.view.tensors["stress"]
    slopes = np.random.default_rng(0).standard_normal((3, 6))
    sigma = spsolve((field.at.T @ field.at).tocsc(), field.at.T @ (field.positions @ slopes).ravel())
    if kind != "tetra":  # whose points do not suffice around the corners of the box
        want = body.view.points[body.view.cells] @ slopes
        assert at_nodes(field, sigma, smoothed=True) == pytest.approx(want, abs=1e-11)
        assert stress_error(field, sigma).max() < 1e-12


@covering("theory, kind", tuple(THEORIES), tuple(KINDS))
def test_indicated_error_of_the_moments_of_a_plate(kind, theory):
    """A simply supported square under a sine load: at order two, and from 1.9 to 5.7 times the true error."""
    indicated, true = [], []
    for n in (8, 16):
        body = fem.plate(
            rectangle(kind, (n, n)),
            SOFT,
            thickness=0.1,
            theory=theory,
            supports=[fem.Support(rim(), "hinged")],
            loads={"q": fem.Load(lambda x: x[0] > -1.0, uniform=False)},
        )
        q, D, S = body.loads["q"], body.elasticity.strain, body.elasticity.stiffness_of_stress
        density = np.sin(np.pi * q.positions[:, 0]) * np.sin(np.pi * q.positions[:, 1]) * q.measures
        force = q.shapes.T @ (density[:, None] * np.eye(3)[2]).ravel()
        sigma = S @ (D @ spsolve((D.T @ (S @ D)).tocsc(), force))
        eta, apart = 0.0, 0.0
        for name, side in (("stress_top", 1.0), ("stress_bottom", -1.0)):
            field = body.view.tensors[name]
            x, y = np.pi * field.positions[:, :2].T
            moments = np.zeros((len(x), 6))  # M = −D(w_xx + ν w_yy), …, w = q/(4π⁴D) sin πx sin πy
            moments[:, 0] = moments[:, 1] = 1.3 / (4.0 * np.pi**2) * np.sin(x) * np.sin(y)
            moments[:, 3] = -0.7 / (4.0 * np.pi**2) * np.cos(x) * np.cos(y)
            off = tensors(field.at, sigma) - side * 6.0 / 0.1**2 * moments
            eta += np.sum(stress_error(field, sigma) ** 2)
            apart += np.einsum("pi,ij,pj,p->", off, field.compliances[0], off, field.weights)
        indicated.append(np.sqrt(eta))
        true.append(np.sqrt(apart))
    assert np.log2(indicated[0] / indicated[1]) == pytest.approx(1.9, abs=0.1)  # towards two from below
    assert 1.9 < indicated[1] / true[1] < 5.7


# --- series, there and back


@pytest.fixture(scope="module")
def run():
    """A solid, reduced, with a rigid block and a beam on it: three types of cells, one of them with tensors."""
    solid = fem.solid(
        box("tetra10", (2, 1, 1), LENGTHS), RUBBER, ports={"root": "left", "tip": "right"}, reference="root"
    )
    bodies = {
        "solid": reduce_body(solid, modes=3, static=("tip",)),
        "block": rigid.box((0.1, 0.1, 0.1), density=1000.0),
        "beam": fem.beam(0.3, RUBBER, fem.Section(width=0.1, height=0.1), elements=2, dim=3),
    }
    joints = [weld("solid.root", GROUND), weld("solid.tip", "block.centre"), weld("block.centre", "beam.root")]
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"solid": ((0.0, 0.0, 0.0), np.eye(3))}))
    return integrate(mechanism, start, np.linspace(0.0, 0.02, 9))


def test_both_formats_are_the_same_series(run, tmp_path, monkeypatch):
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    pvd = read_series(write_series(tmp_path / "a.pvd", run, bodies=["solid"], frames=3)[0])
    paths = write_series(tmp_path / "b.xdmf", run, bodies=["solid"], frames=3)
    assert paths == [tmp_path / "b.xdmf"] and not list((tmp_path / "away").iterdir())
    xdmf = read_series(paths[0])
    np.testing.assert_array_equal(pvd.times, run.times[[0, 4, 8]])
    np.testing.assert_array_equal(xdmf.times, pvd.times)
    # displacements are added to the first positions again: two round-offs of lengths of 1 m
    np.testing.assert_allclose(xdmf.points, pvd.points, atol=1e-15)
    assert xdmf.cells[0][0] == pvd.cells[0][0] == "tetra10"
    np.testing.assert_array_equal(xdmf.cells[0][1], pvd.cells[0][1])
    for one, two in ((pvd.point_data, xdmf.point_data), (pvd.cell_data, xdmf.cell_data)):
        assert one.keys() == two.keys()
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])
    field = run.mechanism.bodies["solid"].view.tensors["stress"]
    np.testing.assert_allclose(
        xdmf.cell_data["stress"], tensors(field.cells, run["solid.stress"][[0, 4, 8]]), rtol=1e-14
    )


def test_xdmf_keeps_tensors_in_the_order_of_its_format(run, tmp_path):
    """XDMF's Tensor6 is xx, xy, xz, yy, yz, zz."""
    (path,) = write_series(tmp_path / "b.xdmf", run, bodies=["solid"], frames=2)
    with meshio.xdmf.TimeSeriesReader(path) as reader:
        reader.read_points_cells()
        raw = reader.read_data(1)[2]["stress"][0]
    own = read_series(path).cell_data["stress"][1]
    np.testing.assert_array_equal(raw[:, [0, 3, 5, 1, 4, 2]], own)
    assert 'AttributeType="Tensor6"' in path.read_text()


def test_bodies_of_several_types_have_an_xdmf_file_each(run, tmp_path):
    paths = write_series(tmp_path / "run.xdmf", run, frames=2)
    assert [p.name for p in paths] == ["run_tetra10.xdmf", "run_hexahedron.xdmf", "run_line.xdmf"]
    series = [read_series(p) for p in paths]
    for k, one in enumerate(series):
        np.testing.assert_array_equal(one.cell_data["body"], k)
    assert np.isnan(series[1].cell_data["stress"]).all() and not np.isnan(series[0].cell_data["stress"]).any()
    whole = read_series(write_series(tmp_path / "run.pvd", run, frames=2)[0])
    assert whole.points.shape[1] == sum(s.points.shape[1] for s in series)


def test_meshes_of_a_series_are_meshes(run, tmp_path):
    """A frame makes a body again, of the same mass, and flexph mesh says what it holds; so do those of XDMF."""
    index, first, *_ = write_series(tmp_path / "a.pvd", run, bodies=["solid"], frames=3)
    (xdmf,) = write_series(tmp_path / "a.xdmf", run, bodies=["solid"], frames=3)
    mass = run.mechanism.bodies["solid"].mass
    for mesh in (first, read_series(index).mesh(0), read_series(xdmf).mesh()):
        assert fem.solid(mesh, RUBBER).mass == pytest.approx(mass, rel=1e-12)
        report = mesh_report(mesh, 200.0)
        assert report.cells == {"tetra10": 12} and report.mass == pytest.approx(mass, rel=1e-12)
    last = read_series(index).mesh(-1)
    last.write(tmp_path / "last.vtu")
    again = meshio.read(tmp_path / "last.vtu")
    name = "von_mises_largest_in_cell"
    np.testing.assert_array_equal(again.cell_data[name][0], last.cell_data[name][0])


# --- discontinuous and smooth


@pytest.mark.parametrize("suffix", ["pvd", "xdmf"])
def test_cells_with_their_own_points_show_the_jumps(run, tmp_path, suffix):
    paths = write_series(tmp_path / f"own.{suffix}", run, bodies=["solid"], frames=2, discontinuous=True, smoothed=True)
    series, view = read_series(paths[0]), run.mechanism.bodies["solid"].view
    cells, field = series.cells[0][1], view.tensors["stress"]
    assert cells.size == series.points.shape[1] == len(np.unique(cells)) == 120
    sigma = run["solid.stress"][-1]
    own, even = series.point_data["stress"][1][cells], series.point_data["stress_smoothed"][1][cells]
    np.testing.assert_allclose(own, at_nodes(field, sigma), rtol=1e-13)
    np.testing.assert_allclose(even, at_nodes(field, sigma, smoothed=True), rtol=1e-13)
    np.testing.assert_allclose(series.point_data["stress_principal"][1][cells], principal_stresses(own), rtol=1e-12)
    np.testing.assert_allclose(series.point_data["stress_von_mises"][1][cells], von_mises(own), rtol=1e-12)
    np.testing.assert_allclose(series.points[1][cells], run.points("solid", view.points, view.shape)[-1][view.cells])
    node = view.cells.ravel()
    spread = lambda v: max(np.ptp(v.reshape(-1, 6)[node == n], axis=0).max() for n in np.unique(node))  # noqa: E731
    assert spread(even) < 1e-12 * spread(own)  # one is continuous, the other one is not
    assert series.cell_data["stress"].shape == (2, 12, 6)


def test_smoothed_stresses_part_at_materials(tmp_path):
    """A bar of two materials: points of both belong to the cells of each, all others are shared."""
    mesh = box("hexahedron", (4, 1, 1), LENGTHS)
    halves = {"soft": [np.array([0, 1])], "hard": [np.array([2, 3])]}
    given = meshio.Mesh(mesh.points, mesh.cells, cell_sets=halves, point_sets=mesh.point_sets)
    body = fem.solid(given, {"soft": RUBBER, "hard": STIFF}, ports={"root": "left"}, reference="root")
    mechanism = connect({"b": body}, [weld("b.root", GROUND)], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
    short = integrate(mechanism, start, np.linspace(0.0, 1e-3, 3))
    series = read_series(write_series(tmp_path / "s.pvd", short, frames=2, smoothed=True)[0])
    assert series.points.shape[1] == len(body.view.points) + 4
    cells = series.cells[0][1]
    found = series.point_data["stress_smoothed"][1][cells]
    want = at_nodes(body.view.tensors["stress"], short["b.stress"][-1], smoothed=True)
    np.testing.assert_allclose(found, want, atol=1e-12 * np.abs(want).max())
    plain = read_series(write_series(tmp_path / "p.pvd", short, frames=2)[0])
    assert plain.points.shape[1] == len(body.view.points) and "stress" not in plain.point_data


def test_parts_of_a_long_run_are_one(run, tmp_path, monkeypatch):
    whole = read_series(write_series(tmp_path / "a.pvd", run, bodies=["solid"])[0])
    envelope = stress_envelope(run, "solid")
    monkeypatch.setattr(frames, "ENTRIES", 1)
    parts = read_series(write_series(tmp_path / "b.pvd", run, bodies=["solid"])[0])
    for name in whole.cell_data:  # products of matrices, whose sums depend on how many columns there are
        np.testing.assert_allclose(parts.cell_data[name], whole.cell_data[name], rtol=1e-9, atol=1e-9)
    # coordinates near zero are what is left of terms of 0.1 m to 1 m, whose round-off is 1e-17 and more
    np.testing.assert_allclose(parts.points, whole.points, rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(stress_envelope(run, "solid").peak_von_mises, envelope.peak_von_mises, rtol=1e-12)
    np.testing.assert_array_equal(stress_envelope(run, "solid").peak_time, envelope.peak_time)


# --- envelopes


def test_envelope_is_the_extreme_over_all_times_and_points(run, tmp_path):
    view, sigma = run.mechanism.bodies["solid"].view, run["solid.stress"]
    field = view.tensors["stress"]
    found = stress_envelope(run, "solid")
    peaks = peak_von_mises(field, sigma)
    np.testing.assert_allclose(found.peak_von_mises, peaks.max(axis=0), rtol=1e-14)
    np.testing.assert_array_equal(found.peak_time, run.times[peaks.argmax(axis=0)])
    principal = principal_stresses(tensors(field.at, sigma))
    for cell in (0, 7):
        own = principal[:, field.cell == cell]
        assert found.largest_principal[cell] == own.max() and found.smallest_principal[cell] == own.min()
        assert found.largest_time[cell] == run.times[own.max(axis=(1, 2)).argmax()]
        assert found.smallest_time[cell] == run.times[own.min(axis=(1, 2)).argmin()]
        np.testing.assert_allclose(found.centres[cell], field.positions[field.cell == cell].mean(axis=0))
    assert "in cell" in repr(found)

    mesh = meshio.read(write_envelope(tmp_path / "peaks.vtu", run, bodies=["solid"]))
    np.testing.assert_array_equal(mesh.cell_data["stress_peak_von_mises"][0], found.peak_von_mises[field.drawn])
    np.testing.assert_array_equal(mesh.cell_data["stress_smallest_time"][0], found.smallest_time[field.drawn])
    np.testing.assert_allclose(mesh.points, view.points, atol=1e-15)
    with open(write_envelope(tmp_path / "peaks.csv", run), encoding="utf-8") as file:
        every = list(csv.DictReader(file))
    rows = every[:12]
    assert {row["body"] for row in every[12:]} == {"beam"} and len(every) == 12 + 8
    assert len(rows) == 12 and rows[3]["body"] == "solid" and rows[3]["cell"] == "3"
    assert float(rows[3]["peak_von_mises [Pa]"]) == found.peak_von_mises[3]  # all digits are kept
    assert float(rows[3]["peak_time [s]"]) == found.peak_time[3]


def test_bad_exports_are_refused(run, tmp_path):
    for call, message in (
        (lambda: stress_envelope(run, "block"), "body 'block' has no stress tensor"),
        (lambda: stress_envelope(run, "solid", "strain"), "no tensor 'strain': body 'solid' has 'stress'"),
        (lambda: stress_envelope(run, "sold"), "no body 'sold': there are 'solid'"),
        (lambda: write_envelope(tmp_path / "a.vtu", run, bodies=["block"]), "body 'block' has no stress tensor"),
        (lambda: write_envelope(tmp_path / "a.txt", run), "must end in .vtu, .csv"),
        (lambda: write_series(tmp_path / "a.vtk", run), r"must end in .vtkhdf, .pvd, .xdmf, got '.*a.vtk'"),
        (lambda: read_series(tmp_path / "a.vtk"), "must end in .vtkhdf, .pvd, .xdmf"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(FileNotFoundError, match=r"there is no such file: '.*none\.pvd'"):
        read_series(tmp_path / "none.pvd")


@pytest.mark.parametrize("suffix", ["pvd", "xdmf"])
def test_damaged_series_are_refused(run, tmp_path, suffix):
    path, *_ = write_series(tmp_path / f"a.{suffix}", run, bodies=["solid"], frames=2)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(ValueError, match=f"cannot be read from '.*a.{suffix}'"):
        read_series(path)
    path.write_text(text)
    held = tmp_path / "a.h5" if suffix == "xdmf" else tmp_path / "a" / "a_0001.vtu"
    held.unlink()
    with pytest.raises(ValueError, match=r"cannot be read from .*a"):
        read_series(path)
    path.write_text("<VTKFile><Collection/></VTKFile>" if suffix == "pvd" else "<Xdmf Version='3.0'/>")
    with pytest.raises(ValueError, match="a." + suffix):
        read_series(path)


def test_stresses_of_a_reduced_body_are_computed_when_they_are_asked_for(monkeypatch):
    """By cells, for bodies with many stresses: those of the matrix that small ones keep, also reduced once more."""
    mesh = fem.box_mesh((1.0, 0.2, 0.1), (3, 1, 1), simplices=True)
    steel = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
    ports = {"root": "left", "tip": "right"}
    cut = {"middle": fem.Cut(lambda x: np.isclose(x[0], 1.0 / 3.0))}
    body = fem.solid(mesh, steel, degree=2, ports=ports, reference="root", sections=cut)
    kept = reduce_body(body, modes=4)
    monkeypatch.setattr(elasticity, "KEPT", 0)
    monkeypatch.setattr(elasticity, "SMALL", 0)
    computed = reduce_body(body, modes=4)
    sigma = np.random.default_rng(0).standard_normal((3, 4))
    for name in ("cells", "at", "nodal"):
        field, want = (getattr(b.view.tensors["stress"], name) for b in (computed, kept))
        assert isinstance(field, StressRows) and field.shape == want.shape
        scale = np.abs(want).max()
        np.testing.assert_allclose(tensors(field, sigma), tensors(want, sigma), atol=1e-11 * scale)  # round-off
        np.testing.assert_allclose(field.toarray(), want.toarray(), atol=1e-11 * scale)
        twice = getattr(reduce_body(computed, basis=np.eye(4)[:, :2]).view.tensors["stress"], name)
        again = getattr(reduce_body(kept, basis=np.eye(4)[:, :2]).view.tensors["stress"], name)
        np.testing.assert_allclose(twice.toarray(), again.toarray(), atol=1e-11 * scale)
    nodal, want = computed.sections["middle"].nodal, kept.sections["middle"].nodal
    np.testing.assert_allclose(nodal, want, atol=1e-11 * np.abs(want).max())
