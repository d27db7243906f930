"""Small spatial bodies and mechanisms at random, and what is seen of a state by its definitions.

Shared by the tests of space; nothing here uses the kernels.
"""

import numpy as np
from scipy import sparse
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import Body
from flexph.bodies import Elasticity, Inertia, Port
from flexph.kernels.gradient import constraint_matrix
from flexph.kernels.state import constraint_sums, derive
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable
from flexph.numerics.rotations import cross

SOFT = fem.Material(young=2e5, density=200.0, poisson=0.3)
STRIP = fem.Section(width=0.1, height=0.05)
PORTS = {"p": (0.2, -0.1, 0.15), "q": (-0.1, 0.25, 0.05), "s": (0.05, -0.2, -0.1)}


def skewed(a):
    """[a]×."""
    return np.einsum("aij,a->ij", cross(3), a)


def random_rotation(rng):
    return Rotation.random(random_state=np.random.RandomState(rng.integers(2**31))).as_matrix()


def unit(v):
    return np.asarray(v, dtype=float) / np.linalg.norm(v)


def perpendicular(v):
    """Two directions of space that are perpendicular to v and to each other."""
    v = unit(v)
    x = unit(np.cross(v, np.eye(3)[np.argmin(np.abs(v))]))
    return x, np.cross(v, x)


def block(mass=0.7, seed=0):
    """A rigid body with three different moments, its centre off the origin, its axes turned."""
    turn = random_rotation(np.random.default_rng(seed))
    moments = turn @ np.diag([0.020, 0.030, 0.042]) @ turn.T
    return rigid.body(mass, inertia=moments, centre=(0.03, 0.02, -0.04), ports=PORTS)


def point_inertia(m, X, phi, section, psi):
    """The integrals of masses m_i at X_i that move by φ_i u, and of sections with inertia I_i that turn by ψ_i u."""
    pair = np.einsum("p,pik,pjl->ijkl", m, phi, phi)
    return Inertia(
        mass=m.sum(),
        first=m @ X,
        second=np.einsum("p,pi,pj->ij", m, X, X),
        shape_first=np.einsum("p,pik->ik", m, phi),
        shape_lever=np.einsum("p,pik,pj->ijk", m, phi, X),
        shape_pair=tuple(tuple(sparse.csr_array(block) for block in row) for row in pair),
        spin=section.sum(axis=0),
        spin_shape=np.einsum("pab,pbk->ak", section, psi),
        spin_pair=sparse.csr_array(np.einsum("pak,pab,pbl->kl", psi, section, psi)),
    )


class Cloud:
    """Masses m_i at X_i that move by φ_i u, and sections with inertia I_i that turn by ψ_i u, all at random."""

    def __init__(self, seed=0, flexible=3):
        rng = np.random.default_rng(seed)
        self.mass, self.X = rng.uniform(0.05, 0.2, 8), 0.3 * rng.standard_normal((8, 3))
        self.X[:3] = list(PORTS.values())
        self.phi = 0.5 * rng.standard_normal((8, 3, flexible))
        self.psi, root = rng.standard_normal((3, 3, flexible)), 0.05 * rng.standard_normal((3, 3, 3))
        self.section = root @ np.swapaxes(root, 1, 2)
        self.rng, self.n = rng, flexible

    def inertia(self):
        return point_inertia(self.mass, self.X, self.phi, self.section, self.psi)

    def body(self, strain="von_karman", momenta="full", damping=0.0, stiffness=60.0):
        """ε(u) has a square where ``strain`` is von_karman; ``damping`` scales all three kinds of damping."""
        rng, n, m = self.rng, self.n, self.n + 1
        root, loss = rng.standard_normal((m, m)), rng.standard_normal((n, n))
        slopes = 2 if strain == "von_karman" else 0
        elastic = Elasticity(
            compliance=sparse.csr_array((root @ root.T + np.eye(m)) / stiffness),
            strain=sparse.csr_array(np.vstack([np.eye(n), np.ones((1, n))]) + 0.3 * rng.standard_normal((m, n))),
            slopes=sparse.csr_array(rng.standard_normal((slopes, n))),
            weights=sparse.csr_array(rng.standard_normal((m, slopes))),
            mass_damping=0.4 * damping,
            stiffness_damping=0.01 * damping,
            viscous=0.05 * damping * loss @ loss.T if damping else None,
        )
        place = lambda i: Port(self.X[i], sparse.csr_array(self.phi[i]), sparse.csr_array(self.psi[i]))  # noqa: E731
        return Body(self.inertia(), {k: place(i) for i, k in enumerate(PORTS)}, elastic, momenta=momenta)


def cloud(seed=0, flexible=3, **options):
    """A random flexible body; the same seed gives the same body."""
    return Cloud(seed, flexible).body(**options)


def beam(length=0.6, elements=2, **options):
    """A soft spatial beam with the section of a strip; ports root and tip."""
    options = {"strain": "von_karman", "dim": 3, **options}
    return fem.beam(length, options.pop("material", SOFT), options.pop("section", STRIP), elements=elements, **options)


