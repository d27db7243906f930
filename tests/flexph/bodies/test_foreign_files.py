"""Mass and stiffness matrices in the files of other programs: read by what they are, brought to the order of the nodes.

The matrices are those of a solid of ours, so that frequencies are compared to round-off.
"""

import zipfile

import numpy as np
import pytest
from abaqus_files import cantilever
from matrix_texts import (
    coordinate,
    displacement_matrices,
    entries,
    harwell_boeing_text,
    labels,
    mapping_text,
    matrix_input,
    nodal_model,
)
from scipy import sparse
from solid_meshes import box

import fem
from fem.meshes.regions import region
from fem.solids.region_samples import measured
from flexph import eigenfrequencies
from flexph.bodies import body_from_matrices, linear_body

STEEL = fem.Material(young=2.1e11, density=7800.0, poisson=0.3)
COUNT = 4


class Model:
    """A bar of 3 hexahedra, its matrices, other numbers of its nodes, and the order in which a solver has its rows."""

    def __init__(self):
        self.mesh = box("hexahedron", (3, 1, 1), (1.0, 0.2, 0.15))
        self.M, self.K = displacement_matrices(self.mesh, STEEL)
        self.X = self.mesh.points
        rng = np.random.default_rng(0)
        self.numbers = rng.permutation(np.arange(11, 11 + 3 * len(self.X), 3))
        self.solver = rng.permutation(self.X.size)  # the displacement of each row of the solver
        self.nodes = rng.permutation(len(self.X))  # of each block of rows
        self.frequencies = eigenfrequencies(linear_body(self.body(self.M, self.K), "b"), COUNT)

    def body(self, M, K, nodes=None, **options):
        return body_from_matrices(M, K, self.X if nodes is None else nodes, ports={}, modes=COUNT, **options)

    def shuffled(self, matrix):
        return matrix[self.solver][:, self.solver]

    def in_blocks(self, matrix):
        rows = (3 * self.nodes[:, None] + np.arange(3)).ravel()
        return matrix[rows][:, rows]

    @property
    def labels(self):
        return np.column_stack([self.numbers[self.solver // 3], self.solver % 3 + 1])


@pytest.fixture(scope="module")
def model():
    return Model()


def banner(matrix, symmetry="symmetric"):
    rows = entries(matrix, "lower")
    text = "".join(f"{i + 1} {j + 1} {v:.17e}\n" for i, j, v in rows)
    size = f"{matrix.shape[0]} {matrix.shape[0]} {len(rows)}"
    return f"%%MatrixMarket matrix coordinate real {symmetry}\n% Ansys\n{size}\n{text}"


def commas(text):
    return text.replace(".", ",")


def full(matrix, separator):
    return "".join(separator.join(f"{v:.17e}" for v in row) + "\n" for row in matrix.toarray())


PLAIN = {
    "coordinate": coordinate,
    "coordinate, lower": lambda a: coordinate(a, "lower", ", "),
    "coordinate, comments": lambda a: "** Job bar\n** generated\n" + coordinate(a, "upper", ","),
    "coordinate, with sizes": lambda a: f"{a.shape[0]} {a.shape[0]} {len(entries(a))}\n" + coordinate(a),
    "decimal commas": lambda a: commas(coordinate(a, "lower", " ")),
    "decimal commas, semicolons": lambda a: "Row;Column;Value\n" + commas(coordinate(a, "lower", ";")),
    "exponents D": lambda a: coordinate(a).replace("e", "D"),
    "Matrix Market": banner,
    "Matrix Market, general, lower": lambda a: banner(a, "general"),
    "Matrix Market, decimal commas": lambda a: commas(banner(a)),
    "Harwell-Boeing": harwell_boeing_text,
    "Harwell-Boeing, right side": lambda a: harwell_boeing_text(a, True),
    "full": lambda a: full(a, " "),
    "full, semicolons": lambda a: commas(full(a, ";")),
}


def written(folder, write, M, K, ending="txt"):
    (folder / f"bar_MASS1.{ending}").write_text(write(M))
    (folder / f"bar_STIF1.{ending}").write_text(write(K))
    return folder / f"bar_MASS1.{ending}", str(folder / f"bar_STIF1.{ending}")


@pytest.mark.parametrize("form", PLAIN)
def test_rows_in_the_order_of_nodes(form, model, tmp_path):
    body = model.body(*written(tmp_path, PLAIN[form], model.M, model.K))
    np.testing.assert_allclose(eigenfrequencies(linear_body(body, "b"), COUNT), model.frequencies, rtol=1e-10)


@pytest.mark.parametrize("triangle", ["lower", "upper", "both"])
def test_rows_by_node_and_degree_of_freedom(triangle, model, tmp_path):
    """*MATRIX OUTPUT, FORMAT=MATRIX INPUT: nodes by any numbers, in any order of entries."""
    files = written(tmp_path, lambda a: matrix_input(a, model.numbers, triangle), model.M, model.K, "mtx")
    one = model.body(*files, numbers=model.numbers)
    other = model.body(*files, dict(zip(model.numbers.tolist(), model.X, strict=True)))
    for body in (one, other):
        np.testing.assert_allclose(eigenfrequencies(linear_body(body, "b"), COUNT), model.frequencies, rtol=1e-10)
        np.testing.assert_allclose(body.centre, [0.5, 0.1, 0.075], atol=1e-12)


def test_rows_by_node_dot_freedom(model, tmp_path):
    files = written(tmp_path, lambda a: labels(a, model.numbers), model.M, model.K, "mtx")
    body = model.body(*files, numbers=model.numbers)
    np.testing.assert_allclose(eigenfrequencies(linear_body(body, "b"), COUNT), model.frequencies, rtol=1e-10)


@pytest.mark.parametrize("given", ["file", "dof", "rows", "nodes of rows", "nodes", "vector"])
def test_rows_by_a_mapping(given, model, tmp_path):
    """Rows in the order of a solver: .mapping of HBMAT, .dof of CalculiX, or node numbers of rows or their blocks."""
    shuffle = model.shuffled if given in ("file", "dof", "rows") else model.in_blocks
    files = written(tmp_path, harwell_boeing_text, shuffle(model.M), shuffle(model.K), "matrix")
    blocks = model.numbers[model.nodes]
    mapping = {"rows": model.labels, "nodes": blocks, "nodes of rows": np.repeat(blocks, 3)}.get(given)
    if given == "file":
        mapping = tmp_path / "bar.mapping"
        mapping.write_text(mapping_text([(model.numbers[k // 3], k % 3) for k in model.solver]))
    elif given == "dof":
        mapping = tmp_path / "bar.dof"
        mapping.write_text("".join(f"{model.numbers[k // 3]:8d}.{k % 3 + 1}\n" for k in model.solver))
    elif given == "vector":  # *EXPORT of the nodal mapping
        mapping = tmp_path / "map.mmf"
        lines = "".join(f"{n}\n" for n in blocks)
        mapping.write_text(f"%%MatrixMarket matrix array integer general\n{len(blocks)} 1\n{lines}")
    body = model.body(*files, numbers=model.numbers, mapping=mapping)
    np.testing.assert_allclose(eigenfrequencies(linear_body(body, "b"), COUNT), model.frequencies, rtol=1e-10)


def test_damping_files_have_labels_too(model, tmp_path):
    files = written(tmp_path, lambda a: matrix_input(a, model.numbers), model.M, model.K, "mtx")
    given = model.body(*files, numbers=model.numbers, damping=files[0])
    viscous = given.elasticity.viscous.toarray()
    np.testing.assert_allclose(viscous, given.mass * np.eye(COUNT), atol=1e-9 * given.mass)  # ΦᵀMΦ = mass


def test_nodes_and_regions_of_an_input_file(tmp_path):
    """Positions, node numbers, sets and surfaces of the .inp that the matrices belong to."""
    mesh, text = cantilever((3, 1, 1), "hexahedron20", first=101)
    (tmp_path / "bar.inp").write_text(text)
    M, K = displacement_matrices(mesh, STEEL)
    numbers = 101 + np.arange(len(mesh.points))
    files = written(tmp_path, lambda a: matrix_input(a, numbers), M, K, "mtx")
    ports = {"root": "CLAMP", "tip": "TIP", "corner": 0}
    body = body_from_matrices(*files, tmp_path / "bar.inp", ports=ports, modes=COUNT, static=("tip",), fixed="ROOT")
    root = np.flatnonzero(mesh.points[:, 0] == 0.0)
    twin = body_from_matrices(
        M, K, mesh.points, ports={"root": root}, modes=COUNT, fixed=root, cells=("hexahedron20", mesh.cells[0].data)
    )
    np.testing.assert_allclose(body.ports["root"].position, [0.0, 0.1, 0.075], atol=1e-14)
    np.testing.assert_allclose(body.centre, twin.centre, atol=1e-12)
    assert body.view.cell_type == "hexahedron20" and body.ports["corner"].rotation is None
    with pytest.raises(ValueError, match=r"port 'p' must.*region.*facets.*nodes, got 'Set-1'.* cells"):
        body_from_matrices(*files, tmp_path / "bar.inp", ports={"p": "Set-1"})
    with pytest.raises(ValueError, match=r"no region 'X': port 'p':.*mesh.*'ROOT', .*'CLAMP', 'TIP'"):
        body_from_matrices(*files, tmp_path / "bar.inp", ports={"p": "X"})


KINDS = ["tetra", "tetra10", "hexahedron", "hexahedron20", "hexahedron27", "triangle6", "quad8", "quad9"]


@pytest.mark.parametrize("kind", KINDS)
def test_ports_are_weighted_by_area(kind):
    """Facets known by cells: mean and rotation are those of fem.Tie(…, "mean"), whose integrals are scikit-fem's."""
    plane = kind in ("triangle6", "quad8", "quad9")
    mesh = box(kind, (2, 2) if plane else (1, 2, 1), (1.0, 0.2) if plane else (1.0, 0.2, 0.15))
    x = mesh.points
    # facets of uneven size, each the affine image of its reference
    x[:, 1] = np.where(x[:, 1] < 0.1, 0.5 * x[:, 1], 0.05 + 1.5 * (x[:, 1] - 0.1))
    options = {"plane": "stress", "thickness": 0.1} if plane else {}
    M, K = displacement_matrices(mesh, STEEL, **options)
    points = x[:, : 2 if plane else 3]
    end = np.flatnonzero(points[:, 0] == 1.0)
    phi = np.random.default_rng(1).standard_normal((points.size, 3))
    cells = (kind, mesh.cells[0].data)
    made = body_from_matrices(M, K, points, ports={"end": end}, shapes=phi, cells=cells).ports["end"]
    solid = nodal_model(mesh, STEEL, **options)
    twin = measured(solid, region(solid.mesh, "end", lambda p: p[0] == 1.0))
    np.testing.assert_allclose(made.position, twin.centre, atol=1e-14)
    np.testing.assert_allclose(made.shape.toarray(), twin.shape @ phi, atol=1e-12)
    np.testing.assert_allclose(made.rotation.toarray(), twin.rotation(solid) @ phi, atol=1e-10)
    alike = body_from_matrices(M, K, points, ports={"end": end}, shapes=phi).ports["end"]
    assert np.abs(alike.position - made.position).max() > 1e-3


# --- what is refused


def held(matrix):
    changed = sparse.lil_array(matrix)
    changed[4, 4] += 1e36
    return sparse.csr_array(changed)


BAD = {
    "held": (lambda m: (m.M, held(m.K)), {}, r"stiffness must be without boundary.*1e\+36.*node \d+, degree of"),
    "unknown": (lambda m: (m.M, m.K), {"numbers": None}, "mass has entries of nodes .*, which are not among the"),
    "less": (lambda m: (m.M, m.K[3:][:, 3:]), {}, "stiffness must have all 3 degrees of freedom of every"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_matrices_that_are_refused(name, model, tmp_path):
    make, options, message = BAD[name]
    M, K = make(model)
    numbers = model.numbers if name != "less" else model.numbers[1:]
    (tmp_path / "M.mtx").write_text(matrix_input(M, model.numbers))
    (tmp_path / "K.mtx").write_text(matrix_input(K, numbers))
    with pytest.raises(ValueError, match=message):
        model.body(tmp_path / "M.mtx", tmp_path / "K.mtx", **{"numbers": model.numbers, **options})


LINES = {
    "words": ("** c\n1, 1, 2.0\n1, x, 2.0\n", r"line 3: '1, x, 2.0'.* numbers: "),
    "columns": ("1, 1, 2.0\n1, 2, 3, 2.0\n", "line 2: '1, 2, 3, 2.0' has 4 numbers.*lines before have 3"),
    "four": ("1 1 2 2.0\n1 2 3 2.0\n", "it has 2 lines of 4 numbers"),
    "element": ("*USER ELEMENT, NODES=2\n*MATRIX,TYPE=STIFFNESS\n 1.0\n", "line 1: .* begins a matrix of one element"),
    "twice": ("1 1 2.0\n2 1 3.0\n2 1 3.0\n", r"must have every entry once, got \[2, 1\]"),
    "zero": ("0 0 2.0\n1 1 3.0\n", "it must count rows and columns from 1, got 0"),
    "internal": ("-1, 1, -1, 1, 2.0\n-1, 1, 3, 1, 2.\n", "it has entries of node -1: internal nodes"),
    "complex": ("t\n 1 1 1 1 0\nCSA  1 1 1 0\n(1I5) (1I5) (1E9.2)\n", "it must hold a real assembled matrix"),
    "short": ("t\n 3 2 1 1 0\nRSA  1 1 1 0\n(1I5) (1I5) (1E9.2)\n    1\n", "it ends early.* 1 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_files_that_are_refused(name, model, tmp_path):
    text, message = LINES[name]
    (tmp_path / "M.mtx").write_text(text)
    with pytest.raises(ValueError, match=r"(?s)mass cannot be read from '.*M\.mtx': .*" + message):
        model.body(tmp_path / "M.mtx", model.K)


MAPPINGS = {
    "length": (lambda m: m.labels[1:], "mapping must have a node, .* each of the 48 rows of mass, got 47"),
    "twice": (lambda m: m.labels[np.r_[:47, 0]], "mass must have one row for each degree of freedom of"),
    "name": ("1 11 UX\n2 11 TEMP\n", "line 2: '2 11 TEMP' must be whole numbers and a name of UX, UY, UZ"),
    "rows": ("1 11 UX\n3 11 UY\n", "must number the rows of the matrix from 1 to 2, once each"),
    "none": ("nothing\n", "must have lines 'row node UX', 'node UX' or 'node'"),
    "kind": (lambda m: 1.5 * m.labels, "mapping must be node numbers .nodes,. of the blocks of rows.*got float64"),
}  # fmt: skip


@pytest.mark.parametrize("name", MAPPINGS)
def test_mappings_that_are_refused(name, model, tmp_path):
    given, message = MAPPINGS[name]
    if isinstance(given, str):
        (tmp_path / "bar.mapping").write_text(given)
    mapping = tmp_path / "bar.mapping" if isinstance(given, str) else given(model)
    with pytest.raises(ValueError, match=message):
        model.body(model.M, model.K, numbers=model.numbers, mapping=mapping)


def test_rows_in_another_order_are_said(model):
    """Without its mapping a matrix in the order of a solver is no mass of translations, or resists rigid motions."""
    with pytest.raises(ValueError, match=r"mass must.*equal.*directions.*total masses x .* mapping="):
        model.body(model.shuffled(model.M), model.shuffled(model.K))
    with pytest.raises(ValueError, match=r"stiffness must vanish.*rigid motions.*\(numbers=, mapping=\)"):
        model.body(model.in_blocks(model.M), model.in_blocks(model.K))


def test_a_file_that_expands_without_bound_is_refused_before(tmp_path):
    path = tmp_path / "zeros.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(20_000_000))
    with pytest.raises(ValueError, match="expands to 20000000 bytes, more than 200 times its size"):
        body_from_matrices(path, path, nodes=np.eye(3), ports={"end": [0]})
