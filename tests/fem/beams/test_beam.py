"""Beams: integrals, statics, stresses, and the finite blocks of a floating body, against closed forms."""

import re

import numpy as np
import pytest
from covering import covering

import fem
import rigid
from flexph import GROUND, connect, force, torque, weld
from flexph.bodies import floating_body, linear_body
from flexph.bodies.inertia import contract
from flexph.systems import transform

LENGTH, YOUNG, DENSITY, WIDTH, HEIGHT = 1.3, 20.0, 2.5, 1.1, 0.8
AREA, SECOND = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12.0
EA, EI, LINE = YOUNG * AREA, YOUNG * SECOND, DENSITY * AREA
MATERIAL, SECTION = fem.Material(young=YOUNG, density=DENSITY), fem.Section(width=WIDTH, height=HEIGHT)
both_references = pytest.mark.parametrize("reference", ["cantilever", "simply_supported"])
both_strains = pytest.mark.parametrize("strain", ["linear", "von_karman"])
both_momenta = pytest.mark.parametrize("momenta", ["full", "constant"])
both_forms = pytest.mark.parametrize("form", ["paper", "canonical"])
all_pairs = pytest.mark.parametrize("pair", fem.PAIRS)


def beam(elements=3, **options):
    return fem.beam(LENGTH, MATERIAL, SECTION, elements=elements, **options)


def shapes(x, elements, reference="cantilever"):
    """u_x, u_y and u_y' at points x as rows over the kept coordinates, from the textbook's polynomials."""
    h = LENGTH / elements
    along, across, slope = np.zeros((3, len(x), 3 * elements + 3))
    for i, point in enumerate(x):
        e = min(int(point / h), elements - 1)
        s = point / h - e
        along[i, [3 * e, 3 * e + 3]] = 1.0 - s, s
        columns = [3 * e + 1, 3 * e + 2, 3 * e + 4, 3 * e + 5]
        across[i, columns] = 1 - 3 * s**2 + 2 * s**3, s - 2 * s**2 + s**3, 3 * s**2 - 2 * s**3, s**3 - s**2
        slope[i, columns] = np.array([-6 * s + 6 * s**2, 1 - 4 * s + 3 * s**2, 6 * s - 6 * s**2, 3 * s**2 - 2 * s]) / h
    removed = [0, 1, 2] if reference == "cantilever" else [0, 1, 3 * elements + 1]
    return tuple(np.delete(rows, removed, axis=1) for rows in (along, across, slope))


def quadrature(elements):
    """Points and weights of a rule exact for degree 15 on every element."""
    local, weight = np.polynomial.legendre.leggauss(8)
    h = LENGTH / elements
    points = (h * (np.arange(elements)[:, None] + 0.5 * (local + 1.0))).ravel()
    return points, np.tile(0.5 * h * weight, elements)


# --- materials, sections, arguments


def test_shapes_give_area_and_second_moment():
    """Circle A = πd²/4, I = πd⁴/64; rectangle A = bh, I = bh³/12; outer fibres at half the depth."""
    circle = fem.Section(diameter=6e-3)
    assert circle.area == pytest.approx(2.827433388e-5, rel=1e-9)
    assert circle.second_moment == pytest.approx(6.361725124e-11, rel=1e-9)
    assert circle.fibre == 3e-3
    plate = fem.Section(width=3.0, height=2.0)
    assert (plate.area, plate.second_moment, plate.fibre) == (6.0, 2.0, 1.0)
    constants = fem.Section(area=2.0, second_moment=0.5)
    assert (constants.area, constants.second_moment, constants.fibre) == (2.0, 0.5, None)
    assert fem.Section(area=2.0, second_moment=0.5, fibre=0.25).fibre == 0.25


