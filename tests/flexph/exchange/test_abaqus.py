"""Reduced bodies as substructures of Abaqus: matrices read back, rigid motions, frequencies free and held."""

import numpy as np
import pytest
from scipy.linalg import eigh

import fem
import rigid
from flexph.bodies import reduce_body
from flexph.bodies.foreign.matrix_text import text_matrix
from flexph.exchange import to_abaqus

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
LENGTH, SECTION = 1.0, fem.Section(diameter=0.02)
LABELS = [(node, freedom) for node in (1, 2) for freedom in range(1, 7)]


def bar(**given):
    """A steel rod between two ports, on eight elements, with five modes."""
    whole = fem.beam(LENGTH, STEEL, SECTION, elements=8, dim=3, **given)
    return reduce_body(whole, modes=5, static=["tip"])


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("abaqus") / "bar.inp"
    return path, to_abaqus(path, bar(), name="BAR")


def block(text, keyword):
    """Lines after a keyword, to the next one."""
    lines = text.splitlines()
    start = lines.index(keyword) + 1
    end = next(k for k in range(start, len(lines)) if lines[k].startswith("*"))
    return "\n".join(lines[start:end]) + "\n"


@pytest.mark.parametrize("kind", ["mass", "stiffness"])
def test_the_file_has_the_matrices(written, kind):
    """By the reader of matrices of other programs: the labels of all rows, and the entries to their last digit."""
    path, own = written
    matrix, labels = text_matrix(block(path.read_text(), f"*MATRIX INPUT, NAME=BAR_{kind.upper()}"))
    modes = [(3 + k, 1) for k in range(len(own.frequencies))]
    assert sorted(map(tuple, labels.tolist())) == sorted([*LABELS, *modes])
    order = np.lexsort((labels[:, 1], labels[:, 0]))
    read, wanted = np.asarray(matrix.todense())[np.ix_(order, order)], getattr(own, kind)
    np.testing.assert_array_equal(read, np.triu(wanted))


def test_the_nodes_are_the_ports(written):
    path, own = written
    assert own.ports == ("root", "tip")
    nodes = np.loadtxt(block(path.read_text(), "*NODE").splitlines(), delimiter=",")
    np.testing.assert_allclose(nodes[:2, 1:], [[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]], atol=1e-15)
    assert "*NSET, NSET=BAR_tip\n2," in path.read_text()


def test_a_substructure_is_printed_in_a_line(written):
    assert repr(written[1]).startswith("<Substructure: ports root, tip, 5 modes with them held, the lowest at ")
    assert len(repr(written[1])) < 100


def test_nodes_of_two_bodies_are_kept_apart(written, tmp_path):
    """The same matrices by nodes from another number on, in their nodes, sets and entries."""
    path, _ = written
    to_abaqus(tmp_path / "other.inp", bar(), name="BAR", first_node=1001)
    text = (tmp_path / "other.inp").read_text()
    assert "*NSET, NSET=BAR_root\n1001,\n*NSET, NSET=BAR_tip\n1002," in text
    for keyword in ("*MATRIX INPUT, NAME=BAR_STIFFNESS", "*MATRIX INPUT, NAME=BAR_MASS"):
        first, other = (text_matrix(block(own, keyword)) for own in (path.read_text(), text))
        np.testing.assert_array_equal(other[1] - first[1], [[1000, 0]] * len(first[1]))
        assert (other[0] != first[0]).nnz == 0
    with pytest.raises(ValueError, match="first_node must be at least 1, got 0"):
        to_abaqus(tmp_path / "other.inp", bar(), first_node=0)


def rigid_motions(positions):
    """Motions (6p, 6) of all ports: displacements, and rotations about the origin."""
    rows = []
    for x, y, z in positions:
        lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
        rows.append(np.block([[np.eye(3), lever], [np.zeros((3, 3)), np.eye(3)]]))
    return np.vstack(rows)


