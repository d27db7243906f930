"""flexph: flexible multibody dynamics in port-Hamiltonian form."""

from .analysis import analyze
from .body import Body, LoadPort, Port, SectionMap, StressField, TensorField, View
from .body_basis import body_basis
from .buckling_load import BucklingLoad
from .component_modes import craig_bampton
from .dirac import DiracStructure, LagrangianSubspace
from .elasticity import Elasticity
from .elimination import RedundantConstraintWarning, eliminate
from .floating import floating_body
from .foreign_body import body_from_matrices, body_from_modes
from .inertia import Inertia, rigid_inertia
from .integration import ValidityWarning, integrate
from .interconnection import constrain, gyrator, interchange, join, transformer
from .joints import (
    GROUND,
    Connection,
    Ground,
    bushing,
    cartesian_spring_damper,
    cylindrical,
    distance,
    distributed_load,
    drive,
    force,
    hinge,
    knife_edge,
    planar,
    prismatic,
    revolute,
    rolling_disc,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    universal,
    weld,
    wheel,
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
from .multipliers import recover_multipliers
from .phdae import PHDAE, from_linear, transform, with_multipliers
from .port_control import feedback, inject_damping, passive_observer, port_spring
from .projection import ReductionWarning
from .reactions import Reaction
from .reduced_body import reduce_body
from .reduction import Assessment, Certificate, assess, certify, reduce
from .relations import Relation, coulomb, quadratic, resistive, viscous
from .response import (
    FrequencyResponse,
    Sweep,
    TimeResponse,
    damping_ratios,
    frequency_response,
    impulse_response,
    step_response,
    sweep,
    zeros,
)
from .section_forces import SectionForces, section_forces
from .small_motion import Spectrum
from .solution import Solution
from .spectrum import Modes, eigenfrequencies, modes, poles
from .standard import StandardForm, standard_form
from .state import Pose, State
from .still import still
from .substructures import clamp, couple, substructure, tie
from .switching import (
    At,
    Every,
    Guard,
    Impasse,
    Mode,
    Reset,
    Switch,
    SwitchingPHDAE,
    SwitchingTrajectory,
    Transition,
)
from .trajectory import Balance, Occurrences, Trajectory
from .unfinished import InputError, IntegrationError, IntegrationInterrupted

__all__ = [
    "GROUND",
    "PHDAE",
    "Assessment",
    "At",
    "Balance",
    "Body",
    "BucklingLoad",
    "Certificate",
    "Connection",
    "Derivatives",
    "DiracStructure",
    "Elasticity",
    "Event",
    "Every",
    "FrequencyResponse",
    "Ground",
    "Guard",
    "Impasse",
    "Inconsistency",
    "Inertia",
    "InputError",
    "IntegrationError",
    "IntegrationInterrupted",
    "Invariants",
    "LagrangianSubspace",
    "Ledger",
    "LinearPHDAE",
    "LoadPort",
    "Mechanism",
    "Mode",
    "Modes",
    "Occurrences",
    "Port",
    "Pose",
    "Reaction",
    "ReductionWarning",
    "RedundantConstraintWarning",
    "Relation",
    "Reset",
    "SectionForces",
    "SectionMap",
    "Solution",
    "Spectrum",
    "StandardForm",
    "State",
    "StressField",
    "Sweep",
    "Switch",
    "SwitchingPHDAE",
    "SwitchingTrajectory",
    "TensorField",
    "TimeResponse",
    "Trajectory",
    "Transition",
    "ValidityWarning",
    "View",
    "analyze",
    "assess",
    "body_basis",
    "body_from_matrices",
    "body_from_modes",
    "bushing",
    "cartesian_spring_damper",
    "certify",
    "clamp",
    "connect",
    "consistent",
    "constrain",
    "coulomb",
    "couple",
    "craig_bampton",
    "cylindrical",
    "damping_ratios",
    "distance",
    "distributed_load",
    "drive",
    "eigenfrequencies",
    "eliminate",
    "feedback",
    "floating_body",
    "force",
    "frequency_response",
    "from_linear",
    "gyrator",
    "hinge",
    "impulse_response",
    "inconsistency",
    "inject_damping",
    "integrate",
    "interchange",
    "join",
    "knife_edge",
    "linear_body",
    "modes",
    "passive_observer",
    "planar",
    "poles",
    "port_spring",
    "prismatic",
    "quadratic",
    "recover_multipliers",
    "reduce",
    "reduce_body",
    "resistive",
    "revolute",
    "rigid_inertia",
    "rolling_disc",
    "section_forces",
    "slider",
    "spherical",
    "spring_damper",
    "standard_form",
    "step_response",
    "still",
    "substructure",
    "sweep",
    "tie",
    "torque",
    "torsion_spring",
    "transform",
    "transformer",
    "universal",
    "viscous",
    "weld",
    "wheel",
    "with_multipliers",
    "with_pair",
    "zeros",
]