@pytest.mark.parametrize(
    "given, message",
    [
        ({"diameter": 0.0}, "diameter must be positive, got 0.0 m"),
        ({"diameter": -1.0}, "diameter must be positive, got -1.0 m"),
        ({"diameter": np.nan}, "diameter must be finite"),
        ({"width": 1.0}, "width= was given without height="),
        ({"width": -1.0, "height": 1.0}, "width must be positive, got -1.0 m"),
        ({"width": 1.0, "height": 0.0}, "height must be positive, got 0.0 m"),
        ({}, "a section must have diameter=, or width= and height=, or area= and second_moment=: none was given"),
        ({"area": 1.0}, "needs second_moment="),
        ({"area": -1.0, "second_moment": 1.0}, "area must be positive, got -1.0 m²"),
        ({"area": 1.0, "second_moment": np.inf}, "second_moment must be finite"),
        ({"area": 1.0, "second_moment": 1.0, "fibre": 0.0}, "fibre must be positive, got 0.0 m"),
        ({"diameter": 1.0, "width": 1.0, "height": 1.0}, "only one"),
        ({"diameter": 1.0, "area": 1.0}, "only one"),
        ({"width": 1.0, "height": 1.0, "second_moment": 1.0}, "only one"),
        ({"diameter": 1.0, "fibre": 0.5}, "only one"),
    ],
)
def test_wrong_sections_are_refused(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fem.Section(**given)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: fem.Material(young=0.0, density=1.0), "young must be positive, got 0.0 Pa"),
        (lambda: fem.Material(young=1.0, density=-2.0), "density must be positive, got -2.0 kg/m³"),
        (lambda: fem.Material(young=np.nan, density=1.0), "young must be finite"),
        (lambda: fem.Material(young="steel", density=1.0), "young must be a number, got 'steel'"),
        (lambda: fem.Damping(mass=-1.0), "mass must not be negative, got -1.0 1/s"),
        (lambda: fem.Damping(stiffness=-1e-6), "stiffness must not be negative, got -1e-06 s"),
        (lambda: beam(0), "elements must be at least 1, got 0"),
        (lambda: beam(-3), "elements must be at least 1, got -3"),
        (lambda: beam(2.5), "elements must be a whole number, got 2.5"),
        (lambda: beam(np.inf), "elements must be a whole number, got inf"),
        (lambda: fem.beam(-1.0, MATERIAL, SECTION, elements=1), "length must be positive, got -1.0 m"),
        (lambda: fem.beam(0.0, MATERIAL, SECTION, elements=1), "length must be positive, got 0.0 m"),
        (lambda: beam(pair="P1/P1"), "pair must be one of 'compatible', 'quadratic', 'hermite', 'paper', got 'P1/P1'"),
        (
            lambda: beam(reference="free"),
            "reference must be one of 'cantilever', 'simply_supported', 'mean_axis', got 'free'",
        ),
        (lambda: beam(strain="green"), "strain must be one of 'linear', 'von_karman', got 'green'"),
        (lambda: beam(momenta="none"), "momenta must be one of 'full', 'constant', got 'none'"),
        (
            lambda: beam(pair="paper", strain="von_karman"),
            "unlike pair 'paper': use pair 'compatible', 'quadratic'",
        ),
        (lambda: beam(stations={"far": 1.4}), "station 'far' must lie between 0 and the length 1.3 m, got 1.4 m"),
        (lambda: beam(stations={"far": -0.1}), "station 'far' must lie between 0 and the length 1.3 m, got -0.1 m"),
        (lambda: beam(stations={"far": np.nan}), "stations['far'] must be finite"),
        (lambda: beam(stations={"tip": 0.5}), "stations must not be named 'root' or 'tip'"),
        (lambda: beam().with_mass("end", 1.0), "no port 'end': there are 'root', 'tip'"),
        (lambda: beam().with_mass("tip", -1.0), "mass must not be negative, got -1.0 kg"),
        (lambda: beam().with_mass("tip", 0.0, -1.0), "inertia must not be negative, got -1.0 kg m²"),
        (lambda: floating_body(beam(), form="classic"), "form must be one of 'paper', 'canonical', got 'classic'"),
        (lambda: floating_body(rigid.point(1.0)), "must be a planar body with rotation"),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


# --- inertia


@both_references
@pytest.mark.parametrize("elements", [1, 4])
def test_the_rigid_inertia_is_that_of_a_bar(elements, reference):
    """m = ρAL, centre at L/2, J = ρAL³/3 about P and ρAL³/12 about the centre."""
    body = beam(elements, reference=reference)
    mass = LINE * LENGTH
    assert body.mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(body.inertia.centre, [LENGTH / 2, 0.0], rtol=1e-14)
    assert contract(body.inertia, about_centre=False).J[0, 0] == pytest.approx(mass * LENGTH**2 / 3, rel=1e-13)
    assert contract(body.inertia, about_centre=True).J[0, 0] == pytest.approx(mass * LENGTH**2 / 12, rel=1e-13)


