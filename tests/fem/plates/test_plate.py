"""Plates: C¹ deflections, patch tests, whole spectra, orders, series solutions, the thin limit.

Five seconds, as orders need a fine mesh beside a coarse one.
"""

import numpy as np
import pytest
from covering import covering
from numpy.polynomial import polynomial as poly
from plate_meshes import KINDS, SOFT, THEORIES, mindlin, mixed, model, rectangle, rim
from scipy.linalg import eigh

import fem
from fem.plates.inertia import plate_inertia
from fem.plates.macro_elements import macro
from flexph import GROUND, connect, eigenfrequencies, eliminate, modes, weld
from flexph.bodies import stress_error, tensors, von_mises
from flexph.bodies.floating.linear_system import linear_body

all_theories = pytest.mark.parametrize("theory", THEORIES)
all_kinds = pytest.mark.parametrize("kind", KINDS)


def supported(body, count):
    """Frequencies with the frame on the ground [rad/s]."""
    mechanism = connect({"p": body}, [weld("p.frame", GROUND)])
    return eigenfrequencies(eliminate(mechanism.linearize(mechanism.assemble({"p": (0.0, 0.0, 0.0)}))), count=count)


def static(body, force):
    """u and σ under generalised forces."""
    D, S = body.elasticity.strain.toarray(), body.elasticity.stiffness_of_stress
    u = np.linalg.solve(D.T @ (S @ D), force)
    return u, S @ (D @ u)


def parts(model, sigma):
    """N (p, 3), M (p, 3), Q (p, 2) of the stress coordinates."""
    cuts = np.cumsum([3 * len(model.solid.weights), 3 * len(model.moment_areas)])
    N, M, Q = np.split(sigma, cuts)
    return N.reshape(-1, 3), M.reshape(-1, 3), Q.reshape(-1, 2)


# --- the macro elements


def polynomial(seed, degree=3):
    """A polynomial of that total degree with its gradient and second derivatives xx, yy, xy."""
    c = np.random.default_rng(seed).standard_normal((degree + 1,) * 2)
    c[np.add.outer(range(degree + 1), range(degree + 1)) > degree] = 0.0
    x, y = poly.polyder(c, axis=0), poly.polyder(c, axis=1)
    second = poly.polyder(x, axis=0), poly.polyder(y, axis=1), poly.polyder(x, axis=1)
    at = lambda c: lambda p: poly.polyval2d(p[..., 0], p[..., 1], c)  # noqa: E731
    values = lambda *cs: lambda p: np.stack([at(c)(p) for c in cs], axis=-1)  # noqa: E731
    return at(c), values(x, y), values(*second)


CORNERS = np.array([[0.0, 0.0], [2.0, 0.1], [1.7, 1.9], [0.2, 1.1]])


def cell(count):
    """One macro element with outward normals."""
    corners = CORNERS[None, :count]
    along = np.roll(corners, -1, axis=1) - corners
    normals = np.stack([along[..., 1], -along[..., 0]], axis=-1) / np.linalg.norm(along, axis=-1, keepdims=True)
    return macro(corners, normals), corners[0], normals[0]


@pytest.mark.parametrize("count", [3, 4])
def test_macros_hold_cubics(count):
    m, corners, normals = cell(count)
    value, slope, second = polynomial(count)
    middles = 0.5 * (corners + np.roll(corners, -1, axis=0))
    across = np.einsum("ki,ki->k", slope(middles), normals)
    u = np.concatenate([np.column_stack([value(corners), slope(corners)]).ravel(), across])
    points = np.random.default_rng(0).dirichlet(np.ones(count), 30) @ corners
    for order, exact in enumerate((value, slope, second)):
        assert m.values(points[None], order)[0] @ u == pytest.approx(exact(points), abs=1e-12)


@pytest.mark.parametrize("count", [3, 4])
def test_macros_are_smooth_inside(count):
    """Value and gradient on both sides of an inner edge differ by the step between, whatever the coordinates."""
    m, corners, _ = cell(count)
    u, centre = np.random.default_rng(1).standard_normal(4 * count), m.pieces[0, 0, 2]
    for corner in corners:
        at = 0.37 * corner + 0.63 * centre
        jumps = []
        for step in (1e-5, 1e-6):
            across = step * np.array([centre[1] - corner[1], corner[0] - centre[0]])
            sides = m.values(np.array([[at + across, at - across]]), 1)[0] @ u
            jumps.append(np.abs(sides[0] - sides[1]).max())
        assert jumps[1] == pytest.approx(0.1 * jumps[0], rel=1e-3)


