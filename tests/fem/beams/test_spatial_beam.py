"""Beams in space: integrals, kinetic energy, statics and stresses, against points, closed forms and planar beams."""

import re

import numpy as np
import pytest
from covering import covering

import fem
from fem.beams.elements import pair
from fem.beams.line_mesh import LineMesh
from flexph.bodies.inertia import contract

LENGTH, YOUNG, DENSITY, POISSON, WIDTH, HEIGHT = 1.3, 20.0, 2.5, 0.3, 1.1, 0.8
MATERIAL = fem.Material(young=YOUNG, density=DENSITY, poisson=POISSON)
SECTION = fem.Section(width=WIDTH, height=HEIGHT)
AREA, SECOND_Z, SECOND_Y = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12.0, HEIGHT * WIDTH**3 / 12.0
EA, EI_Z, EI_Y = YOUNG * AREA, YOUNG * SECOND_Z, YOUNG * SECOND_Y
GJ = YOUNG / (2.0 * (1.0 + POISSON)) * SECTION.torsion_constant
LINE, POLAR = DENSITY * AREA, DENSITY * (SECOND_Y + SECOND_Z)
REFERENCES = ("cantilever", "simply_supported", "mean_axis")
all_references = pytest.mark.parametrize("reference", REFERENCES)
fixed_references = pytest.mark.parametrize("reference", REFERENCES[:2])
all_pairs = pytest.mark.parametrize("pair", fem.PAIRS)
both_strains = pytest.mark.parametrize("strain", ["linear", "von_karman"])


def beam(elements=3, section=SECTION, **options):
    return fem.beam(LENGTH, MATERIAL, section, elements=elements, **{"dim": 3, **options})


def field_rows(x, elements):
    """u_x, u_y, u_z, u_y', u_z', θ_x at points x over (u_x, u_y, u_z, θ_x, u_y', u_z') of all nodes, of textbooks."""
    h = LENGTH / elements
    rows = np.zeros((6, len(x), 6 * elements + 6))
    for i, point in enumerate(x):
        e = min(int(point / h), elements - 1)
        s, at, then = point / h - e, 6 * e, 6 * e + 6
        rows[np.ix_([0], [i], [at, then])] = rows[np.ix_([5], [i], [at + 3, then + 3])] = 1.0 - s, s
        cubic = [1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)]
        slope = [6 * (s**2 - s) / h, 1 - 4 * s + 3 * s**2, 6 * (s - s**2) / h, 3 * s**2 - 2 * s]
        for field, values in ((1, cubic), (3, slope)):
            for k, place in ((0, 1), (1, 2)):
                rows[field + k, i, [at + place, at + place + 3, then + place, then + place + 3]] = values
    return rows


def textbook(body, x, elements):
    """The same rows over the body's own coordinates, known from the motion of its nodes alone: ports there."""
    nodes = [body.ports[name] for name in ("root", *(f"node {k}" for k in range(1, elements)), "tip")]
    turns = [node.rotation.toarray() for node in nodes]
    values = [np.vstack([node.shape.toarray(), t[0], t[2], -t[1]]) for node, t in zip(nodes, turns, strict=True)]
    return field_rows(x, elements) @ np.vstack(values)


def with_nodes(elements, **options):
    stations = {f"node {k}": k * LENGTH / elements for k in range(1, elements)}
    return beam(elements, stations=stations | options.pop("stations", {}), **options)


def quadrature(elements):
    """Points and weights of a rule exact for degree 15 on every element."""
    local, weight = np.polynomial.legendre.leggauss(8)
    h = LENGTH / elements
    points = (h * (np.arange(elements)[:, None] + 0.5 * (local + 1.0))).ravel()
    return points, np.tile(0.5 * h * weight, elements)


# --- inertia


@covering("reference, elements", REFERENCES, (1, 4))
def test_the_rigid_inertia_is_that_of_a_bar(elements, reference):
    """ρAL³/12 across, ρI_p L along the axis: sections have no other rotary inertia."""
    inertia, mass = beam(elements, reference=reference).inertia, LINE * LENGTH
    assert inertia.mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(inertia.centre, [LENGTH / 2, 0.0, 0.0], rtol=1e-14)
    across = mass * LENGTH**2
    for about_centre, factor in ((False, 3.0), (True, 12.0)):
        J = contract(inertia, about_centre=about_centre).J
        np.testing.assert_allclose(J, np.diag([POLAR * LENGTH, across / factor, across / factor]), atol=1e-13)


