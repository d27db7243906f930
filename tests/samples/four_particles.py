"""The four-particle system of [dg] sec. 6.3, as the case has it, for tests of the library."""

from cases.four_particle_runs import momenta
from cases.four_particle_system import (
    ALPHA,
    MASSES,
    PARTS,
    START,
    STIFFNESS,
    M,
    constraint_jacobian,
    constraints,
    four_particles,
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
]
