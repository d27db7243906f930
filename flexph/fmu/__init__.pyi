"""The public names of :mod:`flexph.fmu`: each is loaded when it is asked for."""

from .co_simulation import CoSimulation as CoSimulation
from .export import write_fmu as write_fmu