def of_the_integrals(inertia, velocity, omega, rate, u):
    """T of the contracted integrals about P: ½m|v|² + v·(ω × S(u) + φ̄m u̇) + ½ωᵀJ(u)ω + ω(n + Nu)u̇ + ½u̇ᵀMu̇."""
    c = contract(inertia, about_centre=False)
    J = c.J + 2.0 * c.s @ u + np.array([[u @ (K @ u) for K in row] for row in c.K])
    coupling = c.n + np.array([N @ u for N in c.N])
    along = velocity @ (np.cross(omega, inertia.first + inertia.shape_first @ u) + inertia.shape_first @ rate)
    whole = 0.5 * inertia.mass * velocity @ velocity + along + 0.5 * omega @ J @ omega
    return whole + omega @ coupling @ rate + 0.5 * rate @ (c.M @ rate)


def about_the_moving_centre(inertia, u):
    """M(u) of (ω, u̇), the centre of mass of the deformed body at rest."""
    c = contract(inertia, about_centre=True)
    J = c.J + 2.0 * c.s @ u + np.array([[u @ (K @ u) for K in row] for row in c.K])
    coupling = c.n + np.array([N @ u for N in c.N])
    mean = np.vstack([np.cross(np.eye(3), inertia.mean_shape @ u), inertia.mean_shape.T])  # of (ω, u̇) on the centre
    return np.block([[J, coupling], [coupling.T, c.M.toarray()]]) - inertia.mass * mean @ mean.T


@covering("reference, elements, seed", REFERENCES, (1, 3), range(2))
def test_kinetic_energy_is_that_of_the_points(seed, elements, reference):
    """½∫ρA|v + ω × (X + φu) + φu̇|² + ½∫ρI_p(ω_x + θ̇_x)² at random states ([flex] eq. (8)), about P and the centre."""
    body = with_nodes(elements, reference=reference)
    inertia, rng = body.inertia, np.random.default_rng(seed)
    velocity, omega = rng.standard_normal((2, 3))
    rate, u = rng.standard_normal((2, body.size))
    x, w = quadrature(elements)
    rows = textbook(body, x, elements)
    place = np.column_stack([x, 0 * x, 0 * x]) + (rows[:3] @ u).T
    speed = velocity + np.cross(omega, place) + (rows[:3] @ rate).T
    expected = 0.5 * LINE * w @ np.sum(speed**2, axis=1) + 0.5 * POLAR * w @ (omega[0] + rows[5] @ rate) ** 2
    assert of_the_integrals(inertia, velocity, omega, rate, u) == pytest.approx(expected, rel=1e-12)
    centre = velocity + np.cross(omega, inertia.centre + inertia.mean_shape @ u) + inertia.mean_shape @ rate
    turning = np.append(omega, rate)
    found = 0.5 * inertia.mass * centre @ centre + 0.5 * turning @ about_the_moving_centre(inertia, u) @ turning
    assert found == pytest.approx(expected, rel=1e-12)


@covering("reference, elements", REFERENCES, (1, 2, 8))
def test_the_mass_matrix_is_positive_definite(elements, reference):
    """M(u) of (ω, u̇) about the moving centre of mass at a random deformation: symmetric and positive."""
    inertia = beam(elements, reference=reference).inertia
    M = about_the_moving_centre(inertia, 0.1 * np.random.default_rng(3).standard_normal(inertia.size))
    np.testing.assert_allclose(M, M.T, atol=1e-15)
    scale = 1.0 / np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(scale[:, None] * M * scale)[0] > 1e-7


# --- ports


@covering("reference, x", REFERENCES, (0.0, 0.1, LENGTH / 3, 0.7, LENGTH))
def test_ports_move_with_the_field(x, reference):
    """Displacement φ and section rotation ψ = (θ_x, −u_z', u_y'), on nodes as between them."""
    body = with_nodes(3, reference=reference, stations={"here": x})
    port, rows = body.ports["here"], textbook(body, [x], 3)[:, 0]
    np.testing.assert_allclose(port.position, [x, 0.0, 0.0])
    np.testing.assert_allclose(port.shape.toarray(), rows[:3], atol=1e-13)
    np.testing.assert_allclose(port.rotation.toarray(), [rows[5], -rows[4], rows[3]], atol=1e-12)