@both_references
@pytest.mark.parametrize("elements", [1, 4])
def test_inertia_integrals_by_an_independent_quadrature(elements, reference):
    """∫ρφ, ∫ρφX, ∫ρφφ with the textbook's shape functions."""
    inertia = beam(elements, reference=reference).inertia
    x, w = quadrature(elements)
    along, across, _ = shapes(x, elements, reference)
    weight = LINE * w
    np.testing.assert_allclose(inertia.shape_first, [weight @ along, weight @ across], atol=1e-13)
    lever = np.zeros((2, 2, 3 * elements))
    lever[0, 0], lever[1, 0] = (weight * x) @ along, (weight * x) @ across
    np.testing.assert_allclose(inertia.shape_lever, lever, atol=1e-13)
    for i, first in enumerate((along, across)):
        for j, second in enumerate((along, across)):
            expected = first.T @ (weight[:, None] * second)
            np.testing.assert_allclose(inertia.shape_pair[i][j].toarray(), expected, atol=1e-13)


@pytest.mark.parametrize("port", ["root", "tip", "middle"])
def test_lumped_inertia_adds_to_the_mass_matrix(port):
    """E grows by m NᵀN + J ΨᵀΨ with N, Ψ the velocity and spin of the port; at the root that is eq. (48)."""
    body, mass, spin = beam(2, stations={"middle": 0.7}), 0.3, 0.02
    before, after = (linear_body(b, "b").E.toarray() for b in (body, body.with_mass(port, mass, spin)))
    x = {"root": 0.0, "tip": LENGTH, "middle": 0.7}[port]
    along, across, slope = shapes([x], 2)
    velocity = np.hstack([[[1.0, 0.0, 0.0], [0.0, 1.0, x]], np.vstack([along, across])])
    rotation = np.hstack([[[0.0, 0.0, 1.0]], slope])
    added = (after - before)[:9, :9]
    np.testing.assert_allclose(added, mass * velocity.T @ velocity + spin * rotation.T @ rotation, atol=1e-14)
    if port == "root":
        np.testing.assert_allclose(added[:2, :2], mass * np.eye(2), atol=1e-14)
        assert not added[3:, 3:].any()
    assert body.mass == pytest.approx(LINE * LENGTH)  # and the body stays as it was


# --- ports


@both_references
@pytest.mark.parametrize("x", [0.0, 0.1, LENGTH / 3, 0.7, LENGTH])
def test_ports_move_with_the_field(x, reference):
    """Position, displacement and rotation rows at a station, on nodes as between them."""
    port = beam(3, reference=reference, stations={"here": x}).ports["here"]
    along, across, slope = shapes([x], 3, reference)
    np.testing.assert_allclose(port.position, [x, 0.0])
    np.testing.assert_allclose(port.shape.toarray(), np.vstack([along, across]), atol=1e-14)
    np.testing.assert_allclose(port.rotation.toarray(), slope, atol=1e-13)


def test_ports_and_what_the_references_fix():
    body = beam(3, stations={"a": 0.2, "b": 0.9})
    assert list(body.ports) == ["root", "a", "b", "tip"]
    assert not body.ports["root"].shape.toarray().any()
    assert not body.ports["root"].rotation.toarray().any()
    supported = beam(3, reference="simply_supported")
    assert not supported.ports["tip"].shape.toarray()[1].any()
    assert supported.ports["root"].rotation.toarray().any()


# --- strain


@pytest.mark.parametrize(
    "pair, strain", [(p, s) for p in fem.PAIRS for s in ("linear", "von_karman") if (p, s) != ("paper", "von_karman")]
)
def test_the_operator_is_the_derivative_of_the_strain(pair, strain):
    """dε = D(u) du: ε is at most quadratic, so that a central difference is exact."""
    elastic = beam(pair=pair, strain=strain).elasticity
    u, du = np.random.default_rng(0).standard_normal((2, elastic.strain.shape[1]))
    difference = 0.5 * (elastic.strain_of(u + du) - elastic.strain_of(u - du))
    np.testing.assert_allclose(elastic.operator(u) @ du, difference, atol=1e-13)


@both_strains
def test_increments_of_the_strain_are_exact(strain):
    """Δε = D(ū) Δu over a step of any size, ū the mean of its ends: what the time scheme rests on."""
    elastic = beam(strain=strain).elasticity
    before, after = 3.0 * np.random.default_rng(1).standard_normal((2, 9))
    increment = elastic.strain_of(after) - elastic.strain_of(before)
    np.testing.assert_allclose(elastic.operator(0.5 * (before + after)) @ (after - before), increment, atol=1e-12)


