"""Multibody systems that several tests share, by their matrices: bodies of space, a sleigh, crank and rod."""

import numpy as np

from rigid import (
    Damper,
    ExternalPort,
    MultibodySystem,
    PositionConstraint,
    PositionMap,
    Potential,
    VelocityConstraint,
)

GRAVITY = np.array([0.0, 0.0, 9.81])
MASS, MOMENTS, ARM = 3.0, np.array([1.0, 2.0, 2.5]), np.array([0.3, 0.1, -0.4])


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def turning(R):
    """Z of the nine entries row by row, ``Ṙ = R [ω]×``."""
    return np.column_stack([(R @ skew(e)).ravel() for e in np.eye(3)])


def mean_turning(R0, R1):
    """``δR = [R̄⁻ᵀω]× R̄`` of the mean of two rotation matrices: what keeps momenta about world axes."""
    R = 0.5 * (R0 + R1)
    return np.column_stack([(skew(e) @ R).ravel() for e in np.linalg.inv(R)])


def turning_quaternion(q):
    """Z of q = (s, v): ``ṡ = −½ v·ω``, ``v̇ = ½ (s ω + v × ω)``."""
    return 0.5 * np.vstack([-q[1:], q[0] * np.eye(3) + skew(q[1:])])


def rotation_of(q):
    s, v = q[0], q[1:]
    return (s * s - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * s * skew(v)


def gyroscopic(zeta, momenta):
    """−[L]× on the spin."""
    made = np.zeros((momenta.size, momenta.size))
    made[-3:, -3:] = -skew(momenta[-3:])
    return made


def entry_map(arm):
    """r + R arm of ζ = (r, R) and its Jacobian."""
    slope = np.hstack([np.eye(3), np.kron(np.eye(3), arm)])
    return PositionMap(lambda z: z[:3] + z[3:].reshape(3, 3) @ arm, lambda z: slope)


def orthogonal(R):
    defect = R.T @ R - np.eye(3)
    return defect[np.triu_indices(3)]


def orthogonal_slope(z):
    R, made = z[3:].reshape(3, 3), []
    for i, j in zip(*np.triu_indices(3), strict=True):
        row = np.zeros((3, 3))
        row[:, i] += R[:, j]
        row[:, j] += R[:, i]
        made.append(np.concatenate([np.zeros(3), row.ravel()]))
    return np.array(made)


ORTHOGONAL = PositionConstraint("RᵀR = 1", PositionMap(lambda z: orthogonal(z[3:].reshape(3, 3)), orthogonal_slope))
WEIGHT = Potential(lambda z: MASS * GRAVITY @ z[:3], lambda z: np.append(MASS * GRAVITY, np.zeros(z.size - 3)))


def body(**options):
    """A heavy body of space, ζ = (r, R), ϖ = (ṙ, ω in body axes), pinned at ARM to the origin unless told otherwise."""
    made = {
        "mass": np.diag([MASS, MASS, MASS, *MOMENTS]),
        "sample": np.concatenate([-ARM, np.eye(3).ravel()]),
        "kinematics": lambda z: np.block(
            [[np.eye(3), np.zeros((3, 3))], [np.zeros((9, 3)), turning(z[3:].reshape(3, 3))]]
        ),
        "kinematics_mean": lambda a, b: np.block(
            [
                [np.eye(3), np.zeros((3, 3))],
                [np.zeros((9, 3)), mean_turning(a[3:].reshape(3, 3), b[3:].reshape(3, 3))],
            ]
        ),
        "gyroscopic": gyroscopic,
        "potential": WEIGHT,
        "constraints": (PositionConstraint("pin", entry_map(ARM)),),
        "parts": {"r": slice(0, 3), "R": slice(3, 12)},
        "velocity_parts": {"v": slice(0, 3), "omega": slice(3, 6)},
        "coordinates": (ORTHOGONAL,),
    }
    return MultibodySystem(**(made | options))


def spinning(omega):
    """Velocities of the pinned body at its sample."""
    return np.concatenate([np.cross(omega, -ARM), omega])


def quaternion_top(moments=MOMENTS, **options):
    """A free rotation, ζ = q, ϖ = ω in body axes."""
    norm = PositionMap(lambda q: np.array([q @ q - 1.0]), lambda q: 2.0 * q[None])
    made = {
        "mass": np.diag(moments),
        "sample": np.array([1.0, 0.0, 0.0, 0.0]),
        "kinematics": turning_quaternion,
        "gyroscopic": gyroscopic,
        "coordinates": (PositionConstraint("|q| = 1", norm),),
    }
    return MultibodySystem(**(made | options))


def matrix_top(moments=MOMENTS, **options):
    """The same, ζ = R."""
    made = {
        "mass": np.diag(moments),
        "sample": np.eye(3).ravel(),
        "kinematics": lambda z: turning(z.reshape(3, 3)),
        "gyroscopic": gyroscopic,
    }
    return MultibodySystem(**(made | options))


SLEIGH = {"m": 2.0, "l": 0.4, "I": 1.1}


def sleigh(**options):
    """A sleigh on a knife edge, [rigid] sec. 7.1: ζ = (x, y, φ), ϖ = (v_x, v_y, ω) in its axes, 0 = v_y."""
    m, l, inertia = SLEIGH.values()

    def kinematics(z):
        c, s = np.cos(z[2]), np.sin(z[2])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def gyroscopic(z, p):
        return np.array([[0.0, 0.0, -p[1]], [0.0, 0.0, p[0]], [p[1], -p[0], 0.0]])

    made = {
        "mass": np.array([[m, 0.0, 0.0], [0.0, m, m * l], [0.0, m * l, inertia]]),
        "sample": np.zeros(3),
        "kinematics": kinematics,
        "gyroscopic": gyroscopic,
        "velocity_constraints": (VelocityConstraint("edge", np.array([[0.0, 1.0, 0.0]])),),
        "ports": {"push": ExternalPort(np.array([[1.0], [0.0], [0.0]]))},
        "velocity_parts": {"v": slice(0, 2), "omega": slice(2, 3)},
    }
    return MultibodySystem(**(made | options))


def pendulum(**options):
    """A point of 1 kg on a rod of 1 m in the plane, ζ = r."""
    made = {
        "mass": np.eye(2),
        "sample": np.array([1.0, 0.0]),
        "potential": Potential(lambda r: 9.81 * r[1], lambda r: np.array([0.0, 9.81])),
        "constraints": (ROD,),
    }
    return MultibodySystem(**(made | options))


ROD = PositionConstraint("rod", PositionMap(lambda r: np.array([0.5 * (r @ r - 1.0)]), lambda r: r[None].copy()))


def damped(relation, **options):
    """The sleigh with a relation on v_x and ω."""
    return sleigh(dissipation=(Damper("drag", np.eye(3)[:, [0, 2]], relation),), **options)