def test_what_the_references_fix():
    """All six motions of the root; or u at the root and u_y, u_z at the tip, and one torsion."""
    body = beam()
    assert body.size == 18
    assert not body.ports["root"].shape.toarray().any()
    assert not body.ports["root"].rotation.toarray().any()
    body = beam(reference="simply_supported")
    root, tip = body.ports["root"], body.ports["tip"]
    assert body.size == 18
    assert not root.shape.toarray().any()
    assert not tip.shape.toarray()[1:].any()
    assert not root.rotation.toarray()[0].any()
    assert np.all(np.abs(root.rotation.toarray()[1:]).max(axis=1) > 0.1)
    assert np.all(np.abs(tip.rotation.toarray()).max(axis=1) > 0.1)


def test_rotations_that_must_stay_small():
    """Those of both ends of every element, all three components."""
    body = with_nodes(3)
    nodes = ["root", "node 1", "node 1", "node 2", "node 2", "tip"]
    expected = np.vstack([body.ports[name].rotation.toarray() for name in nodes])
    np.testing.assert_allclose(body.section_rotation.toarray(), expected, atol=1e-14)


# --- plane and space


PLANE = {"node": [0, 1, 2], "of": 6}  # u_x, u_y, hu_y' of (u_x, u_y, hu_y', u_z, hu_z', hθ_x)


def planar_coordinates(elements, reference, inside=0):
    """Where the coordinates of the planar beam are among those of the spatial one, the ones inside of elements last."""
    full = np.arange(6 * elements + 6)
    last = 6 * elements
    fixed = list(range(6)) if reference == "cantilever" else [0, 1, 3, 5, last + 1, last + 3]
    kept = np.setdiff1d(full, fixed)
    return np.append(np.flatnonzero(np.isin(kept % 6, PLANE["node"])), kept.size + np.arange(inside))


@covering("reference, name, elements", tuple(REFERENCES[:2]), tuple(fem.PAIRS), (1, 4))
def test_the_planar_beam_is_the_x_y_part(elements, name, reference):
    flat = beam(elements, dim=2, pair=name, reference=reference)
    body = beam(elements, pair=name, reference=reference)
    fields = pair(name).fields(elements)
    u = planar_coordinates(elements, reference, fields[0].inside * elements)
    sigma = np.arange(fields[1].size + fields[3].size)
    close = {"rtol": 0.0, "atol": 1e-13}
    np.testing.assert_allclose(body.inertia.shape_first[:2, u], flat.inertia.shape_first, **close)
    np.testing.assert_allclose(body.inertia.shape_lever[:2, :2][:, :, u], flat.inertia.shape_lever, **close)
    for i, j in np.ndindex(2, 2):
        part = body.inertia.shape_pair[i][j].toarray()[np.ix_(u, u)]
        np.testing.assert_allclose(part, flat.inertia.shape_pair[i][j].toarray(), **close)
    space, plane = (contract(b.inertia, about_centre=False).M.toarray() for b in (body, flat))
    others = np.setdiff1d(np.arange(body.size), u)
    np.testing.assert_allclose(space[np.ix_(u, u)], plane, **close)
    np.testing.assert_allclose(space[np.ix_(u, others)], 0.0, **close)
    np.testing.assert_allclose(
        body.elasticity.strain.toarray()[np.ix_(sigma, u)], flat.elasticity.strain.toarray(), **close
    )
    np.testing.assert_allclose(body.elasticity.strain.toarray()[np.ix_(sigma, others)], 0.0, **close)
    compliance = body.elasticity.compliance.toarray()[np.ix_(sigma, sigma)]
    np.testing.assert_allclose(compliance, flat.elasticity.compliance.toarray(), **close)
    for port in ("root", "tip"):
        np.testing.assert_allclose(body.ports[port].shape.toarray()[:2, u], flat.ports[port].shape.toarray(), **close)
        turn = body.ports[port].rotation.toarray()[2:, u]
        np.testing.assert_allclose(turn, flat.ports[port].rotation.toarray(), **close)


# --- strain


