"""The public names of :mod:`flexph.fmu`: each is loaded when it is asked for."""

from .co_simulation import CoSimulation as CoSimulation
from .controller import fmu_controller as fmu_controller
from .export import write_fmu as write_fmu