def test_rigid_motions_store_nothing_and_have_the_mass_of_the_body(written):
    _, own = written
    body, R = bar(), rigid_motions(own.positions)
    z = np.vstack([R, np.zeros((len(own.frequencies), 6))])
    assert np.abs(own.stiffness @ z).max() < 1e-9 * np.abs(own.stiffness).max()
    M = z.T @ own.mass @ z
    np.testing.assert_allclose(M[:3, :3], body.mass * np.eye(3), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(M[3, 3], body.moments[0, 0], rtol=1e-9)
    np.testing.assert_allclose(M[5, 5], body.moments[2, 2] + body.mass * 0.25 * LENGTH**2, rtol=1e-9)
    np.testing.assert_allclose(M[1, 5], 0.5 * body.mass * LENGTH, rtol=1e-9)


def test_the_tip_gives_way_as_a_beam(written):
    """L³ / (3 E I) of a force at the tip with the root held, which static shapes have exactly."""
    _, own = written
    free = np.arange(6, len(own.mass))
    force = np.zeros(len(own.mass))
    force[7] = 1.0
    moved = np.linalg.solve(own.stiffness[np.ix_(free, free)], force[free])
    second = np.pi * 0.02**4 / 64.0
    assert moved[1] == pytest.approx(LENGTH**3 / (3.0 * 2.1e11 * second), rel=1e-8)


def test_frequencies_are_those_of_beams(written):
    """Free, clamped at the root, and clamped at both ends: β₁L = 4.7300, 1.8751, 4.7300; five modes, 1e-2."""
    _, own = written
    unit = np.sqrt(2.1e11 * np.pi * 0.02**4 / 64.0 / (7850.0 * np.pi * 0.01**2))
    for first, held, beta in ((6, 0, 4.730041), (0, 6, 1.875104)):
        squares = eigh(own.stiffness[held:, held:], own.mass[held:, held:], eigvals_only=True)
        assert np.sqrt(squares[first]) == pytest.approx(beta**2 * unit, rel=1e-2)
    assert own.frequencies[0] == pytest.approx(4.730041**2 * unit, rel=1e-2)


def test_the_matrices_do_not_depend_on_the_reference():
    """The same rod, held at its root or about its mean axes: one pencil over the motions of the ports."""
    frequencies = []
    for reference in ("cantilever", "mean_axis"):
        whole = fem.beam(LENGTH, STEEL, SECTION, elements=2, dim=3, reference=reference)
        own = to_abaqus_matrices(whole)
        frequencies.append(np.sqrt(eigh(own.stiffness, own.mass, eigvals_only=True)[6:]))
    np.testing.assert_allclose(frequencies[0], frequencies[1], rtol=1e-6)


def to_abaqus_matrices(body):
    from flexph.exchange.abaqus import substructure

    return substructure(body, tuple(body.ports))


@pytest.mark.parametrize(
    ("body", "given", "words"),
    [
        (lambda: rigid.body(1.0, inertia=(1, 1, 1), ports={"a": (0, 0, 0)}), {}, "must be flexible and in space"),
        (lambda: fem.beam(1.0, STEEL, SECTION, elements=2), {}, "must be flexible and in space"),
        (bar, {"ports": ["root", "middle"]}, "'middle'"),
        (bar, {"ports": []}, "ports must name a port or more"),
        (bar, {"name": "2 bars"}, "name must begin with a letter"),
        (
            lambda: reduce_body(fem.beam(1.0, STEEL, SECTION, elements=8, dim=3), modes=3),
            {},
            r"must move independently, got root, tip on 3 deformations: reduce the body with static=",
        ),
    ],
)
def test_what_is_no_substructure_is_refused(tmp_path, body, given, words):
    with pytest.raises(ValueError, match=words):
        to_abaqus(tmp_path / "b.inp", body(), **given)
    assert not (tmp_path / "b.inp").exists()