def test_von_karman_strain_is_the_mean_over_each_element():
    """C σ of the axial force: ∫(u_x' + ½ u_y'²) over each element, by an independent quadrature."""
    body = beam(3, strain="von_karman")
    u = np.random.default_rng(2).standard_normal(9)
    x, w = quadrature(3)
    slope = shapes(x, 3)[2]
    ends = shapes([0.0, LENGTH / 3, 2 * LENGTH / 3, LENGTH], 3)[0] @ u
    expected = np.diff(ends) + (w * 0.5 * (slope @ u) ** 2).reshape(3, -1).sum(axis=1)
    np.testing.assert_allclose(body.elasticity.strain_of(u)[:3], expected, rtol=1e-12)
    linear = beam(3).elasticity
    np.testing.assert_allclose(body.elasticity.operator(np.zeros(9)).toarray(), linear.strain.toarray(), atol=1e-15)
    np.testing.assert_allclose(body.elasticity.strain_of(u)[3:], linear.strain_of(u)[3:], atol=1e-13)


# --- statics


def deflection(body, generalised_force):
    """u of K u = f with K = DᵀC⁻¹D."""
    elastic = body.elasticity
    stiffness = (elastic.strain.T @ elastic.stiffness_of_stress @ elastic.strain).toarray()
    return np.linalg.solve(stiffness, generalised_force)


def at_tip(body, u):
    tip = body.ports["tip"]
    return np.append(tip.shape @ u, tip.rotation @ u)


