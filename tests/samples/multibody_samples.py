"""Multibody systems of [rigid] sec. 7, [survey] example 2.4 and random ones, written by their matrices."""

import numpy as np

import rigid
from flexph.laws import coulomb, quadratic, viscous

CRANK, ROD, REACH = 0.7, 1.9, 1.1
"""ℓ₁, ℓ₂ and r₂ of the slider-crank [m]."""


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def planar_frame(zeta):
    """Z of a body with ζ = (x, y, φ) and velocities in body axes."""
    made = np.eye(3)
    made[:2, :2] = turned(zeta[2])
    return made


def planar_gyroscopic(zeta, momenta):
    """G(Γ) of a body with velocities in body axes, Γ = (p_x', p_y', L)."""
    px, py = momenta[:2]
    return np.array([[0.0, 0.0, -py], [0.0, 0.0, px], [py, -px, 0.0]])


def planar_mass(mass, reach, inertia):
    return np.array([[mass, 0.0, 0.0], [0.0, mass, mass * reach], [0.0, mass * reach, inertia]])


def planar_port(x):
    """The place (x, 0) of a body: its position map, and B with p' Z = Bᵀ."""

    def value(zeta):
        return zeta[:2] + turned(zeta[2])[:, 0] * x

    def jacobian(zeta):
        return np.column_stack([np.eye(2), turned(zeta[2])[:, 1] * x])

    position = rigid.PositionMap(value, jacobian)
    return rigid.ExternalPort(lambda zeta: (jacobian(zeta) @ planar_frame(zeta)).T, position)


def crank(inertia=0.4, length=CRANK):
    """The crank of [rigid] sec. 7.3: ports ``M`` (torque) and ``C``."""
    arm = lambda z: length * np.array([-np.sin(z[0]), np.cos(z[0])])  # noqa: E731
    tip = rigid.PositionMap(lambda z: length * np.array([np.cos(z[0]), np.sin(z[0])]), lambda z: arm(z)[:, None])
    return rigid.MultibodySystem(
        mass=np.array([[inertia]]),
        sample=np.array([0.9]),
        ports={
            "M": rigid.ExternalPort(np.ones((1, 1)), rigid.PositionMap(lambda z: z[:1], lambda z: np.ones((1, 1)))),
            "C": rigid.ExternalPort(lambda z: arm(z)[None, :], tip),
        },
        parts={"angle": slice(0, 1)},
        velocity_parts={"spin": slice(0, 1)},
    )


def rod_place(crank_angle, length=ROD):
    """(x_B, 0, φ₂) at which a rod meets the crank."""
    x, y = CRANK * np.cos(crank_angle), CRANK * np.sin(crank_angle)
    angle = np.pi - np.arcsin(y / length)
    return np.array([x - length * np.cos(angle), 0.0, angle])


def rod(mass=1.3, inertia=2.2, *, length=ROD, constrained=True):
    """The rod with the slider of [rigid] sec. 7.3: ports ``F`` (at the slider) and ``C``; y_B = 0."""
    along = rigid.PositionMap(lambda z: z[:1], lambda z: np.array([[1.0, 0.0, 0.0]]))
    across = rigid.PositionMap(lambda z: z[1:2], lambda z: np.array([[0.0, 1.0, 0.0]]))
    return rigid.MultibodySystem(
        mass=planar_mass(mass, REACH, inertia),
        sample=rod_place(0.9, length),
        kinematics=planar_frame,
        gyroscopic=planar_gyroscopic,
        constraints=(rigid.PositionConstraint("bearing", across),) if constrained else (),
        ports={
            "F": rigid.ExternalPort(lambda z: planar_frame(z)[:1].T, along),
            "B": planar_port(0.0),
            "C": planar_port(length),
        },
        parts={"position": slice(0, 2), "angle": slice(2, 3)},
        velocity_parts={"velocity": slice(0, 2), "spin": slice(2, 3)},
    )


def link(mass, length, *, gravity=0.0, drag=0.0, sample=(0.1, -0.2, 0.3)):
    """A free planar bar with ports ``left`` and ``right`` at its ends, gravity [m/s²] and viscous drag at the right."""
    right = planar_port(length)
    return rigid.MultibodySystem(
        mass=planar_mass(mass, 0.5 * length, mass * length**2 / 3.0),
        sample=np.array(sample),
        kinematics=planar_frame,
        gyroscopic=planar_gyroscopic,
        potential=rigid.Potential(
            lambda z: mass * gravity * (z[1] + 0.5 * length * np.sin(z[2])),
            lambda z: mass * gravity * np.array([0.0, 1.0, 0.5 * length * np.cos(z[2])]),
        ),
        dissipation=(rigid.Damper("drag", right.matrix, viscous(drag)),) if drag else (),
        ports={"left": planar_port(0.0), "right": right},
        parts={"position": slice(0, 2), "angle": slice(2, 3)},
        velocity_parts={"velocity": slice(0, 2), "spin": slice(2, 3)},
    )