@pytest.mark.parametrize(
    "mesh", [rectangle("triangle", (2, 2), moved=0.2), rectangle("quad", (2, 2), moved=0.2), mixed(0.05)]
)
def test_deflections_are_smooth_across_cells(mesh):
    """Value and gradient at points of inner edges, seen from both cells, for random coordinates."""
    m = model(mesh)
    u = np.random.default_rng(2).standard_normal(m.size)
    f = m.mesh.facets
    for k in np.flatnonzero(f.cells == 2):
        ends, seen = m.mesh.points[m.edges[k]], []
        at = (ends[0] + 0.3 * (ends[1] - ends[0]))[None, None]
        for b, c, _ in f.places[f.label == k]:
            s = m.sampled(int(b), np.array([c]), at)
            seen.append([float((rows @ u)[0]) for rows in (s.x, s.y, s.w, *s.slopes)])
        assert seen[0] == pytest.approx(seen[1], abs=1e-11)


# --- patch tests


@all_theories
@pytest.mark.parametrize("mesh", [*(rectangle(k, (3, 2), (1.0, 0.6), moved=0.25) for k in KINDS), mixed(0.07)])
def test_the_patch_test_holds(mesh, theory):
    """Linear u and quadratic w: constant N and M at every point, no shear, and they are in balance."""
    m = model(mesh, theory, thickness=0.02)
    u = np.zeros(m.size)
    gradient, bent = np.array([[1.0, 0.4], [-0.7, 2.0]]), np.array([0.3, -0.5, 0.8])  # w_xx, w_yy, w_xy
    x = m.mesh.points
    u[: m.bending] = (x @ gradient.T).ravel()
    c, e = x[m.corners], x[m.middles]
    slope = lambda p: np.column_stack([bent[0] * p[:, 0] + bent[2] * p[:, 1], bent[2] * p[:, 0] + bent[1] * p[:, 1]])  # noqa: E731
    w = 0.5 * np.einsum("ki,ki->k", slope(c), c)
    u[m.bending : m.bending + 3 * len(c)] = np.column_stack([w, m.length * slope(c)]).ravel()
    u[m.at_edges(np.arange(len(e)))] = m.length * np.einsum("ki,ki->k", slope(e), m.normals)
    S = fem.plate(mesh, SOFT, thickness=0.02, theory=theory).elasticity.stiffness_of_stress
    N, M, Q = parts(m, S @ (m.strain @ u))
    stiffness = np.linalg.inv(m.solid.compliances[0])
    strain = np.array([gradient[0, 0], gradient[1, 1], gradient[0, 1] + gradient[1, 0]])
    np.testing.assert_allclose(N, np.tile(0.02 * stiffness @ strain, (len(N), 1)), rtol=1e-10)
    curvature = -np.array([bent[0], bent[1], 2.0 * bent[2]])
    np.testing.assert_allclose(M, np.tile(0.02**3 / 12.0 * stiffness @ curvature, (len(M), 1)), rtol=1e-8)
    assert np.abs(Q).max(initial=0.0) == 0.0
    # constant stress is in balance at all coordinates of the inside
    force = np.abs(m.strain.T @ np.concatenate([N.ravel(), 0.0 * M.ravel(), Q.ravel()]))
    inner = np.setdiff1d(np.arange(len(x)), np.unique(m.middles[m.mesh.facets.cells == 1]))
    inner = np.setdiff1d(inner, np.unique(m.edges[m.mesh.facets.cells == 1]))
    plane = (2 * inner[:, None] + np.arange(2)).ravel()
    assert force[plane].max() < 1e-12 * np.abs(N).max()
    force = np.abs(m.strain.T @ np.concatenate([0.0 * N.ravel(), M.ravel(), Q.ravel()]))
    corners = np.intersect1d(inner, m.corners)
    assert force[m.at_corners(corners).ravel()].max(initial=0.0) < 1e-12 * np.abs(M).max()
    assert force[m.at_edges(np.flatnonzero(m.mesh.facets.cells == 2))].max() < 1e-12 * np.abs(M).max()


