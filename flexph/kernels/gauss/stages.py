"""What Gauss collocation finds at the nodes of a step (see :mod:`flexph.kernels.gauss.collocation`)."""

from __future__ import annotations

from typing import NamedTuple

from ...numerics.arrays import Array
from ...numerics.rotations import turned_spins
from ..arrays import Arrays
from ..springs import StageSprings
from ..state import Configuration, Derived, rotational_inertia


class Onset(NamedTuple):
    """Where a step of h starts: the state, what follows from it, and what its constraints are to be closed by (g,).

    J(u) (b, s, s) and the angular momenta π (b, s) are those of the bodies.
    """

    c: Configuration
    d: Derived
    h: float
    gap: Array
    inertia: Array
    spin: Array


def onset(a: Arrays, at: tuple[Configuration, Derived], h: float, gap: Array) -> Onset:
    """The start of a step, with all that it needs of it."""
    c, d = at
    return Onset(c, d, h, gap, rotational_inertia(a, c.u, d.Pu), turned_spins(c.R, d.p_r))


class Given(NamedTuple):
    """What time prescribes at the nodes: coefficients of the terms, their rates and those of the offsets, inputs."""

    coefficient: Array  # (stages, t)
    coefficient_rate: Array
    offset_rate: Array  # (stages, g)
    inputs: Array  # (stages, i)


class Rates(NamedTuple):
    """The unknowns at the nodes: ṙ (stages, b, d), Ω (stages, b, s), u̇ (stages, n) and multipliers (stages, g)."""

    v: Array
    spin: Array
    du: Array
    lam: Array


class Stages(NamedTuple):
    """Values at the nodes on the way to a residual, for the Jacobian and the ledger; the first axis is the node's."""

    x: Rates
    transport: Array  # (1 − hA[Ω]×)⁻¹ (b, stages·d, stages·d)
    R: Array
    inverse: Array
    omega: Array  # ω (stages, b, s),
    omega_change: Array  # and hω̇
    u: Array
    Pu: Array  # inertia products of u,
    Pdu: Array  # and of u̇
    J: Array
    J_rate: Array
    slope: Array
    stress: Array  # σ + βσ̇
    stress_rate: Array
    arm: Array
    arm_rate: Array
    vector: Array
    vector_rate: Array
    product: Array
    product_force: Array
    springs: StageSprings | None
    node_force: Array
    torque: Array  # on bodies, in the world
    momentum: Array  # π
    loads: Array
    end: Configuration
