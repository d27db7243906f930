"""Responses of linear systems: in frequency and time, zeros, damping ratios, and sweeps over a pose or parameter.

Imports: linear, linear.modes, numerics, systems.
"""

from .frequency import FrequencyResponse, frequency_response
from .sweep import Sweep, sweep
from .time import TimeResponse, impulse_response, step_response
from .zeros import Damping, damping_ratios, zeros

__all__ = [
    "Damping",
    "FrequencyResponse",
    "Sweep",
    "TimeResponse",
    "damping_ratios",
    "frequency_response",
    "impulse_response",
    "step_response",
    "sweep",
    "zeros",
]
