"""Matrices as Abaqus and Ansys print them, and those of a solid of ours to print."""

import numpy as np
from scipy import sparse

from fem.meshes.reading import solid_mesh
from fem.solids.model import solid_model


def nodal_model(mesh, material, *, plane=None, thickness=None):
    """The nodal matrices of a solid."""
    return solid_model(
        solid_mesh(mesh, plane=plane is not None, degree=None), material, plane=plane, thickness=thickness
    )


def displacement_matrices(mesh, material, *, plane=None, thickness=None):
    """M and K over nodal displacements of a mesh: algebraically those of the displacement elements."""
    model = nodal_model(mesh, material, plane=plane, thickness=thickness)
    D, C = model.strain, model.compliance.toarray()
    K = D.T @ np.linalg.solve(C, D.toarray())
    return sparse.kron(model.mass, sparse.eye_array(model.dim)).tocsr(), sparse.csr_array(0.5 * (K + K.T))


def entries(matrix, triangle="both"):
    """Rows, columns and values, in one triangle or both."""
    full = sparse.coo_array(matrix)
    kept = {"both": full, "lower": sparse.tril(full).tocoo(), "upper": sparse.triu(full).tocoo()}[triangle]
    return [(i, j, v) for i, j, v in zip(kept.row, kept.col, kept.data, strict=True) if v]


def coordinate(matrix, triangle="both", separator="  "):
    """*MATRIX OUTPUT, FORMAT=COORDINATE."""
    return "".join(f"{i + 1}{separator}{j + 1}{separator}{v:.17e}\n" for i, j, v in entries(matrix, triangle))


def matrix_input(matrix, numbers, triangle="lower", dim=3):
    """*MATRIX OUTPUT, FORMAT=MATRIX INPUT: node, degree of freedom, node, degree of freedom, value."""
    label = lambda k: f"{numbers[k // dim]},{k % dim + 1}"  # noqa: E731
    return "".join(f"{label(i)}, {label(j)}, {v:.17e}\n" for i, j, v in entries(matrix, triangle))


def labels(matrix, numbers, dim=3):
    """Three columns, node.dof for rows and columns."""
    label = lambda k: f"{numbers[k // dim]}.{k % dim + 1}"  # noqa: E731
    return "".join(f" {label(i)} {label(j)} {v:.17e}\n" for i, j, v in entries(matrix))


def harwell_boeing_text(matrix, right_side=False):
    """HBMAT: the lower triangle of a symmetric matrix (RSA) by columns, exponents with D."""
    lower = sparse.tril(matrix).tocsc()
    lower.eliminate_zeros()
    rows = lambda values, form: "".join(form.format(v) + "\n" for v in values)  # noqa: E731
    values = rows(lower.data, "{:25.17E}").replace("E", "D")
    n, count = lower.shape[0], lower.nnz
    lines = f"{n + 1 + 2 * count + n * right_side:14d}{n + 1:14d}{count:14d}{count:14d}{n * right_side:14d}\n"
    text = f"{'Stiffness matrix from the file.full file':<72}{'STIFF':<8}\n{lines}"
    text += f"RSA{'':11}{n:14d}{n:14d}{count:14d}{0:14d}\n"
    text += f"{'(1I14)':<16}{'(1I14)':<16}{'(1D25.17)':<20}{'(1D25.17)' if right_side else '':<20}\n"
    text += f"F{'':13}{1:14d}{0:14d}\n" if right_side else ""
    text += rows(lower.indptr + 1, "{:14d}") + rows(lower.indices + 1, "{:14d}") + values
    return text + ("  0.0D+00\n" * n if right_side else "")


def mapping_text(order, dim=3):
    """The .mapping file of HBMAT: row, node, name."""
    names = ("UX", "UY", "UZ")
    lines = [f"{k + 1:12d}{node:12d}      {names[dof]}\n" for k, (node, dof) in enumerate(order)]
    return "   Matrix Eqn        Node   DOF\n" + "".join(lines)
