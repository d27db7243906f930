"""flexph: flexible multibody dynamics in port-Hamiltonian form."""

from .body import Body, LoadPort, Port, StressField, View
from .elasticity import Elasticity
from .elimination import RedundantConstraintWarning, eliminate
from .floating import floating_body
from .inertia import Inertia, rigid_inertia
from .integration import ValidityWarning, integrate
from .interconnection import constrain, gyrator, interchange, join, transformer
from .joints import (
    GROUND,
    Connection,
    Ground,
    bushing,
    cylindrical,
    distance,
    distributed_load,
    drive,
    force,
    hinge,
    planar,
    prismatic,
    revolute,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    universal,
    weld,
)
from .ledger import Ledger
from .linear import LinearPHDAE
from .linearization import linear_body
from .mechanism import Mechanism, connect
from .methods.conditions import Inconsistency
from .methods.consistent import consistent, inconsistency
from .methods.derivatives import Derivatives
from .methods.events import Event
from .methods.gradients import Invariants
from .methods.own_pair import with_pair
from .phdae import PHDAE, from_linear, transform, with_multipliers
from .reactions import Reaction
from .small_motion import Spectrum
from .solution import Solution
from .spectrum import Modes, eigenfrequencies, modes, poles
from .state import Pose, State
from .trajectory import Balance, Occurrences, Trajectory
from .unfinished import InputError, IntegrationError, IntegrationInterrupted

__all__ = [
    "GROUND",
    "PHDAE",
    "Balance",
    "Body",
    "Connection",
    "Derivatives",
    "Elasticity",
    "Event",
    "Ground",
    "Inconsistency",
    "Inertia",
    "InputError",
    "IntegrationError",
    "IntegrationInterrupted",
    "Invariants",
    "Ledger",
    "LinearPHDAE",
    "LoadPort",
    "Mechanism",
    "Modes",
    "Occurrences",
    "Port",
    "Pose",
    "Reaction",
    "RedundantConstraintWarning",
    "Solution",
    "Spectrum",
    "State",
    "StressField",
    "Trajectory",
    "ValidityWarning",
    "View",
    "bushing",
    "connect",
    "consistent",
    "constrain",
    "cylindrical",
    "distance",
    "distributed_load",
    "drive",
    "eigenfrequencies",
    "eliminate",
    "floating_body",
    "force",
    "from_linear",
    "gyrator",
    "hinge",
    "inconsistency",
    "integrate",
    "interchange",
    "join",
    "linear_body",
    "modes",
    "planar",
    "poles",
    "prismatic",
    "revolute",
    "rigid_inertia",
    "slider",
    "spherical",
    "spring_damper",
    "torque",
    "torsion_spring",
    "transform",
    "transformer",
    "universal",
    "weld",
    "with_multipliers",
    "with_pair",
]