@pytest.mark.parametrize(
    "name, strain", [(p, s) for p in fem.PAIRS for s in ("linear", "von_karman") if (p, s) != ("paper", "von_karman")]
)
def test_increments_of_the_strain_are_exact(name, strain):
    """Δε = D(ū) Δu over a step of any size, ū the mean of its ends: what the time scheme rests on."""
    elastic = beam(pair=name, strain=strain).elasticity
    before, after = 3.0 * np.random.default_rng(1).standard_normal((2, elastic.strain.shape[1]))
    increment = elastic.strain_of(after) - elastic.strain_of(before)
    np.testing.assert_allclose(elastic.operator(0.5 * (before + after)) @ (after - before), increment, atol=1e-11)


@all_references
def test_von_karman_strain_is_the_mean_over_each_element(reference):
    """∫(u_x' + ½u_y'² + ½u_z'²) over each element, by an independent quadrature; the other strains are linear."""
    body = with_nodes(3, strain="von_karman", reference=reference)
    u = np.random.default_rng(2).standard_normal(body.size)
    x, w = quadrature(3)
    rows = textbook(body, x, 3) @ u
    ends = textbook(body, [0.0, LENGTH / 3, 2 * LENGTH / 3, LENGTH], 3)[0] @ u
    expected = np.diff(ends) + (w * 0.5 * (rows[3] ** 2 + rows[4] ** 2)).reshape(3, -1).sum(axis=1)
    np.testing.assert_allclose(body.elasticity.strain_of(u)[:3], expected, rtol=1e-12)
    linear = beam(reference=reference).elasticity
    np.testing.assert_allclose(body.elasticity.operator(0.0 * u).toarray(), linear.strain.toarray(), atol=1e-15)
    np.testing.assert_allclose(body.elasticity.strain_of(u)[3:], linear.strain_of(u)[3:], atol=1e-12)


@all_pairs
def test_rigid_motions_do_not_strain_at_first_order(pair):
    """Translations and rotations of a beam without reference condition; von Kármán leaves ½|ψ|² of a rotation."""
    elements = 3
    inside = fem.PAIRS[pair].fields(elements)[0].inside * elements
    mesh = LineMesh(LENGTH, elements, 3, fem.PAIRS[pair], None)
    h, x = LENGTH / elements, LENGTH / elements * np.arange(elements + 1)
    translation, turn = np.array([0.3, -0.7, 1.1]), np.array([0.5, -0.2, 0.9])
    u = translation + np.cross(turn, np.column_stack([x, 0 * x, 0 * x]))
    node = np.column_stack([u[:, 0], u[:, 1], 0 * x + h * turn[2], u[:, 2], 0 * x - h * turn[1], 0 * x + h * turn[0]])
    local, moved = np.array([0.1, 0.5, 0.9]), np.append(node, np.full(inside, translation[0]))
    for name in mesh.components:
        np.testing.assert_allclose(mesh.strain(name, local) @ moved, 0.0, atol=1e-12)
    rotation = (mesh.rotation(local) @ moved).reshape(-1, 3)
    np.testing.assert_allclose(rotation, np.broadcast_to(turn, rotation.shape), atol=1e-13)


# --- statics


def deflection(body, generalised_force):
    """u of K u = f with K = DᵀC⁻¹D."""
    elastic = body.elasticity
    stiffness = (elastic.strain.T @ elastic.stiffness_of_stress @ elastic.strain).toarray()
    return np.linalg.solve(stiffness, generalised_force)


