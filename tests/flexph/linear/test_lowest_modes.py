"""The lowest modes of assemblies: those of dense algebra, with all rigid motions, and none missed."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

import fem
from flexph import GROUND, connect, eliminate, hinge, modes, spherical, weld
from flexph.bodies import linear_body
from flexph.bodies.held_body import AtRest, HeldBody
from flexph.linear.eigenmodes import lowest_modes
from flexph.linear.eigenmodes import modes as spectrum
from flexph.linear.eigenmodes.lanczos import Complement, lanczos, lowest_square
from flexph.linear.eigenmodes.shift_invert import CondensedPencil, MixedPencil, ritz
from flexph.mechanisms.statics import linearization
from flexph.numerics.factors import positive_definite as positive
from flexph.numerics.factors.low_rank import filled
from flexph.numerics.factors.positive_definite import condensed

pytestmark = pytest.mark.processor

MM = 1e3
"""Units of length in one metre: with mm and g forces are in µN, stresses in Pa/1e3."""
MATERIALS = {"steel": (2.1e11, 7850.0, 0.3), "rubber": (2e6, 1000.0, 0.45)}
SIZE = (1.0, 0.2, 0.15)
JOINTS = {"free": weld, "pinned": weld, "welded": weld, "hinged": lambda a, b: hinge(a, b, axis=(0.0, 1.0, 0.0))}


@pytest.fixture(autouse=True)
def _sparse(monkeypatch):
    """Systems of all sizes are sparse."""
    monkeypatch.setattr(linearization, "DENSE_LIMIT", 1)


def material(name, length):
    """In units of ``length`` to the metre, grams (kilograms where it is one) and seconds."""
    young, density, poisson = MATERIALS[name]
    mass = 1.0 if length == 1.0 else 1e3
    return fem.Material(young=young * mass / length, density=density * mass / length**3, poisson=poisson)


def body(kind, name, length, cells=(2, 1, 1)):
    size = tuple(length * s for s in SIZE)
    ports = {"root": "left", "tip": fem.Tie("right", "mean")}
    if kind == "beam":
        section = fem.Section(width=size[1], height=size[2])
        return fem.beam(size[0], material(name, length), section, elements=6, dim=3)
    if kind == "plate":
        mesh = fem.box_mesh(size[:2], cells[:2], simplices=True)
        return fem.plate(mesh, material(name, length), thickness=0.1 * size[2], ports=ports, reference="root")
    mesh = fem.box_mesh(size, cells, simplices=kind == "tetra")
    return fem.solid(mesh, material(name, length), degree=2, ports=ports, reference="root")


def chain(kind, count, support, *, names=("steel",), length=1.0, cells=(2, 1, 1)):
    """Bodies one behind the other, of materials in turn, and their rigid motions."""
    own = {name: body(kind, name, length, cells) for name in names}
    labels = [f"b{k}" for k in range(count)]
    joints = [JOINTS[support](f"{a}.tip", f"{b}.root") for a, b in pairwise(labels)]
    joints += {"pinned": [spherical("b0.root", GROUND)], "welded": [weld("b0.root", GROUND)]}.get(support, [])
    mechanism = connect({label: own[names[k % len(names)]] for k, label in enumerate(labels)}, joints)
    start = {label: ((length * SIZE[0] * k, 0.0, 0.0), np.eye(3)) for k, label in enumerate(labels)}
    system = mechanism.linearize(mechanism.assemble({"b0": start.pop("b0")}, guess=start))
    return system, {"free": 6, "pinned": 3, "welded": 0, "hinged": 5 + count}[support]


def assert_those_of_dense_algebra(system, rigid, counts, monkeypatch):
    """Frequencies to 1e-8 of the highest returned, by factors whatever the size."""
    system = eliminate(system)
    assert system.is_sparse
    dense = modes(system)
    assert dense.rigid == rigid
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", 1)
    monkeypatch.setattr(positive, "SMALL", 1)
    for count in counts:
        found = modes(system, count)
        assert (found.rigid, found.self_stress) == (rigid, dense.self_stress)
        assert len(found.frequencies) == count
        assert np.abs(found.frequencies - dense.frequencies[:count]).max() < 1e-8 * dense.frequencies[count - 1]


@pytest.mark.parametrize("cells", [(2, 1, 1), pytest.param((7, 2, 1), marks=pytest.mark.slow)])
def test_two_solids_that_are_welded(cells, monkeypatch):
    """The counts at which rigid motions were lost in round-off and frequencies came that do not exist."""
    system, rigid = chain("tetra", 2, "free", names=("rubber",), cells=cells)
    assert_those_of_dense_algebra(system, rigid, (2, 3, 4, 12), monkeypatch)


@pytest.mark.parametrize(
    "kind, count, support, names, length",
    [
        ("hexahedron", 2, "hinged", ("steel", "rubber"), MM),
        ("tetra", 1, "pinned", ("steel",), 1.0),
        ("plate", 3, "free", ("rubber",), 1.0),
        ("beam", 4, "hinged", ("steel",), MM),
    ],
)
def test_modes_of_some_chains_are_those_of_dense_algebra(kind, count, support, names, length, monkeypatch):
    system, rigid = chain(kind, count, support, names=names, length=length)
    assert_those_of_dense_algebra(system, rigid, (1, 7, 20), monkeypatch)


@pytest.fixture
def large(monkeypatch):
    """All systems count as large."""
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", 1)
    monkeypatch.setattr(positive, "SMALL", 1)


@pytest.mark.parametrize("kind", ["tetra", "beam"])
def test_equal_bodies_side_by_side(kind, large):
    """Nine of them, none joined: each frequency nine times, more than are carried along, and 54 rigid motions."""
    one = body(kind, "steel", 1.0, cells=(1, 1, 1))
    mechanism = connect({f"b{k}": one for k in range(9)}, [])
    found = modes(mechanism.linearize(mechanism.assemble({})), 12)
    single = modes(linear_body(one, "b"), 2).frequencies
    assert found.rigid == 54
    np.testing.assert_allclose(found.frequencies, np.repeat(single, 9)[:12], rtol=1e-8)


def test_a_mode_that_was_missed_is_found(large, monkeypatch):
    """A search that passes over two modes: the count of negative pivots says so, and the next search has them."""
    system, _ = chain("tetra", 1, "free")
    want, searches = modes(system, 6).frequencies, []

    def forgetful(pencil, count, complement):
        searches.append(count)
        vectors = lanczos(pencil, count + 2, complement)
        velocity = ritz(pencil, vectors)[1]
        return np.delete(velocity, [1, 3] if len(searches) == 1 else [], axis=1)[:, :count]

    monkeypatch.setattr(lowest_modes, "lanczos", forgetful)
    np.testing.assert_allclose(modes(system, 6).frequencies, want, rtol=1e-9)
    assert len(searches) == 2


@pytest.mark.parametrize(
    "negative, error, match", [(-1, 0.0, "Sylvester's law of inertia counts"), (0, 1.0, "could not be certified")]
)
def test_what_cannot_be_certified_is_refused(negative, error, match, large, monkeypatch):
    """A count that is too low, and one by a factor that is too far off."""
    count = CondensedPencil.inertia

    def other(self, frequency, velocity):
        number, size = count(self, frequency, velocity)
        return number + negative, size + error * frequency**2

    monkeypatch.setattr(CondensedPencil, "inertia", other)
    with pytest.raises(ArithmeticError, match=match):
        modes(chain("tetra", 1, "free")[0], 4)


@pytest.mark.parametrize("reference", ["root", "mean_axis"])
def test_modes_of_a_body_in_its_frame(reference, large):
    """Held at a port, and about mean axes, whose mass matrix has a border."""
    mesh = fem.box_mesh((1.0, 0.2, 0.15), (4, 2, 1), simplices=True)
    solid = fem.solid(mesh, material("steel", 1.0), degree=2, ports={"root": "left"}, reference=reference)
    held = HeldBody(solid)
    shapes = held.modes(6)
    stretch = held.strain @ shapes
    found = np.sqrt(np.linalg.eigvalsh(stretch.T @ (held.elastic.stiffness_of_stress @ stretch)))
    stiffness = condensed(solid.elasticity.compliance, held.strain).stiffness.toarray()
    want = np.sqrt(eigh(stiffness, filled(held.mass).toarray(), eigvals_only=True)[:6])
    np.testing.assert_allclose(found, want, rtol=1e-8)


def test_a_mode_that_was_missed_is_shown_by_random_vectors(large, monkeypatch):
    """The same search for the modes of a body on the factor of its stiffness, where no pivots are counted."""
    held, searches = HeldBody(body("tetra", "steel", 1.0)), []
    want = held.modes(6)

    def forgetful(pencil, count, complement):
        searches.append(count)
        velocity = ritz(pencil, lanczos(pencil, count + 2, complement))[1]
        return np.delete(velocity, [1, 3] if len(searches) == 1 else [], axis=1)[:, :count]

    monkeypatch.setattr(lowest_modes, "lanczos", forgetful)
    same = want.T @ (held.mass @ held.modes(6))
    np.testing.assert_allclose(np.abs(same), np.eye(6), atol=1e-8)  # of vectors; those of one search are good to 1e-11
    assert len(searches) == 2


def test_lanczos_restarts_and_ends_with_the_whole_space(large, monkeypatch):
    """Bases of few blocks, which lose vectors to those that are found, and all modes that there are."""
    held = HeldBody(body("tetra", "steel", 1.0, cells=(1, 1, 1)))
    pencil, n = AtRest(held), held.body.size
    monkeypatch.setattr("flexph.linear.eigenmodes.lanczos.WIDEST", 3)
    stiffness = condensed(held.elastic.compliance, held.strain).stiffness.toarray()
    want = np.sqrt(eigh(stiffness, filled(held.mass).toarray(), eigvals_only=True))
    for count in (5, n):
        found = ritz(pencil, lanczos(pencil, count, Complement(held.mass, np.zeros((n, 0)))))[0]
        np.testing.assert_allclose(found, want[:count], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "names, length", [(("steel",), 1.0), (("steel",), MM), (("rubber",), 1.0), (("steel", "rubber"), MM)]
)
@pytest.mark.parametrize("support", JOINTS)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "plate", "beam"])
def test_modes_of_chains_are_those_of_dense_algebra(kind, count, support, names, length, monkeypatch):
    system, rigid = chain(kind, count, support, names=names[:count], length=length)
    assert_those_of_dense_algebra(system, rigid, range(1, 21), monkeypatch)


def test_shifts_far_above_the_lowest_mode_come_down():
    """Twenty modes at 1e-6 below a shift of 1 have one 1/(ω² + s) to round-off, as those of thin plates have."""
    frequencies = np.concatenate([np.geomspace(1e-6, 2e-6, 20), np.linspace(1.0, 1e3, 380)])
    m, d = sparse.identity(400, format="csc"), sparse.diags_array(frequencies, format="csc")
    nothing, shifts, squares = Complement(m, np.zeros((400, 0))), [1.0], []
    while len(squares) < 6:
        squares.append(lowest_square(MixedPencil(m, m, d, shifts[-1]), nothing))
        shifts.append(0.1 * squares[-1] if squares[-1] < shifts[-1] else shifts[-1])
        if shifts[-1] == shifts[-2]:
            break
    assert squares[0] < 1.0
    np.testing.assert_allclose(squares[-1], 1e-12, rtol=1e-9)  # round-off of 1/(ω² + s), s up to a tenth
