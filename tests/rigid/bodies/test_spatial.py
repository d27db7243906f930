"""Spatial rigid bodies of given inertia and of simple shape."""

import numpy as np
import pytest

import rigid
from flexph.bodies import floating_body
from flexph.bodies.inertia import contract

TILTED = np.array([[0.5, 0.1, -0.05], [0.1, 0.6, 0.02], [-0.05, 0.02, 0.4]])
CLOSE = {"rtol": 1e-14, "atol": 1e-15}


def about_centre(body):
    """J about the centre of mass, (3, 3)."""
    return contract(body.inertia, about_centre=True).J


def enclosed(view):
    """Volume inside a closed surface of triangles with normals out."""
    a, b, c = np.swapaxes(view.points[view.cells], 0, 1)
    return np.einsum("ki,ki->", a, np.cross(b, c)) / 6.0


# --- given inertia


def test_moments_of_a_body_follow_steiner():
    """∫ρXXᵀ = ½tr(J)1 − J + m c cᵀ; J comes back about the centre and with Steiner's part about the origin."""
    c = np.array([0.4, -0.1, 0.2])
    made = rigid.body(2.0, inertia=TILTED, centre=c, ports={"a": (1.0, 2.0, 3.0)})
    assert (made.dim, made.mass, made.size, made.turns) == (3, 2.0, 0, True)
    np.testing.assert_allclose(made.inertia.first, 2.0 * c)
    np.testing.assert_allclose(about_centre(made), TILTED, **CLOSE)
    steiner = TILTED + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(contract(made.inertia, about_centre=False).J, steiner, **CLOSE)
    np.testing.assert_array_equal(made.inertia.spin, np.zeros((3, 3)))
    port = made.ports["a"]
    np.testing.assert_array_equal(port.position, [1.0, 2.0, 3.0])
    assert (port.shape.shape, port.rotation.shape) == ((3, 0), (3, 0))
    np.testing.assert_array_equal(made.view.points, [c, [1.0, 2.0, 3.0]])


def test_principal_moments_make_the_inertia():
    made = rigid.body(1.5, inertia=(0.2, 0.3, 0.4), ports={})
    np.testing.assert_allclose(about_centre(made), np.diag([0.2, 0.3, 0.4]), **CLOSE)
    np.testing.assert_array_equal(made.inertia.centre, np.zeros(3))
    assert made.view.cell_type == "vertex"


def test_inertia_about_another_point():
    """J about a point is that about the centre and m(|d|²1 − ddᵀ), in space as in the plane."""
    c, at, m = np.array([0.4, -0.1, 0.2]), np.array([0.1, 0.1, 0.5]), 2.0
    d = at - c
    stated = TILTED + m * (d @ d * np.eye(3) - np.outer(d, d))
    made = rigid.body(m, inertia=stated, centre=c, about=at, ports={})
    np.testing.assert_allclose(about_centre(made), TILTED, rtol=1e-14, atol=1e-15)
    flat = rigid.body(m, inertia=0.3 + m * d[:2] @ d[:2], centre=c[:2], about=at[:2], ports={})
    np.testing.assert_allclose(about_centre(flat), [[0.3]], rtol=1e-14)
    bar = rigid.body(3.0, inertia=3.0 * 2.0**2 / 3.0, centre=(1.0, 0.0), about=(0.0, 0.0), ports={})
    np.testing.assert_allclose(about_centre(bar), about_centre(rigid.bar(2.0, 3.0)), rtol=1e-14)


def test_kinetic_energy_is_that_of_newton_and_euler():
    """½ m|ṙ|² + ½ ωᵀJω, [flex] remark 3."""
    c = np.array([0.4, -0.1, 0.2])
    system = floating_body(rigid.body(2.0, inertia=TILTED, centre=c, ports={}))
    x = np.random.default_rng(0).standard_normal(system.size)
    v, omega = x[system.parts["velocity"]], x[system.parts["spin"]]
    at_centre = v + np.cross(omega, c)
    assert system.H(x) == pytest.approx(at_centre @ at_centre + 0.5 * omega @ TILTED @ omega, rel=1e-14)


@pytest.mark.parametrize("inertia", [(1.0, 1.0, 2.0), (1e-11, 1.0, 1.0), (2.0, 2.0, 1e-9), (0.1, 0.2, 0.3)])
def test_flat_and_thin_bodies_are_accepted(inertia):
    """Discs have J₁ + J₂ = J₃, thin rods J₁ ≪ J₂ = J₃: 0.1 + 0.2 < 0.3 only by round-off."""
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    for given in (inertia, turn @ np.diag(inertia) @ turn.T):
        second = rigid.body(1.0, inertia=given, ports={}).inertia.second
        assert np.linalg.eigvalsh(second).min() > -1e-15