@all_kinds
def test_constant_shear_is_that_of_timoshenko(kind):
    """A strip of ν = 0, clamped at one end, under a force per length at the other: Q constant, M linear, Timoshenko."""
    material = fem.Material(young=12.0, density=1.0, poisson=0.0)
    t, length, force = 0.3, 2.0, 0.7
    body = fem.plate(
        rectangle(kind, (4, 1), (length, 0.5)),
        material,
        thickness=t,
        theory="reissner_mindlin",
        supports=[fem.Support("left", "clamped")],
        ports={"end": fem.Tie("right", "mean")},
        loads={"end": "right"},
    )
    port = body.loads["end"]
    assert port.measures == pytest.approx([0.5])
    u, sigma = static(body, force * port.measures[0] * (port.shapes.T @ [0.0, 0.0, 1.0]))
    bend, shear = 12.0 * t**3 / 12.0, 5.0 / 6.0 * 6.0 * t
    want = force * length**3 / (3.0 * bend) + force * length / shear
    assert (body.ports["end"].shape @ u)[2] == pytest.approx(want, rel=1e-9)
    assert body.view.stresses["shear_force_x"].cells @ sigma == pytest.approx(force, rel=1e-8)
    assert np.abs(body.view.stresses["shear_force_y"].cells @ sigma).max() < 1e-8
    middle = body.view.points[body.view.cells].mean(axis=1)[:, 0]
    centre = middle if kind == "quad" else body.view.points[body.view.cells[:, :3]].mean(axis=1)[:, 0]
    assert body.view.stresses["moment_xx"].cells @ sigma == pytest.approx(-force * (length - centre), rel=1e-8)


