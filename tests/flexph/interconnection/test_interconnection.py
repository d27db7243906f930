"""Interconnections: power is kept, the two routes of [flex] fig. 4 meet, and a hinge of two beams is the library's."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph import PHDAE, LinearPHDAE, connect, eigenfrequencies, eliminate, hinge, poles
from flexph.bodies import floating_body
from flexph.discretisation import with_pair
from flexph.interconnection import constrain, gyrator, interchange, join, transformer
from flexph.numerics.rotations import rotation
from flexph.systems import from_linear

FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)
random_states = pytest.mark.parametrize("seed", range(4))
PORTS = ("a.in", "b.in")
SIZES, WIDTHS, OUTER = {"a": 5, "b": 4}, {"a": 3, "b": 2}, {"a": 1, "b": 2}
ROUND_OFF = {"rtol": 1e-12, "atol": 1e-12}  # sums of tens of products of numbers of size ten


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def linear(name, form="dense", constraints=0):
    """A random dissipative linear system with an inner port (last columns) and an outer one (first columns)."""
    n, outer = SIZES[name], OUTER[name]
    draw = np.random.default_rng(ord(name)).standard_normal
    root, free, loss = draw((n, n)), draw((n, n)), draw((n, 2))
    made = {"E": root @ root.T + np.eye(n), "J": free - free.T, "R": loss @ loss.T}
    made |= {"B": draw((n, outer + WIDTHS[name])), "G": draw((constraints, n))}
    return LinearPHDAE(
        **{k: FORMS[form](v) for k, v in made.items()},
        ports={f"{name}.out": slice(0, outer), f"{name}.in": slice(outer, outer + WIDTHS[name])},
        parts={f"{name}.all": slice(0, n)},
        constraints=tuple(f"{name} {i}" for i in range(constraints)),
    )


def nonlinear(name):
    """A system with E(x), J(x), R(x), B(x) all at work, made from the linear one."""
    plain, n = linear(name), SIZES[name]
    descriptor = lambda x: np.eye(n) + 0.3 * np.tril(np.outer(np.sin(x), x), -1)  # noqa: E731
    return PHDAE(
        E=descriptor,
        J=lambda x: plain.J * (1.0 + x @ x),
        R=lambda x: plain.R * np.cosh(x[0]),
        B=lambda x: plain.B + np.outer(x, np.ones(plain.B.shape[1])),
        z=lambda x: np.linalg.solve(descriptor(x).T, plain.E @ x + x**3),
        H=lambda x: plain.energy(x) + 0.25 * np.sum(x**4),
        sample=np.linspace(-0.5, 0.5, n),
        ports=plain.ports,
        parts=plain.parts,
    )


CONSTANT = np.random.default_rng(7).standard_normal((WIDTHS["a"], WIDTHS["b"]))


def moving(x1, x2):
    """C(x₁, x₂) of the states proper of both systems."""
    return CONSTANT * np.cos(x1[0]) + np.outer(x1[:3], x2[:2])


COUPLINGS = {"constant": CONSTANT, "C(x1, x2)": moving}
both_couplings = pytest.mark.parametrize("coupling", COUPLINGS)


def at(coupling, x1, x2):
    chosen = COUPLINGS[coupling]
    return chosen(x1, x2) if callable(chosen) else chosen


def states(seed):
    """x₁, x₂, λ, outer inputs u₁, u₂."""
    draw = np.random.default_rng(seed).standard_normal
    return 0.5 * draw(SIZES["a"]), 0.5 * draw(SIZES["b"]), draw(WIDTHS["b"]), draw(OUTER["a"]), draw(OUTER["b"])


def flow(system, x, inputs):
    """E ẋ of a nonlinear system with inputs by port name."""
    z = system.z(x)
    return (system.J(x) - system.R(x)) @ z + sum(system.inputs(x, k) @ u for k, u in inputs.items())


def output(system, x, port):
    return system.inputs(x, port).T @ system.z(x)


@both_couplings
@random_states
def test_a_gyrator_feeds_parts_by_each_others_outputs(coupling, seed):
    """The whole moves as the parts fed with u₁ = −C y₂, u₂ = Cᵀ y₁, and u₁ᵀy₁ + u₂ᵀy₂ = 0 ([flex] eq. (39))."""
    first, second = nonlinear("a"), nonlinear("b")
    whole = gyrator(first, second, PORTS, COUPLINGS[coupling])
    x1, x2, _, w1, w2 = states(seed)
    y1, y2, c = output(first, x1, "a.in"), output(second, x2, "b.in"), at(coupling, x1, x2)
    u1, u2 = -c @ y2, c.T @ y1
    x = np.concatenate([x1, x2])
    apart = [flow(first, x1, {"a.in": u1, "a.out": w1}), flow(second, x2, {"b.in": u2, "b.out": w2})]
    np.testing.assert_allclose(flow(whole, x, {"a.out": w1, "b.out": w2}), np.concatenate(apart), **ROUND_OFF)
    assert u1 @ y1 + u2 @ y2 == pytest.approx(0.0, abs=1e-12)
    whole.check(x)
    assert whole.H(x) == pytest.approx(first.H(x1) + second.H(x2), rel=1e-14)


@both_couplings
@random_states
def test_a_transformer_makes_outputs_equal(coupling, seed):
    """As above with u₁ = −C λ, u₂ = λ; the last rows are Cᵀy₁ − y₂, which is zero on solutions ([flex] eq. (42))."""
    first, second = nonlinear("a"), nonlinear("b")
    whole = transformer(first, second, PORTS, COUPLINGS[coupling])
    x1, x2, lam, w1, w2 = states(seed)
    y1, y2, c = output(first, x1, "a.in"), output(second, x2, "b.in"), at(coupling, x1, x2)
    x = np.concatenate([x1, x2, lam])
    apart = [flow(first, x1, {"a.in": -c @ lam, "a.out": w1}), flow(second, x2, {"b.in": lam, "b.out": w2})]
    expected = np.concatenate([*apart, c.T @ y1 - y2])
    np.testing.assert_allclose(flow(whole, x, {"a.out": w1, "b.out": w2}), expected, **ROUND_OFF)
    whole.check(x)
    assert (whole.parts["a.all"], whole.parts["b.all"]) == (slice(0, 5), slice(5, 9))
    assert_parts_cover(whole)


def assert_parts_cover(system):
    """Every state belongs to one named part."""
    covered = sorted(i for s in system.parts.values() for i in range(*s.indices(system.size)))
    assert covered == list(range(system.size))


@pytest.mark.parametrize("joint", [transformer, gyrator])
def test_systems_are_joined_one_after_the_other(joint):
    """Modular construction, [flex] sec. 5.2: a third system joins at a port that two joined ones left."""
    third = replace(nonlinear("b"), ports={"c.out": slice(0, 2), "c.in": slice(2, 4)}, parts={"c.all": slice(0, 4)})
    pair = transformer(nonlinear("a"), nonlinear("b"), PORTS, CONSTANT)
    chain = joint(pair, third, ("b.out", "c.in"), np.eye(2))
    assert_parts_cover(chain)
    assert list(chain.ports) == ["a.out", "c.out"]
    x = np.random.default_rng(3).standard_normal(chain.size)
    chain.check(x)
    np.testing.assert_allclose(chain.z(x)[: pair.size], pair.z(x[: pair.size]), rtol=1e-14)


def test_systems_with_multipliers_are_joined():
    """Both parts of a joint may be joined systems themselves."""
    left = transformer(nonlinear("a"), nonlinear("b"), PORTS, CONSTANT)
    right = from_linear(
        replace(
            transformer(linear("a"), linear("b"), PORTS, CONSTANT),
            ports={"c.out": slice(0, 1), "c.in": slice(1, 3)},
            parts={"c.all": slice(0, 5), "d.all": slice(5, 9)},
        )
    )
    whole = transformer(left, right, ("b.out", "c.in"), np.eye(2))
    assert_parts_cover(whole)
    assert list(whole.ports) == ["a.out", "c.out"]


@both_couplings
@pytest.mark.parametrize("connector", [gyrator, transformer])
@random_states
def test_power_goes_through_the_outer_ports_only(connector, coupling, seed):
    """zᵀE ẋ = Σ yᵀu over the outer ports − the losses of both parts, at any state and input."""
    first, second = nonlinear("a"), nonlinear("b")
    whole = connector(first, second, PORTS, COUPLINGS[coupling])
    x1, x2, lam, w1, w2 = states(seed)
    x = np.concatenate([x1, x2, lam])[: whole.size]
    supplied = output(first, x1, "a.out") @ w1 + output(second, x2, "b.out") @ w2
    lost = sum(s.z(q) @ s.R(q) @ s.z(q) for s, q in ((first, x1), (second, x2)))
    np.testing.assert_allclose(whole.power_balance(x, np.concatenate([w1, w2])), supplied - lost, rtol=1e-11)


@both_couplings
@random_states
def test_two_routes_to_a_transformer(coupling, seed):
    """[flex] fig. 4: the second system with input and output exchanged, joined by a gyrator, is the transformer."""
    first, second = nonlinear("a"), nonlinear("b")
    direct = transformer(first, second, PORTS, COUPLINGS[coupling])
    around = gyrator(first, interchange(second, "b.in"), PORTS, COUPLINGS[coupling])
    x = np.concatenate(states(seed)[:3])
    for name in "EJRBz":
        np.testing.assert_allclose(getattr(around, name)(x), getattr(direct, name)(x), **ROUND_OFF)
    assert around.H(x) == pytest.approx(direct.H(x), rel=1e-14)
    assert dict(around.ports) == dict(direct.ports)


def paired(name):
    """A system with a discrete gradient pair of its own, and a mean of B that is not the value in the middle."""
    system = nonlinear(name)
    ends = {"B": lambda x0, x1: 0.5 * (system.B(x0) + system.B(x1))}
    return with_pair(replace(system, means=ends))


def ends(seed, size):
    """Two states near each other."""
    start = np.concatenate(states(seed)[:3])[:size]
    return start, start + 0.2 * np.random.default_rng(seed + 20).standard_normal(size)


@both_couplings
@pytest.mark.parametrize("connector", [gyrator, transformer])
@pytest.mark.parametrize("other", [paired, nonlinear])
@random_states
def test_discrete_means_go_along_with_interconnection(connector, coupling, other, seed):
    """z̄ᵀĒΔx = ΔH of the whole, J̄ skew with B̄₁C̄ and B̄₂ of the parts; a part without a pair takes that of gonzalez."""
    first, second = paired("a"), other("b")
    whole = connector(first, second, PORTS, COUPLINGS[coupling])
    assert set(whole.means) == set("EJRBz")
    x0, x1 = ends(seed, whole.size)
    E, J, R, B, z = (whole.means[name](x0, x1) for name in "EJRBz")
    assert z @ E @ (x1 - x0) == pytest.approx(whole.H(x1) - whole.H(x0), rel=1e-11, abs=1e-11)
    np.testing.assert_array_equal(J, -J.T)
    (a0, b0), (a1, b1) = np.split(x0[:9], [5]), np.split(x1[:9], [5])
    own, its = first.means["B"](a0, a1), with_pair(second).means["B"](b0, b1) if other is nonlinear else None
    its = second.means["B"](b0, b1) if its is None else its
    c = at(coupling, 0.5 * (a0 + a1), 0.5 * (b0 + b1))
    if connector is gyrator:
        np.testing.assert_allclose(J[:5, 5:], -own[:, 1:] @ c @ its[:, 2:].T, **ROUND_OFF)
    else:
        np.testing.assert_allclose(J[9:], np.hstack([(own[:, 1:] @ c).T, -its[:, 2:].T, np.zeros((2, 2))]), **ROUND_OFF)
        np.testing.assert_array_equal(z[9:], x1[9:])  # stage values
    np.testing.assert_allclose(B[:9], np.block([[own[:, :1], np.zeros((5, 2))], [np.zeros((4, 1)), its[:, :2]]]))
    np.testing.assert_allclose(R[:5, :5], first.means["R"](a0, a1), **ROUND_OFF)


@both_couplings
@random_states
def test_two_routes_to_the_means_of_a_transformer(coupling, seed):
    """[flex] fig. 4 over a step."""
    first, second = paired("a"), paired("b")
    direct = transformer(first, second, PORTS, COUPLINGS[coupling])
    around = gyrator(first, interchange(second, "b.in"), PORTS, COUPLINGS[coupling])
    x0, x1 = ends(seed, direct.size)
    for name in "EJRBz":
        np.testing.assert_allclose(around.means[name](x0, x1), direct.means[name](x0, x1), **ROUND_OFF)


def test_a_mean_of_inputs_makes_one_of_the_structure():
    """Without a pair the method makes z̄, and takes what has no mean in the middle."""
    first = replace(nonlinear("a"), means={"B": lambda x0, x1: nonlinear("a").B(x1)})
    whole = gyrator(first, nonlinear("b"), PORTS, CONSTANT)
    assert set(whole.means) == {"B", "J"}
    x0, x1 = ends(1, whole.size)
    middle = 0.5 * (x0 + x1)
    inner = first.B(x1[:5])[:, 1:] @ CONSTANT @ nonlinear("b").B(middle[5:])[:, 2:].T
    np.testing.assert_allclose(whole.means["J"](x0, x1)[:5, 5:], -inner, **ROUND_OFF)
    assert not gyrator(nonlinear("a"), nonlinear("b"), PORTS, CONSTANT).means


def test_cautions_go_along():
    """Those of each part are asked at its own states."""
    one = replace(nonlinear("a"), cautions=(lambda x: f"a {len(x)}" if x[0] > 0.0 else None,))
    two = replace(nonlinear("b"), cautions=(lambda x: f"b {len(x)}",))
    for whole in (gyrator(one, two, PORTS, CONSTANT), transformer(one, interchange(two, "b.out"), PORTS, CONSTANT)):
        assert [caution(np.ones(whole.size)) for caution in whole.cautions] == ["a 5", "b 4"]
        assert [caution(-np.ones(whole.size)) for caution in whole.cautions] == [None, "b 4"]


@random_states
def test_interchange_swaps_input_and_output(seed):
    """[flex] eq. (43): E ẋ = J z + B λ, 0 = −Bᵀz + u, y = λ; the power λᵀu is that of the port before."""
    given = nonlinear("b")
    made = interchange(given, "b.in")
    _, x, lam, _, w = states(seed)
    prescribed = np.random.default_rng(seed).standard_normal(WIDTHS["b"])
    whole = np.concatenate([x, lam])
    expected = np.concatenate(
        [flow(given, x, {"b.in": lam, "b.out": w}), prescribed - output(given, x, "b.in")],
    )
    np.testing.assert_allclose(flow(made, whole, {"b.in": prescribed, "b.out": w}), expected, **ROUND_OFF)
    np.testing.assert_array_equal(output(made, whole, "b.in"), lam)
    np.testing.assert_array_equal(output(made, whole, "b.out"), output(given, x, "b.out"))
    made.check(whole)


@both_forms
@random_states
def test_linear_and_nonlinear_gyrators_agree(form, seed):
    """J₁₂ = −B₁ C B₂ᵀ: the same matrices as those of the nonlinear route."""
    made = gyrator(linear("a", form), linear("b", form), PORTS, CONSTANT)
    other = gyrator(from_linear(linear("a")), from_linear(linear("b")), PORTS, CONSTANT)
    x = np.random.default_rng(seed).standard_normal(9)
    for name in "EJRB":
        np.testing.assert_allclose(full(getattr(made, name)), getattr(other, name)(x), **ROUND_OFF)
    assert dict(made.ports) == dict(other.ports) == {"a.out": slice(0, 1), "b.out": slice(1, 3)}


@both_forms
@random_states
def test_linear_and_nonlinear_transformers_agree(form, seed):
    """Its multipliers made states, it is the nonlinear transformer of the same systems ([flex] eq. (42), (45))."""
    made = transformer(linear("a", form), linear("b", form), PORTS, CONSTANT)
    assert made.is_sparse == (form == "sparse")
    assert made.constraints == ("a.in = b.in: 0", "a.in = b.in: 1")
    whole = from_linear(made)
    other = transformer(from_linear(linear("a")), from_linear(linear("b")), PORTS, CONSTANT)
    x = np.random.default_rng(seed).standard_normal(11)
    for name in "EJRB":
        np.testing.assert_allclose(full(getattr(whole, name)(x)), getattr(other, name)(x), **ROUND_OFF)
    assert whole.H(x) == pytest.approx(other.H(x), rel=1e-14)
    assert dict(whole.ports) == dict(other.ports)


@both_forms
def test_constraints_of_the_parts_stay(form):
    """The order of the multipliers differs between the routes, and nothing else."""
    pair = linear("a", form, constraints=1), linear("b", form, constraints=1)
    made = transformer(*pair, PORTS, CONSTANT)
    assert made.constraints == ("a 0", "b 0", "a.in = b.in: 0", "a.in = b.in: 1")
    other = transformer(from_linear(pair[0]), from_linear(pair[1]), PORTS, CONSTANT)
    order = [*range(5), 9, *range(5, 9), 10, 11, 12]  # (x₁, λ₁, x₂, λ₂, λ) of the nonlinear route
    whole, x = from_linear(made), np.ones(13)
    for name in "EJR":
        expected = getattr(other, name)(x)
        np.testing.assert_allclose(full(getattr(whole, name)(x))[np.ix_(order, order)], expected, **ROUND_OFF)


def beam(seed, **options):
    material = fem.Material(young=7e10 + 1e9 * seed, density=2700.0)
    return fem.beam(0.4 + 0.1 * seed, material, fem.Section(width=0.02, height=0.004), elements=3, **options)


def with_force_ports(name, body):
    """The finite blocks of a body, its ports split into forces and torques, all names led by that of the body."""
    made = floating_body(body)
    ports = {}
    for port, s in made.ports.items():
        ports[f"{name}.{port}.force"] = slice(s.start, s.start + 2)
        ports[f"{name}.{port}.torque"] = slice(s.start + 2, s.stop)
    return replace(made, ports=ports, parts={f"{name}.{k}": s for k, s in made.parts.items()})


def relative_rotation(x1, x2):
    """R(θ) of [flex] eq. (40): takes axes of the second body to those of the first; θ from the kept entries."""
    (c1, s1), (c2, s2) = x1[2:4], x2[2:4]
    return np.array([[c1, s1], [-s1, c1]]) @ np.array([[c2, -s2], [s2, c2]])


def hinged_blocks(bodies):
    first, second = (with_force_ports(name, body) for name, body in zip("ab", bodies, strict=True))
    return transformer(first, second, ("a.tip.force", "b.root.force"), relative_rotation)


def at_rest(whole, angles):
    """The linear system of [flex] eq. (45): the blocks of (v_P, ω, u̇, σ) and λ of E, J at rest at a pose."""
    x = np.zeros(whole.size)
    for name, angle in angles.items():
        x[whole.parts[f"{name}.rotation"]] = rotation(angle)[:, 0]
    kept = [
        i for name in "ab" for k in ("velocity", "spin", "deformation_rate", "stress") for i in part(whole, name, k)
    ]
    E, J = full(whole.E(x)), full(whole.J(x))
    kinetic = np.array([i not in [*part(whole, "a", "stress"), *part(whole, "b", "stress")] for i in kept])
    G = -J[-2:][:, kept]  # the multipliers are the last states
    return LinearPHDAE(E[np.ix_(kept, kept)], J[np.ix_(kept, kept)], G=G, kinetic=kinetic)


def part(whole, name, kind):
    s = whole.parts[f"{name}.{kind}"]
    return range(s.start, s.stop)


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
def test_two_beams_on_a_hinge(angle):
    """Finite blocks joined by R(θ), [flex] eq. (36), (40)-(42), have the eigenfrequencies of the mechanism.

    Both are computed from singular values, with errors of round-off times cond(M)^½ = 1e3.
    """
    bodies = beam(0), beam(1, reference="simply_supported").with_mass("tip", 0.05, 1e-5)
    angles = {"a": 0.3, "b": 0.3 + angle}
    blocks = at_rest(hinged_blocks(bodies), angles)
    mechanism = connect(dict(zip("ab", bodies, strict=True)), [hinge("a.tip", "b.root")])
    system = mechanism.linearize(mechanism.assemble(guess=angles))
    found = eigenfrequencies(blocks)
    assert len(found) == 18  # 24 velocities, 2 constraints, 4 rigid motions
    np.testing.assert_allclose(found, eigenfrequencies(system), rtol=1e-9)


def test_joining_keeps_names_and_values():
    made = join(linear("a"), linear("b"))
    np.testing.assert_array_equal(made.inputs("b.in")[5:], linear("b").inputs("b.in"))
    np.testing.assert_array_equal(made.J[:5, :5], linear("a").J)
    assert not made.J[:5, 5:].any()
    assert dict(made.parts) == {"a.all": slice(0, 5), "b.all": slice(5, 9)}


def test_constraining_adds_rows():
    made = constrain(linear("a", constraints=1), np.ones((1, 5)), ("sum",))
    assert made.constraints == ("a 0", "sum")
    np.testing.assert_array_equal(made.G[1], np.ones(5))
    assert constrain(made, np.ones((1, 5))).constraints[-1] == "constraint 2"


@pytest.mark.parametrize("connector", [gyrator, transformer])
@pytest.mark.parametrize("kind", [linear, nonlinear])
def test_names_must_differ(connector, kind):
    first = kind("a")
    with pytest.raises(ValueError, match=r"port names must differ .* several have \[.*'a.out'\]"):
        connector(first, replace(first, parts={}), ("a.in", "a.in"), np.ones((3, 3)))
    other = replace(first, ports={"c.out": slice(0, 1), "c.in": slice(1, 4)})
    with pytest.raises(ValueError, match=r"part names must differ .* several have \['a.all'\]"):
        connector(first, other, ("a.in", "c.in"), np.ones((3, 3)))


@pytest.mark.parametrize("connector", [gyrator, transformer])
@pytest.mark.parametrize("kind", [linear, nonlinear])
def test_the_coupling_must_have_the_shape_of_the_ports(connector, kind):
    with pytest.raises(ValueError, match=re.escape("C must have shape (3, 2), got (2, 3)")):
        connector(kind("a"), kind("b"), PORTS, np.ones((2, 3)))


@pytest.mark.parametrize("connector", [gyrator, transformer])
def test_linear_systems_take_a_constant_coupling(connector):
    with pytest.raises(ValueError, match=r"C must.*constant.*linear systems:.*function.*states needs PHDAE"):
        connector(linear("a"), linear("b"), PORTS, moving)


@pytest.mark.parametrize("connector", [gyrator, transformer])
@pytest.mark.parametrize("kind", [linear, nonlinear])
def test_an_unknown_port_is_answered_with_those_that_exist(connector, kind):
    with pytest.raises(ValueError, match=r"no port 'b.inner': there are .*'b.out', 'b.in'"):
        connector(kind("a"), kind("b"), ("a.in", "b.inner"), CONSTANT)
    with pytest.raises(ValueError, match=r"no port 'a': there are 'a.out', 'a.in'"):
        connector(kind("a"), kind("b"), ("a", "b.in"), CONSTANT)


@pytest.mark.parametrize("connector", [gyrator, transformer])
def test_a_port_belongs_to_its_own_system(connector):
    with pytest.raises(ValueError, match=r"no port 'b\.in': there are 'a\.out', 'a\.in'$"):
        connector(linear("a"), linear("b"), ("b.in", "a.in"), CONSTANT.T)


def test_forms_do_not_mix():
    with pytest.raises(ValueError, match="all dense or all sparse"):
        join(linear("a"), linear("b", "sparse"))


@both_forms
@pytest.mark.parametrize("connector", [gyrator, transformer])
def test_eliminated_systems_are_joined(connector, form):
    """Eliminating the constraints of a part first or those of the whole last: the same motions of the named parts."""
    parts = linear("a", form, constraints=1), linear("b", form, constraints=1)
    first = eliminate(connector(eliminate(parts[0]), parts[1], PORTS, CONSTANT))
    last = eliminate(connector(*parts, PORTS, CONSTANT))
    assert first.size == last.size
    np.testing.assert_allclose(np.poly(poles(first)), np.poly(poles(last)), rtol=1e-10)  # whatever their order
    assert dict(first.parts) == dict(last.parts) == {"a.all": slice(0, 5), "b.all": slice(5, 9)}
    x = np.random.default_rng(0).standard_normal(first.size)
    whole = first.expand(x)
    assert whole.shape == (9,)
    assert first.energy(x) == pytest.approx(
        sum(p.energy(q) for p, q in zip(parts, (whole[:5], whole[5:]), strict=True))
    )
    np.testing.assert_allclose(parts[0].G @ whole[:5], 0.0, atol=1e-13)
    for name, part, q in zip(("a.out", "b.out"), parts, (whole[:5], whole[5:]), strict=True):
        np.testing.assert_allclose(first.inputs(name).T @ x, part.inputs(name).T @ q, **ROUND_OFF)


def test_rows_of_constraints_are_over_the_states_as_they_are():
    done = eliminate(linear("a", constraints=1))
    made = constrain(done, np.ones((1, 4)))
    assert made.G.shape == (1, 4)
    assert made.lift is done.lift
    with pytest.raises(ValueError, match=r"rows must.*shape \(any, 4\): x.*4 states, got \(1, 5\)"):
        constrain(done, np.ones((1, 5)))
