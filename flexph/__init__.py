"""flexph: flexible multibody dynamics in port-Hamiltonian form."""

from .analysis import analyze
from .bodies.basis import body_basis
from .bodies.body import Body, LoadPort, Port, SectionMap, StressField, TensorField, View
from .bodies.buckling_load import BucklingLoad
from .bodies.elasticity import Elasticity
from .bodies.floating_frame import floating_body
from .bodies.foreign.from_matrices import body_from_matrices, body_from_modes
from .bodies.inertia import Inertia, rigid_inertia
from .bodies.linear_system import linear_body
from .bodies.reduced_body import reduce_body
from .consistency.conditions import Inconsistency
from .consistency.start import consistent, inconsistency
from .control.port_control import feedback, inject_damping, passive_observer, port_spring
from .dirac import DiracStructure, LagrangianSubspace
from .discretisation.own_pair import with_pair
from .integration.integrate import integrate
from .integration.methods import (
    BDF,
    IDA,
    Decaying,
    DiracDissipative,
    DiscreteGradient,
    Exact,
    Exact4,
    ExactGauss,
    Gauss,
    Radau,
)
from .integration.times.events import Event
from .interconnection.causality import interchange
from .interconnection.couplings import constrain, gyrator, transformer
from .interconnection.direct_sum import join
from .interconnection.substructures import clamp, couple, substructure, tie
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
from .linear.elimination import RedundantConstraintWarning, eliminate
from .linear.modes.modes import Eigenmodes, eigenfrequencies, modes, poles
from .linear.multipliers import recover_multipliers
from .linear.projection import ReductionWarning
from .linear.reduction import Assessment, Certificate, assess, certify, reduce
from .linear.reduction.component_modes import craig_bampton
from .linear.responses import (
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
from .linear.standard_forms import StandardForm, standard_form
from .mechanisms.mechanism import Mechanism, connect
from .mechanisms.model.state import Pose, State
from .mechanisms.poses.reactions import Reaction
from .mechanisms.statics.small_motion import Spectrum
from .results.ledger import Ledger
from .results.result import Occurrences
from .results.sections import SectionForces, section_forces
from .results.solution import Solution
from .results.statics import static_solution
from .results.trajectory import Trajectory
from .results.unfinished import InputError, IntegrationError, IntegrationInterrupted
from .switching import (
    At,
    Every,
    Guard,
    Impasse,
    Mode,
    ModeChange,
    Reset,
    SwitchingPHDAE,
    SwitchingTrajectory,
    Transition,
)
from .systems.derivatives import Derivatives
from .systems.discrete_gradients import Invariants
from .systems.linear import LinearPHDAE
from .systems.nonlinear import PHDAE, from_linear, with_multipliers
from .systems.resistive_relations import Relation, coulomb, quadratic, resistive, viscous
from .systems.transformation import transform
from .systems.validity import ValidityWarning

__all__ = [
    "BDF",
    "GROUND",
    "IDA",
    "PHDAE",
    "Assessment",
    "At",
    "Body",
    "BucklingLoad",
    "Certificate",
    "Connection",
    "Decaying",
    "Derivatives",
    "DiracDissipative",
    "DiracStructure",
    "DiscreteGradient",
    "Eigenmodes",
    "Elasticity",
    "Event",
    "Every",
    "Exact",
    "Exact4",
    "ExactGauss",
    "FrequencyResponse",
    "Gauss",
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
    "ModeChange",
    "Occurrences",
    "Port",
    "Pose",
    "Radau",
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
    "static_solution",
    "step_response",
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