def test_faces_of_a_bent_and_stretched_plate():
    """N/t ± 6M/t² at the faces, of the means of cells and at the points; nothing to smooth."""
    body = fem.plate(rectangle("quad", (2, 2), moved=0.2), SOFT, thickness=0.1)
    field = body.view.stresses
    m = model(rectangle("quad", (2, 2), moved=0.2))
    N, M = np.array([2.0, -1.0, 0.5]), np.array([0.03, 0.01, -0.02])
    sigma = np.concatenate([np.tile(N, len(m.solid.weights)), np.tile(M, len(m.moment_areas))])
    for name, side in (("stress_top", 1.0), ("stress_bottom", -1.0)):
        tensor = body.view.tensors[name]
        want = N / 0.1 + 6.0 * side * M / 0.1**2
        for rows in (tensor.cells, tensor.at):
            assert tensors(rows, sigma)[..., [0, 1, 3]] == pytest.approx(np.tile(want, (rows.shape[0] // 6, 1)))
        mises = np.sqrt(want[0] ** 2 - want[0] * want[1] + want[1] ** 2 + 3.0 * want[2] ** 2)
        assert von_mises(tensors(tensor.cells, sigma)) == pytest.approx(mises)
        assert stress_error(tensor, sigma).max() < 1e-12
        assert tensor.weights.sum() == pytest.approx(0.1 / 6.0)
    assert field["moment_xy"].cells @ sigma == pytest.approx(-0.02) and field["membrane_force_yy"].unit == "N/m"


# --- spectra


@covering(
    "theory, mesh", tuple(THEORIES), (rectangle("triangle", (2, 1)), rectangle("quad", (2, 2), moved=0.1), mixed())
)
def test_whole_spectrum_is_clean(mesh, theory):
    """Six rigid motions; every other frequency is one of all coordinates with dense matrices; none is zero."""
    body = fem.plate(mesh, SOFT, thickness=0.05, theory=theory)
    found = modes(linear_body(body, "b"))
    m = model(mesh, theory, thickness=0.05)
    S = body.elasticity.stiffness_of_stress
    mass = sum(plate_inertia(m).shape_pair[i][i] for i in range(3)).toarray()
    want = eigh((m.strain.T @ S @ m.strain).toarray(), mass, eigvals_only=True)
    assert found.rigid == 6 and len(found.frequencies) == m.size - 6
    assert np.abs(want[:6]).max() < 1e-6 * want[6]
    assert found.frequencies**2 == pytest.approx(want[6:], rel=1e-7)


NAVIER = np.pi**2 * np.array([2.0, 5.0, 5.0, 8.0])


@covering("theory, kind", tuple(THEORIES), tuple(KINDS))
def test_frequencies_converge_from_above_at_their_order(kind, theory):
    """h⁴, from above, on meshes moved at random; the simply supported square of thickness 0.1."""
    errors = []
    for n in (4, 8):
        body = fem.plate(
            rectangle(kind, (n, n), moved=0.1),
            SOFT,
            thickness=0.1,
            theory=theory,
            rotary_inertia=theory != "kirchhoff",
            supports=[fem.Support(rim(), "hinged")],
        )
        want = 0.1 * NAVIER if theory == "kirchhoff" else mindlin(0.1, 4)
        errors.append(supported(body, 4) / want - 1.0)
    assert np.all(errors[1] > 0.0)
    assert np.abs(errors[1]).max() < (4e-4 if kind == "quad" else 7e-3)
    assert np.all(np.log2(errors[0] / errors[1]) > (3.5 if kind == "quad" else 2.8))  # 4 in the limit


@pytest.mark.parametrize(
    ("kind", "theory", "n"),
    [("quad", "kirchhoff", 4), pytest.param("triangle", "reissner_mindlin", 8, marks=pytest.mark.slow)],
)
def test_frequencies_are_of_fourth_order_on_fine_meshes(kind, theory, n):
    """h⁴ of the first frequency of the simply supported square, ± 0.1 where meshes are fine enough."""
    exact = 0.1 * NAVIER[0] if theory == "kirchhoff" else mindlin(0.1, 1)[0]
    errors = []
    for counts in (n, 2 * n):
        body = fem.plate(
            rectangle(kind, (counts, counts)),
            SOFT,
            thickness=0.1,
            theory=theory,
            rotary_inertia=theory != "kirchhoff",
            supports=[fem.Support(rim(), "hinged")],
        )
        errors.append(supported(body, 1)[0] / exact - 1.0)
    assert 0.0 < errors[1] < 3e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.1)


CLAMPED = np.array([35.985191, 73.393813, 73.393813, 108.216483])


@pytest.mark.parametrize("how", ["hinged", pytest.param("clamped", marks=pytest.mark.slow)])
@pytest.mark.parametrize("t", [1e-2, pytest.param(1e-4, marks=pytest.mark.slow)])  # 12 s: the mixed matrix keeps digits
def test_sheared_plates_do_not_lock(t, how):
    """No locking: sheared plates of 8 × 8 moved quadrilaterals, from 0.5 % (first) of the thin ones at every thickness.

    A mesh that locks would be off by (h/t)², 1e6 at t = 1e-4.
    """
    options = {"thickness": t, "supports": [fem.Support(rim(), how)]}
    mesh = rectangle("quad", (8, 8), moved=0.1)
    sheared = supported(fem.plate(mesh, SOFT, theory="reissner_mindlin", **options), 4) / t
    thin = supported(fem.plate(mesh, SOFT, **options), 4) / t
    exact = NAVIER if how == "hinged" else CLAMPED
    assert np.abs(thin / exact - 1.0).max() < 4e-3
    assert np.abs(thin / exact - 1.0)[0] < 1e-3
    assert (
        np.abs(sheared / thin - 1.0).max() < 40.0 * t**2 + 3e-4
    )  # shear at this thickness; 3e-4 of the clamped corners
    if how == "hinged":
        assert sheared * t / mindlin(t, 4) - 1.0 == pytest.approx(thin / exact - 1.0, abs=5.0 * t + 5e-6)


# --- statics


def test_plates_under_pressure_have_the_published_deflections():
    """Deflection and moment in the middle of thin squares: 0.00406235 and 0.0478863; clamped 0.00126532."""
    q = 1.0
    for how, deflection, tolerance in (("hinged", 0.00406235, 1e-4), ("clamped", 0.00126532, 1e-3)):
        body = fem.plate(
            rectangle("quad", (8, 8)),
            SOFT,
            thickness=0.01,
            supports=[fem.Support(rim(), how)],
            loads={"pressure": lambda x: x[0] > -1.0},
            ports={"middle": fem.Tie(lambda x: np.hypot(x[0] - 0.5, x[1] - 0.5) < 1e-9)},
        )
        port = body.loads["pressure"]
        u, sigma = static(body, q * port.measures[0] * (port.shapes.T @ [0.0, 0.0, 1.0]))
        assert 0.01**3 * (body.ports["middle"].shape @ u)[2] == pytest.approx(deflection, rel=tolerance)
        if how == "hinged":
            tensor = body.view.tensors["stress_top"]
            near = np.argmin(np.linalg.norm(tensor.positions[:, :2] - 0.5, axis=1))
            assert 0.01**2 / 6.0 * tensors(tensor.at, sigma)[near, 0] == pytest.approx(0.0478863, rel=0.01)