@covering("pair, elements", tuple(fem.PAIRS), (1, 4))
def test_tip_loads_of_a_cantilever(elements, pair):
    """Flexibility of the tip against (F_x, F_y, F_z, T_x, T_y, T_z) in closed form, with the signs of a right hand."""
    body = beam(elements, pair=pair)
    rows = np.vstack([body.ports["tip"].shape.toarray(), body.ports["tip"].rotation.toarray()])
    y, z = ([LENGTH**3 / (3 * s), LENGTH**2 / (2 * s), LENGTH / s] for s in (EI_Z, EI_Y))
    expected = np.diag([LENGTH / EA, y[0], z[0], LENGTH / GJ, z[2], y[2]])
    expected[1, 5] = expected[5, 1] = y[1]
    expected[2, 4] = expected[4, 2] = -z[1]
    np.testing.assert_allclose(rows @ deflection(body, rows.T), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("elements", [1, 5])
def test_end_moments_of_a_simply_supported_beam(elements):
    """Rotations ML/3EI at the loaded end and −ML/6EI at the other in both planes, TL/GJ in torsion."""
    body = beam(elements, reference="simply_supported")
    tip, root = (body.ports[name].rotation.toarray() for name in ("tip", "root"))
    u = deflection(body, tip.T)
    np.testing.assert_allclose(
        tip @ u, LENGTH * np.diag([1 / GJ, 1 / (3 * EI_Y), 1 / (3 * EI_Z)]), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(root @ u, -LENGTH * np.diag([0, 1 / (6 * EI_Y), 1 / (6 * EI_Z)]), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("elements", [1, 4])
def test_a_free_beam_under_loads_in_balance(elements):
    """Mean axes: end moments ±M bend to a circle, u_y'' = M/EI; no reaction is needed to hold a beam that is free."""
    body = beam(elements, reference="mean_axis")
    tip, root = body.ports["tip"], body.ports["root"]
    relative = (tip.rotation - root.rotation).toarray()
    u = deflection(body, relative.T)
    np.testing.assert_allclose(relative @ u, LENGTH * np.diag([1 / GJ, 1 / EI_Y, 1 / EI_Z]), rtol=1e-10, atol=1e-11)
    sag = LENGTH**2 / (12 * EI_Z)  # of the parabola ½κ((x − ½L)² − L²/12) at its ends
    np.testing.assert_allclose([(p.shape @ u)[1, 2] for p in (root, tip)], sag, rtol=1e-10)


@pytest.mark.parametrize("elements", [1, 5])
def test_uniform_load_of_a_cantilever(elements):
    """qL⁴/8EI at the tip in both planes, qL²/2EA along."""
    body = beam(elements)
    load, tip = body.loads["load"], body.ports["tip"]
    np.testing.assert_allclose(load.measures, LENGTH / elements)
    middles = LENGTH * (np.arange(elements) + 0.5) / elements
    np.testing.assert_allclose(load.positions, np.column_stack([middles, 0 * middles, 0 * middles]))
    u = deflection(body, load.shapes.T @ np.kron(load.measures[:, None], np.eye(3)))
    expected = np.diag([LENGTH**2 / (2 * EA), LENGTH**4 / (8 * EI_Z), LENGTH**4 / (8 * EI_Y)])
    np.testing.assert_allclose(tip.shape @ u, expected, rtol=1e-10, atol=1e-12)


# --- views and stresses


def test_the_view_follows_the_beam():
    """All drawn points lie on the cubics F x²(3L − x)/6EI of a tip force."""
    body, force = beam(3), np.array([0.0, 2.0, -1.0])
    u = deflection(body, body.ports["tip"].shape.T @ force)
    x = body.view.points[:, 0]
    assert body.view.points.shape == (13, 3)
    cubic = x**2 * (3 * LENGTH - x) / 6.0
    moved = (body.view.shape @ u).reshape(-1, 3)
    np.testing.assert_allclose(moved, np.outer(cubic, force / np.array([np.inf, EI_Z, EI_Y])), atol=1e-12)


def loaded(section, pair="compatible"):
    """Stress quantities of a beam under a force and a moment at its tip, and the forces (N; T, M_y, M_z) in balance."""
    body, force, torque = beam(3, section, pair=pair), np.array([3.0, 0.5, -0.8]), np.array([0.4, -0.3, 0.6])
    tip = body.ports["tip"]
    sigma = body.elasticity.stress_of(deflection(body, tip.shape.T @ force + tip.rotation.T @ torque))
    x = body.view.points[body.view.cells, 0].mean(axis=1)
    moment = torque + np.cross(np.outer(LENGTH - x, [1.0, 0.0, 0.0]), force)
    found = {name: (f.unit, f.cells @ sigma) for name, f in body.view.stresses.items()}
    return found, np.full_like(x, force[0]), moment


def agree(found, expected):
    assert {name: unit for name, (unit, _) in found.items()} == {name: unit for name, (unit, _) in expected.items()}
    for name, (_, value) in expected.items():
        np.testing.assert_allclose(found[name][1], value, rtol=1e-9, atol=1e-9, err_msg=name)


def axial_stresses(section, force, moment):
    """σ = N/A − M_z y/I_z + M_y z/I_y at the outer fibres."""
    mean = force / section.area
    y, z = (
        moment[:, 2] * section.fibre / section.second_moment,
        moment[:, 1] * section.fibre_z / section.second_moment_y,
    )
    values = {"y_upper": mean - y, "y_lower": mean + y, "z_upper": mean + z, "z_lower": mean - z}
    return {f"axial_stress_{name}": ("Pa", value) for name, value in values.items()}


def resultants(force, moment):
    names = {"torque": 0, "bending_moment_y": 1, "bending_moment_z": 2}
    return {"axial_force": ("N", force)} | {name: ("N m", moment[:, i]) for name, i in names.items()}


@all_pairs
def test_stresses_of_a_rectangle(pair):
    """Resultants are those of the loads on the tip's side of a cut, as vectors."""
    found, force, moment = loaded(SECTION, pair)
    agree(found, resultants(force, moment) | axial_stresses(SECTION, force, moment))


@pytest.mark.parametrize("hole", [None, 0.3])
def test_stresses_of_a_circle(hole):
    """τ = T r/J at the surface."""
    section = fem.Section(diameter=0.7, inner_diameter=hole)
    found, force, moment = loaded(section)
    shear = {"torsional_shear_stress": ("Pa", moment[:, 0] * 0.35 / (np.pi * (0.7**4 - (hole or 0.0) ** 4) / 32.0))}
    agree(found, resultants(force, moment) | axial_stresses(section, force, moment) | shear)


def test_a_section_without_shape_has_resultants_only():
    constants = {"area": 0.9, "second_moment": 0.05, "second_moment_y": 0.08, "torsion_constant": 0.1}
    found, force, moment = loaded(fem.Section(**constants))
    agree(found, resultants(force, moment))
    section = fem.Section(**constants, fibre=0.4, fibre_z=0.5)
    found, force, moment = loaded(section)
    agree(found, resultants(force, moment) | axial_stresses(section, force, moment))


# --- arguments


CONSTANTS = {"area": 1.0, "second_moment": 1.0}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: beam(dim=4), "dim must be 2 (plane) or 3 (space), got 4"),
        (lambda: beam(dim=1), "dim must be 2 (plane) or 3 (space), got 1"),
        (lambda: beam(dim=2.5), "dim must be a whole number, got 2.5"),
        (lambda: beam(dim="3D"), "dim must be a whole number, got '3D'"),
        (
            lambda: fem.beam(1.0, fem.Material(young=1.0, density=1.0), SECTION, elements=1, dim=3),
            "material needs poisson= or shear= in space (dim=3)",
        ),
        (lambda: beam(1, fem.Section(**CONSTANTS)), "section needs second_moment_y= [m⁴] in space (dim=3)"),
        (
            lambda: beam(1, fem.Section(**CONSTANTS, second_moment_y=1.0)),
            "section needs torsion_constant= [m⁴] in space (dim=3)",
        ),
        (lambda: beam(reference="free"), "reference must be one of 'cantilever', 'simply_supported', 'mean_axis'"),
        (lambda: beam(stations={"far": 1.4}), "station 'far' must lie between 0 and the length 1.3 m, got 1.4 m"),
        (lambda: beam(pair="paper", strain="von_karman"), "use pair 'compatible', 'quadratic' or 'hermite'"),
        (lambda: beam().with_mass("end", 1.0), "no port 'end': there are 'root', 'tip'"),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_planar_beams_need_no_spatial_constants():
    material = fem.Material(young=1.0, density=1.0)
    assert fem.beam(1.0, material, fem.Section(**CONSTANTS), elements=2).dim == 2
    assert fem.beam(1.0, material, fem.Section(**CONSTANTS), elements=2, reference="mean_axis").size == 6


def test_lumped_masses_turn_with_their_section():
    """M grows by m φᵀφ + J ψᵀψ, about all three axes."""
    body, mass, spin = beam(2), 0.3, 0.02
    tip = body.ports["tip"]
    before, after = (contract(b.inertia, about_centre=False) for b in (body, body.with_mass("tip", mass, spin)))
    added = mass * (tip.shape.T @ tip.shape) + spin * (tip.rotation.T @ tip.rotation)
    np.testing.assert_allclose((after.M - before.M).toarray(), added.toarray(), atol=1e-13)
    expected = mass * LENGTH**2 * np.diag([0.0, 1.0, 1.0]) + spin * np.eye(3)
    np.testing.assert_allclose(after.J - before.J, expected, atol=1e-13)
