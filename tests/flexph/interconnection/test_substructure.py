"""Substructures: the same systems as mechanisms, transformers and gyrators make, exact beams, and bad input by name."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from exact_beams import bending_frequencies
from scipy import sparse

import fem
from flexph import GROUND, LinearPHDAE, connect, eigenfrequencies, eliminate, force, hinge, modes, poles, torque, weld
from flexph.interconnection import clamp, couple, gyrator, substructure, tie, transformer
from flexph.numerics.rotations import rotation

FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)
STEEL, STRIP = fem.Material(young=2.1e11, density=7800.0), fem.Section(width=0.02, height=0.01)
UNIT = {"material": fem.Material(young=1.0, density=1.0), "section": fem.Section(area=1.0, second_moment=1.0)}
SIZES, WIDTHS, OUTER = {"a": 5, "b": 4}, {"a": 3, "b": 2}, {"a": 1, "b": 2}
TURN = np.random.default_rng(7).standard_normal((3, 2))


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def block(name, form="dense", causality="force", constraints=0):
    """A random dissipative system with an inner port (last columns) and an outer one (first columns)."""
    n, outer = SIZES[name], OUTER[name]
    draw = np.random.default_rng(ord(name)).standard_normal
    root, free, loss = draw((n, n)), draw((n, n)), draw((n, 2))
    made = {"E": root @ root.T + np.eye(n), "J": free - free.T, "R": loss @ loss.T}
    made |= {"B": draw((n, outer + WIDTHS[name])), "G": draw((constraints, n))}
    return LinearPHDAE(
        **{k: FORMS[form](v) for k, v in made.items()},
        ports={"out": slice(0, outer), "in": slice(outer, outer + WIDTHS[name])},
        causality={"in": causality},
        parts={"all": slice(0, n)},
        constraints=tuple(f"row {i}" for i in range(constraints)),
    )


def named(name, form="dense"):
    """The same with ports and parts that carry its name, as the binary connectors want them."""
    made = block(name, form)
    return replace(
        made,
        ports={f"{name}.{k}": s for k, s in made.ports.items()},
        parts={f"{name}.{k}": s for k, s in made.parts.items()},
    )


def assert_same(found, expected):
    for key in "EJRB":
        np.testing.assert_allclose(full(getattr(found, key)), full(getattr(expected, key)), rtol=1e-13, atol=1e-13)
    assert dict(found.ports) == dict(expected.ports)
    assert dict(found.parts) == dict(expected.parts)


@both_forms
def test_a_tie_is_a_transformer(form):
    """0 = y₁ − y₂ are the rows of [flex] eq. (42)."""
    made = substructure({"a": block("a", form), "b": block("b", form)}, [tie("a.in", "b.in", components=(0, 1))])
    first = replace(named("a", form), ports={"a.out": slice(0, 1), "a.in": slice(1, 3), "a.rest": slice(3, 4)})
    expected = transformer(first, named("b", form), ("a.in", "b.in"), np.eye(2))
    np.testing.assert_allclose(full(made.G), -full(expected.G), rtol=1e-14)
    assert made.is_sparse == (form == "sparse")
    assert made.constraints == ("tie a.in–b.in: 0", "tie a.in–b.in: 1")
    assert {k: s.stop - s.start for k, s in made.ports.items()} == {"a.out": 1, "a.in": 1, "b.out": 2}
    np.testing.assert_array_equal(full(made.inputs("a.in"))[:5, 0], full(block("a").inputs("in"))[:, 2])


@both_forms
def test_a_couple_is_a_gyrator(form):
    """Force and velocity ports, in either order: the one that takes forces is the first of [flex] sec. 5.1."""
    a, b = block("a", form), block("b", form, "velocity")
    expected = gyrator(named("a", form), named("b", form), ("a.in", "b.in"), TURN)
    assert_same(substructure({"a": a, "b": b}, [couple("a.in", "b.in", gain=TURN)]), expected)
    turned = substructure({"a": a, "b": b}, [couple("b.in", "a.in", gain=TURN.T)])
    assert_same(turned, expected)
    gyroscopic = substructure({"a": a, "b": block("b", form)}, [couple("a.in", "b.in", gain=TURN, gyroscopic=True)])
    assert_same(gyroscopic, expected)


def test_a_gain_may_be_a_number():
    b = replace(block("b"), ports={"in": slice(0, 4)}, causality={"in": "velocity"})
    a = replace(block("a"), ports={"in": slice(0, 4)})
    made = substructure({"a": a, "b": b}, [couple("a.in", "b.in", gain=2.5)])
    np.testing.assert_allclose(made.J[:5, 5:], -2.5 * a.B @ b.B.T, rtol=1e-14)


def test_a_dual_tie_is_a_tie_of_interchanged_ports():
    """Velocity ports: 0 = Tᵀy₁ + y₂ with u₁ = T λ, u₂ = λ; the power of both ports is zero."""
    a, b = block("a", causality="velocity"), block("b", causality="velocity")
    made = substructure({"a": a, "b": b}, [tie("a.in", "b.in", turn=TURN)])
    x, lam = np.random.default_rng(3).standard_normal(9), np.array([0.3, -2.0])
    y1, y2 = a.inputs("in").T @ x[:5], b.inputs("in").T @ x[5:]
    np.testing.assert_allclose(made.G @ x, TURN.T @ y1 + y2, rtol=1e-13)
    np.testing.assert_allclose(made.G[:, :5].T @ lam, a.inputs("in") @ (TURN @ lam), rtol=1e-13)
    np.testing.assert_allclose(made.G[:, 5:].T @ lam, b.inputs("in") @ lam, rtol=1e-13)


def test_clamps_add_rows_or_take_inputs():
    """A force port gets a row of G for each component, a velocity port loses its input."""
    made = substructure({"a": block("a")}, [clamp("a.in", components=(2, 0))])
    np.testing.assert_allclose(made.G, block("a").inputs("in").T[[2, 0]], rtol=1e-15)
    assert made.constraints == ("clamp a.in: 2", "clamp a.in: 0")
    np.testing.assert_allclose(made.inputs("a.in")[:, 0], block("a").inputs("in")[:, 1], rtol=1e-15)
    driven = substructure({"a": block("a", causality="velocity")}, [clamp("a.in")])
    assert driven.G.shape[0] == 0
    assert list(driven.ports) == ["a.out"]
    assert not driven.causality


def bending(causality="force", elements=10, **options):
    return fem.bending(1.0, **UNIT, elements=elements, causality=causality, **options)


def joined(first, second, *links):
    return substructure({"left": first, "right": second}, links)


ROUTES = {  # two beams as one of length 2: how they meet, and the ends that follow from the causality
    "tie": (lambda: joined(bending(), bending(), tie("left.tip", "right.root"), clamp("left.root")), "clamped-free"),
    "couple": (
        lambda: joined(bending("velocity"), bending(), couple("left.tip", "right.root"), clamp("left.root")),
        "clamped-free",
    ),
    "dual tie": (
        lambda: joined(bending("velocity"), bending("velocity"), tie("left.tip", "right.root")),
        "free-free",  # clamped at both ends, with the same frequencies
    ),
    "free": (lambda: joined(bending(), bending(), tie("left.tip", "right.root")), "free-free"),
}


@pytest.mark.parametrize("route", ROUTES)
def test_two_beams_are_one(route):
    """√ω of a beam of length 2, to twice the (βh)⁴/2880 that cubic elements are too stiff by, h = 0.1."""
    make, ends = ROUTES[route]
    roots = np.sqrt(bending_frequencies(ends, 4)) / 2.0
    found = np.sqrt(eigenfrequencies(eliminate(make()), 4))
    assert np.abs(found / roots - 1.0).max() < 2.0 * (0.1 * roots[-1]) ** 4 / 2880.0


def floating(angle=0.0, elements=3):
    """A floating beam of the plane at an angle as a block, forces and torques at its ends as ports."""
    loads = [force("beam.root", name="root"), force("beam.tip", name="tip"), torque("beam.tip", name="tip turn")]
    made = connect(
        {"beam": fem.beam(1.0, STEEL, STRIP, elements=elements)}, [*loads, torque("beam.root", name="root turn")]
    )
    return made.linearize(made.assemble({"beam": (0.0, 0.0, angle)}))


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
def test_a_hinge_is_that_of_a_mechanism(angle):
    """World axes at the ports: the second route builds the joint from world points."""
    made = substructure(
        {"a": floating(0.3), "b": floating(0.3 + angle)},
        [clamp("a.root"), clamp("a.root turn"), tie("a.tip", "b.root")],
    )
    body = fem.beam(1.0, STEEL, STRIP, elements=3)
    mechanism = connect({"a": body, "b": body}, [weld("a.root", GROUND), hinge("a.tip", "b.root")])
    system = mechanism.linearize(mechanism.assemble({"a": (0.0, 0.0, 0.3)}, guess={"b": 0.3 + angle}))
    np.testing.assert_allclose(eigenfrequencies(made), eigenfrequencies(system), rtol=1e-9)
    assert modes(made).rigid == modes(system).rigid == 1


def test_a_turn_joins_blocks_with_axes_of_their_own():
    """The same block twice, its axes turned by R where the whole has it at an angle: velocities y₁ = R y₂."""
    straight = floating()
    whole = substructure(
        {"a": straight, "b": straight},
        [clamp("a.root"), clamp("a.root turn"), tie("a.tip", "b.root", turn=rotation(0.7))],
    )
    other = substructure(
        {"a": straight, "b": floating(0.7)}, [clamp("a.root"), clamp("a.root turn"), tie("a.tip", "b.root")]
    )
    np.testing.assert_allclose(eigenfrequencies(whole), eigenfrequencies(other), rtol=1e-9)


def test_three_ports_meet_at_a_point():
    """A frame of three beams on one tie: the rows of two ties, in which no port is named twice."""
    names = "abc"
    made = substructure(dict.fromkeys(names, bending()), [tie("a.tip", "b.root", "c.root")])
    assert made.constraints == tuple(f"tie a.tip–{k}.root: {i}" for k in "bc" for i in (0, 1))
    beam = bending()
    x = np.random.default_rng(1).standard_normal((3, beam.size))
    tip, root, other = (full(beam.inputs(p)).T @ x[i] for i, p in enumerate(("tip", "root", "root")))
    np.testing.assert_allclose(made.G @ x.ravel(), np.concatenate([tip - root, tip - other]), rtol=1e-12)


def test_free_ports_stay_and_kept_ones_too():
    """What a tie does not use stays of a port; ``keep`` leaves all of it, where an interface is loaded."""
    blocks, links = {"a": bending(), "b": bending()}, [tie("a.tip", "b.root", components=(0,))]
    made = substructure(blocks, links)
    assert {k: s.stop - s.start for k, s in made.ports.items()} == {"a.root": 2, "a.tip": 1, "b.root": 1, "b.tip": 2}
    np.testing.assert_array_equal(full(made.inputs("a.tip"))[: bending().size], full(bending().inputs("tip"))[:, [1]])
    kept = substructure(blocks, links, keep=["a.tip"])
    assert {k: s.stop - s.start for k, s in kept.ports.items()} == {"a.root": 2, "a.tip": 2, "b.root": 1, "b.tip": 2}
    np.testing.assert_array_equal(kept.G.toarray(), made.G.toarray())


def test_names_are_led_by_the_block():
    made = substructure(
        {"a": block("a", constraints=1), "spring": LinearPHDAE(np.eye(1), np.zeros((1, 1)), B=np.eye(1))},
        [tie("a.out", "spring.u")],
    )
    assert dict(made.parts) == {"a.all": slice(0, 5), "spring": slice(5, 6)}
    assert made.constraints == ("a: row 0", "tie a.out–spring.u: 0")
    assert list(made.ports) == ["a.in"]


def test_causality_of_free_ports_stays():
    made = substructure(
        {"a": block("a"), "b": block("b", causality="velocity")}, [tie("a.out", "b.out", components=(0,))]
    )
    assert dict(made.causality) == {"b.in": "velocity"}


@both_forms
def test_eliminated_and_reduced_blocks(form):
    """Blocks without their constraints make the same whole, and its states expand to those of the blocks."""
    blocks = {name: block(name, form, constraints=1) for name in "ab"}
    links = [tie("a.out", "b.in", components=(0,))]
    first = eliminate(substructure({"a": eliminate(blocks["a"]), "b": blocks["b"]}, links))
    last = eliminate(substructure(blocks, links))
    assert first.size == last.size == 6
    np.testing.assert_allclose(np.poly(poles(first)), np.poly(poles(last)), rtol=1e-9)
    x = np.random.default_rng(0).standard_normal(6)
    for name, part in blocks.items():
        np.testing.assert_allclose(part.G @ first.part(f"{name}.all", x), 0.0, atol=1e-13)
    energy = sum(part.energy(first.part(f"{name}.all", x)) for name, part in blocks.items())
    assert first.energy(x) == pytest.approx(energy, rel=1e-13)


def test_sparse_and_dense_blocks_mix():
    made = substructure({"a": block("a"), "b": block("b", "sparse")}, [tie("a.out", "b.out", components=(0,))])
    assert made.is_sparse
    plain = substructure({"a": block("a"), "b": block("b")}, [tie("a.out", "b.out", components=(0,))])
    assert not plain.is_sparse
    for key in "EJRBG":
        np.testing.assert_array_equal(getattr(made, key).toarray(), getattr(plain, key))


def test_many_dense_blocks_become_sparse():
    names = [f"b{i}" for i in range(150)]
    made = substructure(
        dict.fromkeys(names, block("b")),
        [tie(f"{p}.in", f"{q}.out") for p, q in pairwise(names)],
    )
    assert made.size == 600
    assert made.is_sparse


def test_the_checks_run_once_however_many_blocks(monkeypatch):
    """One system is born: the conditions are checked twice (E and R), not for each block or pair of blocks."""
    calls = []
    monkeypatch.setattr("flexph.systems.linear.check_semi_definite", lambda name, a: calls.append(name))
    names = [f"b{i}" for i in range(40)]
    beam = bending()
    calls.clear()
    substructure(dict.fromkeys(names, beam), [tie(f"{p}.tip", f"{q}.root") for p, q in pairwise(names)])
    assert calls == ["E", "R"]


BAD = {
    "no block": ([tie("a.in", "c.in")], r"no block of port 'c.in': there are 'a', 'b'"),
    "no port": ([tie("a.on", "b.in")], r"no port 'on': a has 'out', 'in'"),
    "widths": (
        [tie("a.in", "b.in")],
        r"tie a.in–b.in: the widths do not match, 3 and 2; select components= or a turn=",
    ),
    "no component": ([clamp("b.in", components=(2,))], r"clamp b.in: no component 2, as port 'b.in' has width 2"),
    "shape of a turn": ([tie("a.in", "b.in", turn=np.eye(2))], r"turn must have shape \(3, 2\) .* got \(2, 2\)"),
    "shape of a gain": (
        [couple("a.in", "b.in", gain=np.eye(2), gyroscopic=True)],
        r"couple a.in–b.in: gain must have shape \(3, 2\)",
    ),
    "twice": (
        [tie("a.out", "b.in", components=(0,)), clamp("b.in")],
        r"component 0 of port 'b.in' is connected twice: by tie a.out–b.in and by clamp b.in",
    ),
    "gyrator of forces": (
        [couple("a.in", "b.in", components=(0,))],
        r"couple a.in–b.in: conflicting causality, both 'a.in' and 'b.in' take a force; tie them, or set "
        r"gyroscopic=True",
    ),
    "apart": ([clamp("a.in")], r"no connection joins 'a' to the other blocks \(2 groups\); disconnected=True"),
    "no connection": (["a.in"], r"connections\[0\] must be a Tie, a Clamp or a Couple, got 'a.in'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_connections_are_refused(name):
    links, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        substructure({"a": block("a"), "b": block("b")}, links)


def test_conflicting_causalities_are_refused():
    blocks = {"a": block("a"), "b": block("b", causality="velocity")}
    with pytest.raises(ValueError, match=r"conflicting causality, 'a.out' takes.*force, 'b.in' takes.*velocity; join"):
        substructure(blocks, [tie("a.out", "b.in", components=(0,))])


def test_disconnected_blocks_on_request():
    made = substructure({"a": block("a"), "b": block("b")}, [], disconnected=True)
    assert made.size == 9
    with pytest.raises(ValueError, match=r"no connection joins 'lone' to the other blocks"):
        substructure({"a": block("a"), "b": block("b"), "lone": block("a")}, [tie("a.out", "b.out", components=(0,))])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tie("a.in"), r"a tie needs two or more different ports, got 'a.in'"),
        (lambda: tie("a.in", "a.in"), r"a tie needs two or more different ports"),
        (lambda: couple("a.in", "a.in"), r"a couple needs two different ports, got 'a.in' twice"),
        (lambda: tie("a", "b", "c", turn=np.eye(2)), r"turn= needs a tie of two ports, got 3"),
        (lambda: tie("a", "b", components=(0, 0)), r"components must be different indices.*got \(0, 0\)"),
        (lambda: clamp("a", components=()), r"components must be different indices.*got \(\)"),
        (lambda: clamp("a", components=(-1,)), r"components\[0\] must be at least 0, got -1"),
        (lambda: tie("a", "b", turn=[[np.nan]]), r"turn must be finite"),
        (lambda: substructure({}, []), r"blocks must have at least one entry"),
        (lambda: substructure({"a": 3}, []), r"blocks\['a'\] must be a LinearPHDAE.*got int"),
        (lambda: substructure({"a": block("a")}, [], keep=["a.on"]), r"no port 'on': a has 'out', 'in'"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_clashing_names_are_refused():
    inner = replace(block("a"), ports={"c.in": slice(0, 4)}, parts={"x": slice(0, 5)})
    outer = replace(block("b"), ports={"in": slice(0, 4)}, parts={"x": slice(0, 4)})
    with pytest.raises(ValueError, match=r"two blocks have a port 'b.c.in': rename block 'b.c'"):
        substructure({"b": inner, "b.c": outer}, [], disconnected=True)
    inner, outer = (
        replace(inner, ports={"p": slice(0, 4)}, parts={"c.x": slice(0, 5)}),
        replace(outer, ports={"q": slice(0, 4)}),
    )
    with pytest.raises(ValueError, match=r"two blocks have a part 'b.c.x'.*'b.c'"):
        substructure({"b": inner, "b.c": outer}, [], disconnected=True)