def test_point_mass_in_space():
    made = rigid.point(0.7, dim=3)
    assert (made.dim, made.mass, made.turns, made.view.cell_type) == (3, 0.7, False, "vertex")
    assert made.ports["point"].rotation is None
    np.testing.assert_array_equal(made.inertia.second, np.zeros((3, 3)))


# --- simple shapes


def test_a_box_has_its_closed_forms():
    """J_x = m (l_y² + l_z²)/12."""
    made = rigid.box((1.0, 2.0, 3.0), density=0.5, ports={"corner": (0.5, 1.0, 1.5)})
    assert made.mass == pytest.approx(3.0, rel=1e-15)
    np.testing.assert_allclose(about_centre(made), np.diag([13.0, 10.0, 5.0]) / 4.0, **CLOSE)
    np.testing.assert_array_equal(made.inertia.centre, np.zeros(3))
    assert list(made.ports) == ["centre", "corner"]
    assert (made.view.cell_type, made.view.cells.shape) == ("hexahedron", (1, 8))
    drawn = rigid.solid(as_mesh(made.view), density=0.5, ports={})
    np.testing.assert_allclose(about_centre(drawn), about_centre(made), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("inner", [0.0, 0.3])
def test_a_cylinder_has_its_closed_forms(inner):
    """m = ρπ(R² − r²)L, J_x = m (R² + r²)/2, J_y = J_z = m (3(R² + r²) + L²)/12."""
    made = rigid.cylinder(2.0, 0.5, density=3.0, inner_radius=inner, ports={"rim": (0.0, 0.5, 0.0)})
    m = 3.0 * np.pi * (0.25 - inner**2) * 2.0
    across = m * (3.0 * (0.25 + inner**2) + 4.0) / 12.0
    assert made.mass == pytest.approx(m, rel=1e-15)
    np.testing.assert_allclose(about_centre(made), np.diag([m * (0.25 + inner**2) / 2.0, across, across]), **CLOSE)
    np.testing.assert_allclose(made.inertia.centre, [1.0, 0.0, 0.0], rtol=1e-15)
    places = {name: tuple(port.position) for name, port in made.ports.items()}
    assert places == {"root": (0, 0, 0), "middle": (1, 0, 0), "tip": (2, 0, 0), "rim": (0, 0.5, 0)}
    drawn = rigid.solid(as_mesh(made.view), density=3.0, ports={})
    polygon = 24 / (2.0 * np.pi) * np.sin(2.0 * np.pi / 24)  # area of the 24-gon over that of the circle
    assert drawn.mass == pytest.approx(m * polygon, rel=1e-12)
    assert enclosed(made.view) > 0.0
    np.testing.assert_allclose(drawn.inertia.centre, made.inertia.centre, atol=1e-14)


def test_a_thin_tube_is_a_thin_ring():
    """J_x → m R² as the wall gets thin, without loss of digits in the mass."""
    made = rigid.cylinder(1.0, 1.0, density=1.0, inner_radius=1.0 - 1e-9)
    assert made.mass == pytest.approx(2.0 * np.pi * 1e-9, rel=1e-7)  # 1 − 1e-9 itself has seven digits of the wall
    assert about_centre(made)[0, 0] == pytest.approx(made.mass, rel=1e-8)


def test_a_sphere_has_its_closed_forms():
    """m = 4/3 ρπr³, J = 2/5 m r²."""
    made = rigid.sphere(0.3, density=2.0, ports={"pole": (0.0, 0.0, 0.3)})
    m = 2.0 * 4.0 / 3.0 * np.pi * 0.027
    assert made.mass == pytest.approx(m, rel=1e-14)
    np.testing.assert_allclose(about_centre(made), 0.4 * m * 0.09 * np.eye(3), **CLOSE)
    assert list(made.ports) == ["centre", "pole"]
    np.testing.assert_allclose(np.linalg.norm(made.view.points, axis=1), 0.3, rtol=1e-14)
    assert rigid.solid(as_mesh(made.view), density=2.0, ports={}).mass == pytest.approx(m, rel=0.1)
    assert enclosed(made.view) > 0.0


def as_mesh(view):
    meshio = pytest.importorskip("meshio")
    return meshio.Mesh(view.points, [(view.cell_type, view.cells)])


# --- refusals

SYMMETRY = "inertia must be symmetric"
POSITIVE = "inertia must be positive definite, got the principal moments"
TRIANGLE = r"inertia must have J1 \+ J2 >= J3 .* J1 \+ J2 - J3 = -1"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rigid.body(0.0, inertia=(1, 1, 1), ports={}), "mass must be positive, got 0.0 kg"),
        (lambda: rigid.body(1.0, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], ports={}), SYMMETRY),
        (lambda: rigid.body(1.0, inertia=(0, 1, 1), ports={}), POSITIVE + " 0, 1, 1"),
        (lambda: rigid.body(1.0, inertia=(1, 1, -1), ports={}), POSITIVE),
        (lambda: rigid.body(1.0, inertia=[[1, 2, 0], [2, 1, 0], [0, 0, 1]], ports={}), POSITIVE),
        (lambda: rigid.body(1.0, inertia=(1, 1, 3), ports={}), TRIANGLE),
        (lambda: rigid.body(1.0, inertia=(1, 1), ports={}), r"inertia must be a number .* got shape \(2,\)"),
        (lambda: rigid.body(1.0, inertia=np.eye(2), ports={}), r"inertia must be a number .* got shape \(2, 2\)"),
        (
            lambda: rigid.body(1.0, inertia=[[1, 0], [1]], ports={}),
            r"inertia must be numbers, got \[\[1, 0\], \[1\]\]",
        ),
        (lambda: rigid.body(1.0, inertia=None, ports={}), "inertia must be a number or a list of numbers, got None"),
        (
            lambda: rigid.body(1.0, inertia=(1, 1, np.nan), ports={}),
            "inertia must be finite",
        ),
        (
            lambda: rigid.body(1.0, inertia=(1, 1, 1), ports={"a": (1, 2)}),
            r"port 'a' must have shape \(3,\), got \(2,\)",
        ),
        (lambda: rigid.body(1.0, inertia=1.0, ports={"a": (1, 2, 3)}), "a scalar inertia makes a planar body"),
        (lambda: rigid.body(1.0, inertia=(1, 1, 1), centre=(1, 2), ports={}), r"centre must have shape \(3,\)"),
        (lambda: rigid.body(1.0, inertia=1.0, about=(1, 2, 3), ports={}), r"about must have shape \(2,\)"),
        (
            lambda: rigid.body(1.0, inertia=(1, 1, 1), about=(0, 0, 2), ports={}),
            "inertia, moved from about to the centre of mass, must be positive definite, .* -3, -3, 1",
        ),
        (
            lambda: rigid.body(1.0, inertia=1.0, about=(0, 2), ports={}),
            "inertia, moved from about to the centre of mass, must be positive, got -3.0",
        ),
        (lambda: rigid.point(1.0, dim=4), "dim must be 2"),
        (lambda: rigid.box((1, 0, 1), density=1.0), "size along y must be positive, got 0.0 m"),
        (lambda: rigid.box((1, 1), density=1.0), r"size must have shape \(3,\)"),
        (lambda: rigid.box((1, 1, 1), density=0.0), "density must be positive, got 0.0 kg/m³"),
        (lambda: rigid.box((1, 1, 1), density=1.0, ports={"centre": (0, 0, 0)}), "ports must not be named 'centre'"),
        (lambda: rigid.cylinder(0.0, 1.0, density=1.0), "length must be positive, got 0.0 m"),
        (lambda: rigid.cylinder(1.0, -1.0, density=1.0), "radius must be positive, got -1.0 m"),
        (
            lambda: rigid.cylinder(1.0, 1.0, density=1.0, inner_radius=1.0),
            "inner_radius must be smaller than the radius",
        ),
        (lambda: rigid.cylinder(1.0, 1.0, density=1.0, inner_radius=-0.1), "inner_radius must not be negative"),
        (lambda: rigid.cylinder(1.0, 1.0, density=1.0, ports={"tip": (0, 0, 0)}), "ports must not be named 'root'"),
        (lambda: rigid.sphere(0.0, density=1.0), "radius must be positive, got 0.0 m"),
        (lambda: rigid.sphere(1.0, density=1.0, ports={"a": (0, 0)}), r"port 'a' must have shape \(3,\), got \(2,\)"),
    ],
)
def test_bad_bodies_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
