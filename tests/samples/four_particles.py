"""The four-particle system of [dg] sec. 6.3, as the case has it, for tests of the library."""

from cases.four_particle import (
    ALPHA,
    MASSES,
    PARTS,
    START,
    STIFFNESS,
    M,
    constraint_jacobian,
    constraints,
    four_particles,
    momenta,
    springs,
)

__all__ = [
    "ALPHA",
    "MASSES",
    "PARTS",
    "START",
    "STIFFNESS",
    "M",
    "constraint_jacobian",
    "constraints",
    "four_particles",
    "momenta",
    "springs",
]