@covering("pair, elements", tuple(fem.PAIRS), (1, 2, 7))
def test_tip_loads_of_a_cantilever(elements, pair):
    """FL/EA; FL³/3EI and FL²/2EI; ML²/2EI and ML/EI: linear fields of force and moment, which all pairs contain."""
    body = beam(elements, pair=pair)
    tip = body.ports["tip"]
    pull, push = (deflection(body, tip.shape.toarray()[i]) for i in (0, 1))
    bend = deflection(body, tip.rotation.toarray()[0])
    np.testing.assert_allclose(at_tip(body, pull), [LENGTH / EA, 0.0, 0.0], rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(at_tip(body, push), [0.0, LENGTH**3 / (3 * EI), LENGTH**2 / (2 * EI)], rtol=1e-11)
    np.testing.assert_allclose(at_tip(body, bend), [0.0, LENGTH**2 / (2 * EI), LENGTH / EI], rtol=1e-11)


@pytest.mark.parametrize("elements", [1, 5])
def test_end_moment_of_a_simply_supported_beam(elements):
    """Rotations ML/3EI at the loaded end and −ML/6EI at the other."""
    body = beam(elements, reference="simply_supported")
    u = deflection(body, body.ports["tip"].rotation.toarray()[0])
    ends = [(body.ports[name].rotation @ u).item() for name in ("tip", "root")]
    np.testing.assert_allclose(ends, [LENGTH / (3 * EI), -LENGTH / (6 * EI)], rtol=1e-11)


@pytest.mark.parametrize("elements", [1, 2, 7])
def test_uniform_load_of_a_cantilever(elements):
    """qL⁴/8EI and qL³/6EI at the tip, pL²/2EA along: exact at nodes, since the load does the work of the field."""
    body = beam(elements)
    load = body.loads["load"]
    np.testing.assert_allclose(load.measures, LENGTH / elements)
    np.testing.assert_allclose(load.positions[:, 0], LENGTH * (np.arange(elements) + 0.5) / elements)
    across = deflection(body, load.shapes.T @ np.outer(load.measures, [0.0, 1.0]).ravel())
    along = deflection(body, load.shapes.T @ np.outer(load.measures, [1.0, 0.0]).ravel())
    np.testing.assert_allclose(at_tip(body, across)[1:], [LENGTH**4 / (8 * EI), LENGTH**3 / (6 * EI)], rtol=1e-10)
    np.testing.assert_allclose(at_tip(body, along)[0], LENGTH**2 / (2 * EA), rtol=1e-10)


def test_the_view_follows_the_beam():
    """All drawn points lie on the cubic F x²(3L − x)/6EI of a tip force, root and tip among them."""
    body = beam(3)
    u = deflection(body, body.ports["tip"].shape.toarray()[1])
    x = body.view.points[:, 0]
    moved = (body.view.shape @ u).reshape(-1, 2)
    np.testing.assert_allclose(moved[:, 1], x**2 * (3 * LENGTH - x) / (6 * EI), atol=1e-12)
    np.testing.assert_allclose(moved[:, 0], 0.0, atol=1e-14)
    assert (x[0], x[-1]) == (0.0, pytest.approx(LENGTH))
    assert np.all(np.diff(x) > 0.0)
    np.testing.assert_array_equal(body.view.cells, np.column_stack([np.arange(12), np.arange(1, 13)]))


@all_pairs
def test_stresses_under_a_tip_force(pair):
    """N = F_x, M = F_y (L − x) at the middle of each cell; σ = N/A ∓ M c/I at the upper and lower fibre."""
    body, f = beam(3, pair=pair), np.array([3.0, 0.5])
    sigma = body.elasticity.stress_of(deflection(body, body.ports["tip"].shape.T @ f))
    x = body.view.points[body.view.cells, 0].mean(axis=1)
    moment = f[1] * (LENGTH - x)
    bent = moment * (HEIGHT / 2) / SECOND
    expected = {
        "axial_force": ("N", np.full_like(x, f[0])),
        "bending_moment": ("N m", moment),
        "axial_stress_upper": ("Pa", f[0] / AREA - bent),
        "axial_stress_lower": ("Pa", f[0] / AREA + bent),
    }
    assert set(body.view.stresses) == set(expected)
    for name, (unit, value) in expected.items():
        field = body.view.stresses[name]
        assert field.unit == unit
        np.testing.assert_allclose(field.cells @ sigma, value, rtol=1e-9, atol=1e-10)


def test_a_section_without_height_has_no_fibre_stresses():
    body = fem.beam(LENGTH, MATERIAL, fem.Section(area=AREA, second_moment=SECOND), elements=2)
    assert set(body.view.stresses) == {"axial_force", "bending_moment"}


# --- the floating body


def random_state(system, seed, scale=0.3):
    """A random state with a proper rotation."""
    rng = np.random.default_rng(seed)
    x = scale * rng.standard_normal(system.size)
    angle = rng.uniform(-np.pi, np.pi)
    x[system.parts["rotation"]] = np.cos(angle), np.sin(angle)
    return x


def test_mass_matrix_at_rest():
    """E(0) of one element, eq. (33): rigid block, ∫ρφ, ∫ρxφ, the consistent mass with rotations hθ, and C."""
    system = floating_body(beam(1))
    m, L = LINE * LENGTH, LENGTH
    E = system.E(system.sample)
    np.testing.assert_array_equal(E[:7, :7], np.eye(7))
    assert not E[:7, 7:].any()
    np.testing.assert_allclose(E[7:10, 7:10], [[m, 0, 0], [0, m, m * L / 2], [0, m * L / 2, m * L**2 / 3]], atol=1e-14)
    coupling = [[m / 2, 0, 0], [0, m / 2, -m / 12], [0, 7 * m * L / 20, -m * L / 20]]
    np.testing.assert_allclose(E[7:10, 10:13], coupling, atol=1e-14)
    flexible = [[m / 3, 0, 0], [0, 13 * m / 35, -11 * m / 210], [0, -11 * m / 210, m / 105]]
    np.testing.assert_allclose(E[10:13, 10:13], flexible, atol=1e-14)
    compliance = np.diag([L / EA, 0, 0])
    compliance[1:, 1:] = L / EI * np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
    np.testing.assert_allclose(E[13:, 13:], compliance, atol=1e-14)
    assert not E[7:13, 13:].any()


@both_references
def test_input_matrices_are_shape_functions_at_the_ends(reference):
    """Eq. (35): B_r = [1, τ_CPᵀ] and B_f of the shape functions at the ends, their columns (F_x, F_y, T)."""
    system = floating_body(beam(2, reference=reference))
    B, n = system.B(system.sample), 6
    np.testing.assert_array_equal(B[4 + n : 7 + n, :3], np.eye(3))
    np.testing.assert_allclose(B[4 + n : 7 + n, 3:], [[1, 0, 0], [0, 1, 0], [0, LENGTH, 1]])
    for port, x in (("root", 0.0), ("tip", LENGTH)):
        expected = np.vstack(shapes([x], 2, reference)).T
        np.testing.assert_allclose(B[7 + n : 7 + 2 * n, system.ports[port]], expected, atol=1e-14)
    assert not B[: 4 + n].any()
    assert not B[7 + 2 * n :].any()


@covering(
    "form, strain, momenta, seed", ("paper", "canonical"), ("linear", "von_karman"), ("full", "constant"), range(3)
)
def test_conditions_hold_at_random_states(form, strain, momenta, seed):
    """Eᵀz = ∇H, J skew, R ⪰ 0, and the power balance, gravity, dampers and lumped masses included."""
    body = beam(2, strain=strain, momenta=momenta, damping=fem.Damping(mass=0.1, stiffness=0.02))
    system = floating_body(body.with_mass("tip", 0.2, 0.03), gravity=(1.0, -9.81), form=form)
    x = random_state(system, seed)
    system.check(x)
    assert system.gradient_defect(x) < 1e-8  # central differences of polynomials
    J = system.J(x)
    assert np.abs(J + J.T).max() < 1e-14 * np.abs(J).max()
    left, right = system.power_balance(x, np.random.default_rng(seed).standard_normal(6))
    assert left == pytest.approx(right, rel=1e-11, abs=1e-11)


@both_strains
@both_momenta
@pytest.mark.parametrize("seed", range(3))
def test_both_forms_have_the_same_action(strain, momenta, seed):
    """J is not unique, J z is: doubled momenta or Σ(e aᵀ − a eᵀ)."""
    body = beam(2, strain=strain, momenta=momenta).with_mass("tip", 0.2, 0.03)
    paper, canonical = (floating_body(body, gravity=(1.0, -9.81), form=form) for form in ("paper", "canonical"))
    x = random_state(paper, seed)
    np.testing.assert_allclose(paper.J(x) @ paper.z(x), canonical.J(x) @ canonical.z(x), atol=1e-12)
    if momenta == "full":
        assert np.abs(paper.J(x) - canonical.J(x)).max() > 1e-3


def motion(system, x, elements):
    """Points ℓ = X + φu, their velocities in body axes and N = ∂velocity/∂(v_P, ω, u̇), at quadrature points."""
    points, w = quadrature(elements)
    along, across, _ = shapes(points, elements)
    u, v, omega, du = (x[system.parts[k]] for k in ("deformation", "velocity", "spin", "deformation_rate"))
    lever = np.array([points + along @ u, across @ u])
    N = np.zeros((2, len(points), 3 + len(u)))
    N[0, :, 0] = N[1, :, 1] = 1.0
    N[0, :, 2], N[1, :, 2] = -lever[1], lever[0]
    N[0, :, 3:], N[1, :, 3:] = along, across
    return LINE * w, lever, N, np.concatenate([v, omega, du])


def turned(omega, field):
    """ω × field in the plane."""
    return omega * np.array([-field[1], field[0]])


@pytest.mark.parametrize("seed", range(3))
def test_energy_is_that_of_the_points(seed):
    """T = ½∫ρ|v_P + ω × ℓ + φu̇|², ½σᵀCσ = ½∫(N²/EA + M²/EI), V = −∫ρ g·(r_P + R ℓ), [flex] eq. (8), remark 1."""
    gravity = np.array([1.0, -9.81])
    system = floating_body(beam(2), gravity=tuple(gravity))
    x = random_state(system, seed)
    mass, lever, N, velocity = motion(system, x, 2)
    kinetic = 0.5 * mass @ np.sum((N @ velocity) ** 2, axis=0)
    (c, s), h = x[system.parts["rotation"]], LENGTH / 2
    place = x[system.parts["position"]][:, None] + np.array([[c, -s], [s, c]]) @ lever
    force, moments = x[system.parts["stress"]][:2], x[system.parts["stress"]][2:].reshape(2, 2)
    square = (moments[:, 0] ** 2 + moments[:, 0] * moments[:, 1] + moments[:, 1] ** 2) / 3.0  # mean of a line squared
    elastic = 0.5 * h * (np.sum(force**2) / EA + np.sum(square) / EI)
    assert system.H(x) == pytest.approx(kinetic + elastic - mass @ (gravity @ place), rel=1e-12)


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_equations_are_those_of_the_points(form, seed):
    """Weak form of [flex] eq. (1)-(3): E v̇ − J z = ∫ρ Nᵀa + (0, 0, Dᵀσ) with the acceleration of a moving frame,

    a = v̇_P + ω × v_P + ω̇ × ℓ + ω × (ω × ℓ) + 2ω × φu̇ + φü.
    """
    body = beam(2)
    system = floating_body(body, form=form)
    x = random_state(system, seed)
    mass, lever, N, velocity = motion(system, x, 2)
    rate = np.random.default_rng(seed + 9).standard_normal(9)
    omega, flexing = velocity[2], N[:, :, 3:] @ velocity[3:]
    acceleration = N @ rate + turned(omega, velocity[:2])[:, None] + turned(omega, turned(omega, lever))
    acceleration = acceleration + 2.0 * turned(omega, flexing)
    expected = np.einsum("p,ipk,ip->k", mass, N, acceleration)
    expected[3:] += body.elasticity.strain.T @ x[system.parts["stress"]]
    rows = slice(10, 19)
    found = system.E(x)[rows, rows] @ rate - (system.J(x) @ system.z(x))[rows]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rates_of_the_state_are_those_of_kinematics(seed):
    """ṙ_P = R v_P, d(c, s)/dt = ω (−s, c), du/dt = u̇, C σ̇ = D(u) u̇."""
    body = beam(2, strain="von_karman")
    system = floating_body(body)
    x = random_state(system, seed)
    rate = system.J(x) @ system.z(x)
    (c, s), v, du = x[system.parts["rotation"]], x[system.parts["velocity"]], x[system.parts["deformation_rate"]]
    np.testing.assert_allclose(rate[system.parts["position"]], [c * v[0] - s * v[1], s * v[0] + c * v[1]], rtol=1e-13)
    np.testing.assert_allclose(rate[system.parts["rotation"]], x[system.parts["spin"]] * [-s, c], rtol=1e-13)
    np.testing.assert_allclose(rate[system.parts["deformation"]], du, rtol=1e-13)
    strain_rate = body.elasticity.operator(x[system.parts["deformation"]]) @ du
    np.testing.assert_allclose(rate[system.parts["stress"]], strain_rate, atol=1e-13)


@both_forms
def test_constant_momenta_do_not_see_the_deformation(form):
    """[flex] sec. 4.3: M(u) = M(0), J with p_t alone and no coupling of ω with u̇."""
    system = floating_body(beam(2, momenta="constant"), form=form)
    x = random_state(system, 0)
    np.testing.assert_array_equal(system.E(x), system.E(system.sample))
    momentum = system.E(x)[10:12, 10:19] @ x[10:19]
    J = system.J(x)[10:19, 10:19]
    np.testing.assert_allclose(J[:2, 2], [momentum[1], -momentum[0]], rtol=1e-13)
    assert not J[2:, 3:].any()
    assert not J[:2, 3:].any()
    assert not system.z(x)[4:10].any()


@both_forms
def test_a_rigid_body_is_newton_euler(form):
    """[flex] remark 3 in the plane: J = [[0, p_t], [−p_tᵀ, 0]] with p_t = m v + ω × s turned by a right angle."""
    system = floating_body(rigid.bar(2.0, 3.0), form=form)
    x = random_state(system, 1)
    v, omega = x[system.parts["velocity"]], x[6]
    momentum = 3.0 * v + omega * np.array([0.0, 3.0])
    np.testing.assert_allclose(system.E(x)[4:, 4:], [[3, 0, 0], [0, 3, 3], [0, 3, 4]], atol=1e-14)
    expected = [[0, 0, momentum[1]], [0, 0, -momentum[0]], [-momentum[1], momentum[0], 0]]
    np.testing.assert_allclose(system.J(x)[4:, 4:], expected, rtol=1e-13)


# --- from body point to centre of mass


GRAVITY = (1.0, -9.81)


class CentreForm:
    """The body as a mechanism of its own, at the centre of mass in world axes, and the way there from [flex]'s form."""

    def __init__(self, body):
        self.body, self.point_form = body, floating_body(body, gravity=GRAVITY, form="canonical")
        loads = [make(f"b.{port}", name=f"{port} {kind}") for port in body.ports for kind, make in KINDS.items()]
        mechanism = connect({"b": body}, loads, gravity=GRAVITY)
        state = mechanism.consistent_state(mechanism.assemble({"b": (0.1, 0.2, 0.3)}))
        self.form = mechanism.phdae(state)

    def phi(self, x):
        """(r_P, c, s, u, v_P, ω, u̇, σ) to (r, c, s, u, ṙ, ω, u̇, σ) with r = r_P + R (c₀ + φ̄u).

        Off the unit circle R is a rotation times ρ = √(c² + s²). The velocity of the centre is R(v_P + …)/ρ, so that
        the kinetic energies of both forms are one function of the state, rotation entries included.
        """
        n, inertia = self.body.size, self.body.inertia
        r, (c, s), u, v, omega, du, sigma = np.split(x, np.cumsum([2, 2, n, 2, 1, n]))
        R, lever = np.array([[c, -s], [s, c]]), inertia.centre + inertia.mean_shape @ u
        velocity = v + omega * np.array([-lever[1], lever[0]]) + inertia.mean_shape @ du
        centre = R @ velocity / np.sqrt(c**2 + s**2)
        return np.concatenate([r + R @ lever, [c, s], u, centre, omega, du, sigma])

    def jacobian(self, x):
        """Dφ by complex steps, exact to round-off."""
        steps = 1e-20j * np.eye(len(x))
        return np.column_stack([self.phi(x + step).imag / 1e-20 for step in steps])

    def frame(self, x):
        """U with Uᵀ(E ∘ φ)Dφ = E of the point form: E is regular, so there is one."""
        carried = self.form.E(self.phi(x)) @ self.jacobian(x)
        return np.linalg.solve(carried.T, self.point_form.E(x).T)

    def carried(self):
        return transform(self.form, self.phi, self.jacobian, self.frame, sample=random_state(self.point_form, 9))


KINDS = {"force": force, "torque": torque}


@pytest.mark.covering
@both_strains
@both_references
@pytest.mark.parametrize("seed", range(2))
def test_the_centre_of_mass_form_is_a_system_transformation(strain, reference, seed):
    """(φ, U) of [dg] sec. 5.1 carries the mechanism's form to that of [flex]: same z, J, R, B, H.

    J is that of the canonical form entry by entry, and of the paper's in its action. Both mass matrices have condition
    numbers of 1e4, which leaves 1e-12 of round-off.
    """
    damped = fem.Damping(mass=0.1, stiffness=0.02)
    body = beam(2, strain=strain, reference=reference, damping=damped).with_mass("tip", 0.1, 0.01)
    forms = CentreForm(body)
    carried, point = forms.carried(), forms.point_form
    x = random_state(point, seed)
    close = {"rtol": 0.0, "atol": 1e-11}
    np.testing.assert_allclose(carried.E(x), point.E(x), **close)
    np.testing.assert_allclose(carried.J(x), point.J(x), **close)
    np.testing.assert_allclose(carried.R(x), point.R(x), **close)
    np.testing.assert_allclose(carried.z(x), point.z(x), **close)
    assert carried.H(x) == pytest.approx(point.H(x), rel=1e-12)
    paper = floating_body(body, gravity=GRAVITY)
    np.testing.assert_allclose(carried.J(x) @ carried.z(x), paper.J(x) @ paper.z(x), atol=1e-10)
    np.testing.assert_allclose(in_body_axes(carried, x), point.B(x), **close)
    x[point.parts["rotation"]] *= 1.2  # the energies agree off the unit circle as well
    assert carried.H(x) == pytest.approx(point.H(x), rel=1e-12)


def in_body_axes(system, x):
    """The inputs of the carried form, forces turned from world to body axes: F_world = R F_body."""
    c, s = x[2:4]
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    B = system.B(x)
    return np.hstack([np.hstack([B[:, system.ports[f"{port} {k}"]] for k in KINDS]) @ turn for port in ("root", "tip")])


# --- as part of a mechanism


def test_port_shapes_carry_loads_into_a_mechanism():
    """A clamped beam under a tip force, through the linear system: K u = f has its FL³/3EI there too."""
    mechanism = connect({"b": beam(3)}, [weld("b.root", GROUND), force("b.tip", name="load")])
    system = mechanism.linearize(mechanism.assemble({"b": (0.0, 0.0, 0.0)}))
    kinetic = system.kinetic
    D, C = system.J[np.ix_(~kinetic, kinetic)], system.E[np.ix_(~kinetic, ~kinetic)]
    B, free = system.inputs("load")[kinetic], slice(3, None)  # the weld holds the three rigid velocities
    stiffness = D.T @ np.linalg.solve(C, D)
    u = np.linalg.solve(stiffness[free, free], B[free] @ [0.0, 1.0])
    assert B[free].T[1] @ u == pytest.approx(LENGTH**3 / (3 * EI), rel=1e-11)
