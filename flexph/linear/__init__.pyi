"""The public names of :mod:`flexph.linear`: each is loaded when it is asked for."""

from .eigenmodes.modes import Eigenmodes as Eigenmodes
from .eigenmodes.modes import eigenfrequencies as eigenfrequencies
from .eigenmodes.modes import modes as modes
from .eigenmodes.modes import poles as poles
from .elimination import ReductionWarning as ReductionWarning
from .elimination import RedundantConstraintWarning as RedundantConstraintWarning
from .elimination import eliminate as eliminate
from .elimination import recover_multipliers as recover_multipliers
from .reduction.assessment import Assessment as Assessment
from .reduction.assessment import Certificate as Certificate
from .reduction.assessment import assess as assess
from .reduction.assessment import certify as certify
from .reduction.component_modes import craig_bampton as craig_bampton
from .reduction.reduce import reduce as reduce
from .responses.frequency import FrequencyResponse as FrequencyResponse
from .responses.frequency import frequency_response as frequency_response
from .responses.sweep import Sweep as Sweep
from .responses.sweep import sweep as sweep
from .responses.time import TimeResponse as TimeResponse
from .responses.time import impulse_response as impulse_response
from .responses.time import step_response as step_response
from .responses.zeros import DampingRatios as DampingRatios
from .responses.zeros import damping_ratios as damping_ratios
from .responses.zeros import zeros as zeros
from .state_space import StandardForm as StandardForm
from .state_space import standard_form as standard_form
