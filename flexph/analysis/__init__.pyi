"""The public names of :mod:`flexph.analysis`: each is loaded when it is asked for."""

from .casimirs import CasimirReport as CasimirReport
from .constrained_state_space import ReducedKinematics as ReducedKinematics
from .constrained_state_space import ReducedLinear as ReducedLinear
from .constrained_state_space import change_chart as change_chart
from .constrained_state_space import eliminate_index_one as eliminate_index_one
from .constrained_state_space import eliminate_kinematics as eliminate_kinematics
from .fatigue import LoadCycles as LoadCycles
from .fatigue import load_cycles as load_cycles
from .impasse import ImpassePoint as ImpassePoint
from .impasse import impasse_points as impasse_points
from .impasse import turning_points as turning_points
from .index import IndexReport as IndexReport
from .kinematic import KinematicSystem as KinematicSystem
from .kinematic import hidden_constraints as hidden_constraints
from .limit_loads import LimitLoad as LimitLoad
from .limit_loads import limit_load as limit_load
from .multipliers import Floquet as Floquet
from .multipliers import floquet as floquet
from .passivity import PassivityReport as PassivityReport
from .report import Analysis as Analysis
from .report import analyze as analyze
from .stability import StabilityReport as StabilityReport
from .stability import equilibrium as equilibrium
from .structure import sparsity_text as sparsity_text
from .structure import structure_of as structure_of