class Sight:
    """World points, directions and velocities of a mechanism in a flat state, by their definitions."""

    def __init__(self, mechanism, x):
        self.bodies, self.parts, self.x = mechanism.bodies, mechanism.layout.parts, np.asarray(x)

    def part(self, name, size):
        return self.x[self.parts[name]] if name in self.parts else np.zeros(size)

    def body(self, name):
        """Body, centre, rotation, deformation."""
        body = self.bodies[name]
        R = self.x[self.parts[f"{name}.rotation"]].reshape(3, 3) if body.turns else np.eye(3)
        return body, self.x[self.parts[f"{name}.centre"]], R, self.part(f"{name}.deformation", 0)

    def point(self, port):
        """r + R(X − c + (φ − φ̄)u)."""
        if not isinstance(port, str):
            return np.array(port.position or (0.0, 0.0, 0.0))
        name, _, at = port.partition(".")
        body, r, R, u = self.body(name)
        at = body.ports[at]
        return r + R @ (at.position - body.inertia.centre + (at.shape.toarray() - body.inertia.mean_shape) @ u)

    def section(self, port):
        """Columns R(n + ψu × n) for n = e_x, e_y, e_z."""
        if not isinstance(port, str):
            return np.eye(3)
        name, _, at = port.partition(".")
        body, _, R, u = self.body(name)
        return R @ (np.eye(3) + skewed(body.ports[at].rotation @ u))

    def momentum(self):
        """Σ m ṙ and Σ r × m ṙ + R p_r about the origin, p_r = (∂/∂ω) of ½Σm|ω × x + φu̇|² over the mass."""
        linear, angular = np.zeros(3), np.zeros(3)
        for name in self.bodies:
            body, r, R, u = self.body(name)
            v = self.x[self.parts[f"{name}.velocity"]]
            linear += body.mass * v
            angular += body.mass * np.cross(r, v)
            if body.turns:
                omega, du = self.x[self.parts[f"{name}.spin"]], self.part(f"{name}.deformation_rate", 0)
                angular += R @ spin_momentum(body, u, omega, du)
        return np.concatenate([linear, angular])


def spin_momentum(body, u, omega, du):
    """p_r = ∫ρ x × (ω × x + φ̃u̇) with x = X − c + (φ − φ̄)u, and that of the turning sections."""
    i = body.inertia
    if body.momenta == "constant":
        u = np.zeros_like(u)
    pair = np.array([[b.toarray() for b in row] for row in i.shape_pair]).reshape(3, 3, u.size, u.size)
    first = i.first + i.shape_first @ u
    lever = np.einsum("ijk,k->ij", i.shape_lever, u)
    second = i.second + lever + lever.T + np.einsum("ijkl,k,l->ij", pair, u, u) - np.outer(first, first) / i.mass
    J = np.trace(second) * np.eye(3) - second
    # ∫ρ x_j φ_ki about the centre: (i, j, k)
    moving = i.shape_lever + np.einsum("ijkl,l->ijk", pair, u)
    moving = moving - np.einsum("ik,j->ijk", i.shape_first, first) / i.mass
    coupling = np.einsum("aij,ijk->ak", cross(3), moving) + i.spin_shape
    return (J + i.spin) @ omega + coupling @ du


def moved(mechanism, x, v):
    """The state after the small motion v = (ṙ, ω, u̇): centres, rotations R exp[ω]×, deformations."""
    layout, x = mechanism.layout, np.array(x)
    bodies, turning, _ = layout.velocity_sizes
    centres, kept, n = layout.position_sizes
    x[:centres] += v[:bodies]
    for i in range(turning // 3):
        at = slice(centres + 9 * i, centres + 9 * i + 9)
        turn = Rotation.from_rotvec(v[bodies + 3 * i : bodies + 3 * i + 3]).as_matrix()
        x[at] = (x[at].reshape(3, 3) @ turn).ravel()
    x[centres + kept : centres + kept + n] += v[bodies + turning :]
    return x


def matrix_and_gap(mechanism, x, anchors, time=0.0):
    """G(q) of the kernels and the constraints g(q) that they impose."""
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    d = derive(a, c)
    coefficient, offset = TimeTable(mechanism, anchors).at(time)
    G = constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector)
    G = G.toarray() if sparse.issparse(G) else G
    return G, constraint_sums(a, d.product, coefficient, offset)


def random_positions(mechanism, x, seed, deformation=0.1):
    """The state with its bodies anywhere, deformed."""
    rng, parts, x = np.random.default_rng(seed), mechanism.layout.parts, np.array(x)
    for name, body in mechanism.bodies.items():
        x[parts[f"{name}.centre"]] = rng.standard_normal(3)
        if body.turns:
            x[parts[f"{name}.rotation"]] = random_rotation(rng).ravel()
        if body.size:
            x[parts[f"{name}.deformation"]] = deformation * rng.standard_normal(body.size)
    return x


def random_velocities(mechanism, seed, scale=1.0):
    """Velocities (of P, spin) for every body, as consistent_state takes them."""
    rng = np.random.default_rng(seed)
    given = {name: (scale * rng.standard_normal(3), scale * rng.standard_normal(3)) for name in mechanism.bodies}
    return {
        name: (v, w * body.turns) for (name, body), (v, w) in zip(mechanism.bodies.items(), given.values(), strict=True)
    }
