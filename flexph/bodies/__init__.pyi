"""The public names of :mod:`flexph.bodies`: each is loaded when it is asked for."""

from .basis import body_basis as body_basis
from .body import Body as Body
from .body import LoadPort as LoadPort
from .body import Port as Port
from .buckling_load import BucklingLoad as BucklingLoad
from .elasticity import Elasticity as Elasticity
from .fields import SectionMap as SectionMap
from .fields import StressField as StressField
from .fields import TensorField as TensorField
from .fields import View as View
from .floating_frame import floating_body as floating_body
from .foreign.from_matrices import body_from_matrices as body_from_matrices
from .foreign.from_matrices import body_from_modes as body_from_modes
from .inertia import Inertia as Inertia
from .inertia import rigid_inertia as rigid_inertia
from .linear_system import linear_body as linear_body
from .reduced_body import reduce_body as reduce_body
from .saved.reduced_file import load_reduced as load_reduced
from .saved.reduced_file import save_reduced as save_reduced
from .stress_fields import at_nodes as at_nodes
from .stress_fields import energy_norm as energy_norm
from .stress_fields import peak_von_mises as peak_von_mises
from .stress_fields import principal_stresses as principal_stresses
from .stress_fields import stress_error as stress_error
from .stress_fields import tensors as tensors
from .stress_fields import von_mises as von_mises