def differential_drive(mass=2.0, reach=0.3, inertia=0.9, width=0.5):
    """[rigid] sec. 7.1 with I_S = I_O − mℓ² > 0."""
    return rigid.MultibodySystem(
        mass=planar_mass(mass, reach, inertia),
        sample=np.array([0.2, -0.4, 0.8]),
        kinematics=planar_frame,
        gyroscopic=planar_gyroscopic,
        velocity_constraints=(rigid.VelocityConstraint("no slip", np.array([[0.0, 1.0, 0.0]])),),
        ports={
            "left": rigid.ExternalPort(np.array([[1.0], [0.0], [-0.5 * width]])),
            "right": rigid.ExternalPort(np.array([[1.0], [0.0], [0.5 * width]])),
        },
        parts={"position": slice(0, 2), "angle": slice(2, 3)},
        velocity_parts={"velocity": slice(0, 2), "spin": slice(2, 3)},
    )


def rolling_coin():
    """[survey] example 2.4, ζ = (x, y, θ, φ), all constants one: ports ``roll`` u₁ and ``turn`` u₂."""

    def rolling(zeta):
        c, s = np.cos(zeta[3]), np.sin(zeta[3])
        return np.array([[1.0, 0.0, -c, 0.0], [0.0, 1.0, -s, 0.0]])

    one = np.eye(4)
    return rigid.MultibodySystem(
        mass=one,
        sample=np.array([0.3, -0.1, 0.5, 1.1]),
        velocity_constraints=(rigid.VelocityConstraint("rolling", rolling),),
        ports={"roll": rigid.ExternalPort(one[:, 2:3]), "turn": rigid.ExternalPort(one[:, 3:4])},
        parts={"position": slice(0, 2), "angles": slice(2, 4)},
    )


def everything(seed=0, *, singular=False):
    """A random system with all that there may be: n_pot 5, n_kin 4, a constraint of both kinds, three port columns."""
    draw = np.random.default_rng(seed).standard_normal
    root, kin, skew, shift = draw((4, 3 if singular else 4)), draw((5, 4)), draw((4, 4)), draw((5, 4))
    a, b, curved, w = draw((1, 4)), draw((4, 3)), draw((1, 5)), draw((4, 2))
    bend, stiff, sample = draw((1, 5, 5)), draw((5, 5)), 0.4 * draw(5)
    bend = bend + bend.transpose(0, 2, 1)
    level = np.array([0.5 * sample @ q @ sample for q in bend]) + curved @ sample
    c = rigid.PositionMap(
        lambda z: np.array([0.5 * z @ q @ z for q in bend]) + curved @ z - level, lambda z: bend @ z + curved
    )
    stiff = stiff @ stiff.T
    return rigid.MultibodySystem(
        mass=root @ root.T,
        sample=sample,
        kinematics=lambda z: kin + 0.3 * np.sin(z)[:, None] * shift,
        gyroscopic=lambda z, p: (skew - skew.T) * (1.0 + z[0] + p[1]) + np.outer(p, z[:4]) - np.outer(z[:4], p),
        potential=rigid.Potential(lambda z: 0.5 * z @ stiff @ z + 0.1 * np.sum(z**4), lambda z: stiff @ z + 0.4 * z**3),
        constraints=(rigid.PositionConstraint("sheet", c),),
        velocity_constraints=(rigid.VelocityConstraint("edge", lambda z: a + 0.2 * z[0] * z[1:]),),
        dissipation=(
            rigid.Damper("friction", lambda z: w + 0.1 * z[:4, None] * w, coulomb(1.0, speed=0.1)),
            rigid.Damper("drag", w, quadratic(0.3)),
            rigid.Dissipation("oil", lambda z, v: (1.0 + z[0] ** 2) * v),
        ),
        ports={
            "in": rigid.ExternalPort(lambda z: b[:, :1] * (1.0 + z[0])),
            "out": rigid.ExternalPort(b[:, 1:]),
        },
    )
